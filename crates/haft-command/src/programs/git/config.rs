//! Settings of git: some of them are programs that git runs.
//!
//! For one command (`git -c key=value`), haft reads such a program like any other text for a shell. A permanent setting
//! (`git config key value`) is a planted program: it runs later, when a person uses git.

use haft_contract::effect::Danger;
use haft_contract::files::guarded::{GitSetting, is_secret_git_setting};

use crate::act::{NestedRun, PathEffect, ProgramReading, RawEffect};
use crate::patterns;
use crate::programs::git::{revision, settings};
use crate::value::ShellValue;
use crate::viewers::VIEWERS;

/// Keys that name a file whose lines git may show.
const FILES: &[&str] = &[
    "core.excludesfile",
    "mailmap.file",
    "blame.ignorerevsfile",
    "diff.orderfile",
    "format.signaturefile",
    "fsck.skiplist",
    "*.fsck.skiplist",
    "commit.template",
];
/// Keys that open a way to something else.
const TURNS: &[&str] = &[
    "url.*.insteadof",
    "url.*.pushinsteadof",
    "protocol.*.allow",
    "protocol.allow",
    "core.worktree",
    "http.proxy",
    "http.*.proxy",
    "https.proxy",
    "remote.*.proxy",
    "remote.*.vcs",
    "remote.*.url",
    "remote.*.pushurl",
    "http.sslverify",
    "safe.directory",
];
/// Programs beside viewers that show or edit text, and values that turn a key off.
const HARMLESS: &[&str] = &[
    "",
    "false",
    "never",
    "always",
    "auto",
    "no",
    "yes",
    "on",
    "off",
    "1",
    "0",
    "vi",
    "vim",
    "nvim",
    "nano",
    "emacs",
    "ed",
    "code",
    "cache",
    "store",
    "osxkeychain",
    "libsecret",
    "manager",
    "manager-core",
    "none",
    "gpg",
    "gpg2",
    "ssh",
    "diff-so-fancy",
];

/// Reads `key=value` of `git -c`.
pub(crate) fn for_one_command(word: &ShellValue) -> ProgramReading {
    let start = word.prefix();
    let (key, value) = match start.split_once('=') {
        Some((key, _)) => (key, word.strip_prefix(&format!("{key}=")).unwrap_or_default()),
        None if word.known().is_none() => {
            return one(RawEffect::Unknown("a setting of git is known only when it runs".to_owned()));
        }
        None => (start, ShellValue::text("true")),
    };
    match GitConfigKey::of(key, &value) {
        GitConfigKey::Plain => ProgramReading::default(),
        GitConfigKey::Run(script) => {
            let acts = vec![RawEffect::Code(format!("let git run {}, named by {key}", script.shown()))];
            ProgramReading { acts, inner: vec![NestedRun::Script(script, Vec::new())], ..ProgramReading::default() }
        }
        GitConfigKey::RunPath(path) => one(RawEffect::Path(PathEffect::Run, path)),
        GitConfigKey::File(path) => one(RawEffect::Path(PathEffect::Read, path)),
        GitConfigKey::Turn => one(RawEffect::Unknown(format!("{key} leads git somewhere else"))),
        GitConfigKey::Unlisted => one(RawEffect::Unknown(format!("what the setting {key} makes git do is not known"))),
    }
}

/// Reads the words of `git config`.
pub(crate) fn read(words: &[ShellValue]) -> ProgramReading {
    let mut given = Config::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        given.take(word, &mut rest);
    }
    given.reading()
}

/// What the value of a key makes git do.
enum GitConfigKey {
    /// Nothing of the kind.
    Plain,
    /// Runs this text.
    Run(ShellValue),
    /// Runs what lies there.
    RunPath(ShellValue),
    /// Reads what lies there.
    File(ShellValue),
    /// Turns to other places than those that are named.
    Turn,
    /// Something that is not known: it may fetch, write or run.
    Unlisted,
}

impl GitConfigKey {
    fn of(key: &str, value: &ShellValue) -> Self {
        let key = key.to_ascii_lowercase();
        let is_one = |keys: &[&str]| keys.iter().any(|pattern| patterns::fits(pattern, &key));
        let setting = GitSetting::of(&key);
        match setting {
            Some(GitSetting::ProgramAfterMark) => {
                return match (value.strip_prefix("!"), value.prefix().is_empty() && value.known().is_none()) {
                    (Some(script), _) => GitConfigKey::Run(script),
                    (None, true) => GitConfigKey::Run(value.clone()),
                    (None, false) => GitConfigKey::Plain,
                };
            }
            Some(GitSetting::Hooks | GitSetting::Include | GitSetting::Attributes) => {
                let is_none = matches!(value.known(), Some("/dev/null" | ""));
                return if is_none { GitConfigKey::Plain } else { GitConfigKey::RunPath(value.clone()) };
            }
            // A name alone is that of a host.
            Some(GitSetting::ProgramByPath) if value.known().is_some() && !value.prefix().starts_with(['/', '~']) => {
                return GitConfigKey::Plain;
            }
            Some(GitSetting::ProgramByPath) => return GitConfigKey::RunPath(value.clone()),
            Some(GitSetting::Program) | None => {}
        }
        if is_one(TURNS) {
            return GitConfigKey::Turn;
        }
        if is_one(FILES) && !value.is_empty() {
            return GitConfigKey::File(value.clone());
        }
        match setting {
            Some(_) if is_harmless(value) => GitConfigKey::Plain,
            Some(_) => GitConfigKey::Run(value.strip_prefix("!").unwrap_or_else(|| value.clone())),
            None if settings::is_harmless(&key) => GitConfigKey::Plain,
            None => GitConfigKey::Unlisted,
        }
    }
}

/// Returns whether a key, whatever well-known program it may name, makes git run something or leads it elsewhere.
fn names_what_runs(key: &str, value: &ShellValue) -> bool {
    let is_key_of_programs = GitSetting::of(&key.to_ascii_lowercase()) == Some(GitSetting::Program);
    is_key_of_programs
        || !matches!(GitConfigKey::of(key, value), GitConfigKey::Plain | GitConfigKey::File(_) | GitConfigKey::Unlisted)
}

/// Returns whether it is a well-known program, perhaps with flags.
fn is_harmless(value: &ShellValue) -> bool {
    let Some(text) = value.known() else { return false };
    let mut words = text.split_whitespace();
    let program = words.next().unwrap_or_default();
    let is_flag = |word: &str| {
        word.starts_with('-') && word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
    };
    let takes_programs = matches!(program, "vi" | "vim" | "nvim" | "emacs" | "ssh");
    (VIEWERS.contains(&program) || HARMLESS.contains(&program)) && words.all(|word| is_flag(word) && !takes_programs)
}

/// Long options of `git config`. git takes a beginning that only one of them has.
const LONG: &[&str] = &[
    "--global",
    "--system",
    "--local",
    "--worktree",
    "--file",
    "--fixed-value",
    "--blob",
    "--bool",
    "--bool-or-int",
    "--bool-or-str",
    "--get",
    "--get-all",
    "--get-regexp",
    "--get-urlmatch",
    "--get-color",
    "--get-colorbool",
    "--replace-all",
    "--add",
    "--unset",
    "--unset-all",
    "--rename-section",
    "--remove-section",
    "--list",
    "--edit",
    "--type",
    "--default",
    "--comment",
    "--value",
    "--url",
    "--includes",
];

/// Returns the whole name of an option that is cut.
fn whole(name: &str) -> &str {
    let begins = |option: &&&str| name.len() > 2 && option.starts_with(name);
    match LONG.contains(&name) {
        true => name,
        false => LONG.iter().find(begins).copied().unwrap_or(name),
    }
}

/// The words of `git config`, told apart.
#[derive(Default)]
struct Config {
    operands: Vec<ShellValue>,
    is_of_account: bool,
    is_of_system: bool,
    file: Option<ShellValue>,
    /// The files of the history that hold the settings.
    blob: Vec<ShellValue>,
    reads: bool,
    removes: bool,
    is_about_sections: bool,
    edits: bool,
    /// Whether files are read that the named one names.
    includes: bool,
    doubts: bool,
}

impl Config {
    fn take<'a>(&mut self, word: &ShellValue, rest: &mut impl Iterator<Item = &'a ShellValue>) {
        let start = word.prefix();
        if start.len() > 1 && start.starts_with('-') && !start.starts_with("--") && !is_negative(start) {
            return self.take_letters(word, rest);
        }
        let (name, _) = start.split_once('=').unwrap_or((start, ""));
        let value = word.strip_prefix(&format!("{name}=")).filter(|_| start.contains('='));
        match whole(name) {
            "--global" => self.is_of_account = true,
            "--system" => self.is_of_system = true,
            "--file" => self.file = value.or_else(|| rest.next().cloned()),
            "--blob" => {
                let blob = value.or_else(|| rest.next().cloned());
                self.blob = blob.iter().flat_map(revision::paths).collect();
            }
            "--type" | "--default" | "--comment" | "--value" | "--url" => {
                if value.is_none() {
                    rest.next();
                }
            }
            "--list" | "--get" | "--get-all" | "--get-regexp" | "--get-urlmatch" | "--get-color"
            | "--get-colorbool" => self.reads = true,
            "--unset" | "--unset-all" => self.removes = true,
            "--remove-section" | "--rename-section" => (self.removes, self.is_about_sections) = (true, true),
            "--edit" => self.edits = true,
            "--includes" => self.includes = true,
            "get" | "list" if self.operands.is_empty() => self.reads = true,
            "unset" if self.operands.is_empty() => self.removes = true,
            "remove-section" | "rename-section" if self.operands.is_empty() => {
                (self.removes, self.is_about_sections) = (true, true);
            }
            "edit" if self.operands.is_empty() => self.edits = true,
            "set" if self.operands.is_empty() => {}
            _ if start.starts_with('-') && word.known().is_some() && !is_negative(start) => {}
            _ => {
                self.doubts |= start.is_empty() && word.known().is_none();
                self.operands.push(word.clone());
            }
        }
    }

    /// Takes letters that stand together; the rest of the word may be the value of one.
    fn take_letters<'a>(&mut self, word: &ShellValue, rest: &mut impl Iterator<Item = &'a ShellValue>) {
        let start = word.prefix();
        for (at, letter) in start.char_indices().skip(1) {
            let attached = word.strip_prefix(&start[..at + letter.len_utf8()]).filter(|value| !value.is_empty());
            match letter {
                'l' => self.reads = true,
                'e' => self.edits = true,
                'f' | 't' => {
                    let value = attached.or_else(|| rest.next().cloned());
                    self.file = if letter == 'f' { value } else { self.file.take() };
                    return;
                }
                _ => {}
            }
        }
        self.doubts |= word.known().is_none();
    }

    /// Returns whether one key is set or taken back that makes git run nothing and leads it nowhere else.
    fn is_harmless(&self) -> bool {
        let value = self.operands.get(1).cloned().unwrap_or_default();
        match self.operands.first().and_then(ShellValue::known) {
            Some(key) => !self.edits && !self.is_about_sections && !names_what_runs(key, &value),
            None => false,
        }
    }

    fn reading(self) -> ProgramReading {
        let mut acts = Vec::new();
        let only_a_key = self.operands.len() < 2 && !self.removes && !self.edits;
        if self.doubts && (self.operands.len() < 2 || self.operands[0].known().is_none()) {
            acts.push(RawEffect::Unknown("a setting of git is known only when it runs".to_owned()));
        }
        acts.extend(self.blob.iter().map(|path| RawEffect::Path(PathEffect::Read, path.clone())));
        if self.includes && (self.file.is_some() || !self.blob.is_empty()) {
            acts.push(RawEffect::Unknown("which files it reads is in another file".to_owned()));
        }
        if self.reads || only_a_key {
            let keys = self.operands.iter().filter_map(ShellValue::known);
            if let Some(key) = keys.into_iter().find(|key| is_secret_git_setting(key)) {
                acts.push(RawEffect::Danger(Danger::Secret, format!("print a password or token: {key}")));
            }
            acts.extend(self.file.map(|file| RawEffect::Path(PathEffect::Read, file)));
            return ProgramReading { acts, ..ProgramReading::default() };
        }
        if self.edits {
            acts.push(RawEffect::Code("open the settings of git in an editor".to_owned()));
        }
        if self.is_of_system || (self.is_of_account && !self.is_harmless()) {
            acts.push(RawEffect::Danger(
                Danger::System,
                "change the settings of git outside of the workspace".to_owned(),
            ));
        }
        acts.extend(self.file.map(|file| RawEffect::Path(PathEffect::Replace, file)));
        acts.push(RawEffect::Settings("change the settings of git".to_owned()));
        if let ([key, value, ..], false) = (self.operands.as_slice(), self.removes)
            && matches!(GitConfigKey::of(&key.shown(), value), GitConfigKey::Run(_) | GitConfigKey::RunPath(_))
        {
            let what = format!("make git run a program: {}", key.shown());
            acts.push(RawEffect::Danger(Danger::PlantedCode, what));
        }
        ProgramReading { acts, ..ProgramReading::default() }
    }
}

fn is_negative(word: &str) -> bool {
    word[1..].starts_with(|digit: char| digit.is_ascii_digit())
}

fn one(act: RawEffect) -> ProgramReading {
    ProgramReading { acts: vec![act], ..ProgramReading::default() }
}
