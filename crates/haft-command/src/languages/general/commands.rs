//! Calls that run something: commands, or text as code.

use std::ops::Range;

use crate::languages::general::calls::CallReader;
use crate::languages::general::findings::{Is, host_of_url};
use crate::languages::general::names;
use crate::languages::general::names::CallKind;
use crate::languages::marks::{GAP, is_open};
use crate::languages::strings::StringToken;

impl CallReader<'_> {
    pub(crate) fn run(&mut self, at: usize, range: Range<usize>) {
        let name = self.program.name(at);
        let last = name.rsplit('.').next().unwrap_or(&name);
        let folder = self.findings.folder.clone();
        let mut words = self.command_words(range.clone(), 0);
        if last.starts_with("spawnl") || last.starts_with("spawnv") {
            words = words.split_off(words.len().min(1));
        }
        // The program is named twice there: as a file, and as it is to call itself.
        let names_twice =
            ["execl", "execv", "spawnl", "spawnv", "posix_spawn"].iter().any(|begin| last.starts_with(begin));
        if names_twice && words.len() > 1 {
            words.remove(1);
        }
        let is_one = words.len() == 1 || words.first().is_some_and(|word| word.trim().contains([' ', '\n', ';', '|']));
        match words.first() {
            None => return self.findings.runs.at_least(Is::Open),
            Some(first) if is_open(first) && words.len() == 1 => return self.findings.runs.at_least(Is::Open),
            Some(first) if is_one => self.findings.script(first),
            Some(_) => self.findings.words(&words),
        }
        let is_open = words.iter().any(|word| word.contains(GAP));
        self.findings.runs.at_least(if is_open { Is::Open } else { Is::Known });
        self.findings.hands_over |= last == "spawn" && name.starts_with("pty");
        if !is_open {
            self.findings.folder = folder;
            self.take_all(range);
        }
    }

    /// The words of a command: those of lists one by one, without options for the one who runs it.
    fn command_words(&mut self, range: Range<usize>, depth: usize) -> Vec<String> {
        let mut words = Vec::new();
        for argument in self.program.arguments(range) {
            let Some(argument) = self.without_key(argument) else { continue };
            let is_function = argument.clone().any(|at| {
                matches!(self.program.word(at), Some("function" | "lambda"))
                    || (self.program.is_sign(at, '=') && self.program.is_sign(at + 1, '>'))
            });
            if self.program.is_sign(argument.start, '{') && depth < 2 {
                let inner = argument.start + 1..self.program.end_of_bracket(argument.start);
                words.extend(self.keyed_words(inner, depth + 1));
            } else if !is_function {
                words.extend(self.program.elements(argument).into_iter().filter(|word| !word.is_empty()));
            }
        }
        words
    }

    /// The words among the fields of an object.
    fn keyed_words(&mut self, range: Range<usize>, depth: usize) -> Vec<String> {
        let mut words = Vec::new();
        for argument in self.program.arguments(range) {
            let is_key = self.program.is_sign(argument.start + 1, ':') || self.program.is_sign(argument.start + 1, '=');
            if is_key && let Some(rest) = self.without_key(argument) {
                words.extend(self.command_words(rest, depth));
            }
        }
        words
    }

    /// The value of a named argument that belongs to the command; the folder is noted, others are left out.
    pub(crate) fn without_key(&mut self, argument: Range<usize>) -> Option<Range<usize>> {
        let key = match self.program.tokens.get(argument.start)? {
            StringToken::Word(key) | StringToken::Text(key) => key.as_str(),
            _ => return Some(argument),
        };
        let is_sign = |ahead: usize, sign: char| self.program.is_sign(argument.start + ahead, sign);
        let is_key = (is_sign(1, '=') && !is_sign(2, '=')) || (is_sign(1, ':') && !is_sign(2, ':'));
        if !is_key || argument.len() < 3 {
            return Some(argument);
        }
        let value = argument.start + if is_sign(2, '>') { 3 } else { 2 }..argument.end;
        match key {
            "cwd" | "chdir" => {
                self.change_folder(value);
                None
            }
            "args" | "cmd" | "command" | "executable" | "program" => Some(value),
            _ => None,
        }
    }

    /// `send(:system, …)`, `call_user_func("system", …)`.
    pub(crate) fn run_by_name(&mut self, range: Range<usize>) {
        let arguments = self.program.arguments(range.clone());
        let Some(first) = arguments.first() else { return };
        let named = match self.program.word(first.end.wrapping_sub(1)) {
            Some(word) => word.to_owned(),
            None => self.program.value(first.clone()),
        };
        match names::sort(&named) {
            Some(sort) if sort != CallKind::RunByName && sort != CallKind::Text => {
                let rest = (first.end + 1).min(range.end)..range.end;
                self.call(sort, range.start, rest);
            }
            _ if is_open(&named) => self.findings.runs.at_least(Is::Open),
            _ => {}
        }
    }

    /// `"ls -l".execute()`; the receiver of other calls of this name is a database or the like.
    pub(crate) fn run_receiver(&mut self, at: usize) {
        if let Some(command) = self.program.receiver(at).filter(|command| !command.contains(GAP)) {
            self.findings.script(&command);
            self.findings.runs.at_least(Is::Known);
        }
    }

    /// `include "http://…"` runs what it downloads.
    pub(crate) fn load(&mut self, range: Range<usize>) {
        let file = self.program.arguments(range.clone()).into_iter().next().map(|first| self.program.value(first));
        match file.as_deref().and_then(host_of_url) {
            Some(host) => {
                self.findings.connect(host);
                self.findings.evaluates.at_least(Is::Known);
            }
            None => self.take_direct(range),
        }
    }

    pub(crate) fn evaluate(&mut self, range: Range<usize>) {
        let code = self.program.arguments(range.clone()).into_iter().next().map(|first| self.program.value(first));
        let code = code.unwrap_or_default();
        if code.is_empty() || is_open(&code) {
            return self.findings.evaluates.at_least(Is::Open);
        }
        self.findings.evaluates.at_least(if code.contains(GAP) { Is::Open } else { Is::Known });
        self.take_all(range);
        crate::languages::general::study(&code, self.findings, self.depth + 1);
    }
}
