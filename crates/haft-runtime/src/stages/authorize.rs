//! Gets permission: the rules first, then, where they ask, somebody.
//!
//! Permission is a value: [`Authorized`] can be made nowhere else, and owns the exact call and
//! plan that were shown.

use std::sync::Arc;

use haft::effect::Effect;
use haft::error::{Next, ToolError};
use haft::kinds::ErrorKind;
use haft::plan::Preview;
use haft_policy::decision::{Class, Decision, Ruling};
use haft_policy::grant::GrantScope;
use haft_policy::policy::Policy;

use super::line_up::Planned;
use crate::approval::{ApprovalRequest, Verdict};
use crate::call_context::CallContext;
use crate::events::What;

/// A call that may run.
pub(crate) struct Authorized {
    planned: Planned,
}

impl Authorized {
    /// Returns what the call would touch.
    pub(crate) fn effects(&self) -> &Arc<[Effect]> {
        &self.planned.plan.effects
    }

    /// Returns the plan that was approved.
    pub(crate) fn planned(&self) -> &Planned {
        &self.planned
    }

    /// Uses the permission up.
    pub(crate) fn into_planned(self) -> Planned {
        self.planned
    }
}

/// Gets permission for a planned call.
pub(crate) async fn authorize(
    cx: &CallContext<'_>,
    policy: &Policy,
    planned: Planned,
) -> Result<Authorized, ToolError> {
    let ruling = policy.judge(planned.entry.native_name(), &planned.plan.effects, cx.session.mode());
    match ruling.decision {
        Decision::Allow => Ok(Authorized { planned }),
        Decision::Deny => Err(denied(&ruling)),
        Decision::Ask => ask(cx, policy, planned, ruling).await,
    }
}

/// The refusal of a rule.
pub(crate) fn denied(ruling: &Ruling) -> ToolError {
    let what = format!("The rule \"{}\" refuses this call. {}", ruling.rule, ruling.reason);
    ToolError::new(ErrorKind::Denied, what, Next::DoNotRetry(ruling.instead.clone())).by_rule(&ruling.rule)
}

async fn ask(cx: &CallContext<'_>, policy: &Policy, planned: Planned, ruling: Ruling) -> Result<Authorized, ToolError> {
    // One question at a time; what was granted meanwhile may have answered this one.
    let _asking = cx.session.asking.lock().await;
    let open = policy.open_questions(&planned.plan.effects, &cx.session.grants());
    if open.is_empty() && ruling.class == Class::Ordinary && !asks_for_tool(policy, &planned) {
        return Ok(Authorized { planned });
    }
    let request = Arc::new(request(cx, &planned, &open, ruling));
    cx.tell(|| What::ApprovalAsked(request.clone()));
    let verdict = cx.session.approver.ask(&request).await;
    cx.tell(|| What::ApprovalGiven(verdict.clone()));
    match verdict {
        Verdict::AllowOnce => Ok(Authorized { planned }),
        Verdict::AllowFor(scope) => {
            // An approver that grants more than was offered has answered another question.
            if request.offers.contains(&scope) {
                cx.session.grant(scope);
            }
            Ok(Authorized { planned })
        }
        Verdict::Refuse { note } => Err(declined(note.as_deref(), &request.ruling)),
        Verdict::StopTurn => {
            cx.session.stop_turn();
            Err(declined(Some("the user stopped the turn"), &request.ruling))
        }
        Verdict::NoAnswer { how } => Err(unanswered(&how, &request.ruling)),
    }
}

fn asks_for_tool(policy: &Policy, planned: &Planned) -> bool {
    policy.judge_tool(planned.entry.native_name()).is_some_and(|ruling| ruling.decision == Decision::Ask)
}

fn request(cx: &CallContext<'_>, planned: &Planned, open: &[&Effect], ruling: Ruling) -> ApprovalRequest {
    let redactor = &cx.session.ground.redactor;
    let mut arguments = planned.called.arguments.clone();
    redactor.redact_value(&mut arguments);
    let mut preview = planned.plan.preview.clone();
    let hide = |text: &mut String| redactor.redact_in_place(text);
    match &mut preview {
        Preview::Arguments => {}
        Preview::Diff { before, after, .. } => {
            hide(before);
            hide(after);
        }
        Preview::Command(text) | Preview::Request(text) | Preview::Text(text) => hide(text),
    }
    // One grant that covers all open effects is worth offering; a dangerous class never is.
    let offers = match (ruling.class, open) {
        (Class::Ordinary, [first, rest @ ..]) => GrantScope::offered_for(first)
            .into_iter()
            .filter(|scope| rest.iter().all(|effect| scope.covers(effect)))
            .collect(),
        _ => Vec::new(),
    };
    ApprovalRequest {
        call: cx.id.clone(),
        tool: planned.entry.shown.name.clone(),
        title: planned.entry.shown.manual.title.clone(),
        arguments,
        effects: open.iter().map(|effect| redactor.redact(&effect.to_string()).into_owned()).collect(),
        preview,
        ruling,
        offers,
    }
}

fn declined(note: Option<&str>, ruling: &Ruling) -> ToolError {
    let what = match note {
        Some(note) => format!("The user said no: {note}"),
        None => "The user said no.".to_owned(),
    };
    ToolError::of(ErrorKind::Declined, what).by_rule(&ruling.rule)
}

fn unanswered(how: &str, ruling: &Ruling) -> ToolError {
    let what = format!("The rule \"{}\" asks first, and nobody is there to answer. {}", ruling.rule, ruling.reason);
    ToolError::new(ErrorKind::NeedsApproval, what, Next::AskUser(how.to_owned())).by_rule(&ruling.rule)
}
