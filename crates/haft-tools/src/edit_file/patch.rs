//! Reads edits from the texts in which other agents write them: patches, SEARCH/REPLACE blocks and unified diffs.
//!
//! Each hunk becomes an old and a new text of whole lines. Line numbers and headings of hunks are not needed: the old text
//! has to occur once, as in every edit. What is more than an edit (a new file, a removed or renamed one) is not read.

/// The edits of one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileEdits {
    /// The file, where the text names one.
    pub(super) path: Option<String>,
    /// Old and new texts.
    pub(super) edits: Vec<(String, String)>,
}

/// Returns whether a text looks like one of these.
pub(super) fn looks_like_patch(text: &str) -> bool {
    let text = out_of_fence(text);
    text.starts_with("*** Begin Patch")
        || text.lines().any(|line| is_marker(line, &SEARCH)) && text.lines().any(|line| is_marker(line, &REPLACE))
        || (text.starts_with("--- ") || text.starts_with("diff --git ")) && text.contains("\n@@")
}

/// Reads the edits; nothing where the text says more than edits do, or has no single reading.
pub(super) fn read(text: &str) -> Option<Vec<FileEdits>> {
    let text = out_of_fence(text).replace("\r\n", "\n");
    let files = if text.starts_with("*** Begin Patch") {
        of_patch(&text)?
    } else if text.lines().any(|line| is_marker(line, &SEARCH)) {
        of_blocks(&text)?
    } else {
        of_diff(&text)?
    };
    let is_whole =
        |file: &FileEdits| !file.edits.is_empty() && file.edits.iter().all(|(old, new)| !old.is_empty() && old != new);
    (!files.is_empty() && files.iter().all(is_whole)).then_some(files)
}

const SEARCH: [(char, &str); 2] = [('<', "SEARCH"), ('-', "SEARCH")];
const DIVIDER: [(char, &str); 1] = [('=', "")];
const REPLACE: [(char, &str); 2] = [('>', "REPLACE"), ('+', "REPLACE")];

/// Whether a line is a marker: at least five of a character, and a word.
fn is_marker(line: &str, markers: &[(char, &str)]) -> bool {
    markers.iter().any(|(mark, word)| {
        let rest = line.trim_end().trim_start_matches(*mark);
        line.len() - line.trim_start_matches(*mark).len() >= 5 && rest.trim() == *word
    })
}

/// Takes a text out of the code fence that is around all of it.
fn out_of_fence(text: &str) -> &str {
    let text = text.trim_matches(['\n', '\r', ' ']);
    let inner = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    // A fence around each of several blocks is not one around all of them.
    let inner = inner.filter(|inner| !inner.contains("```")).and_then(|inner| Some(inner.split_once('\n')?.1));
    inner.unwrap_or(text).trim_matches(['\n', '\r'])
}

/// Reads `*** Begin Patch` with updates of files.
fn of_patch(text: &str) -> Option<Vec<FileEdits>> {
    let mut files: Vec<FileEdits> = Vec::new();
    let mut hunk = Hunk::default();
    for line in text.lines().skip(1) {
        if let Some(path) = line.strip_prefix("*** Update File: ") {
            hunk.end(&mut files)?;
            begin(&mut files, path.trim());
        } else if line.trim_end() == "*** End Patch" {
            break;
        } else if line.trim_end() == "*** End of File" {
        } else if line.starts_with("*** ") {
            return None;
        } else if line.starts_with("@@") {
            hunk.end(&mut files)?;
        } else {
            hunk.add(line)?;
        }
    }
    hunk.end(&mut files)?;
    Some(files)
}

/// Reads a unified diff.
fn of_diff(text: &str) -> Option<Vec<FileEdits>> {
    let mut files: Vec<FileEdits> = Vec::new();
    let mut hunk = Hunk::default();
    let mut before = None;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_header = line.starts_with("--- ") && lines.peek().is_some_and(|next| next.starts_with("+++ "));
        if is_header {
            hunk.end(&mut files)?;
            before = Some(path_in_diff(&line[4..])?);
        } else if let (Some(path), Some(before)) = (line.strip_prefix("+++ "), before.take()) {
            let path = path_in_diff(path).filter(|path| *path == before)?;
            begin(&mut files, path);
        } else if line.starts_with("@@") {
            hunk.end(&mut files)?;
            hunk.is_open = true;
        } else if hunk.is_open && !line.starts_with("diff ") {
            hunk.add(line)?;
        } else if ["diff ", "index ", "mode "].iter().any(|known| line.starts_with(known)) {
            hunk.end(&mut files)?;
        } else if !line.trim().is_empty() {
            return None;
        }
    }
    hunk.end(&mut files)?;
    Some(files)
}

fn path_in_diff(path: &str) -> Option<&str> {
    let path = path.split('\t').next().unwrap_or(path).trim();
    let path = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
    (path != "/dev/null" && !path.is_empty()).then_some(path)
}

/// Goes on with the edits of a file, in the entry that it has already.
fn begin(files: &mut Vec<FileEdits>, path: &str) {
    let known = files.iter().position(|file| file.path.as_deref() == Some(path));
    let file = known.map(|at| files.remove(at));
    files.push(file.unwrap_or_else(|| FileEdits { path: Some(path.to_owned()), edits: Vec::new() }));
}

/// The lines of a hunk as far as they were read.
#[derive(Default)]
struct Hunk {
    old: String,
    new: String,
    is_open: bool,
}

impl Hunk {
    fn add(&mut self, line: &str) -> Option<()> {
        let (mark, rest) = line.split_at_checked(1).unwrap_or((" ", ""));
        let (is_old, is_new) = match mark {
            " " => (true, true),
            "-" => (true, false),
            "+" => (false, true),
            _ => return None,
        };
        for text in [is_old.then_some(&mut self.old), is_new.then_some(&mut self.new)].into_iter().flatten() {
            text.push_str(rest);
            text.push('\n');
        }
        Some(())
    }

    /// Puts the hunk to the edits of the last file.
    fn end(&mut self, files: &mut [FileEdits]) -> Option<()> {
        let Hunk { old, new, .. } = std::mem::take(self);
        if !old.is_empty() || !new.is_empty() {
            files.last_mut()?.edits.push((old, new));
        }
        Some(())
    }
}

/// Reads SEARCH/REPLACE blocks; a line before a block may name its file.
fn of_blocks(text: &str) -> Option<Vec<FileEdits>> {
    let mut files: Vec<FileEdits> = Vec::new();
    let mut lines = text.lines();
    let mut path = None;
    while let Some(line) = lines.next() {
        if !is_marker(line, &SEARCH) {
            let words = line.trim();
            if !words.is_empty() && !words.starts_with("```") {
                // A sentence between blocks is no path.
                path = Some(words).filter(|words| !words.contains(char::is_whitespace)).or(path);
            }
            continue;
        }
        let old = block(&mut lines, &DIVIDER)?;
        let new = block(&mut lines, &REPLACE)?;
        match files.iter_mut().find(|file| file.path.as_deref() == path) {
            Some(file) => file.edits.push((old, new)),
            None => files.push(FileEdits { path: path.map(str::to_owned), edits: vec![(old, new)] }),
        }
    }
    Some(files)
}

/// Returns the lines up to a marker; nothing where another marker or the end comes first.
fn block<'t>(lines: &mut impl Iterator<Item = &'t str>, until: &[(char, &str)]) -> Option<String> {
    let mut text = String::new();
    for line in lines {
        if is_marker(line, until) {
            return Some(text);
        }
        if [&SEARCH[..], &DIVIDER, &REPLACE].iter().any(|markers| is_marker(line, markers)) {
            return None;
        }
        text.push_str(line);
        text.push('\n');
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file, and the old and new texts of its edits.
    type Expected<'a> = (Option<&'a str>, &'a [(&'a str, &'a str)]);

    fn check(text: &str, expected: &[Expected<'_>]) {
        let read = read(text).unwrap_or_default();
        let read: Vec<_> = read
            .iter()
            .map(|file| {
                (file.path.as_deref(), file.edits.iter().map(|(old, new)| (&**old, &**new)).collect::<Vec<_>>())
            })
            .collect();
        let expected: Vec<_> = expected.iter().map(|(path, edits)| (*path, edits.to_vec())).collect();
        assert_eq!(read, expected, "{text}");
        assert!(expected.is_empty() || looks_like_patch(text));
    }

    #[test]
    fn a_patch_is_read_hunk_by_hunk_and_file_by_file() {
        check(
            "*** Begin Patch\n*** Update File: a.rs\n@@ fn a\n x\n-y\n+z\n@@\n-p\n+q\n*** Update File: b.rs\n-1\n+2\n*** End Patch",
            &[(Some("a.rs"), &[("x\ny\n", "x\nz\n"), ("p\n", "q\n")]), (Some("b.rs"), &[("1\n", "2\n")])],
        );
        check(
            "```\n*** Begin Patch\n*** Update File: a\n-x\n*** End of File\n*** End Patch\n```",
            &[(Some("a"), &[("x\n", "")])],
        );
    }

    #[test]
    fn a_patch_that_does_more_than_edit_is_not_read() {
        for section in [
            "*** Add File: a\n+x",
            "*** Delete File: a",
            "*** Update File: a\n*** Move to: b\n-x\n+y",
            "*** Update File: a\n@@\n+x",
            "-x\n+y",
        ] {
            check(&format!("*** Begin Patch\n{section}\n*** End Patch"), &[]);
        }
    }

    #[test]
    fn blocks_are_read_with_the_file_that_stands_before_them() {
        let one = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE";
        check(one, &[(None, &[("a\n", "b\n")])]);
        check("------- SEARCH\na\n=======\nb\n+++++++ REPLACE", &[(None, &[("a\n", "b\n")])]);
        check(&format!("src/a.rs\n```rust\n{one}\n```"), &[(Some("src/a.rs"), &[("a\n", "b\n")])]);
        check(
            &format!("Here it is:\nx.rs\n{one}\n\n<<<<<<< SEARCH\nc\n=======\n>>>>>>> REPLACE\n"),
            &[(Some("x.rs"), &[("a\n", "b\n"), ("c\n", "")])],
        );
        for broken in [
            "<<<<<<< SEARCH\na\n=======\nb",
            "<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE",
            "<<<<<<< SEARCH\n=======\nb\n>>>>>>> REPLACE",
        ] {
            check(broken, &[]);
        }
    }

    #[test]
    fn a_unified_diff_is_read_without_its_line_numbers() {
        check(
            "diff --git a/x.rs b/x.rs\nindex 1..2 100644\n--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +1,2 @@ fn a\n x\n-y\n+z\n@@ -9 +9 @@\n-p\n+q\n",
            &[(Some("x.rs"), &[("x\ny\n", "x\nz\n"), ("p\n", "q\n")])],
        );
        for more in [
            "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x",
            "--- a/x\n+++ b/y\n@@ -1 +1 @@\n-x\n+y",
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n\\ No newline at end of file",
        ] {
            check(more, &[]);
        }
    }
}
