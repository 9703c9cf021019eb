//! What a session did, as its records tell it: who said what, and what came of each call.

use std::collections::HashMap;

use haft_model::conversation::{Answer, Message, Reply};
use haft_model::wire::Wire;
use haft_runtime::approval::NO_BECAUSE;
use haft_workspace::state::sessions::Kept;
use serde_json::Value;

use crate::agent::kept::{Said, SessionRecord};

/// A session to be done once more.
#[derive(Default)]
pub(crate) struct Recorded {
    /// Its runs, each a process of its own.
    pub(crate) runs: Vec<RecordedRun>,
    /// What came of the calls, by their ids.
    calls: HashMap<String, Then>,
    /// How many records cannot be read.
    pub(crate) unread: usize,
}

/// One run of a session.
pub(crate) struct RecordedRun {
    pub(crate) model: String,
    pub(crate) wire: Wire,
    pub(crate) said: Said,
    pub(crate) prompt: Option<String>,
    pub(crate) replies: Vec<Reply>,
}

/// What came of a call.
#[derive(Default)]
pub(crate) struct Then {
    has_begun: bool,
    /// Whether the answer is that of the call itself, and not one that stands for it.
    is_own: bool,
    pub(crate) answer: Option<Answer>,
    /// Its result as programs get it, without what the model reads.
    pub(crate) result: Option<Value>,
}

/// Why a call is not run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhyNot {
    Stopped,
    NotRun,
    Unknown,
}

impl WhyNot {
    pub(crate) fn words(self) -> &'static str {
        match self {
            WhyNot::Stopped => "it was stopped then, so it is not run again",
            WhyNot::NotRun => "it was not run then, so it is not run now",
            WhyNot::Unknown => "nobody knows what came of it then, so it is not run again",
        }
    }
}

impl Then {
    /// Returns why the call is not to be run again.
    pub(crate) fn why_not(&self) -> Option<WhyNot> {
        match self.field("status") {
            Some("cancelled") => Some(WhyNot::Stopped),
            Some(_) => None,
            None if self.is_own => None,
            None if self.has_begun || self.answer.is_none() => Some(WhyNot::Unknown),
            None => Some(WhyNot::NotRun),
        }
    }

    /// Returns a text of the result.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.result.as_ref()?.get(name)?.as_str()
    }

    /// Returns the kind of the error that it ended with.
    pub(crate) fn error_kind(&self) -> Option<&str> {
        self.result.as_ref()?.get("error")?.get("kind")?.as_str()
    }

    /// Returns what a person said who did not want it, where one did.
    pub(crate) fn no(&self) -> Option<Option<String>> {
        let what = self.result.as_ref()?.get("error")?.get("what")?.as_str()?;
        let note = what.strip_prefix(NO_BECAUSE).map(str::to_owned);
        (self.error_kind() == Some("declined")).then_some(note)
    }
}

impl Recorded {
    /// Reads the records of a session.
    pub(crate) fn of(kept: &Kept) -> Self {
        let mut recorded = Self::default();
        for record in &kept.records {
            match serde_json::from_str(record.get()) {
                Ok(record) => recorded.note(record),
                Err(_) => recorded.unread += 1,
            }
        }
        recorded
    }

    /// Returns how many replies there are.
    pub(crate) fn replies(&self) -> usize {
        self.runs.iter().map(|run| run.replies.len()).sum()
    }

    /// Returns what came of a call.
    pub(crate) fn then(&self, call: &str) -> Option<&Then> {
        self.calls.get(call)
    }

    fn note(&mut self, record: SessionRecord) {
        match record {
            SessionRecord::Run { model, wire, said, .. } => {
                self.runs.push(RecordedRun { model, wire, said, prompt: None, replies: Vec::new() });
            }
            SessionRecord::Message(Message::User { text }) => {
                // Later ones of a run are haft's own words to the model, and come again by themselves.
                if let Some(run) = self.runs.last_mut().filter(|run| run.replies.is_empty()) {
                    run.prompt.get_or_insert(text);
                }
            }
            SessionRecord::Message(Message::Model(reply)) => self.run_of(&reply).replies.push(reply),
            SessionRecord::Message(Message::Tools { answers }) => {
                for answer in answers {
                    self.calls.entry(answer.call.clone()).or_default().answer.get_or_insert(answer);
                }
            }
            SessionRecord::Began(call) => self.calls.entry(call.id).or_default().has_begun = true,
            SessionRecord::Answered(answer) => {
                let then = self.calls.entry(answer.call.clone()).or_default();
                (then.is_own, then.answer) = (true, Some(answer));
            }
            SessionRecord::Result(result) => {
                let id = result.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
                self.calls.entry(id).or_default().result = Some(result);
            }
            SessionRecord::Ended(_) => {}
        }
    }

    /// Returns the run that a reply belongs to; where the record of its beginning is lost, one is made up.
    fn run_of(&mut self, reply: &Reply) -> &mut RecordedRun {
        if self.runs.is_empty() {
            let (model, wire) = (reply.native.model.clone(), reply.native.wire);
            self.runs.push(RecordedRun { model, wire, said: Said::default(), prompt: None, replies: Vec::new() });
        }
        let last = self.runs.len() - 1;
        &mut self.runs[last]
    }
}
