//! How the command ended, for the shell.

use std::process::ExitCode;

use haft_contract::outcome::result::Status;

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok,
    Failed,
    Usage,
    Refused,
    TimedOut,
    Interrupted,
}

impl From<Status> for Exit {
    fn from(status: Status) -> Self {
        match status {
            Status::Ok => Exit::Ok,
            Status::Failed => Exit::Failed,
            Status::Refused => Exit::Refused,
            Status::TimedOut => Exit::TimedOut,
            Status::Cancelled => Exit::Interrupted,
        }
    }
}

impl Exit {
    /// Returns the number that the shell gets.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Refused => 3,
            Exit::TimedOut => 4,
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}
