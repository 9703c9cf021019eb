//! Reports how the calls of a replay compare, as records for programs, and counts the outcomes.

use haft_contract::text::diff::Diff;
use haft_contract::text::grouped::GroupedNumber;
use haft_model::conversation::ModelToolCall;
use haft_runtime::record::VERSION;
use serde_json::{Value, json};

use super::compared::{CallComparison, Difference};

/// Most lines of a difference in a record.
const MOST_LINES: usize = 400;

/// How many calls came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// To the same.
    pub same: u64,
    /// To something different.
    pub differs: u64,
    /// To something that cannot be compared.
    pub not_comparable: u64,
}

impl Tally {
    /// Counts a call.
    pub fn count(&mut self, compared: &CallComparison) {
        match compared {
            CallComparison::Same => self.same += 1,
            CallComparison::Differs(_) => self.differs += 1,
            CallComparison::Not(_) => self.not_comparable += 1,
        }
    }

    /// Says it in a line.
    pub fn words(self) -> String {
        let calls = GroupedNumber(self.same + self.differs + self.not_comparable).of("call");
        let mut parts = vec![format!("{} the same", self.same)];
        if self.differs > 0 {
            parts.push(format!("{} with a difference", self.differs));
        }
        if self.not_comparable > 0 {
            parts.push(format!("{} not comparable", self.not_comparable));
        }
        format!("{calls}: {}", parts.join(", "))
    }
}

/// Returns how a call compares, for programs.
pub fn record(call: &ModelToolCall, compared: &CallComparison) -> Value {
    let mut record = json!({ "v": VERSION, "event": "compared", "id": call.id, "tool": call.name });
    record["outcome"] = match compared {
        CallComparison::Same => "same".into(),
        CallComparison::Not(why) => {
            record["why"] = why.as_str().into();
            "not_comparable".into()
        }
        CallComparison::Differs(differences) => {
            record["differences"] = differences.iter().map(difference_record).collect();
            "differs".into()
        }
    };
    record
}

fn difference_record(difference: &Difference) -> Value {
    let text = |diff: &Diff| diff.render(MOST_LINES);
    match difference {
        Difference::Fact(name, then, now) => json!({ "what": name, "then": then, "now": now }),
        Difference::Text(diff) => json!({ "what": "content", "diff": text(diff) }),
        Difference::File(path, diff) => json!({ "what": "file", "path": path, "diff": diff.as_ref().map(text) }),
    }
}
