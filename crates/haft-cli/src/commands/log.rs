//! `haft log`: what was changed in this workspace, the newest first.

use std::time::{SystemTime, UNIX_EPOCH};

use haft::effect::Change;
use haft::path::one_line;
use haft_workspace::history::{ChangeSet, Kind, Undone};
use serde_json::{Value, json};

use super::undo::numbers;
use crate::arguments::{Common, Log};
use crate::exit::Exit;
use crate::rescue::Rescue;
use crate::screen::{self, Part};

/// Most files named in one line.
const MOST_FILES: usize = 4;

/// What is said of a workspace without changes.
const NOTHING: &str = "Nothing was changed here through haft.";

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &Log) -> anyhow::Result<Exit> {
    let desk = Rescue::open(common)?;
    let log = desk.history.log()?;
    let shown = &log.sets[..log.sets.len().min(arguments.most)];
    if common.json {
        let sets: Vec<Value> = shown.iter().map(record).collect();
        let older = log.sets.len() - shown.len();
        let record = json!({ "v": 1, "change_sets": sets, "older": older, "warnings": log.warnings });
        screen::record(&record.to_string())?;
        return Ok(Exit::Ok);
    }
    if log.sets.is_empty() {
        screen::talk(NOTHING);
    }
    for set in shown {
        line(set)?;
    }
    match log.sets.len() - shown.len() {
        0 => {}
        more => screen::talk(&format!("[{more} older ones; show them with -n {}]", log.sets.len())),
    }
    log.warnings.iter().for_each(|warning| screen::talk(warning));
    Ok(Exit::Ok)
}

fn line(set: &ChangeSet) -> anyhow::Result<()> {
    let number = format!("{:>5}  ", set.number);
    let number = if set.undone == Undone::Yes { Part::Faint(&number) } else { Part::Strong(&number) };
    screen::line(&[
        number,
        Part::Faint(&format!("{:<11} ", ago(set.at))),
        Part::Plain(&format!("{:<11} ", what(set))),
        Part::Plain(&files(set)),
        Part::Faint(undone(set)),
    ])?;
    Ok(())
}

/// Writes the newest change sets as text, a line each.
pub(crate) fn as_text(log: &haft_workspace::history::Log, most: usize) -> String {
    let shown = &log.sets[..log.sets.len().min(most)];
    let row = |set: &ChangeSet| {
        format!("{:>5}  {:<11} {:<11} {}{}\n", set.number, ago(set.at), what(set), files(set), undone(set))
    };
    let mut text: String = shown.iter().map(row).collect();
    if shown.is_empty() {
        text.push_str(NOTHING);
        text.push('\n');
    }
    if log.sets.len() > shown.len() {
        text.push_str(&format!("[{} older ones; \"haft log\" lists them]\n", log.sets.len() - shown.len()));
    }
    text.extend(log.warnings.iter().map(|warning| format!("{warning}\n")));
    text
}

fn undone(set: &ChangeSet) -> &'static str {
    match set.undone {
        Undone::No => "",
        Undone::Partly => "  (partly taken back)",
        Undone::Yes => "  (taken back)",
    }
}

fn what(set: &ChangeSet) -> String {
    match &set.kind {
        Kind::Change => set.tool.clone(),
        Kind::Undo(sets) => format!("undo of {}", numbers(sets)),
        Kind::Redo(sets) => format!("redo of {}", numbers(sets)),
    }
}

fn files(set: &ChangeSet) -> String {
    let sign = |change| match change {
        Change::Create => "+",
        Change::Replace => "~",
        Change::Remove => "−",
    };
    let one = |file: &haft_workspace::history::ChangedFile| format!("{}{}", sign(file.change), one_line(&file.path));
    let named: Vec<String> = set.files.iter().take(MOST_FILES).map(one).collect();
    match set.files.len().saturating_sub(MOST_FILES) {
        0 => named.join(" "),
        more => format!("{} and {more} more", named.join(" ")),
    }
}

/// Says how long ago a moment is, given in milliseconds since 1970.
pub(super) fn ago(at: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    match now.saturating_sub(at / 1_000) {
        0..60 => "just now".to_owned(),
        seconds @ 60..3_600 => format!("{} min ago", seconds / 60),
        seconds @ 3_600..86_400 => format!("{} h ago", seconds / 3_600),
        seconds => format!("{} d ago", seconds / 86_400),
    }
}

fn record(set: &ChangeSet) -> Value {
    let change = |change| match change {
        Change::Create => "create",
        Change::Replace => "replace",
        Change::Remove => "remove",
    };
    let files: Vec<Value> =
        set.files.iter().map(|file| json!({ "path": file.path, "change": change(file.change) })).collect();
    let mut record = json!({
        "change_set": set.number,
        "at_ms": set.at,
        "tool": set.tool,
        "call": set.call,
        "session": set.session,
        "files": files,
        "taken_back": match set.undone {
            Undone::No => "no",
            Undone::Partly => "partly",
            Undone::Yes => "yes",
        },
    });
    match &set.kind {
        Kind::Change => {}
        Kind::Undo(sets) => record["undo_of"] = sets.clone().into(),
        Kind::Redo(sets) => record["redo_of"] = sets.clone().into(),
    }
    record
}
