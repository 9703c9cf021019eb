//! Tells clients what has changed: the list of tools, the list of outputs, the log of changes; and what haft has to report.
//!
//! Changes are gathered per client, and one task per client sends them, so a client that does not read costs a few names
//! and never delays a call. A client with a handshake is told of lists, of the resources it subscribed to, and of reports
//! from the level on that it set. A client of the new era is told what its subscription names.

#![expect(deprecated, reason = "reports go away with the clients that have a handshake")]

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_host::notices::{Notices, UntrustedFiles};
use rmcp::model::{
    LoggingLevel, LoggingMessageNotification, LoggingMessageNotificationParam, PromptListChangedNotification,
    ResourceListChangedNotification, ResourceUpdatedNotification, ResourceUpdatedNotificationParam, ServerNotification,
    ToolListChangedNotification,
};
use rmcp::service::{Peer, RoleServer, SubscriptionSink};
use serde_json::json;
use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Most clients and subscriptions that are told.
const MOST_LISTENERS: usize = 256;
/// Most resources that a client subscribes to.
const MOST_RESOURCES: usize = 64;
/// Most reports that wait for one client; the oldest go.
const MOST_REPORTS: usize = 32;
/// How long a client has to take one message.
const PATIENCE: Duration = Duration::from_secs(5);

/// A change that clients can be notified of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ServerChange {
    Tools,
    Prompts,
    Resources,
    Resource(String),
}

/// What a client with a handshake asked to be told.
#[derive(Default)]
pub(crate) struct Wishes {
    level: Mutex<Option<LoggingLevel>>,
    resources: Mutex<BTreeSet<String>>,
}

impl Wishes {
    /// Reports are sent from this level on.
    pub(crate) fn set_level(&self, level: LoggingLevel) {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(level);
    }

    /// Returns the level from which reports are sent; nothing before the client set one.
    pub(crate) fn level(&self) -> Option<LoggingLevel> {
        *self.level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a resource; fails when there are too many.
    pub(crate) fn subscribe(&self, uri: String) -> Result<(), TooMany> {
        let mut resources = self.resources();
        if resources.len() >= MOST_RESOURCES && !resources.contains(&uri) {
            return Err(TooMany);
        }
        resources.insert(uri);
        Ok(())
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.resources().remove(uri);
    }

    fn resources(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.resources.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// There is no room for another subscription.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

/// Everyone who is told about changes. Clones share them.
#[derive(Clone, Default)]
pub struct Listeners {
    all: Arc<Mutex<Vec<Arc<ChangeListener>>>>,
}

struct ChangeListener {
    target: Target,
    pending: Mutex<Pending>,
    wake: Notify,
    gone: CancellationToken,
}

enum Target {
    Client(Peer<RoleServer>, Arc<Wishes>),
    Subscription(SubscriptionSink),
}

#[derive(Default)]
struct Pending {
    changes: BTreeSet<ServerChange>,
    reports: VecDeque<(LoggingLevel, String)>,
}

impl Listeners {
    /// Returns notices that also reach the clients.
    pub fn reporting(&self, inner: Arc<dyn Notices>) -> Arc<dyn Notices> {
        Arc::new(Reporting { inner, listeners: self.clone() })
    }

    /// Tells a client with a handshake from now on, until the guard is dropped; nothing when there are too many.
    pub(crate) fn add_client(&self, peer: Peer<RoleServer>, wishes: Arc<Wishes>) -> Option<DropGuard> {
        self.add(Target::Client(peer, wishes))
    }

    /// Tells a subscription from now on, until the guard is dropped; nothing when there are too many.
    pub(crate) fn add_subscription(&self, sink: SubscriptionSink) -> Option<DropGuard> {
        self.add(Target::Subscription(sink))
    }

    fn add(&self, target: Target) -> Option<DropGuard> {
        let mut all = self.all();
        all.retain(|listener| !listener.gone.is_cancelled());
        if all.len() >= MOST_LISTENERS {
            return None;
        }
        let gone = CancellationToken::new();
        let listener = ChangeListener { target, pending: Mutex::default(), wake: Notify::new(), gone: gone.clone() };
        let listener = Arc::new(listener);
        all.push(listener.clone());
        tokio::spawn(listener.send_what_comes());
        Some(gone.drop_guard())
    }

    /// Returns whether anyone is told.
    pub(crate) fn is_empty(&self) -> bool {
        self.all().iter().all(|listener| listener.gone.is_cancelled())
    }

    /// Tells everyone who wants to know.
    pub(crate) fn tell(&self, change: &ServerChange) {
        for listener in &*self.all() {
            listener.pending().changes.insert(change.clone());
            listener.wake.notify_one();
        }
    }

    fn report(&self, level: LoggingLevel, text: &str) {
        for listener in &*self.all() {
            let mut pending = listener.pending();
            pending.reports.push_back((level, text.to_owned()));
            if pending.reports.len() > MOST_REPORTS {
                pending.reports.pop_front();
            }
            drop(pending);
            listener.wake.notify_one();
        }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<ChangeListener>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChangeListener {
    async fn send_what_comes(self: Arc<Self>) {
        loop {
            tokio::select! {
                () = self.gone.cancelled() => return,
                () = self.wake.notified() => {}
            }
            let Pending { changes, reports } = std::mem::take(&mut *self.pending());
            for message in self.messages(changes, reports) {
                let sent = tokio::select! {
                    () = self.gone.cancelled() => return,
                    sent = tokio::time::timeout(PATIENCE, self.send(message)) => sent,
                };
                // A client that is gone, or takes nothing for so long, is not told any more.
                if !matches!(sent, Ok(true)) {
                    self.gone.cancel();
                    return;
                }
            }
        }
    }

    /// Returns the messages that this listener wants.
    fn messages(
        &self,
        changes: BTreeSet<ServerChange>,
        reports: VecDeque<(LoggingLevel, String)>,
    ) -> Vec<ServerNotification> {
        let wants = |change: &ServerChange| match (change, &self.target) {
            (ServerChange::Resource(uri), Target::Client(_, wishes)) => wishes.resources().contains(uri),
            (_, Target::Client(..)) => true,
            (change, Target::Subscription(sink)) => {
                let filter = sink.accepted();
                match change {
                    ServerChange::Tools => filter.tools_list_changed == Some(true),
                    ServerChange::Prompts => filter.prompts_list_changed == Some(true),
                    ServerChange::Resources => filter.resources_list_changed == Some(true),
                    ServerChange::Resource(uri) => {
                        filter.resource_subscriptions.as_ref().is_some_and(|uris| uris.contains(uri))
                    }
                }
            }
        };
        let level = match &self.target {
            Target::Client(_, wishes) => wishes.level(),
            Target::Subscription(_) => None,
        };
        let reports =
            reports.into_iter().filter(|(severity, _)| level.is_some_and(|level| rank(*severity) >= rank(level)));
        let changes = changes.into_iter().filter(wants).map(changed);
        changes.chain(reports.map(|(level, text)| reported(level, text))).collect()
    }

    async fn send(&self, message: ServerNotification) -> bool {
        match &self.target {
            Target::Client(peer, _) => peer.send_notification(message).await.is_ok(),
            Target::Subscription(sink) => sink.send(message).await.is_ok(),
        }
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn changed(change: ServerChange) -> ServerNotification {
    match change {
        ServerChange::Tools => ToolListChangedNotification::default().into(),
        ServerChange::Prompts => PromptListChangedNotification::default().into(),
        ServerChange::Resources => ResourceListChangedNotification::default().into(),
        ServerChange::Resource(uri) => {
            ResourceUpdatedNotification::new(ResourceUpdatedNotificationParam::new(uri)).into()
        }
    }
}

fn reported(level: LoggingLevel, text: String) -> ServerNotification {
    let param = LoggingMessageNotificationParam::new(level, json!(text)).with_logger("haft");
    LoggingMessageNotification::new(param).into()
}

/// Orders levels: a greater one is more urgent.
pub(crate) fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

/// Notices that also reach the clients which set a level.
struct Reporting {
    inner: Arc<dyn Notices>,
    listeners: Listeners,
}

impl Notices for Reporting {
    fn note(&self, text: &str) {
        self.listeners.report(LoggingLevel::Notice, text);
        self.inner.note(text);
    }

    fn warn(&self, text: &str) {
        self.listeners.report(LoggingLevel::Warning, text);
        self.inner.warn(text);
    }

    fn can_ask(&self) -> bool {
        self.inner.can_ask()
    }

    fn asks_for_trust(&self, files: &UntrustedFiles) -> std::io::Result<bool> {
        self.inner.asks_for_trust(files)
    }
}
