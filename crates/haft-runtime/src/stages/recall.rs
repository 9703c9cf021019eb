//! Finds a kept result, for calls whose plan says that one may serve.

use haft::error::ToolError;
use haft::plan::Cache;

use super::authorize::Authorized;
use super::execute::Ran;
use crate::call_context::CallContext;

/// Returns the kept result of an identical call, if the plan allows it and it is still good.
pub(crate) async fn recall(cx: &CallContext<'_>, authorized: &Authorized) -> Result<Option<Ran>, ToolError> {
    let planned = authorized.planned();
    if planned.plan.cache == Cache::No {
        return Ok(None);
    }
    Ok(cx.session.memory.kept(&planned.key).map(|output| Ran { output, called: planned.called.clone() }))
}
