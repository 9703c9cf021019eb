//! Every change of a judgement is noticed: a miss that is new, one that changed, and one that is right now.

use haft_testkit::corpora::command_cases::{CommandCase, KNOWN_MISSES, known_misses, surprises};

const CASE: &str = r#"{"id": "a", "cmd": "rm x", "verdict": "VERDICT", "accept": ["VERDICT", "MORE"], "class": "plain", "why": "it is one"}"#;

/// Returns how what surprises about a judgement begins and ends; nothing when it does not.
fn told(verdict: &str, judged: &str, listed: Option<&str>) -> Option<String> {
    let cases = CommandCase::read_all(&CASE.replace("VERDICT", verdict).replace("MORE", "safe"));
    let listed = listed.map(|listed| format!("{{\"id\": \"a\", \"judged\": \"{listed}\"}}")).unwrap_or_default();
    let mut told = surprises(&cases, |_| judged.to_owned(), &listed);
    assert!(told.len() < 2, "{told:?}");
    told.pop().map(|line| line.lines().next().unwrap_or_default().to_owned())
}

#[test]
fn a_judgement_is_the_verdict_or_it_is_listed_as_it_is() {
    let verdicts = ["safe", "ask", "dangerous"];
    for verdict in verdicts {
        for judged in verdicts {
            for listed in [None, Some("safe"), Some("ask"), Some("dangerous")] {
                let is_grave = matches!((verdict, judged), ("safe", "dangerous") | ("dangerous", "safe"));
                let is_expected = match listed {
                    None => judged == verdict,
                    Some(listed) => judged == listed && judged != verdict,
                };
                let told = told(verdict, judged, listed);
                assert_eq!(told.is_none(), is_expected && !is_grave, "{verdict} {judged} {listed:?}: {told:?}");
            }
        }
    }
}

#[test]
fn what_surprises_is_told_with_what_to_do() {
    let table = [
        ("dangerous", "ask", None, r#"which is wrong; if it cannot be helped: {"id":"a","judged":"ask"}"#),
        ("ask", "safe", None, r#"which is accepted; if it is meant: {"id":"a","judged":"safe"}"#),
        ("dangerous", "dangerous", Some("ask"), "which is right now; remove its line from known_misses.jsonl"),
        ("ask", "safe", Some("dangerous"), "and known_misses.jsonl says dangerous"),
        ("dangerous", "safe", Some("safe"), "which is gravely wrong and cannot be listed"),
    ];
    for (verdict, judged, listed, words) in table {
        let told = told(verdict, judged, listed).expect("it surprises");
        assert_eq!(told, format!("a: {judged}, not {verdict}, {words}"));
    }
}

#[test]
fn every_known_miss_is_of_a_case() {
    let cases = [
        include_str!("../../../tests/cases/commands.jsonl"),
        include_str!("../../../tests/cases/more_commands.jsonl"),
        include_str!("../../../tests/cases/examined_commands.jsonl"),
        include_str!("../../../tests/cases/script_commands.jsonl"),
    ];
    let ids: Vec<String> = cases.iter().flat_map(|cases| CommandCase::read_all(cases)).map(|case| case.id).collect();
    let unknown: Vec<String> = known_misses(KNOWN_MISSES).into_keys().filter(|id| !ids.contains(id)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
