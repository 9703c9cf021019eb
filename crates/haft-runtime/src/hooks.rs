//! Runs hooks: code that haft asks before a call and informs after it.
//!
//! A hook may refuse a call or rewrite its arguments, but it never allows anything. Before-hooks run in order,
//! after-hooks in reverse. All checks fail closed: a before-hook that crashes or takes too long refuses the call. An
//! after-hook that does so cannot refuse what has already happened, so the result stays and carries a warning.
//!
//! A hook in Rust implements [`Hook`]. A hook that is a command of the user is a [`command::CommandHook`].

mod answer;
pub mod command;
mod context;
mod event;
mod printed;

pub use context::HookContext;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use haft_contract::BoxFuture;
use haft_contract::call::CallId;
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::output::ToolOutput;
use serde_json::Value;

use crate::pipeline::call_context::CallContext;
use crate::pipeline::stages::execute::ExecutedCall;
use crate::pipeline::stages::prepare::{PreparedCall, prepare_again};

/// Longest time that a hook may take which does not say otherwise.
const LONGEST: Duration = Duration::from_secs(30);

/// Code around calls.
pub trait Hook: Send + Sync {
    /// Returns the name that refusals carry.
    fn name(&self) -> &str;

    /// Returns whether the hook wants to know of this tool, by its native name.
    fn concerns(&self, _tool: &str) -> bool {
        true
    }

    /// Returns how long it may take; then a call is refused, or the result stays as it is.
    fn longest(&self) -> Duration {
        LONGEST
    }

    /// Is asked before the call is planned.
    fn before<'a>(&'a self, _call: &'a HookedCall, _cx: &'a HookContext<'a>) -> BoxFuture<'a, Before> {
        Box::pin(async { Before::Pass })
    }

    /// Is told of the output, and may change it.
    fn after<'a>(
        &'a self,
        _call: &'a HookedCall,
        output: ToolOutput,
        _cx: &'a HookContext<'a>,
    ) -> BoxFuture<'a, ToolOutput> {
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
    /// Continues after a yes, perhaps with other arguments. Rules may still refuse the call.
    Ask {
        /// Why haft asks.
        why: String,
        /// The other arguments.
        arguments: Option<Value>,
    },
    /// Does not go on; says why.
    Refuse(String),
}

/// A question that a hook wants to be put.
#[derive(Clone, Debug)]
pub(crate) struct HookQuestion {
    pub(crate) rule: String,
    pub(crate) why: String,
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
    pub(crate) async fn before(&self, cx: &CallContext<'_>, prepared: PreparedCall) -> Result<PreparedCall, ToolError> {
        let concerned = self.concerned(&prepared.called.tool);
        if concerned.is_empty() {
            return Ok(prepared);
        }
        // Boxed, as below: it is large, and most calls concern no hook.
        Box::pin(ask_all(concerned, cx, prepared)).await
    }

    /// Informs every hook, the last one first. If the call is stopped, the remaining hooks are not informed.
    pub(crate) async fn after(
        &self,
        cx: &CallContext<'_>,
        ran: Box<ExecutedCall>,
    ) -> Result<Box<ExecutedCall>, ToolError> {
        let concerned = self.concerned(&ran.called.tool);
        if concerned.is_empty() {
            return Ok(ran);
        }
        Ok(Box::pin(tell_all(concerned, cx, ran)).await)
    }

    /// Returns the hooks that want to know of a tool. Mostly there are none, and nothing is allocated.
    fn concerned(&self, tool: &str) -> Vec<&dyn Hook> {
        // One that crashes over the question is asked: it may crash again, and that refuses.
        let concerns = |hook: &&Arc<dyn Hook>| catch_unwind(AssertUnwindSafe(|| hook.concerns(tool))).unwrap_or(true);
        self.hooks.iter().filter(concerns).map(|hook| &**hook).collect()
    }
}

async fn ask_all(
    hooks: Vec<&dyn Hook>,
    cx: &CallContext<'_>,
    prepared: PreparedCall,
) -> Result<PreparedCall, ToolError> {
    let mut call = prepared.called.clone();
    let mut rewritten = None;
    for hook in hooks {
        let hook_context = HookContext::new(cx, hook.name());
        let answer = watched(hook, async { hook.before(&call, &hook_context).await }).await;
        match answer {
            Ok(Before::Pass) => {}
            Ok(Before::Rewrite(arguments)) => rewritten = Some(arguments),
            Ok(Before::Ask { why, arguments }) => {
                let question = HookQuestion { rule: rule_of(hook.name()), why };
                cx.note(|notes| _ = notes.question.get_or_insert(question));
                rewritten = arguments.or(rewritten);
            }
            Ok(Before::Refuse(why)) => return Err(refusal(hook.name(), &why)),
            Err(how) => return Err(refusal(hook.name(), &format!("the hook {how}, so the call is not made"))),
        }
        if let Some(arguments) = &rewritten {
            call.arguments.clone_from(arguments);
        }
    }
    match rewritten {
        Some(arguments) => prepare_again(cx, prepared, arguments),
        None => Ok(prepared),
    }
}

async fn tell_all(hooks: Vec<&dyn Hook>, cx: &CallContext<'_>, mut ran: Box<ExecutedCall>) -> Box<ExecutedCall> {
    for hook in hooks.into_iter().rev() {
        let hook_context = HookContext::new(cx, hook.name());
        let output = ran.output.clone();
        let told = watched(hook, async { hook.after(&ran.called, output, &hook_context).await });
        let told = tokio::select! {
            biased;
            () = cx.place.stop.cancelled() => break,
            told = told => told,
        };
        match told {
            Ok(output) => ran.output = output,
            Err(how) => hook_context.warn(&format!("{how}; the result of the tool is unchanged.")),
        }
    }
    ran
}

/// Waits for a hook, but not for ever, and not past its panic.
async fn watched<T>(hook: &dyn Hook, work: impl Future<Output = T>) -> Result<T, String> {
    let longest = hook.longest();
    match tokio::time::timeout(longest, AssertUnwindSafe(work).catch_unwind()).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(_panic)) => Err("crashed".to_owned()),
        Err(_elapsed) => Err(format!("took longer than {} s", longest.as_secs_f64())),
    }
}

fn refusal(hook: &str, why: &str) -> ToolError {
    let why = why.trim_end().trim_end_matches('.');
    let next = Next::DoNotRetry("do what the hook says, or ask the user".into());
    ToolError::new(ErrorKind::Denied, format!("The hook \"{hook}\" refuses this call: {why}."), next)
        .by_rule(rule_of(hook))
}

/// The name of a hook where otherwise rules are named.
fn rule_of(hook: &str) -> String {
    format!("hook:{hook}")
}
