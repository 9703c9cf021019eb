//! Findings in a program, and what they mean together.
//!
//! haft asks about a download, and about running something. A program that does both runs what it downloads.

use haft_contract::effect::Danger;

use crate::act::{NestedRun, PathEffect, ProgramReading, RawEffect};
use crate::languages::marks;
use crate::languages::marks::{GAP, GLOB, HOME, is_open};
use crate::programs;
use crate::programs::address;
use crate::value::ShellValue;

/// What was found.
#[derive(Default)]
pub(crate) struct CodeFindings {
    acts: Vec<RawEffect>,
    inner: Vec<NestedRun>,
    /// Strings that may be commands.
    suspected: Vec<ShellValue>,
    /// The folder that the program has changed to.
    pub(crate) folder: Option<String>,
    /// A command is run.
    pub(crate) runs: Is,
    /// Text is run as code.
    pub(crate) evaluates: Is,
    pub(crate) removes: Is,
    pub(crate) writes: Is,
    pub(crate) connects: bool,
    /// Whether a connection leads to this machine, to another one, or to an unknown place.
    connects_here: bool,
    connects_away: bool,
    connects_somewhere: bool,
    /// What is downloaded is put into a file.
    pub(crate) saves: bool,
    /// Text is decoded by something that is there for it.
    pub(crate) decodes: bool,
    /// Text is spelled out or turned around.
    pub(crate) spells: bool,
    /// Streams are handed to a process.
    pub(crate) hands_over: bool,
    pub(crate) prints: bool,
    pub(crate) reads_environment: bool,
    pub(crate) secret_variable: Option<String>,
    pub(crate) forks: usize,
    pub(crate) loops: bool,
}

/// Whether something is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Is {
    /// It is not.
    #[default]
    Not,
    /// It is, with what is known.
    Known,
    /// It is, with something that is known only when it runs.
    Open,
}

impl Is {
    pub(crate) fn at_least(&mut self, other: Is) {
        *self = (*self).max(other);
    }
}

impl CodeFindings {
    pub(crate) fn act(&mut self, act: RawEffect) {
        if !self.acts.contains(&act) {
            self.acts.push(act);
        }
    }

    pub(crate) fn not_understood(&mut self, why: &str) {
        self.act(RawEffect::Unknown(why.to_owned()));
    }

    /// A command as text for a shell.
    pub(crate) fn script(&mut self, command: &str) {
        let script = match &self.folder {
            Some(folder) => marks::script(&format!("cd {} && {command}", marks::quoted(&tilde_resolved(folder)))),
            None => marks::script(command),
        };
        self.push(script);
    }

    /// A command as a program with its words.
    pub(crate) fn words(&mut self, words: &[String]) {
        let words: Vec<String> = words.iter().map(|word| tilde_resolved(word)).collect();
        let needs_shell = self.folder.is_some() || words.iter().any(|word| word.contains([HOME, GLOB]));
        if needs_shell {
            let quoted: Vec<String> = words.iter().map(|word| marks::quoted(word)).collect();
            return self.script(&quoted.join(" "));
        }
        let values: Vec<ShellValue> = words.iter().map(|word| marks::path(word)).collect();
        self.push(NestedRun::Words(values));
    }

    /// A string that may be a command.
    pub(crate) fn suspect(&mut self, text: &str) {
        if text.trim().contains(' ') {
            self.suspected.push(marks::path(text));
        }
    }

    fn push(&mut self, inner: NestedRun) {
        if !self.inner.contains(&inner) {
            self.inner.push(inner);
        }
    }

    /// Something is done with a path. Says whether it is known where that is.
    pub(crate) fn path(&mut self, deed: PathEffect, text: &str) -> bool {
        if is_open(text) || text.is_empty() {
            return false;
        }
        if let Some(host) = host_of_url(text) {
            self.connect(host);
            return true;
        }
        let text = with_variables_open(text.strip_prefix("file://").unwrap_or(text));
        let is_absolute = text.starts_with(['/', '~', HOME, GAP]);
        let text = match &self.folder {
            Some(folder) if !is_absolute => format!("{folder}/{text}"),
            _ => text,
        };
        self.act(marks::act(deed, &text));
        !text.starts_with(GAP)
    }

    pub(crate) fn connect(&mut self, host: Option<String>) {
        self.connects = true;
        match &host {
            Some(host) if address::is_here(&ShellValue::text(host)) => self.connects_here = true,
            Some(_) => self.connects_away = true,
            None => self.connects_somewhere = true,
        }
        self.act(RawEffect::Connect(host));
    }

    /// Returns whether something may come from another machine. A server on this one runs what the workspace holds; where
    /// an address is not known, it is that of the server that the program speaks of.
    fn downloads(&self) -> bool {
        self.connects_away || (self.connects_somewhere && !self.connects_here)
    }

    /// Returns whether something that is run may come out of a download: code, a command that is not known, or one that
    /// runs a file, which the download may be in.
    fn may_run_download(&self) -> bool {
        let runs_file = self.inner.iter().any(|inner| match inner {
            NestedRun::Script(text, _) => {
                text.shown().split(|c: char| c.is_whitespace() || ";|&()\"'".contains(c)).any(runs_files)
            }
            NestedRun::Words(words) => words.iter().any(|word| runs_files(&word.shown())),
            _ => true,
        });
        let may_be_in_file = self.saves || self.writes > Is::Not || runs_file;
        self.evaluates > Is::Not || self.runs == Is::Open || (self.runs == Is::Known && may_be_in_file)
    }

    /// Says what was found, and what it means together.
    pub(crate) fn tell(mut self, reading: &mut ProgramReading) {
        let acts_on_text = self.runs.max(self.evaluates);
        let danger = |danger, words: &str| RawEffect::Danger(danger, words.to_owned());
        if self.connects && self.hands_over {
            self.act(danger(Danger::DownloadedCode, "give a shell to another machine"));
        } else if self.downloads() && self.may_run_download() {
            self.act(danger(Danger::DownloadedCode, "run something in a program that downloads"));
        }
        let runs_decoded = self.evaluates > Is::Not || self.runs == Is::Open;
        if (self.decodes && runs_decoded) || (self.spells && acts_on_text == Is::Open) {
            self.act(danger(Danger::HiddenCode, "run text that it decodes"));
        }
        if acts_on_text == Is::Open {
            reading.runs_input = true;
            self.not_understood("it runs something that is known only when it runs");
        }
        if self.reads_environment && self.connects {
            self.act(danger(Danger::Secret, "send the environment"));
        } else if self.reads_environment {
            self.not_understood("it reads all of the environment");
        }
        if let Some(name) = self.secret_variable.take().filter(|_| self.connects || self.prints) {
            self.act(danger(Danger::Secret, &format!("reveal the secret {name} of the environment")));
        }
        if self.forks > 1 || (self.forks > 0 && self.loops) {
            self.act(danger(Danger::Exhaustion, "start processes without an end"));
        }
        reading.acts.append(&mut self.acts);
        reading.inner.append(&mut self.inner);
        reading.suspected.append(&mut self.suspected);
    }
}

/// The host of an address, `Some(None)` where it has one that is not known; nothing where it is no address.
pub(crate) fn host_of_url(text: &str) -> Option<Option<String>> {
    let (scheme, rest) = text.trim().split_once("://")?;
    let is_scheme = !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-'));
    if !is_scheme || matches!(scheme, "file" | "php" | "data") {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = if host.starts_with('[') { host } else { host.split(':').next().unwrap_or_default() };
    let is_known = !host.is_empty() && host.chars().all(|c| c.is_ascii_graphic() && c != '$');
    Some(is_known.then(|| host.to_owned()))
}

/// Returns whether a word is a program that runs files or text, or a file itself.
fn runs_files(word: &str) -> bool {
    word.contains('/') || programs::language_of(word).is_some()
}

/// A tilde is the home to the reader of a program, even where its language would not say so.
fn tilde_resolved(word: &str) -> String {
    match word.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{HOME}{rest}"),
        _ => word.to_owned(),
    }
}

/// `$HOME` is the home, any other variable is not known.
fn with_variables_open(text: &str) -> String {
    let text = text.replace("${HOME}", &HOME.to_string()).replace("$HOME", &HOME.to_string());
    let mut open = String::new();
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let begins_variable =
            c == '$' && characters.peek().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '{'));
        if !begins_variable {
            open.push(c);
            continue;
        }
        open.push(GAP);
        while characters.next_if(|c| c.is_alphanumeric() || matches!(c, '_' | '{' | '}')).is_some() {}
    }
    open
}
