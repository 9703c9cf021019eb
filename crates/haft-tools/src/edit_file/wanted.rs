//! What a call wants of each file: edits, a new file, a removed or renamed one; and planning it.

use std::path::Path;

use bytes::Bytes;
use haft_contract::diff::Diff;
use haft_contract::door::FileOp;
use haft_contract::encoding::decode;
use haft_contract::error::Operation;
use haft_contract::grouped::Grouped;
use haft_contract::guarded::is_secret;
use haft_contract::path::one_line;
use haft_contract::prelude::*;

use super::text::edited_text;
use super::{Args, OneEdit, OneFile, PlannedChange, Unplanned};
use crate::change::{CONTEXT, Known, LARGEST, Replaces, changed_since, effects, known, locate};

/// What stands in the way when others changed a file that a call would remove.
const AND_REMOVED: &str = ", and this call would remove it";

/// What a call wants of one file.
pub(super) struct Wanted<'a> {
    target: Target,
    work: Work<'a>,
}

/// What is to become of a file.
enum Work<'a> {
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
pub(super) fn wanted<'a>(args: &'a Args, cx: &PlanContext<'_>) -> Result<Vec<Wanted<'a>>, ToolError> {
    let files = match (&args.path, &args.edits, &args.files) {
        (Some(path), Some(edits), None) => vec![Wanted { target: locate(cx, path)?, work: Work::Edit(edits) }],
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
    let targets: Vec<&Target> = files.iter().flat_map(Wanted::targets).collect();
    match (1..targets.len()).find(|at| targets[..*at].contains(&targets[*at])) {
        None => Ok(files),
        Some(twice) => {
            let next = "put all edits of one file into one entry; to replace a whole file, call write_file";
            let what = format!("{} is named twice.", targets[twice]);
            Err(ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next.into())))
        }
    }
}

fn one_file<'a>(file: &'a OneFile, cx: &PlanContext<'_>) -> Result<Wanted<'a>, ToolError> {
    let target = locate(cx, &file.path)?;
    let edits = file.edits.as_deref();
    let work = match (edits, &file.content, &file.move_to, file.remove.unwrap_or(false)) {
        (Some(edits), None, None, false) => Work::Edit(edits),
        (None, Some(_), None, false) if file.path.as_str().ends_with('/') => return Err(folder(&target)),
        (None, Some(content), None, false) => Work::Create(content),
        (edits, None, None, true) => Work::Remove(edits.unwrap_or_default()),
        (edits, None, Some(to), false) => Work::Move(locate(cx, to)?, edits.unwrap_or_default()),
        _ => {
            let next =
                "give \"edits\", \"content\" for a new file, \"move_to\" (also with \"edits\"), or \"remove\": true";
            let what = format!("{target} needs one of these, and not several.");
            return Err(ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next.into())));
        }
    };
    if matches!(work, Work::Remove(_) | Work::Move(..)) {
        refuse_link(&file.path, &target, cx)?;
    }
    Ok(Wanted { target, work })
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
    Err(ToolError::new(ErrorKind::BadPath, what, next).about_file(path.as_str(), Operation::Write))
}

impl Wanted<'_> {
    /// Returns every file that is touched.
    pub(super) fn targets(&self) -> impl Iterator<Item = &Target> {
        let moved_to = match &self.work {
            Work::Move(to, _) => Some(to),
            Work::Edit(_) | Work::Create(_) | Work::Remove(_) => None,
        };
        [Some(&self.target), moved_to].into_iter().flatten()
    }

    /// Returns what the change touches.
    pub(super) fn effects(&self) -> Vec<Effect> {
        let change = |target: &Target, change| Effect::Change(target.clone(), change);
        let mut all = match &self.work {
            Work::Edit(_) => return effects(&self.target, Replaces::Yes),
            Work::Create(_) => return vec![change(&self.target, Change::Create)],
            Work::Remove(_) => vec![change(&self.target, Change::Remove)],
            Work::Move(to, _) => vec![change(&self.target, Change::Remove), change(to, Change::Create)],
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
            Work::Create(_) => Vec::new(),
            Work::Edit(_) => effects(&self.target, Replaces::No),
            Work::Remove(_) | Work::Move(..) if is_secret(self.target.place().path()) => self.effects(),
            Work::Remove(_) | Work::Move(..) => vec![Effect::Read(self.target.clone())],
        }
    }

    /// Plans the change.
    pub(super) fn planned(&self, cx: &PlanContext<'_>) -> Result<PlannedChange, Unplanned> {
        match &self.work {
            Work::Edit(edits) => self.edited(edits, cx),
            Work::Create(content) => {
                refuse_existing(&self.target, cx)?;
                let op = FileOp::Put(self.target.clone(), Bytes::copy_from_slice(content.as_bytes()));
                Ok(whole(op, Diff::between("", content, CONTEXT)))
            }
            Work::Remove(edits) => {
                refuse_other_than_file(&self.target, cx)?;
                self.removed(edits, cx)
            }
            Work::Move(to, edits) => {
                refuse_other_than_file(&self.target, cx)?;
                refuse_existing(to, cx)?;
                self.moved(to, edits, cx)
            }
        }
    }

    fn edited(&self, edits: &[OneEdit], cx: &PlanContext<'_>) -> Result<PlannedChange, Unplanned> {
        let now = cx.read(&self.target, LARGEST).map_err(Unplanned::Blind)?;
        edited_text(edits, &self.target, &now, cx)
    }

    fn moved(&self, to: &Target, edits: &[OneEdit], cx: &PlanContext<'_>) -> Result<PlannedChange, Unplanned> {
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

    fn removed(&self, edits: &[OneEdit], cx: &PlanContext<'_>) -> Result<PlannedChange, Unplanned> {
        let target = &self.target;
        let op = FileOp::Remove(target.clone());
        if !edits.is_empty() {
            let edited = self.edited(edits, cx)?;
            return match &edited.op {
                FileOp::Put(_, bytes) if !bytes.is_empty() => Err(Unplanned::Looked(not_all(target).into())),
                _ => Ok(PlannedChange { op, edits: 0, ..edited }),
            };
        }
        let now = match cx.read(target, LARGEST) {
            Ok(now) => now,
            Err(error) if error.kind == ErrorKind::TooLarge => return Ok(whole(op, Diff::default())),
            Err(error) => return Err(Unplanned::Blind(error)),
        };
        // What others wrote since the caller looked is not what it means to remove. A command would remove it unread.
        if let Ok(Known::AsItWas(read)) = known(cx, target, &now) {
            return Err(Unplanned::Looked(changed_since(cx, target, (&read, &now.bytes), AND_REMOVED)));
        }
        let Ok(text) = decode(&now.bytes) else {
            let size = Grouped(now.bytes.len() as u64).of("byte");
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

fn refuse_existing(target: &Target, cx: &PlanContext<'_>) -> Result<(), Unplanned> {
    if cx.look().stamp(target).is_none() {
        return Ok(());
    }
    let next =
        Next::FixArguments("give \"edits\" to change it, or another path; write_file replaces a whole file".into());
    let error = ToolError::new(ErrorKind::AlreadyExists, format!("{target} exists already. It was not touched."), next);
    Err(Unplanned::Blind(error.about_file(target.to_string(), Operation::Write)))
}

fn refuse_other_than_file(target: &Target, cx: &PlanContext<'_>) -> Result<(), Unplanned> {
    match cx.look().facts(target).map_err(Unplanned::Blind)?.kind {
        FileKind::File => Ok(()),
        FileKind::Folder | FileKind::Link | FileKind::Special => {
            let next = Next::UseInstead { tool: "bash".into(), to: "to remove or rename it".into() };
            let error = ToolError::new(ErrorKind::IsFolder, format!("{target} is not a regular file."), next);
            Err(Unplanned::Blind(error.about_file(target.to_string(), Operation::Write)))
        }
    }
}

fn folder(target: &Target) -> ToolError {
    let next = Next::FixArguments("name a file in it".into());
    ToolError::new(ErrorKind::IsFolder, format!("{target} is a folder."), next)
        .about_file(target.to_string(), Operation::Write)
}

/// The error for a removal whose edits leave something of the file.
fn not_all(target: &Target) -> ToolError {
    let what = format!("{target} has more text than the call removes, so the file was not removed.");
    let next = Next::FixArguments("give \"remove\": true without \"edits\", or only the edits".into());
    ToolError::new(ErrorKind::BadArguments, what, next).about_file(target.to_string(), Operation::Write)
}
