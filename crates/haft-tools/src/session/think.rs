//! Records thoughts: a numbered list of a model's reasoning and observations in the session.
//!
//! It changes only the session, and `haft resume` restores it.

use haft_contract::description::shape::{ArgumentShape, Meaning};
use haft_contract::doors::session_state::THOUGHTS;
use haft_contract::prelude::*;
use serde::Serialize;
use serde_json::json;

/// Most notes of a session.
const MOST_NOTES: usize = 200;
/// Longest text of a note, in characters.
const LONGEST_TEXT: usize = 8_000;

/// What models call the actions.
const ACTIONS: &[(&str, &str)] = &[
    ("\"thought\"", "\"think\""),
    ("\"observation\"", "\"observe\""),
    ("\"list\"", "\"get\""),
    ("\"read\"", "\"get\""),
    ("\"reset\"", "\"clear\""),
];

/// Keeps thoughts and observations.
pub struct Think;

/// The arguments of `think`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Default "think". "get" lists the notes, "clear" removes them.
    action: Option<ThinkAction>,
    /// The thought or the observation, at most 8000 characters.
    text: Option<String>,
    /// What you will do next, with "think".
    next_action: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum ThinkAction {
    #[default]
    Think,
    Observe,
    Get,
    Clear,
}

/// What is kept of a call.
#[derive(Deserialize, Serialize)]
struct Note {
    #[serde(rename = "type")]
    sort: ThoughtKind,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_action: Option<String>,
}

#[derive(Clone, Copy, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum ThoughtKind {
    Thought,
    Observation,
}

impl Tool for Think {
    const NAME: &'static str = "think";
    const DEFERRED: bool = true;
    const DOES: AtMost = AtMost::Looks;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("text", &["thought", "thoughts", "observation", "result", "content", "reasoning"]),
        ("next_action", &["next", "next_step"]),
    ];
    const SHAPES: &'static [ArgumentShape] = &[ArgumentShape::new("action", Meaning::Words("action", ACTIONS))];
    const OTHER_NAMES: &'static [&'static str] = &["react", "scratchpad"];
    type Args = Args;
    type Draft = ();

    fn manual(&self) -> Manual {
        Manual::read(include_str!("think.md"))
    }

    async fn plan(&self, args: &Args, _cx: &PlanContext<'_>) -> Result<(Plan, ()), ToolError> {
        let action = args.action.unwrap_or_default();
        if let ThinkAction::Think | ThinkAction::Observe = action {
            check(args)?;
        }
        Ok((Plan::new([Effect::Session(StateKey("scratchpad".to_owned()))]), ()))
    }

    async fn run(&self, args: Args, (): (), cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let kept = cx.storage().get(THOUGHTS);
        // A function of the user may have put something else there: these are no notes.
        let mut notes: Vec<Note> = kept.and_then(|notes| Vec::deserialize(&*notes).ok()).unwrap_or_default();
        let sort = match args.action.unwrap_or_default() {
            ThinkAction::Think => ThoughtKind::Thought,
            ThinkAction::Observe => ThoughtKind::Observation,
            ThinkAction::Get => return Ok(ToolOutput::text(listed(&notes)).with_data(json!({ "notes": notes }))),
            ThinkAction::Clear => {
                cx.storage().delete(THOUGHTS);
                return Ok(ToolOutput::text("The scratchpad is empty."));
            }
        };
        if notes.len() >= MOST_NOTES {
            let what = "The scratchpad has 200 notes, and that is all it keeps. This one was not added.";
            let next = Next::FixArguments("call it with \"action\": \"clear\", then send this call again".into());
            return Err(ToolError::new(ErrorKind::TooLarge, what, next));
        }
        let next_action = args.next_action.filter(|next| !next.trim().is_empty());
        notes.push(Note { sort, text: args.text.unwrap_or_default(), next_action });
        let number = notes.len();
        cx.storage().set(THOUGHTS, json!(notes))?;
        Ok(ToolOutput::text(format!("Noted as {number}.")).with_data(json!({ "number": number })))
    }
}

fn check(args: &Args) -> Result<(), ToolError> {
    let bad =
        |what: &str, fix: &str| Err(ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(fix.to_owned())));
    let is_long = |text: &Option<String>| text.as_ref().is_some_and(|text| text.chars().count() > LONGEST_TEXT);
    if args.text.as_ref().is_none_or(|text| text.trim().is_empty()) {
        return bad(
            "$.text is missing or empty, and it is what would be noted.",
            "write the thought or the observation as \"text\"",
        );
    }
    if is_long(&args.text) || is_long(&args.next_action) {
        return bad(
            "A note has at most 8000 characters. This one was not added.",
            "note the conclusion instead of the whole text",
        );
    }
    Ok(())
}

/// Writes the notes as a numbered list.
fn listed(notes: &[Note]) -> String {
    let line = |(number, note): (usize, &Note)| {
        let sort = match note.sort {
            ThoughtKind::Thought => "thought",
            ThoughtKind::Observation => "observation",
        };
        let next = note.next_action.as_ref().map(|next| format!("\n   next: {}", next.trim())).unwrap_or_default();
        format!("{number}. {sort}: {}{next}", note.text.trim())
    };
    match notes {
        [] => "The scratchpad is empty.".to_owned(),
        notes => (1..).zip(notes).map(line).collect::<Vec<_>>().join("\n"),
    }
}
