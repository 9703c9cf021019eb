//! Parses what git prints about its objects: lists of changes, references, trees and contents.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use haft_contract::doors::door::{FileKind, SecretFile, StagedEntries};
use haft_contract::files::guarded::{refused_from_commands, secret_kind};

use super::SecretVersion;

/// The output of `git log -c --raw -z`, read as it arrives: modes and objects, then the path.
#[derive(Debug, Default)]
pub(super) struct GitLogListing {
    held: Vec<u8>,
    objects: Vec<String>,
    versions: Vec<SecretVersion>,
    protected: BTreeSet<String>,
}

impl GitLogListing {
    pub(super) fn take(&mut self, piece: &[u8]) {
        for part in piece.split_inclusive(|byte| *byte == 0) {
            self.held.extend_from_slice(part);
            if self.held.last() == Some(&0) {
                self.held.pop();
                let field = std::mem::take(&mut self.held);
                self.field(&String::from_utf8_lossy(&field));
            }
        }
    }

    fn field(&mut self, field: &str) {
        let objects = std::mem::take(&mut self.objects);
        if objects.is_empty() {
            let field = field.trim_start_matches('\n');
            // One colon for each parent, then that many modes and one more, and as many objects, the new one last.
            let record = field.trim_start_matches(':');
            let sides = field.len() - record.len() + 1;
            if sides > 1 {
                self.objects = record.split(' ').skip(sides).take(sides).map(str::to_owned).collect();
            }
            return;
        }
        let is_object = |object: &String| !object.bytes().all(|digit| digit == b'0');
        if objects.last().is_some_and(is_object) && refused_from_commands(Path::new(field), FileKind::File).is_some() {
            self.protected.insert(field.to_owned());
        }
        if secret_kind(Path::new(field)).is_some() {
            let known = objects.into_iter().rev().filter(is_object);
            self.versions.extend(known.map(|object| (object, field.to_owned())));
        }
    }

    /// Returns the versions of secret files, and the protected names that were added or changed.
    pub(super) fn end(mut self) -> (Vec<SecretVersion>, BTreeSet<String>) {
        // The newest come first, and are the ones that are read where there are too many.
        let mut seen = HashSet::new();
        self.versions.retain(|(object, _)| seen.insert(object.clone()));
        (self.versions, self.protected)
    }
}

/// What `git for-each-ref` lists.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Refs {
    /// Everything that a reference names.
    pub(super) tips: Vec<String>,
    /// Trees that a tag names.
    pub(super) trees: Vec<String>,
    /// Files that a tag names, each under a name by which it is read as a secret.
    pub(super) blobs: Vec<SecretVersion>,
    /// References that put a tree or a file in the place of another one, with what they name.
    pub(super) replaced: BTreeSet<String>,
}

impl Refs {
    pub(super) fn of(text: &[u8]) -> Self {
        let mut refs = Self::default();
        for line in String::from_utf8_lossy(text).lines() {
            let fields: Vec<&str> = line.splitn(4, ' ').collect();
            let [kind, tagged, object, name] = fields[..] else { continue };
            // A commit in the place of another one is listed with the commits.
            if name.starts_with("refs/replace/") && matches!(kind, "tree" | "blob") {
                refs.replaced.insert(format!("{name} {object}"));
            }
            match if tagged.is_empty() { kind } else { tagged } {
                "tree" => refs.trees.push(object.to_owned()),
                // What the tag names, not the tag.
                "blob" => refs.blobs.push((format!("{object}^{{}}"), format!("{name}/.env"))),
                _ => refs.tips.push(object.to_owned()),
            }
        }
        refs
    }
}

/// Returns the files whose names mean something in what `git ls-tree -r -z` lists.
pub(super) fn tree_files(text: &[u8]) -> StagedEntries {
    // A mode, the kind and the name of the content.
    entries_of(text, 2)
}

/// Returns the files whose names mean something in what `git ls-files -s -z` lists.
pub(super) fn staged_by_git(text: &[u8]) -> StagedEntries {
    // A mode, the name of the content and a stage.
    entries_of(text, 1)
}

/// Reads entries whose first field is a mode, and which have the name of the content in another one.
fn entries_of(text: &[u8], object_at: usize) -> StagedEntries {
    let text = String::from_utf8_lossy(text);
    let mut staged = StagedEntries::default();
    for (facts, path) in text.split('\0').filter_map(|entry| entry.split_once('\t')) {
        let field = |at: usize| facts.split(' ').nth(at).unwrap_or_default().to_owned();
        // The mode as an index writes it.
        let mode = || format!("{:08x}", u32::from_str_radix(&field(0), 8).unwrap_or_default());
        staged.note(&|| (mode(), field(object_at)), Path::new(path));
    }
    staged
}

/// Parts what `git cat-file --batch` printed into the files.
pub(super) fn parted(content: &[u8], versions: &[SecretVersion]) -> Vec<SecretFile> {
    let mut files = Vec::new();
    let mut rest = content;
    for (_, path) in versions {
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else { break };
        let head = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = &rest[end + 1..];
        let mut words = head.split(' ').skip(1);
        let (kind, size) = (words.next(), words.next().and_then(|size| size.parse::<usize>().ok()));
        let Some(size) = size else { continue };
        let text = &rest[..size.min(rest.len())];
        if kind == Some("blob") {
            files.push(SecretFile::of(path.clone(), text));
        }
        rest = rest.get(size + 1..).unwrap_or_default();
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protected_names_that_commits_add_or_change_are_found_and_those_that_they_remove_are_not() {
        let (a, b, none) = ("a".repeat(40), "b".repeat(40), "0".repeat(40));
        let raw = format!(
            ":000000 100755 {none} {a} A\0.husky/post-checkout\0:100644 000000 {b} {none} D\0.husky/pre-push\0\
             :100644 100644 {a} {b} M\0src/main.rs\0:100644 100644 {a} {b} M\0.vscode/tasks.json\0"
        );
        let mut listed = GitLogListing::default();
        listed.take(raw.as_bytes());
        assert_eq!(Vec::from_iter(listed.end().1), [".husky/post-checkout", ".vscode/tasks.json"]);
    }

    #[test]
    fn what_git_prints_is_read_in_pieces() {
        let (a, b, c, none) = ("a".repeat(40), "b".repeat(40), "c".repeat(40), "0".repeat(40));
        let raw = format!(
            ":000000 100644 {none} {a} A\0.env\0\n:100644 100644 {a} {b} M\0.env\0:000000 100644 {none} {b} A\0x.rs\0\
             ::100644 100644 100644 {a} {b} {c} MM\0deep/.env\0"
        );
        let mut listed = GitLogListing::default();
        raw.as_bytes().chunks(7).for_each(|piece| listed.take(piece));
        let (versions, _) = listed.end();
        let version = |object: &String, path: &str| (object.clone(), path.to_owned());
        assert_eq!(versions, [version(&a, ".env"), version(&b, ".env"), version(&c, "deep/.env")]);
        let content = format!("{a} blob 4\nA=1\n\n{b} missing\n");
        let files = parted(content.as_bytes(), &versions);
        assert_eq!(files, [SecretFile::of(".env".into(), b"A=1\n")]);
    }

    #[test]
    fn tags_on_trees_and_files_are_told_from_those_on_commits() {
        let (a, b, c, d) = ("a".repeat(40), "b".repeat(40), "c".repeat(40), "d".repeat(40));
        let text = format!(
            "commit  {a} refs/heads/main\ntag commit {b} refs/tags/v1\ntree  {c} refs/tags/t\nblob  {d} refs/tags/key\n"
        );
        let refs = Refs::of(text.as_bytes());
        assert_eq!((refs.tips, refs.trees), (vec![a, b], vec![c.clone()]));
        assert_eq!(refs.blobs, [(format!("{d}^{{}}"), "refs/tags/key/.env".to_owned())]);
        let tree = format!("100644 blob {d}\tdeep/.env\0100644 blob {c}\tmain.rs\0");
        assert_eq!(tree_files(tree.as_bytes()).secrets, [(d, "deep/.env".to_owned())]);
    }
}
