//! Reads unified diffs, also those of git that add, remove or rename files.

use super::{FilePatch, Hunk, begin};

/// The path of a side that does not exist.
const NOTHING: &str = "/dev/null";
/// Modes of ordinary files; a patch with another mode says more than a call can.
const ORDINARY: [&str; 3] = ["100644", "100664", "644"];

/// Reads the changes of files.
pub(super) fn read(text: &str) -> Option<Vec<FilePatch>> {
    let mut diff = UnifiedDiff::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let next = lines.peek().filter(|next| next.starts_with("+++ ")).copied();
        match (line.strip_prefix("--- "), next) {
            (Some(old), Some(new)) => {
                lines.next();
                diff.begin_file(path_in_diff(old)?, path_in_diff(new.strip_prefix("+++ ")?)?)?;
            }
            _ => diff.take(line)?,
        }
    }
    diff.end_hunk()?;
    // A header that nothing followed, as that of an empty new file, is not dropped.
    (diff.is_complete() && diff.renamed_from.is_none()).then_some(diff.files)
}

/// What was read so far.
#[derive(Default)]
struct UnifiedDiff<'t> {
    files: Vec<FilePatch>,
    hunk: Hunk,
    is_in_hunk: bool,
    /// What git's header says that happens to the file.
    announced: Option<DiffHeaderChange>,
    renamed_from: Option<&'t str>,
}

/// The change of a whole file that the header of a git diff announces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DiffHeaderChange {
    New,
    Deleted,
    Renamed,
}

impl<'t> UnifiedDiff<'t> {
    /// Whether everything that a header announced has come. A rename needs no more than its header.
    fn is_complete(&self) -> bool {
        self.announced.is_none_or(|announced| announced == DiffHeaderChange::Renamed)
    }

    fn begin_file(&mut self, old: &str, new: &str) -> Option<()> {
        self.end_hunk()?;
        match (old, new, self.announced.take()) {
            (NOTHING, NOTHING, _) => return None,
            (NOTHING, new, None | Some(DiffHeaderChange::New)) => {
                self.files.push(FilePatch { content: Some(String::new()), ..FilePatch::of(new) });
            }
            (old, NOTHING, None | Some(DiffHeaderChange::Deleted)) => {
                self.files.push(FilePatch { is_removed: true, ..FilePatch::of(old) });
            }
            (old, new, Some(DiffHeaderChange::Renamed)) => {
                let file = self.files.last()?;
                let is_same = file.path.as_deref() == Some(old) && file.move_to.as_deref() == Some(new);
                return is_same.then_some(());
            }
            (old, new, None) if old == new => begin(&mut self.files, new),
            _ => return None,
        }
        Some(())
    }

    fn take(&mut self, line: &'t str) -> Option<()> {
        if line.starts_with("@@") {
            self.end_hunk()?;
            self.is_in_hunk = true;
            return Some(());
        }
        if self.is_in_hunk && line.starts_with('\\') {
            return self.without_newline();
        }
        if self.is_in_hunk && !line.starts_with("diff ") {
            return self.hunk.add(line);
        }
        self.end_hunk()?;
        self.header(line)
    }

    /// Reads a line of git's header.
    fn header(&mut self, line: &'t str) -> Option<()> {
        let ordinary = |mode: &str| ORDINARY.contains(&mode.trim()).then_some(());
        if let Some(mode) = line.strip_prefix("new file mode ") {
            self.announced = Some(DiffHeaderChange::New);
            ordinary(mode)
        } else if line.starts_with("deleted file mode ") {
            self.announced = Some(DiffHeaderChange::Deleted);
            Some(())
        } else if let Some(from) = line.strip_prefix("rename from ") {
            self.renamed_from = Some(from.trim());
            Some(())
        } else if let Some(to) = line.strip_prefix("rename to ") {
            let from = self.renamed_from.take()?;
            self.announced = Some(DiffHeaderChange::Renamed);
            self.files.push(FilePatch { move_to: Some(to.trim().to_owned()), ..FilePatch::of(from) });
            Some(())
        } else if line.starts_with("diff ") {
            let is_complete = self.is_complete();
            self.announced = None;
            is_complete.then_some(())
        } else {
            let is_known = line.trim().is_empty()
                || ["index ", "mode ", "similarity index "].iter().any(|known| line.starts_with(known));
            is_known.then_some(())
        }
    }

    /// Takes the line end from the last line of a whole file. An edit of the end of a file is found by its text.
    fn without_newline(&mut self) -> Option<()> {
        let is_whole = self.files.last().is_some_and(|file| file.content.is_some() || file.is_removed);
        let text = if self.hunk.new.is_empty() { &mut self.hunk.old } else { &mut self.hunk.new };
        (is_whole && text.pop() == Some('\n')).then_some(())
    }

    /// Puts the hunk to the last file: it is an edit, or all of a new or removed one.
    fn end_hunk(&mut self) -> Option<()> {
        self.is_in_hunk = false;
        match self.files.last_mut() {
            Some(FilePatch { content: Some(content), .. }) => {
                let Hunk { old, new } = std::mem::take(&mut self.hunk);
                content.push_str(&new);
                old.is_empty().then_some(())
            }
            Some(FilePatch { is_removed: true, .. }) if !self.hunk.new.is_empty() => None,
            _ => self.hunk.end(&mut self.files),
        }
    }
}

fn path_in_diff(path: &str) -> Option<&str> {
    let path = path.split('\t').next().unwrap_or(path).trim();
    let path = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
    (!path.is_empty()).then_some(path)
}
