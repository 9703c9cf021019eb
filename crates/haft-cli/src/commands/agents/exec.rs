//! `haft exec`: runs one command in the sandbox, with undo, and with its own standard streams.
//!
//! The command takes the same path as every call (`haft_host::calling::exec`): in this process or, with `--session`, in the
//! process that holds the session. This side has the streams, the terminal and the person.

mod client;
mod guarded;
pub(crate) mod hold;
mod session;
mod suspending;

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{anyhow, bail};
use clap::Args;
use haft_config::environment::current_folder;
use haft_config::settings::Settings;
use haft_host::calling::exec::joining::JoinedSession;
use haft_host::calling::exec::line::quoted;
use haft_host::calling::exec::{mode_name, yes_name};
use haft_net::exec::{CommandRequest, ExecOutcome, Paper};
use haft_workspace::state::{is_session_name, real_path_of};

use crate::arguments::Common;
use crate::exit::Exit;
use crate::prompt::somebody_is_there;
use crate::screen;
use crate::terminal::input::of_command::{OwnTerminal, which_are_terminals};
use client::{Client, ClientEnd, NoteVisibility};

/// The version of this program, to which that of a holder is compared.
pub(in crate::commands) const BUILD: &str = env!("HAFT_VERSION");

#[derive(Args)]
#[command(after_help = "Examples:
  haft exec -- make test
  haft exec -c 'sort data.txt | uniq -c > counts.txt'
  haft exec --try -- ./migrate.sh
  haft exec --session build -- npm install

Exit codes: that of the command, 128 + n if signal n ended it, 1 failed, 2 usage or configuration, 3 refused, 4 timed out.
The last line on stderr names the changes; \"haft undo\" undoes them.")]
pub(crate) struct Exec {
    /// Run this line in a shell
    #[arg(short = 'c', value_name = "LINE", allow_hyphen_values = true, conflicts_with = "words", required_unless_present_any = ["words", "ticket"])]
    line: Option<OsString>,
    /// Run the call of another agent that haft guard judged under this ticket
    #[arg(long, value_name = "TICKET", requires = "session", hide = true)]
    ticket: Option<String>,
    /// Run in session ID, whose commands share home, /tmp, network and background jobs; the first command starts it
    #[arg(long, value_name = "ID", value_parser = session_name)]
    session: Option<String>,
    /// End the session when the process PID has ended
    #[arg(long, value_name = "PID", requires = "session")]
    owner: Option<i32>,
    /// End the command after SECONDS [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Run the command as a background job of the session; "haft jobs" manages it
    #[arg(long, requires = "session")]
    background: bool,
    /// The name of the background job
    #[arg(long, value_name = "NAME", requires = "background")]
    name: Option<String>,
    /// Suppress haft's own messages, except why a command was refused or failed
    #[arg(long)]
    quiet: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    words: Vec<OsString>,
}

/// Runs the command.
pub(crate) fn run(common: &Common, exec: &Exec) -> ExitCode {
    match outcome(common, exec) {
        Ok(ClientEnd::Ended(outcome)) => {
            if !exec.quiet || outcome.error.is_some() {
                show(common, &outcome);
            }
            if exec.ticket.is_some() {
                guarded::explain(&outcome);
            }
            exit_code(&outcome)
        }
        Ok(ClientEnd::Lost | ClientEnd::NotServed | ClientEnd::OtherVersion) => {
            screen::talk(
                "haft: the process that held the session was killed; the command ended with it, and its changes are \
                 discarded",
            );
            Exit::Failed.into()
        }
        Err(error) => {
            screen::talk(&format!("haft: {error:#}"));
            let is_of_system = error.chain().next().is_some_and(|first| first.is::<std::io::Error>());
            if is_of_system { Exit::Failed.into() } else { Exit::Usage.into() }
        }
    }
}

fn outcome(common: &Common, exec: &Exec) -> anyhow::Result<ClientEnd> {
    let settings = Settings::read(common.profile)?;
    let judged = guarded::call(common, exec, &settings)?;
    let line = match (&judged, exec.given_line()?) {
        (Some(call), _) => call.line.clone(),
        (None, Some(line)) => line,
        (None, None) => quoted(&exec.words),
    };
    if line.trim().is_empty() {
        bail!("name a program to run: haft exec -- PROGRAM");
    }
    let terminal = OwnTerminal::find();
    let mut request = CommandRequest { line, ..request(common, exec, &settings, &terminal) };
    if let Some(call) = &judged {
        guarded::note(call, &mut request, &settings);
    }
    let notes = if exec.quiet { NoteVisibility::LeftOut } else { NoteVisibility::Shown };
    let client = Client::new(request, terminal, notes)?;
    let owner =
        judged.as_ref().map_or(exec.owner, |call| call.owner.filter(|owner| owner.is_alive()).map(|owner| owner.pid));
    match &exec.session {
        Some(id) => {
            let session = JoinedSession::of(id, &common.options(), &settings);
            guarded::or_as_the_agent(session::joined(&session, owner, client), judged.as_deref())
        }
        None => session::alone(common, client),
    }
}

impl Exec {
    fn given_line(&self) -> anyhow::Result<Option<String>> {
        let text = |line: &OsString| Some(line.to_str()?.to_owned());
        self.line.as_ref().map(|line| text(line).ok_or_else(|| anyhow!("the line is no text in UTF-8"))).transpose()
    }
}

fn request(common: &Common, exec: &Exec, settings: &Settings, terminal: &Option<OwnTerminal>) -> CommandRequest {
    let bytes = |text: &OsString| text.as_bytes().to_vec();
    let surroundings = &settings.surroundings;
    let variables = match terminal {
        Some(_) => &surroundings.environment_at_terminal,
        None => &surroundings.environment,
    };
    let here = current_folder().unwrap_or_default();
    let folder = if common.workspace.is_some() { real_path_of(&here) } else { real_path_of(std::path::Path::new(".")) };
    let terminals = if exec.background { [true; 3] } else { which_are_terminals() };
    CommandRequest {
        build: BUILD.to_owned(),
        line: String::new(),
        folder: folder.as_os_str().as_bytes().to_vec(),
        environment: variables.iter().map(|(name, value)| (bytes(name), bytes(value))).collect(),
        terminals,
        foreground: terminal.as_ref().is_some_and(|terminal| terminals[..2] == [true; 2] && terminal.is_ours()),
        time: exec.timeout.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        yes: common.yes().map(|yes| yes_name(yes).to_owned()),
        mode: mode_name(common.mode()).to_owned(),
        paper: somebody_is_there().then(|| Paper { columns: screen::talk_width(), colours: screen::has_colours() }),
        background: exec.background,
        name: exec.name.clone(),
        has_owner: false,
        agent: None,
    }
}

/// Says what is to be said, the line about changes last.
fn show(common: &Common, outcome: &ExecOutcome) {
    if common.json {
        screen::talk(&outcome.record);
        return;
    }
    if !outcome.differences.is_empty() {
        screen::talk(outcome.differences.trim_end());
    }
    for line in outcome.notes.iter().chain(&outcome.error).chain(&outcome.changed) {
        screen::talk(&format!("haft: {line}"));
    }
}

fn exit_code(outcome: &ExecOutcome) -> ExitCode {
    let code = match (&*outcome.status, outcome.exit_code) {
        ("refused", _) => Exit::Refused.code(),
        ("timed_out", _) => Exit::TimedOut.code(),
        // It ended well, but what it changed did not arrive.
        ("failed", None | Some(0)) => Exit::Failed.code(),
        (_, Some(code)) => u8::try_from(code & 0xff).unwrap_or(1),
        ("cancelled", None) => Exit::Interrupted.code(),
        (_, None) => Exit::Ok.code(),
    };
    ExitCode::from(code)
}

fn session_name(id: &str) -> Result<String, String> {
    let odd = || "an ID has letters, digits, \"-\", \"_\" and \".\", at most 100".to_owned();
    is_session_name(id).then(|| id.to_owned()).ok_or_else(odd)
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().ok().filter(|number| *number > 0.0);
    let time = number.and_then(|number| Duration::try_from_secs_f64(number).ok());
    time.ok_or_else(|| "write a number of seconds, such as 30 or 0.5".to_owned())
}
