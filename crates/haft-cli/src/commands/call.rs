//! `haft call`: one call by hand, through the same steps as a model's.

use std::time::Duration;

use anyhow::{anyhow, bail};
use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::reader::Reader;
use haft_contract::result::{Did, ToolResult};
use haft_runtime::entry::Entry;
use haft_runtime::record;
use haft_runtime::session::Session;

use super::call_lines;
use crate::arguments::{Call, Common};
use crate::caller::Caller;
use crate::exit::Exit;
use crate::live::Live;
use crate::screen::{self, Part};
use haft_host::for_person::for_reader;
use haft_host::host::{Host, block_on};

/// Runs the command.
pub(crate) fn run(common: &Common, call: &Call) -> anyhow::Result<Exit> {
    if call.tool == "-" {
        if !call.arguments.is_empty() {
            bail!("`haft call -` reads calls from stdin and takes no arguments");
        }
        return call_lines::run(common);
    }
    let given = Given::read(&call.arguments)?;
    let host = Caller::OneCall.opens(common)?;
    let arguments = given.for_tool(host.runtime.catalog().find(&call.tool).as_deref())?;
    let session = Caller::OneCall.session(&host, common);
    let origin = Caller::OneCall.origin(common);
    let tool_call = ToolCall::new(&call.tool, arguments).by(origin);
    let result = block_on(interruptible(&host, &session, tool_call))?;
    let result = for_reader(result, Reader::of(origin));
    host.note_call(&result);
    show(common, &result)?;
    Ok(result.status.into())
}

/// A time in the largest unit that fits.
fn rough(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds @ 3600..86_400 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

/// What stands behind the name of a tool.
enum Given {
    /// One JSON object, or nothing.
    Text(String),
    /// `key=value` words, before them perhaps the value of the first argument alone.
    Words(Option<String>, Vec<(String, String)>),
}

impl Given {
    fn read(words: &[String]) -> anyhow::Result<Self> {
        let (first, pairs) = match words {
            [] => return Ok(Given::Text(String::new())),
            [text] if text.trim_start().starts_with(['{', '[', '"', '`']) => return Ok(Given::Text(text.clone())),
            [first, rest @ ..] if pair(first).is_none() => (Some(first.clone()), rest),
            words => (None, words),
        };
        let pairs = pairs.iter().map(|word| pair(word).ok_or_else(|| no_argument(word)));
        Ok(Given::Words(first, pairs.collect::<Result<_, _>>()?))
    }

    /// Returns the arguments for this tool; one that is not there has none.
    fn for_tool(self, entry: Option<&Entry>) -> anyhow::Result<RawArguments> {
        let (value, mut pairs) = match self {
            Given::Text(text) => return Ok(RawArguments::Text(text)),
            Given::Words(None, pairs) => return Ok(RawArguments::Words(pairs)),
            Given::Words(Some(value), pairs) => (value, pairs),
        };
        let Some(entry) = entry else { return Ok(RawArguments::Text(String::new())) };
        match first_argument(entry) {
            Some(key) if pairs.iter().all(|(given, _)| *given != key) => pairs.insert(0, (key, value)),
            Some(_) | None => return Err(no_argument(&value)),
        }
        Ok(RawArguments::Words(pairs))
    }
}

/// Splits `key=value`. What cannot be a key, such as the `ls --color` of a command, makes no pair.
fn pair(word: &str) -> Option<(String, String)> {
    let (key, value) = word.split_once('=')?;
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$');
    let fits = key.chars().all(is_key) && key.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$'));
    fits.then(|| (key.to_owned(), value.to_owned()))
}

/// Returns the argument that a tool wants first: the first required one, or the first of all.
fn first_argument(entry: &Entry) -> Option<String> {
    let schema = &entry.shown().input_schema;
    let required = schema["required"].as_array().and_then(|names| names.first()?.as_str());
    let first = || schema["properties"].as_object()?.keys().next().map(String::as_str);
    required.or_else(first).map(str::to_owned)
}

fn no_argument(word: &str) -> anyhow::Error {
    anyhow!("\"{word}\" is neither key=value nor a JSON object; for example: path=src/main.rs")
}

/// Makes the call; Ctrl-C stops it and waits for what it says of that.
pub(super) async fn interruptible(host: &Host, session: &Session, call: ToolCall) -> ToolResult {
    let calling = host.runtime.call(session, call);
    tokio::pin!(calling);
    let mut live = Live::new(host.runtime.events());
    loop {
        tokio::select! {
            biased;
            result = &mut calling => return result,
            Ok(()) = tokio::signal::ctrl_c() => {
                session.stop_turn();
                return calling.await;
            }
            () = live.step() => {}
        }
    }
}

fn show(common: &Common, result: &ToolResult) -> anyhow::Result<()> {
    if common.json {
        screen::record(&record::of_result(result).to_string())?;
        return Ok(());
    }
    if let Some(age) = result.cached {
        screen::talk(&format!("[from the cache, {} old]", rough(age)));
    }
    match &result.error {
        None => screen::answer(result.display.as_deref().unwrap_or(&result.text()))?,
        Some(error) => {
            screen::talk(&result.text());
            // The model does without these; a person may want them.
            let cause = std::error::Error::source(error).map(ToString::to_string);
            for more in [error.detail.clone(), cause].into_iter().flatten() {
                // What has several lines may be meant to be pasted, so nothing is put around it.
                screen::talk(&if more.contains('\n') { more } else { format!("({more})") });
            }
        }
    }
    let mut facts = Vec::new();
    if let Some(level) = result.sandbox {
        facts.push(result.exit_code.map_or("no exit code".to_owned(), |status| format!("exit code {status}")));
        facts.push(format!("sandbox: {level}"));
        facts.push(format!("{:.1} s", result.took.as_secs_f64()));
    }
    if let Did::Changed { change_set: Some(number), .. } = &result.did {
        facts.push(format!("undo: haft undo {number}"));
    }
    if !facts.is_empty() {
        screen::talk_part(&Part::Faint(&format!("({})", facts.join("; "))));
    }
    Ok(())
}
