//! Resolves a path of a call to its kind, and checks whether the profile allows reading it.

use haft_contract::doors::door::{FileFacts, Look};
use haft_contract::files::path::one_line;
use haft_contract::limits::Limits;
use haft_contract::outcome::error::FailedOperation;
use haft_contract::prelude::*;
use haft_contract::text::grouped::GroupedNumber;

/// The source that a path in a call turned out to name.
pub enum ReadSource {
    /// A file.
    File(RawPath, Target),
    /// All files that fit a glob; only where several were asked for.
    Glob(String),
    /// A kept output.
    Spill(String),
    /// Nothing that can be read, with the reason; only where several were asked for.
    Unreadable(RawPath, ToolError),
}

impl ReadSource {
    /// Finds out what a path is. What is outside is not looked at: that is for the rules to say.
    pub(super) fn of(path: &RawPath, look: &dyn Look, limits: &Limits) -> Result<Self, ToolError> {
        if let Some(id) = path.spill_id() {
            return Ok(ReadSource::Spill(id.to_owned()));
        }
        let target = look.locate(path, Extent::Entry)?;
        if target.is_inside() {
            refuse_too_large(path, look.facts(&target)?, limits)?;
        }
        Ok(ReadSource::File(path.clone(), target))
    }

    /// Finds out what one of several paths is: a glob, unless there is a file of that very name.
    pub(super) fn of_several(path: &RawPath, look: &dyn Look, limits: &Limits) -> Self {
        let is_glob = path.spill_id().is_none() && path.as_str().contains(['*', '?', '[', '{']);
        let located = if is_glob { look.locate(path, Extent::Entry).map(Some) } else { Ok(None) };
        let source = match located {
            Ok(Some(target)) if look.stamp(&target).is_none() => Ok(ReadSource::Glob(path.as_str().to_owned())),
            Ok(_) => ReadSource::of(path, look, limits),
            Err(error) => Err(error),
        };
        source.unwrap_or_else(|error| ReadSource::Unreadable(path.clone(), error))
    }

    /// Returns the path as it was written or found.
    pub(super) fn path(&self) -> String {
        match self {
            ReadSource::File(path, _) | ReadSource::Unreadable(path, _) => path.as_str().to_owned(),
            ReadSource::Spill(id) => format!("spill:{id}"),
            ReadSource::Glob(pattern) => pattern.clone(),
        }
    }
}

/// Refuses a file that is larger than the profile reads.
pub(super) fn refuse_too_large(path: &RawPath, facts: FileFacts, limits: &Limits) -> Result<(), ToolError> {
    let size = facts.stamp.size;
    let Some(most) = limits.read_bytes.filter(|most| size > *most && facts.kind == FileKind::File) else {
        return Ok(());
    };
    let path = one_line(path.as_str());
    let (size, most) = (GroupedNumber(size), GroupedNumber(most));
    let what = format!("{path} has {size} bytes; this profile reads files of at most {most}.");
    let next = Next::AskUser("ask the user for another profile, or work with smaller files".into());
    Err(ToolError::new(ErrorKind::TooLarge, what, next).about_file(path, FailedOperation::Read))
}
