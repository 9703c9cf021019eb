//! Records what the file tools of another agent change, as change sets like those of haft's own tools.
//!
//! The agent announces a call before it makes it, and reports its end. Before the call haft keeps what is at each place;
//! after it haft compares, and writes one intent with its outcome into the journal. haft never writes to the files
//! themselves: agents remember the times of files that they have read, and refuse to edit a file that is newer.
//!
//! An agent may be killed before it reports the end. Then the next haft that looks closes the change set, and says that the
//! end was not seen.
//!
//! Not here: reading the agent's events, and which files a call names (`haft-host`).

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use haft_contract::doors::door::{OldChanges, Provenance};
use serde::{Deserialize, Serialize};

use super::Workspace;
use super::change::recover;
use super::change::snapshot;
use super::change::snapshot::{Keep, LARGEST_MIDDLE, PlaceSnapshot};
use super::compare::IncomingContent;
use super::read::open::WorkspaceRoot;
use crate::state::journal::{
    ChangeAuthor, ContentLocation, Intent, IntentStep, Journal, JournalSnapshot, PathState, PathText, now_ms,
};
use crate::state::own_files::private;
use crate::state::{AgentProcess, WorkspaceState};

#[cfg(test)]
mod tests;

/// The file that says what was kept. It is written last: without it, the agent has not got its answer yet.
const ABOUT: &str = "about";
/// The file that says that recording has begun: a haft that was killed may have finished it.
const RECORDING: &str = "recording";
/// An edit of an agent whose process is not known counts as ended after this time, in milliseconds.
const LONGEST: u64 = 10 * 60 * 1000;
/// What the log says of an edit whose end the agent did not report.
const NOT_SEEN: &str = "end not seen";

/// A call of an agent that is about to change files.
#[derive(Debug)]
pub struct AgentEdit<'a> {
    /// Who makes the call, and in which turn.
    pub errand: &'a Provenance,
    /// The files, by their paths from the root.
    pub places: &'a [PathBuf],
    /// The process of the agent, if it is known.
    pub agent: Option<AgentProcess>,
}

/// The turn that an agent is in: edits of its earlier turns have ended.
#[derive(Clone, Copy, Debug)]
pub struct AgentTurn<'a> {
    /// The agent's own name for its session.
    pub run: &'a str,
    /// The number of the turn.
    pub turn: u64,
}

/// The states of the places of a call before it runs, and the call that they belong to.
#[derive(Debug, Serialize, Deserialize)]
struct EditSnapshot {
    by: ChangeAuthor,
    at: u64,
    agent: Option<AgentProcess>,
    /// Each place with its state. The content of a file is in a file whose name is the number of the place.
    places: Vec<(PathText, PathState)>,
}

impl Workspace {
    /// Keeps what is at the places of a call before the agent makes it.
    pub fn begin_edit(&self, state: &WorkspaceState, edit: &AgentEdit<'_>) -> io::Result<()> {
        let folder = state.edits().join(name_of(&edit.errand.run, edit.errand.call.as_str()));
        // An agent may announce a call again; what it found first is what undo restores.
        if folder.join(ABOUT).exists() {
            return Ok(());
        }
        let _ = std::fs::remove_dir_all(&folder);
        private::create_folder(&folder)?;
        state.stake();
        let mut places: Vec<(PathText, PathState)> = Vec::new();
        for place in edit.places.iter().flat_map(|place| with_missing_folders(&self.root, place)) {
            let path = PathText::from(place.as_path());
            if places.iter().any(|(known, _)| *known == path) {
                continue;
            }
            let seen = keep_content(&self.root, &place, &folder.join(places.len().to_string()))?;
            places.push((path, seen));
        }
        let about = EditSnapshot { by: ChangeAuthor::from(edit.errand), at: now_ms(), agent: edit.agent, places };
        let unfinished = folder.join("unfinished");
        private::create_file(&unfinished)?.write_all(&serde_json::to_vec(&about)?)?;
        std::fs::rename(unfinished, folder.join(ABOUT))
    }

    /// Records what a call has changed; returns its change set, if it changed something.
    pub fn end_edit(&self, state: &WorkspaceState, errand: &Provenance) -> io::Result<Option<u64>> {
        let folder = state.edits().join(name_of(&errand.run, errand.call.as_str()));
        match read_about(&folder) {
            Some(about) => self.close(state, &folder, about),
            None => Ok(None),
        }
    }

    /// Closes the edits whose end will never be reported: their agent has ended, or it is in a later turn. Returns how many
    /// change sets that made.
    pub fn close_left_edits(&self, state: &WorkspaceState, now: Option<AgentTurn<'_>>) -> usize {
        let folders = std::fs::read_dir(state.edits()).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut left: Vec<(PathBuf, EditSnapshot)> =
            folders.filter_map(|folder| Some((folder.clone(), read_about(&folder)?))).collect();
        left.retain(|(_, about)| about.has_ended(now));
        left.sort_by_key(|(_, about)| about.at);
        let close = |(folder, mut about): (PathBuf, EditSnapshot)| {
            about.by.tool = format!("{} ({NOT_SEEN})", about.by.tool);
            about.by.description = Some(NOT_SEEN.to_owned());
            // What cannot be closed now stays for the next haft.
            self.close(state, &folder, about).ok().flatten()
        };
        left.into_iter().filter_map(close).count()
    }

    fn close(&self, state: &WorkspaceState, folder: &Path, about: EditSnapshot) -> io::Result<Option<u64>> {
        let set = record(&self.root, &state.journal(), (folder, about))?;
        std::fs::remove_dir_all(folder)?;
        Ok(set)
    }
}

impl EditSnapshot {
    fn has_ended(&self, now: Option<AgentTurn<'_>>) -> bool {
        let is_past = now.is_some_and(|now| now.run == self.by.run && now.turn != self.by.turn);
        let is_gone = match self.agent {
            Some(agent) => !agent.is_alive(),
            None => now_ms().saturating_sub(self.at) > LONGEST,
        };
        is_past || is_gone
    }
}

/// Returns the name of the folder for a call. The agent chooses the names of its calls, so they are not used as paths.
fn name_of(run: &str, call: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(run.len() as u64).to_le_bytes()).update(run.as_bytes()).update(call.as_bytes());
    hasher.finalize().to_hex()[..32].to_owned()
}

fn read_about(folder: &Path) -> Option<EditSnapshot> {
    let mut bytes = Vec::new();
    private::read_file(&folder.join(ABOUT)).ok()?.read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Returns a place with the folders above it that do not exist, outermost first.
fn with_missing_folders(root: &WorkspaceRoot, place: &Path) -> Vec<PathBuf> {
    let mut all = vec![place.to_owned()];
    let mut above = place.parent();
    while let Some(folder) = above.filter(|folder| !folder.as_os_str().is_empty() && !root.is_root(folder)) {
        match snapshot::glance(root, folder) {
            Ok(PlaceSnapshot { state: PathState::Absent, .. }) => all.insert(0, folder.to_owned()),
            _ => break,
        }
        above = folder.parent();
    }
    all
}

/// Returns the state of a place, and copies the content of a file.
fn keep_content(root: &WorkspaceRoot, place: &Path, copy: &Path) -> io::Result<PathState> {
    let seen = snapshot::look(root, place)?.state;
    if let PathState::File { size, .. } = &seen {
        if *size > snapshot::LARGEST_KEPT {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut file = File::from(root.open_own(place)?);
        io::copy(&mut file, &mut private::create_file(copy)?)?;
    }
    Ok(seen)
}

/// Writes what has changed at the places of a call as one change set.
fn record(root: &WorkspaceRoot, journal: &Journal, (folder, about): (&Path, EditSnapshot)) -> io::Result<Option<u64>> {
    let kept = WorkspaceRoot::open(folder)?;
    let mut writing = journal.lock(&|| false)?;
    recover::recover(root, &mut writing)?;
    let mut inline = writing.inline_contents();
    let mut keep = Keep::new(&mut inline, writing.objects(), &|| false);
    let mut steps = Vec::new();
    for (number, (path, before)) in about.places.into_iter().enumerate() {
        steps.extend(change(root, path, KeptPlace { copies: &kept, number, before }, &mut keep)?);
    }
    let was_begun = folder.join(RECORDING).exists();
    if steps.is_empty() || (was_begun && is_recorded(&writing.reading()?, &about.by)) {
        return Ok(None);
    }
    if !was_begun {
        private::create_file(&folder.join(RECORDING))?;
    }
    let (set, by) = (writing.next_set(), about.by);
    let intent = Intent { set, part: 0, at: now_ms(), by, takes_back: None, opened: Vec::new(), steps };
    writing.intend(&intent, &inline)?;
    writing.sync()?;
    writing.conclude(intent.happened())?;
    // What could not be dropped now is dropped by the next change.
    let _ = writing.make_room(OldChanges::Stay);
    Ok(Some(set))
}

/// Returns whether the journal has the changes of a call.
fn is_recorded(reading: &JournalSnapshot, by: &ChangeAuthor) -> bool {
    reading.intents.iter().any(|(intent, _)| (&intent.by.run, &intent.by.call) == (&by.run, &by.call))
}

/// What was at a place before a call, and the number of the copy of its content.
struct KeptPlace<'a> {
    copies: &'a WorkspaceRoot,
    number: usize,
    before: PathState,
}

/// Returns what has changed at one place since.
fn change(
    root: &WorkspaceRoot,
    path: PathText,
    kept: KeptPlace<'_>,
    keep: &mut Keep<'_>,
) -> io::Result<Option<IntentStep>> {
    let KeptPlace { copies, number, before } = kept;
    // A place that cannot be looked at now is not known to have changed.
    let Ok(after) = snapshot::look(root, path.as_path()) else { return Ok(None) };
    if before.is_same_content(&after.state) && before.mode() == after.state.mode() {
        return Ok(None);
    }
    let new = match &after.state {
        PathState::File { size, .. } if *size <= LARGEST_MIDDLE as u64 => {
            let mut bytes = Vec::new();
            File::from(root.open_own(path.as_path())?).read_to_end(&mut bytes)?;
            Some(bytes)
        }
        _ => None,
    };
    let coming = new.as_deref().map(IncomingContent::Bytes);
    let seen = match &before {
        PathState::File { mode, owner, .. } => {
            let mut seen = snapshot::keep(copies, Path::new(&number.to_string()), coming, keep)?;
            if let PathState::File { mode: copied, owner: copier, .. } = &mut seen.state {
                (*copied, *copier) = (*mode, *owner);
            }
            seen
        }
        _ => PlaceSnapshot { state: before, ..PlaceSnapshot::nothing() },
    };
    let after = match (after.state, coming) {
        (PathState::File { mode, owner, .. }, Some(IncomingContent::Bytes(bytes))) => {
            let hash = crate::state::journal::ContentHash::of(bytes);
            let content = snapshot::after(&seen, hash, IncomingContent::Bytes(bytes), keep);
            PathState::File { mode, size: bytes.len() as u64, hash, content, owner }
        }
        (PathState::File { mode, size, hash, owner, .. }, _) => {
            PathState::File { mode, size, hash, content: ContentLocation::No, owner }
        }
        (state, _) => state,
    };
    Ok(Some(IntentStep::Change { path, before: seen.state, after, beside: None }))
}
