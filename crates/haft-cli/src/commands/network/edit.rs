//! `haft network allow` and `haft network deny`: add a host to a list in the user's `config.toml`.
//!
//! Naming the host is consent, so haft does not ask. It shows a group in full, so the user sees every host in it.

use clap::Args;
use haft_config::edits::network_edit::HostList;
use haft_config::sections::network::HostSelector;
use haft_config::settings::Settings;
use haft_host::opening::hosts::records::group_record;
use haft_host::opening::hosts::{HostLists, HostsOfSettings};
use serde_json::{Value, json};

use super::list::{say, show_group};
use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen;

#[derive(Args)]
pub(crate) struct Hosts {
    /// A host (api.example.com), all hosts below a domain (*.example.com), a host with a port (db.example.com:5432), or a group: registries, github, docs
    #[arg(required = true, value_name = "HOST", value_parser = host)]
    hosts: Vec<HostSelector>,
}

/// Allows hosts.
pub(super) fn allow(common: &Common, hosts: &Hosts) -> anyhow::Result<Exit> {
    edit(common, HostList::Allow, &hosts.hosts)
}

/// Denies hosts.
pub(super) fn deny(common: &Common, hosts: &Hosts) -> anyhow::Result<Exit> {
    edit(common, HostList::Deny, &hosts.hosts)
}

fn edit(common: &Common, list: HostList, hosts: &[HostSelector]) -> anyhow::Result<Exit> {
    if common.plan {
        return refused(common, "plan mode changes no settings; leave out --plan");
    }
    let settings = Settings::read(common.profile)?;
    let names: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    let is_new = HostLists::of_file(&settings.config_file).add(list, &names)?;
    let settings = Settings::read(common.profile)?;
    let all = HostsOfSettings::of(&settings, common.options().folder());
    let groups = hosts.iter().filter_map(HostSelector::group);
    if common.json {
        let groups = groups.map(|group| (group.name().to_owned(), group_record(&settings, all.groups(), group)));
        let groups = Value::Object(groups.collect());
        let record = json!({
            "v": 1, "list": list.name(), "hosts": names, "changed": is_new, "groups": groups,
            "config_file": settings.config_file,
        });
        screen::record(&record.to_string())?;
        return Ok(Exit::Ok);
    }
    let file = settings.config_file.display();
    say(&match is_new {
        true => format!("{file}: [network] {} now has {}.", list.name(), names.join(", ")),
        false => format!("{file}: [network] {} has {} already.", list.name(), names.join(", ")),
    })?;
    for group in groups {
        show_group(&settings, all.groups(), group)?;
    }
    if list == HostList::Allow {
        let denied = hosts.iter().filter(|host| settings.network.deny.contains(host));
        denied.for_each(|host| screen::talk(&format!("note: \"deny\" has {host} too, and deny wins")));
    }
    Ok(Exit::Ok)
}

/// Refuses to change anything.
pub(super) fn refused(common: &Common, what: &str) -> anyhow::Result<Exit> {
    match common.json {
        true => screen::record(&json!({ "v": 1, "error": { "kind": "denied", "what": what } }).to_string())?,
        false => screen::talk(&format!("haft: {what}.")),
    }
    Ok(Exit::Refused)
}

fn host(text: &str) -> Result<HostSelector, String> {
    text.parse()
}
