//! The `haft` command: one file per subcommand, and the only place that prints.
//!
//! Data goes to stdout, messages go to stderr. Exit codes: 0 ok, 1 the tool failed, 2 usage or configuration, 3
//! refused, 4 timed out, 130 interrupted.

mod agent;
mod arguments;
mod caller;
mod commands;
mod deferred;
mod exit;
mod live;
mod notices;
mod prompt;
mod replay;
mod screen;
mod shown_diff;
mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use haft_config::environment::command_line;

use arguments::{CliArguments, CliCommand, blank_after_yes};
use exit::Exit;

fn main() -> ExitCode {
    // First of all: a launcher has nothing to do with anything below.
    haft_sandbox::launcher();
    haft_sandbox::ignore_file_size_signal();
    tell_only_places_of_panics();
    let words = command_line();
    if asks_only_for_version(&words) {
        return match screen::answer(concat!("haft ", env!("HAFT_VERSION"))) {
            Ok(()) => Exit::Ok.into(),
            Err(error) => exit_of(&error.into()),
        };
    }
    if let Some(wrong) = blank_after_yes(&words) {
        screen::talk(&format!("error: {wrong}"));
        return Exit::Usage.into();
    }
    let arguments = match CliArguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        // Help and version are answers; a usage error quotes what was typed, so it is made safe like any text.
        Err(told) if told.use_stderr() => {
            screen::talk(with_near_tips(told).render().to_string().trim_end());
            return Exit::Usage.into();
        }
        Err(told) => told.exit(),
    };
    if arguments.command.is_some() && arguments.terminal.is_given() {
        screen::talk(
            "error: write --model, --wire and --base-url after the command; --continue works only without a command",
        );
        return Exit::Usage.into();
    }
    if let Some(CliCommand::Exec(ref exec)) = arguments.command {
        return commands::agents::exec::run(&arguments.common, exec);
    }
    match run(&arguments) {
        Ok(exit) => exit.into(),
        Err(error) => exit_of(&error),
    }
}

/// Returns whether the version is all that is asked for. Programs ask often, and making the parser of arguments costs more
/// than the rest of such a start.
fn asks_only_for_version(words: &[OsString]) -> bool {
    matches!(words, [_, only] if only == "--version" || only == "-V")
}

/// Tells an error, and returns how the command ends.
fn exit_of(error: &anyhow::Error) -> ExitCode {
    // The reader of our output is gone, so the error has no recipient.
    if is_broken_pipe(error) {
        return Exit::Ok.into();
    }
    screen::talk(&format!("haft: {error:#}"));
    if is_of_the_system(error) { Exit::Failed.into() } else { Exit::Usage.into() }
}

/// Runs a subcommand.
fn run(arguments: &CliArguments) -> anyhow::Result<Exit> {
    match &arguments.command {
        Some(command) if command.can_be_long() => screen::pager::with_pager(&arguments.common, || dispatch(arguments)),
        Some(_) | None => dispatch(arguments),
    }
}

fn dispatch(arguments: &CliArguments) -> anyhow::Result<Exit> {
    match arguments.command {
        None => terminal::run(&arguments.common, &arguments.terminal),
        Some(CliCommand::Call(ref call)) => commands::calls::call::run(&arguments.common, call),
        Some(CliCommand::Hold(ref hold)) => commands::agents::exec::hold::run(&arguments.common, hold),
        Some(CliCommand::Tools(ref tools)) => commands::calls::tools::run(&arguments.common, tools),
        Some(CliCommand::Check(ref check)) => commands::calls::check::run(&arguments.common, check),
        Some(CliCommand::New(ref new)) => commands::calls::new_tool::run(&arguments.common, new),
        Some(CliCommand::Mcp(ref mcp)) => commands::agents::mcp::run(&arguments.common, mcp),
        Some(CliCommand::Rules(ref rules)) => commands::rules::run(&arguments.common, rules),
        Some(CliCommand::Network(ref network)) => commands::network::run(&arguments.common, network),
        Some(CliCommand::Setup(ref setup)) => commands::agents::setup::run(&arguments.common, setup),
        Some(CliCommand::Guard(ref guard)) => commands::agents::guard::run(&arguments.common, guard),
        Some(CliCommand::Trust(ref trust)) => commands::trust::run(&arguments.common, trust),
        Some(CliCommand::Doctor(ref doctor)) => commands::calls::doctor::run(&arguments.common, doctor),
        Some(CliCommand::Log(ref log)) => commands::changes::log::run(&arguments.common, log),
        Some(CliCommand::Blame(ref blame)) => commands::changes::blame::run(&arguments.common, blame),
        Some(CliCommand::Diff(ref diff)) => commands::changes::diff::run(&arguments.common, diff),
        Some(CliCommand::Undo(ref undo)) => commands::changes::undo::run(&arguments.common, undo),
        Some(CliCommand::Redo) => commands::changes::undo::run_redo(&arguments.common),
        Some(CliCommand::Gc(ref gc)) => commands::changes::gc::run(&arguments.common, gc),
        Some(CliCommand::Run(ref run)) => commands::models::run::run(&arguments.common, run),
        Some(CliCommand::Resume(ref resume)) => commands::models::resume::run(&arguments.common, resume),
        Some(CliCommand::Replay(ref replay)) => commands::models::replay::run(&arguments.common, replay),
        Some(CliCommand::Sessions(ref sessions)) => commands::models::sessions::run(&arguments.common, sessions),
        Some(CliCommand::Jobs(ref jobs)) => commands::jobs::run(&arguments.common, jobs),
        Some(CliCommand::Models(ref flags)) => commands::models::list::run(&arguments.common, flags),
        Some(CliCommand::Tour) => commands::tour::run(&arguments.common),
        Some(CliCommand::Man(ref man)) => commands::man::run(man),
        Some(CliCommand::Completions { shell }) => commands::completions::run(shell),
        Some(CliCommand::Exec(_)) => anyhow::bail!("this command needs its own streams"),
    }
}

/// A tool that breaks down says so in its result. The words of a panic may hold anything, so only its place is told.
fn tell_only_places_of_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        screen::talk(&format!("haft: a defect at {place}"));
    }));
}

/// Says whether the system refused something unnamed, such as memory for the answer: the user typed and set nothing
/// wrong. For a named thing, haft's words come before those of the system.
fn is_of_the_system(error: &anyhow::Error) -> bool {
    error.chain().next().is_some_and(|first| first.is::<std::io::Error>())
}

/// Takes a tip out of a usage error that names a flag which is not near: `--foo` does not mean `--yolo`.
fn with_near_tips(mut told: clap::Error) -> clap::Error {
    let text = |kind| match told.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let (wrong, tip) = (text(ContextKind::InvalidArg), text(ContextKind::SuggestedArg));
    if let (Some(wrong), Some(tip)) = (wrong, tip)
        && haft_contract::text::closest::closest(wrong, [tip].into_iter()).is_none()
    {
        // The usage names the same flag.
        told.remove(ContextKind::SuggestedArg);
        told.remove(ContextKind::Usage);
    }
    told
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
