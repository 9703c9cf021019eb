//! `haft call`: makes one call by hand, through the same steps as a model's call.

use std::time::Duration;

use anyhow::bail;
use haft_contract::call::ToolCall;
use haft_contract::doors::reader::Audience;
use haft_contract::outcome::result::{Did, ToolResult};
use haft_runtime::record;
use haft_runtime::state::session::Session;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::call_lines;
use crate::arguments::{CallCommandArguments, Common};
use crate::caller::CallerKind;
use crate::exit::Exit;
use crate::live::Live;
use crate::screen::{self, StyledText};
use haft_host::calling::call_words::CallWords;
use haft_host::host::{Host, block_on};
use haft_host::texts::for_person::for_reader;

/// Runs the command.
pub(crate) fn run(common: &Common, call: &CallCommandArguments) -> anyhow::Result<Exit> {
    if call.tool == "-" {
        if !call.arguments.is_empty() {
            bail!("`haft call -` reads calls from stdin and takes no arguments");
        }
        return call_lines::run(common);
    }
    let given = CallWords::read(&call.arguments)?;
    if call.tool == "bash" {
        haft_sandbox::launcher_ahead();
    }
    let host = CallerKind::OneCall.opens(common)?;
    let arguments = given.for_tool(host.runtime.catalog().find(&call.tool).as_deref())?;
    let session = CallerKind::OneCall.session(&host, common);
    let origin = CallerKind::OneCall.origin(common);
    let tool_call = ToolCall::new(&call.tool, arguments).by(origin);
    let result = block_on(interruptible(&host, &session, tool_call))?;
    let result = for_reader(result, Audience::of(origin));
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

/// Makes the call; Ctrl-C stops it and waits for what it says of that.
pub(in crate::commands) async fn interruptible(host: &Host, session: &Session, call: ToolCall) -> ToolResult {
    let calling = host.runtime.call(session, call);
    tokio::pin!(calling);
    let mut live = Live::new(host.runtime.events());
    // One listener for the whole call: a new one in each round would miss a Ctrl-C between two rounds.
    let mut interrupts = signal(SignalKind::interrupt()).ok();
    loop {
        tokio::select! {
            biased;
            result = &mut calling => return result,
            () = pressed(interrupts.as_mut()) => {
                session.stop_turn();
                return calling.await;
            }
            () = live.step() => {}
        }
    }
}

/// Waits for Ctrl-C; without a listener for ever.
async fn pressed(interrupts: Option<&mut Signal>) {
    match interrupts {
        Some(interrupts) => drop(interrupts.recv().await),
        None => std::future::pending().await,
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
        facts.extend(result.exit_code.map(|status| format!("exit code {status}")));
        facts.push(format!("sandbox: {level}"));
        facts.push(format!("{:.1} s", result.took.as_secs_f64()));
    }
    if let Did::Changed { change_set: Some(number), .. } = &result.did {
        facts.push(format!("undo: haft undo {number}"));
    }
    if !facts.is_empty() {
        screen::talk_part(&StyledText::Faint(&format!("({})", facts.join("; "))));
    }
    Ok(())
}
