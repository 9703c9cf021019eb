//! The settings of git that name programs, or files that git follows as it follows its settings and hooks.
//!
//! Rules read them in a command (`git config core.pager x`), the file door in the settings of a repository.

/// What the value of a setting is to git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitSetting {
    /// A command line that git runs.
    Program,
    /// A command line that git runs where it begins with `!`.
    ProgramAfterMark,
    /// A folder of programs.
    Hooks,
    /// A file of further settings.
    Include,
    /// A file that chooses which programs of the settings run.
    Attributes,
}

impl GitSetting {
    /// Returns what a key means, if git runs or follows its value. The key is in small letters.
    pub fn of(key: &str) -> Option<Self> {
        let fits = |pattern: &str| match pattern.split_once('*') {
            None => pattern == key,
            Some((begin, end)) => key.len() >= begin.len() + end.len() && key.starts_with(begin) && key.ends_with(end),
        };
        let in_paths = PATHS.iter().find(|(pattern, _)| fits(pattern)).map(|(_, setting)| *setting);
        let in_marked = || AFTER_MARK.iter().any(|pattern| fits(pattern)).then_some(Self::ProgramAfterMark);
        let in_programs = || PROGRAMS.iter().any(|pattern| fits(pattern)).then_some(Self::Program);
        in_paths.or_else(in_marked).or_else(in_programs)
    }
}

/// Keys that name a file or a folder of things that run, or of further settings. `*` stands for anything.
const PATHS: &[(&str, GitSetting)] = &[
    ("core.hookspath", GitSetting::Hooks),
    ("init.templatedir", GitSetting::Hooks),
    ("include.path", GitSetting::Include),
    ("includeif.*.path", GitSetting::Include),
    ("core.attributesfile", GitSetting::Attributes),
];
/// Keys whose value is a program when it begins with `!`.
const AFTER_MARK: &[&str] = &["alias.*", "submodule.*.update"];
/// Keys whose value is a program.
const PROGRAMS: &[&str] = &[
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.fsmonitor",
    "core.askpass",
    "core.gitproxy",
    "core.alternaterefscommand",
    "sequence.editor",
    "diff.external",
    "diff.*.command",
    "diff.*.textconv",
    "filter.*.clean",
    "filter.*.smudge",
    "filter.*.process",
    "gpg.program",
    "gpg.*.program",
    "gpg.ssh.defaultkeycommand",
    "credential.helper",
    "credential.*.helper",
    "pager.*",
    "difftool.*.cmd",
    "difftool.*.path",
    "mergetool.*.cmd",
    "mergetool.*.path",
    "merge.*.driver",
    "man.*.cmd",
    "man.*.path",
    "browser.*.cmd",
    "browser.*.path",
    "web.browser",
    "guitool.*.cmd",
    "interactive.difffilter",
    "remote.*.uploadpack",
    "remote.*.receivepack",
    "uploadpack.packobjectshook",
    "trailer.*.command",
    "trailer.*.cmd",
    "tar.*.command",
    "sendemail.tocmd",
    "sendemail.cccmd",
    "sendemail.headercmd",
    "sendemail.sendmailcmd",
    "instaweb.httpd",
    "imap.tunnel",
    "lfs.customtransfer.*.path",
    "receive.procreceiverefs",
    "hook.*.command",
    "notes.rewrite*cmd",
    "ssh.command",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_apart() {
        for (key, setting) in [
            ("core.hookspath", Some(GitSetting::Hooks)),
            ("includeif.gitdir:a/.path", Some(GitSetting::Include)),
            ("include.path", Some(GitSetting::Include)),
            ("core.attributesfile", Some(GitSetting::Attributes)),
            ("alias.st", Some(GitSetting::ProgramAfterMark)),
            ("filter.lfs.process", Some(GitSetting::Program)),
            ("credential.https://example.org.helper", Some(GitSetting::Program)),
            ("diff.external", Some(GitSetting::Program)),
            ("user.name", None),
            ("remote.origin.url", None),
            ("core.excludesfile", None),
        ] {
            assert_eq!(GitSetting::of(key), setting, "{key}");
        }
    }
}
