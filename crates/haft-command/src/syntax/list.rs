//! Reads lists of commands and pipes, and continues after a part that it cannot read.
//!
//! The shell refuses a whole line for one mistake. Here only the part with the mistake becomes opaque, and haft still reads
//! the rest: a mistake to haft may be correct to the shell that runs it.

use crate::syntax::reader::{Pass, SyntaxFault, SyntaxResult, TOO_DEEP, TextPosition, TextReader};
use crate::syntax::{
    CommandList, CommandNode, CommandPipeline, CommandStage, Link, Quoting, Redirect, RedirectKind, TOO_MANY_MISTAKES,
    Word, WordPart, here,
};

/// How often reading starts again behind something that cannot be read.
const MOST_STARTS: usize = 5;
/// Words that end a list, where a command could begin.
const CLOSERS: &[&str] = &["then", "do", "done", "fi", "elif", "else", "esac", "}"];
/// Words behind which a command may begin, when what is around them was not understood.
const OPENERS: &[&str] = &["if", "while", "until", "{", "!", "time"];

/// Reads a whole text, whatever is in it.
pub(crate) fn read(text: &str) -> CommandList {
    whole(&mut TextReader::new(text, TextPosition::At(0)))
}

fn whole(reader: &mut TextReader<'_>) -> CommandList {
    let mut items = Vec::new();
    // A text with a mistake is surveyed up to it; documents behind it are read as commands, which is the stricter way.
    let _ = here::survey(reader, |reader| reader.script());
    for start in 0..=MOST_STARTS {
        let Err((item, trouble)) = all_items(reader, &mut items) else { break };
        let (end, why) = match start {
            MOST_STARTS => (reader.end, TOO_MANY_MISTAKES),
            _ => (restart(reader, item, trouble), trouble.0),
        };
        let node = CommandNode::Opaque(why.to_owned());
        let stage = CommandStage { node, redirects: Vec::new(), span: reader.span(item..end) };
        items.push(CommandPipeline {
            link: Link::Always,
            stages: vec![stage],
            is_negated: false,
            in_background: false,
        });
        reader.at = end;
        skip_openers(reader);
    }
    CommandList { items }
}

/// Reads to the end of the text; an error comes with the place where its command began.
fn all_items(reader: &mut TextReader<'_>, items: &mut Vec<CommandPipeline>) -> Result<(), (usize, SyntaxFault)> {
    let mut item = reader.at;
    let mut list = List { items: std::mem::take(items), ..List::default() };
    let mut all = |reader: &mut TextReader<'_>| {
        while list.goes_on {
            reader.skip_lines()?;
            item = reader.at;
            reader.list_item(&mut list)?;
        }
        item = reader.at;
        if reader.peek().is_some() { Err(SyntaxFault("something ends here that did not begin")) } else { Ok(()) }
    };
    let result = all(reader);
    *items = list.items;
    result.map_err(|trouble| (item, trouble))
}

/// Returns where a command may begin behind one that cannot be read.
fn restart(reader: &mut TextReader<'_>, item: usize, trouble: SyntaxFault) -> usize {
    reader.waiting.clear();
    // Behind the next parenthesis it is as deep as it was.
    let separators: &[u8] = if trouble == TOO_DEEP { b";\n&|" } else { b";\n&|()`" };
    let bytes = reader.bytes_from(item);
    if bytes.first().is_some_and(|first| separators.contains(first)) {
        return item + 1;
    }
    bytes.iter().position(|byte| separators.contains(byte)).map_or(reader.end, |next| item + next)
}

fn skip_openers(reader: &mut TextReader<'_>) {
    loop {
        match reader.peek() {
            Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'`') => reader.at += 1,
            Some(_) => {
                let (word, end) = reader.keyword();
                if !CLOSERS.contains(&word.as_ref()) && !OPENERS.contains(&word.as_ref()) {
                    return;
                }
                reader.at = end;
            }
            None => return,
        }
    }
}

/// A list that is being read.
struct List {
    items: Vec<CommandPipeline>,
    link: Link,
    /// Whether another command may follow.
    goes_on: bool,
}

impl Default for List {
    fn default() -> Self {
        List { items: Vec::new(), link: Link::Always, goes_on: true }
    }
}

impl TextReader<'_> {
    /// Reads commands up to something that ends them, which is left.
    pub(crate) fn script(&mut self) -> SyntaxResult<CommandList> {
        let mut list = List::default();
        while list.goes_on {
            self.list_item(&mut list)?;
        }
        Ok(CommandList { items: list.items })
    }

    /// Like `script`, where there has to be a command.
    pub(crate) fn commands(&mut self) -> SyntaxResult<CommandList> {
        let script = self.script()?;
        if script.items.is_empty() { Err(SyntaxFault("a command is missing")) } else { Ok(script) }
    }

    fn list_item(&mut self, list: &mut List) -> SyntaxResult<()> {
        self.skip_lines()?;
        if self.is_at_closer() {
            list.goes_on = false;
            return match list.link {
                Link::Always => Ok(()),
                Link::And | Link::Or => Err(SyntaxFault("nothing follows && or ||")),
            };
        }
        let (stages, is_negated) = self.pipe()?;
        list.items.push(CommandPipeline { link: list.link, stages, is_negated, in_background: false });
        self.skip_blanks();
        list.link = Link::Always;
        match self.peek() {
            Some(b'&') if self.take("&&") => list.link = Link::And,
            Some(b'|') if self.take("||") => list.link = Link::Or,
            Some(b'&') => {
                self.at += 1;
                let chain = list.items.iter().rposition(|item| item.link == Link::Always).unwrap_or_default();
                list.items.iter_mut().skip(chain).for_each(|item| item.in_background = true);
            }
            Some(b';') if !self.is_at_case_end() => self.at += 1,
            Some(b'\n') => self.take_line_end()?,
            Some(b')' | b';') | None => list.goes_on = false,
            Some(_) => return Err(SyntaxFault("something follows a command that cannot follow it")),
        }
        Ok(())
    }

    fn is_at_closer(&mut self) -> bool {
        matches!(self.peek(), None | Some(b')'))
            || self.is_at_case_end()
            || CLOSERS.contains(&self.keyword().0.as_ref())
    }

    /// Returns whether an end of a case stands here: `;;`, `;&` or `;;&`.
    pub(crate) fn is_at_case_end(&self) -> bool {
        self.is_at(";;") || self.is_at(";&")
    }

    /// Reads a pipe, and whether it is negated.
    fn pipe(&mut self) -> SyntaxResult<(Vec<CommandStage>, bool)> {
        let start = self.at;
        let is_negated = self.skip_prefixes();
        if self.at != start && (self.is_at_closer() || matches!(self.peek(), Some(b'\n' | b';' | b'&' | b'|'))) {
            let node = CommandNode::Simple(Vec::new(), Vec::new());
            return Ok((
                vec![CommandStage { node, redirects: Vec::new(), span: self.span(start..self.at) }],
                is_negated,
            ));
        }
        let mut stages = vec![self.stage()?];
        loop {
            self.skip_blanks();
            if self.is_at("||") {
                return Ok((stages, is_negated));
            }
            if self.take("|&") {
                stages.last_mut().into_iter().for_each(|stage| stage.redirects.push(errors_too()));
            } else if !self.take("|") {
                return Ok((stages, is_negated));
            }
            self.skip_lines()?;
            self.skip_prefixes();
            stages.push(self.stage()?);
        }
    }

    /// Goes behind `!` and `time`, and returns whether the result is negated.
    fn skip_prefixes(&mut self) -> bool {
        let mut is_negated = false;
        loop {
            self.skip_blanks();
            if self.take_keyword("time") {
                self.skip_blanks();
                let _ = self.take_keyword("-p");
                self.skip_blanks();
                let _ = self.take_keyword("--");
            } else if self.take_keyword("!") {
                is_negated = !is_negated;
            } else {
                return is_negated;
            }
        }
    }

    /// Reads one program of a pipe, or a compound command, with its redirections.
    pub(crate) fn stage(&mut self) -> SyntaxResult<CommandStage> {
        self.nested(|reader| {
            // A command of one letter is looked at for all the words of the grammar.
            reader.work(5)?;
            reader.skip_blanks();
            let start = reader.at;
            let Some(node) = reader.compound()? else { return reader.simple() };
            let mut redirects = Vec::new();
            let mut end = reader.at;
            reader.skip_blanks();
            while let Some(redirect) = reader.redirect()? {
                redirects.push(redirect);
                end = reader.at;
                reader.skip_blanks();
            }
            Ok(CommandStage { node, redirects, span: reader.span(start..end) })
        })
    }

    /// Reads the inside of a substitution up to the parenthesis that closes it.
    pub(crate) fn parenthesized(&mut self) -> SyntaxResult<CommandList> {
        self.nested(|reader| {
            reader.enclosed(|reader| {
                let script = reader.script()?;
                reader.expect(")", "a parenthesis is not closed")?;
                Ok(script)
            })
        })
    }

    /// Reads the text of a substitution that was written with backticks. The shell reads it when it runs it: a mistake
    /// in it keeps nothing around it from running.
    pub(crate) fn backticks(&mut self, text: &str, place: TextPosition) -> SyntaxResult<CommandList> {
        match self.pass {
            Pass::Survey => Ok(CommandList::default()),
            Pass::Tree => self.other(text, place, |reader| Ok(whole(reader))),
        }
    }
}

/// What `|&` adds to the command before it.
fn errors_too() -> Redirect {
    let target = Word { parts: vec![WordPart::Text("1".to_owned(), Quoting::Bare)], span: 0..0 };
    Redirect { descriptor: Some(2), variable: None, kind: RedirectKind::Duplicate, target }
}
