//! Reports what an agent does as records for programs: one line of JSON for each event.

use haft_agent::outcome::{AgentEndReason, AgentOutcome};
use haft_agent::work::told::RunEvent;
use haft_contract::text::grouped::GroupedNumber;
use haft_model::conversation::{ModelToolCall, Usage};
use haft_model::provider::ModelErrorKind;
use haft_runtime::record::{VERSION, of_result};
use serde_json::{Value, json};

/// Returns the record of something that happened; nothing where a later one has it all.
pub fn record(told: RunEvent<'_>) -> Option<Value> {
    match told {
        RunEvent::Step(_)
        | RunEvent::Thinking(_)
        | RunEvent::Writing(_)
        | RunEvent::Arguments(_)
        | RunEvent::Steered(_) => None,
        RunEvent::Text(text) | RunEvent::Finished(text) => Some(json!({ "v": VERSION, "event": "text", "text": text })),
        RunEvent::Again(after, why) => {
            let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
            Some(json!({ "v": VERSION, "event": "again", "after_ms": after_ms, "why": why }))
        }
        RunEvent::Replied { usage: cost, total, .. } => {
            Some(json!({ "v": VERSION, "event": "replied", "usage": usage(cost), "total": usage(total) }))
        }
        RunEvent::CallBegan { call, .. } => Some(json!({
            "v": VERSION, "event": "call", "id": call.id, "tool": call.name, "arguments": arguments(call)
        })),
        RunEvent::CallEnded { result, .. } => {
            let mut record = json!({ "v": VERSION, "event": "result" });
            if let (Some(fields), Value::Object(result)) = (record.as_object_mut(), of_result(result)) {
                fields.extend(result);
            }
            Some(record)
        }
        RunEvent::NotRun { call, answer } => Some(json!({
            "v": VERSION, "event": "not_run", "id": call.id, "tool": call.name, "content": answer.text
        })),
        RunEvent::GoesOn(why) => Some(json!({ "v": VERSION, "event": "goes_on", "why": why })),
        RunEvent::Unfit(why) => Some(json!({ "v": VERSION, "event": "unfit", "why": why })),
        RunEvent::Compacted(done) => Some(json!({
            "v": VERSION, "event": "compacted", "results": done.results, "arguments": done.arguments,
            "replies": done.replies, "tokens_before": done.tokens_before, "tokens_now": done.tokens_now
        })),
    }
}

/// The arguments as an object where they are one, else the text as it came.
pub fn arguments(call: &ModelToolCall) -> Value {
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
pub fn name_of_end(ended: &AgentEndReason) -> &'static str {
    match ended {
        AgentEndReason::Finished => "finished",
        AgentEndReason::Stopped => "stopped",
        AgentEndReason::OutOfSteps(_) => "out_of_steps",
        AgentEndReason::OutOfBudget { .. } => "out_of_budget",
        AgentEndReason::OutOfMoney { .. } => "out_of_money",
        AgentEndReason::PromptTooLong { .. } => "prompt_too_long",
        AgentEndReason::Refused => "refused",
        AgentEndReason::Unfinished(_) => "unfinished",
        AgentEndReason::SaidNothing => "said_nothing",
        AgentEndReason::Unfit(_) => "unfit",
        AgentEndReason::GoesInCircles { .. } => "goes_in_circles",
        AgentEndReason::Failed(error) if error.kind == ModelErrorKind::TimedOut => "timed_out",
        AgentEndReason::Failed(_) => "failed",
        AgentEndReason::NotRecorded(_) => "not_recorded",
    }
}

/// Returns the last record of a run of a session: how it ended, after how many seconds, with which exit code.
pub fn end_record(outcome: &AgentOutcome, id: &str, exit_code: u8, took: f64) -> Value {
    let mut record = json!({
        "v": VERSION, "event": "ended", "how": name_of_end(&outcome.ended), "answer": outcome.answer, "session": id,
        "steps": outcome.steps, "usage": usage(outcome.usage), "exit_code": exit_code,
        "duration_ms": (took * 1_000.0) as u64
    });
    add_output(&mut record, outcome);
    if let Some(cost) = &outcome.cost {
        record["cost"] = json!({ "amount": cost.exact(), "currency": cost.currency() });
    }
    if outcome.ended != AgentEndReason::Finished {
        record["error"] = outcome.ended.to_string().into();
    }
    record
}

/// Puts the answer into the last record, as it was wanted.
fn add_output(record: &mut Value, outcome: &AgentOutcome) {
    if let Some(output) = &outcome.output {
        record["output"] = output.value.clone();
        if !output.repairs.is_empty() {
            record["repairs"] = output.repairs.clone().into();
        }
    }
}

/// Says what a run took: steps, tokens, money, tools, seconds.
pub fn cost_line(outcome: &AgentOutcome, tools: &str, took: f64) -> String {
    let usage = outcome.usage;
    let cached = match usage.cache_read {
        0 => String::new(),
        cached => format!(" ({} of them from the cache)", GroupedNumber(cached)),
    };
    let cost = outcome.cost.as_ref().map(|cost| format!(", {cost}")).unwrap_or_default();
    let tools = if tools.is_empty() { String::new() } else { format!("; {tools}") };
    format!(
        "{}, {} in{cached}, {} out{cost}{tools}; {took:.1} s in total",
        GroupedNumber(u64::from(outcome.steps)).of("step"),
        GroupedNumber(usage.input).of("token"),
        GroupedNumber(usage.output)
    )
}
