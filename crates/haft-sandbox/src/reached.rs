//! Which level of confinement the system gives, found out by trying.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use haft_contract::door::{Receipt, Receipts};
use haft_contract::process::{Confinement, HowEnded, Level};
use tokio::sync::mpsc;

use crate::attend::{NoFinish, Task, attend};
use crate::orders::Orders;
use crate::standby::Launchers;
use crate::wake::Wake;

/// How long one trial may take.
const TRIAL: Duration = Duration::from_secs(5);

const SWITCHED_OFF: &str = "Your settings switch the sandbox off: [sandbox] use = \"none\".";

/// What was found out so far.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    level: Option<Level>,
    missing: Vec<String>,
    /// Why a trial failed, if it is not for what is missing.
    untried: Option<String>,
}

impl Reached {
    /// Nothing can be tried, for this reason.
    pub(crate) fn nothing(why: String) -> Self {
        Self { level: None, missing: vec![why.clone()], untried: Some(why) }
    }

    /// The user wants no sandbox.
    pub(crate) fn switched_off() -> Self {
        Self { level: Some(Level::None), missing: vec![SWITCHED_OFF.to_owned()], untried: None }
    }

    /// The full level was reached before, and this was said of it.
    pub(crate) fn full(notes: Vec<String>) -> Self {
        Self { level: Some(Level::Full), missing: notes, untried: None }
    }

    /// Returns what was said of the full level, where it was reached.
    pub(crate) fn notes_of_full(&self) -> Option<&[String]> {
        (self.level == Some(Level::Full)).then_some(&self.missing)
    }

    /// Tries a level with orders that run nothing.
    pub(crate) fn try_level(&mut self, level: Level, launchers: &Arc<Launchers>, orders: Orders) {
        match try_orders(launchers, orders) {
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

    pub(crate) fn into_confinement(self, required: Level) -> Confinement {
        let Self { level, mut missing, untried } = self;
        // Two levels may lack the same.
        missing.dedup();
        Confinement {
            required,
            reached: level.unwrap_or(Level::None),
            missing,
            untried,
            network: false,
            is_off: false,
            supervised: false,
        }
    }
}

fn try_orders(launchers: &Arc<Launchers>, orders: Orders) -> Result<Vec<String>, NoFinish> {
    let broken = |error: rustix::io::Errno| NoFinish::Broken(format!("Nothing could be tried: {error}."));
    let wake = Wake::new().map_err(broken)?;
    let task = Task {
        launchers: Arc::clone(launchers),
        orders,
        descriptors: Vec::new(),
        input: Bytes::new(),
        time: TRIAL,
        receipts: Receipts::default(),
        ran: Receipt::Exited(0),
        mark: None,
        disk: None,
        network: None,
        _private: None,
        _guest: None,
    };
    // Nobody listens: a trial prints nothing.
    let (tell, _) = mpsc::channel(1);
    let finish = attend(task, tell, &wake)?;
    if finish.how == HowEnded::Exited(0) {
        Ok(finish.notes)
    } else {
        Err(NoFinish::Broken("The sandbox was tried, and the trial did not end as it should.".into()))
    }
}
