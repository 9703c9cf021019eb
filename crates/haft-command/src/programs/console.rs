//! Reads text for an editor or a console, as `vim -c` and `psql -c` accept it, and other text with commands in it.
//!
//! haft understands little of it, but it finds the ways to run something and the files that the text names.

use crate::act::{CodeLanguage, NestedRun, PathEffect, ProgramReading, RawEffect};
use crate::programs::reading::joined;
use crate::programs::table::role::WordRole;
use crate::value::ShellValue;

/// What stands before text for a shell at the beginning of a line.
const MARKS: &[&str] = &[".shell ", ".system ", "shell ", "system ", "exec ", "sh ", "\\! ", ".sy ", ".pso "];
/// What stands before text for a shell anywhere in a line, and what ends it: macros of m4, programs of PostgreSQL.
const CALLS: &[(&str, char)] = &[("syscmd(", ')'), ("program '", '\'')];
/// What stands before a file at the beginning of a line, and what is done with it.
const FILES: &[(&str, PathEffect)] = &[
    (".output ", PathEffect::Replace),
    (".once ", PathEffect::Replace),
    (".log ", PathEffect::Replace),
    (".trace ", PathEffect::Replace),
    (".backup ", PathEffect::Replace),
    (".save ", PathEffect::Replace),
    (".clone ", PathEffect::Replace),
    (".import ", PathEffect::Read),
    (".restore ", PathEffect::Read),
    (".open ", PathEffect::Replace),
    (".read ", PathEffect::Run),
    (".load ", PathEffect::Run),
    ("\\o ", PathEffect::Replace),
    ("\\i ", PathEffect::Run),
];
/// Functions whose first string is a file.
const FUNCTIONS: &[(&str, PathEffect)] =
    &[("writefile(", PathEffect::Replace), ("readfile(", PathEffect::Read), ("load_extension(", PathEffect::Run)];

/// Reads the text.
pub(crate) fn read(text: &ShellValue) -> ProgramReading {
    read_in(WordRole::Console, text)
}

/// Reads text with this role. Some programs reach no more than code does: a database in a file, a debugger of a program.
pub(crate) fn read_in(role: WordRole, text: &ShellValue) -> ProgramReading {
    match role {
        WordRole::ConsoleCode => beside(RawEffect::Code("run commands of a console".to_owned()), text),
        _ => beside(RawEffect::Unknown("it is text for another program".to_owned()), text),
    }
}

/// Reads the text, which does this and what is understood of it.
fn beside(act: RawEffect, text: &ShellValue) -> ProgramReading {
    let mut reading = ProgramReading::default();
    reading.acts.push(act);
    for line in text.shown().lines() {
        let line = line.trim().trim_start_matches(':');
        let marked = MARKS.iter().find_map(|mark| line.strip_prefix(mark));
        let script = marked.or_else(|| line.split_once('!').map(|(_, script)| script.trim_start_matches('!')));
        let (deed, rest) = about_files(line).unwrap_or((PathEffect::Read, ""));
        let calls = in_calls(line);
        let scripts = script.into_iter().chain(rest.strip_prefix('|')).chain(calls).map(str::trim);
        let scripts = scripts.filter(|script| !script.is_empty() && !script.starts_with('='));
        reading.inner.extend(scripts.map(|script| NestedRun::Script(ShellValue::text(script), Vec::new())));
        let named = files_in(rest).map(|name| (deed, name)).chain(in_functions(line));
        reading.acts.extend(named.map(|(deed, name)| RawEffect::Path(deed, ShellValue::text(name))));
    }
    // Calls such as `system("…")` are found among its strings.
    reading.inner.push(NestedRun::Text(CodeLanguage::General, text.clone()));
    reading
}

/// Returns the shell text that stands in a line behind one of the words for it.
fn in_calls(line: &str) -> impl Iterator<Item = &str> {
    let lower = line.to_ascii_lowercase();
    let found: Vec<(usize, char)> = CALLS
        .iter()
        .flat_map(|(mark, end)| lower.match_indices(mark).map(|(at, mark)| (at + mark.len(), *end)))
        .collect();
    // m4 has quotes of its own.
    found.into_iter().map(move |(from, end)| {
        let text = line[from..].rsplit_once(end).map_or(&line[from..], |(text, _)| text);
        text.trim_matches(['`', '\''])
    })
}

/// Returns what a line does with the files that stand in the rest of it.
fn about_files(line: &str) -> Option<(PathEffect, &str)> {
    FILES.iter().find_map(|(mark, deed)| Some((*deed, line.strip_prefix(mark)?.trim())))
}

/// Returns the words that may be files. Some name a table or a database; those do no harm here.
fn files_in(rest: &str) -> impl Iterator<Item = String> {
    let is_file = |word: &&str| !word.starts_with('-') && !matches!(*word, "" | "off" | "on" | "stdout" | "stderr");
    let words = if rest.starts_with('|') { "" } else { rest };
    words.split_whitespace().map(|word| word.trim_matches(['"', '\''])).filter(is_file).map(str::to_owned)
}

/// Returns the files that functions in a line get.
fn in_functions(line: &str) -> Vec<(PathEffect, String)> {
    let lower = line.to_ascii_lowercase();
    let mut found = Vec::new();
    for (name, deed) in FUNCTIONS {
        for (at, _) in lower.match_indices(name) {
            let file = line[at + name.len()..].split(['\'', '"']).nth(1);
            found.extend(file.map(|file| (*deed, file.to_owned())));
        }
    }
    found
}

/// Returns what is run of a command that the input gives more words, as shell text and as words.
pub(crate) fn fed(rest: &[ShellValue]) -> Vec<NestedRun> {
    const MARK: &str = "{}";
    let words: Vec<ShellValue> = match rest {
        [only] => match only.known() {
            Some(text) => text.split_whitespace().map(ShellValue::text).collect(),
            None => rest.to_vec(),
        },
        _ => rest.to_vec(),
    };
    let has_mark = words.iter().any(|word| word.shown().contains(MARK));
    let with_input =
        if has_mark { NestedRun::WordsAroundInput(words, MARK.to_owned()) } else { NestedRun::WordsAndInput(words) };
    vec![NestedRun::Script(joined(rest), Vec::new()), with_input]
}

/// Returns code and the strings in it, each of which may be shell text.
pub(crate) fn quoted(code: &ShellValue) -> Vec<NestedRun> {
    let mut found = vec![NestedRun::Text(CodeLanguage::General, code.clone())];
    let (mut string, mut letters) = (None, code.shown().chars().collect::<Vec<_>>().into_iter());
    while let Some(letter) = letters.next() {
        match (&mut string, letter) {
            (None, '"') => string = Some(String::new()),
            (None, _) => {}
            (Some(text), '"') => {
                found.push(NestedRun::Script(ShellValue::text(std::mem::take(text)), Vec::new()));
                string = None;
            }
            (Some(text), '\\') => text.extend(letters.next()),
            (Some(text), letter) => text.push(letter),
        }
    }
    found
}
