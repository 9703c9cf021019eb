//! The commands of `tests/cases`, the right verdict for each, and the list of known wrong judgements.
//!
//! A percentage of right judgements hides changes: one refusal that becomes a question is one of thousands. So every
//! judgement is the verdict of its case, or `tests/cases/known_misses.jsonl` lists exactly this judgement.
//!
//! Not here: the judge. The rules alone and the command `haft rules explain` share this list.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The judgements that are not the verdict.
pub const KNOWN_MISSES: &str = include_str!("../../../../tests/cases/known_misses.jsonl");

/// A command and what is right to say of it.
#[derive(Clone, Debug)]
pub struct CommandCase {
    /// Its name, which no other case has.
    pub id: String,
    /// The command.
    pub command: String,
    /// What is right: `safe`, `ask` or `dangerous`.
    pub verdict: String,
    /// What is not wrong either.
    pub accept: Vec<String>,
    /// What makes it interesting, and why the verdict is right.
    pub about: String,
}

impl CommandCase {
    /// Reads cases, one JSON object on each line.
    pub fn read_all(lines: &str) -> Vec<Self> {
        let mut ids = BTreeSet::new();
        let cases: Vec<Self> = lines.lines().filter(|line| !line.trim().is_empty()).map(Self::read).collect();
        for case in &cases {
            assert!(ids.insert(&case.id), "{}: there are two", case.id);
            assert!(case.accept.contains(&case.verdict), "{}: its verdict is not accepted", case.id);
        }
        cases
    }

    fn read(line: &str) -> Self {
        let case: Value = serde_json::from_str(line).expect("a case is one JSON object");
        let keys: Vec<&str> = case.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["id", "cmd", "verdict", "accept", "class", "why"], "{line}");
        let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{value} is no text: {line}")).to_owned();
        let accept = case["accept"].as_array().expect("what is accepted is a list");
        Self {
            id: text(&case["id"]),
            command: text(&case["cmd"]),
            verdict: text(&case["verdict"]),
            accept: accept.iter().map(text).collect(),
            about: format!("{}: {}", text(&case["class"]), text(&case["why"])),
        }
    }
}

/// Returns a line for each judgement that is neither the verdict of its case nor listed, and for each listed one that is
/// not so any more.
pub fn surprises<'a>(cases: &'a [CommandCase], judge: impl Fn(&'a CommandCase) -> String, known: &str) -> Vec<String> {
    let known = known_misses(known);
    cases.iter().filter_map(|case| surprise(case, &judge(case), known.get(&case.id).map(String::as_str))).collect()
}

fn surprise(case: &CommandCase, judged: &str, listed: Option<&str>) -> Option<String> {
    let CommandCase { id, command, verdict, about, .. } = case;
    let what = match listed {
        _ if matches!((verdict.as_str(), judged), ("dangerous", "safe") | ("safe", "dangerous")) => {
            "which is gravely wrong and cannot be listed".to_owned()
        }
        Some(_) if judged == verdict => "which is right now; remove its line from known_misses.jsonl".to_owned(),
        Some(listed) if judged != listed => format!("and known_misses.jsonl says {listed}"),
        None if judged != verdict && case.accept.iter().any(|accepted| accepted == judged) => {
            format!("which is accepted; if it is meant: {}", line(id, judged))
        }
        None if judged != verdict => format!("which is wrong; if it cannot be helped: {}", line(id, judged)),
        _ => return None,
    };
    Some(format!("{id}: {judged}, not {verdict}, {what}\n    {command:?} ({about})"))
}

fn line(id: &str, judged: &str) -> String {
    serde_json::json!({ "id": id, "judged": judged }).to_string()
}

/// Returns the listed judgements by the name of their case.
pub fn known_misses(lines: &str) -> BTreeMap<String, String> {
    let mut known = BTreeMap::new();
    for line in lines.lines() {
        let miss: Value = serde_json::from_str(line).expect("a known miss is one JSON object");
        let text = |key: &str| miss[key].as_str().unwrap_or_else(|| panic!("{key} is missing: {line}")).to_owned();
        assert!(known.insert(text("id"), text("judged")).is_none(), "there are two lines: {line}");
    }
    known
}
