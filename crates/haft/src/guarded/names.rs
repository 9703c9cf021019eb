//! The table of protected names, which is data (`protected_names.txt`).
//!
//! Rules, doors, the overlay and the guard ask this one table, so a name that is added here is protected everywhere.
//!
//! Not here: what fits a name (`guarded`), which of them commands may change all the same (`commands`).

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
    let lines = include_str!("protected_names.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let rows = lines.scan("", |why, line| {
        let Some(row) = line.strip_prefix("  ") else {
            *why = line;
            return Some(None);
        };
        let (pattern, followed_by) = row.split_once(' ').unwrap_or((row, ""));
        Some(Some(ProtectedName { pattern, why, followed_by: followed_by.trim() }))
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

    use super::super::{protected, refused_from_commands};
    use super::*;
    use crate::door::FileKind;

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
