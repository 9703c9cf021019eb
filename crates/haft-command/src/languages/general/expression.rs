//! Computes expressions of a program that are made of strings: the result is a text with gaps.
//!
//! haft follows concatenation, lists, joined paths, the user's home, characters by their numbers, and variables that hold
//! such values. Anything else is a gap.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::languages::marks::{GAP, GLOB, is_open};
use crate::languages::strings::StringToken;

mod functions;
mod origins;

/// How deep expressions are followed, and how long a text may get.
const DEEPEST: usize = 24;
const LONGEST: usize = 4 * 1024;

/// A program, cut into tokens.
pub(crate) struct TokenizedProgram {
    pub(crate) tokens: Vec<StringToken>,
    /// For each bracket the place of the other one of the pair, where there is one.
    partners: Vec<Option<usize>>,
    variables: HashMap<String, String>,
    /// Names that stand for other names: `import os as x`, `run = os.system`.
    aliases: HashMap<String, String>,
    /// Names that stand for modules: `import os as x`, `x = require("fs")`, `import x from "fs"`.
    modules: HashMap<String, String>,
    /// Functions that the program defines itself.
    defined: HashSet<String>,
}

impl TokenizedProgram {
    pub(crate) fn new(tokens: Vec<StringToken>) -> Self {
        let partners = partners(&tokens);
        let (variables, aliases, modules) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut program = Self { tokens, partners, variables, aliases, modules, defined: HashSet::new() };
        for at in 0..program.tokens.len() {
            program.learn(at);
        }
        program
    }

    /// The whole name that ends at a place, its parts parted by dots; a dot at the beginning where something else than
    /// a name is before. What it stands for, where that is known.
    pub(crate) fn name(&self, at: usize) -> String {
        let mut names = vec![self.word(at).unwrap_or_default().to_owned()];
        let mut at = at;
        while let Some(separator) = self.separator_before(at) {
            match self.word(separator.wrapping_sub(1)) {
                Some(word) => names.push(word.to_owned()),
                None => {
                    names.push(String::new());
                    break;
                }
            }
            at = separator - 1;
        }
        names.reverse();
        if let [name] = names.as_slice() {
            let known = self.variables.get(name).filter(|value| !value.contains(GAP));
            if let Some(other) = self.aliases.get(name).or(known) {
                return other.clone();
            }
        }
        names.join(".")
    }

    /// The words of the call of the name at a place: in parentheses, or up to the end of the statement.
    pub(crate) fn call(&self, at: usize) -> Option<Range<usize>> {
        match self.tokens.get(at + 1)? {
            StringToken::Sign('(') => Some(at + 2..self.end_of_bracket(at + 1)),
            StringToken::Text(_) | StringToken::Inserted(_) => Some(at + 1..self.end_of_statement(at + 1)),
            StringToken::Word(word) if !NOT_ARGUMENTS.contains(&word.as_str()) => {
                Some(at + 1..self.end_of_statement(at + 1))
            }
            StringToken::Sign('[') if matches!(self.tokens.get(at + 2), Some(StringToken::Text(_))) => {
                Some(at + 1..self.end_of_statement(at + 1))
            }
            StringToken::Sign('*') if self.is_sign(at + 2, '[') => Some(at + 1..self.end_of_statement(at + 1)),
            StringToken::Number(_) => Some(at + 1..self.end_of_statement(at + 1)),
            _ => None,
        }
    }

    /// Cuts a range at its commas.
    pub(crate) fn arguments(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut arguments = Vec::new();
        let mut start = range.start;
        let mut at = range.start;
        while at < range.end {
            if self.is_sign(at, ',') {
                arguments.push(start..at);
                start = at + 1;
            }
            at = self.past(at);
        }
        if start < range.end {
            arguments.push(start..range.end);
        }
        arguments
    }

    /// The elements of a list, or the value itself.
    pub(crate) fn elements(&self, range: Range<usize>) -> Vec<String> {
        let range = self.trimmed(range);
        let is_list = matches!(self.tokens.get(range.start), Some(StringToken::Sign('[' | '(')))
            && self.partners[range.start].is_some_and(|end| end + 1 == range.end);
        if !is_list {
            return vec![self.value(range)];
        }
        let inner = self.arguments(range.start + 1..range.end - 1);
        inner.into_iter().map(|element| self.value(element)).filter(|text| !text.is_empty()).collect()
    }

    pub(crate) fn value(&self, range: Range<usize>) -> String {
        self.value_within(range, 0)
    }

    /// The value of what stands before the dot of a call: `Path("x")` of `Path("x").unlink()`.
    pub(crate) fn receiver(&self, at: usize) -> Option<String> {
        let end = self.separator_before(at)?;
        let mut start = end;
        loop {
            let before = start.checked_sub(1)?;
            start = match &self.tokens[before] {
                StringToken::Sign(')' | ']') => self.partners[before]?,
                StringToken::Word(_) | StringToken::Text(_) => before,
                _ => break,
            };
            let is_called = self.is_sign(start, '(') && self.word(start.wrapping_sub(1)).is_some();
            match self.separator_before(start) {
                _ if is_called => {}
                Some(separator) => start = separator,
                None => break,
            }
        }
        let value = self.value(start..end);
        (!is_open(&value) && !value.is_empty()).then_some(value)
    }

    /// Where the statement ends: at a semicolon, the end of the line, or the bracket around it.
    pub(crate) fn end_of_statement(&self, from: usize) -> usize {
        const ENDINGS: [&str; 7] = ["if", "unless", "or", "and", "while", "for", "foreach"];
        let mut at = from;
        while at < self.tokens.len() {
            match &self.tokens[at] {
                StringToken::Newline | StringToken::Sign(';' | ')' | ']' | '}') => return at,
                StringToken::Word(word) if at > from && ENDINGS.contains(&word.as_str()) => return at,
                _ => at = self.past(at),
            }
        }
        self.tokens.len()
    }

    pub(crate) fn word(&self, at: usize) -> Option<&str> {
        match self.tokens.get(at) {
            Some(StringToken::Word(word)) => Some(word),
            _ => None,
        }
    }

    pub(crate) fn is_sign(&self, at: usize, sign: char) -> bool {
        self.tokens.get(at) == Some(&StringToken::Sign(sign))
    }

    /// Returns whether the head of a function ends at a place, behind which its body begins.
    pub(crate) fn ends_head(&self, at: usize) -> bool {
        self.is_sign(at, ')') || self.is_sign(at, '>')
    }

    pub(crate) fn end_of_bracket(&self, open: usize) -> usize {
        self.partners.get(open).copied().flatten().unwrap_or(self.tokens.len())
    }

    /// The place before which the bracket at a place began.
    pub(crate) fn begin_of_bracket(&self, close: usize) -> Option<usize> {
        self.partners.get(close).copied().flatten().filter(|open| *open < close)
    }

    /// Learns what the assignment or the renaming at a place says.
    fn learn(&mut self, at: usize) {
        let Some(name) = self.word(at).map(str::to_owned) else { return };
        self.learn_origin(at, &name);
        if name == "as" && at > 0 {
            if let (Some(old), Some(new)) = (self.word(at - 1), self.word(at + 1)) {
                self.aliases.insert(new.to_owned(), old.to_owned());
            }
            return;
        }
        let (is_added, start) = match (self.sign(at + 1), self.sign(at + 2)) {
            (Some('='), Some('=' | '>' | '~')) => return,
            (Some('='), _) => (false, at + 2),
            (Some(':'), Some('=')) => (false, at + 3),
            (Some('+' | '.'), Some('=')) => (true, at + 3),
            _ if self.word(at + 1) == Some("in") => (false, at + 2),
            _ => return,
        };
        let end = self.end_of_assignment(start);
        let elements = self.elements(start..end);
        let is_loop = self.word(at + 1) == Some("in");
        let mut value = match elements.as_slice() {
            [one] => one.clone(),
            _ if is_loop => GAP.to_string(),
            many => many.join(" "),
        };
        if is_added {
            value.insert_str(0, self.variables.get(&name).map_or("", String::as_str));
        }
        if let (Some(_), true) = (self.word(end.wrapping_sub(1)), is_open(&value)) {
            let other = self.name(end - 1);
            self.aliases.insert(name.clone(), other);
        }
        if value.len() <= LONGEST {
            self.variables.insert(name, value);
        }
    }

    fn end_of_assignment(&self, from: usize) -> usize {
        let end = self.end_of_statement(from);
        let mut at = from;
        while at < end {
            if self.is_sign(at, ',') || self.is_sign(at, ':') || self.is_sign(at, '{') {
                return at;
            }
            at = self.past(at);
        }
        end
    }

    /// The place behind a token, or behind the bracket that it opens.
    fn past(&self, at: usize) -> usize {
        match self.partners.get(at).copied().flatten() {
            Some(partner) if partner > at => partner + 1,
            _ => at + 1,
        }
    }

    fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let is_nothing = |at: usize| matches!(self.tokens.get(at), Some(StringToken::Newline | StringToken::Sign('*')));
        let mut range = range.start..range.end.min(self.tokens.len());
        while range.start < range.end && is_nothing(range.start) {
            range.start += 1;
        }
        while range.start < range.end && is_nothing(range.end - 1) {
            range.end -= 1;
        }
        range
    }

    /// Where the `.`, `::` or `->` before a name begins.
    fn separator_before(&self, at: usize) -> Option<usize> {
        let one = at.checked_sub(1)?;
        match (self.sign(one), one.checked_sub(1).and_then(|two| self.sign(two))) {
            (Some(':'), Some(':')) | (Some('>'), Some('-')) | (Some('.'), Some('?')) => Some(one - 1),
            (Some('.'), Some('.')) => None,
            (Some('.'), _) => Some(one),
            _ => None,
        }
    }

    fn separator_length(&self, at: usize) -> usize {
        match (self.sign(at), self.sign(at + 1)) {
            (Some(':'), Some(':')) | (Some('-'), Some('>')) | (Some('?'), Some('.')) => 2,
            (Some('.'), Some('.')) => 0,
            (Some('.'), _) => 1,
            _ => 0,
        }
    }

    fn sign(&self, at: usize) -> Option<char> {
        match self.tokens.get(at) {
            Some(StringToken::Sign(sign)) => Some(*sign),
            _ => None,
        }
    }
}

/// Words that are no argument of the name before them.
const NOT_ARGUMENTS: &[&str] =
    &["if", "unless", "or", "and", "while", "for", "import", "as", "in", "is", "not", "else", "from"];

fn partners(tokens: &[StringToken]) -> Vec<Option<usize>> {
    let mut partners = vec![None; tokens.len()];
    let mut open: Vec<(usize, char)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            StringToken::Sign('(') => open.push((at, ')')),
            StringToken::Sign('[') => open.push((at, ']')),
            StringToken::Sign('{') => open.push((at, '}')),
            StringToken::Sign(close @ (')' | ']' | '}')) if open.last().is_some_and(|(_, wanted)| wanted == close) => {
                if let Some((begin, _)) = open.pop() {
                    partners[begin] = Some(at);
                    partners[at] = Some(begin);
                }
            }
            _ => {}
        }
    }
    partners
}

/// Makes the patterns in a path what they find.
fn found_by_pattern(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '*' | '?') { GLOB } else { c }).collect()
}

/// Returns whether a name is the user's home.
pub(crate) fn is_home(name: &str) -> bool {
    const HOMES: [&str; 5] = ["Path.home", "Dir.home", "homedir", "process.env.HOME", "env.HOME"];
    HOMES.iter().any(|home| name == *home || name.ends_with(&format!(".{home}")))
}
