//! `fd`: a pattern, paths to start from, and perhaps a command that it runs for its results.

use crate::act::{NestedRun, PathEffect, ProgramReading, RawEffect, StreamContent};
use crate::patterns;
use crate::programs::meaning::below;
use crate::programs::reading::{bare_name_of, names_below};
use crate::programs::special::find::{put_in, something_below};
use crate::programs::special::names::{FindNames, found_below, plain_name};
use crate::value::{ShellValue, ValuePiece};

const WITH_VALUE: &[&str] = &[
    "-d",
    "--max-depth",
    "--min-depth",
    "--exact-depth",
    "-E",
    "--exclude",
    "-t",
    "--type",
    "-e",
    "--extension",
    "-S",
    "--size",
    "--changed-within",
    "--changed-before",
    "--newer",
    "--older",
    "-o",
    "--owner",
    "--and",
    "-c",
    "--color",
    "-j",
    "--threads",
    "--max-results",
    "--format",
    "--path-separator",
    "--max-buffer-time",
    "--batch-size",
];
const MARKS: &[&str] = &["{}", "{/}", "{//}", "{.}", "{/.}"];

/// Letters of options that take a value.
const LETTERS_WITH_VALUE: &str = "dEteSocj";

/// The words of `fd`, told apart.
#[derive(Default)]
struct FdWords {
    operands: Vec<ShellValue>,
    paths: Vec<ShellValue>,
    /// The folder that it works in.
    base: Option<ShellValue>,
    commands: Vec<Vec<ShellValue>>,
    /// Files with patterns.
    lists: Vec<ShellValue>,
    doubts: bool,
}

pub(crate) fn read(words: &[ShellValue]) -> ProgramReading {
    let told = FdWords::of(words);
    let mut reading = ProgramReading::default();
    if told.doubts {
        reading.acts.push(RawEffect::Unknown("a word that may be a flag".to_owned()));
    }
    reading.acts.extend(told.lists.iter().map(|list| RawEffect::Path(PathEffect::Read, list.clone())));
    let asked = told.operands.first().and_then(ShellValue::known).and_then(|pattern| name_asked_for(pattern, words));
    let names = FindNames { asked: asked.into_iter().collect(), may_be_others: true };
    let mut paths = told.paths;
    paths.extend(told.operands.into_iter().skip(1));
    if paths.is_empty() {
        paths.push(ShellValue::text("."));
    }
    let from_here = |path: &ShellValue| told.base.as_ref().map_or_else(|| path.clone(), |base| below(base, path));
    reading.acts.extend(told.base.iter().map(|base| RawEffect::Path(PathEffect::List, base.clone())));
    reading.acts.extend(paths.iter().map(|path| RawEffect::Path(PathEffect::List, from_here(path))));
    let named = found_below(&paths, &names);
    let found = if named.is_empty() { paths.iter().map(something_below).collect() } else { named.clone() };
    for (command, path) in told.commands.iter().flat_map(|command| found.iter().map(move |path| (command, path))) {
        // Without its folder a name may be that of another file, or look like a flag.
        let bare = ShellValue::unknown();
        let path = if names_last_part(command) { &bare } else { path };
        let words = with_found(command, path);
        reading.inner.push(match &told.base {
            Some(base) => NestedRun::WordsIn(base.clone(), words),
            None => NestedRun::Words(words),
        });
    }
    let printed = paths.iter().flat_map(names_below).chain(bare_name_of(&paths)).chain(named);
    reading.output = StreamContent::Paths(printed.map(|path| from_here(&path)).collect());
    reading
}

impl FdWords {
    fn of(words: &[ShellValue]) -> Self {
        let mut told = Self::default();
        let mut flags_may_come = true;
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let start = word.prefix();
            if !flags_may_come || !start.starts_with('-') {
                told.doubts |= flags_may_come && word.begins_with_gap();
                told.operands.push(word.clone());
            } else if start == "--" && word.known().is_some() {
                flags_may_come = false;
            } else if start.starts_with("--") {
                told.long(word, &mut rest);
            } else {
                told.letters(word, &mut rest);
            }
        }
        told
    }

    fn long<'v>(&mut self, word: &ShellValue, rest: &mut impl Iterator<Item = &'v ShellValue>) {
        let name = word.prefix().split('=').next().unwrap_or_default();
        let attached = word.strip_prefix(&format!("{name}="));
        match name {
            "--exec" | "--exec-batch" => self.command(attached, rest),
            "--search-path" => self.paths.extend(attached.or_else(|| rest.next().cloned())),
            // A line of it that is no pattern is shown in the error.
            "--ignore-file" => self.lists.extend(attached.or_else(|| rest.next().cloned())),
            "--base-directory" => self.base = attached.or_else(|| rest.next().cloned()),
            name if WITH_VALUE.contains(&name) => {
                if attached.is_none() {
                    rest.next();
                }
            }
            _ => self.doubts |= word.known().is_none(),
        }
    }

    /// Takes letters that stand together; the rest of the word may be the value of one.
    fn letters<'v>(&mut self, word: &ShellValue, rest: &mut impl Iterator<Item = &'v ShellValue>) {
        let start = word.prefix();
        for (at, letter) in start.char_indices().skip(1) {
            let attached = word.strip_prefix(&start[..at + letter.len_utf8()]).filter(|value| !value.is_empty());
            // A value may stand behind an equals sign.
            let attached = attached.map(|value| value.strip_prefix("=").unwrap_or(value));
            match letter {
                'x' | 'X' => return self.command(attached, rest),
                'C' => {
                    self.base = attached.or_else(|| rest.next().cloned());
                    return;
                }
                letter if LETTERS_WITH_VALUE.contains(letter) => {
                    if attached.is_none() {
                        rest.next();
                    }
                    return;
                }
                _ => {}
            }
        }
        self.doubts |= word.known().is_none();
    }

    fn command<'v>(&mut self, first: Option<ShellValue>, rest: &mut impl Iterator<Item = &'v ShellValue>) {
        let words = rest.take_while(|word| word.known() != Some(";")).cloned();
        self.commands.push(first.into_iter().chain(words).collect());
    }
}

/// Returns the name that a pattern asks for: a regular expression, unless it is told otherwise.
fn name_asked_for(pattern: &str, words: &[ShellValue]) -> Option<ShellValue> {
    let is_glob = words.iter().any(|word| matches!(word.known(), Some("-g" | "--glob")));
    let name = if is_glob { Some(patterns::as_value(pattern)) } else { plain_name(pattern).map(ShellValue::text) };
    name.filter(|name| name.pieces() != [ValuePiece::Glob])
}

/// Returns whether a command gets the last part of the path that was found, without its folder.
fn names_last_part(command: &[ShellValue]) -> bool {
    command.iter().any(|word| ["{/}", "{/.}"].iter().any(|mark| word.shown().starts_with(mark)))
}

fn with_found(command: &[ShellValue], found: &ShellValue) -> Vec<ShellValue> {
    let has_mark = |word: &ShellValue| MARKS.iter().any(|mark| word.shown().contains(mark));
    let put = |word: &ShellValue| MARKS.iter().fold(word.clone(), |word, mark| put_in(&word, mark, found));
    let mut words: Vec<ShellValue> = command.iter().map(put).collect();
    if !command.iter().any(has_mark) {
        words.push(found.clone());
    }
    words
}
