//! Keeps conflicting calls of different sessions apart while they execute.
//!
//! Two calls may run together unless their planned effects conflict. A call enters the gate after approval: a slot must
//! never wait for a person. The call that waits longest goes first.
//!
//! Not here: order within a turn (`stages/line_up`), time limits (`stages/execute`).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft_contract::effect::{Effect, StateKey};
use haft_contract::outcome::error::ToolError;
use tokio::sync::Notify;

use super::conflict::{Commands, conflict};

/// The gate of one runtime.
#[derive(Default)]
pub(crate) struct Gate {
    inside: Mutex<GateQueue>,
    moved: Notify,
}

#[derive(Default)]
struct GateQueue {
    next_ticket: u64,
    running: Vec<Ticket>,
    waiting: VecDeque<Ticket>,
}

#[derive(Clone)]
struct Ticket {
    number: u64,
    effects: Arc<[Effect]>,
    commands: Commands,
}

/// Returns what a call touches, as the calls of other sessions see it: the state of a session that has a place of its own is
/// the state of no other one.
pub(crate) fn touched(effects: &Arc<[Effect]>, only_session: Option<&str>) -> Arc<[Effect]> {
    let Some(session) = only_session else { return Arc::clone(effects) };
    let named = |effect: &Effect| match effect {
        Effect::Session(key) if !key.is_of_workspace() => Effect::Session(StateKey(format!("{} of {session}", key.0))),
        other => other.clone(),
    };
    effects.iter().map(named).collect()
}

/// A place behind the gate; leaving it lets others in.
pub(crate) struct Slot<'a> {
    gate: &'a Gate,
    ticket: Option<u64>,
}

impl Gate {
    /// Waits until no running call conflicts, and no call that has waited longer.
    pub(crate) async fn enter(&self, effects: &Arc<[Effect]>, commands: Commands) -> Result<Slot<'_>, ToolError> {
        if effects.is_empty() {
            return Ok(Slot { gate: self, ticket: None });
        }
        // From here on the slot's drop gives the ticket back, also while it is waiting.
        let ticket = self.take_ticket(effects, commands);
        let slot = Slot { gate: self, ticket: Some(ticket) };
        loop {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            moved.as_mut().enable();
            if self.lock().start(ticket) {
                return Ok(slot);
            }
            moved.await;
        }
    }

    fn take_ticket(&self, effects: &Arc<[Effect]>, commands: Commands) -> u64 {
        let mut inside = self.lock();
        inside.next_ticket += 1;
        let number = inside.next_ticket;
        inside.waiting.push_back(Ticket { number, effects: effects.clone(), commands });
        number
    }

    fn lock(&self) -> MutexGuard<'_, GateQueue> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GateQueue {
    fn start(&mut self, number: u64) -> bool {
        let Some(position) = self.waiting.iter().position(|waiting| waiting.number == number) else { return false };
        let own = self.waiting[position].clone();
        let conflicts = |other: &Ticket| conflict(&other.effects, &own.effects, own.commands.and(other.commands));
        if self.waiting.iter().take(position).chain(&self.running).any(conflicts) {
            return false;
        }
        self.waiting.remove(position);
        self.running.push(own);
        true
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket else { return };
        let mut inside = self.gate.lock();
        inside.running.retain(|running| running.number != ticket);
        inside.waiting.retain(|waiting| waiting.number != ticket);
        drop(inside);
        self.gate.moved.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use haft_contract::effect::{Change, CommandLine};
    use haft_contract::files::path::{Extent, FileLocation, Target};

    fn change(path: &str) -> Arc<[Effect]> {
        Arc::new([Effect::Change(Target::Inside(FileLocation::new(path, Extent::Entry)), Change::Replace)])
    }

    #[tokio::test]
    async fn conflicting_calls_enter_one_after_the_other() {
        let gate = Gate::default();
        let (a, b) = (change("a"), change("b"));
        let first = gate.enter(&a, Commands::OneByOne).await;
        assert!(gate.enter(&b, Commands::OneByOne).now_or_never().is_some(), "another file does not wait");
        let mut second = Box::pin(gate.enter(&a, Commands::OneByOne));
        assert!((&mut second).now_or_never().is_none());
        drop(first);
        assert!(second.await.is_ok());
    }

    #[test]
    fn the_state_of_a_session_with_a_place_of_its_own_keeps_no_other_session_waiting() {
        let (shared, one, other) = (None, Some("one"), Some("other"));
        for (key, own) in [
            (StateKey("run_code:Python".into()), true),
            (StateKey("list of tasks".into()), true),
            (StateKey::jobs(), true),
            (StateKey::job_states(), true),
            (StateKey::change_sets(), false),
            (StateKey::alone("deploy"), false),
        ] {
            let effects: Arc<[Effect]> = Arc::new([Effect::Session(key.clone())]);
            let waits = |a, b| conflict(&touched(&effects, a), &touched(&effects, b), Commands::SideBySide);
            assert!(waits(shared, shared) && waits(one, one), "{key:?}");
            assert_eq!((waits(one, other), waits(one, shared)), (!own, !own), "{key:?}");
        }
    }

    #[tokio::test]
    async fn nobody_is_overtaken_by_who_came_later() {
        let gate = Gate::default();
        let (a, run) = (change("a"), Arc::from([Effect::Run(CommandLine("make".into()))]));
        let first = gate.enter(&a, Commands::OneByOne).await;
        let mut command = Box::pin(gate.enter(&run, Commands::OneByOne));
        assert!((&mut command).now_or_never().is_none());
        let b = change("b");
        assert!(
            gate.enter(&b, Commands::OneByOne).now_or_never().is_none(),
            "it conflicts with the command that waits"
        );
        drop(first);
        assert!(command.await.is_ok());
    }

    #[tokio::test]
    async fn a_waiter_that_is_dropped_is_not_waited_for() {
        let gate = Gate::default();
        let a = change("a");
        let first = gate.enter(&a, Commands::OneByOne).await;
        assert!(gate.enter(&a, Commands::OneByOne).now_or_never().is_none());
        drop(first);
        assert!(gate.enter(&a, Commands::OneByOne).now_or_never().is_some());
        assert!(gate.lock().waiting.is_empty() && gate.lock().running.is_empty());
    }
}
