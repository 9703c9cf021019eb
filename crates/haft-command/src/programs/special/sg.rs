//! Two programs are named `sg`: one runs a command with another group, the other searches sources (ast-grep).

use crate::act::{ProgramReading, RawEffect};
use crate::value::ShellValue;

/// Flags that only the search has. The other program takes no flag before the name of the group, but `-`.
const OF_SEARCH: &[&str] = &[
    "-p",
    "-r",
    "-l",
    "-k",
    "-U",
    "-i",
    "-A",
    "-B",
    "-C",
    "-j",
    "--pattern",
    "--rewrite",
    "--lang",
    "--kind",
    "--json",
    "--update-all",
    "--interactive",
    "--globs",
    "--color",
    "--strictness",
    "--selector",
];

/// Returns whether these are words of the search.
pub(crate) fn is_search(words: &[ShellValue]) -> bool {
    let first = words.first().map(ShellValue::prefix).unwrap_or_default();
    OF_SEARCH.contains(&first.split_once('=').map_or(first, |(flag, _)| flag))
}

/// Reads them: it is unknown which of the two programs is installed, so a person decides.
pub(crate) fn read_search(_words: &[ShellValue]) -> ProgramReading {
    let act = RawEffect::Unknown("sg may be ast-grep, or run a command with the rights of another group".to_owned());
    ProgramReading { acts: vec![act], ..ProgramReading::default() }
}
