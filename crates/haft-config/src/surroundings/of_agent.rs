//! The environment of a command that another agent runs: the agent's environment without secrets.
//!
//! A user starts an agent in a shell with variables for the project, and its commands rely on them. haft judges the words
//! of a command as if unlisted variables were unset, so the command may do something else than haft judged. The sandbox
//! still confines it, and undo covers it.

use std::ffi::{OsStr, OsString};

use haft_contract::files::guarded::is_secret_variable;

use super::{holds_secret, is_name};

/// Variables that belong to the agent, to its shell or to a place outside the sandbox, or that change how programs start.
const LEFT_OUT: [&str; 18] = [
    "AI_AGENT",
    "BASH_*",
    "BASHOPTS",
    "CLAUDE*",
    "CODEX_*",
    "DBUS_*",
    "ENV",
    "GIT_*",
    "LD_*",
    "OLDPWD",
    "PROMPT_COMMAND",
    "PWD",
    "SHELLOPTS",
    "SHLVL",
    "SSH_*",
    "TEMP",
    "TMP*",
    "XDG_*",
];

/// Returns the environment for the commands of an agent with these variables, of which these values are secret. `usual` is
/// what every command has; it counts more.
pub(super) fn environment(
    variables: &[(OsString, OsString)],
    secrets: &[String],
    usual: &[(OsString, OsString)],
) -> Vec<(OsString, OsString)> {
    let is_usual = |name: &OsStr| usual.iter().any(|(known, _)| known == name);
    let is_kept = |(name, value): &&(OsString, OsString)| {
        let text = name.to_string_lossy();
        let is_left_out = text == "_" || LEFT_OUT.iter().any(|listed| is_name(listed, &text));
        !is_usual(name) && !is_left_out && !is_secret_variable(&text) && !holds_secret(value, secrets)
    };
    usual.iter().chain(variables.iter().filter(is_kept)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_hands_on_its_variables_without_secrets_and_without_its_own() {
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(OsString, OsString)> {
            pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
        };
        let of_agent = pairs(&[
            ("NODE_ENV", "test"),
            ("HOME", "/other"),
            ("ANTHROPIC_API_KEY", "k"),
            ("URL", "https://u:hunter22@host"),
            ("LD_PRELOAD", "/x.so"),
            ("CLAUDECODE", "1"),
            ("TMPDIR", "/t"),
            ("_", "/bin/x"),
        ]);
        let found = environment(&of_agent, &["hunter22".to_owned()], &pairs(&[("HOME", "/h")]));
        assert_eq!(found, pairs(&[("HOME", "/h"), ("NODE_ENV", "test")]));
    }
}
