//! Asks the judge about connections: one question for all that want the same.
//!
//! A question goes on when its clients give up. Then the answer is kept for the next connection of the same kind,
//! because clients give up after 15 to 30 s and people take longer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::judge::Judge;
use super::{Decision, Wanted};

/// The questions of a session.
pub(super) struct Questions {
    judge: Arc<dyn Judge>,
    runtime: Handle,
    open: Mutex<HashMap<Wanted, Question>>,
}

enum Question {
    /// The judge is asked.
    Asked(watch::Receiver<Option<Decision>>, AbortHandle),
    /// The judge answered, and no client was left.
    Answered(Decision),
}

impl Questions {
    pub(super) fn new(judge: Arc<dyn Judge>, runtime: Handle) -> Arc<Self> {
        Arc::new(Self { judge, runtime, open: Mutex::default() })
    }

    /// Returns the decision about a connection.
    pub(super) async fn decide(self: &Arc<Self>, wanted: &Wanted) -> Decision {
        let mut answer = {
            let mut open = self.open();
            match open.remove(wanted) {
                Some(Question::Answered(decision)) => return decision,
                Some(Question::Asked(answer, task)) => {
                    open.insert(wanted.clone(), Question::Asked(answer.clone(), task));
                    answer
                }
                None => {
                    let (sender, answer) = watch::channel(None);
                    let task = self.runtime.spawn(self.clone().ask(wanted.clone(), sender)).abort_handle();
                    open.insert(wanted.clone(), Question::Asked(answer.clone(), task));
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
            if let (true, Question::Asked(_, task)) = (wanted.host == host, question) {
                task.abort();
            }
            wanted.host != host
        });
    }

    /// Ends all questions.
    pub(super) fn end(&self) {
        for question in self.open().drain() {
            if let (_, Question::Asked(_, task)) = question {
                task.abort();
            }
        }
    }

    async fn ask(self: Arc<Self>, wanted: Wanted, sender: watch::Sender<Option<Decision>>) {
        let decision = self.judge.decide(&wanted).await;
        let mut open = self.open();
        open.remove(&wanted);
        // The map had one receiver; each client has another.
        if sender.receiver_count() == 0 {
            open.insert(wanted, Question::Answered(decision));
        } else {
            sender.send_replace(Some(decision));
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Wanted, Question>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
