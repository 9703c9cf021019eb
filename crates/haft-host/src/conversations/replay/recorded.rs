//! Reads a session from its records: the messages, and the result of each call.

use std::collections::HashMap;
use std::iter;

use haft_model::conversation::{Message, Reply, ReplyPart, ToolAnswer};
use haft_model::wire::Wire;
use haft_workspace::state::sessions::StoredSession;
use serde_json::Value;

use crate::conversations::session_records::{RunOptions, SessionRecord};

/// A session to be replayed, as its records tell it.
#[derive(Default)]
pub struct RecordedSession {
    /// Its runs, each a process of its own.
    pub runs: Vec<RecordedRun>,
    /// What came of the calls, by their names here.
    calls: HashMap<String, Then>,
    /// What the calls of an id are called here, in the last reply that made some.
    names: HashMap<String, Vec<String>>,
    /// Calls that are called otherwise here than in the session: an id of an earlier version could come again. Their ids
    /// of then, and their names.
    pub renamed: Vec<(String, String)>,
    /// How many records cannot be read.
    pub unread: usize,
}

/// One run of a session.
pub struct RecordedRun {
    pub model: String,
    pub wire: Wire,
    pub said: RunOptions,
    pub prompt: Option<String>,
    pub replies: Vec<Reply>,
}

/// What came of a call.
#[derive(Default)]
pub struct Then {
    has_begun: bool,
    /// Whether the answer is that of the call itself, and not one that stands for it.
    is_own: bool,
    pub answer: Option<ToolAnswer>,
    /// Its result as programs get it, without what the model reads.
    pub result: Option<Value>,
}

/// Why a call is not run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyNot {
    Stopped,
    NotRun,
    Unknown,
}

impl WhyNot {
    pub fn words(self) -> &'static str {
        match self {
            WhyNot::Stopped => "it was stopped then, so it is not run again",
            WhyNot::NotRun => "it was not run then, so it is not run now",
            WhyNot::Unknown => "its recorded result is not known, so it is not run again",
        }
    }
}

impl Then {
    /// Returns why the call is not to be run again.
    pub fn why_not(&self) -> Option<WhyNot> {
        match self.field("status") {
            Some("cancelled") => Some(WhyNot::Stopped),
            Some(_) => None,
            None if self.is_own => None,
            None if self.has_begun || self.answer.is_none() => Some(WhyNot::Unknown),
            None => Some(WhyNot::NotRun),
        }
    }

    /// Returns a text of the result.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.result.as_ref()?.get(name)?.as_str()
    }

    /// Returns the kind of the error that it ended with.
    pub fn error_kind(&self) -> Option<&str> {
        self.result.as_ref()?.get("error")?.get("kind")?.as_str()
    }

    /// Returns what a person said who did not want it, where one did.
    pub fn no(&self) -> Option<Option<String>> {
        let note = self.result.as_ref()?.get("error")?.get("note").and_then(Value::as_str).map(str::to_owned);
        (self.error_kind() == Some("declined")).then_some(note)
    }
}

impl RecordedSession {
    /// Reads the records of a session.
    pub fn of(kept: &StoredSession) -> Self {
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
    pub fn replies(&self) -> usize {
        self.runs.iter().map(|run| run.replies.len()).sum()
    }

    /// Returns what came of a call.
    pub fn then(&self, call: &str) -> Option<&Then> {
        self.calls.get(call)
    }

    fn note(&mut self, record: SessionRecord) {
        match record {
            SessionRecord::Run { model, wire, said, .. } => {
                self.runs.push(RecordedRun { model, wire, said, prompt: None, replies: Vec::new() });
            }
            SessionRecord::Message(Message::User { text, .. }) => {
                // Later ones of a run are haft's own words to the model, and come again by themselves.
                if let Some(run) = self.runs.last_mut().filter(|run| run.replies.is_empty()) {
                    run.prompt.get_or_insert(text);
                }
            }
            SessionRecord::Message(Message::Model(mut reply)) => {
                self.name_calls(&mut reply);
                self.run_of(&reply).replies.push(reply);
            }
            SessionRecord::Message(Message::Tools { answers }) => {
                for answer in answers {
                    self.first_of(&answer.call, |then| then.answer.is_none()).answer.get_or_insert(answer);
                }
            }
            SessionRecord::Began(call) => self.first_of(&call.id, |then| !then.has_begun).has_begun = true,
            SessionRecord::Answered(answer) => {
                let then = self.first_of(&answer.call, |then| !then.is_own);
                (then.is_own, then.answer) = (true, Some(answer));
            }
            SessionRecord::Result(result) => {
                let id = result.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
                self.first_of(&id, |then| then.result.is_none()).result = Some(result);
            }
            SessionRecord::Ended(_)
            | SessionRecord::Queued(_)
            | SessionRecord::Unqueued(_)
            | SessionRecord::Draft(_)
            // The model said what it said, also what is no longer told.
            | SessionRecord::Rewound(_)
            // The calls are made again, and with them the state.
            | SessionRecord::Shared { .. } => {}
        }
    }

    /// Gives each call of a reply a name of its own: its id, unless an earlier call has it.
    fn name_calls(&mut self, reply: &mut Reply) {
        let mut names: HashMap<String, Vec<String>> = HashMap::new();
        for part in &mut reply.parts {
            let ReplyPart::Call(call) = part else { continue };
            let id = call.id.clone();
            let others = (2_usize..).map(|time| format!("{id}~{time}"));
            let mut free = iter::once(id.clone()).chain(others).filter(|name| !self.calls.contains_key(name));
            call.id = free.next().unwrap_or_else(|| id.clone());
            if call.id != id {
                self.renamed.push((id.clone(), call.id.clone()));
            }
            self.calls.insert(call.id.clone(), Then::default());
            names.entry(id).or_default().push(call.id.clone());
        }
        self.names.extend(names);
    }

    /// Returns the call that a record with this id is about: of those in the last reply the first that still lacks it.
    fn first_of(&mut self, id: &str, lacks_it: impl Fn(&Then) -> bool) -> &mut Then {
        let names = self.names.get(id).map(Vec::as_slice).unwrap_or_default();
        let lacking = names.iter().find(|name| self.calls.get(*name).is_some_and(&lacks_it));
        let name = lacking.or(names.last()).map_or(id, String::as_str).to_owned();
        self.calls.entry(name).or_default()
    }

    /// Returns the run that a reply belongs to; where the record of its beginning is lost, one is made up.
    fn run_of(&mut self, reply: &Reply) -> &mut RecordedRun {
        if self.runs.is_empty() {
            let (model, wire) = (reply.native.model.clone(), reply.native.wire);
            self.runs.push(RecordedRun { model, wire, said: RunOptions::default(), prompt: None, replies: Vec::new() });
        }
        let last = self.runs.len() - 1;
        &mut self.runs[last]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn recorded(records: impl IntoIterator<Item = Value>) -> RecordedSession {
        let mut recorded = RecordedSession::default();
        records.into_iter().for_each(|record| recorded.note(serde_json::from_value(record).expect("it is a record")));
        recorded
    }

    fn reply(ids: &[&str]) -> Value {
        let call = |id: &&str| json!({ "call": { "id": id, "name": "t", "arguments": "{}", "is_cut": false } });
        let parts: Vec<Value> = ids.iter().map(call).collect();
        let native = json!({ "wire": "chat", "model": "m", "json": "null" });
        let usage = json!({ "input": 1, "output": 1, "cache_read": 0, "cache_written": 0 });
        json!({ "message": { "by": "model", "parts": parts, "native": native, "stop": "calls", "usage": usage } })
    }

    fn done(id: &str, text: &str) -> [Value; 3] {
        let call = json!({ "id": id, "name": "t", "arguments": "{}", "is_cut": false });
        let answer = json!({ "call": id, "name": "t", "text": text, "is_error": false });
        [json!({ "began": call }), json!({ "answered": answer }), json!({ "result": { "id": id, "status": text } })]
    }

    #[test]
    fn calls_whose_id_came_before_are_told_apart() {
        let first = [vec![reply(&["a"])], done("a", "one").into()].concat();
        let second = [vec![reply(&["a", "b", "a"])], done("a", "two").into(), done("a", "three").into()].concat();
        let recorded = recorded(first.into_iter().chain(second));
        let names: Vec<&str> =
            recorded.runs[0].replies.iter().flat_map(Reply::calls).map(|call| call.id.as_str()).collect();
        assert_eq!(names, ["a", "a~2", "b", "a~3"]);
        let came = |name: &str| {
            let then = recorded.then(name).expect("it was made");
            (then.answer.as_ref().map(|answer| answer.text.as_str()), then.field("status"), then.why_not())
        };
        assert_eq!(came("a"), (Some("one"), Some("one"), None));
        assert_eq!(came("a~2"), (Some("two"), Some("two"), None));
        assert_eq!(came("a~3"), (Some("three"), Some("three"), None));
        assert_eq!(came("b"), (None, None, Some(WhyNot::Unknown)));
        assert_eq!(recorded.renamed, [("a", "a~2"), ("a", "a~3")].map(|(id, name)| (id.into(), name.into())));
    }

    #[test]
    fn what_a_person_said_is_a_field_and_not_read_from_the_words_of_an_error() {
        let no = |error: Value| {
            let result = json!({ "result": { "id": "a", "status": "refused", "error": error } });
            recorded([reply(&["a"]), result]).then("a").and_then(Then::no)
        };
        let what = "The user said no: use b";
        assert_eq!(no(json!({ "kind": "declined", "what": what, "note": "use b" })), Some(Some("use b".to_owned())));
        assert_eq!(no(json!({ "kind": "declined", "what": what })), Some(None));
        assert_eq!(no(json!({ "kind": "failed", "what": what, "note": "use b" })), None);
    }

    #[test]
    fn a_call_whose_reply_is_lost_is_not_taken_for_a_later_one() {
        let later = [vec![reply(&["a"])], done("a", "two").into()].concat();
        let recorded = recorded(done("a", "one").into_iter().chain(later));
        assert_eq!(recorded.then("a").and_then(|then| then.field("status")), Some("one"));
        assert_eq!(recorded.then("a~2").and_then(|then| then.field("status")), Some("two"));
    }
}
