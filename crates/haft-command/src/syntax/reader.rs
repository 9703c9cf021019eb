//! Reads the text of a command, character by character, as the shell does.
//!
//! The shell ignores a backslash before a line end, even in the middle of an operator. Only this module skips it. The
//! reader also counts nesting and work: no text makes it run out of stack or of time.
//!
//! Not here: what the characters mean (`list`, `simple`, `word` and the rest).

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::syntax::CommandList;
use crate::syntax::here::{DocumentBody, PendingDocument};

/// How deeply commands, substitutions and quotes may be nested. People write a dozen levels.
const DEEPEST: usize = 100;
/// How many characters may be looked at, those that are looked at twice counted twice. The longest text that is one
/// here-document takes four looks at each.
const MOST_WORK: usize = 400_000;
/// Words of the grammar are shorter.
const LONGEST_KEYWORD: usize = 16;

/// Why reading cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxFault(pub(crate) &'static str);

/// That of a text with too many levels.
pub(crate) const TOO_DEEP: SyntaxFault = SyntaxFault("it is nested too deeply");

/// That of a text that takes too many looks.
pub(crate) const TOO_MUCH: SyntaxFault = SyntaxFault("it takes too long to read");

/// The result of reading a piece of a command, or the fault in its syntax.
pub(crate) type SyntaxResult<T> = Result<T, SyntaxFault>;

/// Where the text of a reader lies in the text that was given.
#[derive(Clone, Debug)]
pub(crate) enum TextPosition {
    /// From this byte on, as it stands there.
    At(usize),
    /// Somewhere in this range: escapes were taken out of it.
    Within(Range<usize>),
}

/// What a reader is after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Finding the texts of here-documents, which stand behind the line that names them.
    Survey,
    /// The tree.
    Tree,
}

/// A text and a place in it.
pub(crate) struct TextReader<'t> {
    pub(crate) text: &'t str,
    pub(crate) at: usize,
    /// Nothing is read from here on.
    pub(crate) end: usize,
    pub(crate) place: TextPosition,
    pub(crate) pass: Pass,
    /// Here-documents whose text begins behind the next line end.
    pub(crate) waiting: Vec<PendingDocument>,
    /// The texts of here-documents, by the place of their operator.
    pub(crate) bodies: HashMap<usize, DocumentBody>,
    depth: usize,
    work_left: usize,
}

impl<'t> TextReader<'t> {
    /// A reader of a whole text.
    pub(crate) fn new(text: &'t str, place: TextPosition) -> Self {
        TextReader {
            text,
            at: 0,
            end: text.len(),
            place,
            pass: Pass::Tree,
            waiting: Vec::new(),
            bodies: HashMap::new(),
            depth: 0,
            work_left: MOST_WORK,
        }
    }

    /// Reads another text, which was made of a part of this one, with what is left of nesting and work.
    pub(crate) fn other<T>(
        &mut self,
        text: &str,
        place: TextPosition,
        read: impl FnOnce(&mut TextReader<'_>) -> SyntaxResult<T>,
    ) -> SyntaxResult<T> {
        let mut reader = TextReader::new(text, place);
        reader.work_left = self.work_left;
        reader.depth = self.depth;
        let result = reader.nested(read);
        self.work_left = reader.work_left;
        result
    }

    /// Reads something that is nested in what is being read.
    pub(crate) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> SyntaxResult<T>) -> SyntaxResult<T> {
        if self.depth >= DEEPEST {
            return Err(TOO_DEEP);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads from here to a byte as if the text ended there, and goes on behind it.
    pub(crate) fn limited<T>(
        &mut self,
        end: usize,
        read: impl FnOnce(&mut Self) -> SyntaxResult<T>,
    ) -> SyntaxResult<T> {
        let outer = std::mem::replace(&mut self.end, end);
        let result = read(self);
        self.end = outer;
        self.at = end;
        result
    }

    /// Reads commands whose here-documents end within them, as those of a substitution do.
    pub(crate) fn enclosed(
        &mut self,
        read: impl FnOnce(&mut Self) -> SyntaxResult<CommandList>,
    ) -> SyntaxResult<CommandList> {
        let outer = std::mem::take(&mut self.waiting);
        let result = read(self);
        let inner = std::mem::replace(&mut self.waiting, outer);
        match inner.is_empty() {
            true => result,
            false => Err(SyntaxFault("a here-document has no text")),
        }
    }

    /// Counts work.
    pub(crate) fn work(&mut self, characters: usize) -> SyntaxResult<()> {
        self.work_left = self.work_left.checked_sub(characters).ok_or(TOO_MUCH)?;
        Ok(())
    }

    /// Returns the bytes from a place on.
    pub(crate) fn bytes_from(&self, at: usize) -> &'t [u8] {
        self.text.as_bytes().get(at..self.end).unwrap_or_default()
    }

    /// Returns the next byte; line ends behind a backslash are gone.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        while self.bytes_from(self.at).starts_with(b"\\\n") {
            self.at += 2;
        }
        self.bytes_from(self.at).first().copied()
    }

    /// Returns where a token ends that stands here.
    pub(crate) fn end_of(&self, token: &str) -> Option<usize> {
        let mut at = self.at;
        for byte in token.bytes() {
            while self.bytes_from(at).starts_with(b"\\\n") {
                at += 2;
            }
            if self.bytes_from(at).first() != Some(&byte) {
                return None;
            }
            at += 1;
        }
        Some(at)
    }

    /// Returns whether a token stands here.
    pub(crate) fn is_at(&self, token: &str) -> bool {
        self.end_of(token).is_some()
    }

    /// Goes behind a token that stands here; says whether it did.
    pub(crate) fn take(&mut self, token: &str) -> bool {
        match self.end_of(token) {
            Some(end) => {
                self.at = end;
                true
            }
            None => false,
        }
    }

    /// Goes behind a token that has to be here.
    pub(crate) fn expect(&mut self, token: &str, otherwise: &'static str) -> SyntaxResult<()> {
        if self.take(token) { Ok(()) } else { Err(SyntaxFault(otherwise)) }
    }

    /// Goes behind one character and returns it, as it stands there.
    pub(crate) fn next_char(&mut self) -> Option<char> {
        let next = self.text.get(self.at..self.end)?.chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Returns the text between two places.
    pub(crate) fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }

    /// Returns which bytes of the text that was given lie between two places.
    pub(crate) fn span(&self, range: Range<usize>) -> Range<usize> {
        match &self.place {
            TextPosition::At(offset) => offset + range.start..offset + range.end,
            TextPosition::Within(range) => range.clone(),
        }
    }

    /// Goes behind blanks and a comment.
    pub(crate) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        if self.peek() == Some(b'#') {
            let line = self.bytes_from(self.at);
            self.at += line.iter().position(|byte| *byte == b'\n').unwrap_or(line.len());
        }
    }

    /// Goes behind blanks, comments and line ends.
    pub(crate) fn skip_lines(&mut self) -> SyntaxResult<()> {
        self.skip_blanks();
        while self.peek() == Some(b'\n') {
            self.take_line_end()?;
            self.skip_blanks();
        }
        Ok(())
    }

    /// Goes behind a line end, and behind the here-documents that begin there.
    pub(crate) fn take_line_end(&mut self) -> SyntaxResult<()> {
        self.at += 1;
        self.skip_here_documents()
    }

    /// Returns the bare word that stands here, for comparing it with the words of the grammar, and where it ends.
    pub(crate) fn keyword(&self) -> (Cow<'t, str>, usize) {
        let bytes = self.bytes_from(self.at);
        let bytes = bytes.get(..LONGEST_KEYWORD).unwrap_or(bytes);
        let length = bytes.iter().position(|byte| b" \t\n;&|()<>".contains(byte)).unwrap_or(bytes.len());
        let end = self.at + length;
        match self.slice(self.at..end) {
            word if word.contains('\\') => self.broken_keyword(),
            word if length < LONGEST_KEYWORD => (Cow::Borrowed(word), end),
            _ => (Cow::Borrowed(""), self.at),
        }
    }

    /// Like `keyword`, for a word with line ends in it.
    fn broken_keyword(&self) -> (Cow<'t, str>, usize) {
        let (mut word, mut at) = (String::new(), self.at);
        while word.len() < LONGEST_KEYWORD {
            match self.bytes_from(at) {
                [b'\\', b'\n', ..] => at += 2,
                [] | [b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>', ..] => {
                    return (Cow::Owned(word), at);
                }
                [byte, ..] => {
                    word.push(char::from(*byte));
                    at += 1;
                }
            }
        }
        (Cow::Borrowed(""), self.at)
    }

    /// Goes behind a word of the grammar that stands here; says whether it did.
    pub(crate) fn take_keyword(&mut self, keyword: &str) -> bool {
        let (word, end) = self.keyword();
        if word == keyword {
            self.at = end;
        }
        word == keyword
    }

    /// Goes behind a word of the grammar that has to be here.
    pub(crate) fn expect_keyword(&mut self, keyword: &str, otherwise: &'static str) -> SyntaxResult<()> {
        if self.take_keyword(keyword) { Ok(()) } else { Err(SyntaxFault(otherwise)) }
    }
}
