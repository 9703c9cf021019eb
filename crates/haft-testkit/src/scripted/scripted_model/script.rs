//! The replies of a scripted model, as data: turns, what each expects, and the faults before it.
//!
//! One script serves all formats: the file of a format defines how a call or a thought looks in it. What a format
//! cannot express is left out or written as its provider would write it, and its file says so.
//!
//! Not here: what can go wrong (`fault`), what a request must have (`expect`).

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::expect::Expect;
use super::fault::Fault;

/// The replies of a scripted model, from the first request to the last.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelScript {
    /// One for each reply, in order.
    pub turns: Vec<ScriptedTurn>,
    /// How many characters of text, thought or arguments each piece has.
    #[serde(default = "piece_chars")]
    pub piece_chars: usize,
}

/// One reply, with the request that it expects and the faults that come before it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptedTurn {
    /// What the request must have, so that this is the reply.
    pub expect: Expect,
    /// What goes wrong: as many requests as there are entries get these instead of the reply, then it comes.
    pub faults: Vec<Fault>,
    /// What it says, in order.
    pub reply: Vec<ScriptedPart>,
    /// Why it ends. Where nothing is said: for its calls, for its refusal, or because all is said.
    pub stop: Option<ScriptedStopReason>,
    /// What it says to have cost. Where nothing is said: a fourth of the bytes.
    pub usage: Option<Usage>,
    /// Whether each event waits until it is released.
    pub held: bool,
    /// Whether pieces of calls that follow each other come in turns.
    pub interleaved: bool,
    /// The reply to a request that has not what is expected.
    pub otherwise: Option<Box<ScriptedTurn>>,
}

/// One part of a scripted reply.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptedPart {
    /// Text for the user.
    Text(String),
    /// What it thinks. It comes with a signature where the form has one, and must come back with it.
    Thinking(String),
    /// Why it does not answer.
    Refusal(String),
    /// A call of a tool.
    Call(ScriptedCall),
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// The name, which may be one that no tool has.
    pub name: String,
    /// The text of the arguments. In a file: an object, or a string that is sent as it is, however malformed.
    #[serde(default, deserialize_with = "text_of_arguments")]
    pub arguments: String,
    /// What the result refers to; one is made where none is given.
    #[serde(default)]
    pub id: Option<String>,
}

/// The reason why a scripted reply ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptedStopReason {
    /// All is said.
    Finished,
    /// It waits for results.
    Calls,
    /// It was as long as it may be; a call at its end is cut.
    Length,
    /// The model or a filter refuses.
    Refused,
    /// It wants to be asked to go on. Only one form has this; in the others it is finished.
    Paused,
}

/// What a reply says to have cost, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Usage {
    /// Of the request, all of them.
    pub input: u64,
    /// Of the reply.
    pub output: u64,
    /// Of the request, those from the cache.
    pub cache_read: u64,
    /// Of the request, those put into the cache.
    pub cache_written: u64,
}

impl ModelScript {
    /// Makes a script of these turns.
    pub fn of(turns: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        Self { turns: turns.into_iter().collect(), piece_chars: piece_chars() }
    }

    /// Reads a script as it is written down: YAML, of which JSON is a part.
    pub fn from_yaml(text: &str) -> Result<Self, String> {
        let script: Self = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
        if script.piece_chars == 0 {
            return Err("`piece_chars` is 0, so nothing would ever come; say at least 1, or leave it out".into());
        }
        if script.turns.iter().any(ScriptedTurn::goes_wrong_behind_its_reply) {
            return Err("`slow` is the reply, so a fault after it would never happen; put `slow` last".into());
        }
        Ok(script)
    }

    /// Puts a fault before the reply of a turn, behind those that are there. Turns count from 0.
    #[must_use]
    pub fn fault(mut self, turn: usize, fault: Fault) -> Self {
        let count = self.turns.len();
        let Some(faulty) = self.turns.get_mut(turn) else { panic!("there is no turn {turn}, only {count}, from 0") };
        faulty.faults.push(fault);
        self
    }
}

impl ScriptedTurn {
    /// Says this.
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().then(ScriptedPart::Text(text.into()))
    }

    /// Thinks this.
    pub fn thinking(thought: impl Into<String>) -> Self {
        Self::default().then(ScriptedPart::Thinking(thought.into()))
    }

    /// Calls a tool with these arguments.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::default().and_call(name, arguments)
    }

    /// Calls a tool with arguments that are sent as they are written here.
    pub fn call_with_text(name: &str, arguments: &str) -> Self {
        let call = ScriptedCall { name: name.into(), arguments: arguments.into(), id: None };
        Self::default().then(ScriptedPart::Call(call))
    }

    /// Goes on with this part.
    #[must_use]
    pub fn then(mut self, part: ScriptedPart) -> Self {
        self.reply.push(part);
        self
    }

    /// Goes on with this text.
    #[must_use]
    pub fn and_text(self, text: impl Into<String>) -> Self {
        self.then(ScriptedPart::Text(text.into()))
    }

    /// Goes on with a call.
    #[must_use]
    pub fn and_call(self, name: &str, arguments: Value) -> Self {
        self.then(ScriptedPart::Call(ScriptedCall { name: name.into(), arguments: arguments.to_string(), id: None }))
    }

    /// Is the reply only to such a request.
    #[must_use]
    pub fn expect(mut self, expect: Expect) -> Self {
        self.expect = expect;
        self
    }

    /// Goes wrong like this before it comes.
    #[must_use]
    pub fn fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// Ends for this reason.
    #[must_use]
    pub fn stop(mut self, stop: ScriptedStopReason) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Says to have cost this.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Comes event by event, as they are released.
    #[must_use]
    pub fn held(mut self) -> Self {
        self.held = true;
        self
    }

    /// Is replaced by this one when the request has not what is expected.
    #[must_use]
    pub fn otherwise(mut self, turn: ScriptedTurn) -> Self {
        self.otherwise = Some(Box::new(turn));
        self
    }

    /// Says whether there is a fault behind the one that is the reply.
    fn goes_wrong_behind_its_reply(&self) -> bool {
        let before_last = self.faults.iter().rev().skip(1);
        let is_here = before_last.into_iter().any(|fault| matches!(fault, Fault::Slow(_)));
        is_here || self.otherwise.as_ref().is_some_and(|turn| turn.goes_wrong_behind_its_reply())
    }

    /// Returns why it ends, as said or as follows from what it says.
    pub(super) fn end(&self) -> ScriptedStopReason {
        let has = |wanted: fn(&ScriptedPart) -> bool| self.reply.iter().any(wanted);
        match self.stop {
            Some(stop) => stop,
            None if has(|part| matches!(part, ScriptedPart::Call(_))) => ScriptedStopReason::Calls,
            None if has(|part| matches!(part, ScriptedPart::Refusal(_))) => ScriptedStopReason::Refused,
            None => ScriptedStopReason::Finished,
        }
    }
}

fn piece_chars() -> usize {
    16
}

fn text_of_arguments<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => text,
        Value::Null => String::new(),
        value @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => value.to_string(),
    })
}
