//! The user's settings about hosts, for the judge.
//!
//! The same value decides about a command before it runs, and about its connections while it runs.
//!
//! Not here: the settings and groups themselves (`haft-host`), the connections (`haft-net`).

use std::fmt;

use haft_contract::effect::{CommandStep, Effect, Host, StepEffect};

use crate::decision::{Class, Decision, Ruling};

/// The hosts of the settings.
pub trait HostSettings: fmt::Debug + Send + Sync {
    /// Returns what the settings say of a host, where they say something. It may take a moment the first time.
    fn opinion(&self, host: &Host) -> Option<HostOpinion>;

    /// Returns what the settings allow of a host where they allow only some of its ports. A command that names the host
    /// needs no question then: its connections are judged with their ports.
    fn at_some_port(&self, host: &Host) -> Option<HostOpinion>;

    /// Returns the group that has a host, as far as that is known without asking any tool.
    fn group_of(&self, host: &str) -> Option<String>;
}

/// What the settings say of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostOpinion {
    /// Whether it may be reached.
    pub decision: Decision,
    /// The setting, as it stands in the file.
    pub setting: String,
    /// Why, in a sentence.
    pub reason: String,
}

impl From<HostOpinion> for Ruling {
    fn from(HostOpinion { decision, setting, reason }: HostOpinion) -> Self {
        let instead = match decision {
            Decision::Deny => "do without this host",
            Decision::Allow | Decision::Ask => "",
        };
        Self { decision, class: Class::Ordinary, rule: setting, reason, instead: instead.to_owned() }
    }
}

/// Returns the host that an effect connects to.
pub fn host_of(effect: &Effect) -> Option<&Host> {
    match effect {
        Effect::Connect(host) | Effect::Step(CommandStep { does: StepEffect::Connect(Some(host)), .. }) => Some(host),
        _ => None,
    }
}

/// Returns the smallest setting that would allow these hosts: groups where hosts belong to one, else their names.
pub fn setting_for(hosts: &[&str], settings: Option<&dyn HostSettings>) -> HostSetting {
    let mut names: Vec<String> = Vec::new();
    let mut belongs = Vec::new();
    for host in hosts {
        let group = settings.and_then(|settings| settings.group_of(host));
        belongs.extend(group.iter().map(|group| format!("{host} belongs to {group}")));
        let name = group.unwrap_or_else(|| (*host).to_owned());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    belongs.dedup();
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    HostSetting { line: format!("[network] allow = [{}]", quoted.join(", ")), names, belongs }
}

/// A setting that would allow hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSetting {
    /// As it would stand in `config.toml`, in one line.
    pub line: String,
    /// What the line lists: hosts and groups.
    pub names: Vec<String>,
    /// Which host belongs to which group, a clause each.
    pub belongs: Vec<String>,
}

impl fmt::Display for HostSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)?;
        if self.belongs.is_empty() { Ok(()) } else { write!(f, " ({})", self.belongs.join(", ")) }
    }
}
