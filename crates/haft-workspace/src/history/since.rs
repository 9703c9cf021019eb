//! Finds what changed since a given moment, to show the state before it. It only reads the journal.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use super::WorkspaceHistory;
use super::contents::{Contents, is_too_large};
use super::sets::Sets;
use crate::files::read::open::WorkspaceRoot;
use crate::state::journal::{ContentHash, ContentLocation, Inline, Intent, IntentStep, Journal, PathState};

/// What was changed since a moment.
pub(crate) struct Since {
    sets: Sets,
    root: Arc<WorkspaceRoot>,
    journal: Journal,
    /// The first intent since then, by its place in the reading.
    first: usize,
    at_ms: u64,
}

impl WorkspaceHistory {
    /// Returns what was changed since a moment, or since a session began, whatever the clock says.
    pub(crate) fn since(&self, at_ms: u64, session: &str) -> io::Result<Since> {
        let sets = Sets::of(self.journal.read()?);
        let intents = &sets.reading.intents;
        let is_since = |intent: &Intent| intent.at >= at_ms || intent.by.session == session;
        let first = intents.iter().position(|(intent, _)| is_since(intent)).unwrap_or(intents.len());
        Ok(Since { sets, root: self.root.clone(), journal: self.journal.clone(), first, at_ms })
    }
}

impl Since {
    /// Returns the steps that were done, or may have been, the newest first.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (&Intent, &IntentStep, Inline)> {
        let reading = &self.sets.reading;
        let intents = reading.intents[self.first..].iter().rev();
        let happened = intents.filter(|(intent, _)| reading.outcome(intent) != Some(false));
        happened.flat_map(|(intent, inline)| intent.steps.iter().rev().map(move |step| (intent, step, *inline)))
    }

    /// Writes the content that a file had; fails where it was not kept or is damaged.
    pub(crate) fn write(&self, before: &PathState, inline: Inline, to: &mut File) -> io::Result<()> {
        let not_kept = || io::Error::other("its content then was not kept, or is damaged");
        if let (true, PathState::File { hash, content: ContentLocation::Object { .. }, .. }) =
            (is_too_large(before), before)
        {
            let mut hasher = blake3::Hasher::new();
            hasher.update_reader(self.journal.objects().open(*hash)?)?;
            if ContentHash(*hasher.finalize().as_bytes()) != *hash {
                return Err(not_kept());
            }
            return self.journal.objects().open(*hash)?.copy_to(to);
        }
        let contents = Contents::new(&self.sets, &self.root, &self.journal);
        to.write_all(&contents.bytes(before, &PathState::Absent, inline).ok_or_else(not_kept)?)
    }

    /// Says what the journal cannot know, a sentence each.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let reading = &self.sets.reading;
        let mut warnings = Vec::new();
        // What was dropped was older than all that is left.
        let is_older_left = self.first > 0 && reading.intents[self.first - 1].0.at < self.at_ms;
        if reading.dropped > 0 && !is_older_left {
            warnings.push(format!(
                "Change sets up to {} were dropped to save space; their changes since then cannot be undone.",
                reading.dropped
            ));
        }
        if !reading.damaged.is_empty() {
            warnings.push(format!(
                "The journal is damaged in {} places; the changes recorded there cannot be undone.",
                reading.damaged.len()
            ));
        }
        warnings
    }
}

/// Returns whether a file has this content.
pub(crate) fn has_content(file: File, state: &PathState) -> io::Result<bool> {
    let PathState::File { hash, size, .. } = state else { return Ok(false) };
    if file.metadata()?.len() != *size {
        return Ok(false);
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file)?;
    Ok(ContentHash(*hasher.finalize().as_bytes()) == *hash)
}
