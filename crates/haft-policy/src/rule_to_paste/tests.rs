//! Which rule a person is shown for which question.

use std::sync::Arc;

use haft::effect::{Change, Danger, Host};
use haft::path::{Extent, Place};

use super::*;

fn step(text: &str, does: Does) -> Effect {
    let words: Arc<[String]> = text.split(' ').map(str::to_owned).collect();
    Effect::Step(Step { command: text.into(), part: (0, text.len()), words, does })
}

fn code(text: &str) -> Effect {
    step(text, Does::Code("run code".into()))
}

fn pasted(effects: &[Effect]) -> Option<String> {
    rule_to_paste(&effects.iter().collect::<Vec<_>>())
}

fn changes(text: &str, path: &str) -> Effect {
    step(text, Does::Change(Target::Inside(Place::new(path, Extent::Tree)), Change::Remove))
}

#[test]
fn the_rule_names_the_program_and_what_of_it_is_meant() {
    let rule = pasted(&[code("cargo test --workspace")]).expect("there is one");
    let lines = [
        "[[rule]]",
        "name = \"allow cargo test\"",
        "decision = \"allow\"",
        "reason = \"Allowed after it was asked about.\"",
        "program = \"cargo test\"",
        "matches = [\"cargo test --workspace\"]",
    ];
    assert_eq!(rule.lines().collect::<Vec<_>>(), lines);
    let program = |text: &str| {
        let rule = pasted(&[code(text)]).expect("there is one");
        rule.lines().find_map(|line| line.strip_prefix("program = ")).unwrap_or_default().to_owned()
    };
    assert_eq!(program("npm run build --silent"), "\"npm run build\"");
    assert_eq!(program("pytest -q"), "\"pytest\"");
    assert_eq!(program("python3 tools/gen.py x"), "\"python3 tools/gen.py\"");
}

#[test]
fn what_would_allow_any_code_or_is_not_understood_has_no_rule() {
    for text in ["python3 -c x", "bash", "sh -c x", "node", "npm run", "npm run --silent"] {
        assert_eq!(pasted(&[code(text)]), None, "{text}");
    }
    assert_eq!(pasted(&[step("x", Does::Unknown("it is computed".into()))]), None);
    assert_eq!(pasted(&[step("rm x", Does::ChangeUnknown(Change::Remove))]), None);
    assert_eq!(pasted(&[step("sudo x", Does::Danger(Danger::Rights, "gain rights".into()))]), None);
    assert_eq!(pasted(&[code("make"), step("$x", Does::Unknown("it is computed".into()))]), None);
    assert_eq!(pasted(&[]), None);
}

#[test]
fn a_rule_about_files_and_hosts_names_the_one_file_or_host() {
    let rule = pasted(&[changes("rm -r build", "build")]).expect("there is one");
    assert!(rule.contains("program = \"rm\"\npath = \"/build\"\n"), "{rule}");
    assert_eq!(pasted(&[changes("rm -r a b", "a"), changes("rm -r a b", "b")]), None);
    let connect = step("curl -s https://a.example/x", Does::Connect(Some(Host("a.example".into()))));
    let rule = pasted(&[connect]).expect("there is one");
    assert!(rule.contains("program = \"curl\"\nhost = \"a.example\"\n"), "{rule}");
    assert_eq!(pasted(&[changes("rm -r x*", "x*")]), None, "a pattern would mean something else");
}

#[test]
fn each_of_a_few_programs_has_a_rule_of_its_own() {
    let rule = pasted(&[code("cargo test"), code("make lint"), code("cargo test")]).expect("there are some");
    assert_eq!(rule.matches("[[rule]]").count(), 2, "{rule}");
    let many = [code("make a"), code("make b"), code("make c"), code("make d")];
    assert_eq!(pasted(&many), None);
}

#[test]
fn nothing_in_a_command_can_add_a_line_to_the_rule() {
    let rule = pasted(&[code("make \"x\\")]).expect("there is one");
    assert!(rule.ends_with("matches = [\"make \\\"x\\\\\"]\n"), "{rule}");
    assert_eq!(pasted(&[code("make a\nb")]), None);
    let rule = pasted(&[code("make a\u{1b}b")]).expect("there is one");
    assert!(rule.contains("make a\\u001Bb"), "{rule}");
}
