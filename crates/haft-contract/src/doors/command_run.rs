//! Runs a command on a ground, from choosing the ground to settling the changes.

use std::convert::Infallible;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::door::{Doors, Permit};
use super::process::{
    CommandEnd, CommandSpec, CommitReport, ConfinementLevel, Disposition, HowEnded, Keeps, NotRun, OutputListener,
    ReadScope, SettledCommand, Staging, StagingMode,
};
use crate::BoxFuture;
use crate::effect::Effect;
use crate::outcome::error::{Next, ToolError};
use crate::outcome::kinds::ErrorKind;

/// Under which permit a command runs, through which doors, and what becomes of its changes.
#[derive(Clone, Copy)]
pub struct CommandRun<'a> {
    /// The permit.
    pub permit: &'a Permit,
    /// The doors.
    pub doors: &'a Doors,
    /// What becomes of its changes.
    pub settle: Disposition,
    /// When they may be committed.
    pub commit_turn: &'a dyn CommitTurn,
}

/// A request to commit what a running command has changed so far.
pub struct SyncRequest {
    /// Under which permit; its notes get what was changed.
    pub permit: Permit,
    /// Who waits for it. Dropped without an answer when the command has ended.
    pub reply: oneshot::Sender<Result<CommitReport, ToolError>>,
}

/// Says when a command may commit what it changed: commands of one turn commit in the order of their calls.
pub trait CommitTurn: Send + Sync {
    /// Waits until it may.
    fn come(&self) -> BoxFuture<'_, ()>;
}

/// Commits as soon as the command has ended.
pub struct AtOnce;

impl CommitTurn for AtOnce {
    fn come(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

impl CommandRun<'_> {
    /// Runs a command, and brings what it changed into the workspace.
    ///
    /// Without a layer its changes are immediate, and the report says so. haft discards the changes of a stopped command.
    ///
    /// # Errors
    ///
    /// Fails where nothing was run, or where its changes could not be brought in.
    pub async fn run(self, command: &CommandSpec, heard: OutputListener<'_>) -> Result<SettledCommand, ToolError> {
        let (ended, ground) = self.ended(command, heard).await?;
        self.settled(ended, ground).await
    }

    /// Runs a command until it has ended; its changes are still on its ground.
    ///
    /// # Errors
    ///
    /// Fails where nothing was run.
    pub async fn ended(
        self,
        command: &CommandSpec,
        heard: OutputListener<'_>,
    ) -> Result<(CommandEnd, Box<dyn Staging>), ToolError> {
        let (_, mut requests) = mpsc::unbounded_channel();
        self.ended_with_syncs(command, heard, &mut requests).await
    }

    /// Runs a command until it has ended, and meanwhile commits its changes on request.
    ///
    /// # Errors
    ///
    /// Fails where nothing was run.
    pub async fn ended_with_syncs(
        self,
        command: &CommandSpec,
        heard: OutputListener<'_>,
        requests: &mut mpsc::UnboundedReceiver<SyncRequest>,
    ) -> Result<(CommandEnd, Box<dyn Staging>), ToolError> {
        let mut wanted = self.first_wanted().fitting(command);
        loop {
            let ground = self.ground(wanted.clone(), command).await?;
            let outcome = tokio::select! {
                outcome = self.doors.processes.run(self.permit, command, &*ground, heard) => outcome,
                never = sync_on_request(&*ground, requests) => match never {},
            };
            match outcome {
                Ok(ended) => return Ok((ended, ground)),
                Err(NotRun::Failed(error)) => return Err(error),
                Err(NotRun::NoLayer(reason)) => wanted = wanted.without_layer(reason)?.fitting(command),
            }
        }
    }

    /// Brings what a command changed into the workspace; throws it away where the command was stopped.
    pub(crate) async fn settled(
        self,
        ended: CommandEnd,
        ground: Box<dyn Staging>,
    ) -> Result<SettledCommand, ToolError> {
        match ended.how {
            HowEnded::Stopped => {
                self.permit.receipts().note_run(ended.left_behind, &CommitReport::default());
                let uncovered = ground.uncovered().map(str::to_owned);
                Ok(SettledCommand { ended, settled: CommitReport::default(), uncovered, how: self.settle })
            }
            HowEnded::Exited(_) | HowEnded::Killed(_) | HowEnded::TimedOut => {
                if self.settle == Disposition::Commit && ground.is_changed() {
                    tokio::select! {
                        () = self.commit_turn.come() => {}
                        // Settling says that the call was stopped.
                        () = self.permit.stop().cancelled() => {}
                    }
                }
                self.kept(ended, ground).await
            }
        }
    }

    /// Brings what a command changed into the workspace, however it ended.
    ///
    /// # Errors
    ///
    /// Fails where its changes could not be brought in.
    pub async fn kept(self, ended: CommandEnd, ground: Box<dyn Staging>) -> Result<SettledCommand, ToolError> {
        let uncovered = ground.uncovered().map(str::to_owned);
        let settled = ground.settle(self.permit, self.settle).await?;
        self.permit.receipts().note_run(ended.left_behind, &settled);
        Ok(SettledCommand { ended, settled, uncovered, how: self.settle })
    }

    /// Says which ground is asked for first.
    pub(crate) fn first_wanted(self) -> StagingMode {
        let confinement = self.doors.confinement();
        match confinement.reached {
            // Nothing is given up for what is not known: the door tries again, or refuses.
            _ if confinement.untried.is_some() => StagingMode::Layered,
            ConfinementLevel::Full if confinement.layerless.is_some() => {
                StagingMode::Watched(confinement.layerless.unwrap_or_default())
            }
            // A command that only looks leaves nothing on a disk.
            ConfinementLevel::Full if self.only_looks() => StagingMode::Quick,
            ConfinementLevel::Full => StagingMode::Layered,
            ConfinementLevel::Partial | ConfinementLevel::None if confinement.watches => {
                StagingMode::Watched(confinement.why_no_layer())
            }
            ConfinementLevel::Partial | ConfinementLevel::None => StagingMode::Open(confinement.why_no_layer()),
        }
    }

    fn is_unconfined(self) -> bool {
        let confinement = self.doors.processes.confinement();
        confinement.untried.is_none() && confinement.reached == ConfinementLevel::None
    }

    /// Returns whether the words of the command are known, and it changes nothing by them.
    fn only_looks(self) -> bool {
        let mut steps = self.permit.effects().iter().filter_map(|effect| match effect {
            Effect::Step(step) => Some(step.does.only_looks()),
            _ => None,
        });
        steps.next() == Some(true) && steps.all(|only_looks| only_looks)
    }

    /// Prepares what a command works on; refuses one that could not be kept to what was said of it.
    pub(crate) async fn ground(
        self,
        wanted: StagingMode,
        command: &CommandSpec,
    ) -> Result<Box<dyn Staging>, ToolError> {
        let mut ground = self.doors.files.ground(self.permit, wanted).await?;
        if let ReadScope::Only(paths) = &command.reads {
            ground.show_only(paths);
        }
        match (ground.uncovered(), &command.keeps) {
            (Some(reason), _) if self.settle == Disposition::Discard => return Err(cannot_be_tried(reason)),
            (Some(reason), _) if self.permit.needs_layer() => return Err(not_as_promised(reason)),
            (Some(reason), Keeps::Only(_)) => return Err(not_as_declared(reason)),
            // Undo would cover the workspace, but nothing keeps the command in it.
            (None, Keeps::Only(_)) if self.is_unconfined() => {
                return Err(not_as_declared(&self.doors.processes.confinement().why_no_layer()));
            }
            (None, Keeps::Only(targets)) => ground.keep_only(Arc::clone(targets)),
            (_, Keeps::All) => {}
        }
        Ok(ground)
    }
}

async fn sync_on_request(ground: &dyn Staging, requests: &mut mpsc::UnboundedReceiver<SyncRequest>) -> Infallible {
    while let Some(SyncRequest { permit, reply }) = requests.recv().await {
        // The requester may have ended.
        let _ = reply.send(ground.sync(&permit).await);
    }
    std::future::pending().await
}

fn not_as_promised(reason: &str) -> ToolError {
    let what = format!("The changes of this command could not be undone: {reason}. The command was not run.");
    let next = "call it again: haft now knows this and asks the user";
    ToolError::new(ErrorKind::NeedsApproval, what, Next::AskUser(next.into()))
}

fn not_as_declared(reason: &str) -> ToolError {
    let what = format!(
        "The tool declares what it changes, but haft cannot enforce that here: {reason}. The tool was not run, \
         because it could change everything in the workspace."
    );
    let next = "ask the user to run \"haft doctor\", or to remove the effects from the tool's definition: haft then \
                asks about it as about any program that may do anything";
    ToolError::new(ErrorKind::Unavailable, what, Next::AskUser(next.into()))
}

pub(crate) fn cannot_be_tried(reason: &str) -> ToolError {
    let what = format!("haft cannot try the command without keeping its changes: {reason}. The command was not run.");
    ToolError::new(ErrorKind::Unavailable, what, Next::AskUser("ask the user to run it without --plan or --try".into()))
}
