//! Reads a sed program: it may run commands (`e`), and read and write files (`r`, `w`).
//!
//! haft reads the program as GNU sed does. A program that GNU sed rejects is not understood.

use crate::act::{PathEffect, ProgramReading, RawEffect};
use crate::languages::marks::{GAP, NUMBER, act, script};

/// Reads a program.
pub(crate) fn read(text: &str) -> ProgramReading {
    let mut parser = Parser::new(text);
    if parser.program().is_none() {
        parser.reading.acts.push(RawEffect::Unknown("it is not a sed program that can be read".to_owned()));
    }
    parser.reading
}

/// Returns what a program does to the text that it edits.
pub(crate) fn edits(text: &str) -> Edits {
    let mut parser = Parser::new(text);
    // What stands behind a mistake is not known, and sed would not run such a program.
    let _ = parser.program();
    parser.edits
}

/// What a program does to the text that it edits, as far as that is plain.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Edits {
    /// Texts, and what comes in their place.
    pub(crate) replaced: Vec<(String, String)>,
    /// Texts that are put in.
    pub(crate) added: Vec<String>,
}

struct Parser {
    text: Vec<char>,
    at: usize,
    reading: ProgramReading,
    edits: Edits,
}

/// Each part returns nothing where the text is not what sed takes.
impl Parser {
    fn new(text: &str) -> Self {
        Self { text: text.chars().collect(), at: 0, reading: ProgramReading::default(), edits: Edits::default() }
    }

    fn program(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            self.skip(|c| c.is_whitespace() || c == ';');
            if self.peek().is_none() {
                return (depth == 0).then_some(());
            }
            if self.eat('}') {
                depth = depth.checked_sub(1)?;
                self.end_of_command()?;
                continue;
            }
            self.addresses()?;
            if self.eat('{') {
                depth += 1;
            } else {
                self.command()?;
            }
        }
    }

    fn addresses(&mut self) -> Option<()> {
        if self.address()? {
            self.blanks();
            if self.eat(',') {
                self.blanks();
                if matches!(self.peek(), Some('+' | '~')) {
                    self.at += 1;
                }
                self.address()?.then_some(())?;
            }
        }
        self.skip(|c| c == ' ' || c == '\t' || c == '!');
        Some(())
    }

    /// Says whether there is one.
    fn address(&mut self) -> Option<bool> {
        match self.peek() {
            Some('$') => self.at += 1,
            Some(c) if is_digit(c) => self.skip(|c| is_digit(c) || c == '~'),
            Some('/') => {
                self.at += 1;
                self.pattern_until('/')?;
                self.skip(|c| c == 'I' || c == 'M');
            }
            Some('\\') => {
                self.at += 1;
                let delimiter = self.take()?;
                self.pattern_until(delimiter)?;
                self.skip(|c| c == 'I' || c == 'M');
            }
            _ => return Some(false),
        }
        Some(true)
    }

    fn command(&mut self) -> Option<()> {
        match self.take()? {
            '#' => {
                self.line();
                Some(())
            }
            '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => self.end_of_command(),
            'l' | 'L' | 'q' | 'Q' => {
                self.blanks();
                self.skip(is_digit);
                self.end_of_command()
            }
            ':' | 'b' | 't' | 'T' | 'v' => {
                self.blanks();
                self.skip(|c| !c.is_whitespace() && c != ';' && c != '}');
                self.end_of_command()
            }
            'a' | 'i' | 'c' => {
                self.added_text();
                Some(())
            }
            'r' | 'R' => self.file(PathEffect::Read),
            'w' | 'W' => self.file(PathEffect::Replace),
            'e' => {
                self.runs();
                Some(())
            }
            'y' => {
                let delimiter = self.delimiter()?;
                self.until(delimiter)?;
                self.until(delimiter)?;
                self.end_of_command()
            }
            's' => self.substitution(),
            _ => None,
        }
    }

    fn substitution(&mut self) -> Option<()> {
        let delimiter = self.delimiter()?;
        let start = self.at;
        self.pattern_until(delimiter)?;
        let pattern: String = self.text[start..self.at - 1].iter().collect();
        let replacement = self.until(delimiter)?;
        self.note_substitution(&pattern, &replacement);
        loop {
            match self.peek() {
                Some('w') => {
                    self.at += 1;
                    return self.file(PathEffect::Replace);
                }
                Some('e') => {
                    self.at += 1;
                    self.runs_lines();
                    // With nothing kept of the line, the replacement is the command.
                    self.reading.inner.push(script(&with_gaps(&replacement)));
                }
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' | NUMBER) => self.at += 1,
                _ => return self.end_of_command(),
            }
        }
    }

    /// Notes a substitution; an anchor of a plain pattern says only how often it fits.
    fn note_substitution(&mut self, pattern: &str, replacement: &str) {
        let pattern = pattern.trim_start_matches('^').trim_end_matches('$');
        let replacement = replacement.replace("\\n", "\n");
        if !pattern.is_empty() && !pattern.contains(['\\', '.', '*', '[', ']', '+', '?', '(', ')', '{', '|', '^', '$'])
        {
            self.edits.replaced.push((pattern.to_owned(), replacement.clone()));
        }
        self.edits.added.push(replacement);
    }

    fn runs_lines(&mut self) {
        self.reading.runs_input = true;
        self.reading.acts.push(RawEffect::Unknown("it runs the lines that it reads as commands".to_owned()));
    }

    fn runs(&mut self) {
        self.blanks();
        let command = self.line();
        if command.trim().is_empty() {
            self.runs_lines();
        } else {
            self.reading.inner.push(script(&command));
        }
    }

    fn file(&mut self, deed: PathEffect) -> Option<()> {
        self.blanks();
        let name = self.line();
        if name.is_empty() {
            return None;
        }
        self.reading.acts.push(act(deed, &name));
        Some(())
    }

    /// The text of `a`, `i` and `c` goes to the end of the line, and on where a backslash ends it.
    fn added_text(&mut self) {
        let mut added = String::new();
        while let Some(c) = self.take() {
            match c {
                '\\' => added.extend(self.take()),
                '\n' => break,
                c => added.push(c),
            }
        }
        self.edits.added.push(added.trim_start().to_owned());
    }

    fn delimiter(&mut self) -> Option<char> {
        self.take().filter(|c| *c != '\n' && *c != '\\')
    }

    /// In brackets a delimiter is an ordinary character, and a backslash too.
    fn pattern_until(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.take()? {
                c if c == delimiter => return Some(()),
                '\\' => self.at += 1,
                '[' => self.brackets()?,
                _ => {}
            }
        }
    }

    fn brackets(&mut self) -> Option<()> {
        self.eat('^');
        self.eat(']');
        loop {
            match self.take()? {
                ']' => return Some(()),
                '[' if matches!(self.peek(), Some(':' | '.' | '=')) => {
                    let class = self.take()?;
                    while !(self.take()? == class && self.peek() == Some(']')) {}
                    self.at += 1;
                }
                _ => {}
            }
        }
    }

    fn until(&mut self, delimiter: char) -> Option<String> {
        let mut text = String::new();
        loop {
            match self.take()? {
                c if c == delimiter => return Some(text),
                '\\' => {
                    let escaped = self.take()?;
                    if escaped != delimiter {
                        text.push('\\');
                    }
                    text.push(escaped);
                }
                c => text.push(c),
            }
        }
    }

    fn end_of_command(&mut self) -> Option<()> {
        self.blanks();
        match self.peek() {
            None | Some('}' | '#') => Some(()),
            Some(';' | '\n' | '\r') => {
                self.at += 1;
                Some(())
            }
            Some(_) => None,
        }
    }

    fn line(&mut self) -> String {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let line: String = rest.iter().take_while(|c| **c != '\n').collect();
        self.at += line.chars().count() + 1;
        line
    }

    fn blanks(&mut self) {
        self.skip(|c| c == ' ' || c == '\t');
    }

    fn skip(&mut self, matches: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&matches) {
            self.at += 1;
        }
    }

    fn eat(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        self.at += usize::from(is_there);
        is_there
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }
}

/// Returns a replacement as the text that it makes: what it takes from the line is not known.
fn with_gaps(replacement: &str) -> String {
    let mut text = String::new();
    let mut rest = replacement.chars();
    while let Some(c) = rest.next() {
        match c {
            '&' => text.push(GAP),
            '\\' => match rest.next() {
                Some('n') => text.push('\n'),
                // A part of the line, or a change of the letters that follow.
                Some('0'..='9' | 'L' | 'U' | 'l' | 'u' | 'E') => text.push(GAP),
                Some(escaped) => text.push(escaped),
                None => {}
            },
            c => text.push(c),
        }
    }
    text
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || c == NUMBER
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::act::NestedRun;
    use crate::value::ShellValue;

    fn runs(text: &str) -> Vec<String> {
        let shown = |inner: &NestedRun| match inner {
            NestedRun::Script(value, _) => value.shown(),
            other => format!("{other:?}"),
        };
        read(text).inner.iter().map(shown).collect()
    }

    fn acts(text: &str) -> Vec<RawEffect> {
        read(text).acts
    }

    #[test]
    fn programs_that_only_edit_do_nothing_else() {
        for text in [
            "",
            "p",
            "1,5p",
            "$d",
            "$!N;P;D",
            "0~4d",
            "2,+3p",
            "10,~4p",
            "/a/,/b/!d",
            "\\,a/b,Id",
            "s/a/b/",
            "s|/etc/e|w x|gp",
            "s/a\\/b/c/2;s#x#e#",
            "s/e/w/; s,w,e,I",
            "/x/{s/a/b/;p;}",
            "/x/ { n; d }",
            ":a;N;$!ba;s/\\n/ /g",
            "y/abc/xyz/",
            "s/[/]/x/;s/[^]/e]/y/",
            "s,[[:space:],]*,,",
            "1i\\\ne rm -rf ~\n",
            "1i e rm -rf ~",
            "$a w /etc/passwd",
            "/x/c\\\nr ~/.ssh/id_rsa\\\nw x",
            "# e rm -rf ~\np",
            "5q;=",
            "q1",
            "s/a/\\\nb/",
            "/^$/d # blank lines",
        ] {
            assert_eq!(read(text), ProgramReading::default(), "{text}");
        }
    }

    #[test]
    fn edits_of_plain_text_are_known() {
        let text = edits("s/^x/r/g;s/[a]/\\n/;1i import os\n$a\\\nb");
        let pair = |old: &str, new: &str| (old.to_owned(), new.to_owned());
        assert_eq!(text.replaced, [pair("x", "r")]);
        assert_eq!(text.added, ["r", "\n", "import os", "b"]);
    }

    #[test]
    fn a_command_is_run_by_e() {
        assert_eq!(runs("1e rm -rf ~"), ["rm -rf ~"]);
        assert_eq!(runs("p;/x/{e rm -rf ~\n}"), ["rm -rf ~"]);
        assert_eq!(runs("s/.*/rm -rf ~/e"), ["rm -rf ~"]);
        assert_eq!(runs("s,x,cat \\, y,ge"), ["cat , y"]);
        assert_eq!(runs("s/.*/cat &/e;s/x/a\\&b \\1/e"), ["cat …", "a&b …"]);
        for text in ["e", "s/a/b/e", "s/a/b/pe;p"] {
            assert!(matches!(acts(text).as_slice(), [RawEffect::Unknown(_)]), "{text}");
        }
    }

    #[test]
    fn files_are_read_by_r_and_written_by_w() {
        let written = |name: &str| vec![RawEffect::Path(PathEffect::Replace, ShellValue::text(name))];
        let read = |name: &str| vec![RawEffect::Path(PathEffect::Read, ShellValue::text(name))];
        assert_eq!(acts("w /etc/x"), written("/etc/x"));
        assert_eq!(acts("W a b;p"), written("a b;p"));
        assert_eq!(acts("/x/s/a/b/gw ~/.bashrc"), written("~/.bashrc"));
        assert_eq!(acts("r /etc/shadow"), read("/etc/shadow"));
        assert_eq!(acts("$R .env\np"), read(".env"));
    }

    #[test]
    fn what_sed_would_not_take_is_not_understood() {
        for text in ["s/a", "s/a/b", "k", "p}", "{p", "s/a/b/k", "1,p", "w", "/a", "y/a/b", "p p"] {
            assert!(matches!(acts(text).as_slice(), [.., RawEffect::Unknown(_)]), "{text}");
        }
    }
}
