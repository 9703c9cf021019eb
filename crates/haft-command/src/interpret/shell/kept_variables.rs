//! Variables that bash maintains: it ignores an assignment to them, refuses it, or overwrites it later.

use crate::patterns::fits;
use crate::value::ShellValue;

/// Variables of bash whose value is some number.
pub(crate) const NUMBERS: &[&str] = &[
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "OPTIND",
    "HISTCMD",
    "EPOCHSECONDS",
    "BASHPID",
    "SHLVL",
    "UID",
    "EUID",
    "PPID",
    "BASH_SUBSHELL",
    "BASH_MONOSECONDS",
];

/// Other variables that bash keeps; `*` stands for any text.
const OTHERS: &[&str] = &[
    "FUNCNAME",
    "BASH_SOURCE",
    "BASH_ARGV",
    "BASH_ARGC",
    "BASH_ARGV0",
    "BASH_REMATCH",
    "BASH_COMMAND",
    "BASH_LINENO",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "BASH_TRAPSIG",
    "BASHOPTS",
    "SHELLOPTS",
    "GROUPS",
    "DIRSTACK",
    "PIPESTATUS",
    "EPOCHREALTIME",
    "COMP_*",
    "COPROC",
    "READLINE_*",
    "_",
];

/// Returns whether bash keeps a variable itself.
pub(crate) fn is_kept(name: &str) -> bool {
    NUMBERS.contains(&name) || OTHERS.iter().any(|kept| fits(kept, name))
}

/// Returns what such a variable may be after a value was assigned to it.
pub(crate) fn kept(name: &str, value: &ShellValue) -> ShellValue {
    let is_number = value.known().is_some_and(|text| !text.is_empty() && text.bytes().all(|one| one.is_ascii_digit()));
    if is_number && NUMBERS.contains(&name) { ShellValue::number() } else { ShellValue::unknown() }
}
