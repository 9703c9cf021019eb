//! Puts the question about a call: what it would do, what would hold it, and what a yes for longer would mean.
//!
//! Everything in it has passed the redactor: whoever is asked may be a program that keeps what it is told.
//!
//! Not here: who answers (`approval`), what is decided (`haft-policy`).

mod marked;
mod words;

use std::borrow::Cow;

use haft_contract::diff::Diff;
use haft_contract::effect::Effect;
use haft_contract::plan::{FileDiff, Preview};
use haft_policy::decision::{Class, Decision, Ruling};
use haft_policy::grant::GrantScope;
use haft_policy::policy::{Policy, Situation};
use haft_policy::reach::Reach;
use haft_policy::rule_to_paste::rule_to_paste;

use crate::approval::{ApprovalRequest, Offer};
use crate::asked::AskedCall;
use crate::call_context::CallContext;
use crate::containment::Surroundings;
use crate::redact::Redactor;
use crate::stages::line_up::Planned;

/// Most earlier calls that an offer names.
const MOST_EXAMPLES: usize = 3;
/// Longest example, in characters.
const LONGEST_EXAMPLE: usize = 60;

/// A call that somebody must be asked about.
pub(crate) struct Question<'a> {
    pub(crate) cx: &'a CallContext<'a>,
    pub(crate) policy: &'a Policy,
    pub(crate) planned: &'a Planned,
    /// What stands around the command, where the call runs one.
    pub(crate) around: Option<&'a Surroundings>,
}

impl Question<'_> {
    /// Puts it into words.
    pub(crate) fn request(&self, mut ruling: Ruling) -> ApprovalRequest {
        let redactor = &self.cx.session.ground.redactor;
        let grants = self.cx.session.grants();
        let effects = &self.planned.plan.effects;
        let open = self.policy.open_questions(self.planned.entry.native_name(), effects, self.situation(&grants));
        let mut open: Vec<(&Effect, Class)> = open.into_iter().map(|(effect, ruling)| (effect, ruling.class)).collect();
        if open.is_empty() {
            // Only a hook asks, and that is about the call as a whole.
            open.extend(effects.iter().map(|effect| (effect, Class::Ordinary)));
        }
        let is_hooks = self.cx.note(|notes| notes.question.is_some());
        let mut arguments = self.planned.called.arguments.clone();
        redactor.redact_value(&mut arguments);
        redactor.redact_in_place(&mut ruling.reason);
        ApprovalRequest {
            call: self.cx.id.clone(),
            tool: self.planned.entry.shown.name.clone(),
            title: self.planned.entry.shown.manual.title.clone(),
            arguments,
            effects: words::of_open(&open, redactor),
            besides: words::of_besides(effects, &open, redactor),
            command: self.around.and_then(|around| marked::command(effects, &open, (around, redactor))),
            preview: hidden_preview(redactor, &self.planned.plan.preview),
            // Nobody can say yes for longer to what a hook asks about each time.
            rule_to_paste: if is_hooks { None } else { self.rule_to_paste(&grants) },
            offers: if is_hooks { Vec::new() } else { self.offers(&grants) },
            // A yes lets the whole call run, with what needs none.
            reach: effects.iter().map(Reach::of).max().unwrap_or(Reach::Workspace),
            ruling,
        }
    }

    /// Returns what the session remembers of the question.
    pub(crate) fn asked_call(&self) -> AskedCall {
        let effects = self.planned.plan.effects.clone();
        let tool = self.planned.entry.native_name().to_owned();
        AskedCall { tool, words: words::of_call(&effects), effects }
    }

    fn situation<'g>(&'g self, grants: &'g [GrantScope]) -> Situation<'g> {
        let contained = self.around.map(Surroundings::containment).unwrap_or_default();
        Situation { mode: self.cx.session.mode(), grants, contained }
    }

    fn offers(&self, grants: &[GrantScope]) -> Vec<Offer> {
        let redactor = &self.cx.session.ground.redactor;
        let (tool, effects) = (self.planned.entry.native_name(), &self.planned.plan.effects);
        let scopes = self.policy.offers(tool, effects, self.situation(grants)).into_iter();
        let offer = |scope: GrantScope| Offer {
            words: redactor.redact(&scope.to_string()).into_owned(),
            would_have_allowed: self.would_have_allowed(&scope, grants),
            scope,
        };
        scopes.map(offer).collect()
    }

    /// Names earlier questions of the session that this would have answered.
    fn would_have_allowed(&self, scope: &GrantScope, grants: &[GrantScope]) -> Vec<String> {
        let redactor = &self.cx.session.ground.redactor;
        let situation = self.situation(grants);
        let own = words::of_call(&self.planned.plan.effects);
        let is_answered = |call: &AskedCall| {
            let is_open = self.policy.judge(&call.tool, &call.effects, situation).decision == Decision::Ask;
            is_open && self.policy.would_allow(scope, (&call.tool, &call.effects), situation)
        };
        let earlier = self.cx.session.asked_calls().into_iter().filter(|call| call.words != own);
        let answered = earlier.filter(is_answered).take(MOST_EXAMPLES);
        answered.map(|call| shortened(&redactor.redact(&call.words))).collect()
    }

    fn rule_to_paste(&self, grants: &[GrantScope]) -> Option<String> {
        let call = (self.planned.entry.native_name(), &*self.planned.plan.effects);
        let rule = rule_to_paste(self.policy, call, self.situation(grants))?;
        // A rule with a gap where a secret was would be another rule.
        matches!(self.cx.session.ground.redactor.redact(&rule), Cow::Borrowed(_)).then_some(rule)
    }
}

fn shortened(words: &str) -> String {
    match words.char_indices().nth(LONGEST_EXAMPLE) {
        None => words.to_owned(),
        Some((end, _)) => format!("{}…", &words[..end]),
    }
}

fn hidden_preview(redactor: &Redactor, preview: &Preview) -> Preview {
    let hide = |text: &mut String| redactor.redact_in_place(text);
    let mut preview = preview.clone();
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
    preview
}

/// Hides secrets in the lines of a difference, also what looks like a key over several lines.
fn hide_in_diff(redactor: &Redactor, diff: &mut Diff) {
    redactor.redact_diff(diff);
    let lines: Vec<&str> = diff.lines_mut().map(|line| line.text()).collect();
    if let Cow::Owned(_) = redactor.redact(&lines.join("\n")) {
        diff.lines_mut().for_each(|line| *line.text_mut() = "[hidden: a secret]".to_owned());
    }
}
