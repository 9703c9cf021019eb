//! Records which hosts the commands of a session reached: connections and bytes per host and port, and refused names.
//!
//! The numbers are those of the session. [`NetworkTraffic::since`] gives the part of a call. A connection does not show
//! which process made it, so each of several overlapping calls gets the traffic of all of them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::watch;

/// Most refused names that are kept one by one; more of them are counted.
const MOST_REFUSED_NAMES: usize = 1000;
/// Most addresses without a name that are kept one by one. There are millions of them.
const MOST_ADDRESSES: usize = 1000;
/// What stands for all other addresses.
const OTHER_ADDRESSES: &str = "other addresses";

/// The hosts that were reached and the names that were refused, up to one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkTraffic {
    /// By host and port. A connection to an address without a name has the address in place of the host, or
    /// `other addresses` when there were too many of them to keep.
    pub flows: BTreeMap<(String, u16), Flow>,
    /// Names that were asked for and refused.
    pub refused_names: BTreeMap<String, RefusedName>,
    /// How often other names were refused, when there were too many of them to keep.
    pub more_refused_names: u64,
    /// When these numbers were taken.
    pub taken: SystemTime,
}

/// The connections to one port of one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// How many were made, refused ones included.
    pub connections: u64,
    /// Bytes from commands to the host.
    pub bytes_out: u64,
    /// Bytes from the host to commands.
    pub bytes_in: u64,
    /// How many clients closed before they were decided about. If a question about them was open, its answer applies to
    /// the retry.
    pub gave_up: u64,
    /// When the first connection was made; in a difference not before the earlier numbers were taken.
    pub first: SystemTime,
    /// When the last connection was made, decided or carried bytes.
    pub last: SystemTime,
    /// What became of the latest connection.
    pub outcome: ConnectionOutcome,
}

/// The present state or the end of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionOutcome {
    /// It waits for its first bytes, for an answer or for the host.
    Waiting,
    /// It reached the host.
    Reached,
    /// It was refused, for this reason.
    Refused(String),
    /// It was allowed, and the host was not reached, for this reason.
    Failed(String),
    /// The client closed it before it was decided about.
    GaveUp,
}

/// A name that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedName {
    /// How often it was asked for.
    pub times: u64,
    /// Why it was refused.
    pub why: String,
}

impl NetworkTraffic {
    /// Returns what was added after earlier numbers of the same supervisor were taken.
    #[must_use]
    pub fn since(&self, earlier: &NetworkTraffic) -> NetworkTraffic {
        let flows = self.flows.iter().filter_map(|(place, flow)| {
            let added =
                earlier.flows.get(place).map_or_else(|| Some(flow.clone()), |old| flow.since(old, earlier.taken));
            Some((place.clone(), added?))
        });
        let refused_names = self.refused_names.iter().filter_map(|(name, refused)| {
            let times = refused.times - earlier.refused_names.get(name).map_or(0, |old| old.times.min(refused.times));
            (times > 0).then(|| (name.clone(), RefusedName { times, why: refused.why.clone() }))
        });
        NetworkTraffic {
            flows: flows.collect(),
            refused_names: refused_names.collect(),
            more_refused_names: self.more_refused_names.saturating_sub(earlier.more_refused_names),
            taken: self.taken,
        }
    }

    /// Returns whether nothing was reached or refused.
    pub fn is_empty(&self) -> bool {
        self.flows.is_empty() && self.refused_names.is_empty() && self.more_refused_names == 0
    }
}

impl Flow {
    fn since(&self, old: &Flow, taken: SystemTime) -> Option<Flow> {
        let added = Flow {
            connections: self.connections.saturating_sub(old.connections),
            bytes_out: self.bytes_out.saturating_sub(old.bytes_out),
            bytes_in: self.bytes_in.saturating_sub(old.bytes_in),
            gave_up: self.gave_up.saturating_sub(old.gave_up),
            first: self.first.max(taken),
            last: self.last,
            outcome: self.outcome.clone(),
        };
        let counted = added.connections + added.bytes_out + added.bytes_in + added.gave_up;
        (counted > 0 || self.outcome != old.outcome).then_some(added)
    }
}

/// The numbers of a session while it runs.
#[derive(Default)]
pub(super) struct Ledger {
    accounts: Mutex<HashMap<(String, u16), Arc<Account>>>,
    refused: Mutex<RefusedNames>,
    nameless: Mutex<HashSet<(IpAddr, u16)>>,
}

#[derive(Default)]
struct RefusedNames {
    names: BTreeMap<String, RefusedName>,
    more: u64,
}

/// The numbers of one host and port.
pub(super) struct Account {
    connections: AtomicU64,
    bytes_out: AtomicU64,
    bytes_in: AtomicU64,
    gave_up: AtomicU64,
    /// In milliseconds of the clock.
    last: AtomicU64,
    first: SystemTime,
    outcome: Mutex<ConnectionOutcome>,
    /// Changes when the host is revoked.
    revoked: watch::Sender<()>,
}

impl Ledger {
    /// Counts a new connection.
    pub(super) fn open(&self, host: &str, port: u16) -> Arc<Account> {
        let mut accounts = locked(&self.accounts);
        let account = accounts.entry((host.to_owned(), port)).or_insert_with(|| Arc::new(Account::new())).clone();
        drop(accounts);
        account.connections.fetch_add(1, Ordering::Relaxed);
        account.note(ConnectionOutcome::Waiting);
        account
    }

    /// Counts a connection to an address that has no name and was not granted.
    pub(super) fn open_nameless(&self, address: IpAddr, port: u16) -> Arc<Account> {
        let mut nameless = locked(&self.nameless);
        let is_kept = nameless.contains(&(address, port))
            || (nameless.len() < MOST_ADDRESSES && nameless.insert((address, port)));
        drop(nameless);
        let host = if is_kept { address.to_string() } else { OTHER_ADDRESSES.to_owned() };
        self.open(&host, port)
    }

    /// Notes that a name was refused.
    pub(super) fn refuse_name(&self, name: &str, why: &str) {
        let mut refused = locked(&self.refused);
        if let Some(known) = refused.names.get_mut(name) {
            known.times += 1;
        } else if refused.names.len() < MOST_REFUSED_NAMES {
            refused.names.insert(name.to_owned(), RefusedName { times: 1, why: why.to_owned() });
        } else {
            refused.more += 1;
        }
    }

    /// Ends the open connections to a host.
    pub(super) fn revoke(&self, host: &str) {
        let accounts = locked(&self.accounts);
        for (_, account) in accounts.iter().filter(|(place, _)| place.0 == host) {
            account.revoked.send_replace(());
        }
    }

    pub(super) fn traffic(&self) -> NetworkTraffic {
        let accounts = locked(&self.accounts);
        let flows = accounts.iter().map(|(place, account)| (place.clone(), account.flow())).collect();
        let refused = locked(&self.refused);
        let (refused_names, more_refused_names) = (refused.names.clone(), refused.more);
        NetworkTraffic { flows, refused_names, more_refused_names, taken: SystemTime::now() }
    }
}

impl Account {
    fn new() -> Self {
        Self {
            connections: AtomicU64::new(0),
            bytes_out: AtomicU64::new(0),
            bytes_in: AtomicU64::new(0),
            gave_up: AtomicU64::new(0),
            last: AtomicU64::new(0),
            first: SystemTime::now(),
            outcome: Mutex::new(ConnectionOutcome::Waiting),
            revoked: watch::Sender::new(()),
        }
    }

    /// Says what became of a connection.
    pub(super) fn note(&self, outcome: ConnectionOutcome) {
        if outcome == ConnectionOutcome::GaveUp {
            self.gave_up.fetch_add(1, Ordering::Relaxed);
        }
        *locked(&self.outcome) = outcome;
        self.touch();
    }

    pub(super) fn sent(&self, bytes: usize) {
        self.bytes_out.fetch_add(bytes as u64, Ordering::Relaxed);
        self.touch();
    }

    pub(super) fn received(&self, bytes: usize) {
        self.bytes_in.fetch_add(bytes as u64, Ordering::Relaxed);
        self.touch();
    }

    /// Returns what changes when the host is revoked.
    pub(super) fn revoked(&self) -> watch::Receiver<()> {
        self.revoked.subscribe()
    }

    fn touch(&self) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.last.fetch_max(u64::try_from(now.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn flow(&self) -> Flow {
        let number = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Flow {
            connections: number(&self.connections),
            bytes_out: number(&self.bytes_out),
            bytes_in: number(&self.bytes_in),
            gave_up: number(&self.gave_up),
            first: self.first,
            last: self.first.max(SystemTime::UNIX_EPOCH + Duration::from_millis(number(&self.last))),
            outcome: locked(&self.outcome).clone(),
        }
    }
}

/// The numbers stay right when another thread panicked while it held the lock: each change is one step.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow<'t>(traffic: &'t NetworkTraffic, host: &str) -> &'t Flow {
        &traffic.flows[&(host.to_owned(), 443)]
    }

    #[test]
    fn a_difference_has_only_what_was_added() {
        let ledger = Ledger::default();
        ledger.open("old.test", 443).note(ConnectionOutcome::Reached);
        let account = ledger.open("both.test", 443);
        account.sent(10);
        ledger.refuse_name("denied.test", "denied");
        let earlier = ledger.traffic();

        account.received(5);
        ledger.open("new.test", 443).note(ConnectionOutcome::Refused("no".into()));
        ledger.refuse_name("denied.test", "denied");
        ledger.refuse_name("other.test", "denied");
        let added = ledger.traffic().since(&earlier);

        let hosts: Vec<&str> = added.flows.keys().map(|(host, _)| host.as_str()).collect();
        assert_eq!(hosts, ["both.test", "new.test"]);
        let both = flow(&added, "both.test");
        assert_eq!((both.connections, both.bytes_out, both.bytes_in), (0, 0, 5));
        assert!(both.first >= earlier.taken);
        assert_eq!(flow(&added, "new.test").outcome, ConnectionOutcome::Refused("no".into()));
        let times: Vec<u64> = added.refused_names.values().map(|refused| refused.times).collect();
        assert_eq!(times, [1, 1]);
        assert!(ledger.traffic().since(&ledger.traffic()).is_empty());
    }

    #[test]
    fn an_outcome_that_changed_is_part_of_the_difference() {
        let ledger = Ledger::default();
        let account = ledger.open("a.test", 443);
        let earlier = ledger.traffic();
        account.note(ConnectionOutcome::GaveUp);
        let added = ledger.traffic().since(&earlier);
        assert_eq!((flow(&added, "a.test").gave_up, flow(&added, "a.test").connections), (1, 0));
    }

    #[test]
    fn addresses_without_a_name_are_bounded_and_none_is_uncounted() {
        let ledger = Ledger::default();
        for round in 0..2 {
            for number in 0..u32::try_from(MOST_ADDRESSES).unwrap() + 5 {
                ledger.open_nameless(std::net::Ipv4Addr::from(0x7f00_0000 + number).into(), 443);
            }
            let traffic = ledger.traffic();
            assert_eq!(
                (traffic.flows.len(), flow(&traffic, OTHER_ADDRESSES).connections),
                (MOST_ADDRESSES + 1, 5 + 5 * round)
            );
        }
    }

    #[test]
    fn refused_names_are_bounded_and_none_is_uncounted() {
        let ledger = Ledger::default();
        for number in 0..MOST_REFUSED_NAMES + 7 {
            ledger.refuse_name(&format!("{number}.tunnel.test"), "refused");
        }
        let traffic = ledger.traffic();
        assert_eq!((traffic.refused_names.len(), traffic.more_refused_names), (MOST_REFUSED_NAMES, 7));
    }
}
