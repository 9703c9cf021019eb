//! Executes a call once: with a permit for its plan, within its time, until the caller stops it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use haft_contract::BoxFuture;
use haft_contract::context::RunContext;
use haft_contract::doors::command_run::CommitTurn;
use haft_contract::doors::connection::ConnectionDesk;
use haft_contract::doors::session_state::AgentState;
use haft_contract::effect::Effect;
use haft_contract::files::path::Target;
use haft_contract::files::stamp::ExpectedVersion;
use haft_contract::outcome::error::{FailedOperation, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::output::ToolOutput;
use haft_contract::outcome::result::Did;
use haft_contract::plan::CachePolicy;
use haft_policy::policy::{Mode, Policy};

use super::authorize::AuthorizedCall;
use super::connections::ConnectingCall;
use super::desk_of_user::DeskOfUser;
use super::line_up::LinedUpCall;
use crate::hooks::HookedCall;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::turn::{Now, TurnPlace};
use crate::redaction::secrets;
use crate::state::kept;
use crate::state::kept::KeptKey;
use crate::state::session::ResultCaching;
use crate::state::storage::TurnOnly;

/// How long a tool may take to stop after it was told to.
const GRACE: Duration = Duration::from_millis(500);

/// A call that worked. It is passed on in a box, because it is large.
pub(crate) struct ExecutedCall {
    pub(crate) output: ToolOutput,
    pub(crate) called: HookedCall,
}

/// How long a tool may be silent before haft tells that it still runs.
const FIRST_WORD: Duration = Duration::from_secs(1);

/// Why a running call must stop.
#[derive(Clone, Copy)]
enum ExecutionStop {
    Told,
    TimeIsUp,
}

/// Runs the tool under a permit.
pub(crate) async fn execute(
    cx: &CallContext<'_>,
    policy: &Policy,
    authorized: AuthorizedCall,
) -> Result<Box<ExecutedCall>, ToolError> {
    secrets::learn_before(cx, authorized.effects()).await;
    refuse_stale(cx, &authorized.planned().basis)?;
    // Also what people have changed meanwhile.
    cx.session.jobs.show_changes();
    cx.place.is_now(Now::Executing);
    let order = CommitOrder { earlier: cx.turn.unfinished_before(&cx.place) };

    // A token of its own: when the time is up, only this call stops, not what shares the turn.
    let stop = cx.place.stop.child_token();
    // Only commands and redirected documents are asked about while they run.
    let runs = authorized.effects().iter().any(|effect| matches!(effect, Effect::Run(_) | Effect::Connect(_)));
    let (desk, asked) = runs.then(ConnectionDesk::open).unzip();
    let permit = cx.issue_permit(&authorized, stop.clone(), desk);
    let key = kept_under(cx, authorized.planned());
    let LinedUpCall { entry, called, bound, plan, .. } = *authorized.into_planned();
    let caller = ConnectingCall { cx, policy, entry: &entry, called: &called, effects: &plan.effects };
    let (told_state, turn_only) = (cx.session.agent_state(), TurnOnly(cx.session.turn_number()));
    let agent_state: &dyn AgentState = told_state.as_deref().unwrap_or(&turn_only);
    let (desk_of_user, ground) = (DeskOfUser::of(cx), &cx.session.ground);
    let run_context = RunContext::new(&permit, &ground.doors, &cx.session.name, &ground.limits)
        .reporting(cx)
        .settling(cx.session.mode().settling())
        .sharing(&cx.session.storage, agent_state)
        .keeping_jobs(&**cx.session.jobs)
        .committing(&order)
        .asking(&desk_of_user)
        .with_streams(cx.streams.as_ref());
    let mut running = bound.run(&run_context);
    // Boxed: it is large, and most calls run no command.
    let mut deciding: BoxFuture<'_, Infallible> = match asked {
        Some(asked) => Box::pin(caller.decide_all(asked)),
        None => Box::pin(std::future::pending()),
    };

    let outcome = tokio::select! {
        biased;
        outcome = &mut running => match outcome {
            // It may have noticed the signal before we did; what it says of that is not a failure of its own.
            Err(mut error) if cx.place.stop.is_cancelled() => Err(stopped(cx, ExecutionStop::Told, error.so_far.take())),
            outcome => outcome,
        },
        never = &mut deciding => match never {},
        why = wait_for_stop(cx, &desk_of_user) => {
            stop.cancel();
            Box::pin(last_words(cx, running, why)).await
        }
    };
    drop(deciding);
    cx.place.is_now(Now::Underway);
    let output = outcome?;
    if let Some(key) = key {
        Box::pin(keep(cx, key, &output)).await;
    }
    Ok(Box::new(ExecutedCall { output, called }))
}

/// Lets commands commit in the order of the turn: each waits for those before it that are carried out.
struct CommitOrder {
    earlier: Vec<Arc<TurnPlace>>,
}

impl CommitTurn for CommitOrder {
    fn come(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            for place in &self.earlier {
                place.carried_out().await;
            }
        })
    }
}

/// Returns the key under which the result may serve again, as things stand before the call runs.
fn kept_under(cx: &CallContext<'_>, planned: &LinedUpCall) -> Option<KeptKey> {
    let may_serve = planned.plan.cache != CachePolicy::No && cx.session.keeping() == ResultCaching::On;
    may_serve.then(|| kept::key(cx, planned))
}

/// Keeps a result for identical calls. One of a call that changed something, or only tried to, is none.
async fn keep(cx: &CallContext<'_>, key: KeptKey, output: &ToolOutput) {
    if cx.did() != Did::Nothing || cx.session.mode() != Mode::Normal {
        return;
    }
    if let Some(bytes) = kept::to_bytes(output, &cx.redactor) {
        cx.session.ground.doors.store.remember(&key, bytes).await;
    }
    cx.session.memory.keep(key, output.clone());
}

/// Waits a little for a tool that was told to stop.
async fn last_words(
    cx: &CallContext<'_>,
    running: BoxFuture<'_, Result<ToolOutput, ToolError>>,
    why: ExecutionStop,
) -> Result<ToolOutput, ToolError> {
    match tokio::time::timeout(GRACE, running).await {
        // What was finished in spite of the signal is kept.
        Ok(Ok(output)) => Ok(output),
        Ok(Err(mut error)) => Err(stopped(cx, why, error.so_far.take())),
        Err(_elapsed) => {
            cx.note(|notes| notes.abandoned = true);
            Err(stopped(cx, why, None))
        }
    }
}

async fn wait_for_stop(cx: &CallContext<'_>, desk_of_user: &DeskOfUser<'_>) -> ExecutionStop {
    if cx.streams.is_some() {
        // Its caller says how long it may take, and waits at the other end of its streams.
        cx.place.stop.cancelled().await;
        return ExecutionStop::Told;
    }
    let most = cx.limits().call_time;
    let (mut waited, mut step) = (Duration::ZERO, FIRST_WORD);
    loop {
        match tokio::time::timeout(step.min(most.saturating_sub(waited)), cx.place.stop.cancelled()).await {
            Ok(()) => return ExecutionStop::Told,
            // A person may think for as long as it takes.
            Err(_elapsed) if desk_of_user.is_waiting() => (waited, step) = (Duration::ZERO, FIRST_WORD),
            Err(_elapsed) => {
                waited += step;
                if waited >= most {
                    return ExecutionStop::TimeIsUp;
                }
                // After 1, 2, 4, 8 seconds and so on.
                step = waited;
                cx.tell_that_it_runs(waited);
            }
        }
    }
}

fn stopped(cx: &CallContext<'_>, why: ExecutionStop, so_far: Option<Box<ToolOutput>>) -> ToolError {
    let mut error = match why {
        ExecutionStop::Told => ToolError::of(ErrorKind::Cancelled, "The call was stopped while it ran."),
        ExecutionStop::TimeIsUp => {
            let seconds = cx.limits().call_time.as_secs_f64();
            ToolError::of(ErrorKind::TimedOut, format!("The call was stopped after {seconds} s."))
        }
    };
    error.so_far = so_far;
    error
}

/// What was approved is what runs: a file that has another version than the plan saw stops the call.
fn refuse_stale(cx: &CallContext<'_>, basis: &[(Target, ExpectedVersion)]) -> Result<(), ToolError> {
    let look = &cx.session.ground.doors.look;
    match basis.iter().find(|(target, basis)| look.stamp(target) != basis.stamp()) {
        None => Ok(()),
        Some((target, _)) => {
            let what = format!("{target} changed after the call was planned.");
            Err(ToolError::of(ErrorKind::Stale, what).about_file(target.to_string(), FailedOperation::Write))
        }
    }
}
