//! The command itself, with the deciding parts marked beneath it, so the marks are visible without colours.

use haft_contract::text::visible::visible;
use haft_policy::decision::Decision;

use super::{CommandExplanation, INDENT, ShownLine, Tone, tone_of};
use crate::texts::bounded_text::columns_in as columns_of;

/// Most rows of a command.
const MOST_ROWS: usize = 40;

/// One character as it is shown, and whether it belongs to a part that decides.
struct ExplainedCharacter {
    shown: String,
    decides: bool,
}

/// Returns the decision and the command.
pub(super) fn command(explained: &CommandExplanation, width: usize) -> Vec<ShownLine> {
    let decision = explained.ruling.decision;
    let mut rows = rows(explained, width - INDENT);
    let left = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);
    let mut lines = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let first = match number {
            0 => ShownLine::default().with(tone_of(decision), format!("{:<INDENT$}", decision.code())),
            _ => ShownLine::indented(INDENT),
        };
        lines.push(row.iter().fold(first, |line, cell| {
            line.with(if cell.decides { tone_of(decision) } else { Tone::Plain }, cell.shown.as_str())
        }));
        lines.extend(marks(row).map(|marks| ShownLine::indented(INDENT).with(tone_of(decision), marks)));
    }
    if left > 0 {
        lines.push(ShownLine::indented(INDENT).with(Tone::Faint, format!("[{left} more lines]")));
    }
    lines
}

fn marks(row: &[ExplainedCharacter]) -> Option<String> {
    let mark = |cell: &ExplainedCharacter| (if cell.decides { "~" } else { " " }).repeat(columns_of(&cell.shown));
    let marks: String = row.iter().map(mark).collect();
    let marks = marks.trim_end();
    (!marks.is_empty()).then(|| marks.to_owned())
}

fn rows(explained: &CommandExplanation, width: usize) -> Vec<Vec<ExplainedCharacter>> {
    let deciding = deciding(explained);
    let mut deciding = deciding.iter().peekable();
    let mut rows: Vec<Vec<ExplainedCharacter>> = vec![Vec::new()];
    let mut columns = 0;
    for (index, c) in explained.command.char_indices() {
        let shown = match c {
            '\n' => String::new(),
            '\t' => "    ".to_owned(),
            c => visible(c.encode_utf8(&mut [0; 4])).into_owned(),
        };
        if c == '\n' || (columns > 0 && columns + columns_of(&shown) > width) {
            rows.push(Vec::new());
            columns = 0;
        }
        columns += columns_of(&shown);
        while deciding.next_if(|(_, to)| *to <= index).is_some() {}
        if let Some(row) = rows.last_mut().filter(|_| c != '\n') {
            row.push(ExplainedCharacter { shown, decides: deciding.peek().is_some_and(|(from, _)| *from <= index) });
        }
    }
    rows
}

/// Returns which bytes decide, joined where they touch.
fn deciding(explained: &CommandExplanation) -> Vec<(usize, usize)> {
    let decision = explained.ruling.decision;
    let decides = explained.parts.iter().filter(|part| part.ruling.decision == decision && decision != Decision::Allow);
    let mut parts: Vec<(usize, usize)> = decides.map(|part| (part.part.start, part.part.end)).collect();
    parts.sort_unstable();
    let mut joined: Vec<(usize, usize)> = Vec::new();
    for (from, to) in parts {
        match joined.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}
