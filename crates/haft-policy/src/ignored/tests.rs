//! What is lost in ignored folders, what is only written there, and what is said of it.

use haft::path::Place;

use super::*;
use crate::containment::Containment;
use crate::decision::Decision;
use crate::grant::GrantScope;
use crate::policy::{Policy, Situation};

fn inside(path: &str, extent: Extent) -> Target {
    Target::Inside(Place::new(path, extent))
}

fn folders() -> Vec<Target> {
    ["build", "web/node_modules"].map(|path| inside(path, Extent::Tree)).into()
}

fn step(does: Does) -> Effect {
    Effect::Step(Step { command: "x".into(), part: (0, 1), words: [].into(), folder: "".into(), does })
}

fn changes(path: &str, change: Change) -> Effect {
    step(Does::Change(inside(path, Extent::Entry), change))
}

fn judged(effect: Effect, grants: &[GrantScope]) -> (Decision, String) {
    let folders = folders();
    let situation = Situation { grants, ignored: Ignored(&folders), ..Situation::default() };
    let ruling = Policy::default().judge("t", &[effect], situation);
    (ruling.decision, ruling.reason)
}

#[test]
fn what_is_removed_or_replaced_by_name_in_an_ignored_folder_is_asked_each_time_and_its_folder_named() {
    let grants = [GrantScope::Contained];
    for (path, change, folder) in [
        ("build", Change::Remove, "build"),
        ("build/a.o", Change::Remove, "build"),
        ("build/a.o", Change::Replace, "build"),
        ("build", Change::Replace, "build"),
        ("b*", Change::Remove, "build"),
        ("build/*.o", Change::Create, "build"),
        ("web", Change::Remove, "web/node_modules"),
        ("w*/node_modules/a", Change::Replace, "web/node_modules"),
    ] {
        let (decision, reason) = judged(changes(path, change), &grants);
        assert_eq!(decision, Decision::Ask, "{path}");
        assert!(reason.ends_with(&format!(" {folder} is not covered by undo: it is ignored.")), "{path}: {reason}");
    }
    let (decision, reason) = judged(changes("*", Change::Remove), &grants);
    assert_eq!(decision, Decision::Ask);
    assert!(reason.ends_with(" build, web/node_modules are not covered by undo: they are ignored."), "{reason}");
}

#[test]
fn other_changes_and_what_runs_code_are_answered_as_ever() {
    let grants = [GrantScope::Contained];
    let code = step(Does::Code("build".into()));
    let others =
        [("src", Change::Remove), ("builder", Change::Remove), ("web/a", Change::Replace), (".", Change::Replace)];
    for effect in others.into_iter().map(|(path, change)| changes(path, change)).chain([code]) {
        assert_eq!(judged(effect.clone(), &grants).0, Decision::Allow, "{effect}");
        let (decision, reason) = judged(effect.clone(), &[]);
        assert_eq!((decision, reason.contains("ignored")), (Decision::Ask, false), "{effect}");
    }
    assert_eq!(judged(changes("build/new", Change::Create), &[]).0, Decision::Allow);
}

#[test]
fn what_would_be_lost_is_told_before_other_questions_of_the_same_weight() {
    let folders = folders();
    let situation = Situation { ignored: Ignored(&folders), ..Situation::default() };
    let effects = [step(Does::Code("build".into())), changes("build", Change::Remove)];
    let ruling = Policy::default().judge("t", &effects, situation);
    assert_eq!(ruling.reason, "It would remove build. build is not covered by undo: it is ignored.");
}

#[test]
fn no_grant_for_contained_commands_is_offered_for_what_would_be_lost_but_one_for_the_command() {
    let folders = folders();
    let situation = Situation { ignored: Ignored(&folders), ..Situation::default() };
    let offers = Policy::default().offers("t", &[changes("build", Change::Remove)], situation);
    assert!(matches!(offers[..], [GrantScope::Command { .. }]), "{offers:?}");
    let offers = Policy::default().offers("t", &[changes("src", Change::Remove)], situation);
    assert!(matches!(offers[..], [GrantScope::Command { .. }, GrantScope::Contained]), "{offers:?}");
}

#[test]
fn a_missing_sandbox_stays_the_greater_lack() {
    let folders = folders();
    let contained = Containment::WithoutSandbox;
    let situation = Situation { contained, ignored: Ignored(&folders), ..Situation::default() };
    let ruling = Policy::default().judge("t", &[changes("build/*", Change::Create)], situation);
    assert!(ruling.reason.contains("there is no full sandbox around it"), "{}", ruling.reason);
}

#[test]
fn the_words_of_a_grant_name_the_folders() {
    let folders = folders();
    let words = GrantScope::Contained.in_words(Ignored(&folders));
    assert_eq!(
        words,
        "commands whose changes stay in this workspace and can be undone, but for ignored folders: build, \
         web/node_modules (build, test, format, create, move, delete; no network) in this session"
    );
    assert_eq!(GrantScope::Contained.in_words(Ignored(&[])), GrantScope::Contained.to_string());
}

#[test]
fn undo_names_the_folders_that_a_command_may_write_and_no_others() {
    let folders = folders();
    let written = |effects: &[Effect]| {
        let but_for = Ignored(&folders).written_by(effects);
        Undo { but_for, sends: effects.iter().any(Effect::gives_network) }.to_string()
    };
    let code = || step(Does::Code("build".into()));
    assert_eq!(written(&[code()]), "can be undone, but for ignored folders: build, web/node_modules");
    assert_eq!(written(&[changes("build/new", Change::Create)]), "can be undone, but for ignored folders: build");
    assert_eq!(written(&[changes("src/new", Change::Create)]), "can be undone");
    assert_eq!(written(&[step(Does::Connect(None))]), "changes to files can be undone, what is sent cannot");
    assert_eq!(
        written(&[changes("build", Change::Remove), step(Does::Connect(None))]),
        "changes to files can be undone, but for ignored folders: build; what is sent cannot"
    );
    let unread = [Effect::Run(haft::effect::CommandLine("x".into()))];
    assert_eq!(written(&unread), "can be undone, but for ignored folders: build, web/node_modules");
}

#[test]
fn many_folders_are_counted() {
    let folders: Vec<Target> = (0..7).map(|number| inside(&format!("f{number}"), Extent::Tree)).collect();
    assert_eq!(Ignored(&folders).to_string(), "f0, f1, f2, f3, f4 and 2 more");
}

#[test]
fn git_loses_ignored_folders_only_where_it_is_told_to() {
    let folders = folders();
    let lost = |command: &str| {
        let effects = crate::command::examples::steps_in_scene(command);
        effects.iter().flat_map(|effect| Ignored(&folders).lost_by(effect)).count()
    };
    assert_eq!(["git clean -fd", "git clean -fdx", "git clean -fX", "git clean -ndx"].map(lost), [0, 2, 2, 0]);
}
