//! Checks that a call ends when its time is up, and when the caller stops it.

use std::time::Duration;

use haft_contract::outcome::result::{Status, ToolResult};
use tokio::time::Instant;

use super::bench::{ConformanceBench, Good};
use super::{Check, ConformanceVerdict, Finding};
use crate::events::{CallEventContent, EventKind, Subscription};
use crate::pipeline::stage::CallStage;

/// How long a call may take to stop; then the runtime gives it up.
const GRACE: Duration = Duration::from_millis(500);
/// How much later it may come back on a busy machine.
const SLACK: Duration = Duration::from_millis(400);
/// The shortest limit that is tried.
const SHORTEST: Duration = Duration::from_millis(1);

/// How long to wait before another trial: a busy machine is late for a while, a tool that does not stop is late each time.
const PAUSES: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
];

/// Gives the tool half of the time that it needs.
pub(super) async fn time_limit(bench: &ConformanceBench<'_>, good: &Good) -> Finding {
    unless_always(async || try_time_limit(bench, good).await).await
}

/// Stops the tool in the middle of a call.
pub(super) async fn cancel(bench: &ConformanceBench<'_>, good: &Good) -> Finding {
    unless_always(async || try_cancel(bench, good).await).await
}

/// Returns the first finding that is no failure, or the last one.
async fn unless_always(trial: impl AsyncFn() -> Finding) -> Finding {
    for pause in PAUSES {
        let finding = trial().await;
        if finding.verdict != ConformanceVerdict::Failed {
            return finding;
        }
        tokio::time::sleep(pause).await;
    }
    trial().await
}

async fn try_time_limit(bench: &ConformanceBench<'_>, good: &Good) -> Finding {
    let limit = (good.took / 2).max(SHORTEST);
    let Some(hurried) = (bench.subject.hurried)(limit).await else {
        return Finding::skipped(Check::TimeLimit, "it is a built-in tool, for which haft sets no limit here");
    };
    let session = bench.session();
    let began = Instant::now();
    let call = bench.prepared(&hurried, &good.arguments);
    let result = bench.subject.runtime.call(&session, call).await;
    let (took, limit_ms) = (began.elapsed(), limit.as_secs_f64() * 1_000.0);
    let fix = "do not ignore the signals that end the tool";
    match result.status {
        Status::TimedOut if took > limit + good.took + GRACE + SLACK => {
            let what = format!("with a limit of {limit_ms:.1} ms it ended only after {} ms", took.as_millis());
            Finding::failed(Check::TimeLimit, what, fix)
        }
        Status::TimedOut => {
            let what = format!("with a limit of {limit_ms:.1} ms haft ended it and everything that it had started");
            Finding::passed(Check::TimeLimit, what)
        }
        Status::Ok if took > limit + good.took + GRACE + SLACK => {
            let what = format!("with a limit of {limit_ms:.1} ms it ran for {} ms", took.as_millis());
            Finding::failed(Check::TimeLimit, what, fix)
        }
        Status::Ok => Finding::passed(Check::TimeLimit, format!("it finished within {limit_ms:.1} ms")),
        Status::Failed | Status::Refused | Status::Cancelled => Finding::failed(
            Check::TimeLimit,
            format!("with a limit of {limit_ms:.1} ms it fails in another way: {}", told(&result)),
            fix,
        ),
    }
}

async fn try_cancel(bench: &ConformanceBench<'_>, good: &Good) -> Finding {
    let session = bench.session();
    let call = bench.prepared(bench.subject.tool, &good.arguments);
    let id = call.id.clone();
    let mut stages = bench.subject.runtime.events().subscribe_only(EventKind::StageFinished);
    let calling = bench.subject.runtime.call(&session, call);
    let stopping = async {
        has_begun(&mut stages).await;
        tokio::time::sleep(good.took / 3).await;
        (session.cancel(&id), Instant::now())
    };
    tokio::pin!(calling, stopping);
    let (result, stopped_at) = tokio::select! {
        result = &mut calling => (result, None),
        (_, at) = &mut stopping => ((&mut calling).await, Some(at)),
    };
    let took = stopped_at.map(|at| at.elapsed());
    match (result.status, took) {
        (Status::Cancelled, Some(took)) if took >= GRACE => {
            let what = format!(
                "it did not stop within {} ms; haft gave it up after {} ms",
                GRACE.as_millis(),
                took.as_millis()
            );
            Finding::failed(Check::Cancel, what, "end when the signal arrives, and work in short steps")
        }
        (Status::Cancelled, Some(took)) => Finding::passed(
            Check::Cancel,
            format!("it stopped in the middle of a call, within {} ms", took.as_millis().max(1)),
        ),
        (Status::Ok, _) => Finding::passed(Check::Cancel, "it finished before haft could stop it"),
        _ => Finding::failed(
            Check::Cancel,
            format!("when haft stops it, it fails in another way: {}", told(&result)),
            "fix the tool",
        ),
    }
}

/// Waits until a call has passed the gate.
async fn has_begun(stages: &mut Subscription) {
    loop {
        let event = stages.next().await;
        if matches!(event.what, CallEventContent::StageFinished { stage: CallStage::Gate, .. }) {
            return;
        }
    }
}

fn told(result: &ToolResult) -> String {
    result.error.as_ref().map_or_else(|| "nothing".to_owned(), |error| error.what.clone())
}
