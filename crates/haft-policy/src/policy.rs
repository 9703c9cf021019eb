//! The judge: all rules over all effects of a call, the strictest wins.

use haft::effect::Effect;
use haft::process::Settle;

use crate::decision::{Class, Decision, Ruling};
use crate::grant::GrantScope;
use crate::rule::{EffectSort, Rule, defaults};

/// All rules that hold.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Those that hold where nobody has said anything.
    defaults: Vec<Rule>,
    /// Those that were added.
    rules: Vec<Rule>,
}

/// Whether changes are possible at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// They are, by the rules.
    #[default]
    Normal,
    /// Nothing is changed: changes are refused, and what commands change is shown and thrown away.
    Plan,
    /// As normal, but what commands change is shown and thrown away.
    Try,
}

impl Mode {
    /// Returns what becomes of what a command changes.
    pub fn settling(self) -> Settle {
        match self {
            Mode::Normal => Settle::Keep,
            Mode::Plan | Mode::Try => Settle::Show,
        }
    }
}

/// What holds at the moment of judging.
#[derive(Clone, Copy, Debug, Default)]
pub struct Situation<'a> {
    /// Whether changes are possible at all.
    pub mode: Mode,
    /// What was granted in the session.
    pub grants: &'a [GrantScope],
}

impl From<Mode> for Situation<'_> {
    fn from(mode: Mode) -> Self {
        Self { mode, grants: &[] }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self { defaults: defaults(), rules: Vec::new() }
    }
}

impl Policy {
    /// Adds rules. What they ask or deny makes things stricter, whoever they come from; what they allow answers an
    /// ordinary question of the default rules, and nothing else.
    pub fn with_rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.rules.extend(rules);
        self
    }

    /// Judges the name of a tool, known or not.
    pub fn judge_tool(&self, tool: &str) -> Option<Ruling> {
        let all = self.defaults.iter().chain(&self.rules);
        all.filter_map(|rule| rule.on_tool(tool)).reduce(Ruling::stricter)
    }

    /// Judges a call by what it would touch. An effect that no rule knows is asked about.
    pub fn judge(&self, tool: &str, effects: &[Effect], situation: Situation<'_>) -> Ruling {
        let by_effect = to_be_judged(effects).map(|effect| self.judge_effect(tool, effect, situation));
        self.judge_tool(tool).into_iter().chain(by_effect).reduce(Ruling::stricter).unwrap_or_else(touches_nothing)
    }

    /// Returns the effects of a call of this tool that still need somebody's yes.
    pub fn open_questions<'a>(&self, tool: &str, effects: &'a [Effect], situation: Situation<'_>) -> Vec<&'a Effect> {
        to_be_judged(effects)
            .filter(|effect| self.judge_effect(tool, effect, situation).decision != Decision::Allow)
            .collect()
    }

    fn judge_effect(&self, tool: &str, effect: &Effect, Situation { mode, grants }: Situation<'_>) -> Ruling {
        let judged = self.judge_by_rules(tool, effect);
        // What a command changes is thrown away then, by the door.
        if mode == Mode::Plan && effect.changes() && !matches!(effect, Effect::Run(_)) {
            return judged.stricter(plan_mode(effect));
        }
        // A grant answers an ordinary question. It never loosens a denial, and the dangerous class is asked each time.
        let is_ordinary_question = judged.decision == Decision::Ask && judged.class == Class::Ordinary;
        if is_ordinary_question && grants.iter().any(|grant| grant.covers(effect)) {
            return Ruling { decision: Decision::Allow, ..judged };
        }
        judged
    }

    /// Judges by all rules: the default ones first, then those that make it stricter, then, where an ordinary question
    /// of a default rule is left, those that allow.
    fn judge_by_rules(&self, tool: &str, effect: &Effect) -> Ruling {
        let opinions = |rules: &'_ [Rule]| -> Vec<Ruling> {
            rules.iter().filter_map(|rule| rule.on_effect(tool, effect)).collect()
        };
        let by_default = opinions(&self.defaults).into_iter().reduce(Ruling::stricter);
        let by_default = by_default.unwrap_or_else(|| no_rule_knows(effect));
        let (allowing, others): (Vec<Ruling>, Vec<Ruling>) =
            opinions(&self.rules).into_iter().partition(|ruling| ruling.decision == Decision::Allow);
        let is_answerable = by_default.decision == Decision::Ask
            && by_default.class == Class::Ordinary
            && EffectSort::of(effect).is_answerable();
        match (others.into_iter().reduce(Ruling::stricter), allowing.into_iter().next()) {
            // Somebody's own words go before ours.
            (Some(added), _) => added.stricter(by_default),
            (None, Some(allowing)) if is_answerable => allowing,
            (None, _) => by_default,
        }
    }
}

/// A command whose parts are told is judged by them.
fn to_be_judged(effects: &[Effect]) -> impl Iterator<Item = &Effect> {
    let is_told = effects.iter().any(|effect| matches!(effect, Effect::Step(_)));
    effects.iter().filter(move |effect| !(is_told && matches!(effect, Effect::Run(_))))
}

fn touches_nothing() -> Ruling {
    Ruling {
        decision: Decision::Allow,
        class: Class::Ordinary,
        rule: "no effects".to_owned(),
        reason: "It touches nothing.".to_owned(),
        instead: String::new(),
    }
}

fn no_rule_knows(effect: &Effect) -> Ruling {
    Ruling {
        decision: Decision::Ask,
        class: Class::Dangerous,
        rule: "unknown effect".to_owned(),
        reason: format!("It would {effect}, which no rule speaks about."),
        instead: "ask the user to allow it".to_owned(),
    }
}

fn plan_mode(effect: &Effect) -> Ruling {
    Ruling {
        decision: Decision::Deny,
        class: Class::Ordinary,
        rule: "plan mode".to_owned(),
        reason: format!("It would {effect}, and nothing is changed in plan mode."),
        instead: "describe the change instead, and let the user leave plan mode".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Pattern;
    use haft::effect::{Change, Claim, CommandLine, Exposure, Host, RemoteClaim, StateKey};
    use haft::path::{Extent, Place, Target};

    fn inside(path: &str) -> Target {
        Target::Inside(Place::new(path, Extent::Entry))
    }

    fn outside(path: &str) -> Target {
        Target::Outside(Place::new(path, Extent::Entry))
    }

    fn judge(effects: &[Effect], mode: Mode) -> (Decision, String) {
        let ruling = Policy::default().judge("t", effects, mode.into());
        (ruling.decision, ruling.rule)
    }

    fn every_sort() -> Vec<Effect> {
        let remote = |claims| RemoteClaim { server: "s".into(), tool: "t".into(), claims };
        vec![
            Effect::Read(inside("a")),
            Effect::Read(outside("/etc/passwd")),
            Effect::Change(inside("a"), Change::Replace),
            Effect::Change(outside("/a"), Change::Create),
            Effect::Read(inside(".env")),
            Effect::Change(inside(".git/hooks/pre-push"), Change::Create),
            Effect::Run(CommandLine("make".into())),
            Effect::Expose(Exposure::WideWorkspace("/".into())),
            Effect::Connect(Host("x.example".into())),
            Effect::Remote(remote(Claim::OnlyReads)),
            Effect::Remote(remote(Claim::MayChange)),
            Effect::Delegate(haft::effect::AgentName("scout".into())),
            Effect::Session(StateKey("todo".into())),
        ]
    }

    #[test]
    fn reading_inside_is_allowed_and_everything_that_acts_is_asked_about() {
        use Decision::*;
        let decisions: Vec<Decision> =
            every_sort().iter().map(|e| judge(std::slice::from_ref(e), Mode::Normal).0).collect();
        assert_eq!(decisions, [Allow, Deny, Ask, Deny, Ask, Ask, Ask, Ask, Ask, Ask, Ask, Ask, Allow]);
        assert_eq!(judge(&[], Mode::Normal).0, Allow);
    }

    #[test]
    fn plan_mode_denies_whatever_changes_something_but_commands_which_are_tried() {
        for effect in every_sort() {
            let (decision, rule) = judge(std::slice::from_ref(&effect), Mode::Plan);
            assert_eq!(
                decision == Decision::Deny && rule == "plan mode",
                effect.changes() && effect != every_sort()[3] && !matches!(effect, Effect::Run(_)),
                "{effect}"
            );
        }
    }

    #[test]
    fn an_effect_that_no_rule_knows_is_never_allowed_silently() {
        let nothing = Policy { defaults: Vec::new(), rules: Vec::new() };
        for effect in every_sort() {
            assert_eq!(nothing.judge("t", &[effect], Situation::default()).decision, Decision::Ask);
        }
    }

    #[test]
    fn adding_a_rule_that_asks_or_denies_never_loosens() {
        let sorts = [EffectSort::ReadInside, EffectSort::Run, EffectSort::ChangeOutside];
        for decision in [Decision::Ask, Decision::Deny] {
            for sort in sorts {
                let rule = Rule {
                    name: "added".into(),
                    matches: Pattern::Effect(sort),
                    decision,
                    class: Class::Ordinary,
                    reason: "added".into(),
                    instead: String::new(),
                };
                let stricter = Policy::default().with_rules([rule]);
                for effect in every_sort() {
                    let effects = [effect];
                    let before = Policy::default().judge("t", &effects, Situation::default()).decision;
                    assert!(stricter.judge("t", &effects, Situation::default()).decision >= before);
                }
            }
        }
    }

    #[test]
    fn a_grant_answers_an_ordinary_question_and_never_a_dangerous_one_or_a_denial() {
        let grants = [GrantScope::ChangesInside];
        let judged = |policy: &Policy, mode| {
            let effects = [Effect::Change(inside("a"), Change::Replace)];
            policy.judge("t", &effects, Situation { mode, grants: &grants }).decision
        };
        assert_eq!(judged(&Policy::default(), Mode::Normal), Decision::Allow);
        assert_eq!(judged(&Policy::default(), Mode::Plan), Decision::Deny);
        let careful = Rule {
            name: "careful".into(),
            matches: Pattern::Effect(EffectSort::ChangeInside),
            decision: Decision::Ask,
            class: Class::Dangerous,
            reason: String::new(),
            instead: String::new(),
        };
        assert_eq!(judged(&Policy::default().with_rules([careful]), Mode::Normal), Decision::Ask);
    }

    #[test]
    fn no_grant_answers_for_protected_names_and_secrets() {
        let grants = [GrantScope::ChangesInside];
        for effect in
            [Effect::Change(inside("x/.GIT/config"), Change::Replace), Effect::Change(inside(".env"), Change::Replace)]
        {
            let ruling = Policy::default().judge("t", &[effect], Situation { mode: Mode::Normal, grants: &grants });
            assert_eq!(
                (ruling.decision, ruling.class, ruling.rule.as_str()),
                (Decision::Ask, Class::Dangerous, "protected names")
            );
        }
        let ruling = Policy::default().judge("t", &[Effect::Read(inside(".env"))], Situation::default());
        assert_eq!(
            (ruling.decision, ruling.class, ruling.rule.as_str()),
            (Decision::Ask, Class::Dangerous, "secret files")
        );
    }

    #[test]
    fn a_grant_covers_only_what_its_words_say() {
        for effect in every_sort() {
            for scope in GrantScope::offered_for(&effect) {
                assert!(scope.covers(&effect), "{scope} was offered for {effect}");
                let others = every_sort().into_iter().filter(|other| *other != effect);
                let wide = scope == GrantScope::ChangesInside || matches!(scope, GrantScope::Remote { .. });
                assert!(wide || others.into_iter().all(|other| !scope.covers(&other)), "{scope}");
            }
        }
        assert!(!GrantScope::ChangesInside.covers(&Effect::Change(outside("/a"), Change::Create)));
        let make = GrantScope::Command(CommandLine("make".into()));
        assert!(!make.covers(&Effect::Run(CommandLine("make install".into()))));
    }
}
