//! What an agent does, as records for programs: one line of JSON for each.

use haft_agent::outcome::{Ended, Outcome};
use haft_agent::told::Told;
use haft_contract::grouped::Grouped;
use haft_model::conversation::{Call, Usage};
use haft_model::provider::ModelErrorKind;
use haft_runtime::record::{VERSION, of_result};
use serde_json::{Value, json};

/// Returns the record of something that happened; nothing where a later one has it all.
pub fn record(told: Told<'_>) -> Option<Value> {
    match told {
        Told::Step(_) | Told::Thinking(_) | Told::Writing(_) | Told::Arguments(_) | Told::Steered(_) => None,
        Told::Text(text) | Told::Finished(text) => Some(json!({ "v": VERSION, "event": "text", "text": text })),
        Told::Again(after, why) => {
            let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
            Some(json!({ "v": VERSION, "event": "again", "after_ms": after_ms, "why": why }))
        }
        Told::Replied { usage: cost, total, .. } => {
            Some(json!({ "v": VERSION, "event": "replied", "usage": usage(cost), "total": usage(total) }))
        }
        Told::CallBegan { call, .. } => Some(json!({
            "v": VERSION, "event": "call", "id": call.id, "tool": call.name, "arguments": arguments(call)
        })),
        Told::CallEnded { result, .. } => {
            let mut record = json!({ "v": VERSION, "event": "result" });
            if let (Some(fields), Value::Object(result)) = (record.as_object_mut(), of_result(result)) {
                fields.extend(result);
            }
            Some(record)
        }
        Told::NotRun { call, answer } => Some(json!({
            "v": VERSION, "event": "not_run", "id": call.id, "tool": call.name, "content": answer.text
        })),
        Told::GoesOn(why) => Some(json!({ "v": VERSION, "event": "goes_on", "why": why })),
        Told::Unfit(why) => Some(json!({ "v": VERSION, "event": "unfit", "why": why })),
        Told::Compacted(done) => Some(json!({
            "v": VERSION, "event": "compacted", "results": done.results, "arguments": done.arguments,
            "replies": done.replies, "tokens_before": done.tokens_before, "tokens_now": done.tokens_now
        })),
    }
}

/// The arguments as an object where they are one, else the text as it came.
pub fn arguments(call: &Call) -> Value {
    match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(fields)) => Value::Object(fields),
        Ok(_) | Err(_) => call.arguments.as_str().into(),
    }
}

/// Returns what a request and its reply cost, as a record.
pub fn usage(usage: Usage) -> Value {
    json!({
        "input": usage.input, "output": usage.output,
        "cache_read": usage.cache_read, "cache_written": usage.cache_written
    })
}

/// Names an end for programs.
#[must_use]
pub fn name_of_end(ended: &Ended) -> &'static str {
    match ended {
        Ended::Finished => "finished",
        Ended::Stopped => "stopped",
        Ended::OutOfSteps(_) => "out_of_steps",
        Ended::OutOfBudget { .. } => "out_of_budget",
        Ended::OutOfMoney { .. } => "out_of_money",
        Ended::PromptTooLong { .. } => "prompt_too_long",
        Ended::Refused => "refused",
        Ended::Unfinished(_) => "unfinished",
        Ended::SaidNothing => "said_nothing",
        Ended::Unfit(_) => "unfit",
        Ended::GoesInCircles { .. } => "goes_in_circles",
        Ended::Failed(error) if error.kind == ModelErrorKind::TimedOut => "timed_out",
        Ended::Failed(_) => "failed",
        Ended::NotRecorded(_) => "not_recorded",
    }
}

/// Returns the last record of a run of a session: how it ended, after how many seconds, with which exit code.
pub fn end_record(outcome: &Outcome, id: &str, exit_code: u8, took: f64) -> Value {
    let mut record = json!({
        "v": VERSION, "event": "ended", "how": name_of_end(&outcome.ended), "answer": outcome.answer, "session": id,
        "steps": outcome.steps, "usage": usage(outcome.usage), "exit_code": exit_code,
        "duration_ms": (took * 1_000.0) as u64
    });
    add_output(&mut record, outcome);
    if let Some(cost) = &outcome.cost {
        record["cost"] = json!({ "amount": cost.exact(), "currency": cost.currency() });
    }
    if outcome.ended != Ended::Finished {
        record["error"] = outcome.ended.to_string().into();
    }
    record
}

/// Puts the answer into the last record, as it was wanted.
fn add_output(record: &mut Value, outcome: &Outcome) {
    if let Some(output) = &outcome.output {
        record["output"] = output.value.clone();
        if !output.repairs.is_empty() {
            record["repairs"] = output.repairs.clone().into();
        }
    }
}

/// Says what a run took: steps, tokens, money, tools, seconds.
pub fn cost_line(outcome: &Outcome, tools: &str, took: f64) -> String {
    let usage = outcome.usage;
    let cached = match usage.cache_read {
        0 => String::new(),
        cached => format!(" ({} of them from the cache)", Grouped(cached)),
    };
    let cost = outcome.cost.as_ref().map(|cost| format!(", {cost}")).unwrap_or_default();
    let tools = if tools.is_empty() { String::new() } else { format!("; {tools}") };
    format!(
        "{}, {} in{cached}, {} out{cost}{tools}; {took:.1} s in total",
        Grouped(u64::from(outcome.steps)).of("step"),
        Grouped(usage.input).of("token"),
        Grouped(usage.output)
    )
}
