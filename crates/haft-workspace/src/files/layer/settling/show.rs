//! Shows what a command changed, without committing anything.

use std::io::Read;
use std::os::unix::ffi::OsStrExt;

use haft_contract::doors::process::CommitReport;
use haft_contract::effect::Change;
use haft_contract::files::change_summary::Importance;
use haft_contract::files::path::Extent;
use haft_contract::outcome::error::ToolError;
use haft_contract::text::diff::Diff;
use haft_contract::text::encoding::decode;
use rustix::fs::OFlags;

use super::report;
use super::settle::{OpenRoot, Settling, changes, folders, settlement};
use crate::files::layer::AsFd;
use crate::files::layer::difference::{Comes, LayerChange};
use crate::files::read::open::open_beneath;

/// Most files whose difference is shown.
const MOST_FILES: usize = 50;
/// Most bytes of text, old and new, whose difference is shown.
const MOST_BYTES: usize = 200_000;
/// How many unchanged lines are shown around a change.
const CONTEXT: usize = 3;

impl Settling<'_> {
    /// Returns what would come in.
    pub(in crate::files::layer) fn show(&self) -> Result<CommitReport, ToolError> {
        let judged = self.judged()?;
        let mut settled = CommitReport::default();
        let (mut files, mut bytes) = (MOST_FILES, MOST_BYTES);
        for (found, change) in changes(&judged) {
            let target = self.target(&found.spot, Extent::Entry);
            let texts = if files == 0 { None } else { self.roots[found.spot.root].texts(found, bytes) };
            let diff = texts.map(|(old, new)| {
                files -= 1;
                bytes -= (old.len() + new.len()).min(bytes);
                Diff::between(&old, &new, CONTEXT)
            });
            settled.changes.push(settlement(target, (found, change), diff));
        }
        for spot in &judged.trees {
            settled.changes.push(self.shown_tree(spot));
        }
        let folder = |(found, change): (&LayerChange, Change)| (self.target(&found.spot, Extent::Entry), change);
        settled.folders.extend(folders(&judged).into_iter().map(folder));
        settled.changes.sort_by_cached_key(|change| Importance::of(&change.into()));
        settled.notes = report::of_judged(self, &judged, &[]);
        settled.undeclared = report::undeclared(self, &judged);
        Ok(settled)
    }
}

impl OpenRoot {
    /// Returns the old and the new text of a file, where both are text and fit into so many bytes.
    fn texts(&self, found: &LayerChange, most: usize) -> Option<(String, String)> {
        let was_file = found.below.is_some_and(|below| below.kind == haft_contract::doors::door::FileKind::File);
        let (has_old, has_new) = match &found.comes {
            Comes::File(_) => (was_file, true),
            Comes::Nothing => (was_file, false),
            Comes::Link | Comes::Folder { .. } | Comes::Mode(_) => return None,
        };
        if !has_old && !has_new {
            return None;
        }
        let old = if has_old { self.old_text(found, most)? } else { String::new() };
        let new = if has_new { text_of(self.open_layered(found.source()).ok()?, most)? } else { String::new() };
        (old.len() + new.len() <= most).then_some((old, new))
    }

    fn old_text(&self, found: &LayerChange, most: usize) -> Option<String> {
        let path = found.spot.path.as_os_str().as_bytes();
        let opened = open_beneath(self.folder.as_fd(), path, OFlags::RDONLY | OFlags::NOFOLLOW).ok()?;
        text_of(opened.into(), most)
    }
}

fn text_of(file: std::fs::File, most: usize) -> Option<String> {
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() > most {
        return None;
    }
    decode(&bytes).ok().map(|decoded| decoded.text.into_owned())
}
