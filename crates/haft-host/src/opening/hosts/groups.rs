//! The groups of hosts that settings name. Each host has its source.
//!
//! `github` and `docs` are lists (`groups.txt`). haft finds `registries` when it needs them, and then remembers them.

use std::path::Path;
use std::sync::{Arc, OnceLock};

#[cfg(test)]
use haft_config::sections::network::NetworkSection;
use haft_config::sections::network::{Group, HostPattern};
use haft_config::settings::Settings;

use super::live_section::LiveSection;
use super::registries::Registries;

const LISTS: &str = include_str!("groups.txt");
/// Where hosts of a list come from.
const LISTED: &str = "haft lists it";
/// Where hosts come from that the user added.
const ADDED: &str = "config.toml adds it";

/// A host of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupHost {
    /// The host, with a port where only that one is meant.
    pub hosts: HostPattern,
    /// Where it comes from, as a clause.
    pub source: String,
}

/// The groups.
pub struct Groups {
    section: Arc<LiveSection>,
    registries: Registries,
    found: OnceLock<Vec<GroupHost>>,
}

impl Groups {
    pub(super) fn of(section: Arc<LiveSection>, settings: &Settings, workspace: &Path) -> Self {
        Self { section, registries: Registries::of(settings, workspace), found: OnceLock::new() }
    }

    /// Knows these addresses of registries.
    #[cfg(test)]
    pub(super) fn knowing(section: &NetworkSection, addresses: &[&str]) -> Self {
        let host = |address: &&str| GroupHost {
            hosts: super::answers::host_of(address).expect("it has a host"),
            source: "the test names it".to_owned(),
        };
        let found = OnceLock::from(addresses.iter().map(host).collect::<Vec<_>>());
        let section = Arc::new(LiveSection::fixed(section.clone()));
        Self { section, registries: Registries::nowhere(), found }
    }

    /// Returns the hosts of a group. For `registries` this may ask the user's tools, once.
    #[must_use]
    pub fn hosts(&self, group: Group) -> Vec<GroupHost> {
        let mut hosts = match group {
            Group::Registries => self.found.get_or_init(|| self.registries.find()).clone(),
            Group::Github | Group::Docs => listed(group),
        };
        hosts.extend(self.added(group));
        hosts
    }

    /// Returns the tools that did not answer when the registries were found out.
    #[must_use]
    pub fn silent_tools(&self) -> Vec<String> {
        self.registries.silent()
    }

    /// Returns whether the registries are known.
    pub(super) fn is_known(&self) -> bool {
        self.found.get().is_some()
    }

    /// Returns what is known of a group without asking any tool.
    pub(super) fn remembered(&self, group: Group) -> Vec<GroupHost> {
        match group {
            Group::Registries if !self.is_known() => {
                self.registries.remembered().into_iter().chain(self.added(group)).collect()
            }
            group => self.hosts(group),
        }
    }

    fn added(&self, group: Group) -> Vec<GroupHost> {
        let section = self.section.now();
        let added = section.added_to(group).iter();
        added.map(|hosts| GroupHost { hosts: hosts.clone(), source: ADDED.to_owned() }).collect()
    }
}

fn listed(group: Group) -> Vec<GroupHost> {
    let lines = LISTS.lines().filter_map(|line| line.split_once(' '));
    let hosts = lines.filter(|(name, _)| *name == group.name()).filter_map(|(_, host)| host.parse().ok());
    hosts.map(|hosts| GroupHost { hosts, source: LISTED.to_owned() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_lists_is_a_host_of_a_group_and_no_group_lists_registries() {
        for line in LISTS.lines().filter(|line| !line.starts_with('#')) {
            let (group, host) = line.split_once(' ').expect("a group and a host");
            assert!(["github", "docs"].contains(&group), "{line}");
            assert!(host.parse::<HostPattern>().is_ok(), "{line}");
        }
        assert!(!listed(Group::Github).is_empty() && !listed(Group::Docs).is_empty());
        assert!(listed(Group::Registries).is_empty());
    }
}
