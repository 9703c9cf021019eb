//! Plans calls in the order of the turn, so each call sees what the calls before it have done.
//!
//! A call notes which earlier calls are unfinished, plans, and announces its effects to later calls. It waits for the
//! noted calls that conflict, and plans again until none conflicts. Only then does haft show it to anyone. If a plan
//! fails behind an unfinished change, the call waits for that change and tries again. If it fails because a file was
//! not read, the call waits for the reads before it.

use std::sync::Arc;

use haft_contract::effect::Effect;
use haft_contract::files::path::{Extent, Target};
use haft_contract::files::stamp::{ExpectedVersion, FileVersion};
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::plan::Plan;
use haft_contract::tool::ToolInvocation;

use super::prepare::PreparedCall;
use crate::catalogue::entry::CatalogEntry;
use crate::confining::containment::CommandContainment;
use crate::hooks::HookedCall;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::conflict::{Commands, follows, only_looks};
use crate::pipeline::turn::TurnPlace;
use crate::state::memory::{CallKey, Went};
use crate::state::session::Readers;

/// A call whose plan is final: no earlier call of the turn can change it any more. Stages pass it on in a box, because it is
/// large.
pub(crate) struct LinedUpCall {
    pub(crate) entry: Arc<CatalogEntry>,
    pub(crate) called: HookedCall,
    pub(crate) bound: Box<dyn ToolInvocation>,
    pub(crate) plan: Plan,
    /// What the plan found at the files that would be changed.
    pub(crate) basis: Vec<(Target, ExpectedVersion)>,
    /// The files that the plan read itself.
    pub(crate) read: Vec<(Target, FileVersion)>,
}

/// Plans the call when its turn has come.
pub(crate) async fn line_up(cx: &CallContext<'_>, prepared: PreparedCall) -> Result<Box<LinedUpCall>, ToolError> {
    let PreparedCall { entry, called, mut bound, key } = prepared;
    let (plan, read) = loop {
        let ahead = cx.turn.unfinished_before(&cx.place);
        let context = cx.plan_context();
        let outcome = bound.plan(&context).await.map(|plan| with_planted(cx, plan));
        let waited = match &outcome {
            Ok(plan) => {
                let commands = Commands::of(&plan.effects, &cx.session.ground);
                cx.place.tell((plan.effects.clone(), commands), key);
                let twin = (cx.session.readers() == Readers::One).then_some(&key);
                let others = || Box::pin(cx.waiting(wait_for_conflicts(&ahead, (&plan.effects, commands), twin)));
                !ahead.is_empty() && others().await
            }
            Err(error) => !ahead.is_empty() && Box::pin(cx.waiting(wait_for_cause(&ahead, error.kind))).await,
        };
        if !waited {
            break (outcome?, context.into_read());
        }
    };
    cx.note(|notes| notes.effects = Some(plan.effects.clone()));
    refuse_redundant(cx, &plan, &key)?;
    let basis = basis_of_changed(cx, &plan, &read);
    Ok(Box::new(LinedUpCall { entry, called, bound, plan, basis, read }))
}

/// Adds what no tool knows of its own changes: that they plant code which another program runs.
///
/// What a command makes is judged when its layer is read. Where it has none, its words are all that can be judged.
fn with_planted(cx: &CallContext<'_>, mut plan: Plan) -> Plan {
    let doors = &cx.session.ground.doors;
    let changing = plan.effects.iter().filter(|effect| effect.changed().is_some());
    let (of_commands, own): (Vec<&Effect>, Vec<&Effect>) =
        changing.partition(|effect| matches!(effect, Effect::Step(_)));
    let is_uncovered = !of_commands.is_empty() && !CommandContainment::of(doors).can_be_undone();
    let judged = own.into_iter().chain(of_commands.into_iter().filter(|_| is_uncovered));
    let planted = doors.look.planted(&judged.filter_map(Effect::changed).collect::<Vec<_>>());
    if !planted.is_empty() {
        plan.effects = plan.effects.iter().cloned().chain(planted).collect();
    }
    plan
}

/// Waits for earlier calls that conflict, and for one with the same key that only reads.
async fn wait_for_conflicts(
    ahead: &[Arc<TurnPlace>],
    (effects, commands): (&Arc<[Effect]>, Commands),
    key: Option<&CallKey>,
) -> bool {
    let mut waited = false;
    for place in ahead {
        let told = place.told().await;
        let twin = key.is_some() && told.key.as_ref() == key && reads_files_only(effects);
        let commands = told.commands.map_or(commands, |theirs| theirs.and(commands));
        if !twin && !told.effects.is_some_and(|theirs| follows(&theirs, effects, commands)) {
            continue;
        }
        // Who only looks does not wait for a person; the change comes when that one has answered.
        if only_looks(effects) {
            waited |= place.finished_or_asking().await;
        } else {
            place.finished().await;
            waited = true;
        }
    }
    waited
}

/// Waits for what may turn the failure into a plan that holds: changes, and for a file that was not read, reads.
async fn wait_for_cause(ahead: &[Arc<TurnPlace>], failure: ErrorKind) -> bool {
    let may_help =
        |effect: &Effect| effect.changes() || (failure == ErrorKind::NotRead && matches!(effect, Effect::Read(_)));
    let mut waited = false;
    for place in ahead {
        let told = place.told().await;
        if told.effects.is_some_and(|effects| effects.iter().any(may_help)) {
            place.finished().await;
            waited = true;
        }
    }
    waited
}

/// Trees have no stamp, so only reads of files can be known to be the same again.
fn reads_files_only(effects: &[Effect]) -> bool {
    let file = |effect: &Effect| matches!(effect, Effect::Read(target) if target.place().extent() == Extent::Entry);
    !effects.is_empty() && effects.iter().all(file)
}

/// Refuses what was read in this turn already, unchanged; in later turns it is only mentioned.
fn refuse_redundant(cx: &CallContext<'_>, plan: &Plan, key: &CallKey) -> Result<(), ToolError> {
    if !reads_files_only(&plan.effects) {
        return Ok(());
    }
    let Some(earlier) = cx.session.memory.earlier(key) else { return Ok(()) };
    let Went::Ok(read) = &earlier.went else { return Ok(()) };
    let look = &cx.session.ground.doors.look;
    // Everything that *this* plan would read: the earlier call may have missed a file that is there now.
    let is_unchanged =
        |target: &Target| read.iter().any(|(seen, stamp)| seen == target && look.stamp(target) == Some(*stamp));
    let unchanged = plan.effects.iter().all(|effect| matches!(effect, Effect::Read(target) if is_unchanged(target)));
    if !unchanged || !earlier.in_conversation {
        return Ok(());
    }
    if earlier.turn != cx.turn.number {
        let words = format!("The same was read in an earlier turn (call {}) and has not changed since.", earlier.call);
        cx.note(|notes| notes.warnings.push(words));
        return Ok(());
    }
    Err(ToolError::new(
        ErrorKind::Redundant,
        "This was read in this turn already and has not changed since.",
        Next::DoNotRetry(format!("use the result of the call {}", earlier.call)),
    ))
}

/// What the plan read is the version it rests on; where it read nothing, how things stand now.
fn basis_of_changed(
    cx: &CallContext<'_>,
    plan: &Plan,
    read: &[(Target, FileVersion)],
) -> Vec<(Target, ExpectedVersion)> {
    let look = &cx.session.ground.doors.look;
    let found = |target: &Target| match read.iter().rev().find(|(known, _)| known == target) {
        Some((_, version)) => ExpectedVersion::Read(*version),
        None => look.stamp(target).map_or(ExpectedVersion::Nothing, ExpectedVersion::Stamped),
    };
    let changed = plan.effects.iter().filter_map(|effect| match effect {
        Effect::Change(target, _) if target.place().extent() == Extent::Entry => Some(target),
        _ => None,
    });
    changed.map(|target| (target.clone(), found(target))).collect()
}
