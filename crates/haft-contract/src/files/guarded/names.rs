//! The tables of protected and of secret names, which are data.
//!
//! They are `protected_names.txt`, `secret_names.txt`, `ambiguous_secret_names.txt` and `secret_sources.txt`.
//!
//! Rules, doors, the overlay and the guard ask these tables, so a name that is added here counts everywhere.
//!
//! Not here: comparing a path with a name (`guarded`), and which names commands may change all the same (`commands`).

use super::SecretKind;

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtectedName {
    /// Parts of a path; `**` at the end means the folder and everything below, `*` any letters in a part.
    pub pattern: &'static str,
    /// Why it is protected, for people and models.
    pub why: &'static str,
    /// Which program follows it, and what that does.
    pub followed_by: &'static str,
}

/// Returns the rows of the table.
pub fn protected_names() -> impl Iterator<Item = ProtectedName> {
    let rows = rows(include_str!("protected_names.txt"));
    rows.map(|(why, pattern, followed_by)| ProtectedName { pattern, why, followed_by })
}

/// A name that says that a file holds secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretName {
    /// Parts of a path, as in `ProtectedName`.
    pub pattern: &'static str,
    /// Why it is secret.
    pub why: &'static str,
    /// What such a file holds.
    pub holds: &'static str,
    /// How it holds secrets.
    pub kind: SecretKind,
    /// Whether files of this name are ordinary in folders of tests, samples and translations.
    pub is_ambiguous: bool,
}

/// Returns the names of files that hold secrets.
pub fn secret_names() -> impl Iterator<Item = SecretName> {
    let data = rows(include_str!("secret_names.txt")).map(|row| (row, SecretKind::Data, false));
    let ambiguous = rows(include_str!("ambiguous_secret_names.txt")).map(|row| (row, SecretKind::Data, true));
    let sources = rows(include_str!("secret_sources.txt")).map(|row| (row, SecretKind::Source, false));
    let all = data.chain(ambiguous).chain(sources);
    all.map(|((why, pattern, holds), kind, is_ambiguous)| SecretName { pattern, why, holds, kind, is_ambiguous })
}

/// Returns the rows of a text: the reason that stands above, the pattern, and what is said of it.
fn rows(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let rows = lines.scan("", |why, line| {
        let Some(row) = line.strip_prefix("  ") else {
            *why = line;
            return Some(None);
        };
        let (pattern, said) = row.split_once(' ').unwrap_or((row, ""));
        Some(Some((*why, pattern, said.trim())))
    });
    rows.flatten()
}

impl ProtectedName {
    /// Returns a path that fits the name, for tests and examples.
    pub fn example(&self) -> String {
        self.pattern.replace("/**", "/some/file").replace('*', "-some")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Path;

    use super::super::{protected, refused_from_commands, secret_kind};
    use super::*;
    use crate::doors::door::FileKind;

    /// Rows in which version control keeps data that commands may change.
    const WITH_DATA: [&str; 5] = [".git/**", "git~1/**", ".hg/**", ".svn/**", ".jj/**"];

    #[test]
    fn every_row_has_a_reason_and_says_who_follows_it() {
        let mut patterns = HashSet::new();
        for name in protected_names() {
            assert!(name.why.contains(' ') && name.followed_by.contains(' '), "{name:?}");
            assert!(patterns.insert(name.pattern), "{} has two rows", name.pattern);
            assert_eq!(name.pattern, name.pattern.to_lowercase(), "names are compared in lower case");
            let stars = |part: &str| part != "**" && part.matches('*').count() > 1;
            assert!(!name.pattern.split('/').any(stars), "{}: a part has one star at most", name.pattern);
        }
        assert!(patterns.len() > 200);
    }

    #[test]
    fn every_secret_name_has_a_reason_says_what_it_holds_and_is_found_at_any_depth_in_any_case() {
        let mut patterns = HashSet::new();
        for name in secret_names() {
            assert!(!name.why.is_empty() && name.holds.contains(' '), "{name:?}");
            assert!(patterns.insert(name.pattern), "{} has two rows", name.pattern);
            assert_eq!(name.pattern, name.pattern.to_lowercase(), "names are compared in lower case");
            let example = name.pattern.replace("/**", "/some/file").replace('*', "some");
            for form in [example.clone(), example.to_uppercase(), format!("a/b/{example}")] {
                assert_eq!(secret_kind(Path::new(&form)), Some(name.kind), "{form}");
            }
            let beside = example.split('/').map(|part| format!("x{part}x")).collect::<Vec<_>>().join("/");
            assert_eq!(secret_kind(Path::new(&beside)), None, "{beside}");
        }
        assert!(patterns.len() > 150);
    }

    #[test]
    fn every_row_is_protected_at_any_depth_in_any_case_from_tools_and_commands() {
        for name in protected_names() {
            let example = name.example();
            let forms = [example.clone(), example.to_uppercase(), format!("sub/{example}"), format!("a/b/c/{example}")];
            for form in &forms {
                let path = Path::new(form);
                assert!(protected(path).is_some(), "{form}");
                let refused = refused_from_commands(path, FileKind::File).is_some();
                assert!(refused || WITH_DATA.contains(&name.pattern), "{form}");
            }
            let beside = example.split('/').map(|part| format!("x{part}x")).collect::<Vec<_>>().join("/");
            assert!(protected(Path::new(&beside)).is_none() || name.pattern.starts_with('*'), "{beside}");
        }
    }

    #[test]
    fn names_that_look_alike_are_ordinary() {
        for name in [
            "package.json",
            ".yarn/cache/a.zip",
            "yarn.lock",
            "opencode.md",
            "docs/crush.md",
            "src/mise.rs",
            "mise.lock",
            "lefthook.md",
            "nushell/commands.nu",
            "config.nu",
            ".julia/packages/a.jl",
            "vs/a.txt",
            "nvim.md",
            "run/a.txt",
            "jupyter.py",
            "amp/a.rs",
            "agents/a.md",
            "AGENTS.md",
        ] {
            assert!(protected(Path::new(name)).is_none(), "{name}");
        }
    }
}
