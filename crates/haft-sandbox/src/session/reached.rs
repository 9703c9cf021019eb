//! Finds out by trial which level of confinement the system gives.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use haft_contract::doors::door::{Receipt, Receipts};
use haft_contract::doors::process::{Confinement, ConfinementLevel, HowEnded};
use rustix::fs::{Mode, OFlags};
use tokio::sync::mpsc;

use crate::running::attend::{NoFinish, Task, attend};
use crate::running::orders::Orders;
use crate::running::standby::Launchers;
use crate::running::wake::Wake;
use crate::settings::Requirement;

/// How long one trial may take.
const TRIAL: Duration = Duration::from_secs(5);

const SWITCHED_OFF: &str = "Your settings switch the sandbox off: [sandbox] use = \"none\".";

/// The level of confinement that the system supports, as far as trials have shown.
#[derive(Debug, Default)]
pub(crate) struct ConfinementSupport {
    level: Option<ConfinementLevel>,
    missing: Vec<String>,
    /// Why a trial failed, if it is not for what is missing.
    untried: Option<String>,
    /// Whether what commands touch can be watched.
    watches: bool,
}

impl ConfinementSupport {
    /// Nothing can be tried, for this reason.
    pub(crate) fn nothing(why: String) -> Self {
        Self { missing: vec![why.clone()], untried: Some(why), ..Self::default() }
    }

    /// The user wants no sandbox.
    pub(crate) fn switched_off() -> Self {
        Self { level: Some(ConfinementLevel::None), missing: vec![SWITCHED_OFF.to_owned()], ..Self::default() }
    }

    /// The full level was reached before, and this was said of it.
    pub(crate) fn full(notes: Vec<String>) -> Self {
        Self { level: Some(ConfinementLevel::Full), missing: notes, ..Self::default() }
    }

    /// Returns what was said of the full level, where it was reached.
    pub(crate) fn notes_of_full(&self) -> Option<&[String]> {
        (self.level == Some(ConfinementLevel::Full)).then_some(&self.missing)
    }

    /// Returns the level that was reached.
    pub(crate) fn level(&self) -> ConfinementLevel {
        self.level.unwrap_or(ConfinementLevel::None)
    }

    /// Tries a level with orders that run nothing.
    pub(crate) fn try_level(&mut self, level: ConfinementLevel, launchers: &Arc<Launchers>, orders: Orders) {
        self.note_trial(level, try_orders(launchers, orders, Vec::new()));
    }

    /// Tries a level, and whether what commands touch in this folder can be watched.
    pub(crate) fn try_watching(
        &mut self,
        level: ConfinementLevel,
        launchers: &Arc<Launchers>,
        orders: Orders,
        folder: &Path,
    ) {
        let watched = Orders { watched: vec![folder.to_owned()], ..orders.clone() };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let outcome = match rustix::fs::open(folder, flags, Mode::empty()) {
            Ok(folder) => try_orders(launchers, watched, vec![folder]),
            Err(errno) => Err(NoFinish::NoLayer(errno.to_string())),
        };
        match outcome {
            Err(NoFinish::NoLayer(why)) => {
                self.missing.push(format!("What commands change cannot be undone: {why}."));
                self.try_level(level, launchers, orders);
            }
            outcome => {
                self.watches = outcome.is_ok();
                self.note_trial(level, outcome);
            }
        }
    }

    fn note_trial(&mut self, level: ConfinementLevel, outcome: Result<Vec<String>, NoFinish>) {
        match outcome {
            Ok(notes) => {
                self.level = Some(level);
                self.missing.extend(notes);
            }
            Err(NoFinish::Missing(what) | NoFinish::NoLayer(what)) => self.missing.push(what),
            Err(why) => self.could_not_try(match why {
                NoFinish::Broken(what) | NoFinish::NoLauncher(what, _) | NoFinish::Passing(what) => what,
                _ => format!("The level \"{level}\" could not be tried: the launcher did not answer."),
            }),
        }
    }

    /// It is not known which level there is, for this reason.
    pub(crate) fn could_not_try(&mut self, why: String) {
        self.missing.push(why.clone());
        self.untried = Some(why);
    }

    /// Returns whether nothing more is to be tried: a level was reached, or nothing less may take the place of one.
    pub(crate) fn is_settled(&self) -> bool {
        self.level.is_some() || self.untried.is_some()
    }

    pub(crate) fn into_confinement(self, required: Requirement) -> Confinement {
        let Self { level, mut missing, untried, watches } = self;
        // Two levels may lack the same.
        missing.dedup();
        Confinement {
            is_set: matches!(required, Requirement::Set(_)),
            required: match required {
                Requirement::Set(level) => level,
                // What can be undone needs no more around it.
                Requirement::Usual if level == Some(ConfinementLevel::Partial) && watches => ConfinementLevel::Partial,
                Requirement::Usual => ConfinementLevel::Full,
            },
            reached: level.unwrap_or(ConfinementLevel::None),
            layerless: None,
            missing,
            untried,
            network: false,
            is_off: false,
            supervised: false,
            watches,
        }
    }
}

fn try_orders(launchers: &Arc<Launchers>, orders: Orders, descriptors: Vec<OwnedFd>) -> Result<Vec<String>, NoFinish> {
    let broken = |error: rustix::io::Errno| NoFinish::Broken(format!("Nothing could be tried: {error}."));
    let wake = Wake::new().map_err(broken)?;
    let task = Task {
        launchers: Arc::clone(launchers),
        orders,
        descriptors,
        input: Bytes::new(),
        streams: None,
        time: TRIAL,
        receipts: Receipts::default(),
        ran: Receipt::Exited(0),
        mark: None,
        disk: None,
        network: None,
        _private: None,
        _guest: None,
    };
    // No receiver: a trial prints nothing.
    let (tell, _) = mpsc::channel(1);
    let finish = attend(task, tell, &wake)?;
    if finish.how == HowEnded::Exited(0) {
        Ok(finish.notes)
    } else {
        Err(NoFinish::Broken("The sandbox was tried, and the trial did not end as it should.".into()))
    }
}
