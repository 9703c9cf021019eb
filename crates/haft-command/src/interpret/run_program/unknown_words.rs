//! Searches the words of an unknown program for steps that haft would refuse as a command.
//!
//! There are more programs than a table can hold, and many of them run others. If a program is not in the table, the
//! words from any position to the end may be a command, any word may be text for a shell, and any word may be a file that
//! it opens. haft asks about the program anyway, so this search reports only the steps that haft would refuse.
//!
//! A word that only mentions a command does not count: haft reads text only where it begins with a known program.

use crate::act::{PathEffect, RawEffect, StreamContent};
use crate::interpret::Interpreter;
use crate::programs;
use crate::value::ShellValue;

/// How names of disks in `/dev` begin.
const DISKS: &[&str] =
    &["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "mapper/", "dm-", "md", "loop", "mem", "kmem"];
/// Words of the shell that begin a command.
const SHELL_WORDS: &[&str] = &[
    "eval", "exec", "command", "builtin", "source", ".", "cd", "pushd", "trap", "export", "set", "if", "for", "while",
    "until", "case",
];

impl Interpreter<'_> {
    /// Looks for what would be refused if a part of these words were a command or a file.
    pub(crate) fn suspect(&mut self, words: &[ShellValue], input: Option<&StreamContent>) {
        if words.is_empty() || !self.budget.enter_net() {
            return;
        }
        // Foreign text may go into a shell that is its only word.
        let shortest = if matches!(input, Some(StreamContent::Downloaded | StreamContent::Decoded)) { 1 } else { 2 };
        for end in ends(words, shortest) {
            self.only_refused(|interpreter| {
                interpreter.run_handed_on(end, input);
            });
        }
        let (scripts, others): (Vec<ShellValue>, Vec<ShellValue>) =
            words.iter().flat_map(whole_and_value).partition(is_script);
        scripts.iter().for_each(|script| self.suspect_text(script));
        self.only_refused(|interpreter| {
            others.iter().filter(|word| is_path(word)).for_each(|path| interpreter.suspect_path(path));
        });
        self.budget.leave_net();
    }

    /// Looks for what would be refused if this were text for a shell.
    pub(crate) fn suspect_text(&mut self, text: &ShellValue) {
        self.without_nets(|interpreter| {
            interpreter.run_new_shell(text, &[], None);
        });
    }

    /// Looks for what would be refused, without searching words of unknown meaning.
    pub(crate) fn without_nets(&mut self, look: impl FnOnce(&mut Self)) {
        let nets = self.budget.without_nets();
        self.only_refused(look);
        self.budget.put_back_nets(nets);
    }

    /// Returns whether only what would be refused is looked for, in something that may be no command at all.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.budget.has_no_nets()
    }

    fn suspect_path(&mut self, path: &ShellValue) {
        let is_other_device = path.prefix().starts_with("/dev/") && !is_disk(path.prefix());
        if !is_other_device {
            self.emit(RawEffect::Path(PathEffect::Read, path.clone()));
        }
    }

    /// Walks through something, and keeps what would be refused of what it tells, and nothing of what it changes.
    pub(crate) fn only_refused(&mut self, look: impl FnOnce(&mut Self)) {
        let since = self.findings.suppose();
        let (arrived, links) = (self.streams.arrived.clone(), self.files.links.clone());
        let connections = self.streams.connections.clone();
        self.apart(look);
        (self.streams.arrived, self.files.links, self.streams.connections) = (arrived, links, connections);
        self.findings.keep_refused(since, self.is_refused);
    }
}

/// Returns the ends of the words that begin with a program. A single word is more often the name of something else.
fn ends(words: &[ShellValue], shortest: usize) -> impl Iterator<Item = &[ShellValue]> {
    let begins = move |at: &usize| {
        let is_behind_mark = *at > 0 && words[at - 1].known() == Some("--");
        (words.len() - at >= shortest || is_behind_mark) && words[*at].known().is_some_and(is_program)
    };
    (0..words.len()).filter(begins).map(|at| &words[at..])
}

/// Returns a word, and the value in it: `--file=x`, `key=x`.
fn whole_and_value(word: &ShellValue) -> Vec<ShellValue> {
    let start = word.prefix();
    let name = start.split_once('=').map(|(name, _)| name).filter(|name| !name.contains(char::is_whitespace));
    let value = name.and_then(|name| word.strip_prefix(&format!("{name}=")));
    std::iter::once(word.clone()).chain(value).collect()
}

/// Returns whether a word of more than one word begins like a script.
fn is_script(word: &ShellValue) -> bool {
    let start = word.prefix().trim_start();
    let is_one = !word.shown().trim().contains([' ', '\n', '\t', ';', '|']);
    if is_one || start.starts_with('-') {
        return false;
    }
    let first = start.split(|letter: char| letter.is_whitespace() || ";|&<>".contains(letter)).next();
    start.starts_with(['(', '{', '!', ':']) || first.is_some_and(|first| is_program(first) || first.contains('='))
}

fn is_program(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or_default();
    SHELL_WORDS.contains(&name) || programs::is_program(last)
}

fn is_path(word: &ShellValue) -> bool {
    let start = word.prefix();
    start.starts_with(['/', '~', '.']) || (start.contains('/') && !start.contains("://") && !start.starts_with('-'))
}

fn is_disk(path: &str) -> bool {
    path.strip_prefix("/dev/").is_some_and(|name| DISKS.iter().any(|disk| name.starts_with(disk)))
}

#[cfg(test)]
mod tests {
    use crate::judging::check_all as check;
    use haft_policy::decision::Decision::{Ask, Deny};

    #[test]
    fn what_a_program_may_run_that_nobody_knows_is_refused_if_it_would_be_alone() {
        check(
            Deny,
            &[
                "foowrap rm -rf ~",
                "foowrap -- sudo rm -rf /",
                "foowrap -x 3 --long /bin/rm -rf /etc",
                "foowrap 'rm -rf ~'",
                "foowrap --then='rm -rf ~'",
                "foowrap hook='cd / && rm -rf *'",
                "foowrap sh -c 'barwrap rm -rf ~'",
                "foowrap -- reboot",
                &format!("foowrap {} rm -rf ~", "ls a ".repeat(40)),
            ],
        );
    }

    #[test]
    fn a_secret_or_a_disk_is_not_given_to_a_program_that_nobody_knows() {
        check(Deny, &["foowrap ~/.ssh", "foowrap --key=/etc/shadow", "foowrap .env", "foowrap if=/dev/sda"]);
        check(Ask, &["foowrap /dev/ttyUSB0", "foowrap /dev/dri/card0", "foowrap https://x.example/.env.md"]);
    }

    #[test]
    fn words_that_speak_of_a_command_are_none() {
        check(
            Ask,
            &[
                "foowrap 'fix: rm -rf / is gone'",
                "foowrap -m 'do not run `rm -rf ~`'",
                "foowrap reboot",
                "foowrap --why='no rm -rf ~'",
                "foowrap rm -rf build",
                "foowrap rm x",
            ],
        );
    }
}
