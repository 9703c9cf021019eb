//! The permit of one call, and the notes of what doors did under it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::SessionName;
use crate::call::CallId;
use crate::doors::connection::{ConnectionDesk, ReachedHost};
use crate::doors::process::{CommitReport, ConfinementLevel, Conflict};
use crate::effect::{Change, Effect, Host};
use crate::files::change_summary::KindCounts;
use crate::files::path::Target;
use crate::files::stamp::{ExpectedVersion, FileStamp};
use crate::outcome::error::ToolError;
use crate::outcome::kinds::ErrorKind;
use crate::signals::PendingSignals;

/// The permission of one call: what was planned and approved, and the notes of what was done.
#[derive(Debug)]
pub struct Permit {
    errand: Provenance,
    effects: Arc<[Effect]>,
    basis: Vec<(Target, ExpectedVersion)>,
    stop: CancellationToken,
    receipts: Receipts,
    needs_layer: bool,
    standing: ConsentKind,
    desk: Option<ConnectionDesk>,
    signals: PendingSignals,
}

/// The right to issue permits, which the runtime alone has: a process or a change without its rules, gate and events
/// would need a permit.
///
/// Rust has no way to let one other crate call a function, so the constructor is public. The tidy test refuses its name
/// in all files of the product but one of `haft-runtime`.
#[derive(Debug)]
pub struct PermitIssuer(());

impl PermitIssuer {
    /// Makes the right. Only `haft-runtime` and tests do so.
    #[doc(hidden)]
    pub const fn of_the_runtime() -> Self {
        Self(())
    }
}

/// The reason for which a command is permitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConsentKind {
    /// Rules that read its words: programs are those that they know, with the settings that they usually have.
    #[default]
    Words,
    /// A person said yes, for this once or for longer: to any program that runs.
    Consent,
    /// Nothing may leave the machine.
    Plan,
}

/// For whom something is done: what the journal says of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The call.
    pub call: CallId,
    /// The tool, by its native name.
    pub tool: String,
    /// The session.
    pub session: SessionName,
    /// Which opening of the session it is: two sessions of one name are two runs.
    pub run: Arc<str>,
    /// The number of the turn in this run.
    pub turn: u64,
    /// Who wanted it, and what it does.
    pub purpose: Purpose,
    /// What may become of old change sets when the journal is full.
    pub old_changes: OldChanges,
}

/// What may become of old change sets when the journal is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OldChanges {
    /// They stay, and the journal grows beyond its limit.
    #[default]
    Stay,
    /// A person agreed that change sets up to this number go.
    MayGo(ChangeSetId),
}

/// Who wanted a call, and what it does, in words for the log. Each is one short line without secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Purpose {
    /// A person, a script, a model, or the name of the program that made the call.
    pub agent: Option<String>,
    /// The command that is run.
    pub command: Option<String>,
    /// What is done, where no command is run.
    pub description: Option<String>,
}

/// Most bytes of contents that are noted for one call.
const MOST_CONTENT: usize = 16 * 1024 * 1024;

/// What doors have done under one permit. Shared, so that work on another thread notes what it did when it did it.
#[derive(Clone, Debug, Default)]
pub struct Receipts(Arc<Book>);

#[derive(Debug, Default)]
struct Book {
    noted: Mutex<PermitNotes>,
    /// Wakes who waits for the next note.
    more: Notify,
}

#[derive(Debug, Default)]
struct PermitNotes {
    receipts: Vec<Receipt>,
    change_set: Option<ChangeSetId>,
    /// How many bytes of contents were read.
    content: usize,
    run: RunFacts,
    /// How many files of each kind a command had changed when it ended.
    counts: KindCounts,
    /// What a job of the session had changed, whose end this call tells.
    by_job: (Vec<(Target, Change)>, KindCounts),
}

/// What is known of the commands that ran under one permit, for programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFacts {
    /// How many processes they had left behind, which were ended with them.
    pub left_behind: usize,
    /// What was not kept because the tool had not said that it would change it.
    pub undeclared: Vec<Target>,
    /// Files that others changed too, whose two versions could not be merged.
    pub conflicts: Vec<Conflict>,
    /// What they reached over the network, and what they were refused.
    pub reached: Vec<ReachedHost>,
    /// The name of the job that was started.
    pub job: Option<String>,
    /// How many new files and folders they left in the home of the session.
    pub home: usize,
}

impl Receipts {
    /// Notes what a door did. Only doors do so.
    pub fn note(&self, mut receipt: Receipt) {
        let mut noted = self.noted();
        if let Receipt::Read(_, version) = &mut receipt {
            noted.content += version.bytes.as_ref().map_or(0, |bytes| bytes.len());
            // One call may read a hundred files: behind this, their versions are known and their contents are not.
            version.bytes.take_if(|_| noted.content > MOST_CONTENT);
        }
        noted.receipts.push(receipt);
        drop(noted);
        self.0.more.notify_waiters();
    }

    /// Waits until a command runs; returns what was noted of that.
    pub async fn ran(&self) -> Receipt {
        loop {
            let more = self.0.more.notified();
            tokio::pin!(more);
            more.as_mut().enable();
            if let Some(ran) = self.so_far().into_iter().find(|receipt| matches!(receipt, Receipt::Ran { .. })) {
                return ran;
            }
            more.await;
        }
    }

    /// Notes under which number the journal has the changes. All changes of one call are one change set.
    pub fn note_change_set(&self, change_set: ChangeSetId) {
        self.noted().change_set = Some(change_set);
    }

    /// Notes what is known of a command that has ended.
    pub(crate) fn note_run(&self, left_behind: usize, settled: &CommitReport) {
        let run = &mut self.noted().run;
        run.left_behind += left_behind;
        run.undeclared.extend_from_slice(&settled.undeclared);
        run.conflicts.extend_from_slice(&settled.conflicts);
    }

    /// Notes what a command has reached. Only the door to processes does so.
    pub fn note_reached(&self, reached: &[ReachedHost]) {
        self.noted().run.reached.extend_from_slice(reached);
    }

    /// Notes what a job changed under its own permit, because this call reports it. It does not change what the session
    /// has read: another process may have changed the files again.
    pub fn note_end_of_job(&self, job: &Receipts) {
        let changed = job.so_far().into_iter().filter_map(|receipt| match receipt {
            Receipt::Changed(target, change) => Some((target, change)),
            Receipt::Read(..) | Receipt::Ran { .. } | Receipt::Exited(_) | Receipt::Sent(_) => None,
        });
        let (changed, change_set): (Vec<_>, _) = (changed.collect(), job.change_set());
        let counts = job.noted().counts;
        let mut noted = self.noted();
        noted.by_job.0.extend(changed);
        noted.by_job.1 = noted.by_job.1.and(counts);
        noted.change_set = noted.change_set.or(change_set);
    }

    /// Notes how many files of each kind a job had changed when it ended, also inside of folders.
    pub fn note_counts(&self, counts: KindCounts) {
        self.noted().counts = counts;
    }

    /// Returns what jobs changed whose end this call tells, and how many files of each kind.
    pub fn changed_by_jobs(&self) -> (Vec<(Target, Change)>, KindCounts) {
        self.noted().by_job.clone()
    }

    /// Notes that a command was started as a job of this name.
    pub fn note_job(&self, name: &str) {
        self.noted().run.job = Some(name.to_owned());
    }

    /// Notes how much a command left in the home of the session. Only the door to processes does so.
    pub fn note_left_in_home(&self, files: usize) {
        self.noted().run.home += files;
    }

    /// Returns what is known of the commands that have ended.
    pub fn run_facts(&self) -> RunFacts {
        self.noted().run.clone()
    }

    /// Returns what was done so far.
    pub fn so_far(&self) -> Vec<Receipt> {
        self.noted().receipts.clone()
    }

    /// Returns the number under which the journal has the changes so far.
    pub fn change_set(&self) -> Option<ChangeSetId> {
        self.noted().change_set
    }

    fn noted(&self) -> MutexGuard<'_, PermitNotes> {
        self.0.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of a change set, as `haft log` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChangeSetId(pub u64);

impl std::fmt::Display for ChangeSetId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A version of a file that was read, with its content where it is small enough to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadVersion {
    /// How the kernel described it.
    pub stamp: FileStamp,
    /// What was in it.
    pub bytes: Option<Bytes>,
    /// What calls of the same session made of it since, as the kernel described that.
    pub left: Option<FileStamp>,
}

/// What a door did under a permit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// It read this version of a file.
    Read(Target, ReadVersion),
    /// It changed a file.
    Changed(Target, Change),
    /// It ran a command.
    Ran {
        /// How strongly the command was confined.
        level: ConfinementLevel,
        /// Why what it changed cannot be taken back, where that is so.
        uncovered: Option<String>,
    },
    /// The command ended with this status.
    Exited(i32),
    /// It sent a request that may have changed something there.
    Sent(Host),
}

impl Permit {
    /// Issues a permit for these effects, which rests on no version of a file.
    pub fn issue(_: &PermitIssuer, errand: Provenance, effects: Arc<[Effect]>, stop: CancellationToken) -> Self {
        let (basis, receipts, signals) = Default::default();
        let (standing, needs_layer) = (ConsentKind::default(), false);
        Self { errand, effects, basis, stop, receipts, needs_layer, standing, desk: None, signals }
    }

    /// Says what the permission of its commands stands on.
    pub fn standing_on(mut self, standing: ConsentKind) -> Self {
        self.standing = standing;
        self
    }

    /// Returns what the permission of its commands stands on.
    pub fn standing(&self) -> ConsentKind {
        self.standing
    }

    /// Returns a permit for the same, for what outlives the call: with notes of its own, until this is cancelled.
    pub fn outliving(&self, stop: CancellationToken) -> Self {
        let Self { errand, effects, basis, needs_layer, standing, desk, .. } = self;
        let (errand, effects, basis, desk) = (errand.clone(), effects.clone(), basis.clone(), desk.clone());
        let (receipts, signals) = Default::default();
        let (needs_layer, standing) = (*needs_layer, *standing);
        Self { errand, effects, basis, stop, receipts, needs_layer, standing, desk, signals }
    }

    /// Returns an unstoppable permit for the same effects, with the same notes: to finish work that was begun.
    pub fn to_finish(&self) -> Self {
        let receipts = self.receipts.clone();
        Self { receipts, ..self.outliving(CancellationToken::new()) }
    }

    /// Returns the signals that its commands get.
    pub fn signals(&self) -> &PendingSignals {
        &self.signals
    }

    /// Says where connections of its commands are decided about.
    pub fn asking_at(mut self, desk: ConnectionDesk) -> Self {
        self.desk = Some(desk);
        self
    }

    /// Returns where connections of its commands are decided about. Without a desk only what is granted is reached.
    pub fn desk(&self) -> Option<&ConnectionDesk> {
        self.desk.as_ref()
    }

    /// Says on which versions of files the plan rests.
    pub fn resting_on(mut self, basis: Vec<(Target, ExpectedVersion)>) -> Self {
        self.basis = basis;
        self
    }

    /// Permits commands only where haft can undo their changes: the rules skipped the question because they relied on that.
    pub fn needing_layer(mut self) -> Self {
        self.needs_layer = true;
        self
    }

    /// Returns whether commands may run only where what they change can be taken back.
    pub fn needs_layer(&self) -> bool {
        self.needs_layer
    }

    /// Refuses what was not planned, and any new work after the call was told to stop.
    pub fn admit(&self, effect: &Effect) -> Result<(), ToolError> {
        self.go_on()?;
        if self.effects.iter().any(|planned| planned.covers(effect)) {
            return Ok(());
        }
        Err(ToolError::of(ErrorKind::Bug, format!("The tool tried to {effect}, which it had not planned.")))
    }

    /// Fails once the call was told to stop. Long work asks between its steps.
    pub fn go_on(&self) -> Result<(), ToolError> {
        if self.stop.is_cancelled() {
            return Err(ToolError::of(ErrorKind::Cancelled, "The call was stopped."));
        }
        Ok(())
    }

    /// Returns the token that is cancelled when the call shall stop.
    pub fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// Returns for whom it is done.
    pub fn errand(&self) -> &Provenance {
        &self.errand
    }

    /// Returns what was planned and approved.
    pub fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// Returns what the plan found at a target that it would change.
    pub fn basis(&self, target: &Target) -> Option<ExpectedVersion> {
        self.basis.iter().find(|(changed, _)| changed == target).map(|(_, basis)| *basis)
    }

    /// Returns the notes of what was done.
    pub fn receipts(&self) -> &Receipts {
        &self.receipts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::path::{Extent, FileLocation};

    fn permit(effects: &[Effect]) -> Permit {
        let (call, session) = (CallId::new("1"), SessionName::new("s"));
        let errand = Provenance {
            call,
            tool: "t".into(),
            session,
            run: "r".into(),
            turn: 1,
            purpose: Purpose::default(),
            old_changes: OldChanges::Stay,
        };
        Permit::issue(&PermitIssuer::of_the_runtime(), errand, effects.into(), CancellationToken::new())
    }

    fn file(path: &str) -> Target {
        Target::Inside(FileLocation::new(path, Extent::Entry))
    }

    #[test]
    fn a_permit_admits_what_was_planned_and_nothing_else() {
        let permit = permit(&[Effect::Change(file("a"), Change::Replace)]);
        assert!(permit.admit(&Effect::Change(file("a"), Change::Replace)).is_ok());
        assert!(permit.admit(&Effect::Read(file("a"))).is_ok());
        let refused = permit.admit(&Effect::Change(file("b"), Change::Replace)).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Bug);
    }

    #[test]
    fn a_planned_tree_covers_what_lies_below_it() {
        let permit = permit(&[Effect::Read(Target::Inside(FileLocation::new("src", Extent::Tree)))]);
        assert!(permit.admit(&Effect::Read(file("src/a/b.rs"))).is_ok());
        assert!(permit.admit(&Effect::Read(file("docs/a"))).is_err());
        assert!(permit.admit(&Effect::Change(file("src/a"), Change::Create)).is_err());
    }

    #[test]
    fn of_many_files_only_so_much_content_is_noted() {
        let receipts = Receipts::default();
        let stamp = FileStamp { size: 0, modified_ns: 0, changed_ns: 0, inode: 0 };
        for name in ["a", "b", "c"] {
            let bytes = Some(vec![0; MOST_CONTENT / 2].into());
            receipts.note(Receipt::Read(file(name), ReadVersion { stamp, bytes, left: None }));
        }
        let has_content = |receipt: &Receipt| matches!(receipt, Receipt::Read(_, version) if version.bytes.is_some());
        assert_eq!(receipts.so_far().iter().map(has_content).collect::<Vec<_>>(), [true, true, false]);
    }

    #[test]
    fn after_the_stop_signal_a_permit_admits_nothing() {
        let permit = permit(&[Effect::Read(file("a"))]);
        permit.stop().cancel();
        assert_eq!(permit.admit(&Effect::Read(file("a"))).unwrap_err().kind, ErrorKind::Cancelled);
    }
}
