//! An agent at work in a scene, with everything noted that it tells and writes down.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use haft_agent::agent::AgentLoop;
use haft_agent::memory::history::Past;
use haft_agent::memory::record::Record;
use haft_agent::outcome::AgentOutcome;
use haft_agent::settings::AgentSettings;
use haft_agent::work::told::RunEvent;
use haft_model::conversation::{Message, ModelToolCall, ToolAnswer};
use haft_runtime::asking::approval::YesToOrdinary;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::nobody;
use haft_testkit::tools::{Add, Misbehave, WaitTool};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::puppet::Puppet;
use crate::valid::assert_valid;

/// What was written down.
#[derive(Clone, Debug)]
pub enum Entry {
    Message(Message),
    Began(String),
    Answered(ToolAnswer),
}

/// A record in memory, that may be full.
#[derive(Default)]
pub struct Log {
    entries: Mutex<Vec<Entry>>,
    room: Option<usize>,
    shared: Mutex<Vec<(String, Value)>>,
}

impl Log {
    /// Has room for so many entries.
    pub fn with_room(entries: usize) -> Self {
        Self { room: Some(entries), ..Self::default() }
    }

    /// Returns the values that tools share, as they were written down.
    pub fn shared(&self) -> Vec<(String, Value)> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn entries(&self) -> Vec<Entry> {
        self.lock().clone()
    }

    fn write(&self, entry: Entry) -> io::Result<()> {
        let mut entries = self.lock();
        if self.room.is_some_and(|room| entries.len() >= room) {
            return Err(io::Error::other("the disk is full"));
        }
        entries.push(entry);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record for Log {
    fn message(&self, message: &Message) -> io::Result<()> {
        self.write(Entry::Message(message.clone()))
    }

    fn began(&self, call: &ModelToolCall) -> io::Result<()> {
        self.write(Entry::Began(call.id.clone()))
    }

    fn answered(&self, answer: &ToolAnswer) -> io::Result<()> {
        self.write(Entry::Answered(answer.clone()))
    }

    fn shared(&self, key: &str, value: &Value) -> io::Result<()> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).push((key.to_owned(), value.clone()));
        Ok(())
    }
}

/// Returns what a new process knows of a log.
pub fn past(entries: &[Entry]) -> Past {
    let mut past = Past::default();
    for entry in entries {
        match entry {
            Entry::Message(message) => {
                past.messages.push(message.clone());
                past.began.clear();
                past.answers.clear();
            }
            Entry::Began(call) => past.began.push(call.clone()),
            Entry::Answered(answer) => past.answers.push(answer.clone()),
        }
    }
    past
}

/// A scene with tools that add, wait and misbehave, in which ordinary questions are answered with yes.
pub fn scene() -> Scene {
    Scene::sample().tool(Add).tool(WaitTool::default()).tool(Misbehave).approver(YesToOrdinary::or_ask(nobody()))
}

/// What came of a run.
pub struct Worked {
    pub outcome: AgentOutcome,
    pub messages: Vec<Message>,
    pub told: Vec<String>,
}

impl Worked {
    /// Returns what the model read of its calls, by their ids.
    pub fn answers(&self) -> Vec<(&str, &str)> {
        let answers = self.messages.iter().filter_map(|message| match message {
            Message::Tools { answers } => Some(answers),
            Message::User { .. } | Message::Model(_) => None,
        });
        answers.flatten().map(|answer| (answer.call.as_str(), answer.text.as_str())).collect()
    }

    /// Returns what the model read of one call.
    pub fn answer(&self, id: &str) -> &str {
        let found = self.answers().into_iter().find(|(call, _)| *call == id);
        found.map(|(_, text)| text).expect("the call has an answer")
    }
}

/// Lets a model work on a prompt.
pub async fn work(scene: &Scene, puppet: &Puppet, settings: AgentSettings) -> Worked {
    work_until(scene, puppet, settings, usize::MAX).await
}

/// Lets a model work on a prompt and stops it when so many things were told.
pub async fn work_until(scene: &Scene, puppet: &Puppet, settings: AgentSettings, stop_at: usize) -> Worked {
    let log = Log::default();
    let agent = AgentLoop::new(scene.runtime(), scene.session(), puppet, &log).with_settings(settings);
    run(agent, stop_at).await.1
}

/// Runs an agent and stops it when so many things were told.
pub async fn run(mut agent: AgentLoop<'_>, stop_at: usize) -> (AgentLoop<'_>, Worked) {
    let stop = CancellationToken::new();
    let told = Mutex::new(Vec::new());
    let telling = |news: RunEvent<'_>| {
        // How the arguments come in pieces is the provider's matter.
        if matches!(news, RunEvent::Arguments(_)) {
            return;
        }
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        told.push(words(&news));
        if told.len() >= stop_at {
            stop.cancel();
        }
    };
    let outcome = agent.run("Do it.".into(), &telling, &stop).await;
    assert_valid(agent.messages());
    let messages = agent.messages().to_vec();
    (agent, Worked { outcome, messages, told: told.into_inner().unwrap_or_else(PoisonError::into_inner) })
}

fn words(told: &RunEvent<'_>) -> String {
    match told {
        RunEvent::Step(number) => format!("step {number}"),
        RunEvent::Text(text) => format!("text {text}"),
        RunEvent::Thinking(text) => format!("thinking {text}"),
        RunEvent::Writing(name) => format!("writing {name}"),
        RunEvent::Arguments(bytes) => format!("{bytes} bytes of arguments"),
        RunEvent::Steered(text) => format!("steered: {text}"),
        RunEvent::Again(after, why) => format!("again after {} s: {why}", after.as_secs()),
        RunEvent::Replied { usage, total, .. } => format!("cost {}+{} of {}", usage.input, usage.output, total.input),
        RunEvent::CallBegan { call, preview } => {
            format!("began {}: {} {preview}", call.id, call.name).trim_end().to_owned()
        }
        RunEvent::CallEnded { call, result, .. } => format!("ended {}: {}", call.id, result.status.code()),
        RunEvent::NotRun { call, .. } => format!("not run {}", call.id),
        RunEvent::GoesOn(why) => format!("goes on: {why}"),
        RunEvent::Finished(text) => format!("finished: {text}"),
        RunEvent::Unfit(why) => format!("unfit: {why}"),
        RunEvent::Compacted(compacted) => format!(
            "compacted: {} results, {} arguments, {} replies",
            compacted.results, compacted.arguments, compacted.replies
        ),
    }
}
