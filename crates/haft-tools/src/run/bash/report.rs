//! Describes a command that was run: for the model, and as data.
//!
//! First comes the output, then short lines in brackets: how the command ended, what it changed, and everything a reader
//! would not expect. The report mentions everything that haft refused, left out or kept aside.

use haft_contract::doors::process::{Conflict, Disposition, HowEnded, SettledCommand};
use haft_contract::files::path::one_line;
use haft_contract::prelude::*;
use haft_contract::signals::signal_words;
use haft_contract::text::grouped::GroupedNumber;
use serde_json::json;

use super::data;
use super::listening::CapturedStreams;
use super::shown::ShownStreams;

/// Most changed files that are named.
const MOST_FILES: usize = 20;
/// Most sentences of one sort.
const MOST_NOTES: usize = 20;
/// Longest sentence, in characters.
const LONGEST_NOTE: usize = 800;
/// What is said of changes that undo does not cover.
const NOT_COVERED: &str = "its changes are not known and cannot be undone";
/// How a process is kept that would end with its call.
const KEEP: &str = "to keep a program running, start it with \"background\": true";
/// Most lines of all differences, where a command is only tried.
const MOST_DIFF_LINES: usize = 200;

/// Reports the outcome of a command.
pub(crate) struct CommandReport<'a> {
    heard: CapturedStreams,
    notes: Vec<String>,
    cx: &'a RunContext<'a>,
}

impl<'a> CommandReport<'a> {
    /// Begins a report with what was heard, and with what is to be said of the call itself.
    pub(crate) fn new(heard: CapturedStreams, notes: Vec<String>, cx: &'a RunContext<'a>) -> Self {
        Self { heard, notes, cx }
    }

    /// Says what came of a command that was run.
    pub(crate) fn of(self, ran: &SettledCommand) -> ToolOutput {
        let cx = self.cx;
        if cx.streams().is_some() {
            return beside_streams(ran, self.notes, cx);
        }
        let CommandNotes { notes, text: said, beside } = said(ran, self.notes, cx);
        let shown = ShownStreams::of(self.heard, said.chars().count(), cx);
        let printed = if shown.is_silent() { "(no output)\n".to_owned() } else { shown.text() };
        let data = data::of(ran, &notes, &shown, cx);
        let changes = (!ran.settled.changes.is_empty()).then(|| ran.settled.summary().counts);
        let output = ToolOutput::text(printed + &said).with_data(data);
        ToolOutput { spilled: shown.spilled, changes, said: Some(beside), ..output }
    }

    /// Says what was printed by a command of which nothing else is known.
    pub(crate) fn of_output_alone(self) -> ToolOutput {
        let said = in_brackets(&self.notes);
        let shown = ShownStreams::of(self.heard, said.chars().count(), self.cx);
        ToolOutput { spilled: shown.spilled.clone(), ..ToolOutput::text(shown.text() + &said) }
    }
}

/// Says what is to be said of a command whose output went to its caller: each thing is a field, because the caller shows
/// it beside that output.
fn beside_streams(ran: &SettledCommand, more: Vec<String>, cx: &RunContext<'_>) -> ToolOutput {
    let mut notes = how_ended(ran);
    notes.extend(ran.uncovered.as_ref().map(|reason| format!("{NOT_COVERED}: {reason}")));
    notes.extend(of_others(ran).into_iter().chain(more));
    notes.extend(few(&ran.settled.notes).into_iter().chain(few(&ran.ended.notes)));
    let notes: Vec<String> = notes.iter().map(|note| shortened(note)).collect();
    let changed = changes(ran, cx).map(|note| shortened(&note));
    let differences = bounded(&differences(ran, cx.limits().result_whole, cx), cx.limits().result_whole);
    let said: Vec<String> = notes.iter().chain(&changed).cloned().collect();
    let counts = (!ran.settled.changes.is_empty()).then(|| ran.settled.summary().counts);
    let data = json!({ "notes": notes, "changed": changed, "differences": differences });
    ToolOutput { changes: counts, ..ToolOutput::text(in_brackets(&said)).with_data(data) }
}

/// Room that is left for what is said behind an output whose end is not known yet, in characters.
pub(crate) const ROOM_FOR_NOTES: usize = 1_000;

/// The notes about a run that follow its output.
pub(crate) struct CommandNotes {
    /// A sentence each.
    pub(crate) notes: Vec<String>,
    /// The sentences as lines in brackets, and how files would differ where nothing was kept.
    pub(crate) text: String,
    /// The same without the exit code.
    pub(crate) beside: String,
}

/// Says how a run ended, what it changed and what else is worth knowing.
pub(crate) fn said(ran: &SettledCommand, more: Vec<String>, cx: &RunContext<'_>) -> CommandNotes {
    let uncovered = ran.uncovered.as_ref();
    let mut notes: Vec<String> = exit_code(ran).into_iter().collect();
    let of_exit_code = notes.len();
    notes.extend(how_ended(ran));
    // What matters most comes first: where there is no room, the last ones are cut.
    notes.extend(uncovered.map(|reason| format!("{NOT_COVERED}: {reason}")));
    notes.extend(changes(ran, cx));
    notes.extend(of_others(ran));
    notes.extend(more);
    notes.extend(few(&ran.settled.notes));
    notes.extend(few(&ran.ended.notes));
    let notes: Vec<String> = notes.iter().map(|note| shortened(note)).collect();
    let room = cx.limits().result_whole / 2;
    let differences = differences(ran, room, cx);
    let text = |notes: &[String]| bounded(&(in_brackets(notes) + &differences), room);
    CommandNotes { text: text(&notes), beside: text(&notes[of_exit_code..]), notes }
}

fn in_brackets(notes: &[String]) -> String {
    notes.iter().map(|note| format!("[{note}]\n")).collect()
}

fn exit_code(ran: &SettledCommand) -> Option<String> {
    match ran.ended.how {
        HowEnded::Exited(0) | HowEnded::Killed(_) | HowEnded::TimedOut | HowEnded::Stopped => None,
        HowEnded::Exited(status) => Some(format!("exit code {status}")),
    }
}

fn how_ended(ran: &SettledCommand) -> Vec<String> {
    let mut notes = Vec::new();
    if let HowEnded::Killed(signal) = ran.ended.how {
        notes.push(format!("ended by {}", signal_words(signal)));
    }
    match ran.ended.left_behind {
        0 => {}
        1 => notes.push(format!("1 background process was ended with the call; {KEEP}")),
        many => notes.push(format!("{many} background processes were ended with the call; {KEEP}")),
    }
    notes
}

/// Says what others committed meanwhile, where that may be why a command failed, and what to do about conflicts.
fn of_others(ran: &SettledCommand) -> Vec<String> {
    let mut notes = Vec::new();
    let failed = !matches!(ran.ended.how, HowEnded::Exited(0));
    if failed && !ran.settled.meanwhile.is_empty() {
        let sets: Vec<String> = ran.settled.meanwhile.iter().take(MOST_FILES).map(ToString::to_string).collect();
        let sets = sets.join(", ");
        notes.push(format!("while it ran, others committed change set {sets}; run it again if it needs those changes"));
    }
    if !ran.settled.conflicts.is_empty() {
        notes.push(format!("{} conflicts; next: {}", ran.settled.conflicts.len(), Conflict::NEXT));
    }
    notes
}

/// Names what was changed, or would be.
fn changes(ran: &SettledCommand, cx: &RunContext<'_>) -> Option<String> {
    let changes = &ran.settled.changes;
    if changes.is_empty() {
        return match (ran.how, ran.ended.how) {
            (Disposition::Commit, _) | (Disposition::Discard, HowEnded::Stopped) => None,
            (Disposition::Discard, _) => Some("it would change no file".to_owned()),
        };
    }
    let summary = ran.settled.summary().sentence(MOST_FILES);
    Some(match (ran.how, cx.change_set()) {
        (Disposition::Discard, _) => format!("nothing was kept; it would have: {summary}"),
        // Files that git makes for itself are not worth a name.
        (Disposition::Commit, Some(number)) if summary.is_empty() => format!("change set {number}"),
        (Disposition::Commit, Some(number)) => format!("change set {number}: {summary}"),
        (Disposition::Commit, None) => summary,
    })
}

/// Shows how files would differ, where nothing was kept.
fn differences(ran: &SettledCommand, room: usize, cx: &RunContext<'_>) -> String {
    let mut shown = String::new();
    let mut lines = MOST_DIFF_LINES;
    let differing = ran.settled.changes.iter().filter_map(|change| Some((change, change.diff.as_ref()?)));
    for (change, diff) in differing.filter(|_| ran.how == Disposition::Discard) {
        if lines == 0 || shown.len() > room {
            shown.push_str("[more differences are not shown]\n");
            break;
        }
        let rendered = diff.render(lines);
        let rendered = cx.hide(&rendered);
        lines = lines.saturating_sub(rendered.lines().count());
        shown.push_str(&format!("{}  +{} −{} lines\n{rendered}", change.target, diff.added, diff.removed));
    }
    shown
}

/// The first sentences, and how many more there are.
fn few(notes: &[String]) -> Vec<String> {
    let mut few: Vec<String> = notes.iter().take(MOST_NOTES).cloned().collect();
    if notes.len() > MOST_NOTES {
        few.push(format!("{} more of this kind", GroupedNumber((notes.len() - MOST_NOTES) as u64)));
    }
    few
}

fn shortened(note: &str) -> String {
    let note = one_line(note);
    match note.char_indices().nth(LONGEST_NOTE) {
        None => note.into_owned(),
        Some((end, _)) => format!("{} […", &note[..end]),
    }
}

/// Cuts what is said to its room, between lines.
fn bounded(said: &str, room: usize) -> String {
    match said.char_indices().nth(room) {
        None => said.to_owned(),
        Some((end, _)) => {
            let end = said[..end].rfind('\n').map_or(end, |end| end + 1);
            format!("{}[more is not shown]\n", &said[..end])
        }
    }
}
