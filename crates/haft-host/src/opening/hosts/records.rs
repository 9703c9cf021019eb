//! The hosts of the settings as records for programs, and the hosts that a command reached (`haft network`).

use std::collections::BTreeSet;

use haft_config::sections::network::{Group, HostPattern, HostSelector};
use haft_config::settings::Settings;
use haft_contract::doors::connection::{HostOutcome, ReachedHost};
use haft_contract::outcome::result::ToolResult;
use serde_json::{Value, json};

use super::{Groups, HostsOfSettings};
use crate::host::Host;

/// Ports that a grant of a host covers without naming them.
const USUAL: [u16; 3] = [22, 80, 443];

/// Returns the hosts that were reached and that the group does not have, with their ports where those are unusual.
pub fn new_hosts(host: &Host, result: &ToolResult, group: Group) -> Vec<String> {
    let hosts = HostsOfSettings::of(&host.settings, &host.workspace);
    let known = hosts.groups().hosts(group);
    let is_new = |reached: &&ReachedHost| {
        let is_known = known.iter().any(|known| known.hosts.fits(&reached.host, reached.port));
        reached.outcome == HostOutcome::Reached && !is_known
    };
    let named = |reached: &ReachedHost| {
        let name = match USUAL.contains(&reached.port) {
            true => reached.host.clone(),
            false => format!("{}:{}", reached.host, reached.port),
        };
        Some(name.parse::<HostPattern>().ok()?.to_string())
    };
    let new: BTreeSet<String> = result.network.iter().filter(is_new).filter_map(named).collect();
    new.into_iter().collect()
}

/// Says in a word what the settings say of a group; nothing where they say nothing.
pub fn state(settings: &Settings, group: Group) -> &'static str {
    let has = |listed: &[HostSelector]| listed.contains(&HostSelector::Group(group));
    match (has(&settings.network.deny), has(&settings.network.allow)) {
        (true, _) => "denied",
        (false, true) => "allowed",
        (false, false) => "",
    }
}

/// Returns the record of a group.
pub fn group_record(settings: &Settings, groups: &Groups, group: Group) -> Value {
    let hosts = groups.hosts(group);
    let hosts = hosts.iter().map(|host| json!({ "host": host.hosts.to_string(), "source": host.source }));
    let mut record = json!({ "hosts": hosts.collect::<Vec<_>>() });
    let state = state(settings, group);
    record["state"] = if state.is_empty() { "undecided".into() } else { state.into() };
    if group == Group::Registries {
        record["silent"] = groups.silent_tools().into();
    }
    record
}

/// Returns the groups and the lists of the settings, for programs.
pub fn record(settings: &Settings, groups: &Groups) -> Value {
    let of_groups = Group::ALL.map(|group| (group.name().to_owned(), group_record(settings, groups, group)));
    let listed = |listed: &[HostSelector]| listed.iter().map(ToString::to_string).collect::<Vec<_>>();
    json!({
        "v": 1,
        "groups": Value::Object(of_groups.into_iter().collect()),
        "allow": listed(&settings.network.allow),
        "deny": listed(&settings.network.deny),
        "config_file": settings.config_file,
    })
}
