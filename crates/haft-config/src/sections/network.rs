//! Which hosts commands may reach: the section `[network]` of the user's settings.
//!
//! `allow` and `deny` list hosts (`api.example.com`), all hosts below a domain (`*.example.com`), hosts with one port
//! (`db.internal:5432`), every host (`*`), and groups by their names. Deny wins. A project can only deny.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// A group of hosts. What is in it is found out elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// The hosts that the user's own package managers name.
    Registries,
    /// The hosts of one large place for code.
    Github,
    /// Hosts of documentation.
    Docs,
}

impl Group {
    /// All of them.
    pub const ALL: [Group; 3] = [Group::Registries, Group::Github, Group::Docs];

    /// Returns its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Group::Registries => "registries",
            Group::Github => "github",
            Group::Docs => "docs",
        }
    }
}

/// What the user, and a project, say about hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkSection {
    /// Hosts that commands reach without a question.
    #[serde(default)]
    pub allow: Vec<HostSelector>,
    /// Hosts that they never reach.
    #[serde(default)]
    pub deny: Vec<HostSelector>,
    /// More hosts of the group `registries`, such as those that `haft network learn` saw.
    #[serde(default)]
    pub registries: Vec<HostPattern>,
    /// More hosts of the group `github`.
    #[serde(default)]
    pub github: Vec<HostPattern>,
    /// More hosts of the group `docs`.
    #[serde(default)]
    pub docs: Vec<HostPattern>,
}

/// Reads a section by itself, as it stands below `[network]`.
///
/// # Errors
///
/// Says what is wrong.
pub fn section(text: &str) -> Result<NetworkSection, String> {
    toml::from_str(text).map_err(|error| error.message().to_owned())
}

/// Reads the section from the text of a whole `config.toml`; fails where that has a mistake.
pub fn section_of_file(text: &str) -> Result<NetworkSection, String> {
    crate::file::parse(text).map(|file| file.network).map_err(|(_, problem, _)| problem)
}

impl NetworkSection {
    /// Returns the hosts that the user added to a group.
    pub fn added_to(&self, group: Group) -> &[HostPattern] {
        match group {
            Group::Registries => &self.registries,
            Group::Github => &self.github,
            Group::Docs => &self.docs,
        }
    }

    /// Allows every host that is not denied, for a run that finds out which ones a command needs.
    pub fn allow_all(&mut self) {
        let every = HostPattern { name: String::new(), is_below: true, port: None };
        // The group is named too: its hosts may be on private addresses.
        self.allow = vec![HostSelector::Group(Group::Registries), HostSelector::Hosts(every)];
    }

    /// Returns whether it opens anything, which a project cannot.
    pub(crate) fn opens(&self) -> bool {
        !self.allow.is_empty() || Group::ALL.iter().any(|group| !self.added_to(*group).is_empty())
    }
}

/// A pattern for hosts, or a group of hosts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum HostSelector {
    /// These hosts.
    Hosts(HostPattern),
    /// The hosts of this group.
    Group(Group),
}

impl HostSelector {
    /// Returns the group, where it is one.
    pub fn group(&self) -> Option<Group> {
        match self {
            HostSelector::Hosts(_) => None,
            HostSelector::Group(group) => Some(*group),
        }
    }
}

/// Some hosts, by their names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct HostPattern {
    /// The name; below which hosts are meant where `is_below` says so. Empty for every host.
    name: String,
    is_below: bool,
    port: Option<u16>,
}

impl HostPattern {
    /// Returns whether a port of a host is meant.
    pub fn fits(&self, host: &str, port: u16) -> bool {
        let is_port = self.port.is_none_or(|own| own == port);
        let below = || host.strip_suffix(&self.name).is_some_and(|rest| rest.ends_with('.'));
        is_port && if self.is_below { self.name.is_empty() || below() } else { host == self.name }
    }

    /// Returns whether every port of a host is meant.
    pub fn fits_host(&self, host: &str) -> bool {
        self.port.is_none() && self.fits(host, 0)
    }

    /// Returns whether it means exactly one host.
    pub fn is_one_host(&self) -> bool {
        !self.is_below
    }

    /// Returns the port that is meant, where it is one.
    pub fn port(&self) -> Option<u16> {
        self.port
    }
}

impl FromStr for HostPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim().trim_end_matches('.').to_ascii_lowercase();
        let no_host = || format!("{text:?} is not a host: write api.example.com, *.example.com or db.example.com:5432");
        let (name, port) = match text.rsplit_once(':').filter(|_| !text.contains('/')) {
            Some((name, port)) => {
                let port = port.parse().ok().filter(|port| *port > 0);
                (
                    name.to_owned(),
                    Some(port.ok_or_else(|| format!("{text:?} has no port from 1 to 65535 after the colon"))?),
                )
            }
            None => (text.clone(), None),
        };
        let (is_below, name) = match name.strip_prefix("*.") {
            _ if name == "*" => (true, String::new()),
            Some(name) => (true, name.to_owned()),
            None => (false, name),
        };
        let name = name.trim_end_matches('.').to_owned();
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
        let is_whole = !name.is_empty() && name.bytes().all(is_letter) && !name.starts_with('.') && name.len() <= 253;
        let is_every = is_below && name.is_empty();
        if !is_whole && !is_every {
            return Err(no_host());
        }
        Ok(Self { name, is_below, port })
    }
}

impl TryFrom<String> for HostPattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_below, self.name.is_empty()) {
            (true, true) => f.write_str("*")?,
            (true, false) => write!(f, "*.{}", self.name)?,
            (false, _) => f.write_str(&self.name)?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl fmt::Display for HostSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostSelector::Hosts(hosts) => hosts.fmt(f),
            HostSelector::Group(group) => f.write_str(group.name()),
        }
    }
}

impl FromStr for HostSelector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.to_owned().try_into()
    }
}

impl TryFrom<String> for HostSelector {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match Group::ALL.into_iter().find(|group| group.name() == text.trim()) {
            Some(group) => Ok(HostSelector::Group(group)),
            None => text.parse().map(HostSelector::Hosts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_the_hosts_that_it_says() {
        let fits =
            |pattern: &str, host: &str, port: u16| pattern.parse::<HostPattern>().expect("it is one").fits(host, port);
        for (pattern, host, port) in [
            ("api.example.com", "api.example.com", 443),
            ("API.Example.com.", "api.example.com", 80),
            ("api.example.com.:8443", "api.example.com", 8443),
            ("*.example.com", "a.b.example.com", 443),
            ("*", "anything.example", 22),
            ("db.internal:5432", "db.internal", 5432),
            ("*.internal:8443", "x.internal", 8443),
        ] {
            assert!(fits(pattern, host, port), "{pattern}");
        }
        for (pattern, host, port) in [
            ("example.com", "api.example.com", 443),
            ("*.example.com", "example.com", 443),
            ("*.example.com", "evilexample.com", 443),
            ("db.internal:5432", "db.internal", 443),
        ] {
            assert!(!fits(pattern, host, port), "{pattern}");
        }
        for wrong in ["", "a b", "*x.example", "host:0", "host:99999", "https://x.example", ".example", "a/b"] {
            assert!(wrong.parse::<HostPattern>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn groups_have_names_of_their_own() {
        let section: NetworkSection = toml::from_str("allow = [\"registries\", \"*.example.com\"]").expect("it is one");
        assert_eq!(section.allow[0], HostSelector::Group(Group::Registries));
        assert!(matches!(&section.allow[1], HostSelector::Hosts(hosts) if hosts.to_string() == "*.example.com"));
        assert!(toml::from_str::<NetworkSection>("allow = [\"no host\"]").is_err());
    }
}
