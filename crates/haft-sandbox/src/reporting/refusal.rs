//! Explains in words why haft does not run a command.

use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use haft_contract::doors::process::{CommandSpec, Confinement, NotRun};
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use rustix::io::Errno;

use crate::running::attend::NoFinish;
use crate::running::orders::NotStarted;

/// Most bytes of one word of a command line, as Linux has it.
const LONGEST_WORD: usize = 128 * 1024 - 1;

/// This program cannot be a launcher.
pub(crate) fn no_launcher() -> ToolError {
    let what = "Commands cannot be run: this program did not call haft::sandbox_launcher().";
    let next = "ask the user to add haft::sandbox_launcher() as the first line of main, before an async runtime starts";
    ToolError::new(ErrorKind::Unavailable, what, Next::AskUser(next.into()))
}

/// The sandbox is weaker than required, and the user did not agree to that.
pub(crate) fn below_required(confinement: &Confinement) -> ToolError {
    let Confinement { required, missing, .. } = confinement;
    let reached = confinement.level();
    let what = format!(
        "The sandbox reaches only the level \"{reached}\" here, and \"{required}\" is required. The command was not \
         run. {}",
        missing.join(" ")
    );
    let next = "ask the user to run \"haft doctor\", or to require less under [sandbox] in config.toml";
    ToolError::new(ErrorKind::Denied, what.trim_end(), Next::AskUser(next.into()))
}

/// It is not known which level there is.
pub(crate) fn untried(why: &str) -> ToolError {
    let what = format!("haft could not test the sandbox, and runs no command without that. {why}");
    let next = "retry; if it fails again, ask the user to run \"haft doctor\"";
    ToolError::new(ErrorKind::Unavailable, what, Next::RetryAfter(Duration::from_secs(1), next.into()))
}

/// The sandbox could not be entered, for a reason that may pass.
pub(crate) fn not_now(what: &str) -> ToolError {
    let what = format!("The sandbox cannot be entered just now, and the command was not run. {what}");
    ToolError::new(ErrorKind::Io, what.trim_end(), Next::RetryAfter(Duration::from_secs(1), "try again".into()))
}

/// No program can be given these words.
pub(crate) fn of_words(command: &CommandSpec) -> Result<(), ToolError> {
    if command.words.is_empty() {
        return Err(ToolError::of(ErrorKind::Bug, "The tool named no program to run."));
    }
    let folder = command.folder.as_os_str();
    if command.words.iter().map(|word| word.as_os_str()).chain([folder]).any(|word| word.as_bytes().contains(&0)) {
        let what = "The command contains a NUL character, which cannot be passed to a program. The command was not \
                    run.";
        let next = "write it as \\0 where a program makes the character itself, as printf does";
        return Err(ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next.into())));
    }
    Ok(())
}

/// It was tried and is not possible.
pub(crate) fn of_finish(why: NoFinish, command: &CommandSpec) -> NotRun {
    NotRun::Failed(match why {
        NoFinish::NoLayer(reason) | NoFinish::NotStarted(NotStarted::Unwatched(reason)) => {
            return NotRun::NoLayer(reason);
        }
        NoFinish::Missing(what) | NoFinish::NotStarted(NotStarted::Unconfined(what)) => {
            let next = "ask the user to run \"haft doctor\"";
            let what = format!("The command could not be confined and was not run. {what}");
            ToolError::new(ErrorKind::Unavailable, what, Next::AskUser(next.into()))
        }
        NoFinish::Passing(what) => not_now(&what),
        NoFinish::NotStarted(NotStarted::Folder(error)) => of_folder(error, command),
        NoFinish::NotStarted(NotStarted::Program(error)) => of_program(error, command),
        NoFinish::NotStarted(NotStarted::Fork(error)) => {
            let what = format!("The system starts no new process: {}. The command was not run.", words(error));
            ToolError::of(ErrorKind::Io, what)
        }
        NoFinish::NotStarted(NotStarted::Terminal(error)) => {
            let what = format!("No terminal can be made for the command: {}. The command was not run.", words(error));
            ToolError::of(ErrorKind::Io, what)
        }
        NoFinish::NoLauncher(what, Some(libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE)) => {
            ToolError::of(ErrorKind::Io, format!("The system has no room for one more process. {what}"))
        }
        NoFinish::Broken(what) | NoFinish::NoLauncher(what, _) => {
            let next = "ask the user whether haft::sandbox_launcher() is the first line of main of that program";
            ToolError::new(
                ErrorKind::Unavailable,
                format!("Commands cannot be run. {what}"),
                Next::AskUser(next.into()),
            )
        }
        NoFinish::Stuck => {
            let what = "Processes of the command do not end although they were killed: they hang in the kernel, for \
                        instance in a file system that does not answer. Their changes are discarded where they were \
                        kept apart.";
            ToolError::new(ErrorKind::Io, what, Next::AskUser("tell the user which command it was".into()))
        }
    })
}

fn of_folder(error: i32, command: &CommandSpec) -> ToolError {
    let folder = command.folder.display();
    let (kind, what) = match Errno::from_raw_os_error(error) {
        Errno::NOENT => (ErrorKind::MissingFile, format!("The folder {folder} does not exist for commands.")),
        Errno::NOTDIR => (ErrorKind::NotAFolder, format!("{folder} is not a folder.")),
        Errno::ACCESS | Errno::PERM => {
            (ErrorKind::Permission, format!("The system does not let commands enter the folder {folder}."))
        }
        _ => (ErrorKind::Io, format!("The folder {folder} cannot be entered: {}.", words(error))),
    };
    let next = "name a folder of the workspace that exists";
    ToolError::new(kind, format!("{what} The command was not run."), Next::FixArguments(next.into()))
}

fn of_program(error: i32, command: &CommandSpec) -> ToolError {
    let program = command.words.first().map(|word| word.display().to_string()).unwrap_or_default();
    let failed = |kind, what: String, next: &str| {
        ToolError::new(kind, format!("{what} The command was not run."), Next::FixArguments(next.into()))
    };
    match Errno::from_raw_os_error(error) {
        Errno::NOENT => {
            let what = format!("There is no program \"{program}\" that commands can see.");
            failed(ErrorKind::Failed, what, "name a program that is installed in a system folder")
        }
        Errno::TOOBIG => {
            let longest = command.words.iter().map(|word| word.len()).max().unwrap_or_default();
            let all: usize = command.words.iter().map(|word| word.len() + 1).sum();
            let what = if longest > LONGEST_WORD {
                format!("The command has {longest} bytes; the system takes at most {LONGEST_WORD} in one piece.")
            } else {
                format!("The command line has {all} bytes, which is more than the system takes.")
            };
            failed(ErrorKind::TooLarge, what, "write the script into a file of the workspace, then run that file")
        }
        Errno::ACCESS | Errno::PERM => {
            let what = format!("The system does not let commands execute \"{program}\".");
            failed(ErrorKind::Permission, what, "name a program that may be executed")
        }
        _ => {
            let what = format!("The program \"{program}\" cannot be executed: {}.", words(error));
            failed(ErrorKind::Failed, what, "name another program")
        }
    }
}

/// Says an error in the system's words, without its number.
fn words(error: i32) -> String {
    let said = std::io::Error::from_raw_os_error(error).to_string();
    said.split(" (os error").next().unwrap_or_default().to_owned()
}
