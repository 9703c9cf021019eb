//! Writes a whole file: a new one, or a replacement for one that the caller knows.

mod line_ends;

use bytes::Bytes;
use haft_contract::call::CallOrigin;
use haft_contract::description::shape::{ArgumentLookup, ArgumentShape, Meaning, MeantArguments};
use haft_contract::doors::door::FileCopy;
use haft_contract::limits::WriteMode;
use haft_contract::outcome::error::{CallFix, FailedOperation};
use haft_contract::plan::FileDiff;
use haft_contract::prelude::*;
use haft_contract::text::diff::Diff;
use haft_contract::text::encoding::{NoText, TextForm, Whole, decode};
use haft_contract::text::grouped::GroupedNumber;
use serde_json::{Value, json};

use super::change::{
    CONTEXT, ChangeRefusal, FileKnowledge, IN_ITS_PLACE, LARGEST, MOST_LINES, Replaces, StaleFile, effects, known,
    locate, not_read, stale, told, unencodable,
};
use crate::catalogue::shapes::{DESCRIPTION, ENCODING, EXPLANATION, FILE_NAMES, only_path};
use crate::run::hidden_values::{HiddenValues, unclear};
use line_ends::with_line_ends_of;

/// How text is added to a file.
const APPEND: &str = "a file is written whole here; to add to its end, call edit_file with its last line as \"old_text\", and \
                      that line and the new ones as \"new_text\"";

/// What takes a patch that does more than to add one file.
const ONE_FILE: &str = "call edit_file with this patch; write_file takes {\"path\": …, \"content\": …}";

/// Writes a whole file.
pub struct WriteFile;

/// The arguments of `write_file`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file.
    path: RawPath,
    /// The content.
    content: String,
    /// Default "{write_mode}".
    write_mode: Option<WriteModeArgument>,
}

/// What to do when the file exists.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
enum WriteModeArgument {
    Create,
    Overwrite,
    OverwriteIfRead,
}

/// What planning found.
pub enum Draft {
    /// This is to be written.
    Write(Target, NewContent),
    /// There is nothing to do: the file has these bytes already.
    Same(Target, usize),
    /// It cannot be done; said when the call may see the file.
    Refused(ChangeRefusal),
}

impl Tool for WriteFile {
    const NAME: &'static str = "write_file";
    const DOES: AtMost = AtMost::Puts;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("path", FILE_NAMES),
        ("content", &["contents", "text", "file_text", "file_content"]),
        ("write_mode", &["mode"]),
    ];
    const SHAPES: &'static [ArgumentShape] = &[
        ArgumentShape::new("path", Meaning::Code(only_path)),
        ArgumentShape::new("input", Meaning::Code(added_file)),
        ArgumentShape::new("patch", Meaning::Code(added_file)),
        ArgumentShape::new("input", Meaning::Instead(ONE_FILE)),
        ArgumentShape::new("patch", Meaning::Instead(ONE_FILE)),
        ArgumentShape::new(
            "overwrite",
            Meaning::Words("write_mode", &[("true", "\"overwrite\""), ("false", "\"create\"")]),
        ),
        ArgumentShape::new("create_dirs", Meaning::Anyway(&["true"])),
        ArgumentShape::new("create_directories", Meaning::Anyway(&["true"])),
        ArgumentShape::new("append", Meaning::Anyway(&["false"])),
        ArgumentShape::new("append", Meaning::Instead(APPEND)),
        ENCODING,
        DESCRIPTION,
        EXPLANATION,
    ];
    const OTHER_NAMES: &'static [&'static str] = &[
        "write",
        "create_file",
        "write_to_file",
        "save_file",
        "str_replace_editor command=create",
        "str_replace_based_edit_tool command=create",
    ];
    const PATHS: &'static [&'static str] = &["path"];
    type Args = Args;
    type Draft = Draft;

    fn manual(&self) -> Manual {
        Manual::read(include_str!("write_file.md"))
    }

    async fn plan(&self, args: &Args, cx: &PlanContext<'_>) -> Result<(Plan, Draft), ToolError> {
        let target = locate(cx, &args.path)?;
        let content = args.content.as_bytes();
        if target.is_inside() && args.path.as_str().ends_with('/') {
            return Err(folder(&target));
        }
        if !target.is_inside() || cx.look().stamp(&target).is_none() {
            let diff = Diff::between("", &args.content, CONTEXT);
            let new = NewContent { bytes: Bytes::copy_from_slice(content), diff, notes: Vec::new() };
            return Ok(write(&target, vec![Effect::Change(target.clone(), Change::Create)], new));
        }
        if cx.look().facts(&target)?.kind == FileKind::Folder {
            return Err(folder(&target));
        }
        let mode = mode(args, cx);
        if mode == WriteMode::Create {
            return Err(exists(&target));
        }
        let (planned, now) = match cx.read(&target, LARGEST) {
            Ok(now) => (over(args, &now, &target, cx), Some(now.bytes)),
            // Too large to compare: known or not, it is replaced without a look into it.
            Err(error) if error.kind == ErrorKind::TooLarge => (unseen(args, &target, (mode, cx)), None),
            Err(error) => return Err(error),
        };
        Ok(match planned {
            // What was not seen is never the same.
            Ok(NewContent { bytes, .. }) if now.is_some_and(|now| now == bytes) => {
                (Plan::new(effects(&target, Replaces::No)), Draft::Same(target, bytes.len()))
            }
            Ok(new) => write(&target, effects(&target, Replaces::Yes), new),
            // The error says nothing about the file, and a read before it in the turn may resolve it.
            Err(ChangeRefusal { error, .. }) if error.kind == ErrorKind::NotRead => return Err(error),
            // The error shows what is in the file, so the plan is to read it.
            Err(refused) => (Plan::new(effects(&target, Replaces::No)), Draft::Refused(refused)),
        })
    }

    async fn run(&self, _args: Args, draft: Draft, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let (target, NewContent { bytes, diff, notes }) = match draft {
            Draft::Write(target, new) => (target, new),
            Draft::Same(target, size) => {
                let words = format!("{target} has exactly this content already. Nothing was changed.");
                let data = json!({ "path": target.to_string(), "created": false, "bytes": size, "diff": "" });
                return Ok(ToolOutput::text(words).with_data(data));
            }
            Draft::Refused(refused) => return Err(refused.end(cx).await),
        };
        let mut written = cx.write_all(&[(target.clone(), bytes.clone())]).await?.remove(0);
        written.notes.extend(notes);
        let created = written.change == Change::Create;
        let what = if created { "Created" } else { "Replaced" };
        let size = GroupedNumber(bytes.len() as u64).of("byte");
        let line = format!("{what} {target} ({size}; +{} −{} lines).", diff.added, diff.removed);
        let data = json!({
            "path": target.to_string(),
            "created": created,
            "bytes": bytes.len(),
            "lines_added": diff.added,
            "lines_removed": diff.removed,
            "diff": diff.render(MOST_LINES),
        });
        // The model knows what it wrote; how it differs from what was there it may not.
        let shown = if created { Diff::default() } else { diff };
        Ok(ToolOutput::text(told(line, &written, &shown)).with_data(data))
    }
}

/// The content to write, its difference from the present one, and notes about it.
pub struct NewContent {
    bytes: Bytes,
    diff: Diff,
    notes: Vec<String>,
}

/// Reads a patch that adds one file, and does nothing else, as that file.
fn added_file(value: &Value, _: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    let mut lines = value.as_str()?.trim_start().lines().skip(1);
    let path = lines.next()?.strip_prefix("*** Add File: ")?.trim();
    let mut content = String::new();
    for line in lines.by_ref().take_while(|line| line.trim_end() != "*** End Patch") {
        content.push_str(line.strip_prefix('+')?);
        content.push('\n');
    }
    let is_all = lines.all(|line| line.trim().is_empty());
    is_all.then(|| vec![("path", json!(path)), ("content", json!(content)), ("write_mode", json!("create"))])
}

fn write(target: &Target, effects: Vec<Effect>, new: NewContent) -> (Plan, Draft) {
    let shown = FileDiff { path: target.to_string(), diff: new.diff.clone(), notes: new.notes.clone() };
    let plan = Plan::new(effects).preview(Preview::Diff(vec![shown]));
    (plan, Draft::Write(target.clone(), new))
}

fn mode(args: &Args, cx: &PlanContext<'_>) -> WriteMode {
    match args.write_mode {
        Some(WriteModeArgument::Create) => WriteMode::Create,
        Some(WriteModeArgument::Overwrite) => WriteMode::Overwrite,
        Some(WriteModeArgument::OverwriteIfRead) => WriteMode::OverwriteIfRead,
        // A person sees the difference and is asked.
        None if cx.origin() == CallOrigin::Person => WriteMode::Overwrite,
        None => cx.limits().write_mode,
    }
}

/// Plans to replace a file that was looked at.
fn over(args: &Args, now: &FileCopy, target: &Target, cx: &PlanContext<'_>) -> Result<NewContent, ChangeRefusal> {
    let content = args.content.as_str();
    if mode(args, cx) == WriteMode::OverwriteIfRead {
        match known(cx, target, now)? {
            FileKnowledge::AsItIs => {}
            FileKnowledge::AsItWas(read) => {
                return Err(StaleFile { target, read: &read, now }.refusal(cx, IN_ITS_PLACE));
            }
            FileKnowledge::Not if !is_readable(&now.bytes) => return Err(unreadable(target, now).into()),
            FileKnowledge::Not => {
                return Err(not_read(target, cx.origin(), Vec::new()).into());
            }
        }
    }
    let Ok(decoded) = decode(&now.bytes) else {
        let notes = vec![format!(
            "The file that it replaces is not text ({}).",
            GroupedNumber(now.bytes.len() as u64).of("byte")
        )];
        return Ok(NewContent {
            bytes: Bytes::copy_from_slice(content.as_bytes()),
            diff: Diff::between("", content, CONTEXT),
            notes,
        });
    };
    let hidden = HiddenValues::of(&decoded.text, cx.hides(), &[content]);
    let content = hidden.restored(content, &[]).map_err(|line| unclear(target, "content", line))?.text;
    let new = with_line_ends_of(&decoded.text, &content);
    let whole = [(0..decoded.text.len(), &*new.text)];
    let bytes = decoded.splice(&now.bytes, &whole).map_err(|error| unencodable(target, &error))?;
    let diff = Diff::between(&decoded.text, &new.text, CONTEXT);
    Ok(NewContent { bytes: bytes.into(), diff, notes: new.note.into_iter().collect() })
}

fn unseen(
    args: &Args,
    target: &Target,
    (mode, cx): (WriteMode, &PlanContext<'_>),
) -> Result<NewContent, ChangeRefusal> {
    let read = cx.when_read(target).map(|read| read.stamp);
    if mode == WriteMode::OverwriteIfRead && read != cx.look().stamp(target) {
        // Only text can be read, and haft has not checked whether this file is text.
        let error =
            if read.is_some() { stale(target, ".") } else { not_read(target, cx.origin(), vec![overwrite("")]) };
        return Err(error.into());
    }
    let notes = vec!["It is too large to be compared.".to_owned()];
    Ok(NewContent {
        bytes: Bytes::copy_from_slice(args.content.as_bytes()),
        diff: Diff::between("", &args.content, CONTEXT),
        notes,
    })
}

/// Tells whether `read_file` would show it. Text with some damage it shows.
fn is_readable(bytes: &[u8]) -> bool {
    let is_foreign = |no_text| matches!(no_text, NoText::BadEncoding { looks_like: Some(_), .. });
    decode(bytes) != Err(NoText::Binary) && !TextForm::detect(bytes, Whole::Yes).is_err_and(is_foreign)
}

/// How a caller replaces a file that exists, or that it has not read.
fn overwrite(why: &str) -> CallFix {
    CallFix::with(format!("give {{}}{why}"), "write_mode", vec!["overwrite".into()])
}

/// The error for a file that cannot be read first because it is no text.
fn unreadable(target: &Target, now: &FileCopy) -> ToolError {
    let size = GroupedNumber(now.bytes.len() as u64).of("byte");
    let what = format!("{target} is not text and cannot be read first ({size}). It was not touched.");
    let next = Next::AnyOf(vec![overwrite(" to replace it all the same"), CallFix::new("write to another path")]);
    ToolError::new(ErrorKind::Binary, what, next).about_file(target.to_string(), FailedOperation::Write)
}

fn folder(target: &Target) -> ToolError {
    let next = Next::FixArguments("name a file in it".into());
    ToolError::new(ErrorKind::IsFolder, format!("{target} is a folder."), next)
        .about_file(target.to_string(), FailedOperation::Write)
}

fn exists(target: &Target) -> ToolError {
    let next = Next::AnyOf(vec![CallFix::new("call \"edit_file\" to change it"), overwrite(" to replace it")]);
    ToolError::new(ErrorKind::AlreadyExists, format!("{target} exists already. It was not touched."), next)
        .about_file(target.to_string(), FailedOperation::Write)
}
