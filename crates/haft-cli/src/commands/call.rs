//! `haft call`: one call by hand, through the same steps as a model's.

use std::time::Duration;

use anyhow::bail;
use haft::call::{RawArguments, ToolCall};
use haft::result::{Did, ToolResult};
use haft_runtime::record;
use haft_runtime::session::Session;
use haft_workspace::state::WorkspaceState;

use super::call_lines;
use crate::arguments::{Call, Common};
use crate::desk::{Caller, Desk, block_on, origin};
use crate::exit::Exit;
use crate::live::Live;
use crate::screen::{self, Part};

/// Runs the command.
pub(crate) fn run(common: &Common, call: &Call) -> anyhow::Result<Exit> {
    if call.tool == "-" {
        if !call.arguments.is_empty() {
            bail!("`haft call -` reads calls from stdin and takes no arguments");
        }
        return call_lines::run(common);
    }
    let arguments = raw_arguments(&call.arguments)?;
    let desk = Desk::open_for(common, Caller::OneCall)?;
    let session = desk.session(common, Caller::OneCall);
    let tool_call = ToolCall::new(&call.tool, arguments).by(origin(common, Caller::OneCall));
    let result = block_on(interruptible(&desk, &session, tool_call))?;
    note_call(&desk.state, &result);
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

/// Takes one JSON object or `key=value` words.
fn raw_arguments(words: &[String]) -> anyhow::Result<RawArguments> {
    match words {
        [] => Ok(RawArguments::Text(String::new())),
        [text] if text.trim_start().starts_with(['{', '[', '"', '`']) => Ok(RawArguments::Text(text.clone())),
        words => {
            let pairs = words.iter().map(|word| match word.split_once('=') {
                Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
                _ => bail!("\"{word}\" is neither key=value nor a JSON object; for example: path=src/main.rs"),
            });
            Ok(RawArguments::Words(pairs.collect::<Result<_, _>>()?))
        }
    }
}

/// Makes the call; Ctrl-C stops it and waits for what it says of that.
async fn interruptible(desk: &Desk, session: &Session, call: ToolCall) -> ToolResult {
    let calling = desk.runtime.call(session, call);
    tokio::pin!(calling);
    let mut live = Live::new(desk.runtime.events());
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

/// Remembers the call for `haft doctor TOOL`. A call does not fail because that did not work.
pub(crate) fn note_call(state: &WorkspaceState, result: &ToolResult) {
    let mut short = record::of_result(result);
    if let Some(fields) = short.as_object_mut() {
        // The id is the caller's own and may be anything; what was shown is not kept twice.
        for left_out in ["id", "content", "data"] {
            fields.remove(left_out);
        }
    }
    if let Err(error) = state.recent_calls().add(&short) {
        screen::talk(&format!("note: this call could not be remembered for \"haft doctor\": {error}"));
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
        facts.push(format!("take it back: haft undo {number}"));
    }
    if !facts.is_empty() {
        screen::talk_part(&Part::Faint(&format!("({})", facts.join("; "))));
    }
    Ok(())
}
