//! Shares code among the tools that write: checks that the caller knows the old content, and reports changes.
//!
//! A model or a script must have read the current version of the file that it overwrites. A person who saw the
//! difference and said yes may overwrite anything.

use std::fmt::Write;

use bytes::Bytes;
use haft_contract::call::CallOrigin;
use haft_contract::doors::door::{FileCopy, FileOpResult, ReadVersion};
use haft_contract::files::guarded::is_secret;
use haft_contract::outcome::error::{CallFix, FailedOperation};
use haft_contract::prelude::*;
use haft_contract::text::diff::Diff;
use haft_contract::text::encoding::{Unencodable, decode};

/// Largest file that is changed as a whole, in bytes.
pub(crate) const LARGEST: u64 = 64 * 1024 * 1024;
/// Unchanged lines around a change.
pub(crate) const CONTEXT: usize = 3;
/// Most lines of a difference in a result.
pub(crate) const MOST_LINES: usize = 120;
/// Most lines of a difference in an error.
const LINES_IN_ERROR: usize = 40;

/// Locates a file that is to be changed. Kept outputs are none.
pub(crate) fn locate(cx: &PlanContext<'_>, path: &RawPath) -> Result<Target, ToolError> {
    if path.spill_id().is_none() {
        return cx.locate(path);
    }
    let path = path.as_str();
    let next = Next::FixArguments(format!("name a file; a file of that very name is \"./{path}\""));
    let what = format!("\"{path}\" is a kept output, which can be read but not changed.");
    Err(ToolError::new(ErrorKind::BadPath, what, next).about_file(path, FailedOperation::Write))
}

/// Returns what a call touches that would replace a file, whatever comes of it.
///
/// Of a secret it is always the same: else the question would tell whether a guess of its content was right.
pub(crate) fn effects(target: &Target, replaces: Replaces) -> Vec<Effect> {
    let read = Effect::Read(target.clone());
    let change = Effect::Change(target.clone(), Change::Replace);
    match replaces {
        _ if is_secret(target.place().path()) => vec![read, change],
        Replaces::Yes => vec![change],
        Replaces::No => vec![read],
    }
}

/// Whether a call has something to replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replaces {
    Yes,
    /// It fails or there is nothing to do; saying so tells what is in the file.
    No,
}

/// What the caller knows of a file.
pub(crate) enum FileKnowledge {
    /// What is in it now.
    AsItIs,
    /// What was in it when it was read.
    AsItWas(Bytes),
    /// Nothing: it was not read.
    Not,
}

/// The reason why a change is not made, and what the reason shows of the files.
pub struct ChangeRefusal {
    pub(crate) error: ToolError,
    pub(crate) shown: Vec<ShownDifference>,
}

/// The changes that a reason shows of a file that changed since it was read.
pub(crate) enum ShownDifference {
    /// Every change.
    All(Target),
    /// Some of them: what is known of the file then.
    Some(Target, ReadVersion),
}

impl From<ToolError> for ChangeRefusal {
    fn from(error: ToolError) -> Self {
        Self { error, shown: Vec::new() }
    }
}

impl ChangeRefusal {
    /// Ends the call with the error. The caller has now seen what the error shows of its files, so that counts as read.
    pub(crate) async fn end(self, cx: &RunContext<'_>) -> ToolError {
        for shown in self.shown {
            // Where it cannot be read, it stays unread.
            let _ = match shown {
                ShownDifference::All(target) => {
                    let last = PageRequest { first_line: u64::MAX, lines: 1, column: 1, line_length: 1 };
                    cx.page(&target, last).await.map(drop)
                }
                ShownDifference::Some(target, known) => cx.note_shown(&target, known),
            };
        }
        self.error
    }
}

/// Finds out what the caller knows of a file that it wants to overwrite.
pub(crate) fn known(cx: &PlanContext<'_>, target: &Target, now: &FileCopy) -> Result<FileKnowledge, ToolError> {
    if cx.origin() == CallOrigin::Person {
        return Ok(FileKnowledge::AsItIs);
    }
    let Some(read) = cx.when_read(target) else { return Ok(FileKnowledge::Not) };
    // The session's own undo may bring an earlier version back. What others bring back the caller does not know of.
    if read.left == Some(now.version.stamp) && cx.has_seen(target, &now.bytes) {
        return Ok(FileKnowledge::AsItIs);
    }
    match read.bytes {
        // A mere touch is no change, and the same stamp is no proof.
        Some(bytes) if bytes == now.bytes => Ok(FileKnowledge::AsItIs),
        Some(bytes) => Ok(FileKnowledge::AsItWas(bytes)),
        None if read.stamp == now.version.stamp => Ok(FileKnowledge::AsItIs),
        None => Err(stale(target, "; it is too large to compare, or was read too long ago.")),
    }
}

/// The error for a file that the caller does not know. `otherwise` is what it may do without reading it.
pub(crate) fn not_read(target: &Target, origin: CallOrigin, otherwise: Vec<CallFix>) -> ToolError {
    let at = format!("{target} (what a command printed does not count), then send this call again");
    let next = match origin {
        // Each command is a session of its own: what one has read the next one does not know.
        CallOrigin::Script => {
            let words = "add write_mode=overwrite to replace the file without reading it";
            Next::AnyOf(vec![CallFix::with(words, "write_mode", vec!["overwrite".into()])])
        }
        CallOrigin::Model | CallOrigin::Person if otherwise.is_empty() => {
            Next::LookFirst { tool: "read_file".into(), at }
        }
        CallOrigin::Model | CallOrigin::Person => {
            let read = CallFix::new(format!("call \"read_file\" to look at {at}"));
            Next::AnyOf(std::iter::once(read).chain(otherwise).collect())
        }
    };
    ToolError::new(ErrorKind::NotRead, format!("{target} was not read in this session."), next)
        .about_file(target.to_string(), FailedOperation::Write)
}

/// What stands in the way when others changed what a call would replace.
pub(crate) const IN_ITS_PLACE: &str = ", in the text that this call would replace";

/// A file that changed since it was read.
pub(crate) struct StaleFile<'a> {
    pub(crate) target: &'a Target,
    pub(crate) read: &'a [u8],
    pub(crate) now: &'a FileCopy,
}

impl StaleFile<'_> {
    /// Refuses a call because of what changed. `why` says what stands in the way.
    pub(crate) fn refusal(&self, cx: &PlanContext<'_>, why: &str) -> ChangeRefusal {
        let Self { target, read, now } = *self;
        let texts = decode(read).ok().zip(decode(&now.bytes).ok());
        let diff = texts.as_ref().map(|(read, now)| Diff::between(&read.text, &now.text, CONTEXT)).unwrap_or_default();
        let rendered = diff.render(LINES_IN_ERROR);
        let difference = if rendered.is_empty() { ".".to_owned() } else { format!(":\n{}", rendered.trim_end()) };
        let error = stale(target, &format!("{why}{difference}"));
        if !rendered.is_empty() && diff.is_shown_whole(LINES_IN_ERROR) {
            return ChangeRefusal { error, shown: vec![ShownDifference::All(target.clone())] };
        }
        let known = texts.zip(cx.when_read(target)).and_then(|((was, is), version)| {
            let known = diff.known_from(&was.text, &is.text, LINES_IN_ERROR);
            let bytes = was.splice(read, &[(0..was.text.len(), &known)]).ok()?;
            Some(ShownDifference::Some(target.clone(), ReadVersion { bytes: Some(bytes.into()), ..version }))
        });
        ChangeRefusal { error, shown: known.into_iter().collect() }
    }
}

/// The error for a file that is not any more what the caller knows; `more` ends the sentence.
pub(crate) fn stale(target: &Target, more: &str) -> ToolError {
    let next = Next::LookFirst { tool: "read_file".into(), at: format!("{target} and base the change on that") };
    ToolError::new(ErrorKind::Stale, format!("{target} changed since it was read{more}"), next)
        .about_file(target.to_string(), FailedOperation::Write)
}

/// The error for a text that cannot be written in the encoding of the file.
pub(crate) fn unencodable(target: &Target, error: &Unencodable) -> ToolError {
    let next = match error {
        Unencodable::Character { .. } => "write without that character, or ask the user to convert the file to UTF-8",
        Unencodable::ReadsDifferently { encoding: "UTF-8", .. } => {
            "leave out NUL characters, and a byte order mark (U+FEFF) at the beginning"
        }
        Unencodable::ReadsDifferently { .. } => {
            "use only ASCII characters in the new text, or ask the user to convert the file to UTF-8"
        }
    };
    ToolError::new(ErrorKind::BadEncoding, format!("{target}: {error}."), Next::FixArguments(next.into()))
        .about_file(target.to_string(), FailedOperation::Write)
}

/// What is told of a change that was made: a line, what could not be kept, and the difference.
pub(crate) fn told(line: String, written: &FileOpResult, diff: &Diff) -> String {
    let mut text = line;
    for note in &written.notes {
        let _infallible = write!(text, " {note}");
    }
    text.push('\n');
    text.push_str(&diff.render(MOST_LINES));
    text
}
