//! Checks that a tool follows the rules for every tool: its examples work, and it survives calls it does not expect.
//!
//! Each check is one finding: passed, failed with the fix, or skipped with the reason. The calls go through the whole
//! pipeline like calls of a model. Each has its own session, so no call learns of the others.
//!
//! Not here: protecting the user's files (the mode of the subject, the doors of its runtime), binding a definition,
//! showing findings.

mod at_once;
mod bench;
mod looking_back;
mod odd_values;
mod stopping;
mod wrong_arguments;

use std::fmt;
use std::time::Duration;

use haft_contract::BoxFuture;
use haft_contract::description::manual::Example;
use haft_policy::policy::Mode;
use serde_json::Value;

use crate::runtime::Runtime;
use bench::{ConformanceBench, Good};

/// A tool whose conformance is checked.
pub struct ConformanceSubject<'a> {
    /// Where it is called.
    pub runtime: &'a Runtime,
    /// Its name in the catalogue of the runtime.
    pub tool: &'a str,
    /// What becomes of changes.
    pub mode: Mode,
    /// Calls that work.
    pub examples: &'a [Example],
    /// The schema of its answers, where it promises one. The tool in the catalogue does not check it itself.
    pub promise: Option<&'a Value>,
    /// Whether it says what it touches.
    pub declares: bool,
    /// Whether its answers are kept and given again.
    pub is_cached: bool,
    /// Where it connects to. Such a tool is not called more often than its examples say.
    pub connects: Option<&'a str>,
    /// Gives the name of the same tool with this limit of time, where that can be had.
    pub hurried: &'a (dyn Fn(Duration) -> BoxFuture<'a, Option<String>> + Sync),
}

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Check {
    /// The examples work and show what they promise.
    Examples,
    /// Arguments that do not fit are refused before the tool sees them.
    WrongArguments,
    /// The tool answers unexpected arguments that fit its schema.
    OddValues,
    /// A limit of time is kept.
    TimeLimit,
    /// A stopped call ends immediately.
    Cancel,
    /// Calls side by side answer as they do alone.
    Parallel,
    /// A call works after one that failed.
    NextCall,
    /// An answer is short enough to be read.
    LongAnswer,
    /// Nothing is changed that was not declared.
    Effects,
    /// Nothing keeps running.
    LeftRunning,
    /// Answers are what `output_schema` says.
    OutputSchema,
    /// No secret is in an answer.
    Secrets,
    /// Answers that are kept are the same each time.
    Cache,
}

impl Check {
    /// Returns the name of the check in records.
    pub fn name(self) -> &'static str {
        match self {
            Check::Examples => "examples",
            Check::WrongArguments => "wrong_arguments",
            Check::OddValues => "odd_values",
            Check::TimeLimit => "time_limit",
            Check::Cancel => "cancel",
            Check::Parallel => "parallel",
            Check::NextCall => "next_call",
            Check::LongAnswer => "long_answer",
            Check::Effects => "effects",
            Check::LeftRunning => "left_running",
            Check::OutputSchema => "output_schema",
            Check::Secrets => "secrets",
            Check::Cache => "use_cache",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The result of a conformance check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConformanceVerdict {
    /// The tool keeps it.
    Passed,
    /// It does not.
    Failed,
    /// It was not tried.
    Skipped,
}

/// What one check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The check.
    pub check: Check,
    /// How it ended.
    pub verdict: ConformanceVerdict,
    /// What was found, or why it was not tried.
    pub what: String,
    /// What to do about it; nothing where there is nothing to do.
    pub fix: Option<String>,
}

impl Finding {
    fn passed(check: Check, what: impl Into<String>) -> Self {
        Self { check, verdict: ConformanceVerdict::Passed, what: what.into(), fix: None }
    }

    fn failed(check: Check, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, verdict: ConformanceVerdict::Failed, what: what.into(), fix: Some(fix.into()) }
    }

    fn skipped(check: Check, what: impl Into<String>) -> Self {
        Self { check, verdict: ConformanceVerdict::Skipped, what: what.into(), fix: None }
    }

    fn with_fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }
}

/// Tries a tool; returns one finding for each check, in the order of [`Check`].
pub async fn tried(subject: ConformanceSubject<'_>) -> Vec<Finding> {
    let bench = ConformanceBench::new(subject);
    let (examples, good) = bench.examples().await;
    let mut findings = vec![examples, wrong_arguments::check(&bench, good.as_ref().ok()).await];
    match (good, bench.subject.connects) {
        (Ok(good), None) => {
            findings.extend(behaviour(&bench, &good).await);
            findings.extend(looking_back::checks(&bench, &good));
        }
        (Ok(good), Some(host)) => {
            let why = format!("the tool connects to {host}, so haft runs only its examples");
            findings.extend(BEHAVIOUR.map(|check| Finding::skipped(check, &why)));
            findings.extend(looking_back::checks(&bench, &good));
        }
        (Err(why), _) => {
            let all = BEHAVIOUR.into_iter().chain(looking_back::CHECKS);
            findings.extend(all.map(|check| Finding::skipped(check, &why)));
        }
    }
    findings
}

/// The checks that call the tool again and again.
const BEHAVIOUR: [Check; 5] = [Check::OddValues, Check::TimeLimit, Check::Cancel, Check::Parallel, Check::NextCall];

async fn behaviour(bench: &ConformanceBench<'_>, good: &Good) -> [Finding; 5] {
    let (odd_values, after_failure) = odd_values::check(bench, good).await;
    let mut after: Vec<_> = after_failure.into_iter().map(|result| ("one that failed", result)).collect();
    if after.iter().any(|(_, result)| !good.is_repeated_by(result)) {
        let skipped = |check| Finding::skipped(check, "it no longer works after a call that failed");
        let [time_limit, cancel, parallel] = [Check::TimeLimit, Check::Cancel, Check::Parallel].map(skipped);
        return [odd_values, time_limit, cancel, parallel, at_once::next_call(good, &after)];
    }
    let time_limit = stopping::time_limit(bench, good).await;
    after.push(("one that reached its time limit", bench.call(&good.arguments).await));
    let cancel = stopping::cancel(bench, good).await;
    after.push(("one that was stopped", bench.call(&good.arguments).await));
    let parallel = at_once::parallel(bench, good).await;
    [odd_values, time_limit, cancel, parallel, at_once::next_call(good, &after)]
}
