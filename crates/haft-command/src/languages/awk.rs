//! Reads an awk program: it may run commands, and read and write files.
//!
//! haft cuts the program into tokens. So it does not take the `>` of a comparison for a redirection, or a word in a string
//! for a call. It follows concatenated strings and the variables that hold them; anything else is a gap.

use std::collections::HashMap;

use haft_contract::effect::Danger;
use haft_contract::files::guarded::is_secret_variable;

use crate::act::{PathEffect, ProgramReading, RawEffect};
use crate::languages::marks;
use crate::languages::marks::{GAP, HOME};
use doubts::Doubts;
use tokens::AwkToken;

mod doubts;
mod tokens;

/// Reads a program.
pub(crate) fn read(text: &str) -> ProgramReading {
    let Some(tokens) = tokens::tokens(text) else {
        return crate::languages::unknown("it is not an awk program that can be read");
    };
    let doubts = Doubts::of(&tokens);
    let (variables, reading) = (HashMap::new(), ProgramReading::default());
    let mut reader = AwkReader { tokens, variables, doubts, reading, runs_unknown: false };
    reader.program();
    reader.reading
}

struct AwkReader {
    tokens: Vec<AwkToken>,
    variables: HashMap<String, String>,
    doubts: Doubts,
    reading: ProgramReading,
    runs_unknown: bool,
}

impl AwkReader {
    fn program(&mut self) {
        for at in 0..self.tokens.len() {
            match &self.tokens[at] {
                AwkToken::Word(word) => match word.as_str() {
                    "system" => self.system(at),
                    "print" | "printf" => self.print(at),
                    "getline" => self.getline(at),
                    "ENVIRON" => self.environment(at),
                    "ARGV" if self.is_assigned(at) => self.not_understood("it chooses the files that it reads"),
                    _ => self.assignment(at),
                },
                AwkToken::Sign("@") => self.not_understood("it calls something by a name or loads an extension"),
                _ => {}
            }
        }
        if self.runs_unknown {
            self.hidden();
        }
    }

    fn system(&mut self, at: usize) {
        if self.is_sign(at + 1, "(") {
            let end = self.closing(at + 1);
            self.run(at + 2..end);
        }
    }

    /// `print … > file`, `print … | command`.
    fn print(&mut self, at: usize) {
        let end = self.end_of_statement(at + 1);
        let mut depth = 0_usize;
        for place in at + 1..end {
            match self.sign(place) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                ">" | ">>" if depth == 0 => return self.file(PathEffect::Replace, place + 1..end),
                "|" | "|&" if depth == 0 => return self.pipe(at, place, end),
                _ => {}
            }
        }
    }

    fn pipe(&mut self, print: usize, pipe: usize, end: usize) {
        let command = self.value(pipe + 1..end);
        let is_format = matches!(&self.tokens[print], AwkToken::Word(word) if word == "printf");
        let printed = if is_format { self.printed_by_format(print + 1, pipe) } else { self.value(print + 1..pipe) };
        self.doubt(print + 1..pipe);
        if print + 1 == pipe || printed.contains(GAP) || command.contains(GAP) || command.starts_with("/inet") {
            return self.run(pipe + 1..end);
        }
        self.doubt(pipe + 1..end);
        if self.doubts.of_print {
            self.not_understood("the separators that it prints are known only when it runs");
        }
        self.reading.inner.push(marks::script(&format!("printf '%s\\n' {} | {command}", marks::quoted(&printed))));
    }

    /// `command | getline`, `getline < file`.
    fn getline(&mut self, at: usize) {
        if at > 0 && matches!(self.sign(at - 1), "|" | "|&") {
            return self.run(self.begin_of_operand(at - 1)..at - 1);
        }
        let mut place = at + 1;
        if matches!(self.sign(place), "$") {
            place += 1;
        }
        if matches!(self.tokens.get(place), Some(AwkToken::Word(_) | AwkToken::Number(_))) {
            place += 1;
        }
        if matches!(self.sign(place), "[" | "(") {
            place = self.closing(place) + 1;
        }
        if self.is_sign(place, "<") {
            let end = if self.is_sign(place + 1, "(") { self.closing(place + 1) + 1 } else { place + 2 };
            self.file(PathEffect::Read, place + 1..end.min(self.tokens.len()));
        }
    }

    fn environment(&mut self, at: usize) {
        let name = if self.is_sign(at + 1, "[") { self.value(at + 2..self.closing(at + 1)) } else { GAP.to_string() };
        if is_secret_variable(&name) {
            let words = format!("print the secret {name} of the environment");
            self.reading.acts.push(RawEffect::Danger(Danger::Secret, words));
        } else if name.contains(GAP) {
            self.not_understood("it reads all of the environment");
        }
    }

    fn assignment(&mut self, at: usize) {
        let Some(AwkToken::Word(name)) = self.tokens.get(at) else { return };
        let name = name.clone();
        let end = self.end_of_statement(at + 2);
        match self.sign(at + 1) {
            "=" => {
                let value = self.value(at + 2..end);
                if self.doubts.about(&self.tokens[(at + 2).min(end)..end]) {
                    self.doubts.add(&name);
                }
                self.variables.insert(name, value);
            }
            "+=" | "-=" | "*=" | "/=" | "%=" | "^=" | "**=" | "++" | "--" => {
                self.variables.remove(&name);
            }
            _ => {}
        }
    }

    fn run(&mut self, range: std::ops::Range<usize>) {
        let command = self.value(range.clone());
        self.doubt(range.clone());
        if let Some(rest) = command.strip_prefix("/inet") {
            return self.connect(rest);
        }
        if marks::is_open(&command) {
            self.runs_unknown = true;
            self.reading.runs_input = true;
            self.not_understood("it runs a command that is known only when it runs");
        } else if !command.is_empty() {
            self.reading.runs_input |= command.contains(GAP);
            self.reading.inner.push(marks::script(&command));
        }
        // One of them may be the command: `system(x ? "a" : "b")`.
        let is_chosen = |at: usize| {
            self.is_sign(at, "?") || (matches!(self.tokens[at], AwkToken::Word(_)) && self.is_sign(at + 1, "("))
        };
        if command.contains(GAP) && range.clone().any(is_chosen) {
            let strings = self.tokens[range].iter().filter_map(|token| match token {
                AwkToken::String(text) => Some(marks::script(text)),
                _ => None,
            });
            self.reading.inner.extend(strings);
        }
    }

    fn file(&mut self, deed: PathEffect, range: std::ops::Range<usize>) {
        self.doubt(range.clone());
        let name = self.value(range);
        match name.strip_prefix("/inet") {
            Some(rest) => self.connect(rest),
            None if name == "-" || name.is_empty() => {}
            None => self.reading.acts.push(marks::act(deed, &name)),
        }
    }

    /// What is made of a doubtful variable may be something else, unless that is plain anyway.
    fn doubt(&mut self, range: std::ops::Range<usize>) {
        let end = range.end.min(self.tokens.len());
        let is_open = marks::is_open(&self.value(range.clone()));
        if !is_open && self.doubts.about(&self.tokens[range.start.min(end)..end]) {
            self.not_understood("it runs, reads or writes the value of a variable that may change");
        }
    }

    /// gawk connects by names such as `/inet/tcp/0/host/port`.
    fn connect(&mut self, rest: &str) {
        let host = rest.split('/').nth(3).filter(|host| !host.contains(GAP)).map(str::to_owned);
        self.reading.acts.push(RawEffect::Connect(host));
    }

    /// An unknown command, in a program that decodes or downloads, is taken for what was decoded or downloaded.
    fn hidden(&mut self) {
        let has = |words: &[&str]| {
            self.tokens.iter().any(|token| match token {
                AwkToken::String(text) => words.iter().any(|word| text.contains(word)),
                _ => false,
            })
        };
        if has(&["curl", "wget", "/inet/"]) {
            self.reading.acts.push(RawEffect::Danger(Danger::DownloadedCode, "run what it downloads".to_owned()));
        } else if has(&["base64", "xxd", "%c", "base32", "openssl"]) {
            self.reading.acts.push(RawEffect::Danger(Danger::HiddenCode, "run what it decodes".to_owned()));
        }
    }

    fn not_understood(&mut self, why: &str) {
        self.reading.acts.push(RawEffect::Unknown(why.to_owned()));
    }

    /// The value of an expression: concatenated strings, numbers and known variables; commas are blanks.
    fn value(&self, range: std::ops::Range<usize>) -> String {
        let mut value = String::new();
        let mut at = range.start;
        while at < range.end.min(self.tokens.len()) {
            match &self.tokens[at] {
                AwkToken::String(text) | AwkToken::Number(text) => value.push_str(text),
                AwkToken::Word(name) if name == "ENVIRON" && self.is_sign(at + 1, "[") => {
                    let is_home = matches!(&self.tokens.get(at + 2), Some(AwkToken::String(key)) if key == "HOME");
                    value.push(if is_home { HOME } else { GAP });
                    at = self.closing(at + 1);
                }
                AwkToken::Word(name) if name == "sprintf" && self.is_sign(at + 1, "(") => {
                    let end = self.closing(at + 1);
                    value.push_str(&self.formatted(at + 2, end));
                    at = end;
                }
                AwkToken::Word(name) => match self.variables.get(name) {
                    Some(known) if !self.is_sign(at + 1, "[") => value.push_str(known),
                    _ => value.push(GAP),
                },
                AwkToken::Sign("$") => {
                    value.push(GAP);
                    at = if self.is_sign(at + 1, "(") { self.closing(at + 1) } else { at + 1 };
                }
                AwkToken::Sign("(" | ")") => {}
                AwkToken::Sign(",") => value.push(' '),
                AwkToken::Sign(_) | AwkToken::Regex => value.push(GAP),
                AwkToken::Newline => {}
            }
            at += 1;
            if value.len() > crate::languages::LONGEST {
                return GAP.to_string();
            }
        }
        value
    }

    /// What `printf` writes, with brackets around its values or without.
    fn printed_by_format(&self, start: usize, end: usize) -> String {
        let is_enclosed = self.is_sign(start, "(") && self.closing(start) + 1 == end;
        if is_enclosed { self.formatted(start + 1, end - 1) } else { self.formatted(start, end) }
    }

    /// Returns where the values between commas are.
    fn listed(&self, start: usize, end: usize) -> Vec<std::ops::Range<usize>> {
        let mut values = Vec::new();
        let mut from = start;
        while from < end {
            let to = self.find_outside_brackets(from, |token| *token == AwkToken::Sign(",")).min(end);
            values.push(from..to);
            from = to + 1;
        }
        values
    }

    fn formatted(&self, start: usize, end: usize) -> String {
        let values = self.listed(start, end);
        let Some(format) = values.first().cloned() else { return String::new() };
        let format = self.value(format);
        let mut arguments = values.into_iter().skip(1).map(|value| self.value(value));
        let mut text = String::new();
        let mut characters = format.chars();
        while let Some(c) = characters.next() {
            if c != '%' {
                text.push(c);
                continue;
            }
            let mut is_cut = false;
            let conversion = characters.find(|c| {
                let is_end = c.is_ascii_alphabetic() || *c == '%' || *c == GAP;
                is_cut |= !is_end;
                is_end
            });
            let mut argument = || arguments.next().unwrap_or_else(|| GAP.to_string());
            match conversion {
                Some('%') => text.push('%'),
                // A width or a length cuts and fills.
                Some('s' | 'd' | 'i' | 'c') if is_cut => {
                    let _ = argument();
                    text.push(GAP);
                }
                Some('s' | 'd' | 'i') => text.push_str(&argument()),
                Some('c') => text.push(argument().parse().ok().and_then(char::from_u32).unwrap_or(GAP)),
                _ => text.push(GAP),
            }
        }
        text
    }

    /// Where the operand on the left of a pipe begins.
    fn begin_of_operand(&self, end: usize) -> usize {
        let mut depth = 0_usize;
        for at in (0..end).rev() {
            match (&self.tokens[at], depth) {
                (AwkToken::Sign(")" | "]"), _) => depth += 1,
                (AwkToken::Sign("(" | "["), 0) => return at + 1,
                (AwkToken::Sign("(" | "["), _) => depth -= 1,
                (
                    AwkToken::Newline | AwkToken::Sign("{" | "}" | ";" | "&&" | "||" | "!" | "=" | "," | "?" | ":"),
                    0,
                ) => {
                    return at + 1;
                }
                (AwkToken::Word(word), 0) if tokens::KEYWORDS.contains(&word.as_str()) => return at + 1,
                _ => {}
            }
        }
        0
    }

    fn end_of_statement(&self, from: usize) -> usize {
        self.find_outside_brackets(from, |token| matches!(token, AwkToken::Newline | AwkToken::Sign(";")))
    }

    fn closing(&self, open: usize) -> usize {
        self.find_outside_brackets(open + 1, |_| false)
    }

    /// Where the token is, or the bracket that closes what is around it.
    fn find_outside_brackets(&self, from: usize, wanted: impl Fn(&AwkToken) -> bool) -> usize {
        let mut depth = 0_usize;
        for at in from..self.tokens.len() {
            match (self.sign(at), depth) {
                ("(" | "[" | "{", _) => depth += 1,
                (")" | "]" | "}", 0) => return at,
                (")" | "]" | "}", _) => depth -= 1,
                (_, 0) if wanted(&self.tokens[at]) => return at,
                _ => {}
            }
        }
        self.tokens.len()
    }

    fn is_assigned(&self, at: usize) -> bool {
        self.is_sign(at + 1, "[") && self.is_sign(self.closing(at + 1) + 1, "=")
    }

    fn is_sign(&self, at: usize, sign: &str) -> bool {
        self.sign(at) == sign
    }

    fn sign(&self, at: usize) -> &'static str {
        match self.tokens.get(at) {
            Some(AwkToken::Sign(sign)) => sign,
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests;
