//! Tells what a program reads through words that are no operands by themselves.
//!
//! A pattern puts several names into the command: the first may be the value of a flag, and the program reads the others.
//! The value of a flag that the table of programs does not name may be a file, too.

use std::sync::Arc;

use crate::act::{PathEffect, ProgramReading, RawEffect, StreamContent};
use crate::interpret::Interpreter;
use crate::places::PathDestination;
use crate::value::ShellValue;

impl Interpreter<'_> {
    /// Tells the secrets that a pattern finds where the program takes it for something else than a path: in `grep .e* notes`
    /// only the first name is the expression, and the program reads the files of the others.
    pub(super) fn read_further_names(&mut self, words: &[ShellValue]) {
        for word in words.iter().filter(|word| word.may_be_several()) {
            for folder in self.shell.folders.now.clone() {
                let PathDestination::At(place) = folder.place(&self.with_home(word)) else { continue };
                for secret in self.secrets_there(&place) {
                    self.at_place(PathEffect::Read, &secret, word);
                }
            }
        }
    }

    /// Tells that a program reads the files that the values of unnamed flags name: `--format-file=x`, `--style=file:x`.
    pub(super) fn read_unnamed(&mut self, values: &[ShellValue]) {
        for value in values {
            let path = ["file://", "file:", "@"].iter().find_map(|scheme| value.strip_prefix(scheme));
            let path = self.with_home(path.as_ref().unwrap_or(value));
            if path.known().is_some_and(|text| !text.is_empty()) && self.is_there(&path) {
                self.emit(RawEffect::Path(PathEffect::Read, path));
            }
        }
    }

    /// Returns the words for rules: a program of the system is its last path component. A pattern that leaves files out and
    /// that finds names is a gap: of `--exclude .env*` the program leaves out only the first.
    pub(super) fn words_for_rules(&mut self, words: &[ShellValue]) -> Arc<[String]> {
        let mut shown: Vec<String> = words.iter().map(ShellValue::shown).collect();
        for at in (1..words.len()).filter(|at| words[*at].may_be_several()) {
            let leaves_out = words[at - 1..=at].iter().any(|word| word.prefix().starts_with("--exclude"));
            if leaves_out && !self.finds_nothing(&words[at]) {
                shown[at] = words[at].without_names().shown();
            }
        }
        if let Some(name) = shown.first_mut() {
            let is_system = ["/usr/", "/bin/", "/sbin/"].iter().any(|folder| name.starts_with(folder));
            let last = name.rsplit('/').next().filter(|last| is_system && !last.is_empty()).map(str::to_owned);
            *name = last.unwrap_or_else(|| std::mem::take(name));
        }
        shown.into()
    }
}

/// Returns the words of a program that reads files which it takes for something else than a path.
pub(super) fn words_that_are_no_paths(words: &[ShellValue], reading: &ProgramReading) -> Vec<ShellValue> {
    let is_read = |act: &RawEffect| matches!(act, RawEffect::Path(PathEffect::Read, _));
    let reads =
        matches!(reading.output, StreamContent::Passed | StreamContent::Content) || reading.acts.iter().any(is_read);
    let is_path =
        |word: &&ShellValue| reading.acts.iter().any(|act| matches!(act, RawEffect::Path(_, path) if path == *word));
    words[1..].iter().filter(|word| reads && !is_path(word)).cloned().collect()
}
