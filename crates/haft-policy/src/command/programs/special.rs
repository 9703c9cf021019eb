//! Programs whose words follow rules of their own, which a row cannot tell; one file each.
//!
//! They may have a row all the same: for their examples, and for subcommands.

mod echo;
mod env;
mod fd;
mod find;
mod kill;
mod names;
mod sg;
mod shell;
mod xargs;

use super::super::act::{Act, Inner, Reading};
use super::super::value::Value;
use super::git_config;

/// Reads the words of a program that is one of these, without its name.
pub(crate) fn read(name: &str, words: &[Value]) -> Option<Reading> {
    let read: fn(&[Value]) -> Reading = match name {
        "find" | "gfind" => find::read,
        "fd" | "fdfind" => fd::read,
        "xargs" | "gxargs" => xargs::read,
        "env" | "genv" => env::read,
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "mksh" | "rbash" | "ksh93" | "yash" | "csh" | "tcsh"
        | "posh" | "oksh" | "loksh" | "hush" => shell::read,
        "sg" if sg::is_search(words) => sg::read_search,
        "kill" => kill::read,
        "echo" => echo::read,
        "printf" => echo::read_format,
        "test" | "[" => |_| Reading::default(),
        _ => return None,
    };
    let only = if let [only] = words { only.known() } else { None };
    // For echo it is text, and printing it is what it does.
    if matches!(only, Some("--help" | "--version")) && name != "echo" {
        return Some(Reading::default());
    }
    let mut reading = read(words);
    if OTHER_SHELLS.contains(&name) && reading.inner.iter().any(means_something_else) {
        let why = "it is code for a shell that haft reads as bash, and some of it means something else there";
        reading.acts.push(Act::Unknown(why.to_owned()));
    }
    Some(reading)
}

/// Shells whose language differs from that of bash in arrays, patterns and commands without a name.
const OTHER_SHELLS: &[&str] = &["zsh", "ksh", "mksh", "ksh93", "yash", "oksh", "loksh", "csh", "tcsh"];

/// Returns whether code may mean something else in one of the other shells; nobody has read the input yet.
fn means_something_else(inner: &Inner) -> bool {
    match inner {
        Inner::Script(text, _) => {
            let text = text.shown();
            text.contains(['(', '[', '{', '=', '^', '#'])
                || ["NULLCMD", "set -A", "setopt"].iter().any(|word| text.contains(word))
        }
        Inner::Input(..) => true,
        _ => false,
    }
}

/// Reads the words of a subcommand that is one of these, without its name.
pub(crate) fn read_subcommand(name: &str, words: &[Value]) -> Option<Reading> {
    (name == "git+config").then(|| git_config::read(words))
}
