//! Tests which rule haft shows for which question. It reads commands in the scene of the examples.

use super::*;
use crate::decision::Class;
use crate::examples::steps_in_scene;
use crate::rule::Pattern;

fn pasted_by(policy: &Policy, command: &str) -> Option<String> {
    rule_to_paste(policy, ("bash", &steps_in_scene(command)), Situation::default())
}

fn pasted(command: &str) -> Option<String> {
    pasted_by(&Policy::default(), command)
}

fn line_of(command: &str, key: &str) -> String {
    let rule = pasted(command).unwrap_or_else(|| panic!("there is no rule for {command}"));
    let start = format!("{key} = ");
    rule.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_default().to_owned()
}

#[test]
fn the_rule_names_the_program_and_what_of_it_is_meant() {
    let rule = pasted("cargo test --workspace").expect("there is one");
    let lines = [
        "[[rule]]",
        "name = \"allow cargo test\"",
        "decision = \"allow\"",
        "reason = \"Allowed after it was asked about.\"",
        "program = \"cargo test\"",
        "matches = [\"cargo test --workspace\"]",
    ];
    assert_eq!(rule.lines().collect::<Vec<_>>(), lines);
    assert_eq!(line_of("npm run build --silent", "program"), "\"npm run build\"");
    assert_eq!(line_of("pytest -q", "program"), "\"pytest\"");
    assert_eq!(line_of("python3 src/gen.py x", "program"), "\"python3 src/gen.py\"");
}

#[test]
fn what_would_allow_any_code_or_is_not_understood_has_no_rule() {
    for command in ["python3 -c 'f()'", "bash", "npm run --silent", "$x a", "sudo ls", "ls", "make a\nmake b$x"] {
        assert_eq!(pasted(command), None, "{command}");
    }
}

#[test]
fn what_is_named_behind_a_flag_or_in_no_plain_word_has_no_rule_about_the_whole_program() {
    for command in [
        "git --no-pager push origin main",
        "npm --prefix x run build",
        "cargo --offline test",
        "make -j 4 deploy",
        "make 'a b'",
        "make $x",
    ] {
        assert_eq!(pasted(command), None, "{command}");
    }
}

#[test]
fn an_interpreter_is_one_in_every_version_and_a_wrapper_never_has_a_rule() {
    for command in [
        "python3.11 -c 'f()'",
        "python3.11",
        "perl5.36 -e 'f()'",
        "uv run python -c 'f()'",
        "poetry run python3.12 -c 'f()'",
        "bash run.sh",
        "sh build.sh",
        "env X=1",
        "xargs make",
        "npm exec bash -c x",
    ] {
        assert_eq!(pasted(command), None, "{command}");
    }
    assert_eq!(line_of("python3.11 src/gen.py", "program"), "\"python3.11 src/gen.py\"");
}

#[test]
fn a_path_of_the_workspace_is_not_the_same_path_elsewhere() {
    let rule = sketches(steps_in_scene("rm notes.txt").iter().filter(|effect| matches!(effect, Effect::Step(_))));
    let rule = rule.and_then(|rules| rules.first()?.rule()).expect("there is a rule");
    let elsewhere = Target::Outside(haft_contract::files::path::FileLocation::new(
        "/notes.txt",
        haft_contract::files::path::Extent::Entry,
    ));
    for effect in steps_in_scene("rm notes.txt") {
        let Effect::Step(step) = effect else { continue };
        let opinion = |effect: Effect| rule.on_effect("bash", &effect, EffectKind::of(&effect));
        assert!(opinion(Effect::Step(step.clone())).is_some());
        let does = StepEffect::Change(elsewhere.clone(), haft_contract::effect::Change::Remove);
        assert_eq!(opinion(Effect::Step(CommandStep { does, ..step })), None);
    }
}

#[test]
fn a_rule_about_files_and_hosts_names_the_one_file_or_host() {
    assert_eq!(
        (line_of("rm notes.txt", "program"), line_of("rm notes.txt", "path")),
        ("\"rm notes.txt\"".into(), "\"./notes.txt\"".into())
    );
    assert_eq!(
        (line_of("rm -r build", "program"), line_of("rm -r build", "path")),
        ("\"rm\"".into(), "\"./build\"".into())
    );
    assert_eq!(pasted("rm -r src docs"), None, "one rule names one path");
    assert_eq!(line_of("curl -s https://a.example/x", "host"), "\"a.example\"");
}

#[test]
fn a_rule_that_would_be_a_mistake_is_not_shown() {
    // Its example would be read in the root of the workspace, where the path is another one.
    let steps = steps_in_scene("rm -r build").into_iter().map(|effect| match effect {
        Effect::Step(step) => {
            let does = StepEffect::Change(
                Target::Inside(haft_contract::files::path::FileLocation::new(
                    "sub/build",
                    haft_contract::files::path::Extent::Tree,
                )),
                haft_contract::effect::Change::Remove,
            );
            Effect::Step(CommandStep { does, ..step })
        }
        other => other,
    });
    let steps: Vec<Effect> = steps.collect();
    assert_eq!(rule_to_paste(&Policy::default(), ("bash", &steps), Situation::default()), None);
}

#[test]
fn what_a_tool_changes_is_allowed_by_its_name_and_only_what_is_ordinary() {
    let changes = |path: &str| {
        let place = haft_contract::files::path::FileLocation::new(path, haft_contract::files::path::Extent::Entry);
        Effect::Change(Target::Inside(place), haft_contract::effect::Change::Replace)
    };
    let pasted = |effects: &[Effect]| rule_to_paste(&Policy::default(), ("edit_file", effects), Situation::default());
    let rule = pasted(&[changes("a.txt"), changes("src/b.rs")]).expect("there is one");
    assert!(rule.contains("tool = \"edit_file\"\neffect = \"change\"\n"), "{rule}");
    assert_eq!(pasted(&[changes("a.txt"), changes(".git/hooks/pre-commit")]), None);
    assert_eq!(pasted(&[changes(".env")]), None);
}

#[test]
fn a_rule_that_would_not_help_is_not_shown() {
    let asks = Rule {
        name: "mine".into(),
        matches: Pattern::Effect(EffectKind::CommandRunsCode),
        decision: Decision::Ask,
        class: Class::Ordinary,
        reason: String::new(),
        instead: String::new(),
    };
    assert_eq!(pasted_by(&Policy::default().with_rules([asks]), "cargo test"), None);
}

#[test]
fn each_of_a_few_programs_has_a_rule_of_its_own() {
    let rule = pasted("cargo test; make lint; cargo test -q").expect("there are some");
    assert_eq!(rule.matches("[[rule]]").count(), 2, "{rule}");
    assert_eq!(pasted("make a; make b; make c; make d"), None);
}

#[test]
fn nothing_in_a_command_can_add_a_line_to_the_rule() {
    assert_eq!(line_of("make all '\"x\\'", "matches"), r#"["make all '\"x\\'"]"#);
    assert_eq!(pasted("make all 'a\nb'"), None);
    assert_eq!(line_of("make all 'a\u{1b}b'", "matches"), r#"["make all 'a\u001Bb'"]"#);
}
