//! Reports who wrote each line of a file (`haft blame`), in columns for people or as a record for programs, without secrets.

use haft_contract::files::path::{Target, one_line};
use haft_contract::text::diff::{Diff, DiffHunk, DiffLine};
use haft_runtime::redaction::redact::Redactor;
use haft_workspace::history::{Blame, ChangeSet, HistoryError, LineOrigin, PathContent};
use serde_json::{Value, json};

use super::change_log::{ago, hide_in, utc};
use super::change_records::learn;
use crate::opening::rescue::Rescue;
use crate::texts::bounded_text::{columns_in, one_line_of};

/// Most columns of who made a change, and of session, turn and call.
const AGENT: usize = 16;
const CALL: usize = 24;
/// Fewest columns of a terminal that shows these.
const FOR_AGENT: usize = 60;
const FOR_CALL: usize = 100;

/// Finds out who wrote each line of a file, and hides secrets.
///
/// # Errors
///
/// Fails if the file is no text file, or the journal cannot be read.
pub fn blame(rescue: &Rescue, target: &Target) -> Result<Blame, HistoryError> {
    let mut blame = rescue.history.blame(target)?;
    let whole = blame.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n");
    let redactor = rescue.redactor();
    learn(&target.to_string(), [&PathContent::File(whole.into_bytes()), &PathContent::Absent], redactor);
    hide_in_lines(&mut blame, redactor);
    blame.sets.values_mut().for_each(|set| hide_in(set, redactor));
    Ok(blame)
}

fn hide_in_lines(blame: &mut Blame, redactor: &Redactor) {
    let lines = blame.lines.iter().map(|line| DiffLine::Equal(line.text.clone())).collect();
    // A value may go over several lines, as in a difference.
    let hunks = vec![DiffHunk { old_line: 1, new_line: 1, lines }];
    let mut shown = Diff { hunks, ..Diff::default() };
    redactor.redact_diff(&mut shown);
    for (line, hidden) in blame.lines.iter_mut().zip(shown.lines_mut()) {
        line.text = std::mem::take(hidden.text_mut());
    }
}

/// Returns for each line who wrote it, all equally wide, with its number: what fits into so many columns beside the text.
#[must_use]
pub fn margins(blame: &Blame, columns: usize) -> Vec<String> {
    let words: Vec<String> = blame.lines.iter().map(|line| margin(blame, line.origin, columns)).collect();
    let width = words.iter().map(|words| columns_in(words)).max().unwrap_or_default();
    let digits = words.len().to_string().len();
    let padded = |(number, words): (usize, String)| {
        let rest = width - columns_in(&words);
        format!("{words}{:rest$}  {number:>digits$}  ", "")
    };
    (1..).zip(words).map(padded).collect()
}

fn margin(blame: &Blame, origin: LineOrigin, columns: usize) -> String {
    let (number, set) = match origin {
        LineOrigin::BeforeJournal => return format!("{:>5}  before haft", "–"),
        LineOrigin::Outside { after } => return format!("{:>5}  not through haft, after {after}", "–"),
        LineOrigin::ChangeSet(number) => (number, blame.sets.get(&number)),
    };
    let Some(set) = set.filter(|_| columns >= FOR_AGENT) else { return format!("{number:>5}") };
    let agent = one_line_of(set.agent.as_deref().unwrap_or(&set.tool), AGENT);
    let call = match columns >= FOR_CALL {
        true => format!("  {}", one_line_of(&format!("{}:{}:{}", set.session, set.turn, set.call), CALL)),
        false => String::new(),
    };
    format!("{number:>5}  {:<11} {agent}{call}", ago(set.at))
}

/// Returns who wrote the lines, for programs. A line without a change set is the user's.
#[must_use]
pub fn record(path: &str, blame: &Blame) -> Value {
    let line = |(number, line): (usize, &haft_workspace::history::BlamedLine)| {
        let mut record = json!({ "line": number, "text": line.text });
        match line.origin {
            LineOrigin::ChangeSet(number) => {
                record["origin"] = "change_set".into();
                record["change_set"] = number.into();
                blame.sets.get(&number).into_iter().for_each(|set| add(set, &mut record));
            }
            LineOrigin::BeforeJournal => record["origin"] = "before".into(),
            LineOrigin::Outside { after } => {
                record["origin"] = "outside".into();
                record["after"] = after.into();
            }
        }
        record
    };
    let lines: Vec<Value> = (1..).zip(&blame.lines).map(line).collect();
    json!({ "v": 1, "path": one_line(path), "lines": lines, "warnings": blame.warnings })
}

fn add(set: &ChangeSet, record: &mut Value) {
    record["agent"] = set.agent.as_deref().into();
    record["session"] = set.session.as_str().into();
    record["turn"] = set.turn.into();
    record["call"] = set.call.as_str().into();
    record["tool"] = set.tool.as_str().into();
    record["time"] = utc(set.at).into();
}
