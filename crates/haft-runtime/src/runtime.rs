//! Contains the path of a call, readable in one function.

use futures_util::FutureExt;
use futures_util::future::join_all;
use haft_contract::call::ToolCall;
use haft_contract::description::dialect::Dialect;
use haft_contract::doors::door::Doors;
use haft_contract::limits::Limits;
use haft_contract::outcome::result::ToolResult;
use haft_policy::policy::Policy;
use std::pin::pin;
use std::sync::Arc;

use crate::asking::approval::Approver;
use crate::catalogue::catalog::Catalog;
use crate::events::Events;
use crate::hooks::{Hook, Hooks};
use crate::pipeline::call_context::CallContext;
use crate::pipeline::conflict::Commands;
use crate::pipeline::gate;
use crate::pipeline::stage::CallStage::{
    AfterHooks, Authorize, BeforeHooks, Execute, Gate, LineUp, Parse, Prepare, Recall, Resolve,
};
use crate::pipeline::stage::Halt;
use crate::pipeline::stages::authorize::authorize;
use crate::pipeline::stages::execute::{ExecutedCall, execute};
use crate::pipeline::stages::line_up::line_up;
use crate::pipeline::stages::parse::parse;
use crate::pipeline::stages::prepare::prepare;
use crate::pipeline::stages::recall::recall;
use crate::pipeline::stages::resolve::resolve;
use crate::pipeline::stages::shrink::shrink;
use crate::redaction::redact::Redactor;
use crate::redaction::secrets;
use crate::redaction::secrets::KnownSecrets;
use crate::state::session::Session;

/// Runs calls. One per workspace: it owns the doors, the rules, the tools, the gate and the events.
pub struct Runtime {
    catalog: Catalog,
    policy: Policy,
    hooks: Hooks,
    gate: gate::Gate,
    ground: Arc<RuntimeCore>,
}

/// The parts of a runtime that it shares with its sessions.
#[derive(Clone)]
pub(crate) struct RuntimeCore {
    pub(crate) doors: Doors,
    pub(crate) limits: Limits,
    pub(crate) redactor: Redactor,
    pub(crate) secrets: Arc<KnownSecrets>,
    pub(crate) events: Events,
    pub(crate) dialect: Option<Arc<dyn Dialect>>,
    /// Whether commands may run side by side.
    pub(crate) overlap: bool,
    /// The session that has these doors for itself.
    pub(crate) only_session: Option<Arc<str>>,
}

impl Runtime {
    /// Makes a runtime over these tools and doors, with the default rules and limits.
    pub fn new(catalog: Catalog, doors: Doors) -> Self {
        let (limits, redactor, events) = (Limits::default(), Redactor::default(), Events::default());
        let ground = RuntimeCore {
            doors,
            limits,
            redactor,
            secrets: Arc::default(),
            events,
            dialect: None,
            overlap: true,
            only_session: None,
        };
        Self {
            catalog,
            policy: Policy::default(),
            hooks: Hooks::default(),
            gate: gate::Gate::default(),
            ground: ground.into(),
        }
    }

    /// Judges by these rules.
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Asks this hook before and after calls, behind those that are there already.
    pub fn with_hook(mut self, hook: impl Hook + 'static) -> Self {
        self.hooks.add(hook);
        self
    }

    /// Keeps to these limits, in sessions opened from now on.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        // A dialect says how pages look, whichever came first.
        let page_style = self.ground.dialect.as_ref().map(|dialect| Arc::new(dialect.page_style()));
        let limits = Limits { page_style: page_style.unwrap_or_else(|| limits.page_style.clone()), ..limits };
        self.ground = Arc::new(RuntimeCore { limits, ..(*self.ground).clone() });
        self
    }

    /// Tells results in this dialect, in sessions opened from now on.
    ///
    /// How tools are shown is a matter of the toolset: [`crate::catalogue::toolset::ToolsetExt::in_dialect`].
    pub fn with_dialect(mut self, dialect: Arc<dyn Dialect>) -> Self {
        let limits = Limits { page_style: dialect.page_style().into(), ..self.ground.limits.clone() };
        self.ground = Arc::new(RuntimeCore { limits, dialect: Some(dialect), ..(*self.ground).clone() });
        self
    }

    /// Says whether commands may run side by side where each has its own layer, in sessions opened from now on.
    pub fn with_overlap(mut self, overlap: bool) -> Self {
        self.ground = Arc::new(RuntimeCore { overlap, ..(*self.ground).clone() });
        self
    }

    /// Hides these secrets, in sessions opened from now on.
    pub fn with_redactor(mut self, redactor: Redactor) -> Self {
        self.ground = Arc::new(RuntimeCore { redactor, ..(*self.ground).clone() });
        self
    }

    /// Returns the redactor, for callers that show text that no call has made.
    pub fn redactor(&self) -> &Redactor {
        &self.ground.redactor
    }

    /// Hides these secrets too, also in sessions that are open.
    pub fn also_hide(&self, values: impl IntoIterator<Item = String>) {
        self.ground.redactor.also_hide(values);
    }

    /// Gets to know the secrets in files of the workspace before anything was called. May take a while in a large one.
    pub fn learn_secrets(&self) {
        secrets::learn_all(&self.ground);
    }

    /// Opens a session whose questions go to this approver.
    pub fn session(&self, name: &str, approver: impl Approver + 'static) -> Session {
        Session::new(name, Box::new(approver), self.ground.clone())
    }

    /// Opens a session whose commands share no home, no temporary folder and no network with those of other sessions.
    pub fn session_apart(&self, name: &str, approver: impl Approver + 'static) -> Session {
        let doors = self.ground.doors.for_another_session();
        Session::new(
            name,
            Box::new(approver),
            Arc::new(RuntimeCore { doors, only_session: Some(name.into()), ..(*self.ground).clone() }),
        )
    }

    /// Returns the tools.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Returns the rules.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Returns the limits of sessions opened from now on.
    pub fn limits(&self) -> &Limits {
        &self.ground.limits
    }

    /// Returns the dialect that results are told in.
    pub fn dialect(&self) -> Option<&Arc<dyn Dialect>> {
        self.ground.dialect.as_ref()
    }

    /// Returns the events of all sessions.
    pub fn events(&self) -> &Events {
        &self.ground.events
    }

    /// Returns the doors, for callers that look before they call.
    pub fn doors(&self) -> &Doors {
        &self.ground.doors
    }

    pub(crate) fn gate(&self) -> &gate::Gate {
        &self.gate
    }

    /// Runs one call to its one result.
    ///
    /// The call has its place in the turn from now on, not from the first poll. To stop it, use
    /// [`Session::cancel`]; dropping the future gives up the result and what it says of what was done.
    pub fn call<'a>(
        &'a self,
        session: &'a Session,
        mut call: ToolCall,
    ) -> impl Future<Output = ToolResult> + Send + 'a {
        let cx = session.open_call(&call);
        async move {
            // Boxed: it is large, and everything around it would be moved with it.
            let outcome = cx.guarded(Box::pin(self.drive(&cx, &mut call))).await;
            secrets::learn_after(&cx, &outcome).await;
            if matches!(&outcome, Err(halt) if halt.at == Resolve) {
                cx.hide_in_name(&call.name);
            }
            let result = shrink(&cx, &self.catalog, outcome.map(|ran| ran.output)).await;
            cx.close(result)
        }
    }

    /// Runs the calls of one message together; the results are in the order of the calls.
    pub async fn call_all(&self, session: &Session, calls: Vec<ToolCall>) -> Vec<ToolResult> {
        self.call_all_telling(session, calls, &|_| {}).await
    }

    /// Runs the calls of one message together, and tells of each as soon as it has ended.
    pub async fn call_all_telling(
        &self,
        session: &Session,
        calls: Vec<ToolCall>,
        ended: &(dyn Fn(&ToolResult) + Send + Sync),
    ) -> Vec<ToolResult> {
        // All take their places first: the order of the turn is the order in which they were made.
        let calls: Vec<_> = calls.into_iter().map(|call| self.call(session, call)).collect();
        join_all(calls.into_iter().map(|call| call.inspect(ended))).await
    }

    async fn drive(&self, cx: &CallContext<'_>, call: &mut ToolCall) -> Result<Box<ExecutedCall>, Halt> {
        cx.begin();
        // What does the model want?
        let resolved = cx.at_once(Resolve, || resolve(&self.catalog, &self.policy, call))?;
        let parsed = cx.at_once(Parse, || parse(cx, resolved))?;
        let prepared = cx.at_once(Prepare, || prepare(cx, &self.catalog, parsed))?;

        // May it?
        let checked = cx.at(BeforeHooks, pin!(self.hooks.before(cx, prepared))).await?;
        let planned = cx.at(LineUp, pin!(line_up(cx, checked))).await?;
        secrets::learn_first(cx, &planned.plan.effects).await;
        let authorized = cx.at(Authorize, pin!(authorize(cx, &self.policy, planned))).await?;

        // Do it, once.
        let remembered = cx.at(Recall, pin!(recall(cx, &authorized))).await?;
        let ran = match remembered {
            Some(remembered) => remembered,
            None => {
                let commands = Commands::of(authorized.effects(), &cx.session.ground);
                let touched = gate::touched(authorized.effects(), cx.session.ground.only_session.as_deref());
                let _slot = cx.at(Gate, pin!(cx.waiting(self.gate.enter(&touched, commands)))).await?;
                cx.at(Execute, pin!(execute(cx, &self.policy, authorized))).await?
            }
        };

        // Say what happened.
        cx.at(AfterHooks, pin!(self.hooks.after(cx, ran))).await
    }
}
