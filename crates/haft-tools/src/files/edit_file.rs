//! Changes files: replaces parts of them, creates, removes and renames them; makes all changes or none.

mod other_shapes;
mod patch;
mod planned_change;
mod text;
mod wanted;

use haft_contract::description::shape::ArgumentShape;
use haft_contract::prelude::*;
use serde_json::json;

use super::change::ChangeRefusal;
use crate::catalogue::shapes::FILE_NAMES;
use planned_change::PlannedChange;
use wanted::{FileEditRequest, wanted};

/// Replaces parts of files.
pub struct EditFile;

/// The arguments of `edit_file`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file.
    path: Option<RawPath>,
    /// Its edits.
    #[schemars(length(min = 1, max = 200))]
    edits: Option<Vec<OneEdit>>,
    /// Instead of "path" and "edits".
    #[schemars(length(min = 1, max = 50))]
    files: Option<Vec<OneFile>>,
}

/// One of several files.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct OneFile {
    /// The file.
    path: RawPath,
    /// Its edits.
    #[schemars(length(min = 1, max = 200))]
    edits: Option<Vec<OneEdit>>,
    /// Creates it.
    content: Option<String>,
    /// Renames it.
    move_to: Option<RawPath>,
    /// Removes it.
    remove: Option<bool>,
}

/// One edit.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct OneEdit {
    /// The text to replace.
    old_text: String,
    /// The new text.
    new_text: String,
    /// Which places, or how many. Default "{edit_count}".
    count: Option<HowMany>,
}

/// How many places an edit means.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum HowMany {
    Word(Word),
    Exactly(#[schemars(range(min = 1))] usize),
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Word {
    Unique,
    All,
    First,
}

/// What planning found.
pub enum Draft {
    /// These changes are to be made.
    Change(Vec<PlannedChange>),
    /// It cannot be done; said when the call may see the file.
    Refused(ChangeRefusal),
}

impl Tool for EditFile {
    const NAME: &'static str = "edit_file";
    const DOES: AtMost = AtMost::Changes;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("path", FILE_NAMES),
        ("edits", &["edit", "changes", "replacements"]),
        (
            "old_text",
            &["old_string", "old_str", "old_content", "old_code", "old", "search", "search_text", "find", "original"],
        ),
        (
            "new_text",
            &[
                "new_string",
                "new_str",
                "new_content",
                "new_code",
                "new",
                "replace",
                "replace_text",
                "replace_with",
                "replacement",
            ],
        ),
        ("count", &["expected_replacements"]),
    ];
    const SHAPES: &'static [ArgumentShape] = other_shapes::SHAPES;
    const OTHER_NAMES: &'static [&'static str] = &[
        "edit",
        "multi_edit",
        "str_replace",
        "replace",
        "replace_in_file",
        "search_replace",
        "search_and_replace",
        "apply_patch",
        "apply_diff",
        "update_file",
        "str_replace_editor command=str_replace",
        "str_replace_editor command=insert",
        "str_replace_based_edit_tool command=str_replace",
        "str_replace_based_edit_tool command=insert",
    ];
    const PATHS: &'static [&'static str] = &["path", "files[].path", "files[].move_to"];
    type Args = Args;
    type Draft = Draft;

    fn manual(&self) -> Manual {
        Manual::read(include_str!("edit_file.md"))
    }

    async fn plan(&self, args: &Args, cx: &PlanContext<'_>) -> Result<(Plan, Draft), ToolError> {
        let wanted = wanted(args, cx)?;
        let plan = |effects: fn(&FileEditRequest<'_>) -> Vec<Effect>| Plan::new(wanted.iter().flat_map(effects));
        if let Some(outside) = wanted.iter().flat_map(FileEditRequest::targets).find(|target| !target.is_inside()) {
            let nobody_may = ToolError::of(ErrorKind::Denied, format!("{outside} is outside the workspace."));
            return Ok((plan(|file| file.effects()), Draft::Refused(nobody_may.into())));
        }
        let (mut changes, mut refused) = (Vec::new(), Vec::new());
        for file in &wanted {
            match file.planned(cx) {
                Ok(change) => changes.push(change),
                Err(why) => refused.push(why),
            }
        }
        if let Some(refused) = EditPlanFailure::together(refused) {
            return match refused {
                EditPlanFailure::Blind(error) => Err(error),
                EditPlanFailure::Looked(refused) => {
                    Ok((plan(|file| file.effects_of_looking()), Draft::Refused(refused)))
                }
            };
        }
        let preview = Preview::Diff(changes.iter().map(PlannedChange::preview).collect());
        Ok((plan(|file| file.effects()).preview(preview), Draft::Change(changes)))
    }

    async fn run(&self, args: Args, draft: Draft, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let changes = match draft {
            Draft::Change(changes) => changes,
            Draft::Refused(refused) => return Err(refused.end(cx).await),
        };
        let ops: Vec<_> = changes.iter().map(|change| change.op.clone()).collect();
        let written = cx.change_all(&ops).await?;
        let (mut text, mut data) = (String::new(), Vec::new());
        for (change, written) in changes.iter().zip(written) {
            text.push_str(&change.told(written));
            data.push(change.data());
        }
        let data = if args.files.is_some() { json!({ "files": data }) } else { data.pop().unwrap_or_default() };
        Ok(ToolOutput::text(text).with_data(data))
    }
}

/// The reason why the change of a file is not known.
enum EditPlanFailure {
    /// The reason says nothing of what is in the file; an earlier call of the turn may change it.
    Blind(ToolError),
    /// The reason shows what is in the file, so the plan is to read it.
    Looked(ChangeRefusal),
}

impl EditPlanFailure {
    /// Makes one reason of those of several files; none where there is none.
    fn together(mut all: Vec<Self>) -> Option<Self> {
        if all.len() <= 1 {
            return all.pop();
        }
        let is_blind = all.iter().all(|why| matches!(why, Self::Blind(_)));
        let mut refused: Vec<ChangeRefusal> = all.into_iter().map(Self::into_refused).collect();
        let shown = refused.iter_mut().flat_map(|refused| std::mem::take(&mut refused.shown)).collect();
        let lines: Vec<String> = refused
            .iter()
            .map(|ChangeRefusal { error, .. }| format!("- {} Next: {}", error.what, error.next))
            .collect();
        let what = format!("{} files cannot be changed:\n{}", lines.len(), lines.join("\n"));
        let next = Next::FixArguments("correct all of them, then send the whole call again".into());
        let error = ToolError::new(refused[0].error.kind, what, next);
        Some(if is_blind { Self::Blind(error) } else { Self::Looked(ChangeRefusal { error, shown }) })
    }

    fn into_refused(self) -> ChangeRefusal {
        match self {
            Self::Blind(error) => error.into(),
            Self::Looked(refused) => refused,
        }
    }
}
