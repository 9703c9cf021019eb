//! Gets permission: from the rules first, then from the approver where the rules ask.
//!
//! Permission is a value: only this module can make an [`AuthorizedCall`], which owns the exact call and plan that
//! were shown.
//!
//! Not here: building the question (`question`).

use std::sync::Arc;
use std::task::Poll;

use haft_contract::doors::door::{ConsentKind, OldChanges};
use haft_contract::doors::history::Eviction;
use haft_contract::effect::Effect;
use haft_contract::outcome::error::{AdvanceYes, Next, Recovery, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_policy::containment::Containment;
use haft_policy::decision::{Class, Decision, Ruling};
use haft_policy::full_journal::may_be_recorded;
use haft_policy::hosts::host_of;
use haft_policy::policy::{Mode, Policy, Situation};
use haft_policy::taints::LastTaint;

use super::line_up::LinedUpCall;
use crate::asking::approval::{ApprovalRequest, Verdict};
use crate::asking::question::{CallQuestion, QuestionSubject};
use crate::confining::containment::CommandContainment;
use crate::events::{CallEventContent, EventKind};
use crate::hooks::HookQuestion;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::turn::Now;
use crate::state::taint;

/// A call that may run.
pub(crate) struct AuthorizedCall {
    planned: Box<LinedUpCall>,
    rests_on: RestsOn,
    standing: ConsentKind,
    old_changes: OldChanges,
}

/// What a permission rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RestsOn {
    /// The rules, or a yes from an approver who knew that there is no layer, whatever happens to the command's layer.
    Word,
    /// The command's changes can be taken back: so haft asked no question, or the question said so.
    Layer,
}

impl AuthorizedCall {
    /// Returns what the call would touch.
    pub(crate) fn effects(&self) -> &Arc<[Effect]> {
        &self.planned.plan.effects
    }

    /// Returns the plan that was approved.
    pub(crate) fn planned(&self) -> &LinedUpCall {
        &self.planned
    }

    /// Returns what the permission rests on.
    pub(crate) fn rests_on(&self) -> RestsOn {
        self.rests_on
    }

    /// Returns what the permission of its commands stands on.
    pub(crate) fn standing(&self) -> ConsentKind {
        self.standing
    }

    /// Returns what may become of old change sets when the journal is full.
    pub(crate) fn old_changes(&self) -> OldChanges {
        self.old_changes
    }

    /// Uses the permission up.
    pub(crate) fn into_planned(self) -> Box<LinedUpCall> {
        self.planned
    }
}

/// Gets permission for a planned call.
pub(crate) async fn authorize(
    cx: &CallContext<'_>,
    policy: &Policy,
    planned: Box<LinedUpCall>,
) -> Result<AuthorizedCall, ToolError> {
    let runs_command = planned.plan.effects.iter().any(|effect| matches!(effect, Effect::Run(_)));
    let doors = &cx.session.ground.doors;
    let around = runs_command.then(|| CommandContainment::of(doors).removing(&planned.plan.effects, doors));
    let contained = around.as_ref().map(CommandContainment::containment).unwrap_or_default();
    // Only a change costs others, so nothing is looked up for the rest.
    let may_cost = cx.session.mode() == Mode::Normal && may_be_recorded(&planned.plan.effects, contained);
    let eviction = if may_cost { doors.history.eviction() } else { None };
    let bench = AuthorizationContext { cx, policy, around, eviction };
    bench.note_not_granted(&planned);
    let ruling = bench.judge(&planned);
    match ruling.decision {
        Decision::Allow => Ok(bench.unasked(planned)),
        Decision::Deny => Err(denied(&ruling)),
        // Boxed: it is large, and most calls are not asked about.
        Decision::Ask => Box::pin(ask(&bench, planned)).await,
    }
}

/// The call context, the policy, the surroundings and the eviction by which a call is judged.
struct AuthorizationContext<'a> {
    cx: &'a CallContext<'a>,
    policy: &'a Policy,
    /// What stands around the command, where the call runs one.
    around: Option<CommandContainment>,
    /// The change sets that the call would cost.
    eviction: Option<Eviction>,
}

impl AuthorizationContext<'_> {
    fn judge(&self, planned: &LinedUpCall) -> Ruling {
        self.judge_where(planned, self.contained())
    }

    fn judge_where(&self, planned: &LinedUpCall, contained: Containment) -> Ruling {
        let grants = self.cx.session.grants();
        let mode = self.cx.session.mode();
        let situation = match &self.around {
            Some(around) => Situation { contained, ..around.situation(mode, &grants) },
            None => Situation { contained, grants: &grants, ..mode.into() },
        };
        let last_taint = self.last_taint(planned);
        let arguments = Some(&planned.called.arguments);
        let situation = Situation { eviction: self.eviction, last_taint, arguments, ..situation };
        let ruling = self.policy.judge(planned.entry.native_name(), &planned.plan.effects, situation);
        self.cx.note(|notes| match &notes.question {
            Some(question) => with_question(ruling, question),
            None => ruling,
        })
    }

    /// Returns whether the rules alone allow a command, without a yes or a grant from a person.
    fn is_allowed_by_words(&self, planned: &LinedUpCall) -> bool {
        let mode = self.cx.session.mode();
        let situation = match &self.around {
            Some(around) => Situation { contained: self.contained(), ..around.situation(mode, &[]) },
            None => mode.into(),
        };
        let situation = Situation { arguments: Some(&planned.called.arguments), ..situation };
        let ruling = self.policy.judge(planned.entry.native_name(), &planned.plan.effects, situation);
        ruling.decision == Decision::Allow
    }

    /// Notes which hosts of the plan need a yes from a person: a yes does not make the data sent there harmless.
    fn note_not_granted(&self, planned: &LinedUpCall) {
        let grants = self.cx.session.grants();
        let arguments = Some(&planned.called.arguments);
        let situation = Situation { grants: &grants, arguments, ..self.cx.session.mode().into() };
        let is_granted = |effect: &Effect| {
            let ruling = self.policy.judge(planned.entry.native_name(), std::slice::from_ref(effect), situation);
            ruling.decision == Decision::Allow
        };
        let is_supervised = self.around.as_ref().is_some_and(CommandContainment::is_supervised);
        // In a network of its own, the machine itself is the sandbox.
        let stays = |effect: &Effect| is_supervised && matches!(effect, Effect::Step(step) if step.does.stays_here());
        for effect in planned.plan.effects.iter().filter(|effect| !stays(effect)) {
            if let Some(host) = host_of(effect).filter(|_| !is_granted(effect)) {
                self.cx.note(|notes| notes.hosts_not_granted.insert(host.0.clone()));
            }
        }
    }

    /// Returns what the call adds, where the session would then have all three of private data, text from outside and a way
    /// out.
    fn last_taint(&self, planned: &LinedUpCall) -> Option<LastTaint> {
        let not_granted = self.cx.note(|notes| notes.hosts_not_granted.clone());
        let told = taint::told_by(&planned.plan.effects, &not_granted, self.around.as_ref());
        if told.is_empty() {
            return None;
        }
        taint::last_taint(&self.cx.session.expect_bits(&self.cx.id, &told), &told)
    }

    fn contained(&self) -> Containment {
        self.around.as_ref().map(CommandContainment::containment).unwrap_or_default()
    }

    /// Lets a call run without a question. If haft would have asked without a layer, the call needs a layer.
    fn unasked(&self, planned: Box<LinedUpCall>) -> AuthorizedCall {
        let is_same_without = || self.judge_where(&planned, Containment::WithoutLayer).decision == Decision::Allow;
        let needs_none = self.around.is_none() || self.contained() >= Containment::WithoutLayer || is_same_without();
        // Without grants only the rules have spoken.
        let by_words = self.cx.session.grants().is_empty() || self.is_allowed_by_words(&planned);
        let standing = if by_words { ConsentKind::Words } else { ConsentKind::Consent };
        let rests_on = if needs_none { RestsOn::Word } else { RestsOn::Layer };
        AuthorizedCall { planned, rests_on, standing, old_changes: OldChanges::Stay }
    }

    /// Lets a call run after a yes. What the question promised about undo must hold.
    fn agreed(&self, planned: Box<LinedUpCall>) -> AuthorizedCall {
        let was_promised = self.around.as_ref().is_some_and(CommandContainment::can_be_undone);
        let rests_on = if was_promised { RestsOn::Layer } else { RestsOn::Word };
        let old_changes = self.eviction.map_or(OldChanges::Stay, |eviction| OldChanges::MayGo(eviction.up_to));
        AuthorizedCall { planned, rests_on, standing: ConsentKind::Consent, old_changes }
    }

    fn question<'q>(&'q self, planned: &'q LinedUpCall) -> CallQuestion<'q> {
        CallQuestion {
            cx: self.cx,
            policy: self.policy,
            about: QuestionSubject::of(planned),
            around: self.around.as_ref(),
            eviction: self.eviction,
            last_taint: self.last_taint(planned),
        }
    }
}

/// Adds the question of a hook to what the rules say: it makes a yes a question, and nothing weaker.
fn with_question(mut ruling: Ruling, question: &HookQuestion) -> Ruling {
    match ruling.decision {
        Decision::Allow => Ruling {
            decision: Decision::Ask,
            class: Class::Ordinary,
            rule: question.rule.clone(),
            reason: question.why.clone(),
            instead: "do it in a way that the hook allows, or ask the user".to_owned(),
        },
        Decision::Ask => {
            ruling.reason = format!("{} Also: {}", ruling.reason, question.why);
            ruling
        }
        Decision::Deny => ruling,
    }
}

/// The refusal of a rule.
pub(crate) fn denied(ruling: &Ruling) -> ToolError {
    let what = format!("The rule \"{}\" refuses this call. {}", ruling.rule, ruling.reason);
    ToolError::new(ErrorKind::Denied, what, Next::DoNotRetry(ruling.instead.clone())).by_rule(&ruling.rule)
}

/// Waits for a person's decision. An answer that is ready immediately does not come from a person.
async fn asking<T>(cx: &CallContext<'_>, answer: impl Future<Output = T>) -> T {
    tokio::pin!(answer);
    let at_once = std::future::poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await;
    if let Poll::Ready(answer) = at_once {
        return answer;
    }
    cx.place.is_now(Now::Asking);
    let answer = answer.await;
    cx.place.is_now(Now::Underway);
    answer
}

async fn ask(bench: &AuthorizationContext<'_>, planned: Box<LinedUpCall>) -> Result<AuthorizedCall, ToolError> {
    let cx = bench.cx;
    // One question at a time. When this one is next it is judged again: a grant may have answered it.
    let _asking = cx.waiting(asking(cx, cx.session.asking.lock())).await;
    let ruling = bench.judge(&planned);
    match ruling.decision {
        Decision::Allow => return Ok(bench.unasked(planned)),
        Decision::Deny => return Err(denied(&ruling)),
        Decision::Ask => {}
    }
    let question = bench.question(&planned);
    let request = question.request(ruling.clone());
    cx.session.note_asked(question.asked_call());
    cx.tell(EventKind::ApprovalAsked, || CallEventContent::ApprovalAsked(Arc::new(question.recorded(ruling))));
    let verdict = cx.waiting(asking(cx, cx.session.approver.ask(&request))).await;
    cx.tell(EventKind::ApprovalGiven, || CallEventContent::ApprovalGiven {
        verdict: verdict.clone(),
        scope: question.recorded_scope(&request, &verdict),
    });
    match verdict {
        Verdict::AllowOnce => {}
        Verdict::AllowFor(scope) if request.offers.iter().any(|offer| offer.scope == scope) => {
            scope.parts().iter().cloned().for_each(|scope| cx.session.grant(scope));
        }
        Verdict::AllowFor(_) => return Err(declined(Some("the answer was not one of those offered"), &request.ruling)),
        Verdict::Refuse { note } => {
            let mut error = declined(note.as_deref(), &request.ruling);
            error.about.note = note;
            return Err(error);
        }
        Verdict::StopTurn => {
            cx.turn.stop.cancel();
            return Err(declined(Some("the user stopped the turn"), &request.ruling));
        }
        Verdict::NoAnswer { how } => return Err(unanswered(&how, &request)),
        Verdict::NotCovered => return Err(not_covered(&request)),
    }
    // The user may have changed to plan mode while the question was open.
    let ruling = bench.judge(&planned);
    match ruling.decision {
        Decision::Deny => Err(denied(&ruling)),
        Decision::Allow | Decision::Ask => Ok(bench.agreed(planned)),
    }
}

fn declined(note: Option<&str>, ruling: &Ruling) -> ToolError {
    let what = match note {
        Some(note) => format!("The user said no: {note}"),
        None => "The user said no.".to_owned(),
    };
    ToolError::of(ErrorKind::Declined, what).by_rule(&ruling.rule)
}

fn unanswered(how: &str, request: &ApprovalRequest) -> ToolError {
    let ruling = &request.ruling;
    let what = format!("The rule \"{}\" asks first, and there is no one to ask. {}", ruling.rule, ruling.reason);
    needs_yes(what, how, request)
}

/// What `--yes` does and does not answer, in a line.
pub(super) const NOT_COVERED: &str = "--yes covers only what \"haft undo\" can take back; --yes=all covers the rest.";

fn not_covered(request: &ApprovalRequest) -> ToolError {
    let ruling = &request.ruling;
    let what = format!("The rule \"{}\" asks first. {} {NOT_COVERED}", ruling.rule, ruling.reason);
    needs_yes(what, "do without it, or ask the user to allow it with --yes=all", request)
}

fn needs_yes(what: String, how: &str, request: &ApprovalRequest) -> ToolError {
    let ruling = &request.ruling;
    let mut error = ToolError::new(ErrorKind::NeedsApproval, what, Next::AskUser(how.to_owned())).by_rule(&ruling.rule);
    error.about.allowed_by = match (ruling.class, request.can_be_undone) {
        (Class::Ordinary, true) => Some(AdvanceYes::ToUndoable),
        (Class::Ordinary, false) => Some(AdvanceYes::ToAll),
        (Class::Dangerous, _) => None,
    };
    match (&request.setting_to_paste, &request.rule_to_paste) {
        // They are for the person: no tool can write there.
        (Some(setting), _) => error
            .with_detail(format!("to always allow it, add this to config.toml:\n{setting}"))
            .recover_with(Recovery::Text(setting.line.clone())),
        (None, Some(rule)) => error
            .with_detail(format!("to always allow it, add this to rules.toml:\n{}", rule.trim_end()))
            .recover_with(Recovery::Text(rule.clone())),
        (None, None) => error,
    }
}
