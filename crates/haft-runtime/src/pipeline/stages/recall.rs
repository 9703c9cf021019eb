//! Finds a kept result for a call whose plan allows reusing one.
//!
//! It searches the session's own results first, then those of the workspace on disk.

use std::time::Duration;

use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::output::ToolOutput;
use haft_contract::plan::CachePolicy;

use super::authorize::AuthorizedCall;
use super::execute::ExecutedCall;
use crate::pipeline::call_context::CallContext;
use crate::state::kept;
use crate::state::kept::KeptKey;
use crate::state::session::ResultCaching;

/// Returns the kept result of an identical call, if the plan allows it and it is still good.
pub(crate) async fn recall(
    cx: &CallContext<'_>,
    authorized: &AuthorizedCall,
) -> Result<Option<Box<ExecutedCall>>, ToolError> {
    let planned = authorized.planned();
    let CachePolicy::For(time) = planned.plan.cache else { return Ok(None) };
    if cx.session.keeping() == ResultCaching::Off {
        return Ok(None);
    }
    let key = kept::key(cx, planned);
    let Some((output, age)) = found(cx, &key, time).await else { return Ok(None) };
    cx.note(|notes| notes.cached = Some(age));
    Ok(Some(Box::new(ExecutedCall { output, called: planned.called.clone() })))
}

async fn found(cx: &CallContext<'_>, key: &KeptKey, time: Duration) -> Option<(ToolOutput, Duration)> {
    if let Some(kept) = cx.session.memory.kept(key, time) {
        return Some(kept);
    }
    let recalled = cx.session.ground.doors.store.recall(key, time).await?;
    Some((kept::from_bytes(&recalled.kept)?, recalled.age))
}
