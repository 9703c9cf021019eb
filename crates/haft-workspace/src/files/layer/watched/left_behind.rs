//! Finishes the work of a process that was killed while its command worked on the real folders, or after that.
//!
//! The changes until then become an ordinary change set: the log names it and undo restores the files.

use std::path::PathBuf;
use std::sync::Arc;

use haft_contract::call::CallId;
use haft_contract::doors::door::{OldChanges, Provenance, Purpose, Receipts, SessionName};
use rustix::fs::FlockOperation;
use tokio_util::sync::CancellationToken;

use super::super::super::Workspace;
use super::super::folder::LayerFolder;
use super::super::{LayeredGround, Layers};
use super::{ABOUT, CommitProgress, ROOT, WatchedLayers, WatchedState, lost_words, path_in};
use crate::files::change::transaction;
use crate::state::WorkspaceState;
use crate::state::journal::{ChangeAuthor, Intent, Mark};
use crate::state::own_files::private;

impl Workspace {
    /// Finishes the work of a haft process that was killed in the middle of a change or an undo, or while its command
    /// worked on the real folders. Returns the reports for the user, one sentence each.
    pub fn finish_left_behind(&self, state: &WorkspaceState) -> Vec<String> {
        let journal = state.journal();
        let is_unfinished = journal.is_unfinished();
        // When it fails, the next change or undo reports why.
        let recovered = is_unfinished.then(|| transaction::recover(&self.root, &journal).ok().flatten()).flatten();
        let mut said = Vec::new();
        if state.watched().read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
            let layers = Arc::new(Layers::new(self.root.clone(), Arc::new(journal), state));
            said = layers.finish_left_behind();
        }
        // The report about a command covers the change that it was committed with.
        if let Some(recovered) = recovered.filter(|recovered| said.is_empty() || recovered.takes_back) {
            said.insert(0, recovered.to_string());
        }
        said
    }
}

impl Layers {
    /// Finishes the work of all killed processes; returns the reports, one sentence each.
    fn finish_left_behind(self: &Arc<Self>) -> Vec<String> {
        let entries = std::fs::read_dir(&self.watched).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut locks: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|end| end == "lock")).collect();
        // Their names begin with the time.
        locks.sort();
        locks.into_iter().filter_map(|lock_path| self.finish_one(lock_path)).collect()
    }

    fn finish_one(self: &Arc<Self>, lock_path: PathBuf) -> Option<String> {
        let lock = private::read_file(&lock_path).ok()?;
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
        let folder = LayerFolder { path: lock_path.with_extension(""), lock_path, lock };
        let errand = errand(&folder);
        let command = errand.purpose.command.clone().unwrap_or_else(|| errand.tool.clone());
        let mut ground = match self.ground_over(folder) {
            Ok(ground) => ground,
            // haft was killed before it started the command.
            Err(None) => return None,
            Err(Some(why)) => {
                return Some(format!("haft was killed while \"{command}\" ran, and cannot finish it: {why}."));
            }
        };
        if let Some(outcome) = self.outcome_of_commit(&ground, &errand) {
            ground.watched.as_mut()?.state = WatchedState::Rewound;
            return Some(format!("haft was killed while it committed the changes of \"{command}\". {outcome}"));
        }
        if ground.has_touched_nothing() {
            return None;
        }
        let cut_off = format!("haft was killed while \"{command}\" ran");
        let (receipts, stop) = (Receipts::default(), CancellationToken::new());
        let lost = match ground.rewind() {
            Ok(lost) => lost_words(&lost).map(|lost| format!(" Undo does not restore everything: {lost}.")),
            Err(error) => return Some(format!("{cut_off}. {}", error.what)),
        };
        let errand = Provenance {
            purpose: Purpose {
                description: Some(format!("cut off, haft was killed{}", lost.clone().unwrap_or_default())),
                ..errand.purpose.clone()
            },
            ..errand
        };
        let kept = ground.settling((errand, receipts.clone(), stop), Default::default()).and_then(|settling| {
            ground.note_commit();
            settling.keep()
        });
        let lost = lost.unwrap_or_default();
        Some(match (kept, receipts.change_set()) {
            (Ok(_), Some(set)) => {
                format!(
                    "{cut_off}. Its changes until then are change set {}; \"haft undo {}\" restores the files.{lost}",
                    set.0, set.0
                )
            }
            (Ok(_), None) => format!("{cut_off}. It had changed nothing that haft keeps.{lost}"),
            (Err(error), _) => format!("{cut_off}. haft discarded its changes: {}{lost}", error.what),
        })
    }

    /// Returns the outcome of a commit that had begun; `None` if haft can repeat the commit.
    fn outcome_of_commit(&self, ground: &LayeredGround, errand: &Provenance) -> Option<String> {
        let progress = ground.watched.as_ref()?.commit_progress()?;
        match (self.committed_set(errand), progress) {
            (Some(set), _) => Some(format!("They are change set {set}.")),
            (None, CommitProgress::Nothing) => None,
            (None, CommitProgress::Something) => {
                Some("The workspace is as before the command, and its changes are lost. Run the command again.".into())
            }
        }
    }

    /// Returns the change set of a call, if it was committed.
    fn committed_set(&self, errand: &Provenance) -> Option<u64> {
        let reading = self.journal.read_behind(Mark::default()).ok()?;
        let by = ChangeAuthor::from(errand);
        let is_it = |intent: &Intent| (&intent.by.run, &intent.by.call) == (&by.run, &by.call);
        let mut own = reading.intents.iter().map(|(intent, _)| intent).filter(|intent| is_it(intent));
        own.rfind(|intent| reading.outcome(intent) != Some(false)).map(|intent| intent.set)
    }

    /// Makes a ground of a folder that was left behind; fails without a reason if nothing had begun.
    fn ground_over(self: &Arc<Self>, folder: LayerFolder) -> Result<LayeredGround, Option<String>> {
        let said = |error: std::io::Error| Some(error.to_string());
        let mut ground = self.bare(None).map_err(said)?;
        let mut pairs = Vec::new();
        let mut roots = Vec::new();
        for number in 0.. {
            let Some(path) = folder.get(&format!("{number}/{ROOT}")).map(path_in) else { break };
            let Some(at) = ground.roots.iter().position(|root| root.path == path) else {
                return Err(Some(format!("{} is not part of the workspace now", path.display())));
            };
            let pair = folder.pair(number).map_err(said)?;
            roots.push(ground.roots.swap_remove(at));
            pairs.push(pair);
        }
        if roots.is_empty() {
            folder.remove();
            return Err(None);
        }
        ground.roots = roots;
        ground.watched = Some(WatchedLayers { folder, pairs, state: WatchedState::Running });
        Ok(ground)
    }
}

/// Returns which call the command belonged to.
fn errand(folder: &LayerFolder) -> Provenance {
    let by = folder.get(ABOUT).and_then(|about| serde_json::from_slice::<ChangeAuthor>(&about).ok());
    let text = |field: fn(&ChangeAuthor) -> &String| by.as_ref().map(field).cloned().unwrap_or_default();
    let words = |field: fn(&ChangeAuthor) -> &Option<String>| by.as_ref().and_then(|by| field(by).clone());
    Provenance {
        call: CallId::new(text(|by| &by.call)),
        tool: text(|by| &by.tool),
        session: SessionName::new(&text(|by| &by.session)),
        run: text(|by| &by.run).into(),
        turn: by.as_ref().map(|by| by.turn).unwrap_or_default(),
        purpose: Purpose {
            agent: words(|by| &by.agent),
            command: words(|by| &by.command),
            description: words(|by| &by.description),
        },
        old_changes: OldChanges::Stay,
    }
}
