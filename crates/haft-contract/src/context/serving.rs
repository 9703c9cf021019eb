//! Serves one call with a worker, on a separate ground, like any command.

use std::time::Instant;

use super::RunContext;
use crate::doors::process::{
    CommandEnd, CommandSpec, ConfinementLevel, HowEnded, NotRun, SettledCommand, Staging, StagingMode, Worker,
};
use crate::outcome::error::ToolError;

/// A worker that serves a call. If this is dropped before the end, the worker ends and haft discards its changes.
pub struct Serving {
    /// The worker that serves.
    pub worker: Box<dyn Worker>,
    ground: Box<dyn Staging>,
    level: ConfinementLevel,
    began: Instant,
}

/// The reason why a worker did not finish a call.
#[derive(Debug)]
pub enum WorkerFailure {
    /// It ended by itself.
    Ended(CommandEnd),
    /// It has to be ended, for this reason.
    ToBeEnded(HowEnded),
}

impl From<CommandEnd> for WorkerFailure {
    fn from(ended: CommandEnd) -> Self {
        WorkerFailure::Ended(ended)
    }
}

impl RunContext<'_> {
    /// Puts a worker on the ground of this call: the idle one, or one that is started with this command.
    ///
    /// An idle one that cannot go on is replaced. Afterwards comes [`RunContext::served`] or [`RunContext::broken`].
    pub async fn serve(&self, command: &CommandSpec, idle: Option<Box<dyn Worker>>) -> Result<Serving, ToolError> {
        let reached = self.doors.processes.confinement().reached;
        let mut worker = idle;
        let mut wanted = match (self.command_run().first_wanted(), &command.keeps) {
            // A command that declares changes may write much.
            (StagingMode::Layered, keeps) if !keeps.names_changes() => StagingMode::Quick,
            (wanted, _) => unwatched(wanted),
        };
        loop {
            let ground = self.command_run().ground(wanted.clone(), command).await?;
            let was_idle = worker.is_some();
            let entered = match worker.take() {
                Some(mut idle) => idle.enter(self.permit, &*ground).await.map(|()| idle),
                None => self.doors.processes.start(self.permit, command, &*ground).await,
            };
            match entered {
                Ok(worker) => {
                    let level = reached.on(&*ground);
                    return Ok(Serving { worker, ground, level, began: Instant::now() });
                }
                Err(NotRun::NoLayer(reason)) => wanted = unwatched(wanted.without_layer(reason)?),
                // An idle worker may have ended unnoticed. Send the same request to a new one.
                Err(NotRun::Failed(_)) if was_idle && self.permit.go_on().is_ok() => {}
                Err(NotRun::Failed(error)) => return Err(error),
            }
        }
    }

    /// Takes the worker from its call and brings what it changed into the workspace; returns the worker when it can go on.
    pub async fn served(&self, serving: Serving) -> Result<(SettledCommand, Option<Box<dyn Worker>>), ToolError> {
        let Serving { mut worker, ground, level, began } = serving;
        let (ended, worker) = match worker.leave().await {
            Ok(left_behind) => {
                let (how, took) = (HowEnded::Exited(0), began.elapsed());
                (
                    CommandEnd { how, took, level, left_behind, notes: Vec::new(), refused_hosts: Vec::new() },
                    Some(worker),
                )
            }
            // Its answer was there; that it ended behind it costs nothing but the worker.
            Err(ended) => (CommandEnd { how: HowEnded::Exited(0), ..ended }, None),
        };
        Ok((self.command_run().settled(ended, ground).await?, worker))
    }

    /// Says what came of a call whose worker did not get to its end, and what became of its changes.
    pub async fn broken(&self, serving: Serving, broken: WorkerFailure) -> Result<SettledCommand, ToolError> {
        let Serving { worker, ground, .. } = serving;
        let ended = match broken {
            WorkerFailure::Ended(ended) => {
                drop(worker);
                ended
            }
            WorkerFailure::ToBeEnded(how) => CommandEnd { how, ..worker.end(how).await },
        };
        self.command_run().settled(ended, ground).await
    }
}

/// A worker serves one call after the other, and is watched from its start or never.
fn unwatched(wanted: StagingMode) -> StagingMode {
    match wanted {
        StagingMode::Watched(reason) => StagingMode::Open(reason),
        wanted => wanted,
    }
}
