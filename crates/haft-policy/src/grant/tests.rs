//! Tests that a grant covers what its words say: every scope against every sort of effect.

use std::sync::Arc;

use haft_contract::effect::{Change, Claim, Danger, Exposure, RemoteClaim, StateKey};
use haft_contract::files::path::{Extent, FileLocation};

use super::*;
use crate::decision::{Class, Decision};
use crate::policy::{Mode, Policy, Situation};
use crate::rule::{Pattern, defaults};

const COMMAND: &str = "the command";

fn step(does: StepEffect) -> Effect {
    let words: Arc<[String]> = [COMMAND.to_owned()].into();
    Effect::Step(CommandStep { command: COMMAND.into(), folder: "".into(), part: (0, COMMAND.len()), words, does })
}

fn exactly(command: &str, folder: &str) -> GrantScope {
    GrantScope::Command { command: CommandLine(command.into()), folder: folder.into() }
}

fn inside(path: &str) -> Target {
    Target::Inside(FileLocation::new(path, Extent::Entry))
}

fn outside(path: &str) -> Target {
    Target::Outside(FileLocation::new(path, Extent::Entry))
}

fn changes(target: Target, change: Change) -> Effect {
    step(StepEffect::Change(target, change))
}

/// At least one effect of every sort.
fn every_sort() -> Vec<Effect> {
    let words = || "do it".to_owned();
    let remote = |claims| Effect::Remote(RemoteClaim { server: "s".into(), tool: "t".into(), claims });
    let dangers = [
        Danger::Rights,
        Danger::Device,
        Danger::System,
        Danger::DownloadedCode,
        Danger::HiddenCode,
        Danger::Secret,
        Danger::PlantedCode,
        Danger::HistoryLost,
        Danger::Haft,
        Danger::Exhaustion,
    ];
    let mut effects = vec![
        Effect::Read(inside("a")),
        Effect::Read(inside(".env")),
        Effect::Read(outside("/srv/a")),
        Effect::Change(inside("a"), Change::Replace),
        Effect::Change(inside(".git/hooks/x"), Change::Create),
        Effect::Change(outside("/srv/a"), Change::Create),
        Effect::Run(CommandLine(COMMAND.into())),
        Effect::Expose(Exposure::WideWorkspace("/".into())),
        Effect::Connect(Host("a.example".into())),
        remote(Claim::OnlyReads),
        remote(Claim::MayChange),
        Effect::Delegate(AgentName("scout".into())),
        Effect::Session(StateKey("todo".into())),
        step(StepEffect::Nothing),
        step(StepEffect::Read(outside("/usr/bin"))),
        step(StepEffect::Read(outside("/srv/a"))),
        step(StepEffect::Read(inside(".env"))),
        step(StepEffect::ReadUnknown),
        changes(inside("new"), Change::Create),
        changes(inside("a"), Change::Replace),
        changes(inside("a"), Change::Remove),
        changes(inside(""), Change::Remove),
        changes(outside("/tmp/a"), Change::Create),
        changes(inside(".env"), Change::Replace),
        changes(inside(".git/hooks/x"), Change::Create),
        changes(outside("/srv/a"), Change::Create),
        step(StepEffect::ChangeUnknown(Change::Remove)),
        step(StepEffect::Connect(None)),
        step(StepEffect::Connect(Some(Host("a.example".into())))),
        step(StepEffect::Connect(Some(Host("b.example".into())))),
        step(StepEffect::Publish(words())),
        step(StepEffect::Code(words())),
        step(StepEffect::Program("frob".into())),
        step(StepEffect::Unknown(words())),
        step(StepEffect::Settings(words())),
        step(StepEffect::ShellState(words())),
        step(StepEffect::History(words())),
        step(StepEffect::Process(words())),
    ];
    effects.extend(dangers.map(|danger| step(StepEffect::Danger(danger, words()))));
    effects
}

fn every_scope() -> Vec<GrantScope> {
    vec![
        GrantScope::ChangesTo(inside("a")),
        GrantScope::ChangesInside,
        exactly(COMMAND, ""),
        GrantScope::Contained,
        GrantScope::History,
        GrantScope::Host(Host("a.example".into())),
        GrantScope::Remote { server: "s".into(), tool: "t".into() },
        GrantScope::Agent(AgentName("scout".into())),
        GrantScope::Several(vec![GrantScope::Contained, GrantScope::History]),
    ]
}

/// What a yes to contained commands covers, in the order of `every_sort`.
const CONTAINED: [EffectKind; 10] = [
    EffectKind::CommandReadsUnknown,
    EffectKind::CommandCreatesInside,
    EffectKind::CommandChangesInside,
    EffectKind::CommandRemovesInside,
    EffectKind::CommandChangesTemporary,
    EffectKind::CommandChangesUnknown,
    EffectKind::CommandRunsCode,
    EffectKind::CommandRunsUnknownProgram,
    EffectKind::CommandChangesShell,
    // A command sees no processes but its own.
    EffectKind::CommandActsOnProcesses,
];

const EVERY_CONTAINMENT: [Containment; 4] =
    [Containment::Contained, Containment::WithNetwork, Containment::WithoutLayer, Containment::WithoutSandbox];

fn covered(scope: &GrantScope, contained: Containment) -> Vec<String> {
    let all = every_sort();
    all.iter().filter(|effect| scope.covers(effect, contained)).map(|effect| format!("{effect:?}")).collect()
}

/// Compares the sorts that a scope covers where commands are contained, in the order of `every_sort`.
#[track_caller]
fn check_covered(scope: &GrantScope, expected: &[EffectKind]) {
    let all = every_sort();
    let covers = |effect: &&Effect| scope.covers(effect, Containment::Contained);
    assert_eq!(all.iter().filter(covers).map(EffectKind::of).collect::<Vec<_>>(), expected, "{scope}");
}

fn allowed(effects: &[Effect], grants: &[GrantScope], contained: Containment) -> bool {
    let situation = Situation { mode: Mode::Normal, grants, contained, ..Situation::default() };
    Policy::default().judge("t", effects, situation).decision == Decision::Allow
}

#[test]
fn the_list_of_these_tests_has_every_sort_that_a_rule_speaks_of() {
    let all = every_sort();
    for rule in defaults() {
        let Pattern::Effect(sort) = rule.matches else { continue };
        assert!(all.iter().any(|effect| EffectKind::of(effect) == sort), "{sort:?}");
    }
}

#[test]
fn no_grant_ever_lifts_a_denial_or_answers_the_dangerous_class() {
    for contained in EVERY_CONTAINMENT {
        for effect in every_sort() {
            let alone = Situation { contained, ..Situation::default() };
            let ruling = Policy::default().judge("t", std::slice::from_ref(&effect), alone);
            if ruling.decision != Decision::Deny && ruling.class != Class::Dangerous {
                continue;
            }
            let with = Situation { grants: &every_scope(), ..alone };
            assert_eq!(Policy::default().judge("t", std::slice::from_ref(&effect), with), ruling, "{effect}");
            assert_eq!(Policy::default().offers("t", &[effect], alone), []);
        }
    }
}

#[test]
fn contained_is_what_its_words_say_and_only_where_it_holds() {
    check_covered(&GrantScope::Contained, &CONTAINED);
    for contained in [Containment::WithNetwork, Containment::WithoutLayer, Containment::WithoutSandbox] {
        assert!(covered(&GrantScope::Contained, contained).is_empty(), "{contained:?}");
    }
}

#[test]
fn the_other_scopes_cover_their_own_matter_and_nothing_else() {
    use EffectKind::{
        ChangeGuarded, ChangeInside, CommandChangesHistory, CommandConnects, Connect, Delegate, RemoteChange,
        RemoteRead,
    };
    let (here, host) = (inside("a"), Host("a.example".into()));
    let remote = GrantScope::Remote { server: "s".into(), tool: "t".into() };
    check_covered(&GrantScope::ChangesTo(here), &[ChangeInside]);
    // The second is never answered by it: a protected name is of the dangerous class.
    check_covered(&GrantScope::ChangesInside, &[ChangeInside, ChangeGuarded]);
    check_covered(&GrantScope::History, &[CommandChangesHistory]);
    check_covered(&GrantScope::Host(host.clone()), &[Connect, CommandConnects]);
    for (reached, is_covered) in [(Some(host.clone()), true), (Some(Host("b.example".into())), false), (None, false)] {
        let connects = step(StepEffect::Connect(reached));
        assert_eq!(GrantScope::Host(host.clone()).covers(&connects, Containment::Contained), is_covered, "{connects}");
    }
    check_covered(&remote, &[RemoteRead, RemoteChange]);
    check_covered(&GrantScope::Agent(AgentName("scout".into())), &[Delegate]);
    let (last, others) = CONTAINED.split_last().expect("it covers something");
    let both = [others, &[CommandChangesHistory, *last]].concat();
    check_covered(&GrantScope::Several(vec![GrantScope::Contained, GrantScope::History]), &both);
    let other = exactly("another command", "");
    assert!(covered(&other, Containment::Contained).is_empty());
    for contained in EVERY_CONTAINMENT {
        assert_eq!(covered(&GrantScope::History, contained), covered(&GrantScope::History, Containment::Contained));
    }
}

#[test]
fn a_yes_to_one_command_covers_all_its_parts_and_no_other_command() {
    let exactly = exactly(COMMAND, "");
    let of_the_command = |effect: &Effect| matches!(effect, Effect::Step(_) | Effect::Run(_));
    for effect in every_sort() {
        assert_eq!(exactly.covers(&effect, Containment::Contained), of_the_command(&effect), "{effect:?}");
    }
    assert!(covered(&self::exactly("another command", ""), Containment::Contained).is_empty());
}

#[test]
fn a_command_that_connects_or_publishes_is_not_contained() {
    let build = || step(StepEffect::Code("build".into()));
    let host = || Host("a.example".into());
    let grants = [GrantScope::Contained, GrantScope::Host(host())];
    assert!(allowed(&[build()], &grants, Containment::Contained));
    assert!(allowed(&[step(StepEffect::Connect(Some(host())))], &grants, Containment::Contained));
    assert!(!allowed(&[build(), step(StepEffect::Connect(Some(host())))], &grants, Containment::Contained));
    assert!(!allowed(&[build(), step(StepEffect::Publish("push".into()))], &grants, Containment::Contained));
    let new = || changes(inside("new"), Change::Create);
    assert!(allowed(&[new()], &[], Containment::Contained));
    assert!(!allowed(&[new(), step(StepEffect::Connect(Some(host())))], &grants, Containment::Contained));
}

#[test]
fn what_cannot_be_undone_is_at_least_asked_about_and_what_only_reads_never_is() {
    for contained in EVERY_CONTAINMENT {
        let creates = changes(inside("new"), Change::Create);
        assert_eq!(allowed(&[creates], &[], contained), contained == Containment::Contained);
        let reads =
            [Effect::Run(CommandLine("ls".into())), step(StepEffect::List(inside("a"))), step(StepEffect::Nothing)];
        assert!(allowed(&reads, &[], contained), "{contained:?}");
    }
}

#[track_caller]
fn check_offers(does: &[StepEffect], expected: &[GrantScope]) {
    let effects: Vec<Effect> = does.iter().cloned().map(step).collect();
    let offers = Policy::default().offers("t", &effects, Situation::default());
    assert_eq!(offers, [&[exactly(COMMAND, "")], expected].concat(), "{does:?}");
}

#[test]
fn what_is_offered_answers_everything_that_is_open_the_narrowest_first() {
    let (code, history) = (StepEffect::Code("run the tests".into()), StepEffect::History("commit".into()));
    let connect = |name: &str| StepEffect::Connect(Some(Host(name.into())));
    let host = |name: &str| GrantScope::Host(Host(name.into()));
    check_offers(std::slice::from_ref(&code), &[GrantScope::Contained]);
    check_offers(&[history.clone(), history.clone(), StepEffect::Nothing], &[GrantScope::History]);
    let both = GrantScope::Several(vec![GrantScope::Contained, GrantScope::History]);
    check_offers(&[code.clone(), history.clone()], &[both]);
    check_offers(&[connect("a")], &[host("a")]);
    check_offers(&[connect("a"), history.clone()], &[GrantScope::Several(vec![host("a"), GrantScope::History])]);
    check_offers(&[connect("a"), connect("b"), connect("c"), connect("d")], &[]);
    check_offers(&[connect("a"), code.clone()], &[]);
    check_offers(&[StepEffect::Connect(None)], &[]);
    check_offers(&[code.clone(), StepEffect::Publish("push".into())], &[]);
    check_offers(&[code, StepEffect::Unknown("it is computed".into())], &[]);
}

#[test]
fn everything_that_is_offered_answers_the_question_and_says_for_how_long() {
    let (all, policy) = (every_sort(), Policy::default());
    let pairs =
        all.iter().enumerate().flat_map(|(number, first)| all[number..].iter().map(move |second| (first, second)));
    for (first, second) in pairs {
        let effects = [first.clone(), second.clone()];
        for contained in [Containment::Contained, Containment::WithoutLayer] {
            let situation = Situation { contained, ..Situation::default() };
            for scope in policy.offers("t", &effects, situation) {
                let granted = Situation { grants: scope.parts(), ..situation };
                assert_eq!(
                    policy.judge("t", &effects, granted).decision,
                    Decision::Allow,
                    "{scope} for {first} and {second}"
                );
                assert!(scope.to_string().contains(" in this session"), "{scope}");
            }
        }
    }
}

#[test]
fn exactly_this_command_is_the_one_in_the_folder_that_was_shown() {
    let at = |folder: &str| match step(StepEffect::Code("run run.sh".into())) {
        Effect::Step(step) => {
            [Effect::Run(CommandLine(COMMAND.into())), Effect::Step(CommandStep { folder: folder.into(), ..step })]
        }
        other => panic!("{other} is no step"),
    };
    let offers = Policy::default().offers("t", &at("build"), Situation::default());
    assert_eq!(offers.first(), Some(&exactly(COMMAND, "build")));
    assert_eq!(
        exactly(COMMAND, "build").to_string(),
        "exactly this command in the folder build in this session: the command"
    );
    let grants = [exactly(COMMAND, "build")];
    assert!(allowed(&at("build"), &grants, Containment::Contained));
    assert!(!allowed(&at("other"), &grants, Containment::Contained));
    assert!(!allowed(&at(""), &grants, Containment::Contained));
}

#[test]
fn the_words_of_a_host_say_that_a_command_could_reach_any_other() {
    let host = GrantScope::Host(Host("a.example".into()));
    assert!(host.to_string().contains("could reach any other host"), "{host}");
    let both = GrantScope::Several(vec![host, GrantScope::History]);
    assert!(both.to_string().contains("could reach any other host"), "{both}");
}
