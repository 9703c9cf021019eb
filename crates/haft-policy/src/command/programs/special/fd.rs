//! `fd`: a pattern, paths to start from, and perhaps a command that it runs for what it finds.

use super::super::super::act::{Act, Deed, Flow, Inner, Reading};
use super::super::super::patterns;
use super::super::super::value::{Piece, Value};
use super::super::reading::names_below;
use super::find::{put_in, something_below};
use super::names::{Names, found_below, plain_name};

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
    "--ignore-file",
];
const MARKS: &[&str] = &["{}", "{/}", "{//}", "{.}", "{/.}"];

pub(super) fn read(words: &[Value]) -> Reading {
    let mut reading = Reading::default();
    let mut operands: Vec<Value> = Vec::new();
    let mut paths: Vec<Value> = Vec::new();
    let mut commands: Vec<Vec<Value>> = Vec::new();
    let mut flags_may_come = true;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let start = word.prefix();
        let name = start.split('=').next().unwrap_or_default();
        let runs = matches!(name, "-x" | "--exec" | "-X" | "--exec-batch") || is_bundle_with_run(start);
        if !flags_may_come || !start.starts_with('-') {
            if flags_may_come && word.pieces().first() == Some(&Piece::Unknown) {
                reading.acts.push(Act::Unknown("a word that may be a flag".to_owned()));
            }
            operands.push(word.clone());
        } else if start == "--" {
            flags_may_come = false;
        } else if runs {
            let mut command: Vec<Value> =
                start.split_once('=').map(|(_, first)| Value::text(first)).into_iter().collect();
            command.extend(rest.by_ref().take_while(|word| word.known() != Some(";")).cloned());
            commands.push(command);
        } else if matches!(name, "--search-path" | "--base-directory" | "-C") {
            let attached = word.strip_prefix(&format!("{name}=")).filter(|_| start.contains('='));
            paths.extend(attached.or_else(|| rest.next().cloned()));
        } else if WITH_VALUE.contains(&start) {
            rest.next();
        } else if word.known().is_none() {
            reading.acts.push(Act::Unknown("a word that may be a flag".to_owned()));
        }
    }
    let asked = operands.first().and_then(Value::known).and_then(|pattern| name_asked_for(pattern, words));
    let names = Names { asked: asked.into_iter().collect(), may_be_others: true };
    paths.extend(operands.into_iter().skip(1));
    if paths.is_empty() {
        paths.push(Value::text("."));
    }
    reading.acts.extend(paths.iter().map(|path| Act::Path(Deed::List, path.clone())));
    let named = found_below(&paths, &names);
    let found = if named.is_empty() { paths.iter().map(something_below).collect() } else { named.clone() };
    for (command, path) in commands.iter().flat_map(|command| found.iter().map(move |path| (command, path))) {
        reading.inner.push(Inner::Words(with_found(command, path)));
    }
    reading.output = Flow::Paths(paths.iter().flat_map(names_below).chain(named).collect());
    reading
}

/// Returns the name that a pattern asks for: a regular expression, unless it is told otherwise.
fn name_asked_for(pattern: &str, words: &[Value]) -> Option<Value> {
    let is_glob = words.iter().any(|word| matches!(word.known(), Some("-g" | "--glob")));
    let name = if is_glob { Some(patterns::as_value(pattern)) } else { plain_name(pattern).map(Value::text) };
    name.filter(|name| name.pieces() != [Piece::Glob])
}

fn is_bundle_with_run(word: &str) -> bool {
    let letters = word.strip_prefix('-').unwrap_or_default();
    !letters.starts_with('-') && letters.len() > 1 && letters.ends_with(['x', 'X'])
}

fn with_found(command: &[Value], found: &Value) -> Vec<Value> {
    let has_mark = |word: &Value| MARKS.iter().any(|mark| word.shown().contains(mark));
    let put = |word: &Value| MARKS.iter().fold(word.clone(), |word, mark| put_in(&word, mark, found));
    let mut words: Vec<Value> = command.iter().map(put).collect();
    if !command.iter().any(has_mark) {
        words.push(found.clone());
    }
    words
}
