//! Says what programs do with their words, by a table that is data.
//!
//! Programs come and go and have hundreds of flags. So the facts about them are in `programs/table/*.txt`, one row per
//! program, and you can correct a line without reading code (the format: `programs/table/README.md`). A few programs have
//! special rules (`special`).
//!
//! Not here: where paths lead and what is decided (`interpret` and `haft-policy`), builtins that change the state of the shell.

pub mod address;
pub(crate) mod console;
mod filter;
pub(crate) mod flags;
mod git;
pub(crate) mod meaning;
pub mod operands;
pub(crate) mod reading;
mod special;
pub mod table;
#[cfg(test)]
mod tests;

use haft_contract::effect::Danger;

use crate::act::{CodeLanguage, PathEffect, ProgramReading, RawEffect};
use crate::patterns;
use crate::value::{ShellValue, ValuePiece};
use meaning::ReadingDraft;
use table::ProgramTable;
use table::role::WordRole;
use table::row::Says;

/// Reads a program with its words; the first one is its name.
pub(crate) fn read(words: &[ShellValue]) -> ProgramReading {
    read_by(ProgramTable::shipped(), words)
}

fn read_by(table: &ProgramTable, words: &[ShellValue]) -> ProgramReading {
    let Some((name, rest)) = words.split_first() else { return ProgramReading::default() };
    let Some(text) = name.known().filter(|text| !text.is_empty()) else {
        return read_all_that_fit(table, name, rest);
    };
    let Some((folder, last)) = text.rsplit_once('/') else { return read_named(table, text, rest) };
    if is_of_the_system(folder) {
        return read_named(table, last, rest);
    }
    let mut draft = ReadingDraft::default();
    draft.act(RawEffect::Path(PathEffect::Run, name.clone()));
    // A way round to `/bin/rm` is still `rm`, and `.venv/bin/python` runs what `python` does.
    let is_way_round = (text.starts_with('/') || text.contains("..")) && is_known(table, last);
    if is_way_round || language_of(last) == Some(CodeLanguage::General) {
        draft.add(read_named(table, last, rest));
    }
    draft.finish()
}

fn read_named(table: &ProgramTable, name: &str, words: &[ShellValue]) -> ProgramReading {
    if let Some(reading) = special::read(name, words) {
        return reading;
    }
    match table.row(name) {
        Some(Ok(row)) => reading::read_row(table, (name, row), words),
        Some(Err(fault)) => {
            ProgramReading { acts: vec![RawEffect::Unknown(fault.to_string())], ..ProgramReading::default() }
        }
        None => match name.strip_prefix("git-").filter(|subcommand| table.has(&format!("git+{subcommand}"))) {
            // The subcommands of git are programs of its own folder, too.
            Some(subcommand) => {
                let words: Vec<ShellValue> =
                    std::iter::once(ShellValue::text(subcommand)).chain(words.iter().cloned()).collect();
                read_named(table, "git", &words)
            }
            None => ProgramReading {
                acts: vec![RawEffect::Program(name.to_owned())],
                suspected: words.to_vec(),
                ..ProgramReading::default()
            },
        },
    }
}

/// Reads a name with gaps: whatever program of the table it may turn out to be counts, as in `/bin/r?`.
fn read_all_that_fit(table: &ProgramTable, name: &ShellValue, words: &[ShellValue]) -> ProgramReading {
    let mut draft = ReadingDraft::default();
    draft.act(RawEffect::Unknown("the name of the program is known only when it runs".to_owned()));
    if name.shown().contains('/') {
        draft.act(RawEffect::Path(PathEffect::Run, name.clone()));
    }
    let shown = name.shown();
    // What lies in a folder of the workspace is no program of the system, whatever it is called.
    let is_of_a_folder = shown.contains('/') && !shown.starts_with('/') && !shown.contains("..");
    let is_pattern = name.pieces().contains(&ValuePiece::Glob) && !name.has_unknown() && !is_of_a_folder;
    let pattern = shown.rsplit('/').next().unwrap_or_default();
    if is_pattern && pattern.chars().any(char::is_alphanumeric) {
        let mut fitting: Vec<_> = table.programs().filter(|program| patterns::fits(pattern, program)).collect();
        fitting.sort_unstable();
        for program in fitting {
            let mut reading = read_named(table, program, words);
            reading.acts.iter_mut().for_each(|act| hide_behind_pattern(act, program));
            let is_hidden = |act: &RawEffect| matches!(act, RawEffect::Danger(Danger::HiddenCode, _));
            // One refusal says it; many programs may fit.
            reading.acts.retain(|act| !is_hidden(act) || !draft.reading.acts.iter().any(is_hidden));
            draft.add(reading);
        }
        draft.reading.output = crate::act::StreamContent::Unknown;
    }
    draft.finish()
}

/// Gives the reason for which a pattern is refused: not what one of the programs does that fit, but that it may be that.
fn hide_behind_pattern(act: &mut RawEffect, program: &str) {
    if let RawEffect::Danger(danger, words) = act {
        *words = format!("hide which program it runs, which may be \"{program}\"");
        *danger = Danger::HiddenCode;
    }
}

/// Returns whether a program of this name is known.
pub(crate) fn is_program(name: &str) -> bool {
    is_known(ProgramTable::shipped(), name)
}

/// Returns the language of the files that a program runs, where the table says so: it is that of its input.
pub(crate) fn language_of(program: &str) -> Option<CodeLanguage> {
    let row = ProgramTable::shipped().row(program)?.ok()?;
    row.facts.iter().find_map(|fact| match &fact.says {
        Says::Input(language) | Says::Value(_, WordRole::Program(language)) => Some(*language),
        Says::Operands(operands) => operands.input,
        _ => None,
    })
}

fn is_known(table: &ProgramTable, name: &str) -> bool {
    table.has(name) || special::read(name, &[]).is_some()
}

/// Returns whether a folder holds programs of the system, however it is written.
fn is_of_the_system(folder: &str) -> bool {
    if !folder.starts_with('/') {
        return false;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    matches!(parts.first(), Some(&("bin" | "sbin" | "usr")))
}
