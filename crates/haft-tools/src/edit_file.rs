//! Replaces parts of files: all edits in the right place, or none.

use std::ops::Range;
use std::sync::Arc;

use haft::diff::Diff;
use haft::door::FileCopy;
use haft::encoding::{Decoded, NoText, decode};
use haft::error::Operation;
use haft::limits::EditCount;
use haft::merge::merge;
use haft::plan::FileDiff;
use haft::prelude::*;
use serde_json::{Value, json};

use crate::change::{
    CONTEXT, Known, LARGEST, MOST_LINES, Replaces, changed_since, counted, effects, known, locate, told,
};
use crate::edit::{Count, Edit, Fitted, Miss, Rung, fit};

/// Replaces parts of files.
pub struct EditFile;

/// The arguments of `edit_file`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The file, relative to the workspace. You must have read it. Goes with "edits".
    path: Option<RawPath>,
    /// The edits, each found in the file as it is now, applied together or not at all. Goes with "path".
    #[schemars(length(min = 1, max = 200))]
    edits: Option<Vec<OneEdit>>,
    /// Instead of "path" and "edits": several files with their edits, changed together or not at all.
    #[schemars(length(min = 1, max = 50))]
    files: Option<Vec<OneFile>>,
}

/// One of several files.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct OneFile {
    /// The file, relative to the workspace. You must have read it.
    path: RawPath,
    /// The edits of this file.
    #[schemars(length(min = 1, max = 200))]
    edits: Vec<OneEdit>,
}

/// One edit.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct OneEdit {
    /// The text to replace, exactly as it stands in the file, without line numbers.
    old_text: String,
    /// What shall stand there instead; empty removes the text.
    new_text: String,
    /// How many places: "unique" (the text must occur once), "all", "first", or the exact number. Default "unique".
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
    /// These are to be written.
    Write(Vec<NewText>),
    /// It cannot be done; said when the call may see the file.
    Refused(ToolError),
}

/// A file as it shall be.
pub struct NewText {
    target: Target,
    bytes: Arc<[u8]>,
    diff: Diff,
    notes: Vec<String>,
    edits: usize,
    places: usize,
}

impl Tool for EditFile {
    const NAME: &'static str = "edit_file";
    const ALIASES: &'static [(&'static str, &'static str)] =
        &[("file_path", "path"), ("filepath", "path"), ("filename", "path"), ("file", "path")];
    type Args = Args;
    type Draft = Draft;

    fn manual(&self) -> Manual {
        Manual::read(include_str!("edit_file.md"))
    }

    async fn plan(&self, args: &Args, cx: &PlanContext<'_>) -> Result<(Plan, Draft), ToolError> {
        let wanted = wanted(args, cx)?;
        let plan = |replaces| Plan::new(wanted.iter().flat_map(move |(target, _)| effects(target, replaces)));
        if let Some((outside, _)) = wanted.iter().find(|(target, _)| !target.is_inside()) {
            let nobody_may = ToolError::of(ErrorKind::Denied, format!("{outside} is outside the workspace."));
            return Ok((plan(Replaces::Yes), Draft::Refused(nobody_may)));
        }
        let mut new = Vec::new();
        for (target, edits) in &wanted {
            let now = cx.read(target, LARGEST)?;
            match edited(edits, target, &now, cx) {
                Ok(text) => new.push(text),
                // It says nothing of the file, and a read before it in the turn may mend it.
                Err(error) if error.kind == ErrorKind::NotRead => return Err(error),
                // An error shows what is in the file, so whoever may not read it does not get to see the error.
                Err(error) => return Ok((plan(Replaces::No), Draft::Refused(error))),
            }
        }
        let shown =
            |new: &NewText| FileDiff { path: new.target.to_string(), diff: new.diff.clone(), notes: new.notes.clone() };
        let preview = Preview::Diff(new.iter().map(shown).collect());
        Ok((plan(Replaces::Yes).preview(preview), Draft::Write(new)))
    }

    async fn run(&self, args: Args, draft: Draft, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let new = match draft {
            Draft::Write(new) => new,
            Draft::Refused(error) => return Err(error),
        };
        let contents: Vec<(Target, Arc<[u8]>)> =
            new.iter().map(|new| (new.target.clone(), new.bytes.clone())).collect();
        let written = cx.write_all(&contents).await?;
        let (mut text, mut data) = (String::new(), Vec::new());
        for (new, mut written) in new.into_iter().zip(written) {
            written.notes.extend(new.notes.iter().cloned());
            text.push_str(&told(new.line(), &written, &new.diff));
            data.push(new.data());
        }
        let data = if args.files.is_some() { json!({ "files": data }) } else { data.pop().unwrap_or_default() };
        Ok(ToolOutput::text(text).with_data(data))
    }
}

impl NewText {
    fn line(&self) -> String {
        let edits = counted(self.edits, "edit");
        let at =
            if self.places == self.edits { String::new() } else { format!(" in {}", counted(self.places, "place")) };
        format!("Edited {}: {edits}{at}, +{} −{} lines.", self.target, self.diff.added, self.diff.removed)
    }

    fn data(&self) -> Value {
        json!({
            "path": self.target.to_string(),
            "bytes": self.bytes.len(),
            "places": self.places,
            "lines_added": self.diff.added,
            "lines_removed": self.diff.removed,
            "diff": self.diff.render(MOST_LINES),
        })
    }
}

/// Returns the files that are meant, each once, with their edits.
fn wanted<'a>(args: &'a Args, cx: &PlanContext<'_>) -> Result<Vec<(Target, &'a [OneEdit])>, ToolError> {
    let files: Vec<(&RawPath, &[OneEdit])> = match (&args.path, &args.edits, &args.files) {
        (Some(path), Some(edits), None) => vec![(path, edits)],
        (None, None, Some(files)) => files.iter().map(|file| (&file.path, file.edits.as_slice())).collect(),
        _ => {
            let next = Next::FixArguments(
                "give \"path\" and \"edits\", for example {\"path\": \"a.rs\", \"edits\": [{\"old_text\": \"x\", \
                 \"new_text\": \"y\"}]}; or only \"files\""
                    .into(),
            );
            let what = "Either \"path\" and \"edits\" are needed, or \"files\" alone.";
            return Err(ToolError::new(ErrorKind::BadArguments, what, next));
        }
    };
    let mut wanted: Vec<(Target, &[OneEdit])> = Vec::new();
    for (path, edits) in files {
        let target = locate(cx, path)?;
        if wanted.iter().any(|(known, _)| *known == target) {
            let next = Next::FixArguments("put all edits of one file into one entry".into());
            return Err(ToolError::new(ErrorKind::BadArguments, format!("{target} is named twice."), next));
        }
        wanted.push((target, edits));
    }
    Ok(wanted)
}

fn edited(asked: &[OneEdit], target: &Target, now: &FileCopy, cx: &PlanContext<'_>) -> Result<NewText, ToolError> {
    // What is no text cannot be read first, so whoever did not read it is told that instead.
    let decoded = decode(&now.bytes).map_err(|no_text| not_text(&no_text, target, now.bytes.len()))?;
    let known = known(cx, target, now)?;
    let edits: Vec<Edit<'_>> = asked.iter().map(|edit| edit.meant(cx.limits().edit_count)).collect();
    let path = target.to_string();
    let mut notes = Vec::new();
    if let Known::AsItWas(read) = &known {
        if !is_elsewhere(read, &now.bytes, &edits, &path) {
            return Err(changed_since(target, read, &now.bytes));
        }
        notes.push("It was changed elsewhere since it was read; that is kept.".to_owned());
    }
    let fitted = fit(&decoded.text, &edits, &path).map_err(|miss| missed(miss, target))?;
    if !stays_within_bounds(&decoded, &fitted) {
        return Err(too_large_after(target));
    }
    notes.extend(rungs_used(&fitted));
    let replacements = replacements(&fitted);
    let bytes = spliced(&decoded, &now.bytes, &replacements, target)?;
    let mut diff = Diff::of_replacements(&decoded.text, &replacements, CONTEXT);
    if let Known::AsItWas(read) = &known
        && let (Ok(read), Ok(new)) = (decode(read), decode(&bytes))
    {
        // Also what others changed is shown: the yes is to the whole.
        diff = Diff::between(&read.text, &new.text, CONTEXT);
    }
    let places = fitted.replacements.len();
    Ok(NewText { target: target.clone(), bytes: bytes.into(), diff, notes, edits: asked.len(), places })
}

/// Tells whether what changed since the file was read leaves alone what the edits replace.
fn is_elsewhere(read: &[u8], now: &[u8], edits: &[Edit<'_>], path: &str) -> bool {
    let edited = |bytes: &[u8]| {
        let decoded = decode(bytes).ok()?;
        let fitted = fit(&decoded.text, edits, path).ok().filter(|fitted| stays_within_bounds(&decoded, fitted))?;
        decoded.splice(bytes, &replacements(&fitted)).ok()
    };
    match (edited(read), edited(now)) {
        (Some(as_meant), Some(as_done)) => merge(read, now, &as_meant).is_some_and(|both| both == as_done),
        _ => false,
    }
}

impl OneEdit {
    fn meant(&self, otherwise: EditCount) -> Edit<'_> {
        let count = match self.count {
            Some(HowMany::Word(Word::Unique)) => Count::Unique,
            Some(HowMany::Word(Word::All)) => Count::All,
            Some(HowMany::Word(Word::First)) => Count::First,
            Some(HowMany::Exactly(number)) => Count::Exactly(number),
            None if otherwise == EditCount::First => Count::First,
            None => Count::Unique,
        };
        Edit { old: &self.old_text, new: &self.new_text, count }
    }
}

/// A short edit of many places may want more than there is memory for.
fn stays_within_bounds(decoded: &Decoded<'_>, fitted: &Fitted) -> bool {
    let added: u64 = fitted.replacements.iter().map(|replacement| replacement.new.len() as u64).sum();
    decoded.text.len() as u64 + added <= LARGEST
}

fn too_large_after(target: &Target) -> ToolError {
    let what =
        format!("{target} would become larger than {} MiB, which is the most that is written at once.", LARGEST >> 20);
    let next = Next::FixArguments("replace fewer places or send less text".into());
    ToolError::new(ErrorKind::TooLarge, what, next).about_file(target.to_string(), Operation::Write)
}

fn replacements(fitted: &Fitted) -> Vec<(Range<usize>, &str)> {
    fitted.replacements.iter().map(|replacement| (replacement.range.clone(), &*replacement.new)).collect()
}

fn spliced(
    decoded: &Decoded<'_>,
    bytes: &[u8],
    replacements: &[(Range<usize>, &str)],
    target: &Target,
) -> Result<Vec<u8>, ToolError> {
    decoded.splice(bytes, replacements).map_err(|error| {
        let next = Next::FixArguments("write without that character".into());
        ToolError::new(ErrorKind::BadEncoding, format!("{target}: {error}."), next)
            .about_file(target.to_string(), Operation::Write)
    })
}

/// Says which edits did not fit exactly, and how they differed.
fn rungs_used(fitted: &Fitted) -> Vec<String> {
    let words =
        |(number, rung): (usize, &Rung)| rung.words().map(|words| format!("Edit {number} fitted although {words}."));
    (1..).zip(&fitted.rungs).filter_map(words).collect()
}

fn missed(miss: Miss, target: &Target) -> ToolError {
    ToolError::new(miss.kind, miss.what, miss.next).about_file(target.to_string(), Operation::Write)
}

fn not_text(no_text: &NoText, target: &Target, size: usize) -> ToolError {
    let (kind, what) = match no_text {
        NoText::Binary => (ErrorKind::Binary, format!("{target} is not text ({}).", counted(size, "byte"))),
        NoText::BadEncoding { .. } => {
            (ErrorKind::BadEncoding, format!("{target} cannot be edited without damage: {no_text}."))
        }
    };
    ToolError::of(kind, what).about_file(target.to_string(), Operation::Decode)
}
