//! Arithmetic over values: bash runs a command in the index of an array, as in `a[$(x)]`.
//!
//! It does so in every text that it computes with, and follows the names in the text to their values. A value that is
//! known only at run time may contain such a text, so haft asks about a command that computes with it. haft does not ask
//! if the value is certainly a number.
//!
//! Not here: text that is known (`evaluation`), and what an expression assigns (`control`).

use std::collections::HashSet;

use crate::act::RawEffect;
use crate::interpret::Interpreter;
use crate::interpret::builtins::assigning::AssignmentMode;
use crate::interpret::builtins::declaring;
use crate::interpret::control::changed_in;
use crate::interpret::shell::kept_variables::{NUMBERS, is_kept};
use crate::interpret::shell::surroundings;
use crate::interpret::shell::variable::AssignmentValue;
use crate::syntax::{Word, WordPart};
use crate::value::{ShellValue, ValuePiece};

/// Why a command is asked about that computes with something.
const COMPUTES: &str =
    "it computes with a value that is known only when it runs, and bash runs commands that stand in it";
/// Operators of `[[ … ]]` that compute with the words beside them.
const COMPARING: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
/// Built-ins whose words are names of variables, perhaps with an index.
const NAMING: &[&str] =
    &["read", "declare", "typeset", "local", "export", "readonly", "unset", "mapfile", "readarray", "getopts", "wait"];
/// Operators of `test` between two words.
const BINARY: &[&str] =
    &["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef", "-a", "-o", "]", ")"];

/// How the words of a command are written, which their values do not tell.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spelling {
    /// Whether a word that is not quoted has a gap, so that it may be several words.
    pub(crate) spills: bool,
    /// Whether a word of a declaration has its value in quotes or from a variable, and not as an array in parentheses.
    pub(crate) has_array_text: bool,
    /// Whether the words are text alone, with stars but without brackets.
    pub(crate) is_text: bool,
}

impl Spelling {
    /// Returns how words are written, as far as the text says.
    pub(crate) fn of(words: &[Word]) -> Self {
        let is_text = |part: &WordPart| matches!(part, WordPart::Text(text, _) if !text.contains('['));
        let is_text = words.iter().all(|word| word.parts.iter().all(is_text));
        Self { spills: false, has_array_text: declaring::has_array_text(words), is_text }
    }
}

impl Interpreter<'_> {
    /// Computes with words, as `((…))` and `$((…))` do.
    pub(crate) fn compute_words(&mut self, words: &[Word]) {
        for word in words {
            let values = self.unsplit(word);
            values.iter().for_each(|value| self.compute(value));
        }
    }

    /// Computes with the words of `[[ … ]]` that stand beside an operator which takes numbers.
    pub(crate) fn compute_in_test(&mut self, words: &[Word]) {
        let values: Vec<Vec<ShellValue>> = words.iter().map(|word| self.unsplit(word)).collect();
        let operators: Vec<Option<&str>> = words.iter().map(plain).collect();
        for (at, operator) in operators.iter().enumerate() {
            match operator {
                Some("-v") => values.get(at + 1).into_iter().flatten().for_each(|name| self.compute_index(name)),
                Some(operator) if COMPARING.contains(operator) => {
                    let before = at.checked_sub(1).and_then(|before| values.get(before));
                    before.into_iter().chain(values.get(at + 1)).flatten().for_each(|value| self.compute(value));
                }
                _ => {}
            }
        }
    }

    /// Computes with a value: with what stands in it, and with the values of the variables that it names.
    pub(crate) fn compute(&mut self, value: &ShellValue) {
        self.evaluate(value);
        self.evaluate_assignments(value);
        let changed = changed_in(&value.shown());
        let mut is_open = is_open(value);
        let mut seen: HashSet<String> = HashSet::new();
        let mut names = self.names_computed(value);
        while let Some(name) = names.pop() {
            if !self.has_time(1) || !seen.insert(name.clone()) {
                continue;
            }
            let Some(lists) = self.shell.values(&name) else {
                if holds_numbers(&name) {
                    continue;
                }
                // What the expression itself counts begins at nothing.
                is_open |= !changed.contains(&name) || surroundings::may_hold(&name);
                continue;
            };
            for value in lists.iter().flatten() {
                self.evaluate(value);
                is_open |= self::is_open(value);
                names.extend(self.names_computed(value));
            }
        }
        if is_open {
            self.emit(RawEffect::Unknown(COMPUTES.to_owned()));
        }
    }

    /// Computes with the index in the name of a variable, such as `a[n]`.
    pub(crate) fn compute_index(&mut self, name: &ShellValue) {
        let Some((array, _)) = name.prefix().split_once('[') else {
            if name.known().is_none() {
                self.emit(RawEffect::Unknown(COMPUTES.to_owned()));
            }
            return;
        };
        if self.shell.is_associative(array) && name.known().is_some_and(|name| !name.contains(['$', '`'])) {
            return;
        }
        if let Some(index) = name.strip_prefix(array).and_then(|index| index.strip_prefix("[")) {
            self.compute(&index);
        }
    }

    /// Computes with what the words of a built-in name.
    pub(crate) fn compute_operands(&mut self, builtin: &str, operands: &[ShellValue]) {
        match builtin {
            "let" => operands.iter().for_each(|operand| self.compute_let(operand)),
            "test" | "[" => self.compute_test(operands),
            "printf" => {
                let names = operands.windows(2).filter(|pair| pair[0].known() == Some("-v")).map(|pair| &pair[1]);
                names.for_each(|name| self.compute_index(name));
            }
            "unset" => operands.iter().filter(|name| !is_flag(name)).for_each(|name| self.compute_index(name)),
            name if NAMING.contains(&name) => {
                let has_index = |name: &&ShellValue| {
                    let name = name.prefix().split('=').next().unwrap_or_default();
                    name.contains('[')
                };
                let named = operands.iter().filter(|name| !is_flag(name)).filter(has_index);
                named.for_each(|name| self.compute_index(&before_equals(name)));
            }
            _ => {}
        }
    }

    /// `let x=3*4`: a star that finds no name is a star.
    fn compute_let(&mut self, operand: &ShellValue) {
        let is_text = operand.may_be_several() && self.spelling.is_text && self.finds_nothing(operand);
        if is_text { self.compute(&ShellValue::text(operand.shown())) } else { self.compute(operand) }
    }

    /// `test -v NAME` reads the index in the name. Words that are not quoted may hold that operator, and so may a word
    /// that stands where an operator may stand.
    fn compute_test(&mut self, operands: &[ShellValue]) {
        let is_gap = |word: &ShellValue| {
            word.known().is_none() && word.prefix().is_empty() && word.pieces() != [ValuePiece::Number]
        };
        for (at, word) in operands.iter().enumerate() {
            let next = operands.get(at + 1);
            let is_whole = next.is_none_or(|next| next.known().is_some_and(|next| BINARY.contains(&next)));
            match word.known() {
                Some("-v") => next.into_iter().for_each(|name| self.compute_index(name)),
                None if is_gap(word) && (self.spelling.spills || !is_whole || self.finds_flags(word)) => {
                    self.emit(RawEffect::Unknown("which test it makes is known only when it runs".to_owned()));
                }
                _ => {}
            }
        }
    }

    /// Returns what a variable of numbers is when it is assigned one of these values: it computes with them.
    pub(crate) fn computed(&mut self, name: &str, assigned: AssignmentValue, how: AssignmentMode) -> AssignmentValue {
        let name = name.split('[').next().unwrap_or_default();
        let computes = self.shell.is_integer(name) || self.shell.targets(name).iter().any(|one| holds_numbers(one));
        if !computes {
            return assigned;
        }
        assigned.all_values().iter().for_each(|value| self.compute(value));
        if how == AssignmentMode::Add {
            self.compute(&ShellValue::text(name));
        }
        // A number of bash is one unless it was unset.
        let is_kept = is_kept(name);
        assigned.map(|value| if is_kept || is_decimal(&value) { value } else { ShellValue::number() })
    }

    /// Returns the names of variables in a text that is computed.
    fn names_computed(&self, value: &ShellValue) -> Vec<String> {
        let mut names = Vec::new();
        for piece in value.pieces() {
            let ValuePiece::Text(text) = piece else { continue };
            let mut rest = text.as_str();
            while let Some(start) = rest.find(|letter: char| is_of_name(letter)) {
                let from = &rest[start..];
                let length = from.find(|letter| !is_of_name(letter)).unwrap_or(from.len());
                let (name, behind) = from.split_at(length);
                rest = behind;
                if name.starts_with(|first: char| first.is_ascii_digit()) {
                    // The digits of `16#ff` belong to the number.
                    let digits = behind.strip_prefix('#').map(|digits| digits.trim_start_matches(is_of_name));
                    rest = digits.unwrap_or(behind);
                    continue;
                }
                if self.shell.is_associative(name)
                    && let Some((_, behind)) = behind.strip_prefix('[').and_then(|index| index.split_once(']'))
                {
                    rest = behind;
                }
                names.push(name.to_owned());
            }
        }
        names
    }
}

/// Returns whether bash keeps numbers in a variable.
fn holds_numbers(name: &str) -> bool {
    NUMBERS.contains(&name) || matches!(name, "PIPESTATUS" | "GROUPS" | "BASH_LINENO" | "BASH_VERSINFO")
}

/// Returns whether what is computed may hold any text: a gap, a name that is a gap, or something that is expanded again.
fn is_open(value: &ShellValue) -> bool {
    let pieces = value.pieces();
    let is_open = |(at, piece): (usize, &ValuePiece)| match piece {
        ValuePiece::Unknown | ValuePiece::Foreign(_) | ValuePiece::Glob => true,
        ValuePiece::Number => {
            matches!(at.checked_sub(1).and_then(|at| pieces.get(at)), Some(ValuePiece::Text(text)) if ends_in_name(text))
        }
        ValuePiece::Text(text) => text.contains(['$', '`']),
    };
    pieces.iter().enumerate().any(is_open)
}

/// Returns whether a text ends in the name of a variable, so that a number behind it makes it another name.
fn ends_in_name(text: &str) -> bool {
    let name = text.rsplit(|letter| !is_of_name(letter)).next().unwrap_or_default();
    name.starts_with(|first: char| !first.is_ascii_digit())
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

fn is_flag(word: &ShellValue) -> bool {
    word.prefix().starts_with('-')
}

fn is_decimal(value: &ShellValue) -> bool {
    value.known().is_some_and(|text| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()))
}

/// Returns the name in `name=value`.
fn before_equals(word: &ShellValue) -> ShellValue {
    match word.prefix().split_once('=') {
        Some((name, _)) => ShellValue::text(name),
        None => word.clone(),
    }
}

/// Returns a word that is plain text.
pub(crate) fn plain(word: &Word) -> Option<&str> {
    match word.parts.as_slice() {
        [WordPart::Text(text, _)] => Some(text),
        _ => None,
    }
}
