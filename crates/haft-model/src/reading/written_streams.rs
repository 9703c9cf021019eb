//! Reads streams written by hand after the providers' published types, and shows their results.
//!
//! A stream is a file `tests/streams/FORM/written_*.sse` (or `.json`, an answer that is no stream); `: name value` at
//! its top sets the scene. Its golden file has the pieces as haft reported them, the reply, what haft keeps of it and
//! the next request.
#![expect(clippy::disallowed_methods, reason = "the streams are files of this crate")]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::raw_json::{Object, list};
use crate::conversation::{Message, ModelToolCall, Native, Reply, ReplyPart, StopReason, ToolAnswer, Usage};
use crate::form::{ReplyProgress, WireFormat};
use crate::lower::{LoweredList, ProviderDialect, ToolOffer, lower_all};
use crate::provider::{ModelError, ModelRequest, ReplyEvent};
use crate::wire::Wire;

/// A hand-written stream and the settings under which it is read.
pub(crate) struct StreamFixture {
    pub(crate) name: String,
    text: String,
}

/// Returns the streams of a form.
pub(crate) fn streams(wire: Wire) -> Vec<StreamFixture> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/streams").join(wire.name());
    let mut streams = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be listed").path();
        if path.extension().is_some_and(|kind| kind == "sse" || kind == "json") {
            let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
            streams.push(StreamFixture::of(&name, &std::fs::read_to_string(&path).expect("it is a text")));
        }
    }
    streams.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(streams.len() >= 20, "{} streams", streams.len());
    streams
}

impl StreamFixture {
    pub(crate) fn of(name: &str, text: &str) -> StreamFixture {
        StreamFixture { name: name.to_owned(), text: text.to_owned() }
    }

    pub(crate) fn setting(&self, name: &str) -> Option<&str> {
        let lines = self.text.lines().take_while(|line| line.starts_with(':'));
        lines.filter_map(|line| line.strip_prefix(": ")?.strip_prefix(name)?.strip_prefix(' ')).next()
    }

    fn model(&self) -> &str {
        self.setting("model").unwrap_or("some-model")
    }

    fn events(&self) -> Vec<(String, String)> {
        if self.text.starts_with(['{', '[']) {
            return vec![(String::new(), self.text.clone())];
        }
        let blocks = self.text.split("\n\n").map(|block| {
            let field = |name: &str| -> Vec<&str> {
                let values = block.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
                values.map(|value| value.strip_prefix(' ').unwrap_or(value)).collect()
            };
            (field("event").concat(), field("data"))
        });
        let events = blocks.filter(|(_, data)| !data.is_empty());
        events.map(|(name, data)| (name, data.join("\n"))).collect()
    }

    fn messages(&self) -> Vec<Message> {
        let mut messages = vec![Message::user("Do it.")];
        if let Some(id) = self.setting("earlier_id") {
            let call =
                ModelToolCall { id: id.to_owned(), name: "bash".to_owned(), arguments: "{}".to_owned(), is_cut: false };
            let json = RawValue::from_string("{}".to_owned()).expect("it is JSON");
            let native = Native { wire: Wire::Anthropic, model: "another".to_owned(), json };
            let parts = vec![ReplyPart::Call(call)];
            messages.push(Message::Model(Reply {
                parts,
                native,
                stop: StopReason::Calls,
                usage: Usage::default(),
                why_cut: None,
            }));
            messages.push(answers_to(&messages));
        }
        messages
    }

    /// Reads the stream up to an event.
    fn read(
        &self,
        form: &dyn WireFormat,
        tools: &LoweredList,
        up_to: usize,
    ) -> (Vec<String>, Result<Option<Reply>, ModelError>) {
        let messages = self.messages();
        let request = request(tools, &messages);
        let told = Mutex::new(Vec::new());
        let heard = |piece: ReplyEvent<'_>| told.lock().expect("no thread panicked").push(format!("{piece:?}"));
        let mut reading = form.reading(self.model(), &request);
        for (name, data) in self.events().iter().take(up_to) {
            match reading.event(name, data, &heard) {
                Ok(ReplyProgress::More) => {}
                Ok(ReplyProgress::Whole) => break,
                Err(error) => return (told.into_inner().expect("no thread panicked"), Err(error)),
            }
        }
        let reply = reading.end();
        (told.into_inner().expect("no thread panicked"), Ok(reply))
    }

    /// Says all that comes of the stream.
    pub(crate) fn said(&self, form: &dyn WireFormat, provider: ProviderDialect) -> String {
        let tools = tools(provider);
        let (told, reply) = self.read(form, &tools, usize::MAX);
        let mut said = format!("heard:\n  {}\n", told.join("\n  "));
        match reply {
            Err(error) => writeln!(said, "error: {:?}\n  {}\n  next: {}", error.kind, error.what, error.next),
            Ok(None) => writeln!(said, "no reply"),
            Ok(Some(reply)) => {
                let request = self.next_request(form, &tools, &reply);
                let parts: Vec<String> = reply.parts.iter().map(|part| format!("{part:?}")).collect();
                let about =
                    format!("stop: {:?}\nusage: {:?}\nparts:\n  {}", reply.stop, reply.usage, parts.join("\n  "));
                writeln!(said, "{about}\nnative:\n  {}\nnext request:\n{}", reply.native.json, shown(&request))
            }
        }
        .expect("a text can be written to");
        said
    }

    /// Returns the request that follows, after the reply was kept in a log. What stands for the reply is in it byte for
    /// byte.
    fn next_request(&self, form: &dyn WireFormat, tools: &LoweredList, reply: &Reply) -> String {
        let kept = serde_json::to_string(reply).expect("it can be kept");
        assert!(!kept.contains('\n'), "{}: a record is one line: {kept}", self.name);
        let reply: Reply = serde_json::from_str(&kept).expect("it can be read again");
        let mut messages = self.messages();
        let native = reply.native.json.get().to_owned();
        // What was only thought says nothing, except to Gemini, and where it stands in the text.
        let says_something = match reply.native.wire {
            Wire::Gemini => !native.contains(r#""parts":[]"#),
            Wire::Chat
                if Object::read(&native)
                    .and_then(|message| message.text("content"))
                    .is_some_and(|text| !text.is_empty()) =>
            {
                true
            }
            _ => reply.calls().next().is_some() || !reply.text().is_empty(),
        };
        messages.push(Message::Model(reply));
        messages.push(answers_to(&messages));
        let request = request(tools, &messages);
        let written = String::from_utf8(form.request(self.model(), &request)).expect("it is a text");
        assert_eq!(written.contains(&native), says_something, "{}: {native}\n{written}", self.name);
        written
    }

    /// Ends the stream behind every event, and checks that what is left can go on.
    pub(crate) fn check_every_end(&self, form: &dyn WireFormat, provider: ProviderDialect, check: impl Fn(&Value)) {
        let tools = tools(provider);
        for up_to in 0..=self.events().len() {
            if let (_, Ok(Some(reply))) = self.read(form, &tools, up_to) {
                self.check_no_half_call(&reply);
                let request = self.next_request(form, &tools, &reply);
                check(&serde_json::from_str(&request).expect("it is JSON"));
            }
        }
    }

    /// What came by half must not be run.
    fn check_no_half_call(&self, reply: &Reply) {
        let ended_early = !matches!(reply.stop, StopReason::Finished | StopReason::Calls);
        let is_half =
            |call: &&ModelToolCall| !call.is_cut && serde_json::from_str::<&RawValue>(&call.arguments).is_err();
        let half: Vec<&ModelToolCall> = reply.calls().filter(is_half).filter(|_| ended_early).collect();
        assert!(half.is_empty(), "{}: {half:?}", self.name);
    }
}

fn tools(provider: ProviderDialect) -> LoweredList {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let offered = ["read_file", "bash", "docs.search/v2"].map(|name| ToolOffer {
        name,
        title: None,
        description: "Does it.",
        input_schema: &schema,
        read_only: None,
    });
    lower_all(&offered, provider)
}

fn request<'a>(tools: &'a LoweredList, messages: &'a [Message]) -> ModelRequest<'a> {
    ModelRequest { instructions: "Be short.", tools, messages, most_tokens: Some(100), effort: None, must_call: false }
}

/// Returns what follows the last reply: an answer to each of its calls, or the user's next words.
fn answers_to(messages: &[Message]) -> Message {
    let Some(Message::Model(reply)) = messages.last() else { return Message::Tools { answers: Vec::new() } };
    let answers: Vec<ToolAnswer> = reply
        .calls()
        .map(|call| ToolAnswer {
            call: call.id.clone(),
            name: call.name.clone(),
            text: format!("answer to {}", call.arguments),
            is_error: call.is_cut,
            images: Vec::new(),
        })
        .collect();
    if answers.is_empty() { Message::user("Go on.") } else { Message::Tools { answers } }
}

/// Shows a request as it is sent, one message a line. How tools look is settled elsewhere.
fn shown(request: &str) -> String {
    let mut shown = String::new();
    for (name, raw) in Object::read(request).expect("it is an object").members() {
        match list(raw.get()) {
            Some(_) if name == "tools" => writeln!(shown, "  tools: …"),
            Some(messages) => {
                let lines: Vec<&str> = messages.iter().map(|message| message.get()).collect();
                writeln!(shown, "  {name}:\n    {}", lines.join("\n    "))
            }
            None => writeln!(shown, "  {name}: {raw}"),
        }
        .expect("a text can be written to");
    }
    shown.trim_end().to_owned()
}

/// Compares with the golden file of a stream.
pub(crate) fn compare(wire: Wire, name: &str, said: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("{}/tests/streams/{}", env!("CARGO_MANIFEST_DIR"), wire.name()));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, said));
}
