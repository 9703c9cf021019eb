//! Summarizes what an undo does to the inner files of git: which branch moves, and how many files follow.
//!
//! Logs, the index and commit messages tell a model nothing beyond the branch, and take many lines.

use haft_contract::doors::history::ReversedFile;
use haft_contract::files::path::one_line;
use haft_contract::plan::FileDiff;
use haft_contract::text::diff::DiffLine;

/// How many characters of a hash are shown.
const SHORT: usize = 7;
const BRANCHES: &str = ".git/refs/heads/";
const LOGS: &str = ".git/logs/refs/heads/";

/// Returns whether a path is an inner file of git.
pub(super) fn is_of_git(path: &str) -> bool {
    path.split('/').any(|part| part == ".git")
}

/// Returns what becomes of each path; inner files of git to which the same happens are one line.
pub(super) fn lines(files: &[ReversedFile]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut of_git: Vec<(&str, usize, String)> = Vec::new();
    for file in files {
        let verb = file.words.split(' ').next().unwrap_or_default();
        // An object store tells a number itself.
        let is_plain = file.words.starts_with(&format!("{verb} {}", file.target));
        if !is_of_git(&file.target.to_string()) || !is_plain {
            lines.push(file.words.clone());
        } else if let Some((_, count, _)) = of_git.iter_mut().find(|(known, ..)| *known == verb) {
            *count += 1;
        } else {
            of_git.push((verb, 1, file.words.clone()));
        }
    }
    lines.extend(of_git.into_iter().map(|(verb, count, words)| match count {
        1 => words,
        _ => format!("{verb} {count} files in .git/"),
    }));
    lines
}

/// Says for each branch that the change set moved where an undo moves it.
pub(super) fn branches(files: &[&FileDiff]) -> Vec<String> {
    let branch = |file: &&&FileDiff| {
        let name = file.path.split_once(BRANCHES)?.1;
        let (old, new) = (only(file, DiffLine::Delete), only(file, DiffLine::Insert));
        let name = one_line(name);
        let log = files.iter().find(|log| log.path.split_once(LOGS).is_some_and(|(_, of)| of == name));
        Some(match (old, new) {
            (Some(old), Some(new)) if log.is_some_and(|log| is_one_commit(log)) => {
                format!("Undo takes commit {} off {name}, back to {}.", short(&new), short(&old))
            }
            (Some(old), Some(new)) => format!("Undo moves {name} from {} back to {}.", short(&new), short(&old)),
            (None, Some(new)) => format!("Undo removes the branch {name}, which is at {}.", short(&new)),
            (Some(old), None) => format!("Undo restores the branch {name} at {}.", short(&old)),
            (None, None) => return None,
        })
    };
    files.iter().filter_map(|file| branch(&file)).collect()
}

/// Returns the one line of this sort that a difference has.
fn only(file: &FileDiff, sort: fn(String) -> DiffLine) -> Option<String> {
    let lines = file.diff.hunks.iter().flat_map(|hunk| &hunk.lines);
    let mut of_sort =
        lines.filter(|line| sort(line.text().to_owned()) == **line).map(|line| line.text().trim().to_owned());
    of_sort.next().filter(|_| of_sort.next().is_none())
}

/// Returns whether a log of a branch got one line, that of a commit.
fn is_one_commit(log: &FileDiff) -> bool {
    only(log, DiffLine::Insert).is_some_and(|line| line.contains("\tcommit"))
}

fn short(hash: &str) -> &str {
    &hash[..hash.floor_char_boundary(SHORT)]
}

#[cfg(test)]
mod tests {
    use haft_contract::effect::Change;
    use haft_contract::files::path::{Extent, FileLocation, Target};
    use haft_contract::text::diff::Diff;

    use super::*;

    fn file(path: &str, before: &str, after: &str) -> FileDiff {
        FileDiff { path: path.to_owned(), diff: Diff::between(before, after, 3), notes: Vec::new() }
    }

    #[test]
    fn a_commit_is_one_line_and_so_are_other_moves_of_a_branch() {
        let (one, two) = ("1111111aaaa\n", "2222222bbbb\n");
        let head = |before, after| file(".git/refs/heads/main", before, after);
        let log = |action: &str| file(".git/logs/refs/heads/main", "0 1 T\n", &format!("0 1 T\n1 2 T\t{action}: x\n"));
        let told = |files: &[FileDiff]| branches(&files.iter().collect::<Vec<_>>());
        assert_eq!(
            told(&[log("commit"), file(".git/COMMIT_EDITMSG", "a\n", "b\n"), head(one, two)]),
            ["Undo takes commit 2222222 off main, back to 1111111."]
        );
        assert_eq!(told(&[log("reset"), head(one, two)]), ["Undo moves main from 2222222 back to 1111111."]);
        assert_eq!(told(&[head("", two)]), ["Undo removes the branch main, which is at 2222222."]);
        assert_eq!(told(&[head(one, "")]), ["Undo restores the branch main at 1111111."]);
        assert!(told(&[file(".git/index", "a\n", "b\n")]).is_empty());
    }

    #[test]
    fn inner_files_of_git_to_which_the_same_happens_are_one_line() {
        let file = |path: &str, verb: &str, count: &str| {
            let target = Target::Inside(FileLocation::new(path, Extent::Entry));
            let words = format!("{verb} {count}{target}");
            ReversedFile { target, change: Some(Change::Replace), words, is_data: true }
        };
        let files = [
            file("a.py", "restored", ""),
            file(".git/index", "restored", ""),
            file(".git/HEAD", "restored", ""),
            file(".git/MERGE_MSG", "removed", ""),
            file(".git/objects", "kept", "9 git objects in "),
        ];
        let told = [
            "restored a.py",
            "kept 9 git objects in .git/objects",
            "restored 2 files in .git/",
            "removed .git/MERGE_MSG",
        ];
        assert_eq!(lines(&files), told);
    }
}
