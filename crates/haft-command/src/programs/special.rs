//! Programs whose words follow special rules that a row cannot express; one file each.
//!
//! They may still have a row: for their examples, and for subcommands.

mod chmod;
mod echo;
mod env;
mod fd;
mod find;
mod kill;
mod names;
mod network_tools;
mod sg;
mod shell;
mod xargs;

use crate::act::ProgramReading;
use crate::programs::git::config;
use crate::value::ShellValue;

/// Reads the words of a program that is one of these, without its name.
pub(crate) fn read(name: &str, words: &[ShellValue]) -> Option<ProgramReading> {
    let read: fn(&[ShellValue]) -> ProgramReading = match name {
        "find" | "gfind" => find::read,
        "fd" | "fdfind" => fd::read,
        "xargs" | "gxargs" => xargs::read,
        "env" | "genv" => env::read,
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "mksh" | "rbash" | "ksh93" | "yash" | "csh" | "tcsh"
        | "posh" | "oksh" | "loksh" | "hush" => shell::read,
        "sg" if sg::is_search(words) => sg::read_search,
        "kill" => kill::read,
        "ip" => network_tools::read_ip,
        "bridge" => network_tools::read_bridge,
        "tc" => network_tools::read_tc,
        "nmcli" => network_tools::read_nmcli,
        "chmod" | "gchmod" => chmod::read,
        "echo" => echo::read,
        "printf" => echo::read_format,
        "test" | "[" => |_| ProgramReading::default(),
        _ => return None,
    };
    let only = if let [only] = words { only.known() } else { None };
    // For echo it is text, and printing it is what it does.
    if matches!(only, Some("--help" | "--version")) && name != "echo" {
        return Some(ProgramReading::default());
    }
    Some(read(words))
}

/// Reads the words of a subcommand that is one of these, without its name.
pub(crate) fn read_subcommand(name: &str, words: &[ShellValue]) -> Option<ProgramReading> {
    (name == "git+config").then(|| config::read(words))
}
