//! How commands are doing here: what confines them, and whether what they change can be taken back.
//!
//! Nothing is concluded from what the system says of itself: a command is really run, and does nothing.

use std::sync::Arc;
use std::time::Duration;

use haft_contract::call::CallId;
use haft_contract::context::{RunContext, Unheard};
use haft_contract::door::{Errand, Permit, SessionName};
use haft_contract::effect::{CommandLine, Effect, Exposure};
use haft_contract::path::{Extent, RawPath};
use haft_contract::process::{Command, Confinement, Level};
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
        fact("", "could not be tried just now, so no command runs")?;
    }
    for missing in &confinement.missing {
        fact("", &format!("missing: {missing}"))?;
    }
    parts()?;
    fact(
        "network",
        if host.settings.surroundings.network { "on for commands, by the settings" } else { "off for commands" },
    )?;
    let shell = processes.find_program(&["bash", "sh"]).map(|path| path.display().to_string());
    fact("shell", shell.as_deref().unwrap_or("none was found"))?;
    let undone = match block_on(tried(host, &confinement))? {
        Ok(()) => "yes".to_owned(),
        Err(why) => format!("no: {why}"),
    };
    fact("undo of commands", &undone)?;
    Ok(if reached < required || confinement.untried.is_some() { Exit::Failed } else { Exit::Ok })
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Full => "namespaces, a file system of its own, Landlock, seccomp",
        Level::Partial => "Landlock and seccomp; no namespaces, so commands change the real files at once",
        Level::None => "nothing confines commands, but that no program gains rights",
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
async fn tried(host: &Host, confinement: &Confinement) -> Result<(), String> {
    let doors = host.runtime.doors();
    let told = |error: haft_contract::error::ToolError| error.what.clone();
    let root = doors.look.locate(&RawPath::new("."), Extent::Tree).map_err(told)?;
    let folder = doors.look.real_path(&root).ok_or("the workspace has no real path")?;
    let exposure = Exposure::BelowRequired { required: confinement.required, reached: confinement.reached };
    let effects: Arc<[Effect]> = [Effect::Run(CommandLine(TRIAL.to_owned())), Effect::Expose(exposure)].into();
    let session = SessionName::new("doctor");
    let errand = Errand {
        call: CallId::new("doctor"),
        tool: "bash".to_owned(),
        session: session.clone(),
        run: "doctor".into(),
        turn: 1,
        purpose: haft_contract::door::Purpose::default(),
    };
    let permit = Permit::issue(errand, effects, Vec::new(), tokio_util::sync::CancellationToken::new());
    let cx = RunContext::new(&permit, doors, &Unheard, (&session, &host.settings.limits));
    let words = vec![TRIAL.into()];
    let command = Command::new(words, TRIAL, folder, TRIAL_TIME);
    let ran = cx.run(&command, &|_, _| {}).await.map_err(told)?;
    ran.uncovered.map_or(Ok(()), Err)
}
