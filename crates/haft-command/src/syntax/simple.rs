//! Reads simple commands: assignments, words and redirections in any order, and functions, which begin like them.

use std::ops::Range;

use crate::syntax::here::Tabs;
use crate::syntax::reader::{SyntaxFault, SyntaxResult, TextReader};
use crate::syntax::word::{LexerFrame, plain_text};
use crate::syntax::{
    Assignment, CommandNode, CommandStage, Quoting, Redirect, RedirectKind, Word, WordPart, brace, tilde,
};

/// Operators of redirections, the longest first.
const OPERATORS: &[(&str, RedirectKind)] = &[
    ("&>>", RedirectKind::AppendBoth),
    ("&>", RedirectKind::WriteBoth),
    ("<<<", RedirectKind::HereString),
    ("<<-", RedirectKind::HereDocument),
    ("<<", RedirectKind::HereDocument),
    ("<>", RedirectKind::ReadWrite),
    ("<&", RedirectKind::Duplicate),
    ("<", RedirectKind::Read),
    (">>", RedirectKind::Append),
    (">|", RedirectKind::Write),
    (">&", RedirectKind::Duplicate),
    (">", RedirectKind::Write),
];

impl TextReader<'_> {
    /// Reads a simple command, or a function.
    pub(crate) fn simple(&mut self) -> SyntaxResult<CommandStage> {
        let start = self.at;
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = start;
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
            } else if self.peek() == Some(b'(') && assignments.is_empty() && redirects.is_empty() && words.len() == 1 {
                return self.function_behind(start..end);
            } else if !self.is_at_word() {
                break;
            } else if words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                assignments.push(assignment);
            } else {
                words.extend(self.words()?);
            }
            end = self.at;
        }
        match self.peek() {
            _ if end == start => Err(SyntaxFault("a command is missing")),
            Some(b'(') => Err(SyntaxFault("a parenthesis is where none can be")),
            _ => {
                let node = CommandNode::Simple(assignments, words);
                Ok(CommandStage { node, redirects, span: self.span(start..end) })
            }
        }
    }

    fn function_behind(&mut self, name: Range<usize>) -> SyntaxResult<CommandStage> {
        let start = name.start;
        self.expect("(", "a function has no parentheses")?;
        self.skip_blanks();
        self.expect(")", "a parenthesis is where none can be")?;
        let node = self.function_body(self.slice(name).to_owned())?;
        Ok(CommandStage { node, redirects: Vec::new(), span: self.span(start..self.at) })
    }

    /// Returns whether a word begins here.
    pub(crate) fn is_at_word(&mut self) -> bool {
        match self.peek() {
            None | Some(b'\n' | b';' | b'&' | b'|' | b'(' | b')') => false,
            Some(b'<') => self.is_at("<("),
            Some(b'>') => self.is_at(">("),
            Some(_) => true,
        }
    }

    /// Reads a word and expands its braces.
    pub(crate) fn words(&mut self) -> SyntaxResult<Vec<Word>> {
        let start = self.at;
        let parts = self.argument_parts()?;
        let span = self.span(start..self.at);
        let word = |parts| Word { parts: tilde::find(parts), span: span.clone() };
        Ok(brace::expand(parts).into_iter().map(word).collect())
    }

    /// Reads a word whose braces stay.
    pub(crate) fn word(&mut self) -> SyntaxResult<Word> {
        let start = self.at;
        let parts = tilde::find(self.parts(&LexerFrame::WORD)?);
        if self.at == start {
            return Err(SyntaxFault("a word is missing"));
        }
        Ok(Word { parts, span: self.span(start..self.at) })
    }

    /// Reads the parts of a word; `name=(…)` is one word, as `declare` takes it.
    fn argument_parts(&mut self) -> SyntaxResult<Vec<WordPart>> {
        let start = self.at;
        let mut parts = self.parts(&LexerFrame::WORD)?;
        if ends_in_qualifier(&parts, self.slice(start..self.at)) {
            parts.push(WordPart::Opaque("zsh may run code that stands in parentheses behind a pattern".to_owned()));
        }
        let is_name = |text: &str| text.len() > 1 && text.ends_with('=');
        let is_array = matches!(parts.as_slice(), [WordPart::Text(text, Quoting::Bare)] if is_name(text));
        if is_array && self.peek() == Some(b'(') {
            let text = |text: &str| WordPart::Text(text.to_owned(), Quoting::Bare);
            parts.push(text("("));
            for (index, word) in self.array()?.into_iter().enumerate() {
                parts.extend((index > 0).then(|| WordPart::Text(" ".to_owned(), Quoting::Quoted)));
                parts.extend(word.parts);
            }
            parts.push(text(")"));
        }
        Ok(parts)
    }

    /// Reads `name=value` and its kin, where one stands here.
    fn assignment(&mut self) -> SyntaxResult<Option<Assignment>> {
        let start = self.at;
        let name = self.name();
        if name.is_empty() {
            return Ok(None);
        }
        let index = self.index()?;
        let is_added = self.take("+=");
        if !is_added && !self.take("=") {
            self.at = start;
            return Ok(None);
        }
        let is_array = self.peek() == Some(b'(');
        let values = if is_array { self.array()? } else { vec![self.value()?] };
        Ok(Some(Assignment { name, index, is_added, is_array, values }))
    }

    fn value(&mut self) -> SyntaxResult<Word> {
        let start = self.at;
        let parts = tilde::find_in_value(self.parts(&LexerFrame::WORD)?);
        Ok(Word { parts, span: self.span(start..self.at) })
    }

    /// Reads `( … )` behind an assignment.
    fn array(&mut self) -> SyntaxResult<Vec<Word>> {
        self.nested(|reader| {
            reader.expect("(", "an array has no parenthesis")?;
            let mut words = Vec::new();
            loop {
                reader.skip_lines()?;
                if reader.take(")") {
                    return Ok(words);
                }
                if !reader.is_at_word() {
                    return Err(SyntaxFault("an array is not closed"));
                }
                words.extend(reader.words()?);
            }
        })
    }

    /// Reads a name of a variable; empty where there is none.
    pub(crate) fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(byte) = self.peek() {
            let fits = byte.is_ascii_alphabetic() || byte == b'_' || (byte.is_ascii_digit() && !name.is_empty());
            if !fits {
                break;
            }
            name.push(char::from(byte));
            self.at += 1;
        }
        name
    }

    /// Reads a redirection, where one stands here.
    pub(crate) fn redirect(&mut self) -> SyntaxResult<Option<Redirect>> {
        if !matches!(self.peek(), Some(b'<' | b'>' | b'&' | b'{' | b'0'..=b'9')) {
            return Ok(None);
        }
        let start = self.at;
        let (descriptor, variable) = self.descriptor();
        let is_process = self.is_at("<(") || self.is_at(">(");
        let found = OPERATORS.iter().find_map(|(token, kind)| Some((*token, *kind, self.end_of(token)?)));
        let Some((token, mut kind, end)) = found.filter(|_| !is_process) else {
            self.at = start;
            return Ok(None);
        };
        let operator = self.at;
        self.at = end;
        let target = match (token, kind) {
            ("<<-", _) => self.here_document(operator, Tabs::Removed)?,
            (_, RedirectKind::HereDocument) => self.here_document(operator, Tabs::Kept)?,
            _ => {
                self.skip_blanks();
                self.target(kind)?
            }
        };
        let is_descriptor = plain_text(&target.parts).is_some_and(|text| is_descriptor(&text));
        if token == ">&" && !is_descriptor {
            kind = RedirectKind::WriteBoth;
        }
        Ok(Some(Redirect { descriptor, variable, kind, target }))
    }

    fn target(&mut self, kind: RedirectKind) -> SyntaxResult<Word> {
        if !self.is_at_word() {
            return Err(SyntaxFault("a redirection leads nowhere"));
        }
        if kind == RedirectKind::HereString {
            return self.word();
        }
        let start = self.at;
        let span = |reader: &Self| reader.span(start..reader.at);
        match <[Word; 1]>::try_from(self.words()?) {
            Ok([word]) => Ok(word),
            Err(_) => {
                let parts = vec![WordPart::Opaque("it redirects to several files".to_owned())];
                Ok(Word { parts, span: span(self) })
            }
        }
    }

    /// Goes behind `2` or `{name}` in front of an operator; other words are left.
    fn descriptor(&mut self) -> (Option<u32>, Option<String>) {
        let start = self.at;
        if self.take("{") {
            let name = self.name();
            let is_name = !name.is_empty() && self.take("}") && matches!(self.peek(), Some(b'<' | b'>'));
            if !is_name {
                self.at = start;
            }
            return (None, is_name.then_some(name));
        }
        let mut digits = String::new();
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            digits.push(char::from(digit));
            self.at += 1;
        }
        let number = digits.parse().ok().filter(|_| matches!(self.peek(), Some(b'<' | b'>')));
        if number.is_none() {
            self.at = start;
        }
        (number, None)
    }
}

/// `1`, `-` and `1-`.
fn is_descriptor(text: &str) -> bool {
    let number = text.strip_suffix('-').unwrap_or(text);
    !text.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a word ends in parentheses that zsh takes for a condition on the names that a pattern finds, as in
/// `*(e:'code':)`. Names with a bar between them are alternatives in every shell.
fn ends_in_qualifier(parts: &[WordPart], text: &str) -> bool {
    let ends_in_group = matches!(parts.last(), Some(WordPart::Text(end, Quoting::Bare)) if end.ends_with(')'));
    let group = ["*(", "?(", "+(", "@(", "!("].iter().filter_map(|open| text.find(open)).min();
    let Some(group) = group.filter(|_| ends_in_group).and_then(|at| text.get(at + 2..text.len() - 1)) else {
        return false;
    };
    !group.contains('|') || !group.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./|*?-".contains(&byte))
}
