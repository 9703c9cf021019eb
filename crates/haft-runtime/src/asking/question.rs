//! Builds the question about a call: its effects, what contains it, and the meaning of a longer-lasting yes.
//!
//! A person sees hosts, paths, the command and the model's text unchanged: otherwise a repository could hide them by
//! putting them into its `.env`. haft hides only values of the user's own environment and settings, and values of
//! files that haft itself put into a difference. The recorded question (`CallQuestion::recorded`) hides all of them.
//!
//! Not here: who answers (`approval`), what is decided (`haft-policy`).

mod marked;
mod words;

use std::borrow::Cow;
use std::sync::Arc;

use haft_contract::doors::history::Eviction;
use haft_contract::effect::Effect;
use haft_contract::plan::{FileDiff, Preview};
use haft_contract::text::diff::Diff;
use haft_policy::decision::{Class, Decision, Ruling};
use haft_policy::effect_kind::EffectReach;
use haft_policy::effect_kind::can_be_undone;
use haft_policy::grant::GrantScope;
use haft_policy::hosts::{HostSetting, HostSettings, host_of, setting_for};
use haft_policy::policy::{Policy, Situation};
use haft_policy::rule_to_paste::rule_to_paste;
use haft_policy::taints::LastTaint;
use serde_json::Value;

use super::approval::{ApprovalRequest, Offer, Verdict};
use super::asked::AskedCall;
use crate::catalogue::entry::CatalogEntry;
use crate::confining::containment::CommandContainment;
use crate::hooks::HookedCall;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::stages::line_up::LinedUpCall;
use crate::redaction::redact::Redactor;

/// Most earlier calls that an offer names.
const MOST_EXAMPLES: usize = 3;
/// Longest example, in characters.
const LONGEST_EXAMPLE: usize = 60;

/// The parts of a call that a question to an approver is about.
#[derive(Clone, Copy)]
pub(crate) struct QuestionSubject<'a> {
    pub(crate) entry: &'a CatalogEntry,
    pub(crate) called: &'a HookedCall,
    pub(crate) effects: &'a Arc<[Effect]>,
    pub(crate) preview: &'a Preview,
}

impl<'a> QuestionSubject<'a> {
    /// The whole of a planned call.
    pub(crate) fn of(planned: &'a LinedUpCall) -> Self {
        let LinedUpCall { entry, called, plan, .. } = planned;
        Self { entry, called, effects: &plan.effects, preview: &plan.preview }
    }
}

/// A call that an approver must be asked about, with its circumstances.
pub(crate) struct CallQuestion<'a> {
    pub(crate) cx: &'a CallContext<'a>,
    pub(crate) policy: &'a Policy,
    pub(crate) about: QuestionSubject<'a>,
    /// What stands around the command, where the call runs one.
    pub(crate) around: Option<&'a CommandContainment>,
    /// The change sets that the call would cost.
    pub(crate) eviction: Option<Eviction>,
    /// What the call would add to the session, where private data, text from outside and a way out come together.
    pub(crate) last_taint: Option<LastTaint>,
}

impl CallQuestion<'_> {
    /// Puts it into words, for the person who answers it.
    pub(crate) fn request(&self, ruling: Ruling) -> ApprovalRequest {
        self.worded(ruling, &self.cx.session.ground.redactor.for_judge())
    }

    /// Puts it into words for records.
    pub(crate) fn recorded(&self, ruling: Ruling) -> ApprovalRequest {
        self.worded(ruling, &self.cx.session.ground.redactor)
    }

    /// Returns the grant that an answer gives, in words for records.
    pub(crate) fn recorded_scope(&self, request: &ApprovalRequest, verdict: &Verdict) -> Option<String> {
        request.words_of(verdict).map(|words| self.cx.session.ground.redactor.redact(&words).into_owned())
    }

    fn worded(&self, mut ruling: Ruling, redactor: &Redactor) -> ApprovalRequest {
        let grants = self.cx.session.grants();
        let effects = self.about.effects;
        let open = self.policy.open_questions(self.about.entry.native_name(), effects, self.situation(&grants));
        // Of several ordinary questions the one about what cannot be undone matters most.
        let lasting = open.iter().find(|(effect, _)| !self.can_be_undone(&[effect]));
        if let Some((_, lasting)) =
            lasting.filter(|(_, other)| ruling.class == Class::Ordinary && other.is_ordinary_question())
        {
            ruling = lasting.clone();
        }
        let mut open: Vec<(&Effect, Class)> = open.into_iter().map(|(effect, ruling)| (effect, ruling.class)).collect();
        let all: Vec<(&Effect, Class)> = effects.iter().map(|effect| (effect, Class::Ordinary)).collect();
        if open.is_empty() {
            // Only a hook asks, and that is about the call as a whole.
            open.clone_from(&all);
        }
        let is_hooks = self.cx.note(|notes| notes.question.is_some());
        // A hook asks about the call as a whole.
        let asked: Vec<&Effect> = if is_hooks { &all } else { &open }.iter().map(|(effect, _)| *effect).collect();
        let mut arguments = self.about.called.arguments.clone();
        redactor.redact_value(&mut arguments);
        redactor.redact_in_place(&mut ruling.reason);
        ApprovalRequest {
            call: self.cx.id.clone(),
            tool: self.about.entry.shown.name.clone(),
            title: self.about.entry.shown.manual.title.clone(),
            arguments,
            effects: words::of_open(&open, redactor),
            besides: words::of_besides(effects, &open, redactor),
            command: self.around.and_then(|around| marked::command(effects, &open, (around, redactor))),
            preview: self.preview(redactor),
            // A longer-lasting yes is not possible for what a hook asks about each time.
            rule_to_paste: if is_hooks { None } else { self.rule_to_paste(&grants) },
            setting_to_paste: if is_hooks { None } else { self.setting_to_paste(&open) },
            offers: if is_hooks { Vec::new() } else { self.offers(&grants, redactor) },
            // A yes lets the whole call run, with what needs none.
            reach: effects.iter().map(EffectReach::of).max().unwrap_or(EffectReach::Workspace),
            can_be_undone: self.can_be_undone(&asked),
            is_running: false,
            ruling,
        }
    }

    /// Returns what the session remembers of the question.
    pub(crate) fn asked_call(&self) -> AskedCall {
        let effects = self.about.effects.clone();
        let tool = self.about.entry.native_name().to_owned();
        AskedCall { tool, words: words::of_call(&effects), effects }
    }

    fn can_be_undone(&self, asked: &[&Effect]) -> bool {
        let contained = self.around.map(CommandContainment::containment).unwrap_or_default();
        asked.iter().all(|effect| can_be_undone(effect, contained))
    }

    fn situation<'g>(&'g self, grants: &'g [GrantScope]) -> Situation<'g> {
        let mode = self.cx.session.mode();
        let outside = || Situation { grants, ..mode.into() };
        let situation = self.around.map_or_else(outside, |around| around.situation(mode, grants));
        let arguments = Some(&self.about.called.arguments);
        Situation { eviction: self.eviction, last_taint: self.last_taint, arguments, ..situation }
    }

    fn offers(&self, grants: &[GrantScope], redactor: &Redactor) -> Vec<Offer> {
        let (tool, effects) = (self.about.entry.native_name(), self.about.effects);
        let connects = || effects.iter().any(|effect| matches!(effect, Effect::Connect(_)));
        let by_name = match self.around {
            Some(around) => around.is_supervised(),
            None => connects() && CommandContainment::of(&self.cx.session.ground.doors).is_supervised(),
        };
        let scopes = self.policy.offers(tool, effects, self.situation(grants)).into_iter();
        let offer = |scope: GrantScope| Offer {
            words: redactor.redact(&if by_name { scope.by_name() } else { scope.to_string() }).into_owned(),
            would_have_allowed: self.would_have_allowed(&scope, (grants, redactor)),
            scope,
        };
        scopes.map(offer).collect()
    }

    /// Names earlier questions of the session that this would have answered.
    fn would_have_allowed(&self, scope: &GrantScope, (grants, redactor): (&[GrantScope], &Redactor)) -> Vec<String> {
        // What the earlier calls were called with is not kept.
        let situation = Situation { arguments: None, ..self.situation(grants) };
        let own = words::of_call(self.about.effects);
        let is_answered = |call: &AskedCall| {
            let is_open = self.policy.judge(&call.tool, &call.effects, situation).decision == Decision::Ask;
            is_open && self.policy.would_allow(scope, (&call.tool, &call.effects), situation)
        };
        let earlier = self.cx.session.asked_calls().into_iter().filter(|call| call.words != own);
        let answered = earlier.filter(is_answered).take(MOST_EXAMPLES);
        answered.map(|call| shortened(&redactor.redact(&call.words))).collect()
    }

    /// Returns the setting that would allow everything that is open, where that is connections to hosts.
    fn setting_to_paste(&self, open: &[(&Effect, Class)]) -> Option<HostSetting> {
        let is_ordinary = self.last_taint.is_none() && open.iter().all(|(_, class)| *class == Class::Ordinary);
        let hosts: Vec<&str> =
            open.iter().map(|(effect, _)| Some(host_of(effect)?.0.as_str())).collect::<Option<_>>()?;
        let setting = (is_ordinary && !hosts.is_empty())
            .then(|| setting_for(&hosts, self.policy.hosts().map(|hosts| &**hosts as &dyn HostSettings)))?;
        let redactor = &self.cx.session.ground.redactor;
        matches!(redactor.redact(&setting.to_string()), Cow::Borrowed(_)).then_some(setting)
    }

    /// Returns what to show of the call. In a difference a line that the model wrote is shown as it wrote it.
    fn preview(&self, redactor: &Redactor) -> Preview {
        let hide = |text: &mut String| redactor.redact_in_place(text);
        let mut preview = self.about.preview.clone();
        match &mut preview {
            Preview::Arguments => {}
            Preview::Diff(files) => {
                let written = ModelText::of(&self.about.called.arguments);
                for FileDiff { path, diff, notes } in files {
                    hide(path);
                    notes.iter_mut().for_each(hide);
                    self.hide_in_diff(diff, (&written, redactor));
                }
            }
            Preview::Command(text) | Preview::Request(text) | Preview::Text(text) => hide(text),
        }
        preview
    }

    /// Hides secrets in the lines of a difference, also what looks like a key over several lines.
    fn hide_in_diff(&self, diff: &mut Diff, (written, redactor): (&ModelText, &Redactor)) {
        let all = &self.cx.session.ground.redactor;
        let original: Vec<String> = diff.lines_mut().map(|line| line.text().to_owned()).collect();
        all.redact_diff(diff);
        let lines: Vec<&str> = diff.lines_mut().map(|line| line.text()).collect();
        if let Cow::Owned(_) = all.redact(&lines.join("\n")) {
            diff.lines_mut().for_each(|line| *line.text_mut() = "[hidden: a secret]".to_owned());
        }
        if !redactor.is_for_judge() {
            return;
        }
        for (line, original) in diff.lines_mut().zip(original) {
            if *line.text() != original && written.has(&original) {
                *line.text_mut() = redactor.redact(&original).into_owned();
            }
        }
    }

    fn rule_to_paste(&self, grants: &[GrantScope]) -> Option<String> {
        let call = (self.about.entry.native_name(), &**self.about.effects);
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

/// The texts of a call, as the model wrote them.
struct ModelText(Vec<String>);

impl ModelText {
    fn of(arguments: &Value) -> Self {
        let mut texts = Vec::new();
        let mut waiting = vec![arguments];
        while let Some(value) = waiting.pop() {
            match value {
                Value::String(text) => texts.push(text.clone()),
                Value::Array(items) => waiting.extend(items),
                Value::Object(fields) => waiting.extend(fields.values()),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        Self(texts)
    }

    fn has(&self, line: &str) -> bool {
        self.0.iter().any(|text| text.contains(line.trim()))
    }
}
