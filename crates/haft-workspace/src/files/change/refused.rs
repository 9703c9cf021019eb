//! Reports the facts that a caller needs to retry a refused transaction.
//!
//! What was done and taken back has its old content, but the kernel describes it differently: it was written again, or its
//! folder was changed. Only this transaction knows that no other program changed it.

use std::io;
use std::path::{Path, PathBuf};

use haft_contract::doors::door::FileKind;
use haft_contract::files::stamp::FileStamp;
use rustix::fs::Stat;

use super::snapshot;
use super::snapshot::is_same;
use super::transaction::{FileMutation, NotDone, PreparedMutation};
use crate::files::read::facts::{kind_of, stamp_of};
use crate::files::read::open::WorkspaceRoot;
use crate::state::journal::{IntentStep, PathState};

/// The reason why a transaction was not done, with facts that help to try it again.
pub(crate) struct TransactionRefusal {
    pub(crate) cause: NotDone,
    /// Other places where the system says no.
    pub(crate) others: Vec<(PathBuf, io::Error)>,
    /// How the kernel now describes unchanged entries.
    pub(crate) as_before: Vec<(PathBuf, FileStamp)>,
}

impl From<NotDone> for TransactionRefusal {
    fn from(cause: NotDone) -> Self {
        Self { cause, others: Vec::new(), as_before: Vec::new() }
    }
}

/// The system's answers that concern one file and not all.
pub(crate) fn is_about_the_file(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::FileTooLarge | io::ErrorKind::InvalidInput)
}

/// Describes the entries that have not changed since the deeds were prepared.
pub(in crate::files) fn as_before<'a>(
    root: &WorkspaceRoot,
    deeds: impl Iterator<Item = (&'a FileMutation, &'a PreparedMutation)>,
    steps: &[IntentStep],
) -> Vec<(PathBuf, FileStamp)> {
    deeds
        .filter_map(|(deed, prepared)| Some((deed.place.clone(), stamp(root, &deed.place, (prepared, steps))?)))
        .collect()
}

fn stamp(
    root: &WorkspaceRoot,
    place: &Path,
    (PreparedMutation { step, stat }, steps): (&PreparedMutation, &[IntentStep]),
) -> Option<FileStamp> {
    let seen = stat.as_ref()?;
    let now = snapshot::glance(root, place).ok()?.stat?;
    if is_untouched(&now, seen) {
        return Some(stamp_of(&now));
    }
    let IntentStep::Change { before, .. } = &steps[(*step)?] else { return None };
    // The stamp is taken before the look: haft notices every change after it.
    let found = snapshot::look(root, place).ok()?;
    let is_back = found.state.is_same_content(before) && found.state.mode() == before.mode();
    let is_stable = found.stat.is_some_and(|found| stamp_of(&found) == stamp_of(&now));
    (is_back && is_stable && !matches!(before, PathState::Absent)).then(|| stamp_of(&now))
}

/// A folder that is the same one is untouched though things in it have come and gone.
fn is_untouched(now: &Stat, seen: &Stat) -> bool {
    let is_folder = kind_of(seen) == FileKind::Folder;
    let identity = |stat: &Stat| (stat.st_dev, stat.st_ino, stat.st_mode, stat.st_uid, stat.st_gid);
    if is_folder { identity(now) == identity(seen) } else { is_same(now, seen) }
}
