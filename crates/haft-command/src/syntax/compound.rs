//! Reads compound commands: groups, conditions, loops, cases, functions and tests.

use std::ops::Range;

use crate::syntax::reader::{Pass, SyntaxFault, SyntaxResult, TextReader};
use crate::syntax::word::{LexerFrame, plain_text};
use crate::syntax::{
    Assignment, CommandList, CommandNode, CommandPipeline, CommandStage, Link, ParameterExpansion, Quoting, Word,
    WordPart,
};

/// What may stand between the words of `[[ … ]]`, the longest first.
const TEST_OPERATORS: &[&str] = &["&&", "||", "(", ")", "<", ">"];

/// Words with which compound commands begin.
const COMPOUND: &[&str] = &["{", "if", "while", "until", "for", "select", "case", "[["];

impl TextReader<'_> {
    /// Reads a compound command, where one begins here.
    pub(crate) fn compound(&mut self) -> SyntaxResult<Option<CommandNode>> {
        if self.is_at("((")
            && let Some(node) = self.arithmetic_command()?
        {
            return Ok(Some(node));
        }
        if self.take("(") {
            let script = self.commands()?;
            self.expect(")", "a parenthesis is not closed")?;
            return Ok(Some(CommandNode::Subshell(script)));
        }
        let (word, end) = self.keyword();
        let read: fn(&mut Self) -> SyntaxResult<CommandNode> = match word.as_ref() {
            "{" => Self::group,
            "if" => Self::condition,
            "while" | "until" => Self::repetition,
            "for" | "select" => Self::for_each,
            "case" => Self::case,
            "function" => Self::function,
            "[[" => Self::test,
            "coproc" => Self::coprocess,
            _ => return Ok(None),
        };
        self.at = end;
        read(self).map(Some)
    }

    fn group(&mut self) -> SyntaxResult<CommandNode> {
        let script = self.commands()?;
        self.expect_keyword("}", "a brace is not closed")?;
        Ok(CommandNode::Group(script))
    }

    fn condition(&mut self) -> SyntaxResult<CommandNode> {
        let mut scripts = vec![self.commands()?];
        self.expect_keyword("then", "an if has no then")?;
        scripts.push(self.commands()?);
        loop {
            if self.take_keyword("elif") {
                scripts.push(self.commands()?);
                self.expect_keyword("then", "an elif has no then")?;
                scripts.push(self.commands()?);
            } else if self.take_keyword("else") {
                scripts.push(self.commands()?);
                self.expect_keyword("fi", "an if has no fi")?;
                return Ok(CommandNode::If(scripts));
            } else {
                self.expect_keyword("fi", "an if has no fi")?;
                return Ok(CommandNode::If(scripts));
            }
        }
    }

    fn repetition(&mut self) -> SyntaxResult<CommandNode> {
        let condition = self.commands()?;
        Ok(CommandNode::While(condition, self.body()?))
    }

    /// Reads `do … done`, or `{ … }`, which loops take as well.
    fn body(&mut self) -> SyntaxResult<CommandList> {
        self.skip_lines()?;
        let end = if self.take_keyword("{") {
            "}"
        } else {
            self.expect_keyword("do", "a loop has no do")?;
            "done"
        };
        let script = self.commands()?;
        self.expect_keyword(end, "a loop is not closed")?;
        Ok(script)
    }

    fn for_each(&mut self) -> SyntaxResult<CommandNode> {
        self.skip_blanks();
        if self.is_at("((") {
            return self.counting_for();
        }
        let name = self.plain_word()?;
        self.skip_lines()?;
        let mut words = None;
        if self.take_keyword("in") {
            let words = words.insert(Vec::new());
            self.skip_blanks();
            while self.is_at_word() {
                words.extend(self.words()?);
                self.skip_blanks();
            }
            if self.peek() != Some(b';') && self.peek() != Some(b'\n') {
                return Err(SyntaxFault("a loop has no do"));
            }
        }
        let _ = self.take(";");
        Ok(CommandNode::For(name, words, self.body()?))
    }

    fn counting_for(&mut self) -> SyntaxResult<CommandNode> {
        let end = self.arithmetic_end()?.ok_or(SyntaxFault("a loop is not closed"))?;
        let words = self.arithmetic_words(end)?;
        self.skip_blanks();
        let _ = self.take(";");
        Ok(CommandNode::CountingFor(words, self.body()?))
    }

    /// Reads a word that is a name, and returns its text.
    fn plain_word(&mut self) -> SyntaxResult<String> {
        let word = self.word()?;
        plain_text(&word.parts).ok_or(SyntaxFault("a name is made while it runs"))
    }

    fn case(&mut self) -> SyntaxResult<CommandNode> {
        self.skip_blanks();
        let subject = self.word()?;
        self.skip_lines()?;
        self.expect_keyword("in", "a case has no in")?;
        let mut cases = Vec::new();
        loop {
            self.skip_lines()?;
            if self.take_keyword("esac") {
                return Ok(CommandNode::Case(subject, cases));
            }
            let patterns = self.patterns()?;
            cases.push((patterns, self.script()?));
            if self.is_at_case_end() {
                let _ = self.take(";;&") || self.take(";;") || self.take(";&");
            } else {
                self.expect_keyword("esac", "a case is not closed")?;
                return Ok(CommandNode::Case(subject, cases));
            }
        }
    }

    fn patterns(&mut self) -> SyntaxResult<Vec<Word>> {
        let _ = self.take("(");
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks();
            patterns.push(self.word()?);
            self.skip_blanks();
            if self.take(")") {
                return Ok(patterns);
            }
            self.expect("|", "a pattern is not closed")?;
        }
    }

    fn function(&mut self) -> SyntaxResult<CommandNode> {
        self.skip_blanks();
        let name = self.word()?;
        let name = plain_text(&name.parts).unwrap_or_default();
        self.skip_blanks();
        let start = self.at;
        let has_parentheses = self.take("(") && {
            self.skip_blanks();
            self.take(")")
        };
        if !has_parentheses {
            self.at = start;
        }
        self.function_body(name)
    }

    /// Reads what a function does.
    pub(crate) fn function_body(&mut self, name: String) -> SyntaxResult<CommandNode> {
        self.skip_lines()?;
        let body = self.stage()?;
        match body.node {
            CommandNode::Simple(..) | CommandNode::Function(..) => Err(SyntaxFault("a function has no body")),
            _ => Ok(CommandNode::Function(name, Box::new(body))),
        }
    }

    /// Reads `coproc`: with a name, it takes a compound command.
    fn coprocess(&mut self) -> SyntaxResult<CommandNode> {
        self.skip_blanks();
        let start = self.at;
        let name = self.name();
        self.skip_blanks();
        let is_named = !name.is_empty() && (self.is_at("(") || COMPOUND.contains(&self.keyword().0.as_ref()));
        if !is_named {
            self.at = start;
        }
        let assigned = is_named.then(|| descriptors_in(name, self.span(start..self.at)));
        let item =
            CommandPipeline { link: Link::Always, stages: vec![self.stage()?], is_negated: false, in_background: true };
        Ok(CommandNode::Group(CommandList { items: assigned.into_iter().chain([item]).collect() }))
    }

    fn test(&mut self) -> SyntaxResult<CommandNode> {
        let mut words: Vec<Word> = Vec::new();
        loop {
            self.skip_lines()?;
            if self.take_keyword("]]") {
                return Ok(CommandNode::Test(words));
            }
            let is_regex = words.last().is_some_and(|word| plain_text(&word.parts).as_deref() == Some("=~"));
            if is_regex {
                words.push(self.regex()?);
            } else if !self.is_at_word() || self.is_at("<") || self.is_at(">") {
                let operator = TEST_OPERATORS.iter().any(|operator| self.take(operator));
                if !operator {
                    return Err(SyntaxFault("a test is not closed"));
                }
            } else {
                words.push(self.word()?);
            }
        }
    }

    /// Reads a regular expression, in which parentheses and bars are text.
    fn regex(&mut self) -> SyntaxResult<Word> {
        let start = self.at;
        let mut parts = Vec::new();
        loop {
            parts.extend(self.parts(&LexerFrame::REGEX)?);
            if self.peek() != Some(b'(') {
                break;
            }
            self.nested(|reader| reader.pattern_group(&mut parts))?;
        }
        if self.at == start && self.pass == Pass::Tree {
            return Err(SyntaxFault("a test is not closed"));
        }
        Ok(Word { parts, span: self.span(start..self.at) })
    }
}

/// `coproc NAME …` assigns the numbers of its descriptors to the name.
fn descriptors_in(name: String, span: Range<usize>) -> CommandPipeline {
    // They are unknown, as `$_` is.
    let unknown = ParameterExpansion::plain("_");
    let parts = vec![WordPart::Parameter(unknown, Quoting::Quoted)];
    let values = vec![Word { parts, span: span.clone() }];
    let assignment = Assignment { name, index: None, is_added: false, is_array: false, values };
    let node = CommandNode::Simple(vec![assignment], Vec::new());
    let stages = vec![CommandStage { node, redirects: Vec::new(), span }];
    CommandPipeline { link: Link::Always, stages, is_negated: false, in_background: false }
}
