//! Undoes changes that calls of the same session made.
//!
//! Not here: how a change is undone and what can prevent it (`haft-workspace`), `haft undo` of a person.

mod of_git;

use std::fmt::Write;

use haft_contract::description::shape::{ArgumentLookup, ArgumentShape, Meaning, MeantArguments, whole};
use haft_contract::doors::door::ChangeSetId;
use haft_contract::doors::history::{Direction, PastChange, Reversal, ReversalReport, Undone, other_files};
use haft_contract::files::change_summary::ChangeSummary;
use haft_contract::files::path::one_line;
use haft_contract::plan::FileDiff;
use haft_contract::prelude::*;
use serde_json::{Value, json};

use crate::catalogue::shapes::FILE_NAMES;

/// Most change sets of a list.
const MOST_SETS: usize = 50;
/// Most entries that are named of one change set in a list.
const MOST_NAMED: usize = 8;
/// Most paths that are named of what was taken back.
const MOST_FILES: usize = 30;
/// Most lines of the difference of one file.
const MOST_LINES: usize = 120;

/// What models call the actions.
const ACTIONS: &[(&str, &str)] = &[
    ("\"undo\"", "\"take_back\""),
    ("\"revert\"", "\"take_back\""),
    ("\"rollback\"", "\"take_back\""),
    ("\"diff\"", "\"preview\""),
    ("\"show\"", "\"preview\""),
    ("\"log\"", "\"list\""),
    ("\"history\"", "\"list\""),
];

/// Takes back what calls of the same session have changed.
pub struct Undo;

/// The arguments of `undo`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Default "list"; with others "preview".
    action: Option<UndoAction>,
    /// Default: your newest.
    change_set: Option<u64>,
    /// Only this file or folder.
    file: Option<RawPath>,
    /// Only this hunk of the file.
    #[schemars(range(min = 1))]
    hunk: Option<usize>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum UndoAction {
    List,
    Preview,
    TakeBack,
    Redo,
}

/// What planning found.
pub enum Draft {
    /// The change sets of the session.
    List(Vec<PastChange>),
    /// What taking back would do.
    Preview(Reversal, ReversalReport),
    /// This is to be taken back.
    TakeBack(Reversal),
}

impl Tool for Undo {
    const NAME: &'static str = "undo";
    const DOES: AtMost = AtMost::Changes;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] =
        &[("file", &["path"]), ("file", FILE_NAMES), ("change_set", &["number", "id"])];
    const SHAPES: &'static [ArgumentShape] = &[
        ArgumentShape::new("action", Meaning::Words("action", ACTIONS)),
        ArgumentShape::new("hunk", Meaning::Code(no_hunk)),
        ArgumentShape::new("limit", Meaning::Without("the newest 50 change sets are listed")),
    ];
    const PATHS: &'static [&'static str] = &["file"];
    type Args = Args;
    type Draft = Draft;

    fn manual(&self) -> Manual {
        Manual::read(include_str!("undo.md"))
    }

    async fn plan(&self, args: &Args, cx: &PlanContext<'_>) -> Result<(Plan, Draft), ToolError> {
        // Calls before this one in the same turn finish first, and then it is planned again.
        let change_sets = Effect::Session(StateKey::change_sets());
        let names_something = args.change_set.is_some() || args.file.is_some();
        let action = args.action.unwrap_or(if names_something { UndoAction::Preview } else { UndoAction::List });
        if action == UndoAction::List {
            return Ok((Plan::new([change_sets]), Draft::List(cx.past_changes()?)));
        }
        let file = args.file.as_ref().map(|path| cx.locate(path)).transpose()?;
        let direction = if action == UndoAction::Redo { Direction::Redo } else { Direction::Undo };
        let request = Reversal { direction, change_set: args.change_set.map(ChangeSetId), file, hunk: args.hunk };
        let reversed = cx.preview_reversal(&request)?;
        if action == UndoAction::Preview {
            // It shows what was in these files.
            let read = reversed.files.iter().filter(|file| !file.is_data).map(|file| Effect::Read(file.target.clone()));
            return Ok((Plan::new(read.chain([change_sets])), Draft::Preview(request, reversed)));
        }
        let changed = reversed.files.iter().filter(|file| !file.is_data);
        let effects = changed.filter_map(|file| Some(Effect::Change(file.target.clone(), file.change?)));
        let effects = effects.chain([change_sets]);
        let words = match direction {
            Direction::Undo => format!("Undo {}:\n{}", subject(&request, &reversed), names(&reversed)),
            Direction::Redo => format!("Redo {}:\n{}", redone(&reversed), names(&reversed)),
        };
        Ok((Plan::new(effects).preview(Preview::Text(words)), Draft::TakeBack(request)))
    }

    async fn run(&self, _args: Args, draft: Draft, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        Ok(match draft {
            Draft::List(past) => listed(&past),
            Draft::Preview(request, reversed) => {
                ToolOutput::text(preview(&request, &reversed)).with_data(data(&reversed))
            }
            Draft::TakeBack(request) => {
                let reversed = cx.take_back(&request).await?;
                ToolOutput::text(done(&request, &reversed)).with_data(data(&reversed))
            }
        })
    }
}

/// Leaves hunk 0 out of a call that changes nothing, or whose file is empty too; else it may stand for the first or for
/// none.
fn no_hunk(value: &Value, given: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    let action = given.get("action").map_or(Some("list"), Value::as_str)?;
    let has_no_file = given.get("file").and_then(Value::as_str) == Some("");
    (whole(value) == Some(0) && (has_no_file || ["list", "preview"].contains(&action))).then(Vec::new)
}

/// Names what a request takes back.
fn subject(request: &Reversal, reversed: &ReversalReport) -> String {
    let number = reversed.change_set;
    match (&request.file, request.hunk) {
        (Some(file), Some(hunk)) => format!("hunk {hunk} of {file} in change set {number}"),
        (None, Some(hunk)) => format!("hunk {hunk} of change set {number}"),
        (Some(file), None) if reversed.stay_changed > 0 => format!("{file} of change set {number}"),
        (_, None) => format!("change set {number}"),
    }
}

/// Names the change sets that an undone undo brings back.
fn redone(reversed: &ReversalReport) -> String {
    let numbers: Vec<String> = reversed.redoes.iter().map(ToString::to_string).collect();
    format!("change set {}", numbers.join(", "))
}

/// Says what an undo would do, and what it would take back.
fn preview(request: &Reversal, reversed: &ReversalReport) -> String {
    let mut text = format!("Undo of {} would:\n{}", subject(request, reversed), names(reversed));
    if let Some((others, _)) = other_files(reversed.stay_changed) {
        let _infallible = writeln!(text, "It would leave {others} changed.");
    }
    if !reversed.did.is_empty() {
        let _infallible = writeln!(text, "What change set {} did:", reversed.change_set);
    }
    let (of_git, others): (Vec<&FileDiff>, Vec<&FileDiff>) =
        reversed.did.iter().partition(|file| of_git::is_of_git(&file.path));
    others.iter().for_each(|file| push_hunks(&mut text, file));
    of_git::branches(&of_git).iter().for_each(|line| text.push_str(&format!("{line}\n")));
    text + "Nothing is undone yet: \"action\": \"take_back\" undoes it.\n"
}

/// Says what a call did.
fn done(request: &Reversal, reversed: &ReversalReport) -> String {
    let names = names(reversed);
    match request.direction {
        Direction::Undo => {
            let others = other_files(reversed.stay_changed);
            let others = others.map(|(others, stay)| format!("; {others} {stay} changed")).unwrap_or_default();
            format!("Undid {}{others}:\n{names}", subject(request, reversed))
        }
        Direction::Redo => {
            let undo = reversed.change_set;
            format!("Redid {}; its changes are back (the undo was change set {undo}):\n{names}", redone(reversed))
        }
    }
}

/// Lists change sets, the newest first.
fn listed(past: &[PastChange]) -> ToolOutput {
    let line = |change: &PastChange| {
        let undone = match change.undone {
            Undone::No => "",
            Undone::Partly => " (partly undone)",
            Undone::Yes => " (undone)",
        };
        let command = change.command.as_ref().map(|command| format!("; command: {}", one_line(command)));
        let named = ChangeSummary::of(&change.files).sentence(MOST_NAMED);
        format!("{}  {}{undone}: {named}{}", change.change_set, one_line(&change.tool), command.unwrap_or_default())
    };
    let mut lines: Vec<String> = past.iter().take(MOST_SETS).map(line).collect();
    match past.len() {
        0 => lines.push("This session has made no change sets.".to_owned()),
        more if more > MOST_SETS => lines.push(format!("{} earlier ones are not shown.", more - MOST_SETS)),
        _ => {}
    }
    let set = |change: &PastChange| {
        let files: Vec<&String> = change.files.iter().map(|file| &file.path).collect();
        let mut set = json!({
            "change_set": change.change_set.0,
            "tool": change.tool,
            "command": change.command,
            "files": files,
            "undone": change.undone == Undone::Yes,
        });
        if change.undone == Undone::Partly {
            set["partly_undone"] = true.into();
        }
        set
    };
    ToolOutput::text(lines.join("\n")).with_data(json!({ "change_sets": past.iter().map(set).collect::<Vec<_>>() }))
}

/// Names what becomes of the paths, and what else is worth knowing.
fn names(reversed: &ReversalReport) -> String {
    let mut text = String::new();
    let lines = of_git::lines(&reversed.files);
    for line in lines.iter().take(MOST_FILES) {
        let _infallible = writeln!(text, "  {}", one_line(line));
    }
    if let more @ 1.. = lines.len().saturating_sub(MOST_FILES) {
        let _infallible = writeln!(text, "  and {more} more");
    }
    for note in &reversed.notes {
        let _infallible = writeln!(text, "{note}");
    }
    text
}

/// Shows what a change set did to a file, with the numbers of its hunks.
fn push_hunks(text: &mut String, file: &FileDiff) {
    let _infallible = writeln!(text, "{}:", one_line(&file.path));
    let rendered = file.diff.render(MOST_LINES);
    let mut number = 0;
    for line in rendered.lines() {
        if line.starts_with("@@ ") {
            number += 1;
            let _infallible = writeln!(text, "hunk {number} {line}");
        } else {
            let _infallible = writeln!(text, "{line}");
        }
    }
}

fn data(reversed: &ReversalReport) -> Value {
    let files: Vec<&str> = reversed.files.iter().map(|file| file.words.as_str()).collect();
    json!({ "change_set": reversed.change_set.0, "files": files, "notes": reversed.notes })
}

#[cfg(test)]
mod tests {
    use haft_contract::files::change_summary::ChangedPath;

    use super::*;

    #[test]
    fn a_row_names_the_tool_what_changed_and_the_command_once_each() {
        let file = ChangedPath {
            path: "a.txt".into(),
            change: Change::Create,
            is_folder: false,
            is_replaced: false,
            inside: None,
            from: None,
        };
        let row = |tool: &str, command: Option<&str>, undone| {
            let (tool, command, files) = (tool.to_owned(), command.map(str::to_owned), vec![file.clone()]);
            let output = listed(&[PastChange { change_set: ChangeSetId(7), tool, command, files, undone }]);
            output.for_model[0].text().unwrap_or_default().to_owned()
        };
        assert_eq!(row("write_file", None, Undone::No), "7  write_file: created a.txt");
        assert_eq!(row("bash", Some("touch a.txt"), Undone::No), "7  bash: created a.txt; command: touch a.txt");
        assert_eq!(row("bash", Some("x: y"), Undone::Partly), "7  bash (partly undone): created a.txt; command: x: y");
    }
}
