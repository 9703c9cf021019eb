//! `haft network learn`: runs a command with every host allowed, and adds the hosts that it reached to a group.
//!
//! A tool often downloads from other hosts than those in its settings. The command runs like any other: in the sandbox,
//! judged by the rules, with its changes in the journal.

use std::io;

use clap::Args;
use haft_config::edits::network_edit::HostList;
use haft_config::sections::network::Group;
use haft_config::settings::Settings;
use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::doors::reader::Audience;
use haft_contract::outcome::error::AdvanceYes;
use haft_contract::outcome::result::Status;
use haft_host::calling::exec::line::line_of;
use haft_host::host::{Host, block_on};
use haft_host::opening::hosts::records::new_hosts;
use haft_host::opening::hosts::{HostLists, HostsOfSettings};
use haft_host::opening::project_files::OnUntrusted;
use haft_host::options::{HostAccess, Options};
use haft_host::texts::for_person::for_reader;
use haft_mcp::client::commands::Console;
use haft_runtime::record;
use serde_json::json;

use super::edit::refused;
use super::list::say;
use crate::arguments::Common;
use crate::caller::CallerKind;
use crate::commands::calls::call::interruptible;
use crate::exit::Exit;
use crate::prompt::somebody_is_there;
use crate::screen;

#[derive(Args)]
pub(crate) struct Learn {
    /// The group that gets the hosts: registries, github or docs
    #[arg(long, value_name = "GROUP", default_value = "registries", value_parser = group)]
    group: Group,
    /// The command and its arguments; a single argument is a whole command line
    #[arg(required = true, value_name = "COMMAND", last = true)]
    command: Vec<String>,
}

/// Runs the command.
pub(super) fn run(common: &Common, learn: &Learn) -> anyhow::Result<Exit> {
    if common.plan || common.tries {
        return refused(common, "a command that changes nothing may reach other hosts; leave out --plan and --try");
    }
    // The ports of registries must be known when the network of the session begins.
    let settings = Settings::read(common.profile)?;
    let _known = HostsOfSettings::of(&settings, common.options().folder()).groups().hosts(Group::Registries);
    let options = Options { hosts: HostAccess::All, ..common.options() };
    let host = Host::open_for(&options, OnUntrusted::Ask)?;
    let session = CallerKind::OneCall.session(&host, common);
    let origin = CallerKind::OneCall.origin(common);
    let arguments = json!({ "command": line_of(&learn.command) }).to_string();
    let call = ToolCall::new("bash", RawArguments::Text(arguments)).by(origin);
    let result = block_on(interruptible(&host, &session, call))?;
    let result = for_reader(result, Audience::of(origin));
    host.note_call(&result);
    if !common.json {
        screen::talk(&result.text());
    }
    let new = new_hosts(&host, &result, learn.group);
    let is_added = !new.is_empty() && (common.yes() == Some(AdvanceYes::ToAll) || agreed(common, &new, learn.group)?);
    if is_added {
        HostLists::of_file(&host.settings.config_file).add(HostList::Group(learn.group), &new)?;
    }
    let (group, names) = (learn.group.name(), new.join(", "));
    match (is_added, new.is_empty()) {
        _ if common.json => {
            let result = record::of_result(&result);
            let record = json!({ "v": 1, "group": group, "new": new, "added": is_added, "result": result });
            screen::record(&record.to_string())?;
        }
        (true, _) => say(&format!("Added to {group}: {names}"))?,
        (false, true) => say(&format!("The command reached no host that {group} does not have."))?,
        (false, false) => {
            screen::talk(&format!("Nothing was added. The command reached {names}."));
            screen::talk("To add them, run the same command with --yes, or at a terminal where you can answer.");
        }
    }
    Ok(match result.status {
        Status::Ok if !new.is_empty() && !is_added => Exit::Refused,
        status => status.into(),
    })
}

/// Asks at the terminal; without one the answer is no.
fn agreed(common: &Common, new: &[String], group: Group) -> io::Result<bool> {
    if common.json || !somebody_is_there() {
        return Ok(false);
    }
    screen::talk(&format!("The command reached hosts that {} does not have:", group.name()));
    new.iter().for_each(|host| screen::talk(&format!("  {host}")));
    let question = format!("Add them to [network] {} of your config.toml?", group.name());
    Ok(common.asks(&question)? == Some(true))
}

fn group(name: &str) -> Result<Group, String> {
    let names = Group::ALL.map(Group::name);
    let found = Group::ALL.into_iter().find(|group| group.name() == name);
    found.ok_or_else(|| format!("there is no such group; choose one of {}", names.join(", ")))
}
