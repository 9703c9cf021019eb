//! `haft network list`: shows the groups in full, and the hosts that the settings allow and deny.

use haft_config::sections::network::Group;
use haft_config::settings::Settings;
use haft_host::opening::hosts::Groups;
use haft_host::opening::hosts::records::{record, state};
use haft_host::opening::loaded_workspace::{LoadedWorkspace, WorkspaceSearch};

use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen::{self, StyledText};

/// Runs the command.
pub(super) fn run(common: &Common) -> anyhow::Result<Exit> {
    let loaded = LoadedWorkspace::salvage(&common.options(), WorkspaceSearch::Named)?;
    let LoadedWorkspace { settings, rulebook, .. } = &loaded;
    let Some(hosts) = &rulebook.hosts else { return Ok(Exit::Failed) };
    let groups = hosts.groups();
    if common.json {
        screen::record(&record(settings, groups).to_string())?;
        return Ok(Exit::Ok);
    }
    for group in Group::ALL {
        show_group(settings, groups, group)?;
    }
    say(&format!("Settings ({}):", settings.config_file.display()))?;
    for (name, listed) in [("allow", &settings.network.allow), ("deny", &settings.network.deny)] {
        let words: Vec<String> = listed.iter().map(ToString::to_string).collect();
        let words = if words.is_empty() { "nothing".to_owned() } else { words.join(", ") };
        say(&format!("  {name:<5}  {words}"))?;
    }
    say("An answer \"for this session\" holds in that session only, and is not listed here.")?;
    Ok(Exit::Ok)
}

/// Shows a group in full.
pub(super) fn show_group(settings: &Settings, groups: &Groups, group: Group) -> anyhow::Result<()> {
    let state = match state(settings, group) {
        "" => String::new(),
        state => format!(" ({state})"),
    };
    say(&format!("{}{state}:", group.name()))?;
    let hosts = groups.hosts(group);
    let width = hosts.iter().map(|host| host.hosts.to_string().len()).max().unwrap_or_default();
    for host in &hosts {
        say(&format!("  {:<width$}  {}", host.hosts.to_string(), host.source))?;
    }
    if hosts.is_empty() {
        say("  no hosts yet; \"haft network learn -- COMMAND\" adds those that a command reaches")?;
    }
    if group == Group::Registries {
        for asked in groups.silent_tools() {
            say(&format!("  (\"{asked}\" did not answer)"))?;
        }
    }
    Ok(())
}

/// Prints one of haft's own lines. Names in it come from outside, and may reach a terminal through a pipe too.
pub(super) fn say(text: &str) -> std::io::Result<()> {
    screen::line(&[StyledText::Plain(text)])
}
