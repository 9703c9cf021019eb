//! The environment of a command that a person runs at a terminal: the usual one, with the terminal's own variables.
//!
//! The command gets other variables of the caller only if they are listed, like every command: haft judges the words of a
//! command by the values that their variables can have.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use super::holds_secret;

/// Variables that say how a terminal works and how its user wants to read and write there. A `*` stands for any end.
const OF_TERMINAL: [&str; 20] = [
    "CLICOLOR*",
    "COLORTERM",
    "COLUMNS",
    "DEBIAN_FRONTEND",
    "EDITOR",
    "FORCE_COLOR",
    "GIT_EDITOR",
    "GIT_PAGER",
    "GIT_TERMINAL_PROMPT",
    "LANG",
    "LC_*",
    "LESS",
    "LINES",
    "LS_COLORS",
    "NO_COLOR",
    "PAGER",
    "TERM",
    "TERMINFO",
    "TERM_*",
    "VISUAL",
];

/// Returns the environment for a person with these variables, of which these values are secret. `usual` is what every
/// command has.
pub(super) fn environment(
    variables: &[(OsString, OsString)],
    secrets: &[String],
    usual: &[(OsString, OsString)],
) -> Vec<(OsString, OsString)> {
    let rest = usual.iter().filter(|(name, _)| !is_of_terminal(name));
    let own = variables.iter().filter(|(name, value)| is_of_terminal(name) && !holds_secret(value, secrets));
    rest.chain(own).cloned().collect()
}

fn is_of_terminal(name: &OsStr) -> bool {
    OF_TERMINAL.iter().any(|listed| match listed.strip_suffix('*') {
        Some(beginning) => name.as_bytes().starts_with(beginning.as_bytes()),
        None => name == *listed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_has_the_variables_of_the_terminal_and_no_others_beside_the_listed() {
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(OsString, OsString)> {
            pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
        };
        let own = [
            ("TERM", "xterm"),
            ("EDITOR", "vim"),
            ("LC_CTYPE", "C.UTF-8"),
            ("LESS", "-X hunter2-hunter2"),
            ("MY_FLAG", "1"),
            ("BASH_FUNC_ls%%", "() { rm -rf x; }"),
        ];
        let usual = [("PATH", "/bin"), ("TERM", "dumb"), ("PAGER", "cat"), ("LC_ALL", "C.UTF-8"), ("TMPDIR", "/tmp")];
        let all = environment(&pairs(&own), &["hunter2-hunter2".to_owned()], &pairs(&usual));
        let expected =
            [("PATH", "/bin"), ("TMPDIR", "/tmp"), ("TERM", "xterm"), ("EDITOR", "vim"), ("LC_CTYPE", "C.UTF-8")];
        assert_eq!(all, pairs(&expected));
    }
}
