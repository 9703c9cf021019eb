//! Reads one object from text that is not quite JSON, and notes each kind of repair.
//!
//! This is a recursive descent with a depth limit. Each function either consumes what it names or ends the whole
//! reading with a fault. It never backtracks, so the time is linear.

use serde_json::{Map, Value};

use super::{excerpt, position};
use crate::arguments::fault::{Fault, UnknownKey, ValuePathStep, push_key, written_path};
use crate::arguments::strict::{DEEPEST, duplicate_fault};

/// How the line begins that says of brackets which the text left open.
pub(in crate::arguments) const CLOSED: &str = "json: closed ";
const WHAT_TO_SEND: &str = "nothing was run; send one JSON object, with quotes inside strings written as \\\"";

/// An object, its length in the text in bytes, and the repairs in it.
pub(super) struct ObjectRead {
    pub value: Value,
    pub length: usize,
    pub repairs: Vec<String>,
}

/// The current place in the text, and the repairs before it.
pub(super) struct Parser<'t> {
    /// From the opening bracket on.
    pub(super) text: &'t str,
    /// Next byte to read.
    pub(super) at: usize,
    /// The whole text the model sent, for telling line and column.
    whole: &'t str,
    /// The keys and indexes that lead here.
    path: Vec<ValuePathStep>,
    depth: usize,
    repairs: Vec<&'static str>,
    /// Brackets that were closed because the text ended.
    closed: usize,
    pub(super) notation: Notation,
}

/// What the text may be, apart from JSON with slips.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    Json,
    /// A literal of Python, which has tuples and escapes of its own.
    Python,
}

impl<'t> Parser<'t> {
    /// Reads the object at the start of `text`, which is the end of `whole`.
    pub(super) fn read_object(text: &'t str, whole: &'t str) -> Result<ObjectRead, Fault> {
        let mut parser = Parser::new(text, whole, Notation::Json);
        let value = parser.object()?;
        let mut repairs: Vec<String> = parser.repairs.iter().map(|&line| line.to_owned()).collect();
        match parser.closed {
            0 => {}
            1 => repairs.push(format!("{CLOSED}1 open bracket at the end")),
            count => repairs.push(format!("{CLOSED}{count} open brackets at the end")),
        }
        Ok(ObjectRead { value, length: parser.at, repairs })
    }

    /// Reads a text that is one list or object and nothing else, as JSON with slips or as Python writes it.
    pub(super) fn read_literal(text: &'t str) -> Option<Value> {
        let mut parser = Parser::new(text, text, Notation::Python);
        let value = parser.value().ok()?;
        let is_whole = text[parser.at..].trim().is_empty() && parser.closed == 0;
        is_whole.then_some(value)
    }

    fn new(text: &'t str, whole: &'t str, notation: Notation) -> Self {
        Parser { text, at: 0, whole, path: Vec::new(), depth: 0, repairs: Vec::new(), closed: 0, notation }
    }

    fn object(&mut self) -> Result<Value, Fault> {
        self.enter()?;
        let mut map = Map::new();
        self.blanks()?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            self.depth -= 1;
            return Ok(Value::Object(map));
        }
        loop {
            let key = self.key()?;
            if map.contains_key(&key) {
                let mut path = self.path();
                push_key(&mut path, &key);
                return Err(duplicate_fault(path, &key));
            }
            self.path.push(ValuePathStep::Key(key));
            let value = self.value()?;
            if let Some(ValuePathStep::Key(key)) = self.path.pop() {
                map.insert(key, value);
            }
            if !self.goes_on(b'}')? {
                self.depth -= 1;
                return Ok(Value::Object(map));
            }
        }
    }

    fn array(&mut self) -> Result<Value, Fault> {
        self.enter()?;
        let mut list = Vec::new();
        self.blanks()?;
        if self.peek() == Some(b']') {
            self.at += 1;
            self.depth -= 1;
            return Ok(Value::Array(list));
        }
        loop {
            self.path.push(ValuePathStep::Index(list.len()));
            list.push(self.value()?);
            self.path.pop();
            if !self.goes_on(b']')? {
                self.depth -= 1;
                return Ok(Value::Array(list));
            }
        }
    }

    /// Reads a tuple as a list; parentheses around one value without a comma are only that.
    fn tuple(&mut self) -> Result<Value, Fault> {
        self.enter()?;
        let mut list = Vec::new();
        let mut has_comma = false;
        self.blanks()?;
        while self.peek() != Some(b')') {
            list.push(self.value()?);
            self.blanks()?;
            match self.peek() {
                Some(b',') => (has_comma, self.at) = (true, self.at + 1),
                Some(b')') => break,
                _ => return Err(self.broken("a comma or ) after the value")),
            }
            self.blanks()?;
        }
        self.at += 1;
        self.depth -= 1;
        let single = if has_comma || list.len() != 1 { None } else { list.pop() };
        Ok(single.unwrap_or(Value::Array(list)))
    }

    fn enter(&mut self) -> Result<(), Fault> {
        self.at += 1;
        self.depth += 1;
        if self.depth > DEEPEST {
            let hint = format!("nothing was run; nest at most {DEEPEST} deep");
            return Err(self.fault(self.at, "fewer brackets inside each other", &hint));
        }
        Ok(())
    }

    /// Reads a key and its colon.
    fn key(&mut self) -> Result<String, Fault> {
        let key = match self.quote() {
            Some(quote) => self.string(quote)?,
            None => self.bare_key()?,
        };
        self.blanks()?;
        match self.peek() {
            Some(b':') => {
                self.at += 1;
                Ok(key)
            }
            None => Err(self.cut_off("after a key")),
            Some(_) => Err(self.broken("a colon after the key")),
        }
    }

    fn bare_key(&mut self) -> Result<String, Fault> {
        let rest = &self.text[self.at..];
        let is_start = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$');
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '-');
        let word = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        if word.len() == rest.len() {
            return Err(self.cut_off("where a key begins"));
        }
        if !word.starts_with(is_start) {
            return Err(self.broken("a key in double quotes"));
        }
        self.at += word.len();
        self.note("json: unquoted keys quoted");
        Ok(word.to_owned())
    }

    fn value(&mut self) -> Result<Value, Fault> {
        self.blanks()?;
        if let Some(quote) = self.quote() {
            return self.string(quote).map(Value::String);
        }
        match self.peek() {
            None => Err(self.cut_off("where a value belongs")),
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'(') if self.notation == Notation::Python => self.tuple(),
            Some(b'0'..=b'9' | b'-' | b'+' | b'.') => self.number(),
            Some(byte) if byte.is_ascii_alphabetic() => self.word(),
            Some(_) => Err(self.broken("a value")),
        }
    }

    fn word(&mut self) -> Result<Value, Fault> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let word = &rest[..end];
        let value = match word {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" => Value::Null,
            "NaN" | "Infinity" | "undefined" => {
                return Err(self.broken("a value JSON has (leave the property out, or send null)"));
            }
            _ if word.len() == rest.len() => return Err(self.cut_off("inside a word")),
            _ => return Err(self.broken("a value; text needs double quotes")),
        };
        if word.starts_with(['T', 'F', 'N']) {
            self.note("json: Python True/False/None read as JSON");
        }
        self.at += end;
        Ok(value)
    }

    /// Reads what follows an entry: whether another entry comes, or the end of the object or array.
    fn goes_on(&mut self, close: u8) -> Result<bool, Fault> {
        let value_end = self.at;
        self.blanks()?;
        match self.peek() {
            None => {
                self.closed += 1;
                Ok(false)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(b',') => self.after_comma(close),
            Some(next) if self.at > value_end && self.lacks_comma(close, value_end, next) => {
                self.note("json: missing comma");
                Ok(true)
            }
            Some(_) => Err(self.broken(if close == b'}' {
                "a comma or } after the value (is there an unescaped quote in a string?)"
            } else {
                "a comma or ] after the value (is there an unescaped quote in a string?)"
            })),
        }
    }

    fn after_comma(&mut self, close: u8) -> Result<bool, Fault> {
        self.at += 1;
        self.blanks()?;
        match self.peek() {
            None => Err(self.cut_off("after a comma")),
            Some(byte) if byte == close => {
                self.note("json: removed a trailing comma");
                self.at += 1;
                Ok(false)
            }
            Some(_) => Ok(true),
        }
    }

    /// Whether only a comma can be missing here. Two strings in a list may as well be one with a quote
    /// in it, so there only brackets count; in an object the next must be a key, which its colon proves.
    fn lacks_comma(&self, close: u8, value_end: usize, next: u8) -> bool {
        match close {
            b'}' => next == b'"',
            _ => matches!(next, b'{' | b'[') && matches!(self.text.as_bytes()[value_end - 1], b'}' | b']'),
        }
    }

    /// Skips blanks and comments.
    fn blanks(&mut self) -> Result<(), Fault> {
        loop {
            // Most values are followed by a bracket or a comma.
            if self.peek().is_some_and(|byte| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'#')) {
                return Ok(());
            }
            let rest = self.text[self.at..].trim_start();
            self.at = self.text.len() - rest.len();
            let (opens, ends) = if rest.starts_with("/*") {
                (2, "*/")
            } else if rest.starts_with("//") {
                (2, "\n")
            } else if rest.starts_with('#') {
                (1, "\n")
            } else {
                return Ok(());
            };
            let Some(length) = rest[opens..].find(ends) else {
                return Err(self.broken("the end of the comment, and then the rest of the object"));
            };
            self.note("json: comments removed");
            self.at += opens + length + ends.len();
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn note(&mut self, line: &'static str) {
        if !self.repairs.contains(&line) {
            self.repairs.push(line);
        }
    }

    fn path(&self) -> String {
        written_path(self.path.iter())
    }

    /// Says that the text breaks at the next byte.
    pub(super) fn broken(&self, expected: &str) -> Fault {
        self.fault(self.at, expected, WHAT_TO_SEND)
    }

    /// Says that the text breaks at a byte of `self.text`.
    pub(super) fn fault(&self, at: usize, expected: &str, next: &str) -> Fault {
        let at = self.whole.len() - self.text.len() + at;
        Fault {
            key: UnknownKey::Unsaid,
            path: self.path(),
            expected: expected.to_owned(),
            received: excerpt(self.whole, at),
            hint: Some(format!("the JSON breaks at {}; {next}", position(self.whole, at))),
        }
    }

    /// Says that the text ended too early to know what was meant.
    pub(super) fn cut_off(&self, ended: &str) -> Fault {
        let end = self.whole.len();
        Fault {
            key: UnknownKey::Unsaid,
            path: self.path(),
            expected: "a complete JSON object".to_owned(),
            received: format!("text that ends {ended}: {}", excerpt(self.whole, end)),
            hint: Some(format!(
                "the text was cut off at {}, so nothing was run; send it again, shorter if that keeps \
                 happening",
                position(self.whole, end)
            )),
        }
    }
}
