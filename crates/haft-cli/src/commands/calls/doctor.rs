//! `haft doctor`: checks this workspace, or one tool.
//!
//! It explains why a model does not call a tool or why a tool does not work: whether the tool is listed, whether each
//! provider accepts it, whether the rules allow it, and how its last call ended.

mod commands;

use haft_model::lower::ProviderDialect;
use haft_workspace::state::{WorkspaceUsage, read_config_file, real_path_of};

use crate::arguments::{Common, Doctor};
use crate::exit::Exit;
use crate::screen::{self, StyledText};
use haft_host::changes::gc::size;
use haft_host::host::{Host, block_on};
use haft_host::reports::examination::{how_far_undo_reaches, judged, last_call, skill_facts, tool_facts};
use haft_host::texts::shown_tools::{find, lowered};

/// What it means that the home is in the workspace.
const CONTAINS_HOME: &str = "contains your home folder: commands can change everything in it, and undo covers all of it. \
                             haft asks once before the first command, and --yes does not answer that question. Safer: work in a subfolder.";

/// Runs the command.
pub(crate) fn run(common: &Common, doctor: &Doctor) -> anyhow::Result<Exit> {
    let host = Host::salvage(&common.options())?;
    match &doctor.tool {
        None => workspace(common, &host),
        Some(name) => tool(common, &host, name),
    }
}

fn workspace(common: &Common, host: &Host) -> anyhow::Result<Exit> {
    let environment = &host.settings.environment;
    let config = &host.settings.config_file;
    let found = match read_config_file(config) {
        Ok(Some(_)) => "",
        Ok(None) => " (does not exist; all defaults)",
        Err(_) => " (cannot be read; all defaults)",
    };
    fact("workspace", &host.workspace.display().to_string())?;
    if real_path_of(&host.settings.surroundings.home).starts_with(&host.workspace) {
        fact("", CONTAINS_HOME)?;
    }
    fact("profile", host.settings.profile.name())?;
    fact("dialect", common.dialect.as_deref().unwrap_or("haft"))?;
    fact("config", &format!("{}{found}", config.display()))?;
    fact("state", &environment.state_folder.display().to_string())?;
    kept(host)?;
    fact("hidden values", &format!("{} from the environment", environment.secrets.len()))?;
    let entries = host.runtime.catalog().list_all();
    let deferred = entries.iter().filter(|entry| entry.shown().deferred).count();
    let deferred = if deferred > 0 { format!(", {deferred} deferred (haft tools --all)") } else { String::new() };
    fact("tools", &format!("{}{deferred}", host.runtime.catalog().len()))?;
    skill_facts(host)?.iter().try_for_each(|(name, value)| fact(name, value))?;
    let mut exit = Exit::Ok;
    for provider in ProviderDialect::ALL {
        let list = lowered(&entries, provider);
        for quarantined in &list.quarantined {
            fact(provider.name(), &quarantined.to_string())?;
            exit = Exit::Failed;
        }
    }
    let commands = commands::show(host)?;
    Ok(if exit == Exit::Ok { commands } else { exit })
}

/// Says how much haft keeps on the disk, and how far back undo reaches.
fn kept(host: &Host) -> anyhow::Result<()> {
    let here = host.state.usage();
    let all = WorkspaceUsage::of_all(&host.settings.environment.state_folder);
    let total: u64 = all.iter().map(WorkspaceUsage::total).sum();
    let noun = if all.len() == 1 { "workspace" } else { "workspaces" };
    let (here_size, all_size) = (size(here.total()), size(total));
    fact("", &format!("{here_size} for this workspace, {all_size} for {} {noun}: haft gc", all.len()))?;
    fact("undo", &how_far_undo_reaches(&here))
}

fn tool(common: &Common, host: &Host, name: &str) -> anyhow::Result<Exit> {
    let entry = find(host.runtime.catalog(), name)?;
    fact("listed", &format!("yes, as \"{}\" from {}", entry.shown().name, entry.toolset()))?;
    tool_facts(host, &entry)?.iter().try_for_each(|(name, value)| fact(name, value))?;
    let mut exit = Exit::Ok;
    for provider in ProviderDialect::ALL {
        let list = lowered(std::slice::from_ref(&entry), provider);
        let told = match (list.tools.first(), list.quarantined.first()) {
            (Some(lowered), _) if lowered.losses.is_empty() => "ok, nothing lost".to_owned(),
            (Some(lowered), _) => {
                let losses: Vec<String> = lowered.losses.iter().map(ToString::to_string).collect();
                format!("ok; {}", losses.join("; "))
            }
            (None, Some(quarantined)) => {
                exit = Exit::Failed;
                quarantined.to_string()
            }
            (None, None) => "not offered".to_owned(),
        };
        fact(&format!("for {provider}"), &told)?;
    }
    let mode = common.mode();
    for example in &entry.shown().manual.examples {
        fact("allowed", &block_on(judged(host, &entry, example, mode))?)?;
    }
    fact("last call", &last_call(host, name))?;
    if entry.native_name() == "bash" && commands::show(host)? != Exit::Ok {
        exit = Exit::Failed;
    }
    Ok(exit)
}

fn fact(name: &str, value: &str) -> anyhow::Result<()> {
    screen::line(&[StyledText::Faint(&format!("{name:<20}")), StyledText::Plain(value)])?;
    Ok(())
}
