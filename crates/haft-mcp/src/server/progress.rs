//! Reports the output of a running call as progress: its last lines, a few times a second.
//!
//! A silent call still reports now and then that it runs, because clients give up on silent calls. haft sends progress
//! before the answer, never after it. Progress to a pipe goes directly into its outbox; haft drops it if there is no room.

use std::convert::Infallible;
use std::time::Duration;

use haft_contract::call::CallId;
use haft_runtime::events::{CallEventContent, EventKind, Events, Subscription};
use rmcp::model::{ProgressNotification, ProgressNotificationParam, ProgressToken, ServerJsonRpcMessage};
use rmcp::service::{Peer, RoleServer};
use tokio::time::Instant;

use crate::transport::outbox::{Outbox, line_of};

/// How long it is silent after a message.
const PAUSE: Duration = Duration::from_millis(100);
/// How long it is silent at most.
const SILENCE: Duration = Duration::from_secs(5);
/// Most lines of a message.
const MOST_LINES: usize = 2;
/// Most characters of a message.
const LONGEST: usize = 400;

/// Reports the progress of a call to the request that made it.
pub(crate) struct ProgressReporter {
    asked: Option<ProgressFeed>,
}

/// The destination of progress notifications.
pub(crate) enum ProgressTarget {
    Pipe(Outbox),
    Peer(Peer<RoleServer>),
}

/// The progress notifications of one call whose client asked for them.
struct ProgressFeed {
    token: ProgressToken,
    call: CallId,
    listener: ProgressTarget,
    events: Subscription,
    began: Instant,
    told: f64,
    next: Instant,
    silent_until: Instant,
    waiting: Option<String>,
}

impl ProgressReporter {
    /// Tells nothing unless the client gave a token.
    pub(crate) fn of(
        token: Option<ProgressToken>,
        call: &CallId,
        (events, listener): (&Events, ProgressTarget),
    ) -> Self {
        let now = Instant::now();
        let asked = token.map(|token| ProgressFeed {
            token,
            call: call.clone(),
            listener,
            events: events.subscribe_only(EventKind::OutputChunk),
            began: now,
            told: 0.0,
            next: now,
            silent_until: now + SILENCE,
            waiting: None,
        });
        Self { asked }
    }

    /// Tells what there is to tell, until it is given up, which may be at any moment.
    pub(crate) async fn tell_until_dropped(&mut self) -> Infallible {
        loop {
            self.step().await;
        }
    }

    /// Waits for something to tell, and tells it when its time has come.
    async fn step(&mut self) {
        let Some(asked) = &mut self.asked else { return std::future::pending().await };
        tokio::select! {
            () = tokio::time::sleep_until(asked.next), if asked.waiting.is_some() => asked.tell().await,
            () = tokio::time::sleep_until(asked.silent_until), if asked.waiting.is_none() => {
                asked.waiting = Some(format!("running for {} s", asked.began.elapsed().as_secs()));
                asked.tell().await;
            }
            event = asked.events.next() => {
                if let (true, CallEventContent::OutputChunk(text)) = (event.call == asked.call, &event.what) {
                    asked.waiting = last_lines(text).or(asked.waiting.take());
                }
            }
        }
    }
}

impl ProgressFeed {
    async fn tell(&mut self) {
        let Some(message) = self.waiting.take() else { return };
        let seconds = (self.began.elapsed().as_secs_f64() * 1_000.0).round() / 1_000.0;
        self.told = if seconds > self.told { seconds } else { self.told + 0.001 };
        let param = ProgressNotificationParam::new(self.token.clone(), self.told).with_message(message);
        let now = Instant::now();
        self.next = now + PAUSE;
        self.silent_until = now + SILENCE;
        match &self.listener {
            ProgressTarget::Pipe(outbox) => {
                let notification = ProgressNotification::new(param);
                outbox.put_if_room(line_of(&ServerJsonRpcMessage::notification(notification.into())));
            }
            // A client that is gone misses nothing.
            ProgressTarget::Peer(peer) => drop(peer.notify_progress(param).await),
        }
    }
}

/// Returns the last lines that are not blank, without what could command a terminal.
fn last_lines(text: &str) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().rev().filter(|line| !line.trim().is_empty()).take(MOST_LINES).collect();
    lines.reverse();
    let visible = |c: char| if c.is_control() && c != '\n' { ' ' } else { c };
    let shown: String = lines.join("\n").chars().take(LONGEST).map(visible).collect();
    (!shown.is_empty()).then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_told_and_never_more() {
        assert_eq!(last_lines("a\nb\n\nc\n"), Some("b\nc".to_owned()));
        assert_eq!(last_lines("\n \n"), None);
        assert_eq!(last_lines("a\u{1b}[2Jb"), Some("a [2Jb".to_owned()));
        assert_eq!(last_lines(&"x".repeat(10_000)).map(|text| text.len()), Some(LONGEST));
    }
}
