//! Decides which hosts commands may reach without a question, and which never, by the user's settings.
//!
//! The same value judges a command before it runs and each of its connections.

mod answers;
mod groups;
mod lists;
mod live_section;
pub mod records;
mod registries;
mod settings_files;
#[cfg(feature = "sandbox")]
mod tools;

pub use groups::{GroupHost, Groups};
pub use lists::HostLists;

use std::fmt;
use std::sync::Arc;

#[cfg(all(test, feature = "sandbox", feature = "model"))]
use haft_config::sections::network::NetworkSection;
use haft_config::sections::network::{Group, HostPattern, HostSelector};
use haft_config::settings::Settings;
#[cfg(all(feature = "sandbox", feature = "model"))]
use haft_contract::doors::connection::{ConnectionRequest, Decision, Speaks};
use haft_contract::effect::Host;
#[cfg(all(feature = "sandbox", feature = "model"))]
use haft_net::HostRules;
use haft_policy::decision;
use haft_policy::hosts::{HostOpinion, HostSettings};

use self::live_section::LiveSection;

/// The port of ssh, which does not name its host.
#[cfg(all(feature = "sandbox", feature = "model"))]
const SSH: u16 = 22;

/// The hosts of the settings, groups included.
pub struct HostsOfSettings {
    section: Arc<LiveSection>,
    groups: Groups,
}

/// A setting that fits a host.
struct HostSettingMatch<'a> {
    /// What is listed.
    listed: &'a HostSelector,
    /// The hosts that fit, and where they come from where a group has them.
    hosts: HostPattern,
    source: Option<String>,
}

impl HostSettingMatch<'_> {
    /// Says it as an opinion of a list.
    fn opinion(self, decision: decision::Decision, list: &str) -> HostOpinion {
        let reason = match self.source {
            Some(source) => format!("{} has {}: {source}.", self.listed, self.hosts),
            None => format!("The settings list {}.", self.hosts),
        };
        HostOpinion { decision, setting: format!("[network] {list} = [\"{}\"]", self.listed), reason }
    }
}

impl HostsOfSettings {
    /// Takes the hosts that settings name. Those of groups are found when they are needed.
    #[must_use]
    pub fn of(settings: &Settings, workspace: &std::path::Path) -> Self {
        Self::live(LiveSection::of(settings), settings, workspace)
    }

    /// The same for settings that were made for one purpose: the user's file does not change them.
    #[cfg(all(feature = "sandbox", feature = "model"))]
    #[must_use]
    pub fn unchanging(settings: &Settings, workspace: &std::path::Path) -> Self {
        Self::live(LiveSection::of(settings).unchanging(), settings, workspace)
    }

    /// Takes only what settings deny.
    #[must_use]
    pub fn denying(settings: &Settings, workspace: &std::path::Path) -> Self {
        Self::live(LiveSection::of(settings).only_denying(), settings, workspace)
    }

    fn live(section: LiveSection, settings: &Settings, workspace: &std::path::Path) -> Self {
        let section = Arc::new(section);
        Self { groups: Groups::of(section.clone(), settings, workspace), section }
    }

    /// Returns the groups.
    #[must_use]
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Finds the first entry of a list that fits. Groups are looked at last, those that must be found out after the rest.
    fn find<'a>(
        &self,
        listed: &'a [HostSelector],
        fits: impl Fn(&HostPattern) -> bool,
    ) -> Option<HostSettingMatch<'a>> {
        Self::find_with(listed, fits, |group| self.groups.hosts(group))
    }

    /// The same with what is known of groups without asking any tool.
    #[cfg(all(feature = "sandbox", feature = "model"))]
    fn find_known<'a>(
        &self,
        listed: &'a [HostSelector],
        fits: impl Fn(&HostPattern) -> bool,
    ) -> Option<HostSettingMatch<'a>> {
        Self::find_with(listed, fits, |group| self.groups.remembered(group))
    }

    fn find_with<'a>(
        listed: &'a [HostSelector],
        fits: impl Fn(&HostPattern) -> bool,
        hosts: impl Fn(Group) -> Vec<GroupHost>,
    ) -> Option<HostSettingMatch<'a>> {
        let by_name = listed.iter().find_map(|listed| match listed {
            HostSelector::Hosts(hosts) if fits(hosts) => {
                Some(HostSettingMatch { listed, hosts: hosts.clone(), source: None })
            }
            HostSelector::Hosts(_) | HostSelector::Group(_) => None,
        });
        let in_group = |group: Group| {
            let found = hosts(group).into_iter().find(|found| fits(&found.hosts));
            let listed = listed.iter().find(|listed| **listed == HostSelector::Group(group))?;
            found.map(|GroupHost { hosts, source }| HostSettingMatch { listed, hosts, source: Some(source) })
        };
        let mut groups: Vec<Group> = listed.iter().filter_map(HostSelector::group).collect();
        groups.sort_by_key(|group| *group == Group::Registries);
        by_name.or_else(|| groups.into_iter().find_map(in_group))
    }

    /// Decides about a connection, where a setting fits.
    #[cfg(all(feature = "sandbox", feature = "model"))]
    fn decide(&self, ConnectionRequest { host, port, speaks }: &ConnectionRequest) -> Option<Decision> {
        let section = self.section.now();
        let fits = |pattern: &HostPattern| pattern.fits(host, *port);
        if let Some(found) = self.find(&section.deny, fits) {
            let why = format!("[network] deny = [\"{}\"] of the settings denies it.", found.listed);
            return Some(Decision::Refuse { why });
        }
        let found = self.find(&section.allow, fits)?;
        // Who names a port means whatever speaks there; ssh has its own.
        let raw = *speaks == Speaks::Other && (found.hosts.port().is_some() || *port == SSH);
        // A private address is the user's own registry.
        let is_of_registries = *found.listed == HostSelector::Group(Group::Registries)
            || section.allow.contains(&HostSelector::Group(Group::Registries))
                && self.groups.remembered(Group::Registries).iter().any(|registry| fits(&registry.hosts));
        Some(Decision::Allow { raw, private: is_of_registries })
    }
}

impl fmt::Debug for HostsOfSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostsOfSettings").field("section", &self.section.now()).finish_non_exhaustive()
    }
}

impl HostSettings for HostsOfSettings {
    fn opinion(&self, host: &Host) -> Option<HostOpinion> {
        let (name, port) = named(&host.0);
        let fits = |pattern: &HostPattern| match port {
            Some(port) => pattern.fits(&name, port),
            None => pattern.fits_host(&name),
        };
        let section = self.section.now();
        let denied = self.find(&section.deny, fits);
        denied.map(|found| found.opinion(decision::Decision::Deny, "deny")).or_else(|| {
            let found = self.find(&section.allow, fits)?;
            Some(found.opinion(decision::Decision::Allow, "allow"))
        })
    }

    fn at_some_port(&self, host: &Host) -> Option<HostOpinion> {
        let (name, _) = named(&host.0);
        let section = self.section.now();
        if self.find(&section.deny, |pattern| pattern.fits_host(&name)).is_some() {
            return None;
        }
        let fits = |pattern: &HostPattern| pattern.port().is_some_and(|port| pattern.fits(&name, port));
        Some(self.find(&section.allow, fits)?.opinion(decision::Decision::Allow, "allow"))
    }

    fn group_of(&self, host: &str) -> Option<String> {
        let (name, port) = named(host);
        // A question names no port, and is about one that the group may mean.
        let has = |group: &Group| {
            let hosts = self.groups.remembered(*group);
            hosts.iter().any(|found| found.hosts.fits(&name, port.or(found.hosts.port()).unwrap_or_default()))
        };
        // The lists first: what is in them need not be found out.
        let groups = [Group::Github, Group::Docs, Group::Registries];
        groups.into_iter().find(has).map(|group| group.name().to_owned())
    }
}

/// Returns the name of a host as settings have it, and its port where one is named.
fn named(host: &str) -> (String, Option<u16>) {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    match host.rsplit_once(':').map(|(name, port)| (name.to_owned(), port.parse().ok())) {
        Some((name, Some(port))) if !name.contains(':') => (name, Some(port)),
        _ => (host, None),
    }
}

#[cfg(all(feature = "sandbox", feature = "model"))]
impl HostRules for HostsOfSettings {
    fn is_denied(&self, host: &str) -> bool {
        // It must not wait. What is found out later is refused when it connects.
        self.find_known(&self.section.now().deny, |pattern| pattern.fits_host(host)).is_some()
    }

    fn granted(&self, wanted: &ConnectionRequest) -> Option<Decision> {
        let is_by_name = |listed: &[HostSelector]| {
            listed
                .iter()
                .any(|listed| matches!(listed, HostSelector::Hosts(hosts) if hosts.fits(&wanted.host, wanted.port)))
        };
        // What has to be found out first is decided about when it is known.
        let section = self.section.now();
        let needs_registries = [&section.allow, &section.deny]
            .into_iter()
            .any(|listed| listed.contains(&HostSelector::Group(Group::Registries)) && !is_by_name(listed));
        if needs_registries && !self.groups.is_known() {
            return None;
        }
        self.decide(wanted)
    }

    fn names(&self, host: &str, port: u16) -> bool {
        let section = self.section.now();
        let is_named = |listed: &HostSelector| match listed {
            HostSelector::Hosts(hosts) => hosts.is_one_host() && hosts.fits(host, port),
            HostSelector::Group(_) => false,
        };
        section.allow.iter().any(is_named) && !self.is_denied(host)
    }

    fn prepare(&self) {
        let _known = self.groups.hosts(Group::Registries);
    }

    fn ports(&self) -> Vec<u16> {
        let section = self.section.now();
        let own = section.allow.iter().filter_map(|listed| match listed {
            HostSelector::Hosts(hosts) => hosts.port(),
            HostSelector::Group(_) => None,
        });
        let has = |group: &Group| section.allow.contains(&HostSelector::Group(*group));
        let of_groups = Group::ALL.into_iter().filter(has).flat_map(|group| self.groups.remembered(group));
        own.chain(of_groups.filter_map(|found| found.hosts.port())).collect()
    }
}

#[cfg(all(test, feature = "sandbox", feature = "model"))]
mod tests {
    use super::*;

    /// Settings as a file says them, in a home where nothing is found.
    fn hosts(network: &str) -> HostsOfSettings {
        let section: NetworkSection = haft_config::sections::network::section(network).expect("it is in order");
        HostsOfSettings {
            groups: Groups::knowing(&section, &["http://nexus.corp.example:8081/", "https://mirror.example"]),
            section: Arc::new(LiveSection::fixed(section)),
        }
    }

    fn decided(hosts: &HostsOfSettings, host: &str, port: u16, speaks: Speaks) -> Option<(bool, bool)> {
        match hosts.granted(&ConnectionRequest { host: host.to_owned(), port, speaks })? {
            Decision::Allow { raw, private } => Some((raw, private)),
            Decision::Refuse { why } => panic!("{why}"),
        }
    }

    #[test]
    fn registries_may_be_private_and_other_hosts_may_not() {
        let hosts = hosts("allow = [\"registries\", \"api.example\", \"github\"]\nregistries = [\"dl.example\"]");
        for (host, port, expected) in [
            ("nexus.corp.example", 8081, Some((false, true))),
            ("nexus.corp.example", 443, None),
            ("mirror.example", 443, Some((false, true))),
            ("dl.example", 443, Some((false, true))),
            ("api.example", 443, Some((false, false))),
            ("api.github.com", 443, Some((false, false))),
            ("other.example", 443, None),
        ] {
            assert_eq!(decided(&hosts, host, port, Speaks::Tls), expected, "{host}:{port}");
        }
        assert_eq!(decided(&hosts, "nexus.corp.example", 8081, Speaks::Other), Some((true, true)));
        assert_eq!(decided(&hosts, "api.github.com", 22, Speaks::Other), Some((true, false)));
        assert_eq!(hosts.ports(), [8081]);
    }

    #[test]
    fn a_fetch_may_reach_a_private_host_that_is_named_itself() {
        let hosts = hosts("allow = [\"wiki.corp\", \"10.0.0.9:8080\", \"*.below.corp\", \"*\"]\ndeny = [\"x.corp\"]");
        let named = [("wiki.corp", 443, true), ("10.0.0.9", 8080, true), ("10.0.0.9", 80, false)];
        let others = [("a.below.corp", 443, false), ("other.corp", 443, false), ("x.corp", 443, false)];
        for (host, port, expected) in named.into_iter().chain(others) {
            assert_eq!(hosts.names(host, port), expected, "{host}:{port}");
        }
    }

    #[test]
    fn deny_wins_over_every_way_to_allow() {
        for (allow, deny, host) in [
            ("*", "a.example", "a.example"),
            ("a.example", "*.example", "a.example"),
            ("registries", "mirror.example", "mirror.example"),
            ("mirror.example", "registries", "mirror.example"),
            ("github", "github", "github.com"),
        ] {
            let hosts = hosts(&format!("allow = [\"{allow}\"]\ndeny = [\"{deny}\"]"));
            let wanted = ConnectionRequest { host: host.to_owned(), port: 443, speaks: Speaks::Tls };
            assert!(matches!(hosts.granted(&wanted), Some(Decision::Refuse { .. })), "{allow} {deny}");
            assert!(hosts.is_denied(host), "{allow} {deny}");
            let opinion = hosts.opinion(&Host(host.to_owned())).expect("there is one");
            assert_eq!(opinion.decision, decision::Decision::Deny, "{allow} {deny}");
        }
    }

    #[test]
    fn the_judge_and_the_supervisor_say_the_same() {
        let hosts = hosts("allow = [\"registries\", \"*.below.example\", \"db.example:5432\"]");
        for host in [
            "mirror.example",
            "x.below.example",
            "MIRROR.example.",
            "below.example",
            "db.example",
            "nexus.corp.example",
        ] {
            let name = named(host).0;
            let is_granted = decided(&hosts, &name, 443, Speaks::Tls).is_some();
            assert_eq!(hosts.opinion(&Host(host.to_owned())).is_some(), is_granted, "{host}");
        }
        assert!(hosts.at_some_port(&Host("db.example".into())).is_some());
        assert!(hosts.at_some_port(&Host("nexus.corp.example".into())).is_some());
        assert!(hosts.at_some_port(&Host("mirror.example".into())).is_none());
        assert_eq!(hosts.group_of("mirror.example").as_deref(), Some("registries"));
        assert_eq!(hosts.group_of("nexus.corp.example").as_deref(), Some("registries"));
        assert_eq!(hosts.group_of("other.example"), None);
    }
}
