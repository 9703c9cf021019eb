//! Which level of confinement the system gives, found out by trying.

use std::sync::Arc;
use std::time::Duration;

use haft::door::{Receipt, Receipts};
use haft::process::{Confinement, Level};
use tokio::sync::mpsc;

use crate::attend::{NoFinish, Task, attend};
use crate::orders::Orders;
use crate::standby::Launchers;
use crate::wake::Wake;

/// How long one trial may take.
const TRIAL: Duration = Duration::from_secs(5);

/// What was found out so far.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    level: Option<Level>,
    missing: Vec<String>,
    /// Whether a trial failed for another reason than what is missing.
    is_uncertain: bool,
}

impl Reached {
    /// Nothing can be tried, for this reason.
    pub(crate) fn nothing(why: String) -> Self {
        Self { level: None, missing: vec![why], is_uncertain: true }
    }

    /// Tries a level with orders that run nothing.
    pub(crate) fn try_level(&mut self, level: Level, launchers: &Arc<Launchers>, orders: Orders) {
        match try_orders(launchers, orders) {
            Ok(notes) => {
                self.level = Some(level);
                self.missing.extend(notes);
            }
            Err(NoFinish::Missing(what) | NoFinish::NoLayer(what)) => self.missing.push(what),
            Err(why) => {
                self.is_uncertain = true;
                self.missing.push(match why {
                    NoFinish::Broken(what) | NoFinish::NoLauncher(what, _) => what,
                    _ => format!("The level \"{level}\" could not be tried: the launcher did not answer."),
                });
            }
        }
    }

    /// Returns whether a level was reached.
    pub(crate) fn is_settled(&self) -> bool {
        self.level.is_some()
    }

    /// Returns whether the answer would be the same the next time.
    pub(crate) fn is_certain(&self) -> bool {
        !self.is_uncertain
    }

    pub(crate) fn into_confinement(self, required: Level) -> Confinement {
        Confinement { required, reached: self.level.unwrap_or(Level::None), missing: self.missing }
    }
}

fn try_orders(launchers: &Arc<Launchers>, orders: Orders) -> Result<Vec<String>, NoFinish> {
    let broken = |error: rustix::io::Errno| NoFinish::Broken(format!("Nothing could be tried: {error}."));
    let wake = Wake::new().map_err(broken)?;
    let task = Task {
        launchers: Arc::clone(launchers),
        orders,
        descriptors: Vec::new(),
        time: TRIAL,
        receipts: Receipts::default(),
        ran: Receipt::Exited(0),
        mark: None,
        _private: None,
    };
    // Nobody listens: a trial prints nothing.
    let (tell, _) = mpsc::channel(1);
    let finish = attend(task, tell, &wake)?;
    Ok(finish.notes)
}
