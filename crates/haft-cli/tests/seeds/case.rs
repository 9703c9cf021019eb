//! One case as the file has it.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};

/// A case: given this, when that is done, then this comes of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) system: String,
    #[serde(rename = "feature")]
    _feature: String,
    pub(crate) given: Map<String, Value>,
    pub(crate) when: Map<String, Value>,
    pub(crate) then: Map<String, Value>,
}

/// What came of a case.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// The records of its calls, in order.
    pub(crate) records: Vec<Value>,
    /// What else was found out, by the name that the case has for it.
    pub(crate) facts: Map<String, Value>,
    /// The home and the workspace, where there are some.
    pub(crate) home: Option<haft_testkit::scratch_home::ScratchHome>,
}

impl Case {
    /// Reads all cases.
    pub(crate) fn all() -> Vec<Case> {
        let text = std::fs::read(repository().join("tests/cases/seed_cases.json")).expect("the cases are there");
        serde_json::from_slice(&text).expect("the cases are in order")
    }

    /// Returns the dialect of the system, which is also its profile.
    pub(crate) fn dialect(&self) -> &'static str {
        match self.system.as_str() {
            "tunacode" => "tunacode",
            "code-ally" => "ally",
            "wyrmspire-agent" => "wyrm",
            "nexau" => "nexau",
            other => panic!("{}: no dialect is known for {other}", self.id),
        }
    }

    /// Returns the steps of the case; a case with one call has one step.
    pub(crate) fn steps(&self) -> Vec<Value> {
        match (self.when.get("steps"), self.when.get("call")) {
            (Some(Value::Array(steps)), _) => steps.clone(),
            (_, Some(call)) => vec![call.clone()],
            _ => vec![Value::Object(self.when.clone())],
        }
    }

    /// Returns a word of what is given or done.
    pub(crate) fn word<'c>(map: &'c Map<String, Value>, name: &str) -> &'c str {
        map.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Returns the root of the repository.
pub(crate) fn repository() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
