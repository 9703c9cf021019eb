//! Settings of git that name programs, or files that git follows like its settings and hooks.
//!
//! Rules read them in a command (`git config core.pager x`), the file door in the settings of a repository.

/// What the value of a setting is to git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitSetting {
    /// A command line that git runs.
    Program,
    /// A command line that git runs where it begins with `!`.
    ProgramAfterMark,
    /// A program where it is an absolute path.
    ProgramByPath,
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

/// Returns whether the value of a key is a password or a token; also of a pattern that finds such keys.
pub fn is_secret_git_setting(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let last = key.rsplit('.').next().unwrap_or_default();
    let says_it = last == "pass" || SECRETS.iter().any(|part| last.contains(part));
    // `http.sslCertPasswordProtected` only says whether git asks for one.
    says_it && !last.ends_with("protected")
}

/// Returns whether an address holds a password or a token.
pub fn is_secret_address(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else { return false };
    let before_path = rest.split('/').next().unwrap_or_default();
    let Some((user, _)) = before_path.rsplit_once('@') else { return false };
    match user.split_once(':') {
        Some((_, password)) => !password.is_empty(),
        // A token stands in the place of the name.
        None => user.len() >= SHORTEST_TOKEN,
    }
}

/// Names of users are shorter, tokens are longer.
const SHORTEST_TOKEN: usize = 20;
/// What the last part of a key says of a value that git sends to log in.
const SECRETS: &[&str] = &["extraheader", "smtppass", "password", "passphrase", "token", "secret"];

/// Keys that name a file or a folder of things that run, or of further settings. `*` stands for anything.
const PATHS: &[(&str, GitSetting)] = &[
    ("core.hookspath", GitSetting::Hooks),
    ("init.templatedir", GitSetting::Hooks),
    ("include.path", GitSetting::Include),
    ("includeif.*.path", GitSetting::Include),
    ("core.attributesfile", GitSetting::Attributes),
    ("instaweb.modulepath", GitSetting::Hooks),
    ("sendemail.smtpserver", GitSetting::ProgramByPath),
    ("sendemail.*.smtpserver", GitSetting::ProgramByPath),
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
    "gc.recentobjectshook",
    "help.browser",
    "instaweb.browser",
    "sendemail.*.tocmd",
    "sendemail.*.cccmd",
    "sendemail.*.headercmd",
    "sendemail.*.sendmailcmd",
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
    "lfs.customtransfer.*.args",
    "lfs.extension.*.clean",
    "lfs.extension.*.smudge",
    "svn.authorsprog",
    "annex.*command",
    "annex.*hook",
    "remote.*-command",
    "remote.*-transport",
    "tig.bind.*",
    "delta.pager",
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
            ("gc.recentobjectshook", Some(GitSetting::Program)),
            ("help.browser", Some(GitSetting::Program)),
            ("lfs.extension.x.clean", Some(GitSetting::Program)),
            ("sendemail.work.cccmd", Some(GitSetting::Program)),
            ("sendemail.smtpserver", Some(GitSetting::ProgramByPath)),
            ("user.name", None),
            ("remote.origin.url", None),
            ("core.excludesfile", None),
        ] {
            assert_eq!(GitSetting::of(key), setting, "{key}");
        }
    }

    #[test]
    fn passwords_and_tokens_are_known_by_their_keys_and_in_addresses() {
        for key in [
            "http.extraheader",
            "http.https://x.example/.extraHeader",
            "sendemail.smtpPass",
            "imap.pass",
            "github.token",
            "credential.x.password",
            "github.oauth-token",
            "lfs.clientSecret",
        ] {
            assert!(is_secret_git_setting(key), "{key}");
        }
        for key in [
            "user.signingkey",
            "http.sslKey",
            "http.sslCertPasswordProtected",
            "credential.helper",
            "user.name",
            "push.default",
            "core.compression",
            "remote.origin.url",
        ] {
            assert!(!is_secret_git_setting(key), "{key}");
        }
        for address in [
            "https://me:ghp_x@x.example/a.git",
            "https://x-access-token:abc@x.example",
            "https://ghp_0123456789abcdefghij@x.example/a.git",
            "ssh://a:b@x.example/a",
        ] {
            assert!(is_secret_address(address), "{address}");
        }
        for address in [
            "https://x.example/a.git",
            "git@x.example:a.git",
            "ssh://git@x.example/a",
            "https://me@x.example/a.git",
            "https://x.example/a@b:c/d",
            "../a.git",
        ] {
            assert!(!is_secret_address(address), "{address}");
        }
    }
}
