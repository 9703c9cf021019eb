//! `chmod`: a mode, then files. A mode that removes permissions begins like a flag (`-x`, `-5`, `-rw`).

use crate::act::{PathEffect, ProgramReading, RawEffect};
use crate::programs::meaning::ReadingDraft;
use crate::programs::table::role::WordRole;
use crate::value::ShellValue;

/// Letters that are flags; all others begin a mode.
const FLAGS: &str = "RvcfhHLP";
/// Long flags that change nothing about the mode.
const LONG: &[&str] = &[
    "--recursive",
    "--verbose",
    "--changes",
    "--silent",
    "--quiet",
    "--preserve-root",
    "--no-preserve-root",
    "--dereference",
    "--no-dereference",
];
const REFERENCE: &str = "--reference";

pub(crate) fn read(words: &[ShellValue]) -> ProgramReading {
    let mut draft = ReadingDraft::default();
    let mut operands: Vec<&ShellValue> = Vec::new();
    let mut mode_is_known = false;
    let mut rest = words.iter();
    let mut flags_may_come = true;
    while let Some(word) = rest.next() {
        let start = word.prefix();
        match start {
            _ if !flags_may_come => operands.push(word),
            "--" if word.known().is_some() => flags_may_come = false,
            _ if start.starts_with("--") => {
                let name = start.split('=').next().unwrap_or_default();
                // The program lets one abbreviate.
                if name.len() > 4 && REFERENCE.starts_with(name) {
                    mode_is_known = true;
                    let value = word.strip_prefix(&format!("{name}=")).or_else(|| rest.next().cloned());
                    value.iter().for_each(|file| draft.word(WordRole::Path(PathEffect::List), file, &[]));
                } else if word.known().is_none() || !LONG.iter().any(|flag| flag.starts_with(name)) {
                    draft.act(RawEffect::Unknown(format!("\"{name}\" of chmod is not known")));
                }
            }
            _ if start.starts_with('-') && start.len() > 1 => {
                if let Some(mode) = mode_in(word) {
                    mode_is_known = true;
                    draft.word(WordRole::Mode, &mode, &[]);
                }
            }
            _ => operands.push(word),
        }
    }
    let files = if mode_is_known { operands.as_slice() } else { operands.get(1..).unwrap_or_default() };
    if let (false, Some(mode)) = (mode_is_known, operands.first()) {
        draft.word(WordRole::Mode, mode, &[]);
    }
    files.iter().for_each(|file| draft.word(WordRole::Path(PathEffect::Replace), file, &[]));
    draft.finish()
}

/// Returns the mode that a word with a dash has behind its flags.
fn mode_in(word: &ShellValue) -> Option<ShellValue> {
    let letters = &word.prefix()[1..];
    let flags = letters.len() - letters.trim_start_matches(|letter| FLAGS.contains(letter)).len();
    let mode = word.strip_prefix(&word.prefix()[..1 + flags]).unwrap_or_default();
    let mut with_dash = ShellValue::text("-");
    with_dash.append(&mode);
    (!mode.is_empty()).then_some(with_dash)
}
