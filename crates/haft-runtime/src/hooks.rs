//! Code that is asked before a call and told after it.
//!
//! A hook may refuse a call or rewrite its arguments, never allow anything. Before-hooks run in
//! order, after-hooks in reverse. All checks fail closed: a before-hook that crashes or takes too
//! long refuses the call; an after-hook that does so cannot refuse what has happened, so the
//! result stays and carries a warning.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use haft::BoxFuture;
use haft::call::CallId;
use haft::error::{Next, ToolError};
use haft::kinds::ErrorKind;
use haft::output::ToolOutput;
use serde_json::Value;

use crate::call_context::CallContext;
use crate::stages::execute::Ran;
use crate::stages::prepare::{Prepared, prepare_again};

/// Longest time that a hook may take.
const LONGEST: Duration = Duration::from_secs(30);

/// Code around calls.
pub trait Hook: Send + Sync {
    /// Returns the name that refusals carry.
    fn name(&self) -> &str;

    /// Returns whether the hook wants to know of this tool, by its native name.
    fn concerns(&self, _tool: &str) -> bool {
        true
    }

    /// Is asked before the call is planned.
    fn before<'a>(&'a self, _call: &'a HookedCall) -> BoxFuture<'a, Before> {
        Box::pin(async { Before::Pass })
    }

    /// Is told of the output, and may change it.
    fn after<'a>(&'a self, _call: &'a HookedCall, output: ToolOutput) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move { output })
    }
}

/// What a hook sees: the native tool and arguments, without what is fixed and hidden.
#[derive(Clone, Debug)]
pub struct HookedCall {
    /// The call.
    pub call: CallId,
    /// The native name of the tool.
    pub tool: String,
    /// The native arguments.
    pub arguments: Value,
}

/// The answer of a before-hook.
#[derive(Clone, Debug, PartialEq)]
pub enum Before {
    /// Goes on.
    Pass,
    /// Goes on with other arguments.
    Rewrite(Value),
    /// Does not go on; says why.
    Refuse(String),
}

/// All hooks of a runtime.
#[derive(Default)]
pub(crate) struct Hooks {
    hooks: Vec<Arc<dyn Hook>>,
}

impl Hooks {
    pub(crate) fn add(&mut self, hook: impl Hook + 'static) {
        self.hooks.push(Arc::new(hook));
    }

    /// Asks every hook. Rewritten arguments are prepared again, once, after the last hook.
    pub(crate) async fn before(&self, cx: &CallContext<'_>, prepared: Prepared) -> Result<Prepared, ToolError> {
        if self.hooks.is_empty() {
            return Ok(prepared);
        }
        let mut call = prepared.called.clone();
        let mut rewritten = false;
        for hook in &self.hooks {
            match watched(async { if hook.concerns(&call.tool) { hook.before(&call).await } else { Before::Pass } })
                .await
            {
                Ok(Before::Pass) => {}
                Ok(Before::Rewrite(arguments)) => {
                    call.arguments = arguments;
                    rewritten = true;
                }
                Ok(Before::Refuse(why)) => return Err(refusal(hook.name(), &why)),
                Err(how) => return Err(refusal(hook.name(), &format!("the hook {how}, so the call is not made"))),
            }
        }
        if rewritten { prepare_again(cx, prepared, call.arguments) } else { Ok(prepared) }
    }

    /// Tells every hook, the last one first. Once the call was stopped, nobody else is told.
    pub(crate) async fn after(&self, cx: &CallContext<'_>, mut ran: Ran) -> Result<Ran, ToolError> {
        if self.hooks.is_empty() {
            return Ok(ran);
        }
        for hook in self.hooks.iter().rev() {
            let told = watched(async {
                let output = ran.output.clone();
                if hook.concerns(&ran.called.tool) { hook.after(&ran.called, output).await } else { output }
            });
            let told = tokio::select! {
                biased;
                () = cx.place.stop.cancelled() => break,
                told = told => told,
            };
            match told {
                Ok(output) => ran.output = output,
                Err(how) => cx.note(|notes| {
                    notes
                        .warnings
                        .push(format!("The hook \"{}\" {how}; the result is as the tool gave it.", hook.name()))
                }),
            }
        }
        Ok(ran)
    }
}

/// Waits for a hook, but not for ever, and not past its panic.
async fn watched<T>(hook: impl Future<Output = T>) -> Result<T, &'static str> {
    match tokio::time::timeout(LONGEST, AssertUnwindSafe(hook).catch_unwind()).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(_panic)) => Err("crashed"),
        Err(_elapsed) => Err("took longer than 30 s"),
    }
}

fn refusal(hook: &str, why: &str) -> ToolError {
    let next = Next::DoNotRetry("do what the hook says, or ask the user".into());
    ToolError::new(ErrorKind::Denied, format!("The hook \"{hook}\" refuses this call: {why}."), next)
        .by_rule(format!("hook:{hook}"))
}
