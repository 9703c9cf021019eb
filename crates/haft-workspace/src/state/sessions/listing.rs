//! Lists sessions without reading them: the first and the last record of each say enough.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{SessionId, SessionLogEntry, Tally, id_in};
use crate::state::journal::frame;
use crate::state::own_files::private;

/// Most names that are looked at.
const MOST_NAMES: usize = 10_000;

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    /// Its name.
    pub id: SessionId,
    /// When it was begun, in milliseconds since 1970; when its file was last changed where the record of it is lost.
    pub began_ms: u64,
    /// When the last record was written.
    pub last_ms: u64,
    /// How it began; nothing where the record of it is lost.
    pub words: Option<String>,
    /// The name that a person gave it.
    pub name: Option<String>,
    /// How far it is.
    pub tally: Tally,
}

/// Lists all sessions in a folder, those that were used last first.
pub(super) fn list(folder: &Path) -> io::Result<Vec<SessionSummary>> {
    let mut listed = Vec::new();
    let mut refused = None;
    match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        entries => {
            for path in entries?.take(MOST_NAMES).filter_map(|entry| Some(entry.ok()?.path())) {
                match look(&path) {
                    Ok(found) => listed.extend(found),
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => refused = Some(error),
                    // What cannot be read is none that could be taken up.
                    Err(_) => {}
                }
            }
        }
    }
    // An empty list must not stand for sessions that are there and that another user could have written.
    if let Some(error) = refused.filter(|_| listed.is_empty()) {
        return Err(error);
    }
    listed.sort_by(|a, b| (b.last_ms, &b.id).cmp(&(a.last_ms, &a.id)));
    Ok(listed)
}

/// Returns the files of sessions, those that were changed longest ago first.
pub(super) fn names_by_age(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| id_in(path).is_some());
    let aged = paths.filter_map(|path| Some((path.symlink_metadata().ok()?.modified().ok()?, path)));
    let mut aged: Vec<_> = aged.collect();
    aged.sort_unstable();
    aged.into_iter().map(|(_, path)| path).collect()
}

/// Returns when the session in a file was begun.
pub(super) fn began_ms(path: &Path) -> Option<u64> {
    let file = private::read_file(path).ok()?;
    let (_, body) = frame::frame_at(&file, 0, file.metadata().ok()?.len()).ok()??;
    serde_json::from_slice::<SessionLogEntry>(&body).ok().map(|first| first.at_ms)
}

fn look(path: &Path) -> io::Result<Option<SessionSummary>> {
    let Some(id) = id_in(path) else { return Ok(None) };
    let file = private::read_file(path)?;
    let facts = file.metadata()?;
    let (length, changed_ms) = (facts.len(), u64::try_from(facts.mtime()).unwrap_or(0).saturating_mul(1_000));
    let entry = |body: Vec<u8>| serde_json::from_slice::<SessionLogEntry>(&body).ok();
    let first = frame::frame_at(&file, 0, length)?.and_then(|(_, body)| entry(body));
    let mut last = frame::last(&file, length)?.and_then(|(_, body)| entry(body));
    if last.is_none() {
        // The end is torn, or a process is writing now: haft must search for the last whole record.
        frame::scan(&file, length, &mut |_, body| {
            last = entry(body).or(last.take());
            Ok(())
        })?;
    }
    Ok(Some(SessionSummary {
        id,
        began_ms: first.as_ref().map_or(changed_ms, |first| first.at_ms),
        last_ms: last.as_ref().map_or(changed_ms, |last| last.at_ms),
        words: first.and_then(|first| first.words),
        name: last.as_ref().and_then(|last| last.name.clone()),
        tally: last.map_or(Tally::default(), |last| last.tally),
    }))
}
