//! Keeps the to-do list of a session.
//!
//! A call replaces the whole list. So the model states what it believes each time, and changes nothing by position. The
//! session keeps the list, and `haft resume` restores it.

use std::fmt::Write;

use haft_contract::description::shape::{ArgumentLookup, ArgumentShape, Meaning, MeantArguments};
use haft_contract::doors::session_state::TASKS;
use haft_contract::files::path::one_line;
use haft_contract::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use crate::catalogue::shapes::{EXPLANATION, texts};

/// Most items of a list.
const MOST_ITEMS: usize = 100;
/// Longest text of an item, in characters.
const LONGEST_TEXT: usize = 500;

/// Keeps the list of what is to be done.
pub struct Todo;

/// The arguments of `todo`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The whole new list, at most 100 items; [] clears it. Without it, the call shows the list.
    items: Option<Vec<TodoItem>>,
}

/// One thing to do.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct TodoItem {
    /// What is to be done, at most 500 characters.
    content: String,
    /// Default "pending". At most one item is "in_progress".
    #[serde(default)]
    status: TodoStatus,
    /// The same while it is done, such as "Running the tests".
    #[serde(skip_serializing_if = "Option::is_none")]
    active_form: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum TodoStatus {
    #[default]
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

impl TodoStatus {
    fn mark(self) -> &'static str {
        match self {
            TodoStatus::Pending => "[ ]",
            TodoStatus::InProgress => "[>]",
            TodoStatus::Completed => "[x]",
            TodoStatus::Cancelled => "[-]",
        }
    }
}

impl Tool for Todo {
    const NAME: &'static str = "todo";
    const DEFERRED: bool = true;
    const DOES: AtMost = AtMost::Looks;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("items", &["todos", "tasks", "plan", "todo_list", "list"]),
        ("content", &["description", "text", "task", "step", "title"]),
        ("status", &["state"]),
    ];
    const SHAPES: &'static [ArgumentShape] = &[ArgumentShape::new("items", Meaning::Code(of_texts)), EXPLANATION];
    const OTHER_NAMES: &'static [&'static str] =
        &["todo_write", "write_todos", "todo_read", "read_todos", "update_plan", "update_todos", "task_list"];
    type Args = Args;
    type Draft = ();

    fn manual(&self) -> Manual {
        Manual::read(include_str!("todo.md"))
    }

    async fn plan(&self, args: &Args, _cx: &PlanContext<'_>) -> Result<(Plan, ()), ToolError> {
        if let Some(items) = &args.items {
            check(items)?;
        }
        Ok((Plan::new([Effect::Session(StateKey("list of tasks".to_owned()))]), ()))
    }

    async fn run(&self, args: Args, (): (), cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let items = match args.items {
            Some(items) => {
                cx.storage().set(TASKS, json!(items))?;
                items
            }
            None => kept(cx),
        };
        let text = shown(&items);
        Ok(ToolOutput::text(text).with_data(json!({ "items": items })))
    }
}

/// Returns the list of the session.
fn kept(cx: &RunContext<'_>) -> Vec<TodoItem> {
    let kept = cx.storage().get(TASKS);
    // A function of the user may have put something else there: that is no list.
    kept.and_then(|items| Vec::deserialize(&*items).ok()).unwrap_or_default()
}

/// Reads a list of texts as items that are still to be done.
fn of_texts(value: &Value, _: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    let items = texts(value)?.into_iter().map(|text| json!({ "content": text })).collect();
    Some(vec![("items", items)])
}

fn check(items: &[TodoItem]) -> Result<(), ToolError> {
    let bad = |what: String, fix: &str| {
        let what = format!("{what} The list is unchanged.");
        Err(ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(fix.to_owned())))
    };
    if items.len() > MOST_ITEMS {
        return bad(
            format!("The list has {} items, and at most 100 are kept.", items.len()),
            "join items that belong together",
        );
    }
    if let Some(at) = items.iter().position(|item| item.content.trim().is_empty()) {
        return bad(format!("$.items[{at}].content is empty."), "say what is to be done, or leave the item out");
    }
    let is_long = |text: &str| text.chars().count() > LONGEST_TEXT;
    let too_long = |item: &TodoItem| is_long(&item.content) || item.active_form.as_deref().is_some_and(is_long);
    if let Some(at) = items.iter().position(too_long) {
        return bad(format!("$.items[{at}] has a text of more than 500 characters."), "say it in one sentence");
    }
    let active: Vec<String> = (0..)
        .zip(items)
        .filter(|(_, item)| item.status == TodoStatus::InProgress)
        .map(|(at, _)| format!("$.items[{at}]"))
        .collect();
    if active.len() > 1 {
        let what = format!("{} are \"in_progress\", and at most one item can be.", active.join(" and "));
        return bad(what, "set the others to \"pending\" or \"completed\"");
    }
    Ok(())
}

/// Writes the list, a line for each item, and how far it is.
fn shown(items: &[TodoItem]) -> String {
    if items.is_empty() {
        return "The list is empty.".to_owned();
    }
    let mut text = String::new();
    for TodoItem { content, status, active_form } in items {
        let _infallible = write!(text, "{} {}", status.mark(), one_line(content.trim()));
        if let (TodoStatus::InProgress, Some(active)) = (status, active_form) {
            let _infallible = write!(text, " ({})", one_line(active.trim()));
        }
        text.push('\n');
    }
    let counted = items.iter().filter(|item| item.status != TodoStatus::Cancelled).count();
    let done = items.iter().filter(|item| item.status == TodoStatus::Completed).count();
    text + &format!("{done} of {counted} done")
}
