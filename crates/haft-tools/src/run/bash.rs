//! Runs commands in the workspace.
//!
//! Each call is a separate shell: its settings and processes do not outlive it. The session keeps only a background
//! command running. A command that ends with an error is still a successful call; the answer contains its status.
//!
//! Not here: confining the command and ending its processes (`haft-sandbox`), what becomes of its changes
//! (`haft-workspace`), whether it may run (`haft-policy`).

pub(crate) mod background;
mod data;
pub(crate) mod listening;
mod other_shapes;
pub mod reading;
pub(crate) mod report;
mod room;
pub(crate) mod shown;
mod skimming;
pub(crate) mod time;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use haft_contract::description::shape::ArgumentShape;
use haft_contract::doors::process::{CommandSpec, Conflict, Home, HowEnded, SettledCommand};
use haft_contract::effect::Exposure;
use haft_contract::outcome::error::CallFix;
use haft_contract::outcome::result::ToolResult;
use haft_contract::prelude::*;

use listening::Listening;
use reading::read_command;
use report::CommandReport;
use time::Time;

/// The longest command: the system takes no longer word.
const LONGEST_COMMAND: usize = 128 * 1024 - 1;
/// The shells that are looked for, the best first.
const SHELLS: [&str; 2] = ["bash", "sh"];

/// Runs commands.
pub struct Bash;

/// The arguments of `bash`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The command.
    command: String,
    /// What it does, in five to ten words.
    description: Option<String>,
    /// Time limit in seconds. Default {command_time}, at most {command_time_most}.
    timeout: Option<f64>,
    /// Default: the workspace.
    working_dir: Option<RawPath>,
    /// Keeps it running; "jobs" manages it.
    background: Option<bool>,
    /// Of the job.
    name: Option<String>,
}

/// What planning found.
pub struct Draft {
    folder: PathBuf,
    time: Time,
}

impl Tool for Bash {
    const NAME: &'static str = "bash";
    const DOES: AtMost = AtMost::Anything;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("command", &["cmd", "script", "shell_command"]),
        ("working_dir", &["cwd", "dir", "dir_path", "directory", "workdir", "working_directory"]),
        ("description", &["explanation", "justification"]),
        ("background", &["is_background", "run_in_background"]),
    ];
    const SHAPES: &'static [ArgumentShape] = other_shapes::SHAPES;
    const OTHER_NAMES: &'static [&'static str] = &[
        "Bash ms",
        "shell ms",
        "run_shell_command ms",
        "run_command",
        "execute_command",
        "execute_bash",
        "run_terminal_cmd",
        "run_in_terminal ms",
        "terminal",
        "local_shell ms",
        "shell_command ms",
        "container.exec ms",
    ];
    const PATHS: &'static [&'static str] = &["working_dir"];
    const TIMES: &'static [(&'static str, &'static str)] = &[("timeout", "timeout_ms")];
    type Args = Args;
    type Draft = Draft;

    fn manual(&self) -> Manual {
        Manual::read(include_str!("bash.md"))
    }

    async fn plan(&self, args: &Args, cx: &PlanContext<'_>) -> Result<(Plan, Draft), ToolError> {
        check_command(&args.command)?;
        background::check_name(args.name.as_deref())?;
        let root = RawPath::new(".");
        let target = cx.locate_tree(args.working_dir.as_ref().unwrap_or(&root))?;
        let mut effects = vec![Effect::Run(CommandLine(args.command.clone()))];
        let folder = match target.is_inside() {
            true => {
                let folder = folder_at(&target, cx)?;
                effects.extend(steps_of(&args.command, &folder, cx));
                folder
            }
            // The rules refuse it, before anybody looks.
            false => {
                effects.push(Effect::Read(target.clone()));
                PathBuf::new()
            }
        };
        effects.extend(exposures(cx).into_iter().map(Effect::Expose));
        let preview = Preview::Command(preview(args, &target));
        Ok((Plan::new(effects).preview(preview), Draft { folder, time: Time::chosen(args.timeout, cx.limits()) }))
    }

    async fn run(&self, args: Args, draft: Draft, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        let Draft { folder, mut time } = draft;
        let streams = cx.streams().filter(|_| args.background != Some(true));
        if let Some(streams) = streams {
            time = Time { seconds: streams.time(), note: None };
        }
        let (words, shell_note) = words(&args.command, cx);
        let command = CommandSpec::new(words, args.command, folder, time.seconds);
        let command = CommandSpec { home: Home::Session, streams: streams.cloned(), ..command };
        if args.background == Some(true) {
            return background::start(command, args.name, shell_note.into_iter().collect(), cx).await;
        }
        let listening = Listening::new(cx);
        let ran = cx.run(&command, &|stream, piece| listening.hear(stream, piece)).await;
        let heard = listening.end();
        let mut notes: Vec<String> = time.note.into_iter().chain(shell_note).collect();
        match ran {
            Ok(ran) => {
                notes.extend(background::seen_late(&command.line, &ran, cx));
                ended(ran, CommandReport::new(heard, notes, cx), time.seconds)
            }
            Err(mut error) => {
                // It may have run and said something before it failed.
                if !heard.is_silent() {
                    error.so_far = Some(Box::new(CommandReport::new(heard, notes, cx).of_output_alone()));
                }
                Err(error)
            }
        }
    }

    fn summary(&self, result: &ToolResult, max_lines: usize) -> Vec<String> {
        let status = result.exit_code.filter(|status| *status != 0);
        let first =
            status.filter(|_| result.error.is_none() && max_lines > 0).map(|status| format!("Exit code: {status}"));
        let left = max_lines - usize::from(first.is_some());
        first.into_iter().chain(result.default_summary(left)).collect()
    }
}

/// Returns what the parts of a command would do that starts in this folder.
pub(crate) fn steps_of(command: &str, folder: &Path, cx: &PlanContext<'_>) -> Vec<Effect> {
    let scene = reading::scene(cx.look(), folder);
    scene.iter().flat_map(|scene| read_command(command, scene, cx.look())).collect()
}

fn ended(ran: SettledCommand, report: CommandReport<'_>, limit: std::time::Duration) -> Result<ToolOutput, ToolError> {
    let how = ran.ended.how;
    let output = report.of(&ran);
    let mut error = match how {
        HowEnded::Exited(_) | HowEnded::Killed(_) if is_lost_to_others(&ran) => {
            let what = "Others changed the same files while the command ran, so none of its changes took their place.";
            ToolError::new(ErrorKind::Conflict, what, Next::FixArguments(Conflict::NEXT.to_owned()))
        }
        HowEnded::Exited(_) | HowEnded::Killed(_) => return Ok(output),
        HowEnded::TimedOut => {
            let seconds = limit.as_secs_f64();
            let what = format!("The command was stopped after {seconds} s, with everything that it had started.");
            let next = match &ran.ended.refused_hosts[..] {
                [] => Next::AnyOf(vec![
                    CallFix::new("do less in one call"),
                    CallFix::with("give it more time with {}", "timeout", Vec::new()),
                    CallFix::with("let it run on with {}", "background", vec![true.into()]),
                ]),
                // More time does not help a program that tries a refused host again and again.
                hosts => Next::FixArguments(format!("do without {}, or ask the user to allow it", hosts.join(", "))),
            };
            ToolError::new(ErrorKind::TimedOut, what, next)
        }
        HowEnded::Stopped => ToolError::of(ErrorKind::Cancelled, "The command was stopped."),
    };
    error.so_far = Some(Box::new(output));
    Err(error)
}

/// Returns whether nothing came in but copies beside files that others changed too.
fn is_lost_to_others(ran: &SettledCommand) -> bool {
    let conflicts = &ran.settled.conflicts;
    let is_copy = |target: &Target| conflicts.iter().any(|conflict| conflict.kept.as_ref() == Some(target));
    !conflicts.is_empty() && ran.settled.changes.iter().all(|change| is_copy(&change.target))
}

/// Refuses what no shell can be given.
fn check_command(command: &str) -> Result<(), ToolError> {
    let bad = |what: &str, next: &str| {
        Err(ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next.to_owned())))
    };
    if command.trim().is_empty() {
        return bad("\"command\" is empty. Nothing was run.", "write the command, such as bash(command=\"ls\")");
    }
    if command.contains('\0') {
        return bad(
            "\"command\" holds a NUL character. Nothing was run.",
            "write it as an escape, such as printf '\\0'",
        );
    }
    if command.len() > LONGEST_COMMAND {
        let next = "write it to a file with \"write_file\" and run that";
        return bad("\"command\" is longer than 128 KiB, which the system does not accept. Nothing was run.", next);
    }
    Ok(())
}

fn folder_at(target: &Target, cx: &PlanContext<'_>) -> Result<PathBuf, ToolError> {
    if cx.look().facts(target)?.kind != FileKind::Folder {
        let what = format!("{target} is not a folder, so no command can start in it.");
        return Err(ToolError::of(ErrorKind::NotAFolder, what));
    }
    let none = || ToolError::of(ErrorKind::Unavailable, "Commands cannot be run here: the workspace has no real path.");
    cx.look().real_path(target).ok_or_else(none)
}

/// Returns what stands open to a command here that should not.
pub(crate) fn exposures(cx: &PlanContext<'_>) -> Vec<Exposure> {
    let confinement = cx.confinement();
    let (required, reached) = (confinement.required, confinement.level());
    // haft does not ask to run with less than is required: it refuses the command or runs it as required.
    let is_below = reached < required && confinement.untried.is_none();
    let below = is_below.then_some(Exposure::BelowRequired { required, reached });
    below.into_iter().chain(cx.look().wide_workspace().map(Exposure::WideWorkspace)).collect()
}

/// What a person is shown: the whole command, where it starts, and what it is said to do.
fn preview(args: &Args, folder: &Target) -> String {
    let description =
        args.description.as_deref().map(|words| format!("# {}\n", haft_contract::files::path::one_line(words)));
    let background = if args.background == Some(true) { "# in the background, until the session ends\n" } else { "" };
    let starts = args.working_dir.as_ref().map(|_| format!("# in the folder {folder}\n"));
    format!("{}{background}{}{}", description.unwrap_or_default(), starts.unwrap_or_default(), args.command)
}

/// Returns the words to execute, and a sentence when it is not bash that runs them.
fn words(command: &str, cx: &RunContext<'_>) -> (Vec<OsString>, Option<String>) {
    let shell = cx.find_program(&SHELLS).unwrap_or_else(|| SHELLS[0].into());
    let is_bash = shell.file_name().is_some_and(|name| name == SHELLS[0]);
    let note = (!is_bash).then(|| format!("there is no bash here; {} ran it", shell.display()));
    // Without the user's start files: a call begins with nothing but what is said in it.
    let options: &[&str] = if is_bash { &["--noprofile", "--norc", "-c", "--"] } else { &["-c", "--"] };
    let options = options.iter().copied().chain([command]).map(OsString::from);
    (std::iter::once(shell.into_os_string()).chain(options).collect(), note)
}
