//! Reads file changes from the texts in which other agents write them.
//!
//! These are patches, SEARCH/REPLACE blocks and unified diffs.
//!
//! Each hunk becomes an old and a new text of whole lines. Line numbers and headings of hunks are not needed: the old text
//! has to occur once, as in every edit. The module also reads new, removed and renamed files. It does not read a text
//! that contains more, such as the mode of a file.

mod unified_diff;

/// What is to become of one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FilePatch {
    /// The file, where the text names one.
    pub(super) path: Option<String>,
    /// Old and new texts.
    pub(super) edits: Vec<(String, String)>,
    /// The content of a new file.
    pub(super) content: Option<String>,
    /// Its new name.
    pub(super) move_to: Option<String>,
    /// Whether it is removed.
    pub(super) is_removed: bool,
}

impl FilePatch {
    fn of(path: &str) -> Self {
        Self { path: Some(path.to_owned()), ..Self::default() }
    }

    /// Whether its text is edited, and nothing else.
    pub(super) fn only_edits(&self) -> bool {
        self.content.is_none() && self.move_to.is_none() && !self.is_removed
    }

    /// Whether it says one thing, and all of it.
    fn is_whole(&self) -> bool {
        let are_edits = self.edits.iter().all(|(old, new)| !old.is_empty() && old != new);
        let does_something = !self.edits.is_empty() || !self.only_edits();
        are_edits && does_something && (self.content.is_none() || self.edits.is_empty())
    }
}

/// Returns whether a text looks like one of these.
pub(super) fn looks_like_patch(text: &str) -> bool {
    let text = out_of_fence(text);
    text.starts_with("*** Begin Patch")
        || text.lines().any(|line| is_marker(line, &SEARCH)) && text.lines().any(|line| is_marker(line, &REPLACE))
        || (text.starts_with("--- ") || text.starts_with("diff --git ")) && text.contains("\n@@")
}

/// Reads the changes; nothing where the text says more than a call can, or has no single reading.
pub(super) fn read(text: &str) -> Option<Vec<FilePatch>> {
    let text = out_of_fence(text).replace("\r\n", "\n");
    let files = if text.starts_with("*** Begin Patch") {
        of_patch(&text)?
    } else if text.lines().any(|line| is_marker(line, &SEARCH)) {
        of_blocks(&text)?
    } else {
        unified_diff::read(&text)?
    };
    (!files.is_empty() && files.iter().all(FilePatch::is_whole)).then_some(files)
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

/// Reads `*** Begin Patch`: its sections update, add, remove and rename files.
fn of_patch(text: &str) -> Option<Vec<FilePatch>> {
    let mut files: Vec<FilePatch> = Vec::new();
    let mut hunk = Hunk::default();
    let mut lines = text.lines().skip(1).peekable();
    while let Some(line) = lines.next() {
        if let Some(path) = line.strip_prefix("*** Update File: ") {
            hunk.end(&mut files)?;
            begin(&mut files, path.trim());
            if let Some(to) = lines.peek().and_then(|line| line.strip_prefix("*** Move to: ")) {
                files.last_mut()?.move_to = Some(to.trim().to_owned());
                lines.next();
            }
        } else if let Some(path) = line.strip_prefix("*** Add File: ") {
            hunk.end(&mut files)?;
            files.push(FilePatch { content: Some(String::new()), ..FilePatch::of(path.trim()) });
        } else if let Some(path) = line.strip_prefix("*** Delete File: ") {
            hunk.end(&mut files)?;
            files.push(FilePatch { is_removed: true, ..FilePatch::of(path.trim()) });
        } else if line.trim_end() == "*** End Patch" {
            break;
        } else if line.trim_end() == "*** End of File" {
        } else if line.starts_with("*** ") {
            return None;
        } else if !line.is_empty() || lines.peek().is_some_and(|next| !next.is_empty() && !next.starts_with("*** ")) {
            add_line(&mut files, &mut hunk, line)?;
        }
    }
    hunk.end(&mut files)?;
    Some(files)
}

/// Adds a line to the section that it is in.
fn add_line(files: &mut [FilePatch], hunk: &mut Hunk, line: &str) -> Option<()> {
    match files.last_mut()? {
        FilePatch { is_removed: true, .. } => None,
        FilePatch { content: Some(content), .. } => {
            content.push_str(line.strip_prefix('+')?);
            content.push('\n');
            Some(())
        }
        _ if line.starts_with("@@") => hunk.end(files),
        _ => hunk.add(line),
    }
}

/// Goes on with the edits of a file, in the entry that it has already.
fn begin(files: &mut Vec<FilePatch>, path: &str) {
    let known = files.iter().position(|file| file.path.as_deref() == Some(path) && file.only_edits());
    let file = known.map(|at| files.remove(at));
    files.push(file.unwrap_or_else(|| FilePatch::of(path)));
}

/// The lines of a hunk as far as they were read.
#[derive(Default)]
struct Hunk {
    old: String,
    new: String,
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
    fn end(&mut self, files: &mut [FilePatch]) -> Option<()> {
        let Hunk { old, new } = std::mem::take(self);
        if !old.is_empty() || !new.is_empty() {
            files.last_mut()?.edits.push((old, new));
        }
        Some(())
    }
}

/// Reads SEARCH/REPLACE blocks; a line before a block may name its file.
fn of_blocks(text: &str) -> Option<Vec<FilePatch>> {
    let mut files: Vec<FilePatch> = Vec::new();
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
            None => {
                files.push(FilePatch { path: path.map(str::to_owned), edits: vec![(old, new)], ..FilePatch::default() })
            }
        }
    }
    files.iter_mut().for_each(created_by_block);
    Some(files)
}

/// Reads one block without an old text as a new file.
fn created_by_block(file: &mut FilePatch) {
    if let [(old, new)] = &mut file.edits[..]
        && old.is_empty()
    {
        file.content = Some(std::mem::take(new));
        file.edits.clear();
    }
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

    fn new(path: &str, content: &str) -> FilePatch {
        FilePatch { content: Some(content.to_owned()), ..FilePatch::of(path) }
    }

    fn gone(path: &str, old: &[&str]) -> FilePatch {
        let edits = old.iter().map(|old| ((*old).to_owned(), String::new())).collect();
        FilePatch { is_removed: true, edits, ..FilePatch::of(path) }
    }

    fn moved(path: &str, to: &str, edits: &[(&str, &str)]) -> FilePatch {
        let edits = edits.iter().map(|(old, new)| ((*old).to_owned(), (*new).to_owned())).collect();
        FilePatch { move_to: Some(to.to_owned()), edits, ..FilePatch::of(path) }
    }

    #[test]
    fn sections_of_a_patch_are_read_in_any_mix() {
        let patch = |sections: &str| read(&format!("*** Begin Patch\n{sections}\n*** End Patch"));
        assert_eq!(
            patch(
                "*** Add File: a\n+x\n+\n+y\n\n*** Update File: b\n*** Move to: c\n@@ f\n-p\n+q\n*** Delete File: d\n\
                 *** Update File: e\n*** Move to: f\n*** Add File: g"
            ),
            Some(vec![
                new("a", "x\n\ny\n"),
                moved("b", "c", &[("p\n", "q\n")]),
                gone("d", &[]),
                moved("e", "f", &[]),
                new("g", "")
            ])
        );
        for section in [
            "*** Update File: a\n@@\n+x",
            "*** Update File: a",
            "*** Add File: a\n+x\n\n+y",
            "*** Add File: a\nx",
            "*** Delete File: a\n-x",
            "*** Copy File: a",
            "-x\n+y",
        ] {
            assert_eq!(patch(section), None, "{section}");
        }
    }

    #[test]
    fn a_diff_of_git_may_add_remove_and_rename_files() {
        for (diff, expected) in [
            ("--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+x\n+y", new("x", "x\ny\n")),
            ("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file", new("x", "x")),
            ("--- a/x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n", gone("x", &["x\ny\n"])),
            (
                "diff --git a/x b/x\ndeleted file mode 100755\nindex 1..0\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file",
                gone("x", &["x"]),
            ),
            (
                "diff --git a/x b/y\nsimilarity index 50%\nrename from x\nrename to y\nindex 1..2 100644\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-x\n+y",
                moved("x", "y", &[("x\n", "y\n")]),
            ),
        ] {
            assert_eq!(read(diff), Some(vec![expected]), "{diff}");
        }
        let several = "diff --git a/o b/p\nsimilarity index 100%\nrename from o\nrename to p\ndiff --git a/n b/n\n\
                       new file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\n\
                       diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n";
        let edit = FilePatch { edits: vec![("x\n".into(), "y\n".into())], ..FilePatch::of("x") };
        assert_eq!(read(several), Some(vec![moved("o", "p", &[]), new("n", "n\n"), edit]));
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
            "<<<<<<< SEARCH\n=======\nb\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nb\n=======\nc\n>>>>>>> REPLACE",
        ] {
            check(broken, &[]);
        }
        let without_old = "a.rs\n<<<<<<< SEARCH\n=======\nb\n>>>>>>> REPLACE";
        assert_eq!(read(without_old), Some(vec![new("a.rs", "b\n")]));
    }

    #[test]
    fn a_unified_diff_is_read_without_its_line_numbers() {
        check(
            "diff --git a/x.rs b/x.rs\nindex 1..2 100644\n--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +1,2 @@ fn a\n x\n-y\n+z\n@@ -9 +9 @@\n-p\n+q\n",
            &[(Some("x.rs"), &[("x\ny\n", "x\nz\n"), ("p\n", "q\n")])],
        );
        for more in [
            "diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x",
            "diff --git a/x b/x\nnew file mode 100644\nindex 0..1\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-x\n+y",
            "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y",
            "--- a/x\n+++ b/y\n@@ -1 +1 @@\n-x\n+y",
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n\\ No newline at end of file",
        ] {
            check(more, &[]);
        }
    }
}
