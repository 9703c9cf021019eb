//! Checks commands here: what confines them, and whether haft can undo their changes.
//!
//! It does not rely on what the system reports about itself: it runs a real command that does nothing.

use std::path::Path;

use haft_contract::doors::process::{Confinement, ConfinementLevel};
use haft_sandbox::{Launcher, Platform, how_to_get};

use super::fact;
use crate::exit::Exit;
use haft_host::host::{Host, block_on};
use haft_host::reports::examination::try_command;

/// Says how commands are confined, and whether their changes can be taken back.
pub(super) fn show(host: &Host) -> anyhow::Result<Exit> {
    let doors = host.runtime.doors();
    // Only a command shows whether the system gives a layer over the workspace.
    let tried = block_on(try_command(host))?;
    let confinement = doors.confinement();
    let (required, reached) = (confinement.required, confinement.reached);
    fact("sandbox", &format!("{} (the settings require \"{required}\")", confinement.level()))?;
    fact("", level(&confinement))?;
    if confinement.untried.is_some() {
        fact("", "haft could not test it, so no command runs")?;
    }
    // Below the full level the layers say all of it, and what each costs.
    let most = if reached == ConfinementLevel::Full { usize::MAX } else { 1 };
    for missing in confinement.missing.iter().take(most) {
        fact("", &format!("missing: {missing}"))?;
    }
    layers()?;
    let network = match (host.settings.surroundings.network, confinement.supervised, reached) {
        (true, ..) => "on for commands (by the settings)",
        (false, true, ConfinementLevel::Full) => "hosts by name; haft judges each connection when a command makes it",
        (false, true, _) => {
            "hosts by name through a proxy; haft judges each connection; weaker: only programs that use the proxy"
        }
        (false, false, ConfinementLevel::None) => "not confined",
        (false, false, _) => "off for commands; a command with network access that you agree to reaches every host",
    };
    fact("network", network)?;
    let shell = doors.processes.find_program(&["bash", "sh"]).map(|path| path.display().to_string());
    fact("shell", shell.as_deref().unwrap_or("none was found"))?;
    let undone = match tried {
        Ok(()) => "yes".to_owned(),
        Err(why) => format!("no: {why}"),
    };
    fact("undo of commands", &undone)?;
    Ok(if confinement.level() < required || confinement.untried.is_some() { Exit::Failed } else { Exit::Ok })
}

fn level(confinement: &Confinement) -> &'static str {
    match confinement.reached {
        ConfinementLevel::Full if confinement.layerless.is_some() => {
            "namespaces, its own file system, Landlock, seccomp; no layer, so commands change the real files directly"
        }
        ConfinementLevel::Full => "namespaces, its own file system, Landlock, seccomp",
        ConfinementLevel::Partial => "Landlock and seccomp; no namespaces, so commands change the real files directly",
        ConfinementLevel::None => "nothing confines commands, except that no program gains privileges",
    }
}

/// Says of each layer of the sandbox whether it works here, what a missing one costs, and how to get it.
fn layers() -> anyhow::Result<()> {
    let root = Path::new("/");
    let platforms = Platform::detect(root, haft_config::environment::variable);
    if !platforms.is_empty() {
        let names: Vec<&str> = platforms.iter().map(|platform| platform.name()).collect();
        fact("runs in", &names.join(", "))?;
    }
    let trials = match haft_sandbox::examine(&Launcher::own()) {
        Ok(trials) => trials,
        Err(why) => return fact("", &why),
    };
    let mut missing = Vec::new();
    for trial in &trials {
        let name = format!("  {}", trial.layer.name());
        match &trial.outcome {
            Ok(how) => fact(&name, how)?,
            Err(why) => {
                missing.push(trial.layer);
                fact(&name, &format!("missing: {why}. {}", trial.layer.cost()))?;
            }
        }
    }
    let mut label = "to get more";
    for remedy in how_to_get(&missing, &platforms, root) {
        fact(label, &remedy)?;
        label = "";
    }
    Ok(())
}
