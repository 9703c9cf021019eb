//! Gets permission: the rules first, then, where they ask, somebody.
//!
//! Permission is a value: [`Authorized`] can be made nowhere else, and owns the exact call and
//! plan that were shown.

use std::borrow::Cow;
use std::sync::Arc;

use haft::diff::Diff;
use haft::effect::Effect;
use haft::error::{Next, ToolError};
use haft::kinds::ErrorKind;
use haft::plan::{FileDiff, Preview};
use haft_policy::decision::{Class, Decision, Ruling};
use haft_policy::grant::GrantScope;
use haft_policy::policy::{Policy, Situation};

use super::line_up::Planned;
use crate::approval::{ApprovalRequest, Offer, Verdict};
use crate::call_context::CallContext;
use crate::events::What;
use crate::redact::Redactor;

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
    let ruling = judge(cx, policy, &planned);
    match ruling.decision {
        Decision::Allow => Ok(Authorized { planned }),
        Decision::Deny => Err(denied(&ruling)),
        Decision::Ask => ask(cx, policy, planned).await,
    }
}

fn judge(cx: &CallContext<'_>, policy: &Policy, planned: &Planned) -> Ruling {
    let grants = cx.session.grants();
    let situation = Situation { mode: cx.session.mode(), grants: &grants };
    policy.judge(planned.entry.native_name(), &planned.plan.effects, situation)
}

/// The refusal of a rule.
pub(crate) fn denied(ruling: &Ruling) -> ToolError {
    let what = format!("The rule \"{}\" refuses this call. {}", ruling.rule, ruling.reason);
    ToolError::new(ErrorKind::Denied, what, Next::DoNotRetry(ruling.instead.clone())).by_rule(&ruling.rule)
}

async fn ask(cx: &CallContext<'_>, policy: &Policy, planned: Planned) -> Result<Authorized, ToolError> {
    // One question at a time. When this one is next it is judged again: a grant may have answered it.
    let _asking = cx.session.asking.lock().await;
    let ruling = judge(cx, policy, &planned);
    match ruling.decision {
        Decision::Allow => return Ok(Authorized { planned }),
        Decision::Deny => return Err(denied(&ruling)),
        Decision::Ask => {}
    }
    let request = Arc::new(request(cx, policy, &planned, ruling));
    cx.tell(|| What::ApprovalAsked(request.clone()));
    let verdict = cx.session.approver.ask(&request).await;
    cx.tell(|| What::ApprovalGiven { verdict: verdict.clone(), scope: request.words_of(&verdict) });
    match verdict {
        Verdict::AllowOnce => {}
        Verdict::AllowFor(scope) if request.offers.iter().any(|offer| offer.scope == scope) => cx.session.grant(scope),
        Verdict::AllowFor(_) => return Err(declined(Some("the answer was none of those offered"), &request.ruling)),
        Verdict::Refuse { note } => return Err(declined(note.as_deref(), &request.ruling)),
        Verdict::StopTurn => {
            cx.turn.stop.cancel();
            return Err(declined(Some("the user stopped the turn"), &request.ruling));
        }
        Verdict::NoAnswer { how } => return Err(unanswered(&how, &request.ruling)),
    }
    // Somebody may have left for plan mode while the question stood.
    let ruling = judge(cx, policy, &planned);
    if ruling.decision == Decision::Deny { Err(denied(&ruling)) } else { Ok(Authorized { planned }) }
}

fn request(cx: &CallContext<'_>, policy: &Policy, planned: &Planned, mut ruling: Ruling) -> ApprovalRequest {
    let redactor = &cx.session.ground.redactor;
    let hide = |text: &mut String| redactor.redact_in_place(text);
    let grants = cx.session.grants();
    let situation = Situation { mode: cx.session.mode(), grants: &grants };
    let open = policy.open_questions(planned.entry.native_name(), &planned.plan.effects, situation);
    let mut arguments = planned.called.arguments.clone();
    redactor.redact_value(&mut arguments);
    let mut preview = planned.plan.preview.clone();
    match &mut preview {
        Preview::Arguments => {}
        Preview::Diff(files) => {
            for FileDiff { path, diff, notes } in files {
                hide(path);
                notes.iter_mut().for_each(hide);
                hide_in_diff(redactor, diff);
            }
        }
        Preview::Command(text) | Preview::Request(text) | Preview::Text(text) => hide(text),
    }
    hide(&mut ruling.reason);
    let offers = offers(&open, ruling.class).into_iter();
    ApprovalRequest {
        call: cx.id.clone(),
        tool: planned.entry.shown.name.clone(),
        title: planned.entry.shown.manual.title.clone(),
        arguments,
        effects: open.iter().map(|effect| redactor.redact(&effect.to_string()).into_owned()).collect(),
        preview,
        ruling,
        offers: offers.map(|scope| Offer { words: redactor.redact(&scope.to_string()).into_owned(), scope }).collect(),
    }
}

/// Hides secrets in the lines of a difference, also those that go over several lines.
fn hide_in_diff(redactor: &Redactor, diff: &mut Diff) {
    // One look at the whole is much cheaper than one at each line, and mostly there is nothing.
    let holds_secret = |diff: &mut Diff| {
        let lines: Vec<&str> = diff.lines_mut().map(|line| line.text()).collect();
        matches!(redactor.redact(&lines.join("\n")), Cow::Owned(_))
    };
    if holds_secret(diff) {
        diff.lines_mut().for_each(|line| redactor.redact_in_place(line.text_mut()));
    }
    if holds_secret(diff) {
        diff.lines_mut().for_each(|line| *line.text_mut() = "[hidden: a secret]".to_owned());
    }
}

/// One grant that covers all open effects is worth offering; in a dangerous class none is.
fn offers(open: &[&Effect], class: Class) -> Vec<GrantScope> {
    match (class, open) {
        (Class::Ordinary, [first, rest @ ..]) => {
            let covers_rest = |scope: &GrantScope| rest.iter().all(|effect| scope.covers(effect));
            GrantScope::offered_for(first).into_iter().filter(covers_rest).collect()
        }
        _ => Vec::new(),
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
