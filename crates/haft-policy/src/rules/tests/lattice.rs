//! Tests the lattice: for any rules and effects, an added rule does only what its decision says.

use proptest::prelude::*;

use super::*;
use crate::policy::Mode;

const COMMANDS: [&str; 8] = [
    "git push origin",
    "git push --force",
    "git -C x push -uf",
    "cargo test",
    "rm -rf build",
    "git …",
    "… x",
    "psql -c drop",
];
const PATHS: [&str; 6] = ["", "a", "secrets/a", ".env", ".git/config", "src/x.pem"];
const PROGRAMS: [&str; 5] = ["git", "git push", "cargo test", "rm", "*"];
const PATTERNS: [&str; 5] = ["secrets/**", "*.pem", "a", "/src", "**"];

fn any_target() -> impl Strategy<Value = Target> {
    let extent = prop_oneof![Just(Extent::Entry), Just(Extent::Tree)];
    (proptest::sample::select(&PATHS), extent, any::<bool>()).prop_map(|(path, extent, is_inside)| {
        if is_inside {
            Target::Inside(FileLocation::new(path, extent))
        } else {
            Target::Outside(FileLocation::new(format!("/home/me/{path}"), extent))
        }
    })
}

fn any_does() -> impl Strategy<Value = StepEffect> {
    let change = prop_oneof![Just(Change::Create), Just(Change::Replace), Just(Change::Remove)];
    prop_oneof![
        Just(StepEffect::Nothing),
        Just(StepEffect::ReadUnknown),
        Just(StepEffect::Connect(None)),
        Just(StepEffect::Connect(Some(Host("api.example.com".into())))),
        Just(StepEffect::Publish("push".into())),
        Just(StepEffect::Code("test".into())),
        Just(StepEffect::Unknown("why".into())),
        Just(StepEffect::Danger(haft_contract::effect::Danger::HistoryLost, "lose history".into())),
        any_target().prop_map(StepEffect::Read),
        any_target().prop_map(StepEffect::List),
        (any_target(), change.clone()).prop_map(|(target, change)| StepEffect::Change(target, change)),
        change.prop_map(StepEffect::ChangeUnknown),
    ]
}

fn any_effect() -> impl Strategy<Value = Effect> {
    prop_oneof![
        1 => any_target().prop_map(Effect::Read),
        1 => any_target().prop_map(|target| Effect::Change(target, Change::Replace)),
        1 => Just(Effect::Connect(Host("example.org".into()))),
        1 => Just(Effect::Run(CommandLine("make".into()))),
        6 => (proptest::sample::select(&COMMANDS), any_does()).prop_map(|(words, does)| step(words, does)),
    ]
}

/// Rules as they may come out of a file; drafts that are no rules are left out.
fn any_rule(decisions: &'static [&'static str]) -> impl Strategy<Value = Rule> {
    let maybe = |choices: &'static [&'static str]| proptest::option::of(proptest::sample::select(choices));
    let effects: Vec<&str> = crate::effect_kind::ALL.iter().map(|sort| sort.name()).collect();
    let conditions = (
        maybe(&["bash", "write_*"]),
        proptest::option::weighted(0.3, proptest::sample::select(effects)),
        maybe(&PROGRAMS),
        proptest::option::weighted(0.3, Just("-f")),
        maybe(&PATTERNS),
        maybe(&["*.example.com", "*"]),
        (maybe(&["drop", "x"]), maybe(&["*", "git*", "prod"])),
    );
    (proptest::sample::select(decisions), conditions, any::<bool>()).prop_filter_map(
        "a rule that can hold",
        |(decision, (tool, effect, program, flag, path, host, (text, argument)), dangerous)| {
            let some = |text: Option<&str>| text.map(Patterns::from);
            let words = [program, flag, text].into_iter().flatten().collect::<Vec<&str>>();
            let draft = RuleDraft {
                tool: some(tool),
                effect: some(effect),
                program: some(program),
                flags: flag.map(|flag| vec![flag.to_owned()]),
                path: some(path),
                host: some(host),
                pattern: some(text),
                arguments: argument.map(|text| vec![("*".to_owned(), Patterns::from(text))]),
                dangerous: Some(dangerous && decision == "ask"),
                matches: program.map(|_| vec![words.join(" ")]),
                ..draft(decision)
            };
            let tools = known();
            let roots = Roots { home: "/home/me".into(), workspace: Some("/home/me/work".into()) };
            let known = RuleCheckContext {
                tools: &tools,
                roots: &roots,
                reader: ExampleReader { roots: &roots, read: &does_everything },
            };
            draft.check(known).ok().map(|written| written.rule)
        },
    )
}

/// A command that does so much that nearly every rule about its words has something to match.
fn does_everything(command: &str) -> Vec<Effect> {
    let targets = PATHS.map(|path| inside(path, Extent::Entry));
    let host = StepEffect::Connect(Some(Host("api.example.com".into())));
    let rest = [StepEffect::Nothing, host, StepEffect::Publish("push".into()), StepEffect::Code("test".into())];
    let replaced = targets.clone().map(|target| StepEffect::Change(target, Change::Replace));
    let all = targets.map(StepEffect::Read).into_iter().chain(replaced).chain(rest);
    all.map(|does| step(command, does)).collect()
}

fn strictness(rules: &[Rule], effects: &[Effect], mode: Mode) -> (Decision, Class) {
    let policy = Policy::default().with_rules(rules.iter().cloned());
    let arguments = json!({ "command": "git push --force", "database": "Prod" });
    let situation = Situation { arguments: Some(&arguments), ..mode.into() };
    let ruling = policy.judge("bash", effects, situation);
    (ruling.decision, if ruling.decision == Decision::Ask { ruling.class } else { Class::Ordinary })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn adding_a_rule_that_asks_or_denies_never_makes_any_decision_looser(
        rules in proptest::collection::vec(any_rule(&["allow", "ask", "deny"]), 0..5),
        added in any_rule(&["ask", "deny"]),
        place in 0..5usize,
        effects in proptest::collection::vec(any_effect(), 1..5),
        plan in any::<bool>(),
    ) {
        let mode = if plan { Mode::Plan } else { Mode::Normal };
        let before = strictness(&rules, &effects, mode);
        let mut more = rules;
        more.insert(place.min(more.len()), added);
        prop_assert!(strictness(&more, &effects, mode) >= before);
    }

    #[test]
    fn adding_an_allow_rule_turns_nothing_but_ordinary_questions_into_something_else(
        rules in proptest::collection::vec(any_rule(&["allow", "ask", "deny"]), 0..5),
        added in any_rule(&["allow"]),
        effects in proptest::collection::vec(any_effect(), 1..5),
    ) {
        let before = strictness(&rules, &effects, Mode::Normal);
        let mut more = rules;
        more.push(added);
        let after = strictness(&more, &effects, Mode::Normal);
        prop_assert!(after == before || before == (Decision::Ask, Class::Ordinary));
        prop_assert!(after <= before);
    }

    #[test]
    fn what_is_not_understood_is_never_allowed(
        rules in proptest::collection::vec(any_rule(&["allow"]), 0..6),
        words in proptest::sample::select(&COMMANDS),
    ) {
        let effects = [step(words, StepEffect::Unknown("why".into()))];
        prop_assert_eq!(strictness(&rules, &effects, Mode::Normal).0, Decision::Ask);
    }
}
