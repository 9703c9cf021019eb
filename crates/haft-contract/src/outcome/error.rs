//! Errors that say what happened, why, and what to do next.
//!
//! Every constructor requires a next step. The model reads `what` and `next`; the person also
//! gets the detail and the cause.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::kinds::ErrorKind;
use super::output::ToolOutput;

/// Why a call was refused or failed, and what to do about it.
///
/// Its fields are those of [`ErrorReport`]. It is one pointer wide, so that results stay small.
#[derive(Clone, Debug)]
pub struct ToolError(Box<ErrorReport>);

/// The fields of a [`ToolError`].
#[derive(Clone, Debug)]
pub struct ErrorReport {
    /// What went wrong, for programs.
    pub kind: ErrorKind,
    /// What went wrong, in a sentence that quotes the values concerned.
    pub what: String,
    /// What to do next.
    pub next: Next,
    /// What the error is about.
    pub about: ErrorContext,
    /// The rule that decided, for refusals.
    pub rule: Option<String>,
    /// What had been done when it stopped, where a part of the result exists.
    pub so_far: Option<Box<ToolOutput>>,
    /// More for the person, never for the model: a backtrace, a path outside.
    pub detail: Option<String>,
    /// The error underneath.
    pub source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// The path, operation, argument and other facts that an error concerns, as fields for programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorContext {
    /// The file concerned, as the caller wrote it.
    pub path: Option<String>,
    /// What was being done to it.
    pub operation: Option<FailedOperation>,
    /// The first argument that does not fit the schema, as a path that begins with `$`.
    pub argument: Option<String>,
    /// What the person who refused the call said to the model.
    pub note: Option<String>,
    /// The yes beforehand that would have allowed the call.
    pub allowed_by: Option<AdvanceYes>,
    /// Whether the tool itself is broken, so that the error is no answer to the call.
    pub is_defect: bool,
    /// What the tool itself calls this sort of error, such as `user_error`.
    pub own_type: Option<String>,
    /// The exception that a function raised.
    pub exception: Option<String>,
    /// What may help.
    pub recovery: Vec<Recovery>,
}

/// A yes that the user gives beforehand, to ordinary questions. Its display is the flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AdvanceYes {
    /// To what `haft undo` can take back: changes in the workspace, and confined commands whose changes undo covers.
    ToUndoable,
    /// To every ordinary question.
    ToAll,
}

impl fmt::Display for AdvanceYes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AdvanceYes::ToUndoable => "--yes",
            AdvanceYes::ToAll => "--yes=all",
        })
    }
}

/// Something that may help after an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// A call, ready to be sent.
    Call {
        /// The tool.
        tool: String,
        /// Its arguments.
        arguments: Map<String, Value>,
    },
    /// Text to be used as it is: a rule to paste, or a call in the words of a dialect.
    Text(String),
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Recovery::Call { tool, arguments } => {
                let arguments = serde_json::to_string(arguments).map_err(|_| fmt::Error)?;
                write!(f, "\"{tool}\" {arguments}")
            }
            Recovery::Text(text) => f.write_str(text),
        }
    }
}

/// The operation on a file that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedOperation {
    /// Reading its content.
    Read,
    /// Writing its content.
    Write,
    /// Finding or opening it.
    Access,
    /// Turning its bytes into text.
    Decode,
}

impl FailedOperation {
    /// Returns the name of the operation in records.
    pub fn code(self) -> &'static str {
        match self {
            FailedOperation::Read => "read",
            FailedOperation::Write => "write",
            FailedOperation::Access => "access",
            FailedOperation::Decode => "decode",
        }
    }
}

/// What to do after an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Send the call again with other arguments; says which.
    FixArguments(String),
    /// Look at something first, with this tool; says at what.
    LookFirst {
        /// The tool to look with.
        tool: String,
        /// What to look at.
        at: String,
    },
    /// Another tool does this; says which part.
    UseInstead {
        /// The tool to use.
        tool: String,
        /// What it does here.
        to: String,
    },
    /// Only the user can decide; says what to ask.
    AskUser(String),
    /// The same call may work after this time.
    RetryAfter(Duration, String),
    /// No call like this will work; says what to do instead.
    DoNotRetry(String),
    /// Send the call again, changed in one of these ways.
    AnyOf(Vec<CallFix>),
}

/// One way to change a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFix {
    /// What to do; `{}` stands for the argument.
    words: String,
    argument: Option<WayArgument>,
}

/// The argument that a way needs. A dialect that does not have it does not advise this way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WayArgument {
    /// Its name in the native tool.
    pub name: String,
    /// Values that all do it, the usual one first; none where the value is for the caller to choose.
    pub values: Vec<Value>,
}

impl CallFix {
    /// A way that needs no certain argument.
    pub fn new(words: impl Into<String>) -> Self {
        Self { words: words.into(), argument: None }
    }

    /// A way that gives an argument one of these values; `{}` in the words stands for it.
    pub fn with(words: impl Into<String>, name: &str, values: Vec<Value>) -> Self {
        Self { words: words.into(), argument: Some(WayArgument { name: name.to_owned(), values }) }
    }

    /// Returns the argument that it needs.
    pub fn argument(&self) -> Option<&WayArgument> {
        self.argument.as_ref()
    }

    /// Returns the way with an argument of this name.
    pub fn told_with(&self, name: &str) -> String {
        self.words.replacen("{}", &format!("\"{name}\""), 1)
    }

    /// Returns the way with an argument of this name and value.
    pub fn told_with_value(&self, name: &str, value: &Value) -> String {
        self.words.replacen("{}", &format!("\"{name}\": {value}"), 1)
    }
}

impl fmt::Display for CallFix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.argument {
            Some(WayArgument { name, values }) => match values.first() {
                Some(value) => f.write_str(&self.told_with_value(name, value)),
                None => f.write_str(&self.told_with(name)),
            },
            None => f.write_str(&self.words),
        }
    }
}

/// Joins ways: "a, or b"; "a, b, or c".
pub fn any_of(ways: &[String]) -> String {
    match ways {
        [] => String::new(),
        [way] => way.clone(),
        [first @ .., last] => format!("{}, or {last}", first.join(", ")),
    }
}

impl Next {
    /// Puts other words in the place of its own. It stays the same kind of step, but for one that names a tool: with other
    /// words that is advice for the arguments.
    pub fn reword(&mut self, other: impl Fn(&str) -> String) {
        match self {
            Next::FixArguments(words) | Next::AskUser(words) | Next::DoNotRetry(words) | Next::RetryAfter(_, words) => {
                *words = other(words)
            }
            Next::AnyOf(ways) => ways.iter_mut().for_each(|way| way.words = other(&way.words)),
            Next::LookFirst { .. } | Next::UseInstead { .. } => {
                let words = self.to_string();
                let reworded = other(&words);
                if reworded != words {
                    *self = Next::FixArguments(reworded);
                }
            }
        }
    }
}

impl fmt::Display for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Next::FixArguments(words) | Next::AskUser(words) | Next::DoNotRetry(words) => f.write_str(words),
            Next::LookFirst { tool, at } => write!(f, "call \"{tool}\" to look at {at}"),
            Next::UseInstead { tool, to } => write!(f, "call \"{tool}\" {to}"),
            Next::AnyOf(ways) => f.write_str(&any_of(&ways.iter().map(CallFix::to_string).collect::<Vec<_>>())),
            Next::RetryAfter(time, words) => write!(f, "{words} (after {} s)", time.as_secs().max(1)),
        }
    }
}

impl From<std::io::Error> for ToolError {
    /// Says what the system said, with the next step that is usual for it.
    fn from(error: std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::MissingFile,
            std::io::ErrorKind::PermissionDenied => ErrorKind::Permission,
            std::io::ErrorKind::TimedOut => ErrorKind::TimedOut,
            _ => ErrorKind::Io,
        };
        let what = format!("The system says: {error}.");
        ToolError::of(kind, what).caused_by(error)
    }
}

impl ToolError {
    /// Says what went wrong and what to do next.
    pub fn new(kind: ErrorKind, what: impl Into<String>, next: Next) -> Self {
        Self(Box::new(ErrorReport {
            kind,
            what: what.into(),
            next,
            about: ErrorContext::default(),
            rule: None,
            so_far: None,
            detail: None,
            source: None,
        }))
    }

    /// Says what went wrong, with the next step that is usual for the kind.
    pub fn of(kind: ErrorKind, what: impl Into<String>) -> Self {
        let next = kind.facts().next.to_owned();
        let next = match kind {
            ErrorKind::NeedsApproval | ErrorKind::Permission => Next::AskUser(next),
            ErrorKind::Io => Next::RetryAfter(Duration::from_secs(1), next),
            _ => match kind.facts().retry {
                super::kinds::Retry::Changed => Next::FixArguments(next),
                super::kinds::Retry::Later | super::kinds::Retry::Never => Next::DoNotRetry(next),
            },
        };
        Self::new(kind, what, next)
    }

    /// Says that a tool ran and did not work.
    pub fn failed(what: impl Into<String>, next: Next) -> Self {
        Self::new(ErrorKind::Failed, what, next)
    }

    /// Names the file concerned and what was being done to it.
    pub fn about_file(mut self, path: impl Into<String>, operation: FailedOperation) -> Self {
        self.about.path = Some(path.into());
        self.about.operation = Some(operation);
        self
    }

    /// Adds something that may help.
    pub fn recover_with(mut self, recovery: Recovery) -> Self {
        self.about.recovery.push(recovery);
        self
    }

    /// Says that the tool itself is broken.
    pub fn as_defect(mut self) -> Self {
        self.about.is_defect = true;
        self
    }

    /// Names the rule that decided.
    pub fn by_rule(mut self, rule: impl Into<String>) -> Self {
        self.rule = Some(rule.into());
        self
    }

    /// Keeps what had been done when it stopped.
    pub fn with_so_far(mut self, output: ToolOutput) -> Self {
        self.so_far = Some(Box::new(output));
        self
    }

    /// Adds words for the person that the model does not get.
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Keeps the error underneath.
    pub fn caused_by(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }
}

/// Shows what the model reads: what happened, then the next step.
impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nNext: {}", self.what, self.next)
    }
}

impl std::ops::Deref for ToolError {
    type Target = ErrorReport;

    fn deref(&self) -> &ErrorReport {
        &self.0
    }
}

impl std::ops::DerefMut for ToolError {
    fn deref_mut(&mut self) -> &mut ErrorReport {
        &mut self.0
    }
}

impl std::error::Error for ToolError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn std::error::Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_told_with_their_arguments_and_reworded_one_by_one() {
        let mut next = Next::AnyOf(vec![
            CallFix::new("add a line"),
            CallFix::with("give it time with {}", "timeout", Vec::new()),
            CallFix::with("give {}", "count", vec!["all".into(), 2.into()]),
        ]);
        assert_eq!(next.to_string(), "add a line, give it time with \"timeout\", or give \"count\": \"all\"");
        next.reword(|words| words.replace("give", "send"));
        assert_eq!(next.to_string(), "add a line, send it time with \"timeout\", or send \"count\": \"all\"");
    }

    #[test]
    fn other_words_do_not_make_another_step() {
        let second = Duration::from_secs(1);
        for (next, expected) in [
            (Next::FixArguments("a".into()), Next::FixArguments("b".into())),
            (Next::AskUser("a".into()), Next::AskUser("b".into())),
            (Next::DoNotRetry("a".into()), Next::DoNotRetry("b".into())),
            (Next::RetryAfter(second, "a".into()), Next::RetryAfter(second, "b".into())),
        ] {
            let mut reworded = next;
            reworded.reword(|words| words.replace('a', "b"));
            assert_eq!(reworded, expected);
        }
        let mut look = Next::LookFirst { tool: "t".into(), at: "x".into() };
        let before = look.clone();
        look.reword(str::to_owned);
        assert_eq!(look, before);
        look.reword(|words| words.replace("\"t\"", "\"u\""));
        assert_eq!(look, Next::FixArguments("call \"u\" to look at x".into()));
    }
}
