//! Checks that calls do not disturb each other: calls side by side, and a call after one that failed.

use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::result::{Status, ToolResult};
use serde_json::Value;

use super::bench::{ConformanceBench, Good, is_same, shown};
use super::wrong_arguments::with;
use super::{Check, Finding};

/// How many calls run side by side.
const AT_ONCE: usize = 8;

/// Makes calls side by side and expects from each the answer that it gives alone.
pub(super) async fn parallel(bench: &ConformanceBench<'_>, good: &Good) -> Finding {
    let alone = alone(bench, good).await;
    let calls: Vec<&(Value, ToolResult)> = alone.iter().cycle().take(AT_ONCE).collect();
    let at_once = bench.call_at_once(calls.iter().map(|(arguments, _)| arguments)).await;
    let fix = "share no state between calls, or write disable_parallel: true";
    let is_steady = good.is_steady == Some(true);
    for ((arguments, alone), result) in calls.iter().zip(&at_once) {
        // The same was read a moment ago; a model is told so instead of being told the same again.
        if result.error.as_ref().is_some_and(|error| error.kind == ErrorKind::Redundant) {
            continue;
        }
        let arguments = shown(arguments);
        if let Some(error) = result.error.as_ref().filter(|_| result.status != alone.status) {
            let what = format!("{AT_ONCE} parallel calls: {arguments} fails: {}", error.what);
            return Finding::failed(Check::Parallel, what, fix);
        }
        if is_steady && !is_same(alone, result) {
            let what = format!("{AT_ONCE} parallel calls: {arguments} returns another result than alone");
            return Finding::failed(Check::Parallel, what, fix);
        }
    }
    let what = match (is_steady, alone.len()) {
        (false, _) => {
            format!(
                "{AT_ONCE} parallel calls worked; the results differ from call to call, so haft did not compare them"
            )
        }
        (true, 1) => format!("{AT_ONCE} parallel calls returned the same result as a single call"),
        (true, many) => {
            format!("{AT_ONCE} parallel calls, {many} of them different, returned the same results as single calls")
        }
    };
    Finding::passed(Check::Parallel, what)
}

/// Returns calls that differ, as far as some are known that work, with what they are answered alone.
async fn alone(bench: &ConformanceBench<'_>, good: &Good) -> Vec<(Value, ToolResult)> {
    let mut alone = vec![(good.arguments.clone(), good.result.clone())];
    for example in bench.subject.examples.iter().take(AT_ONCE).filter(|example| example.arguments != good.arguments) {
        let result = bench.call(&example.arguments).await;
        if result.status == Status::Ok {
            alone.push((example.arguments.clone(), result));
        }
    }
    for arguments in varied(bench, good).into_iter().take(AT_ONCE - alone.len().min(AT_ONCE)) {
        let result = bench.call_within(&arguments, good).await;
        if result.status != Status::Ok {
            break;
        }
        alone.push((arguments, result));
    }
    alone
}

/// Varies the first free text of a call.
fn varied(bench: &ConformanceBench<'_>, good: &Good) -> Vec<Value> {
    let schema = bench.schema();
    let is_free = |name: &str| {
        let property = schema.get("properties").and_then(|properties| properties.get(name));
        property.is_some_and(|property| {
            let fixed = ["enum", "const", "pattern", "format", "maxLength"];
            property.get("type").is_some_and(|kind| kind == "string")
                && fixed.iter().all(|key| property.get(key).is_none())
        })
    };
    let Some(right) = good.arguments.as_object() else { return Vec::new() };
    let free = right.iter().find_map(|(name, value)| Some((name, value.as_str().filter(|_| is_free(name))?)));
    let Some((name, text)) = free else { return Vec::new() };
    (1..AT_ONCE).map(|number| with(right, name, Value::from(format!("{text} {number}")))).collect()
}

/// Looks at the calls that came after one that did not work.
pub(super) fn next_call(good: &Good, after: &[(&str, ToolResult)]) -> Finding {
    for (which, result) in after {
        if !good.is_repeated_by(result) {
            let said = result
                .error
                .as_ref()
                .map_or_else(|| "another result than before".to_owned(), |error| error.what.clone());
            let what = format!("the call after {which}: {said}");
            return Finding::failed(
                Check::NextCall,
                what,
                "keep no state from one call to the next, and clean up when a call fails",
            );
        }
    }
    let which: Vec<&str> = after.iter().map(|(which, _)| *which).collect();
    Finding::passed(Check::NextCall, format!("it works after {}", which.join(", after ")))
}
