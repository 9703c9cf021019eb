//! Accepts files of version control whose names are refused but whose content is harmless.
//!
//! Without this, `git init`, `git clone` and `git worktree add` would leave half a repository, and haft would lose `git
//! config user.name`, `git remote add` and `git switch --track`. The check is narrow on purpose: content that it does not
//! know is not harmless.

use std::path::{Component, Path, PathBuf};

/// Largest file that is looked at, in bytes.
pub(in crate::files::layer) const LARGEST: u64 = 1024 * 1024;

/// Settings that start no program and name no other file.
const SETTINGS: &[(&str, &str, GitValueSyntax)] = &[
    ("core", "repositoryformatversion", GitValueSyntax::Word),
    ("core", "filemode", GitValueSyntax::Word),
    ("core", "bare", GitValueSyntax::Word),
    ("core", "logallrefupdates", GitValueSyntax::Word),
    ("core", "ignorecase", GitValueSyntax::Word),
    ("core", "precomposeunicode", GitValueSyntax::Word),
    ("core", "symlinks", GitValueSyntax::Word),
    ("core", "sparsecheckout", GitValueSyntax::Word),
    ("core", "sparsecheckoutcone", GitValueSyntax::Word),
    ("extensions", "objectformat", GitValueSyntax::Word),
    ("extensions", "refstorage", GitValueSyntax::Word),
    ("extensions", "partialclone", GitValueSyntax::Word),
    ("remote", "url", GitValueSyntax::Address),
    ("remote", "fetch", GitValueSyntax::Any),
    ("remote", "tagopt", GitValueSyntax::Any),
    ("branch", "remote", GitValueSyntax::Word),
    ("branch", "merge", GitValueSyntax::Any),
    ("branch", "rebase", GitValueSyntax::Word),
    ("user", "name", GitValueSyntax::Any),
    ("user", "email", GitValueSyntax::Any),
    ("submodule", "active", GitValueSyntax::Any),
    ("init", "defaultbranch", GitValueSyntax::Word),
];

/// The syntax that the value of a harmless setting must have.
#[derive(Clone, Copy)]
enum GitValueSyntax {
    /// Letters, digits, `-`, `_`, `.` and `/`.
    Word,
    /// A plain address or path.
    Address,
    Any,
}

/// Returns whether a new file of version control does no harm.
///
/// The place is the one beneath the root.
pub(in crate::files::layer) fn is_harmless(place: &Path, root: &Path, content: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(content) else { return false };
    let name = place.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    match name.as_str() {
        "config" => is_plain_config(text),
        "commondir" => text.trim_end() == "../.." && is_worktree(place),
        ".git" => is_plain_pointer(place, root, text),
        _ => false,
    }
}

/// Returns whether a changed file of version control does no harm: it has every setting that it had, and beside them
/// only who commits, a new remote, or what a new branch follows.
pub(in crate::files::layer) fn is_harmless_change(place: &Path, (old, new): (&[u8], &[u8])) -> bool {
    let is_config = place.file_name().is_some_and(|name| name.eq_ignore_ascii_case("config"));
    let (Ok(old), Ok(new)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else { return false };
    let (Some(old), Some(new)) = (Sections::read(old), Sections::read(new)) else { return false };
    is_config && new.only_adds_to(&old)
}

/// The lines of a git configuration, by the section that they are in.
struct Sections<'a> {
    /// Lines that have to stay as they are, in their order, with the headers of their sections.
    fixed: Vec<&'a str>,
    /// Sections that may come and go, and their lines.
    open: Vec<(&'a str, Vec<&'a str>)>,
}

impl<'a> Sections<'a> {
    /// Reads it; nothing where a line goes on in the next one.
    fn read(text: &'a str) -> Option<Self> {
        let mut sections = Self { fixed: Vec::new(), open: Vec::new() };
        let mut is_open = false;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if line.ends_with('\\') {
                return None;
            }
            if line.starts_with('[') {
                is_open = line == "[user]" || ["[remote \"", "[branch \""].iter().any(|start| line.starts_with(start));
                if is_open {
                    sections.open.push((line, Vec::new()));
                    continue;
                }
            }
            match sections.open.last_mut().filter(|_| is_open) {
                Some((_, lines)) => lines.push(line),
                None => sections.fixed.push(line),
            }
        }
        Some(sections)
    }

    fn only_adds_to(&self, old: &Sections<'_>) -> bool {
        let is_plain =
            |(header, lines): &(&str, Vec<&str>)| is_plain_config(&format!("{header}\n{}", lines.join("\n")));
        let was = |section: &(&str, Vec<&str>)| old.open.contains(section);
        let had = |header: &str| old.open.iter().any(|(name, _)| *name == header);
        let may_be = |section: &(&str, Vec<&str>)| {
            was(section) || (is_plain(section) && (section.0 == "[user]" || !had(section.0)))
        };
        // What is not plain may not go either: it may be what protects the repository.
        let may_go = |section: &(&str, Vec<&str>)| self.open.contains(section) || is_plain(section);
        self.fixed == old.fixed && self.open.iter().all(may_be) && old.open.iter().all(may_go)
    }
}

/// Files of a rebase or of picked commits that have stopped: lines in them can name programs.
const TO_DO: [&str; 4] = ["git-rebase-todo", "todo", "strategy", "opts"];

/// The merge strategies that git has itself; for any other name it runs a program `git-merge-NAME`.
const STRATEGIES: [&str; 6] = ["ort", "recursive", "resolve", "octopus", "ours", "subtree"];

/// Returns whether a file of a repository is a list of what git is to do when it goes on.
pub(in crate::files::layer) fn is_to_do(place: &Path) -> bool {
    place.file_name().is_some_and(|name| TO_DO.iter().any(|known| name.eq_ignore_ascii_case(known)))
}

/// Returns whether such a file makes git run a program: by a line that says so, or as a merge strategy.
pub(in crate::files::layer) fn runs_programs(place: &Path, content: &[u8]) -> bool {
    let name = place.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let text = String::from_utf8_lossy(content);
    let is_foreign = |strategy: &str| !strategy.is_empty() && !STRATEGIES.contains(&strategy);
    match name.as_str() {
        "strategy" => text.lines().any(|line| is_foreign(line.trim())),
        "opts" => text.lines().filter_map(|line| line.split_once('=')).any(|(key, value)| {
            key.trim().eq_ignore_ascii_case("strategy") && is_foreign(value.trim().trim_matches('"'))
        }),
        _ => text.lines().any(|line| {
            let first = line.split_ascii_whitespace().next().unwrap_or_default();
            first.eq_ignore_ascii_case("exec") || first.eq_ignore_ascii_case("x")
        }),
    }
}

/// Returns whether every line is a section or one of the settings.
fn is_plain_config(text: &str) -> bool {
    let mut section = String::new();
    text.lines().map(str::trim).filter(|line| !line.is_empty()).all(|line| {
        if let Some(header) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            let (name, rest) = header.split_once(' ').unwrap_or((header, ""));
            section = name.to_ascii_lowercase();
            let is_quoted = rest.len() >= 2 && rest.starts_with('"') && rest.ends_with('"');
            let is_plain = rest.is_empty() || (is_quoted && !rest[1..rest.len() - 1].contains(['"', '\\', '[', ']']));
            return is_plain && name.chars().all(|c| c.is_ascii_alphabetic());
        }
        let Some((key, value)) = line.split_once('=') else { return false };
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
        let setting = SETTINGS.iter().find(|(known, name, _)| *known == section && *name == key);
        setting.is_some_and(|(_, _, wanted)| wanted.holds(value))
    })
}

impl GitValueSyntax {
    fn holds(self, value: &str) -> bool {
        // Quotes, escapes and comments have rules of their own.
        if value.contains(['"', '\\', '#', ';']) || value.chars().any(char::is_control) {
            return false;
        }
        match self {
            GitValueSyntax::Word => {
                value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
            }
            GitValueSyntax::Any => true,
            GitValueSyntax::Address => {
                let is_known = |scheme: &str| matches!(scheme, "https" | "http" | "ssh" | "git" | "file");
                // Some kinds of address name a program, as "ext::…" does.
                let is_plain = match value.split_once("://") {
                    Some((scheme, host)) => is_known(scheme) && !host.starts_with('-'),
                    None => true,
                };
                is_plain && !value.starts_with('-') && !value.contains("::")
            }
        }
    }
}

/// Returns whether a place is right in the folder of a worktree.
fn is_worktree(place: &Path) -> bool {
    let parts: Vec<String> = place.iter().map(|part| part.to_string_lossy().to_ascii_lowercase()).collect();
    matches!(parts.as_slice(), [.., git, worktrees, _, _] if git == ".git" && worktrees == "worktrees")
}

/// Returns whether a file that says where a repository is names one in a folder above itself.
///
/// Those are known to be folders; anywhere else a link might lead out of the workspace.
fn is_plain_pointer(place: &Path, root: &Path, text: &str) -> bool {
    let (Some(to), Some(folder)) = (text.strip_prefix("gitdir:").map(str::trim), place.parent()) else { return false };
    if to.contains(char::is_control) {
        return false;
    }
    let mut at = root.join(folder);
    for part in Path::new(to).components() {
        match part {
            Component::RootDir => at = PathBuf::from("/"),
            Component::CurDir => {}
            Component::ParentDir if at.pop() => {}
            Component::Normal(part) => at.push(part),
            Component::ParentDir | Component::Prefix(_) => return false,
        }
    }
    let Ok(inside) = at.strip_prefix(root) else { return false };
    let is_above = |holder: &Path| {
        let git = holder.join(".git");
        ["worktrees", "modules"].iter().any(|kind| {
            let held = git.join(kind);
            inside.starts_with(&held) && inside != held
        })
    };
    // The folder of the file itself cannot hold both.
    folder.ancestors().skip(1).any(is_above)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn harmless(place: &str, content: &[u8]) -> bool {
        is_harmless(Path::new(place), Path::new("/ws"), content)
    }

    #[test]
    fn what_git_writes_for_a_new_repository_is_harmless() {
        let init =
            "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n";
        assert!(harmless(".git/config", init.as_bytes()));
        let clone = format!(
            "{init}[remote \"origin\"]\n\turl = https://example.org/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
             [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"
        );
        assert!(harmless("a/.git/config", clone.as_bytes()));
        assert!(harmless(".git/worktrees/w/commondir", b"../..\n"));
        assert!(harmless("w/.git", b"gitdir: ../.git/worktrees/w\n"));
        assert!(harmless("sub/.git", b"gitdir: ../.git/modules/sub\n"));
        assert!(harmless("sub/a/.git", b"gitdir: /ws/.git/worktrees/a\n"));
    }

    #[test]
    fn who_commits_new_remotes_and_new_branches_may_be_added() {
        let old = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = ../a\n\tfetch = x\n[alias]\n\tst = status\n";
        let change = |new: &str| is_harmless_change(Path::new(".git/config"), (old.as_bytes(), new.as_bytes()));
        let user = "[user]\n\tname = A\n\temail = a@b.c\n";
        for more in [
            user,
            "[remote \"up\"]\n\turl = https://example.org/a\n\tfetch = +refs/heads/*:refs/remotes/up/*\n",
            "[branch \"x\"]\n\tremote = origin\n\tmerge = refs/heads/x\n",
        ] {
            assert!(change(&format!("{old}{more}")), "{more}");
            assert!(change(&format!("{more}{old}")), "{more}");
        }
        assert!(change("[core]\n\tbare = false\n[alias]\n\tst = status\n"));
        for new in [
            format!("{old}[core]\n\tfsmonitor = a\n"),
            format!("{old}[user]\n\tname = A\n\tsigningkey = a\n"),
            format!("{old}[user]\n\tname = A\\\n[core]\n"),
            format!("{old}[user] name = A\n"),
            format!("{old}[remote \"x\"]\n\turl = ext::sh -c a\n"),
            format!("{old}[remote \"x\"]\n\treceivepack = a\n"),
            format!("{old}[branch \"x\"]\n\tmergeoptions = -s a\n"),
            old.replace("../a", "../b"),
            old.replace("\tst = status", "\tst = !a"),
            old.replace("[alias]\n\tst = status\n", ""),
            old.replace("[core]\n", &format!("[core]\n{user}")),
            old.replace("\tfetch = x\n", "\tfetch = x\n\tpushurl = b\n"),
        ] {
            assert!(!change(&new), "{new}");
        }
        assert!(!is_harmless_change(Path::new(".git/hooks/x"), (b"", user.as_bytes())));
    }

    #[test]
    fn a_list_of_what_git_is_to_do_may_not_name_a_program() {
        assert!(is_to_do(Path::new(".git/rebase-merge/git-rebase-todo")));
        assert!(!is_to_do(Path::new(".git/rebase-merge/onto")));
        let runs = |name: &str, content: &str| runs_programs(Path::new(name), content.as_bytes());
        assert!(runs("git-rebase-todo", "pick abc one\n exec sh evil\n") && runs("todo", "x evil"));
        assert!(!runs("git-rebase-todo", "pick abc exec\n# exec evil\n\n"));
        assert!(runs("strategy", "foo/evil\n") && !runs("strategy", "ort\n") && !runs("strategy", ""));
        assert!(runs("opts", "[options]\n\tstrategy = foo/evil\n") && !runs("opts", "[options]\n\tstrategy = ours\n"));
    }

    #[test]
    fn a_setting_that_starts_a_program_or_reads_another_file_is_not_harmless() {
        for config in [
            "x",
            "[core]\n\tfsmonitor = ./a.sh\n",
            "[core]\nhooksPath = hooks\n",
            "[include]\npath = ../a\n",
            "[core]\nbare = false\\\n\thookspath = a\n",
            "[core] fsmonitor = a\n",
            "[core]\nbare = false # a\n",
            "[remote \"o\"]\nurl = ext::sh -c a\n",
            "[remote \"o\"]\nurl = --upload-pack=a\n",
            "[remote \"o\"]\nuploadpack = a\n",
            "[filter \"a\"]\nsmudge = a\n",
            "[core \"x\"] \n[alias]\na = !b\n",
        ] {
            assert!(!harmless(".git/config", config.as_bytes()), "{config}");
        }
        assert!(!harmless("w/.git", b"gitdir: ../evil\n"));
        assert!(!harmless("w/.git", b"gitdir: ../.git/worktrees/../../evil\n"));
        assert!(!harmless("w/.git", b"gitdir: ../link/.git/worktrees/a\n"));
        assert!(!harmless("w/.git", b"gitdir: /tmp/.git/worktrees/a\n"));
        assert!(!harmless(".git/commondir", b"../..\n"));
        assert!(!harmless(".git/hooks/pre-commit", b""));
    }
}
