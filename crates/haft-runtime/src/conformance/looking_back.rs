//! Checks all answers together: their length, the changes they made, processes that kept running, their content.

use std::sync::Arc;

use haft_contract::outcome::result::Status;
use haft_contract::text::grouped::GroupedNumber;
use serde_json::Value;

use super::bench::{ConformanceBench, ConformanceCall, Good, answer, shown};
use super::{Check, Finding};
use crate::arguments::Checker;
use crate::redaction::redact::HIDDEN;

/// The checks of this file, in the order of [`checks`].
pub(super) const CHECKS: [Check; 6] =
    [Check::LongAnswer, Check::Effects, Check::LeftRunning, Check::OutputSchema, Check::Secrets, Check::Cache];

/// Looks back at everything that was answered.
pub(super) fn checks(bench: &ConformanceBench<'_>, good: &Good) -> [Finding; 6] {
    let answered = bench.answered();
    [
        long_answer(bench, &answered),
        effects(bench, &answered),
        left_running(&answered),
        output_schema(bench, &answered),
        secrets(&answered),
        cache(bench, good),
    ]
}

fn long_answer(bench: &ConformanceBench<'_>, answered: &[Arc<ConformanceCall>]) -> Finding {
    let is_example = |one: &&Arc<ConformanceCall>| {
        bench.subject.examples.is_empty()
            || bench.subject.examples.iter().any(|example| example.arguments == one.arguments)
    };
    let most = GroupedNumber(bench.subject.runtime.limits().result_whole as u64);
    let check = Check::LongAnswer;
    match answered.iter().filter(is_example).find(|one| one.result.spilled.is_some()) {
        Some(long) => {
            let what = format!(
                "the result of {} is longer than the {most} characters that a model reads",
                shown(&long.arguments)
            );
            Finding::failed(check, what, "return less: a page, a count, or the name of a file that has the rest")
        }
        None => Finding::passed(check, format!("no result is longer than the {most} characters that a model reads")),
    }
}

fn effects(bench: &ConformanceBench<'_>, answered: &[Arc<ConformanceCall>]) -> Finding {
    let check = Check::Effects;
    if !bench.subject.declares {
        let what = "the tool does not declare what it touches, so haft asks about each call";
        return Finding::skipped(check, what).with_fix("write effects: […], or effects: [] if it only computes");
    }
    match answered.iter().find(|one| !one.result.undeclared.is_empty()) {
        Some(one) => {
            let (changed, arguments) = (one.result.undeclared.join(", "), shown(&one.arguments));
            let what = format!("{arguments} changes {changed}, which \"effects\" does not declare; haft discarded it");
            Finding::failed(check, what, "declare it in \"effects\" as change: …, or do not change it")
        }
        None => Finding::passed(check, "the tool changed only what it declares"),
    }
}

fn left_running(answered: &[Arc<ConformanceCall>]) -> Finding {
    let check = Check::LeftRunning;
    // What was stopped in the middle could not clean up.
    let mut ended = answered.iter().filter(|one| matches!(one.result.status, Status::Ok | Status::Failed));
    match ended.find(|one| one.result.left_behind > 0) {
        Some(one) => {
            let (left, arguments) = (GroupedNumber(one.result.left_behind as u64), shown(&one.arguments));
            let what = format!("{arguments} leaves {} running, which haft ended", left.of("process"));
            Finding::failed(check, what, "wait for the processes that the tool starts")
        }
        None => Finding::passed(check, "no call left a process running"),
    }
}

fn output_schema(bench: &ConformanceBench<'_>, answered: &[Arc<ConformanceCall>]) -> Finding {
    let check = Check::OutputSchema;
    let Some(promise) = bench.subject.promise else { return Finding::skipped(check, "the tool has none") };
    let checker = match Checker::new(promise) {
        Ok(checker) => checker,
        Err(why) => return Finding::failed(check, format!("haft cannot use it: {why}"), "fix \"output_schema\""),
    };
    let answers: Vec<&Arc<ConformanceCall>> = answered.iter().filter(|one| one.result.status == Status::Ok).collect();
    for one in &answers {
        if let Err(faults) = checker.check(&answer(&one.result)) {
            let fault = faults
                .first()
                .map(|fault| format!(" ({}: wanted is {})", fault.path, fault.expected))
                .unwrap_or_default();
            let what = format!("the result of {} does not match the schema{fault}", shown(&one.arguments));
            return Finding::failed(check, what, "fix the tool or \"output_schema\"");
        }
    }
    Finding::passed(check, format!("{} results match the schema", answers.len()))
}

fn secrets(answered: &[Arc<ConformanceCall>]) -> Finding {
    let holds = |one: &&Arc<ConformanceCall>| {
        let data = one.result.data.as_ref().map(Value::to_string).unwrap_or_default();
        let is_in_answer = one.result.text().contains(HIDDEN) || data.contains(HIDDEN);
        is_in_answer && !one.arguments.to_string().contains(HIDDEN)
    };
    match answered.iter().find(holds) {
        Some(one) => {
            let what = format!("the result of {} contains a secret, which haft hid", shown(&one.arguments));
            Finding::failed(Check::Secrets, what, "leave keys and tokens out of results and errors")
        }
        None => Finding::passed(Check::Secrets, "no result contains a secret"),
    }
}

fn cache(bench: &ConformanceBench<'_>, good: &Good) -> Finding {
    let check = Check::Cache;
    match (bench.subject.is_cached, good.is_steady) {
        (false, _) => Finding::skipped(check, "haft does not cache its results"),
        (true, None) => Finding::skipped(check, "haft called the tool only once"),
        (true, Some(true)) => Finding::passed(check, "the same call returned the same result"),
        (true, Some(false)) => {
            let what = format!("the call {} returned another result the second time", shown(&good.arguments));
            Finding::failed(check, what, "write use_cache: false, or let the result depend on the arguments alone")
        }
    }
}
