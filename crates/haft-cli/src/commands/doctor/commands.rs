//! How commands are doing here: what confines them, and whether what they change can be taken back.
//!
//! Nothing is concluded from what the system says of itself: a command is really run, and does nothing.

use std::path::PathBuf;
use std::time::Duration;

use haft_contract::BoxFuture;
use haft_contract::context::RunContext;
use haft_contract::effect::CommandLine;
use haft_contract::error::ToolError;
use haft_contract::inspection::{Inspection, Inspector};
use haft_contract::path::{Extent, RawPath};
use haft_contract::process::{Command, Level};
use haft_sandbox::Launcher;

use super::fact;
use crate::exit::Exit;
use haft_host::host::{Host, block_on};

/// The command that is tried. It does nothing.
const TRIAL: &str = "true";
/// How long it may take.
const TRIAL_TIME: Duration = Duration::from_secs(10);

/// Says how commands are confined, and whether their changes can be taken back.
pub(super) fn show(host: &Host) -> anyhow::Result<Exit> {
    let processes = &host.runtime.doors().processes;
    let confinement = processes.confinement();
    let (required, reached) = (confinement.required, confinement.reached);
    fact("sandbox", &format!("{reached} (the settings require \"{required}\")"))?;
    fact("", level(reached))?;
    if confinement.untried.is_some() {
        fact("", "could not be tested just now, so no command runs")?;
    }
    for missing in &confinement.missing {
        fact("", &format!("missing: {missing}"))?;
    }
    parts()?;
    fact(
        "network",
        if host.settings.surroundings.network { "on for commands (by the settings)" } else { "off for commands" },
    )?;
    let shell = processes.find_program(&["bash", "sh"]).map(|path| path.display().to_string());
    fact("shell", shell.as_deref().unwrap_or("none was found"))?;
    let undone = match block_on(tried(host))? {
        Ok(()) => "yes".to_owned(),
        Err(why) => format!("no: {why}"),
    };
    fact("undo of commands", &undone)?;
    Ok(if reached < required || confinement.untried.is_some() { Exit::Failed } else { Exit::Ok })
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Full => "namespaces, its own file system, Landlock, seccomp",
        Level::Partial => "Landlock and seccomp; no namespaces, so commands change the real files directly",
        Level::None => "nothing confines commands, except that no program gains privileges",
    }
}

/// Says of each part of the sandbox whether it works here.
fn parts() -> anyhow::Result<()> {
    match haft_sandbox::examine(&Launcher::own()) {
        Ok(trials) => trials.iter().try_for_each(|trial| match &trial.outcome {
            Ok(how) => fact(&format!("  {}", trial.name), how),
            Err(why) => fact(&format!("  {}", trial.name), &format!("does not work: {why}")),
        }),
        Err(why) => fact("", &why),
    }
}

/// Runs the trial; says why what a command changes cannot be taken back.
async fn tried(host: &Host) -> Result<(), String> {
    let doors = host.runtime.doors();
    let told = |error: ToolError| doors.files.uncovered().unwrap_or_else(|| error.what.clone());
    let root = doors.look.locate(&RawPath::new("."), Extent::Tree).map_err(told)?;
    let folder = doors.look.real_path(&root).ok_or("the workspace has no real path")?;
    host.runtime.inspect(&Trial { folder }).await.map_err(told)
}

/// Runs a command that does nothing.
struct Trial {
    folder: PathBuf,
}

impl Inspection for Trial {
    type Found = ();

    fn tool(&self) -> &str {
        "bash"
    }

    fn line(&self) -> CommandLine {
        CommandLine(TRIAL.to_owned())
    }

    fn run<'a>(&'a self, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<(), ToolError>> {
        let command = Command::new(vec![TRIAL.into()], TRIAL, self.folder.clone(), TRIAL_TIME);
        Box::pin(async move { cx.run(&command, &|_, _| {}).await.map(drop) })
    }
}
