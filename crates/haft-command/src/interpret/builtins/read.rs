//! `read` and `mapfile`: they set variables from the input.

use crate::act::StreamContent;
use crate::interpret::Interpreter;
use crate::interpret::builtins::options::BuiltinOptions;
use crate::interpret::run_program::called_back;
use crate::interpret::run_program::input_words::parts_of_name;
use crate::interpret::shell::variable::AssignmentValue;
use crate::interpret::streams::pipes;
use crate::value::{ForeignOrigin, ShellValue};

impl Interpreter<'_> {
    /// Reads, or does not, where bash refuses a flag or nothing comes in time.
    pub(crate) fn read(&mut self, builtin: &str, words: &[ShellValue], input: Option<&StreamContent>) {
        let told = BuiltinOptions::of(builtin, words);
        let usual = if builtin == "read" { "ersadinNpuE" } else { "dnsuCct" };
        let is_sure = told.options.iter().all(|(letter, _)| usual.contains(*letter));
        let reads_input = told.values('u').all(|descriptor| descriptor.known() == Some("0"));
        let input = input.filter(|_| reads_input);
        match is_sure {
            true => self.read_surely(builtin, words, input),
            false => self.perhaps(|interpreter| interpreter.read_surely(builtin, words, input)),
        }
    }

    fn read_surely(&mut self, builtin: &str, words: &[ShellValue], input: Option<&StreamContent>) {
        for callback in BuiltinOptions::of(builtin, words).values('C').filter(|_| builtin != "read") {
            let text = called_back(callback);
            self.perhaps(|interpreter| interpreter.apart(|interpreter| interpreter.run_text(&text, None)));
        }
        let names = names_read(builtin, words);
        let value = match input {
            Some(StreamContent::Text(text)) if text.known().is_some() => return self.read_text(&names, words, text),
            Some(StreamContent::Paths(paths)) => {
                let parts = paths.iter().flat_map(parts_of_name);
                let values: Vec<ShellValue> = paths.iter().cloned().chain(parts).collect();
                names.iter().for_each(|name| self.assign_named(name, AssignmentValue::any(values.clone())));
                return;
            }
            Some(StreamContent::Downloaded) => pipes::foreign(ForeignOrigin::Network),
            Some(StreamContent::Decoded) => pipes::foreign(ForeignOrigin::Decoded),
            _ => ShellValue::unknown(),
        };
        let fills_array = builtin != "read" || BuiltinOptions::of(builtin, words).values('a').next().is_some();
        let assigned = match fills_array {
            // As many as there are in it.
            true => AssignmentValue::any_list(vec![vec![value.clone(), value]]),
            false => AssignmentValue::one(value),
        };
        names.iter().for_each(|name| self.assign_named(name, assigned.clone()));
    }

    /// Each line of a known text, each part of a line, and each end of one is a value that may be read.
    fn read_text(&mut self, names: &[ShellValue], words: &[ShellValue], text: &ShellValue) {
        let text = text.known().unwrap_or_default();
        let mut separators = self.separators();
        separators.extend(words.windows(2).filter_map(|pair| match pair[0].known() {
            Some("-d" | "-rd") => pair[1].known(),
            _ => None,
        }));
        let mut values: Vec<ShellValue> = Vec::new();
        let mut parts: Vec<ShellValue> = Vec::new();
        let lines: Vec<ShellValue> = text.lines().map(|line| ShellValue::text(line.trim())).collect();
        for line in text.lines() {
            let line = line.trim();
            values.push(ShellValue::text(line));
            for (at, _) in line.match_indices(|letter| separators.contains(letter)) {
                values.push(ShellValue::text(line[at..].trim_start_matches(|letter| separators.contains(letter))));
            }
            let of_line = line.split(|letter| separators.contains(letter)).filter(|part| !part.is_empty());
            parts.extend(of_line.map(ShellValue::text));
        }
        values.extend(parts.iter().cloned());
        let has_flag = |letter: char| words.iter().any(|word| is_flag(word) && word.prefix().contains(letter));
        if has_flag('n') || has_flag('N') {
            values.push(ShellValue::unknown());
        }
        let mut values: Vec<Vec<ShellValue>> = values.into_iter().map(|value| vec![value]).collect();
        values.extend([lines, parts].into_iter().filter(|list| list.len() > 1));
        let mut once = Vec::new();
        values.into_iter().for_each(|list| {
            if !once.contains(&list) {
                once.push(list);
            }
        });
        if once.is_empty() {
            once.push(vec![ShellValue::default()]);
        }
        for name in names {
            self.assign_named(name, AssignmentValue::any_of(once.clone()));
        }
    }

    /// Returns the characters at which `read` splits.
    fn separators(&self) -> String {
        let values = self.shell.values("IFS").unwrap_or_default();
        let mut separators = String::from(" \t");
        separators.extend(values.iter().flatten().filter_map(ShellValue::known));
        separators
    }
}

fn is_flag(word: &ShellValue) -> bool {
    word.prefix().starts_with('-')
}

/// Returns the variables that `read` or `mapfile` sets.
fn names_read(builtin: &str, words: &[ShellValue]) -> Vec<ShellValue> {
    let (with_value, own) = if builtin == "read" { ("adinNptu", "REPLY") } else { ("dnOsuCc", "MAPFILE") };
    let mut names = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.known() {
            Some(flag) if flag.len() > 1 && flag.starts_with('-') => {
                // What stands behind the letter is its value, else the next word is.
                let Some(at) = flag[1..].find(|letter| with_value.contains(letter)) else { continue };
                let (letter, attached) = (&flag[at + 1..at + 2], &flag[at + 2..]);
                let value = if attached.is_empty() { rest.next().cloned() } else { Some(ShellValue::text(attached)) };
                names.extend(value.filter(|_| letter == "a" && builtin == "read"));
            }
            None if word.prefix().starts_with('-') => {}
            Some(_) | None => names.push(word.clone()),
        }
    }
    if names.is_empty() { vec![ShellValue::text(own)] } else { names }
}
