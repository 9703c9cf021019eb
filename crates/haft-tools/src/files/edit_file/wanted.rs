//! Plans what a call wants of each file: edits, a new file, a removed or renamed one.

use std::path::Path;

use bytes::Bytes;
use haft_contract::doors::door::FileOp;
use haft_contract::files::guarded::is_secret;
use haft_contract::files::path::one_line;
use haft_contract::outcome::error::FailedOperation;
use haft_contract::prelude::*;
use haft_contract::text::diff::Diff;
use haft_contract::text::encoding::decode;
use haft_contract::text::grouped::GroupedNumber;

use super::text::edited_text;
use super::{Args, EditPlanFailure, OneEdit, OneFile, PlannedChange};
use crate::files::change::{CONTEXT, FileKnowledge, LARGEST, Replaces, StaleFile, effects, known, locate};

/// What stands in the way when others changed a file that a call would remove.
const AND_REMOVED: &str = ", and this call would remove it";

/// The change that a call wants for one file.
pub(super) struct FileEditRequest<'a> {
    target: Target,
    work: FileEditAction<'a>,
}

/// The action that a call wants on one file.
enum FileEditAction<'a> {
    /// Its text is edited.
    Edit(&'a [OneEdit]),
    /// It is new, with this content.
    Create(&'a str),
    /// It is removed. Where edits are given, they must leave nothing of its text.
    Remove(&'a [OneEdit]),
    /// It is renamed, and edited where edits are given.
    Move(Target, &'a [OneEdit]),
}

/// Returns the files that are meant, each once, with what is wanted of them.
pub(super) fn wanted<'a>(args: &'a Args, cx: &PlanContext<'_>) -> Result<Vec<FileEditRequest<'a>>, ToolError> {
    let files = match (&args.path, &args.edits, &args.files) {
        (Some(path), Some(edits), None) => {
            vec![FileEditRequest { target: locate(cx, path)?, work: FileEditAction::Edit(edits) }]
        }
        (None, None, Some(files)) => files.iter().map(|file| one_file(file, cx)).collect::<Result<_, _>>()?,
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
    let targets: Vec<&Target> = files.iter().flat_map(FileEditRequest::targets).collect();
    match (1..targets.len()).find(|at| targets[..*at].contains(&targets[*at])) {
        None => Ok(files),
        Some(twice) => {
            let next = "put all edits of one file into one entry; to replace a whole file, call write_file";
            let what = format!("{} is named twice.", targets[twice]);
            Err(ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next.into())))
        }
    }
}

fn one_file<'a>(file: &'a OneFile, cx: &PlanContext<'_>) -> Result<FileEditRequest<'a>, ToolError> {
    let target = locate(cx, &file.path)?;
    let edits = file.edits.as_deref();
    let work = match (edits, &file.content, &file.move_to, file.remove.unwrap_or(false)) {
        (Some(edits), None, None, false) => FileEditAction::Edit(edits),
        (None, Some(_), None, false) if file.path.as_str().ends_with('/') => return Err(folder(&target)),
        (None, Some(content), None, false) => FileEditAction::Create(content),
        (edits, None, None, true) => FileEditAction::Remove(edits.unwrap_or_default()),
        (edits, None, Some(to), false) => FileEditAction::Move(locate(cx, to)?, edits.unwrap_or_default()),
        _ => {
            let next =
                "give \"edits\", \"content\" for a new file, \"move_to\" (also with \"edits\"), or \"remove\": true";
            let what = format!("{target} needs one of these, and not several.");
            return Err(ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next.into())));
        }
    };
    if matches!(work, FileEditAction::Remove(_) | FileEditAction::Move(..)) {
        refuse_link(&file.path, &target, cx)?;
    }
    Ok(FileEditRequest { target, work })
}

/// Refuses to remove or rename what a link leads to: the link itself is what the path names.
fn refuse_link(path: &RawPath, target: &Target, cx: &PlanContext<'_>) -> Result<(), ToolError> {
    let written = Path::new(path.as_str());
    let above = match written.parent().and_then(Path::to_str) {
        Some("") | None => ".",
        Some(above) => above,
    };
    let folder = cx.locate(&RawPath::new(above))?;
    let is_itself = written.file_name().is_some_and(|name| folder.place().path().join(name) == target.place().path());
    if is_itself || !target.is_inside() {
        return Ok(());
    }
    let what = format!("\"{}\" is a link to {target}. It was not touched.", one_line(path.as_str()));
    let next = Next::UseInstead { tool: "bash".into(), to: format!("to remove or rename the link, or name {target}") };
    Err(ToolError::new(ErrorKind::BadPath, what, next).about_file(path.as_str(), FailedOperation::Write))
}

impl FileEditRequest<'_> {
    /// Returns every file that is touched.
    pub(super) fn targets(&self) -> impl Iterator<Item = &Target> {
        let moved_to = match &self.work {
            FileEditAction::Move(to, _) => Some(to),
            FileEditAction::Edit(_) | FileEditAction::Create(_) | FileEditAction::Remove(_) => None,
        };
        [Some(&self.target), moved_to].into_iter().flatten()
    }

    /// Returns what the change touches.
    pub(super) fn effects(&self) -> Vec<Effect> {
        let change = |target: &Target, change| Effect::Change(target.clone(), change);
        let mut all = match &self.work {
            FileEditAction::Edit(_) => return effects(&self.target, Replaces::Yes),
            FileEditAction::Create(_) => return vec![change(&self.target, Change::Create)],
            FileEditAction::Remove(_) => vec![change(&self.target, Change::Remove)],
            FileEditAction::Move(to, _) => vec![change(&self.target, Change::Remove), change(to, Change::Create)],
        };
        // As with edits, the question does not tell whether a guess of a secret was right.
        if is_secret(self.target.place().path()) {
            all.insert(0, Effect::Read(self.target.clone()));
        }
        all
    }

    /// Returns what a refusal touches that shows what is in the files.
    pub(super) fn effects_of_looking(&self) -> Vec<Effect> {
        match &self.work {
            FileEditAction::Create(_) => Vec::new(),
            FileEditAction::Edit(_) => effects(&self.target, Replaces::No),
            FileEditAction::Remove(_) | FileEditAction::Move(..) if is_secret(self.target.place().path()) => {
                self.effects()
            }
            FileEditAction::Remove(_) | FileEditAction::Move(..) => vec![Effect::Read(self.target.clone())],
        }
    }

    /// Plans the change.
    pub(super) fn planned(&self, cx: &PlanContext<'_>) -> Result<PlannedChange, EditPlanFailure> {
        match &self.work {
            FileEditAction::Edit(edits) => self.edited(edits, cx),
            FileEditAction::Create(content) => {
                refuse_existing(&self.target, cx)?;
                let op = FileOp::Put(self.target.clone(), Bytes::copy_from_slice(content.as_bytes()));
                Ok(whole(op, Diff::between("", content, CONTEXT)))
            }
            FileEditAction::Remove(edits) => {
                refuse_other_than_file(&self.target, cx)?;
                self.removed(edits, cx)
            }
            FileEditAction::Move(to, edits) => {
                refuse_other_than_file(&self.target, cx)?;
                refuse_existing(to, cx)?;
                self.moved(to, edits, cx)
            }
        }
    }

    fn edited(&self, edits: &[OneEdit], cx: &PlanContext<'_>) -> Result<PlannedChange, EditPlanFailure> {
        let now = cx.read(&self.target, LARGEST).map_err(EditPlanFailure::Blind)?;
        edited_text(edits, &self.target, &now, cx)
    }

    fn moved(&self, to: &Target, edits: &[OneEdit], cx: &PlanContext<'_>) -> Result<PlannedChange, EditPlanFailure> {
        let from = self.target.clone();
        if edits.is_empty() {
            return Ok(whole(FileOp::Rename(from, to.clone()), Diff::default()));
        }
        let edited = self.edited(edits, cx)?;
        let op = match edited.op {
            FileOp::Put(_, bytes) => FileOp::RenameAs(from, to.clone(), bytes),
            other => other,
        };
        Ok(PlannedChange { op, ..edited })
    }

    fn removed(&self, edits: &[OneEdit], cx: &PlanContext<'_>) -> Result<PlannedChange, EditPlanFailure> {
        let target = &self.target;
        let op = FileOp::Remove(target.clone());
        if !edits.is_empty() {
            let edited = self.edited(edits, cx)?;
            return match &edited.op {
                FileOp::Put(_, bytes) if !bytes.is_empty() => Err(EditPlanFailure::Looked(not_all(target).into())),
                _ => Ok(PlannedChange { op, edits: 0, ..edited }),
            };
        }
        let now = match cx.read(target, LARGEST) {
            Ok(now) => now,
            Err(error) if error.kind == ErrorKind::TooLarge => return Ok(whole(op, Diff::default())),
            Err(error) => return Err(EditPlanFailure::Blind(error)),
        };
        // What others wrote since the caller looked is not what it means to remove. A command would remove it unread.
        if let Ok(FileKnowledge::AsItWas(read)) = known(cx, target, &now) {
            let stale = StaleFile { target, read: &read, now: &now };
            return Err(EditPlanFailure::Looked(stale.refusal(cx, AND_REMOVED)));
        }
        let Ok(text) = decode(&now.bytes) else {
            let size = GroupedNumber(now.bytes.len() as u64).of("byte");
            let notes = vec![format!("It is not text ({size}).")];
            return Ok(PlannedChange { notes, ..whole(op, Diff::default()) });
        };
        Ok(whole(op, Diff::between(&text.text, "", CONTEXT)))
    }
}

/// A change of a whole file, without edits.
fn whole(op: FileOp, diff: Diff) -> PlannedChange {
    PlannedChange { op, diff, notes: Vec::new(), edits: 0, places: 0 }
}

fn refuse_existing(target: &Target, cx: &PlanContext<'_>) -> Result<(), EditPlanFailure> {
    if cx.look().stamp(target).is_none() {
        return Ok(());
    }
    let next =
        Next::FixArguments("give \"edits\" to change it, or another path; write_file replaces a whole file".into());
    let error = ToolError::new(ErrorKind::AlreadyExists, format!("{target} exists already. It was not touched."), next);
    Err(EditPlanFailure::Blind(error.about_file(target.to_string(), FailedOperation::Write)))
}

fn refuse_other_than_file(target: &Target, cx: &PlanContext<'_>) -> Result<(), EditPlanFailure> {
    match cx.look().facts(target).map_err(EditPlanFailure::Blind)?.kind {
        FileKind::File => Ok(()),
        FileKind::Folder | FileKind::Link | FileKind::Special => {
            let next = Next::UseInstead { tool: "bash".into(), to: "to remove or rename it".into() };
            let error = ToolError::new(ErrorKind::IsFolder, format!("{target} is not a regular file."), next);
            Err(EditPlanFailure::Blind(error.about_file(target.to_string(), FailedOperation::Write)))
        }
    }
}

fn folder(target: &Target) -> ToolError {
    let next = Next::FixArguments("name a file in it".into());
    ToolError::new(ErrorKind::IsFolder, format!("{target} is a folder."), next)
        .about_file(target.to_string(), FailedOperation::Write)
}

/// The error for a removal whose edits leave something of the file.
fn not_all(target: &Target) -> ToolError {
    let what = format!("{target} has more text than the call removes, so the file was not removed.");
    let next = Next::FixArguments("give \"remove\": true without \"edits\", or only the edits".into());
    ToolError::new(ErrorKind::BadArguments, what, next).about_file(target.to_string(), FailedOperation::Write)
}
