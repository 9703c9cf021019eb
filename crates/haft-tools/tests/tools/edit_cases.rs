//! The cases of `tests/cases/edits.jsonl`, as far as they need no disk.

use haft_contract::outcome::kinds::ErrorKind;
use haft_tools::files::edit::{Count, Edit, Miss, fit};
use serde::Deserialize;
use serde_json::Value;

const CASES: &str = include_str!("../../../../tests/cases/edits.jsonl");

/// Fields and kinds that are about the file on disk, which the engine never sees.
const ON_DISK: [&str; 4] = ["disk_after_read", "touch", "removed_after_read", "not_read"];
const DISK_KINDS: [&str; 6] = ["stale", "missing_file", "not_read", "binary", "bad_encoding", "permission"];

#[derive(Deserialize)]
struct Case {
    id: String,
    before: Option<String>,
    before_b64: Option<String>,
    r#gen: Option<Generated>,
    edits: Vec<Sent>,
    expect: Expected,
    #[serde(default)]
    also_ok: Vec<Expected>,
}

#[derive(Deserialize)]
struct Generated {
    parts: Vec<(String, usize)>,
}

#[derive(Deserialize)]
struct Sent {
    old: String,
    new: String,
    #[serde(default)]
    replace_all: bool,
}

#[derive(Deserialize)]
struct Expected {
    after: Option<String>,
    after_b64: Option<String>,
    after_len: Option<usize>,
    after_suffix: Option<String>,
    after_contains: Option<String>,
    error: Option<String>,
    near_line: Option<usize>,
    count: Option<usize>,
    edit: Option<usize>,
}

#[test]
fn every_case_without_a_disk_ends_as_it_says() {
    let mut faults = Vec::new();
    for line in CASES.lines().filter(|line| !line.trim().is_empty()) {
        let value: Value = serde_json::from_str(line).expect("one JSON object per line");
        if ON_DISK.iter().any(|field| value.get(field).is_some()) {
            continue;
        }
        let case: Case = serde_json::from_value(value).expect("the fields of a case");
        if let Err(fault) = case.check() {
            faults.push(format!("{}: {fault}", case.id));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

impl Case {
    fn check(&self) -> Result<(), String> {
        if self.expect.error.as_deref().is_some_and(|kind| DISK_KINDS.contains(&kind)) {
            return Ok(());
        }
        let Some(whole) = self.before() else { return Ok(()) };
        // The reader takes a byte order mark off and the writer puts it back.
        let (mark, before) = whole.strip_prefix('\u{feff}').map_or(("", &*whole), |rest| ("\u{feff}", rest));
        let count = |sent: &Sent| if sent.replace_all { Count::All } else { Count::Unique };
        let edits: Vec<Edit<'_>> =
            self.edits.iter().map(|sent| Edit { old: &sent.old, new: &sent.new, count: count(sent) }).collect();
        let outcome = fit(before, &edits, "file").map(|fitted| format!("{mark}{}", fitted.apply(before)));
        let answers = std::iter::once(&self.expect).chain(&self.also_ok);
        let faults: Vec<String> = answers.filter_map(|expected| expected.fault(&outcome)).collect();
        if faults.len() <= self.also_ok.len() { Ok(()) } else { Err(faults.join("; ")) }
    }

    fn before(&self) -> Option<String> {
        let generated = self
            .r#gen
            .as_ref()
            .map(|generated| generated.parts.iter().map(|(text, times)| text.repeat(*times)).collect::<String>());
        let decoded = || self.before_b64.as_deref().and_then(|text| String::from_utf8(decoded(text)).ok());
        self.before.clone().or(generated).or_else(decoded)
    }
}

impl Expected {
    fn fault(&self, outcome: &Result<String, Miss>) -> Option<String> {
        let (is_right, found) = match (outcome, &self.error) {
            (Ok(after), None) => {
                (self.describes(after), format!("became {:?}", after.chars().take(200).collect::<String>()))
            }
            (Err(miss), Some(kind)) => {
                let near = miss.near.map_or(0..=0, |near| near.first_line..=near.last_line);
                let is_right = ErrorKind::from_code(kind) == Some(miss.kind)
                    && self.near_line.is_none_or(|line| near.contains(&line))
                    && self.count.is_none_or(|count| count == miss.count)
                    && self.edit.is_none_or(|edit| edit == miss.edit);
                (is_right, format!("{miss:?}"))
            }
            (outcome, _) => (false, format!("{outcome:?}")),
        };
        (!is_right).then_some(found)
    }

    fn describes(&self, after: &str) -> bool {
        self.after.as_deref().is_none_or(|text| text == after)
            && self.after_b64.as_deref().is_none_or(|text| decoded(text) == after.as_bytes())
            && self.after_len.is_none_or(|len| len == after.len())
            && self.after_suffix.as_deref().is_none_or(|text| after.ends_with(text))
            && self.after_contains.as_deref().is_none_or(|text| after.contains(text))
    }
}

fn decoded(base64: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for digit in base64.bytes().filter_map(|letter| DIGITS.iter().position(|digit| *digit == letter)) {
        bits = bits << 6 | digit as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}
