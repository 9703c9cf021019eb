//! Describes the effects of a call in words, and groups those that belong together.

use haft_contract::effect::{Change, CommandLine, Effect, StepEffect};
use haft_contract::files::path::{Extent, Target, one_line};
use haft_policy::decision::Class;

use crate::asking::approval::AskedEffect;
use crate::redaction::redact::Redactor;

/// Most names of one group.
const MOST_NAMED: usize = 10;

/// Says what needs a yes.
pub(super) fn of_open(open: &[(&Effect, Class)], redactor: &Redactor) -> Vec<AskedEffect> {
    let mut groups: Vec<Group> = Vec::new();
    open.iter().for_each(|(effect, class)| Group::add(&mut groups, effect, *class));
    groups.iter().map(|group| group.said(redactor)).collect()
}

/// Says what a command would change besides, which needs no yes.
pub(super) fn of_besides(effects: &[Effect], open: &[(&Effect, Class)], redactor: &Redactor) -> Vec<String> {
    let is_open = |effect: &Effect| open.iter().any(|(other, _)| *other == effect);
    let changes =
        |effect: &&Effect| matches!(effect, Effect::Step(step) if matches!(step.does, StepEffect::Change(..)));
    let mut groups: Vec<Group> = Vec::new();
    let besides = effects.iter().filter(changes).filter(|effect| !is_open(effect));
    besides.for_each(|effect| Group::add(&mut groups, effect, Class::Ordinary));
    groups.iter().map(|group| group.said(redactor).words).collect()
}

/// Names a call in a line: by its command, or by what it would do.
pub(super) fn of_call(effects: &[Effect]) -> String {
    let command = effects.iter().find_map(|effect| match effect {
        Effect::Run(CommandLine(text)) => Some(one_line(text.trim()).into_owned()),
        _ => None,
    });
    command.unwrap_or_else(|| effects.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}

/// Effects that are said together.
struct Group {
    class: Class,
    verb: String,
    names: Vec<String>,
}

impl Group {
    fn add(groups: &mut Vec<Group>, effect: &Effect, class: Class) {
        let (verb, name) = match effect {
            Effect::Step(step) => parts(&step.does),
            effect => (effect.to_string(), None),
        };
        let fits = |group: &&mut Group| group.class == class && group.verb == verb;
        match groups.iter_mut().find(fits) {
            Some(group) => group.names.extend(name.filter(|name| !group.names.contains(name))),
            None => groups.push(Group { class, verb, names: name.into_iter().collect() }),
        }
    }

    fn said(&self, redactor: &Redactor) -> AskedEffect {
        let mut words = self.verb.clone();
        if !self.names.is_empty() {
            let named = self.names.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
            words = format!("{words} {named}");
        }
        match self.names.len().saturating_sub(MOST_NAMED) {
            0 => {}
            more => words.push_str(&format!(" and {more} more")),
        }
        AskedEffect { words: redactor.redact(&words).into_owned(), class: self.class }
    }
}

/// Takes what a part of a command does apart into a verb and a name.
fn parts(does: &StepEffect) -> (String, Option<String>) {
    let with_all = |target: &Target| match target.place().extent() {
        Extent::Entry => target.to_string(),
        Extent::Tree => format!("{target} (and everything in it)"),
    };
    let (verb, name) = match does {
        StepEffect::Read(target) => ("read", target.to_string()),
        StepEffect::List(target) => ("list", target.to_string()),
        StepEffect::Change(target, Change::Create) => ("create", target.to_string()),
        StepEffect::Change(target, Change::Replace) => ("change", with_all(target)),
        StepEffect::Change(target, Change::Remove) => ("remove", with_all(target)),
        other => return (other.to_string(), None),
    };
    (verb.to_owned(), Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_contract::effect::CommandStep;
    use haft_contract::files::path::FileLocation;

    fn step(does: StepEffect) -> Effect {
        Effect::Step(CommandStep {
            command: "x".into(),
            folder: "".into(),
            part: (0, 1),
            words: ["x".to_owned()].into(),
            does,
        })
    }

    fn removes(path: &str, extent: Extent) -> Effect {
        step(StepEffect::Change(Target::Inside(FileLocation::new(path, extent)), Change::Remove))
    }

    fn said(effects: &[Effect]) -> Vec<String> {
        let open: Vec<_> = effects.iter().map(|effect| (effect, Class::Ordinary)).collect();
        of_open(&open, &Redactor::default()).into_iter().map(|effect| effect.words).collect()
    }

    #[test]
    fn what_belongs_together_is_said_together_and_many_names_are_counted() {
        let effects = [
            removes("build", Extent::Tree),
            step(StepEffect::Connect(None)),
            removes("a", Extent::Entry),
            step(StepEffect::Connect(None)),
        ];
        assert_eq!(said(&effects), ["remove build (and everything in it), a", "use the network"]);
        let many: Vec<Effect> = (0..12).map(|number| removes(&format!("f{number}"), Extent::Entry)).collect();
        assert_eq!(said(&many), ["remove f0, f1, f2, f3, f4, f5, f6, f7, f8, f9 and 2 more"]);
    }

    #[test]
    fn besides_is_what_a_command_changes_unasked() {
        let new = step(StepEffect::Change(Target::Inside(FileLocation::new("new", Extent::Entry)), Change::Create));
        let effects = [new, step(StepEffect::Nothing), removes("a", Extent::Entry)];
        let open = [(&effects[2], Class::Ordinary)];
        assert_eq!(of_besides(&effects, &open, &Redactor::default()), ["create new"]);
    }
}
