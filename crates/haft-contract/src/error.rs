//! Errors that say what happened, why, and what to do next.
//!
//! There is no constructor without a next step. The model reads `what` and `next`; the person also
//! gets the detail and the cause.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::kinds::ErrorKind;
use crate::output::ToolOutput;

/// Why a call was refused or failed, and what to do about it.
///
/// Its fields are those of [`Told`]. It is one pointer wide, so that results stay small.
#[derive(Clone, Debug)]
pub struct ToolError(Box<Told>);

/// What an error tells.
#[derive(Clone, Debug)]
pub struct Told {
    /// What went wrong, for programs.
    pub kind: ErrorKind,
    /// What went wrong, in a sentence that quotes the values concerned.
    pub what: String,
    /// What to do next.
    pub next: Next,
    /// What the error is about.
    pub about: About,
    /// The rule that decided, for refusals.
    pub rule: Option<String>,
    /// What had been done when it stopped, where a part of the result exists.
    pub so_far: Option<Box<ToolOutput>>,
    /// More for the person, never for the model: a backtrace, a path outside.
    pub detail: Option<String>,
    /// The error underneath.
    pub source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// What an error is about, as fields that programs can use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The file concerned, as the caller wrote it.
    pub path: Option<String>,
    /// What was being done to it.
    pub operation: Option<Operation>,
    /// Calls or commands that may help, ready to be sent.
    pub recovery: Vec<String>,
}

/// What was being done to a file when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reading its content.
    Read,
    /// Writing its content.
    Write,
    /// Finding or opening it.
    Access,
    /// Turning its bytes into text.
    Decode,
}

impl Operation {
    /// Returns the name of the operation in records.
    pub fn code(self) -> &'static str {
        match self {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Access => "access",
            Operation::Decode => "decode",
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
}

impl fmt::Display for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Next::FixArguments(words) | Next::AskUser(words) | Next::DoNotRetry(words) => f.write_str(words),
            Next::LookFirst { tool, at } => write!(f, "call \"{tool}\" to look at {at}"),
            Next::UseInstead { tool, to } => write!(f, "call \"{tool}\" {to}"),
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
        Self(Box::new(Told {
            kind,
            what: what.into(),
            next,
            about: About::default(),
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
                crate::kinds::Retry::Changed => Next::FixArguments(next),
                crate::kinds::Retry::Later | crate::kinds::Retry::Never => Next::DoNotRetry(next),
            },
        };
        Self::new(kind, what, next)
    }

    /// Says that a tool ran and did not work.
    pub fn failed(what: impl Into<String>, next: Next) -> Self {
        Self::new(ErrorKind::Failed, what, next)
    }

    /// Names the file concerned and what was being done to it.
    pub fn about_file(mut self, path: impl Into<String>, operation: Operation) -> Self {
        self.about.path = Some(path.into());
        self.about.operation = Some(operation);
        self
    }

    /// Adds a call or command that may help.
    pub fn recover_with(mut self, command: impl Into<String>) -> Self {
        self.about.recovery.push(command.into());
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
    type Target = Told;

    fn deref(&self) -> &Told {
        &self.0
    }
}

impl std::ops::DerefMut for ToolError {
    fn deref_mut(&mut self) -> &mut Told {
        &mut self.0
    }
}

impl std::error::Error for ToolError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn std::error::Error + 'static))
    }
}
