//! Asks the judge about connections, with one question for all connections that want the same.
//!
//! A question stays open when its clients give up, and its answer waits for the next connection of the same kind. Clients
//! give up after 15 to 30 s, and people take longer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::judge::ConnectionJudge;
use super::{ConnectionRequest, Decision};

/// The questions of a session.
pub(super) struct Questions {
    judge: Arc<dyn ConnectionJudge>,
    runtime: Handle,
    open: Mutex<HashMap<ConnectionRequest, QuestionState>>,
}

enum QuestionState {
    /// The judge is asked.
    Asked(watch::Receiver<Option<Decision>>, AbortHandle),
    /// The judge answered, and no client was left.
    Answered(Decision),
}

impl Questions {
    pub(super) fn new(judge: Arc<dyn ConnectionJudge>, runtime: Handle) -> Arc<Self> {
        Arc::new(Self { judge, runtime, open: Mutex::default() })
    }

    /// Returns the decision about a connection.
    pub(super) async fn decide(self: &Arc<Self>, wanted: &ConnectionRequest) -> Decision {
        let mut answer = {
            let mut open = self.open();
            match open.remove(wanted) {
                Some(QuestionState::Answered(decision)) => return decision,
                Some(QuestionState::Asked(answer, task)) => {
                    open.insert(wanted.clone(), QuestionState::Asked(answer.clone(), task));
                    answer
                }
                None => {
                    let (sender, answer) = watch::channel(None);
                    let task = self.runtime.spawn(self.clone().ask(wanted.clone(), sender)).abort_handle();
                    open.insert(wanted.clone(), QuestionState::Asked(answer.clone(), task));
                    answer
                }
            }
        };
        let decision = answer.wait_for(Option::is_some).await.ok().and_then(|decision| decision.clone());
        decision.unwrap_or_else(|| {
            // The judge panicked.
            self.open().remove(wanted);
            Decision::Refuse { why: "The question about this connection ended without an answer.".into() }
        })
    }

    /// Forgets what was asked and answered about a host.
    pub(super) fn forget(&self, host: &str) {
        self.open().retain(|wanted, question| {
            if let (true, QuestionState::Asked(_, task)) = (wanted.host == host, question) {
                task.abort();
            }
            wanted.host != host
        });
    }

    /// Ends all questions.
    pub(super) fn end(&self) {
        for question in self.open().drain() {
            if let (_, QuestionState::Asked(_, task)) = question {
                task.abort();
            }
        }
    }

    async fn ask(self: Arc<Self>, wanted: ConnectionRequest, sender: watch::Sender<Option<Decision>>) {
        let decision = self.judge.decide(&wanted).await;
        let mut open = self.open();
        open.remove(&wanted);
        // The map had one receiver; each client has another.
        if sender.receiver_count() == 0 {
            open.insert(wanted, QuestionState::Answered(decision));
        } else {
            sender.send_replace(Some(decision));
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<ConnectionRequest, QuestionState>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
