//! Turns every outcome into a bounded result: it hides secrets and stores a text that is too long elsewhere.
//!
//! It stands outside the line of stages, so refusals and failures pass through it too. If the session speaks a dialect,
//! this stage adds the words of the dialect to the outcome (`spoken`).

mod sealed;
mod spoken;
mod told_once;

use haft_contract::effect::Effect;
use haft_contract::outcome::error::{Recovery, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::output::{Content, ToolOutput};
use haft_contract::outcome::result::{Did, Status, ToolResult, note_line};
use haft_contract::text::head_and_tail::{whole_lines_after, whole_lines_before};
use haft_contract::text::wrapping::wrapped;
use serde_json::Value;

use crate::catalogue::catalog::Catalog;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::stage::Halt;
use crate::state::memory::{FailureFingerprint, Went};
use spoken::DialectCall;

/// Most changed files that are named behind an error.
const MOST_FILES: usize = 20;
/// Most repairs that are told one by one.
const MOST_REPAIRS: usize = 20;
/// Longest error text, in characters; what a tool says beyond that is cut.
const LONGEST_ERROR: usize = 4_000;

/// Makes the result of a call.
pub(crate) async fn shrink(cx: &CallContext<'_>, catalog: &Catalog, outcome: Result<ToolOutput, Halt>) -> ToolResult {
    let stopped_at = outcome.as_ref().err().map(|halt| halt.at.code());
    let spoken = DialectCall::of(cx, catalog);
    let (output, error) = match outcome {
        Ok(output) => {
            match spoken.as_ref().and_then(|spoken| spoken.failure_in(&output)) {
                None => (output, None),
                // Its text is the error now.
                Some(error) => {
                    let error = finish_error(cx, (catalog, spoken.as_ref()), error);
                    (ToolOutput { for_model: Vec::new(), ..output }, Some(error))
                }
            }
        }
        Err(halt) => {
            let mut error = finish_error(cx, (catalog, spoken.as_ref()), halt.error);
            // From here on it is the content of the result, bounded and without secrets.
            (error.so_far.take().map(|so_far| *so_far).unwrap_or_default(), Some(error))
        }
    };
    let status = error.as_ref().map_or(Status::Ok, |error| Status::of(error.kind));
    let did = if error.is_some() { cx.did_of_failure() } else { cx.did() };
    let run = cx.run_facts();
    let spoken = spoken.map(|spoken| spoken.saying(output.said.as_deref().map(|said| hide(cx, said))));
    let mut result = ToolResult {
        id: cx.id.clone(),
        tool: cx.note(|notes| notes.tool.clone()),
        status,
        content: Vec::new(),
        display: output.for_human.clone(),
        error,
        stopped_at,
        data: None,
        did,
        repairs: redacted_repairs(cx),
        warnings: Vec::new(),
        spilled: output.spilled.clone(),
        limited: output.limited,
        changes: output.changes.or_else(|| cx.changes()),
        exit_code: cx.exit_code(),
        sandbox: cx.sandbox(),
        left_behind: run.left_behind,
        conflicts: run.conflicts.clone(),
        undeclared: run.undeclared.iter().map(ToString::to_string).collect(),
        network: run.reached,
        job: run.job,
        home: run.home,
        cached: cx.note(|notes| notes.cached),
        bits: Vec::new(),
        took: cx.took(),
    };
    result.data = output.data.clone().and_then(|data| bounded_data(cx, data));
    add_warnings(cx, &mut result);
    // What haft says itself is made of these, so that it names no secrets and knows of which files it has hidden some.
    sealed::seal(&cx.redactor, &mut result);
    fill_content(cx, &output, spoken.as_ref(), &mut result).await;
    sealed::seal(&cx.redactor, &mut result);
    result
}

/// Adds what else the caller should know.
fn add_warnings(cx: &CallContext<'_>, result: &mut ToolResult) {
    result.warnings = cx.note(|notes| std::mem::take(&mut notes.warnings));
    let memories = result.error.as_ref().map(|error| memories(cx, error));
    result.warnings.extend(memories.into_iter().flatten());
    cx.session.jobs.show_changes();
    result.warnings.extend(cx.session.jobs.ended_untold());
}

/// Hides secrets in an error, and puts the shown names in the place of native ones.
fn finish_error(
    cx: &CallContext<'_>,
    (catalog, spoken): (&Catalog, Option<&DialectCall<'_>>),
    mut error: ToolError,
) -> ToolError {
    let outward = |text: &str| catalog.outward(text).unwrap_or_else(|| text.to_owned());
    error.what = shortened(&hide(cx, &error.what));
    error.about.path = error.about.path.as_deref().map(|path| shortened(&hide(cx, path)));
    error.about.own_type = error.about.own_type.as_deref().map(|own| hide(cx, own));
    error.about.note = error.about.note.as_deref().map(|note| shortened(&hide(cx, note)));
    error.about.recovery.iter_mut().for_each(|recovery| finish_recovery(cx, catalog, recovery));
    error.detail = error.detail.as_deref().map(|detail| shortened(&hide(cx, detail)));
    error.what = outward(&error.what);
    error.next.reword(|words| outward(&shortened(&hide(cx, words))));
    if let Some(spoken) = spoken {
        spoken.reword(&mut error);
    }
    error
}

/// Hides secrets in what may help, and puts the shown names in the place of native ones.
fn finish_recovery(cx: &CallContext<'_>, catalog: &Catalog, recovery: &mut Recovery) {
    match recovery {
        Recovery::Call { tool, arguments } => {
            arguments.values_mut().for_each(|value| cx.redactor.redact_value(value));
            if let Some(shown) = catalog.shown_name(tool) {
                *tool = shown;
            }
        }
        Recovery::Text(text) => {
            let hidden = shortened(&hide(cx, text));
            *text = catalog.outward(&hidden).unwrap_or(hidden);
        }
    }
}

/// Says what the session remembers of calls like one that failed. It gives no advice: the error has its next step.
fn memories(cx: &CallContext<'_>, error: &ToolError) -> Vec<String> {
    let mut memories = Vec::new();
    if error.kind.is_refusal() || error.kind == ErrorKind::Cancelled {
        return memories;
    }
    let Some(key) = cx.note(|notes| notes.key) else { return memories };
    if let Some(earlier) = cx.session.memory.earlier(&key)
        && matches!(earlier.went, Went::Failed(failure) if failure == FailureFingerprint::of(error))
    {
        memories.push(format!("Exactly this call failed in the same way before (call {}).", earlier.call));
    }
    let failures = cx.session.memory.failures_in_a_row(&key) + 1;
    if failures >= cx.limits().failures_in_a_row {
        memories.push(format!("This tool has now failed {failures} times in a row."));
    }
    memories
}

async fn fill_content(
    cx: &CallContext<'_>,
    output: &ToolOutput,
    spoken: Option<&DialectCall<'_>>,
    result: &mut ToolResult,
) {
    let text = hidden_text(cx, &output.for_model);
    result.warnings.extend(cx.hidden());
    let text = match spoken {
        Some(spoken) => spoken.output(text, result),
        None => text,
    };
    // Bytes are never fewer than characters, so most texts need no counting.
    let room = cx.limits().result_whole;
    let text = if text.len() <= room || text.chars().count() <= room {
        text
    } else {
        Box::pin(bounded(cx, text, result)).await
    };
    let notes = notes_for_model(cx, result, spoken).join("\n");
    let gap = if text.is_empty() || notes.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let mut content = text;
    let end_of_text = content.len();
    content.extend([gap, &notes]);
    if let Some(object) = spoken.and_then(|spoken| spoken.object(&content, &content[..end_of_text], result)) {
        result.data = Some(object);
    }
    result.content = vec![Content::Text(content)];
    result.content.extend(output.for_model.iter().filter(|piece| matches!(piece, Content::Image(_))).cloned());
}

/// Joins the texts of an output and hides the secrets in them.
fn hidden_text(cx: &CallContext<'_>, pieces: &[Content]) -> String {
    if let [Content::Text(text)] = pieces {
        return hide(cx, text);
    }
    let mut whole = String::new();
    for piece in pieces.iter().filter_map(Content::text) {
        if !whole.is_empty() {
            whole.push('\n');
        }
        whole.push_str(piece);
    }
    cx.redactor.redact_in_place(&mut whole);
    whole
}

/// Notes for the model behind the output: the error, the repairs, other facts it needs.
fn notes_for_model(cx: &CallContext<'_>, result: &ToolResult, spoken: Option<&DialectCall<'_>>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(error) = &result.error {
        let happened = what_happened(cx, result).map(|words| hide(cx, &words));
        match spoken {
            Some(spoken) => notes.push(spoken.error(error, happened.as_deref(), result)),
            None => {
                notes.push(error.what.clone());
                notes.extend(happened);
                notes.push(format!("Next: {}", error.next));
            }
        }
    }
    let is_news = |repair: &&String| {
        let is_first_time = |kind| cx.session.memory.is_first_time(&result.tool, kind);
        !told_once::is_idle(repair) && told_once::kind(repair).is_none_or(is_first_time)
    };
    let news: Vec<&str> = result.repairs.iter().filter(is_news).map(String::as_str).collect();
    if !news.is_empty() {
        notes.push(format!("[repaired {}]", news.join("; ")));
    }
    notes.extend(result.warnings.iter().map(|warning| note_line(warning)));
    notes
}

/// A result that failed says whether anything happened.
fn what_happened(cx: &CallContext<'_>, result: &ToolResult) -> Option<String> {
    let effects = cx.note(|notes| notes.effects.clone()).unwrap_or_default();
    match &result.did {
        Did::Nothing => effects.iter().any(Effect::changes).then(|| "Nothing was changed.".to_owned()),
        Did::Changed { files, change_set } => {
            let more = files.len().saturating_sub(MOST_FILES);
            let mut files: Vec<String> = files.iter().take(MOST_FILES).map(ToString::to_string).collect();
            if more > 0 {
                files.push(format!("{more} more"));
            }
            let undo = change_set.map(|number| format!(" (undo: change set {number})")).unwrap_or_default();
            Some(format!("Changed before it stopped: {}{undo}.", files.join(", ")))
        }
        Did::Unknown(effects) if effects.is_empty() => None,
        Did::Unknown(effects) => {
            let effects: Vec<String> = effects.iter().take(8).map(ToString::to_string).collect();
            Some(format!("It is not known whether it did this: {}.", effects.join("; ")))
        }
    }
}

/// Keeps head and tail of what is too long, and the whole of it where it can be read.
async fn bounded(cx: &CallContext<'_>, text: String, result: &mut ToolResult) -> String {
    let limits = cx.limits();
    let head_end = text.char_indices().nth(limits.result_head).map_or(text.len(), |(at, _)| at);
    let tail_start = text.char_indices().rev().nth(limits.result_tail.saturating_sub(1)).map_or(0, |(at, _)| at);
    let tail_start = if limits.result_tail == 0 { text.len() } else { tail_start };
    let tail_start = tail_start.max(head_end);
    let (head, tail) = (whole_lines_before(&text[..head_end]), whole_lines_after(&text[tail_start..]));
    let left_out = text.len() - head.len() - tail.len();
    let line_length = limits.kept_line_length();
    let kept = wrapped(&text, line_length);
    let how = match cx.session.ground.doors.store.spill(&cx.session.name, &kept).await {
        Ok(id) => {
            let shown_lines = wrapped(head, line_length).lines().count();
            let next_line = if text[head.len()..].starts_with('\n') { shown_lines + 1 } else { shown_lines };
            result.spilled = Some(id.clone());
            format!("the whole output is at {}", limits.page_style.rest_of(&id, next_line))
        }
        Err(error) => error.what.clone(),
    };
    format!("{head}\n[… {left_out} bytes left out; {how} …]\n{tail}")
}

/// Data is for programs, yet a program hands it to a model: it is bounded too.
fn bounded_data(cx: &CallContext<'_>, data: Value) -> Option<Value> {
    let room = 4 * cx.limits().result_whole;
    let mut left = room;
    if !fits(&data, &mut left) {
        cx.note(|notes| {
            notes.warnings.push(format!("The data of this result is larger than {room} bytes and was left out."))
        });
        return None;
    }
    Some(data)
}

fn fits(value: &Value, left: &mut usize) -> bool {
    let size = match value {
        Value::String(text) => text.len() + 2,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => 8,
    };
    let Some(rest) = left.checked_sub(size) else { return false };
    *left = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| fits(item, left)),
        Value::Object(fields) => fields.iter().all(|(key, field)| match left.checked_sub(key.len()) {
            Some(rest) => {
                *left = rest;
                fits(field, left)
            }
            None => false,
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn redacted_repairs(cx: &CallContext<'_>) -> Vec<String> {
    let mut repairs = cx.note(|notes| std::mem::take(&mut notes.repairs));
    let left = repairs.len().saturating_sub(MOST_REPAIRS);
    repairs.truncate(MOST_REPAIRS);
    let mut repairs: Vec<String> = repairs.iter().map(|repair| shortened(&hide(cx, repair))).collect();
    if left > 0 {
        repairs.push(format!("$: {left} more of this kind"));
    }
    repairs
}

fn hide(cx: &CallContext<'_>, text: &str) -> String {
    cx.redactor.redact(text).into_owned()
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_ERROR) {
        None => text.to_owned(),
        Some((end, _)) => format!("{} […]", &text[..end]),
    }
}
