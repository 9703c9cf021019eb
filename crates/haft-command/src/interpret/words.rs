//! Computes the values of words: variables, substitutions and patterns become values. The quotes are gone already.
//!
//! A word may have several values if a variable in it has. Each value is a list of fields, because unquoted text is split.

pub(crate) mod arithmetic;
pub(crate) mod arrays;
mod brackets;
mod combining;
mod edits;
mod evaluation;
mod fields;
pub(crate) mod matching;

use crate::act::{RawEffect, StreamContent};
use crate::interpret::Interpreter;
use crate::interpret::builtins::assigning::AssignmentMode;
use crate::interpret::builtins::declaring;
use crate::interpret::shell::kept_variables::NUMBERS;
use crate::interpret::shell::variable::AssignmentValue;
use crate::interpret::shell::{Unset, surroundings};
use crate::interpret::streams::pipes;
use crate::interpret::words::arithmetic::Spelling;
use crate::interpret::words::brackets::PatternPart;
use crate::interpret::words::combining::{MOST_FIELDS, every_combination, known_text, some_combinations};
use crate::interpret::words::edits::{edited, sliced, sliced_list};
use crate::interpret::words::fields::WordFields;
use crate::syntax::{CommandList, Direction, ParameterExpansion, ParameterOperation, Quoting, Word, WordPart};
use crate::value::{ShellValue, ValuePiece};

/// How many values of one word are followed.
const MOST_OF_WORD: usize = 200;
/// A word with more pieces than this has only one value that is followed where there are too many.
const LONG_WORD: usize = 256;
/// How long a value may be.
const LONGEST_VALUE: usize = 64 * 1024;
/// How many lines of values one command may become.
const MOST_LINES: usize = 64;

impl Interpreter<'_> {
    /// Returns all lists of fields that a word may become.
    pub(crate) fn fields(&mut self, word: &Word) -> Vec<Vec<ShellValue>> {
        if let [WordPart::Text(text, Quoting::Bare)] = word.parts.as_slice()
            && self.stays_as_written(text)
        {
            return vec![vec![ShellValue::text(text)]];
        }
        let mut all = vec![WordFields::default()];
        for part in brackets::whole(&word.parts) {
            self.budget.spend(1);
            let part = match part {
                PatternPart::Class(parts) => {
                    let piece = self.class_of(word, parts);
                    all.iter_mut().for_each(|fields| fields.push_pattern(piece.clone()));
                    continue;
                }
                PatternPart::Text(text) => {
                    let pieces = brackets::pieces(text);
                    all.iter_mut().for_each(|fields| pieces.iter().cloned().for_each(|one| fields.push_pattern(one)));
                    continue;
                }
                PatternPart::Other(part) => part,
            };
            match part {
                WordPart::Text(text, _) => {
                    all.iter_mut().for_each(|fields| fields.push(ValuePiece::Text(text.clone())));
                }
                WordPart::Home(user) => {
                    let home = self.home_of(user);
                    all.iter_mut().for_each(|fields| fields.push(ValuePiece::Text(home.clone())));
                }
                WordPart::Stacked(place) => all = multiplied(all, &self.shell.stacked(place), None),
                WordPart::Parameter(parameter, quoting) => {
                    let mut values = self.parameter(parameter);
                    if parameter.is_joined && *quoting == Quoting::Quoted {
                        values = self.joined(values);
                    }
                    all = multiplied(all, &values, self.splitting(*quoting).as_deref());
                }
                WordPart::Substitution(script, quoting) => {
                    let values = self.substitution(script, *quoting);
                    all = multiplied(all, &values, self.splitting(*quoting).as_deref());
                }
                WordPart::Process(script, direction) => {
                    let path = self.process(script, *direction);
                    all.iter_mut().for_each(|fields| fields.push(ValuePiece::Text(path.clone())));
                }
                WordPart::Arithmetic(words) => {
                    self.compute_words(words);
                    self.calculate_in_word(words);
                    all.iter_mut().for_each(|fields| fields.push(ValuePiece::Number));
                }
                WordPart::Opaque(why) => {
                    self.emit(crate::interpret::opaque(why));
                    all.iter_mut().for_each(|fields| fields.push(ValuePiece::Unknown));
                }
            }
        }
        self.spelling.spills = all.iter().any(|fields| fields.spills);
        all.into_iter().map(|fields| self.finished(fields)).collect()
    }

    /// Returns the lists of fields that a command substitution may become.
    fn substitution(&mut self, script: &CommandList, quoting: Quoting) -> Vec<Vec<ShellValue>> {
        let input = self.streams.input_of_words.clone();
        let run = |interpreter: &mut Self| interpreter.script(script, input.as_ref());
        match self.deeper(|interpreter| interpreter.apart(run)) {
            StreamContent::Paths(paths) if quoting == Quoting::Bare => vec![paths],
            flow => pipes::substituted(flow).into_iter().map(|value| vec![value]).collect(),
        }
    }

    /// Returns the fields of a word, with the names that its patterns find and that are not plain.
    fn finished(&mut self, fields: WordFields) -> Vec<ShellValue> {
        let has_pattern = fields.has_pattern;
        let mut fields = fields.finished();
        if has_pattern {
            let odd: Vec<ShellValue> = fields.iter().flat_map(|value| self.odd_names(value)).collect();
            fields.extend(odd);
        }
        fields
    }

    /// Returns what a bracket expression is in which something is quoted or expanded.
    fn class_of(&mut self, word: &Word, parts: &[WordPart]) -> ValuePiece {
        if parts.iter().all(|part| matches!(part, WordPart::Text(text, _) if !text.contains('.'))) {
            return ValuePiece::Glob;
        }
        let values = self.fields(&Word { parts: parts.to_vec(), span: word.span.clone() });
        let is_open = |value: &ShellValue| value.has_unknown() || value.shown().contains('.');
        if values.iter().flatten().any(is_open) { ValuePiece::Unknown } else { ValuePiece::Glob }
    }

    /// Returns the one value of a word that is not split, such as that of an assignment; with a gap where there are several.
    pub(crate) fn as_one(&mut self, word: &Word) -> ShellValue {
        self.unsplit(word)
            .into_iter()
            .reduce(|one, other| if one == other { one } else { ShellValue::unknown() })
            .unwrap_or_default()
    }

    /// Returns the values of a word that is not split.
    pub(crate) fn unsplit(&mut self, word: &Word) -> Vec<ShellValue> {
        let quoted: Vec<WordPart> = word.parts.iter().cloned().map(as_quoted).collect();
        let joined = |fields: Vec<ShellValue>| {
            let mut value = ShellValue::default();
            for (index, field) in fields.iter().enumerate() {
                if index > 0 {
                    value.push(ValuePiece::Text(" ".to_owned()));
                }
                value.append(field);
            }
            value
        };
        self.fields(&Word { parts: quoted, span: word.span.clone() }).into_iter().map(joined).collect()
    }

    /// A value that grows without end is not followed.
    pub(crate) fn bounded(&mut self, value: ShellValue) -> ShellValue {
        let length: usize = value.pieces().iter().map(ValuePiece::length).sum();
        if length <= LONGEST_VALUE {
            return value;
        }
        self.emit(crate::interpret::beyond_limit("use values that are longer than is read"));
        ShellValue::unknown()
    }

    /// Returns all lines that the words of a command may become.
    pub(crate) fn command_lines(&mut self, words: &[Word]) -> Vec<Vec<ShellValue>> {
        let mut each: Vec<Vec<Vec<ShellValue>>> = Vec::new();
        let mut most_values = 1;
        let declares = declaring::declares(words);
        let mut spelling = Spelling::of(words);
        for word in words {
            each.push(match declares && declaring::is_assignment(word) {
                true => self.unsplit(word).into_iter().map(|value| vec![value]).collect(),
                false => self.fields(word),
            });
            spelling.spills |= self.spelling.spills;
            most_values = each.last().map_or(1, Vec::len).max(most_values);
            if most_values > 1 && most_values * each.len() > MOST_FIELDS {
                self.emit(crate::interpret::beyond_limit("have words with more values than are looked at"));
                break;
            }
        }
        self.spelling = spelling;
        self.combined(&each)
    }

    /// Returns all lines that words with these values may become.
    pub(crate) fn combined(&mut self, each: &[Vec<Vec<ShellValue>>]) -> Vec<Vec<ShellValue>> {
        let count = each.iter().map(Vec::len).try_fold(1_usize, |all, one| all.checked_mul(one.max(1)));
        if count.is_some_and(|count| count <= MOST_LINES) {
            return every_combination(each);
        }
        let lines = some_combinations(each);
        // Each word has each of its values once, with the same program: what is named is seen. Which program it is must be known.
        if each.first().is_some_and(|names| names.len() > 1) {
            self.emit(crate::interpret::beyond_limit("have words with more values than are looked at"));
        }
        lines
    }

    pub(crate) fn parameter(&mut self, parameter: &ParameterExpansion) -> Vec<Vec<ShellValue>> {
        let values = self.plain_parameter(&parameter.name).map(|values| self.fields_meant(parameter, values));
        if !self.has_time_for(values.as_deref().unwrap_or_default()) {
            return vec![vec![ShellValue::unknown()]];
        }
        let shows_value =
            !matches!(parameter.operation, ParameterOperation::Length | ParameterOperation::Alternative(_));
        if shows_value && values.is_none() {
            self.read_secret(&parameter.name);
        }
        if let Some(index) = &parameter.index {
            self.index(&parameter.name, index);
        }
        match &parameter.operation {
            ParameterOperation::Plain | ParameterOperation::Required if is_all(&parameter.name) => {
                values.unwrap_or_else(|| self.unset())
            }
            // An array without an index is its first field.
            ParameterOperation::Plain | ParameterOperation::Required => {
                values.unwrap_or_else(|| self.unset()).into_iter().flat_map(first_of).collect()
            }
            ParameterOperation::Default(word) => self.or_default(&parameter.name, values, word),
            ParameterOperation::Assigned(word) => self.assign_default(&parameter.name, values, word),
            ParameterOperation::Alternative(word) => {
                let mut all: Vec<Vec<ShellValue>> = self.unsplit(word).into_iter().map(|value| vec![value]).collect();
                all.push(vec![ShellValue::default()]);
                all
            }
            ParameterOperation::Slice(from, length) => self.slice(&parameter.name, values, *from, *length),
            ParameterOperation::Edited(edit, words) => {
                let values = values.unwrap_or_else(|| self.unset());
                let words: Vec<ShellValue> = words.iter().map(|word| self.as_one(word)).collect();
                values.iter().map(|list| list.iter().map(|value| edited(value, *edit, &words)).collect()).collect()
            }
            ParameterOperation::Length => vec![vec![ShellValue::number()]],
            ParameterOperation::Elements => values.unwrap_or_else(|| self.unset()),
            ParameterOperation::Element(index) => {
                let values = values.unwrap_or_else(|| self.unset());
                self.element(&parameter.name, &values, index)
            }
            ParameterOperation::Keys => vec![vec![self.keys(&parameter.name)]],
            ParameterOperation::Indirect => self.indirect(values),
            ParameterOperation::Prompt => self.prompt(values),
            ParameterOperation::Strange(words) => {
                self.touch(words);
                self.emit(RawEffect::Unknown(format!(
                    "what ${{{}…}} becomes is known only when it runs",
                    parameter.name
                )));
                vec![vec![ShellValue::unknown()]]
            }
        }
    }

    /// Returns what `${x:1:2}` becomes.
    fn slice(
        &self,
        parameter: &str,
        values: Option<Vec<Vec<ShellValue>>>,
        from: i64,
        length: Option<i64>,
    ) -> Vec<Vec<ShellValue>> {
        let values = values.unwrap_or_else(|| self.unset());
        let is_list = is_all(parameter) || self.shell.is_array(parameter);
        let name = self.shell.name.clone();
        let one = |list: Vec<ShellValue>| match is_list {
            true if is_all(parameter) => sliced_list(&[std::slice::from_ref(&name), &list[..]].concat(), from, length),
            true => sliced_list(&list, from, length),
            false => sliced(&list, from, length),
        };
        values.into_iter().map(one).collect()
    }

    /// Returns what an operation works on: without an index it is the first field, which may be missing where the fields
    /// have names or gaps between their numbers.
    fn fields_meant(&self, parameter: &ParameterExpansion, values: Vec<Vec<ShellValue>>) -> Vec<Vec<ShellValue>> {
        let names_fields = matches!(
            parameter.operation,
            ParameterOperation::Elements
                | ParameterOperation::Element(_)
                | ParameterOperation::Keys
                | ParameterOperation::Length
        );
        if names_fields || is_all(&parameter.name) || parameter.index.is_some() || !self.shell.is_map(&parameter.name) {
            return values;
        }
        let fields = values.into_iter().flatten().map(|value| vec![value]);
        fields.chain([vec![ShellValue::default()]]).collect()
    }

    /// Returns the values that a parameter may have, and the default: a program may be started without a variable.
    fn or_default(&mut self, name: &str, values: Option<Vec<Vec<ShellValue>>>, default: &Word) -> Vec<Vec<ShellValue>> {
        let mut all = values.unwrap_or_else(|| self.held_before(name));
        all.extend(self.unsplit(default).into_iter().map(|value| vec![value]));
        all
    }

    /// `${x:=word}`: the same, and the variable has it from then on.
    fn assign_default(
        &mut self,
        name: &str,
        values: Option<Vec<Vec<ShellValue>>>,
        default: &Word,
    ) -> Vec<Vec<ShellValue>> {
        let mut all = values.unwrap_or_else(|| self.held_before(name));
        let default = self.unsplit(default);
        self.look_at_assigned(name, &default);
        self.computed(name, AssignmentValue::any(default.clone()), AssignmentMode::Set);
        all.extend(default.into_iter().map(|value| vec![value]));
        self.put(name, AssignmentValue::any(all.iter().flatten().cloned().collect()));
        all
    }

    /// Returns what a variable may hold that this command has not set.
    fn held_before(&self, name: &str) -> Vec<Vec<ShellValue>> {
        let may_hold = surroundings::may_hold(name) && self.shell.reads.unset == Unset::Unknown;
        if may_hold { self.unset() } else { Vec::new() }
    }

    fn plain_parameter(&mut self, name: &str) -> Option<Vec<Vec<ShellValue>>> {
        match name {
            "@" | "*" => Some(self.shell.parameters.clone().unwrap_or_else(|| vec![ShellValue::any_words()])),
            // The last word of the command before, and the letters of options that are set.
            "_" | "-" => Some(vec![vec![ShellValue::unknown()]]),
            "#" | "?" | "$" | "!" => Some(vec![vec![ShellValue::number()]]),
            "PPID" => Some(vec![vec![ShellValue::text("$PPID")]]),
            name if NUMBERS.contains(&name) => {
                Some(self.shell.values(name).unwrap_or_else(|| vec![vec![ShellValue::number()]]))
            }
            "0" => Some(vec![vec![self.shell.name.clone()]]),
            number if number.bytes().all(|digit| digit.is_ascii_digit()) && !number.is_empty() => {
                let index = number.parse::<usize>().unwrap_or(usize::MAX).wrapping_sub(1);
                self.numbered(index)
            }
            name => {
                let values = self.shell.values(name);
                self.shell.reads.has_unset |= values.is_none();
                values
            }
        }
    }

    /// Returns what `$1` and its kin may be. A missing one is like an unset variable.
    fn numbered(&mut self, index: usize) -> Option<Vec<Vec<ShellValue>>> {
        let Some(lists) = self.shell.parameters.as_ref() else { return Some(vec![vec![ShellValue::unknown()]]) };
        let values: Vec<Option<ShellValue>> = lists.iter().flat_map(|list| at_number(list, index)).collect();
        let is_set = values.iter().any(Option::is_some);
        self.shell.reads.has_unset |= values.iter().any(Option::is_none);
        let unset = self.unset().into_iter().flatten().next().unwrap_or_default();
        is_set.then(|| values.into_iter().map(|value| vec![value.unwrap_or_else(|| unset.clone())]).collect())
    }

    pub(crate) fn unset(&self) -> Vec<Vec<ShellValue>> {
        match self.shell.reads.unset {
            Unset::Unknown => vec![vec![ShellValue::unknown()]],
            Unset::Empty => vec![vec![ShellValue::default()]],
        }
    }

    fn process(&mut self, script: &CommandList, direction: Direction) -> String {
        let input = match direction {
            Direction::Out => None,
            Direction::In => Some(self.streams.input.clone().unwrap_or_default()),
        };
        let interpreters = self.findings.interpreters;
        let flow =
            self.deeper(|interpreter| interpreter.apart(|interpreter| interpreter.script(script, input.as_ref())));
        self.streams.listens |= self.findings.interpreters > interpreters;
        let path = self.streams.open();
        if direction == Direction::Out {
            self.streams.fill(&path, &flow);
        }
        path
    }

    pub(crate) fn home_of(&self, user: &str) -> String {
        match user {
            "" => self
                .shell
                .values("HOME")
                .and_then(|values| known_text(&values))
                .unwrap_or_else(|| self.scene.home.clone()),
            "+" => self.scene.folder.clone(),
            "root" => "/root".to_owned(),
            user if user == self.scene.user => self.scene.home.clone(),
            user => format!("/home/{user}"),
        }
    }

    /// Resolves a tilde that a program resolves itself, as interpreters do.
    pub(crate) fn with_home(&self, path: &ShellValue) -> ShellValue {
        let is_home = path.prefix() == "~" || path.prefix().starts_with("~/");
        match path.strip_prefix("~") {
            Some(rest) if is_home => {
                let mut value = ShellValue::text(self.home_of(""));
                value.append(&rest);
                value
            }
            _ => path.clone(),
        }
    }
}

/// Returns what may stand at a place of a list. A pattern may be several words, and those behind it may stand anywhere.
fn at_number(list: &[ShellValue], index: usize) -> Vec<Option<ShellValue>> {
    match list.iter().position(ShellValue::may_be_several) {
        Some(several) if several <= index => list[several..].iter().cloned().map(Some).collect(),
        _ => vec![list.get(index).cloned()],
    }
}

fn as_quoted(part: WordPart) -> WordPart {
    match part {
        WordPart::Text(text, _) => WordPart::Text(text, Quoting::Quoted),
        WordPart::Parameter(parameter, _) => WordPart::Parameter(parameter, Quoting::Quoted),
        WordPart::Substitution(script, _) => WordPart::Substitution(script, Quoting::Quoted),
        other => other,
    }
}

fn is_all(name: &str) -> bool {
    matches!(name, "@" | "*")
}

/// Returns what may come first in a list: any of the names, where a pattern comes first.
fn first_of(list: Vec<ShellValue>) -> Vec<Vec<ShellValue>> {
    match list.first() {
        None => vec![vec![ShellValue::default()]],
        Some(first) if first.may_be_several() => list.into_iter().map(|value| vec![value]).collect(),
        Some(first) => vec![vec![first.clone()]],
    }
}

/// Continues each word with each value.
fn multiplied(mut all: Vec<WordFields>, values: &[Vec<ShellValue>], separators: Option<&str>) -> Vec<WordFields> {
    let mut result = Vec::new();
    // Most parts have one value; to copy what is there for each of them would take a square of time.
    if let [only] = values {
        all.iter_mut().for_each(|fields| fields.append_list(only, separators));
        return all;
    }
    // Where there were too many values before, an unknown one stands for all others already.
    let are_too_many = all.last().is_some_and(|last| last.stands_for_others);
    if let (true, Some(first)) = (are_too_many, values.first()) {
        // A text with many gaps is not written down two hundred times.
        if all.len() > 2 && all[0].open.as_ref().is_some_and(|open| open.pieces().len() > LONG_WORD) {
            all.drain(1..all.len() - 1);
        }
        all.iter_mut().for_each(|fields| fields.append_list(first, separators));
        return all;
    }
    for fields in all {
        for list in values {
            let mut fields = fields.clone();
            fields.append_list(list, separators);
            result.push(fields);
        }
    }
    if result.len() > MOST_OF_WORD {
        result.truncate(MOST_OF_WORD);
        result.push(WordFields { open: Some(ShellValue::unknown()), stands_for_others: true, ..WordFields::default() });
    }
    result
}
