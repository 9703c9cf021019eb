//! Runs inspections: single commands that haft itself needs, outside any call of a model.
//!
//! An inspection has no arguments to repair and no person to ask. It passes the remaining stages: the rules may deny it,
//! it waits at the gate, and its permit admits its one command and no network. Listeners get its events. haft discards
//! what the command changes. If that is not possible, the command does not run.
//!
//! Not here: the findings of an inspection (`haft_contract::doors::inspection::Inspection`).

use std::pin::pin;
use std::sync::Arc;

use haft_contract::BoxFuture;
use haft_contract::call::{CallOrigin, RawArguments, ToolCall};
use haft_contract::context::RunContext;
use haft_contract::doors::door::Doors;
use haft_contract::doors::inspection::{Inspection, Inspector};
use haft_contract::effect::Effect;
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::output::ToolOutput;
use haft_policy::decision::Decision;
use haft_policy::policy::{Mode, Policy, Situation};
use serde_json::json;

use super::containment::CommandContainment;
use crate::asking::approval::Nobody;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::conflict::Commands;
use crate::pipeline::stage::CallStage::{Authorize, Execute, Gate};
use crate::pipeline::stage::Halt;
use crate::pipeline::stages::authorize::denied;
use crate::pipeline::stages::shrink::shrink;
use crate::runtime::Runtime;

/// The session of all inspections.
const SESSION: &str = "inspection";

impl Inspector for Runtime {
    fn doors(&self) -> &Doors {
        Runtime::doors(self)
    }

    fn inspect<'a, I: Inspection>(&'a self, inspection: &'a I) -> BoxFuture<'a, Result<I::Found, ToolError>> {
        Box::pin(async move {
            let session = self.session(SESSION, Nobody::there("inspections ask no questions"));
            let arguments = RawArguments::from(json!({ "command": inspection.line().0 }));
            let call = ToolCall::new(inspection.tool(), arguments).by(CallOrigin::Script);
            let cx = session.open_call(&call);
            let (found, outcome) = match self.inspected(&cx, inspection).await {
                Ok(found) => (Ok(found), Ok(ToolOutput::default())),
                Err(halt) => (Err(halt.error.clone()), Err(halt)),
            };
            let result = shrink(&cx, self.catalog(), outcome).await;
            cx.close(result);
            found
        })
    }
}

impl Runtime {
    async fn inspected<I: Inspection>(&self, cx: &CallContext<'_>, inspection: &I) -> Result<I::Found, Halt> {
        let effects: Arc<[Effect]> = [Effect::Run(inspection.line())].into();
        cx.note(|notes| notes.effects = Some(effects.clone()));
        cx.at_once(Authorize, || refuse_denied(cx, self.policy(), (inspection.tool(), &effects)))?;
        let _slot = cx.at(Gate, pin!(cx.waiting(self.gate().enter(&effects, Commands::SideBySide)))).await?;
        let permit = cx.issue_for_inspection(inspection.tool(), effects);
        let ground = &cx.session.ground;
        let run_context = RunContext::new(&permit, &ground.doors, &cx.session.name, &ground.limits);
        let run_context = run_context.reporting(cx).settling(Mode::Try.settling());
        cx.at(Execute, pin!(inspection.run(&run_context))).await
    }
}

/// Refuses what a rule denies. What a rule would ask about runs: it changes nothing, and the user started what needs it.
fn refuse_denied(cx: &CallContext<'_>, policy: &Policy, (tool, effects): (&str, &[Effect])) -> Result<(), ToolError> {
    let contained = CommandContainment::of(&cx.session.ground.doors).containment();
    let ruling = policy.judge(tool, effects, Situation { contained, ..Mode::Try.into() });
    match ruling.decision {
        Decision::Deny => Err(denied(&ruling)),
        Decision::Ask | Decision::Allow => Ok(()),
    }
}
