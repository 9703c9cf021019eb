//! Asks before old changes are lost: when the journal is full, the next change removes older ones.
//!
//! A person decides each time about changes that cannot be undone afterwards. Calls that leave the workspace unchanged
//! remove nothing, and need no question.
//!
//! Not here: how much room there is (`haft-workspace`).

use std::time::Duration;

use haft_contract::doors::history::Eviction;
use haft_contract::effect::Effect;
use haft_contract::text::grouped::GroupedNumber;

use crate::containment::Containment;
use crate::decision::{Class, Decision, Ruling};
use crate::effect_kind::EffectKind;
use crate::policy::{Mode, Situation};

/// Asks about a call that would cost older changes, whatever else it is asked about.
pub(crate) fn asked_too(judged: Ruling, effects: &[Effect], situation: Situation<'_>) -> Ruling {
    match (ruling(effects, situation), judged.decision, judged.class) {
        (None, ..) | (_, Decision::Deny, _) => judged,
        (Some(full), Decision::Allow, _) => full,
        // One yes answers both, so the person must know both.
        (Some(full), Decision::Ask, Class::Ordinary) => {
            Ruling { reason: format!("{} Also: {}", full.reason, judged.reason), ..full }
        }
        (Some(full), Decision::Ask, Class::Dangerous) => {
            Ruling { reason: format!("{} Also: {}", judged.reason, full.reason), ..judged }
        }
    }
}

/// Returns the question about a call that would cost older changes; nothing where it costs none.
fn ruling(effects: &[Effect], situation: Situation<'_>) -> Option<Ruling> {
    let eviction = situation.eviction?;
    (situation.mode == Mode::Normal && may_be_recorded(effects, situation.contained)).then(|| Ruling {
        decision: Decision::Ask,
        class: Class::Dangerous,
        rule: "full journal".to_owned(),
        reason: reason(eviction),
        instead: "ask the user to free space with \"haft gc\", or to raise \"size\" in [journal] of config.toml"
            .to_owned(),
    })
}

fn reason(eviction: Eviction) -> String {
    let Eviction { change_sets, oldest, newest, .. } = eviction;
    let which = match change_sets {
        1 => format!("the oldest change set ({} old), which could", age(oldest)),
        more if age(oldest) == age(newest) => {
            format!("the {} oldest change sets ({} old), which could", GroupedNumber(more), age(oldest))
        }
        more => {
            format!(
                "the {} oldest change sets ({} to {} old), which could",
                GroupedNumber(more),
                age(newest),
                age(oldest)
            )
        }
    };
    format!(
        "The journal of changes is full: to make room, haft would drop {which} then no longer be undone. \
         \"haft gc\" shows what can be freed instead, and \"size\" in [journal] of config.toml gives it more room."
    )
}

fn age(age: Duration) -> String {
    let minutes = age.as_secs() / 60;
    let (count, unit) = match minutes {
        0 => return "less than a minute".to_owned(),
        1..60 => (minutes, "minute"),
        60..2880 => (minutes / 60, "hour"),
        _ => (minutes / 1440, "day"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// Returns whether a call may change something that the journal records.
pub fn may_be_recorded(effects: &[Effect], contained: Containment) -> bool {
    let is_told = effects.iter().any(|effect| matches!(effect, Effect::Step(_)));
    // A command whose parts are told is judged by them.
    let parts = effects.iter().filter(|effect| !is_told || !matches!(effect, Effect::Run(_)));
    parts.map(EffectKind::of).any(|kind| kind.facts().journal.holds(contained))
}

#[cfg(test)]
mod tests {
    use haft_contract::doors::door::ChangeSetId;
    use haft_contract::effect::{Change, CommandLine, CommandStep, StepEffect};
    use haft_contract::files::path::{Extent, FileLocation, Target};

    use super::*;
    use crate::policy::Policy;

    fn step(does: StepEffect) -> Effect {
        let words = std::sync::Arc::from(["x".to_owned()]);
        Effect::Step(CommandStep { command: "x".into(), folder: "".into(), part: (0, 1), words, does })
    }

    fn inside(path: &str) -> Target {
        Target::Inside(FileLocation::new(path, Extent::Entry))
    }

    fn full() -> Situation<'static> {
        let days = |days: u64| Duration::from_secs(days * 86_400);
        let eviction = Eviction { change_sets: 12, up_to: ChangeSetId(12), oldest: days(80), newest: days(3) };
        Situation { eviction: Some(eviction), ..Situation::default() }
    }

    #[test]
    fn a_change_that_costs_older_ones_is_a_dangerous_question() {
        let changes = [Effect::Change(inside("a"), Change::Create)];
        let ruling = ruling(&changes, full()).expect("it costs others");
        let judged = Policy::default().judge("write_file", &changes, full());
        assert_eq!((judged.class, &judged.rule), (ruling.class, &ruling.rule));
        assert!(judged.reason.starts_with(&ruling.reason) && judged.reason.contains(" Also: It would create a"));
        assert_eq!((ruling.decision, ruling.class, &*ruling.rule), (Decision::Ask, Class::Dangerous, "full journal"));
        assert_eq!(
            ruling.reason,
            "The journal of changes is full: to make room, haft would drop the 12 oldest change sets (3 days to 80 days \
             old), which could then no longer be undone. \"haft gc\" shows what can be freed instead, and \"size\" in \
             [journal] of config.toml gives it more room."
        );
        assert!(Policy::default().offers("write_file", &changes, full()).is_empty());
    }

    #[test]
    fn only_what_may_be_recorded_is_asked_about() {
        let run = || Effect::Run(CommandLine("x".into()));
        let asked = |effects: &[Effect], situation: Situation<'_>| ruling(effects, situation).is_some();
        assert!(asked(&[run()], full()));
        assert!(asked(&[run(), step(StepEffect::Code("run the tests".into()))], full()));
        assert!(asked(&[run(), step(StepEffect::Change(inside("a"), Change::Create))], full()));
        assert!(!asked(&[run(), step(StepEffect::Read(inside("a")))], full()));
        assert!(!asked(&[Effect::Read(inside("a"))], full()));
        assert!(!asked(&[run()], Situation { mode: Mode::Plan, ..full() }));
        assert!(!asked(&[run()], Situation { contained: Containment::WithoutLayer, ..full() }));
        assert!(!asked(&[run()], Situation::default()));
    }
}
