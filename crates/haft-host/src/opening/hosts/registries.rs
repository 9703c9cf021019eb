//! Finds the hosts of the registries that the user's own tools use, and remembers them.
//!
//! haft has no list of registries. It keeps the hosts in the state folder, with the stamps of the settings files and of the
//! programs. If a stamp changes, haft asks the tools again. It never reads settings of a project.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use haft_config::environment::variables_of_tools;
use haft_config::settings::Settings;
use haft_workspace::state::{read_state_file, replace_own_file, stamps_of};
use serde::{Deserialize, Serialize};

use super::answers::host_of;
use super::groups::GroupHost;
use super::settings_files::{ToolSettingsFolders, in_variables};
#[cfg(feature = "sandbox")]
use super::tools::RegistryTools;

/// The file in the state folder.
const FILE: &str = "registries.json";
/// Variables whose values decide what is found, by the beginnings of their names.
const DECIDING: &[&str] =
    &["PATH", "HOME", "XDG_CONFIG_HOME", "npm_", "NPM_", "YARN_", "PIP_", "UV_", "GO", "CARGO_", "GEM", "BUNDLE_"];
/// How long an answer holds of tools of which one said nothing, in seconds.
const UNTIL_ASKED_AGAIN: u64 = 3_600;

/// Finds registries.
pub(super) struct Registries {
    file: PathBuf,
    home: PathBuf,
    workspace: PathBuf,
}

/// The hosts of registries that the last search found, as they are stored.
#[derive(Debug, Default, Serialize, Deserialize)]
struct RegistryCache {
    v: u32,
    stamp: String,
    /// When, in seconds since 1970.
    at: u64,
    hosts: Vec<RememberedHost>,
    silent: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct RememberedHost {
    host: String,
    source: String,
}

impl Registries {
    pub(super) fn of(settings: &Settings, workspace: &Path) -> Self {
        Self {
            file: settings.environment.state_folder.join(FILE),
            home: settings.surroundings.home.clone(),
            workspace: workspace.to_owned(),
        }
    }

    /// Finds nothing.
    #[cfg(test)]
    pub(super) fn nowhere() -> Self {
        Self { file: PathBuf::new(), home: PathBuf::new(), workspace: PathBuf::new() }
    }

    /// Returns the hosts: those that are remembered, where nothing has changed since.
    pub(super) fn find(&self) -> Vec<GroupHost> {
        let variables = variables_of_tools();
        let places = ToolSettingsFolders::of(&self.home, &variables);
        let search = RegistrySearch { variables: &variables, places: &places, registries: self };
        let stamp = search.stamp();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let is_fresh = |kept: &RegistryCache| {
            let is_whole = kept.silent.is_empty() || now.saturating_sub(kept.at) < UNTIL_ASKED_AGAIN;
            kept.v == 1 && kept.stamp == stamp && is_whole
        };
        if let Some(kept) = self.kept().filter(is_fresh) {
            return kept.group_hosts();
        }
        let (hosts, silent) = search.find();
        let hosts = hosts.into_iter().map(|(host, source)| RememberedHost { host, source }).collect();
        let found = RegistryCache { v: 1, stamp, at: now, hosts, silent };
        // Who cannot remember asks again the next time.
        let _ = serde_json::to_string_pretty(&found).map(|text| replace_own_file(&self.file, &text));
        found.group_hosts()
    }

    /// Returns what was found the last time, whatever has changed since.
    pub(super) fn remembered(&self) -> Vec<GroupHost> {
        self.kept().map(|kept| kept.group_hosts()).unwrap_or_default()
    }

    /// Returns the questions that tools did not answer the last time.
    pub(super) fn silent(&self) -> Vec<String> {
        self.kept().map(|kept| kept.silent).unwrap_or_default()
    }

    fn kept(&self) -> Option<RegistryCache> {
        serde_json::from_str(&read_state_file(&self.file)?).ok()
    }
}

impl RegistryCache {
    fn group_hosts(&self) -> Vec<GroupHost> {
        let host =
            |kept: &RememberedHost| Some(GroupHost { hosts: kept.host.parse().ok()?, source: kept.source.clone() });
        self.hosts.iter().filter_map(host).collect()
    }
}

/// One search for the hosts of registries.
struct RegistrySearch<'a> {
    variables: &'a [(OsString, OsString)],
    places: &'a ToolSettingsFolders,
    registries: &'a Registries,
}

impl RegistrySearch<'_> {
    /// Returns the hosts with their sources, and the tools that did not answer.
    fn find(&self) -> (BTreeMap<String, String>, Vec<String>) {
        let (mut addresses, silent) = self.ask_tools();
        addresses.extend(self.places.addresses());
        addresses.extend(in_variables(self.variables));
        let mut hosts = BTreeMap::new();
        for (address, source) in addresses {
            if let Some(host) = host_of(&address) {
                hosts.entry(host.to_string()).or_insert(source);
            }
        }
        (hosts, silent)
    }

    /// Sums up everything that decides what is found.
    fn stamp(&self) -> String {
        let mut places = self.places.all();
        places.extend(self.programs());
        let mut hasher = DefaultHasher::new();
        for (path, stamp) in stamps_of(&places) {
            (path, stamp).hash(&mut hasher);
        }
        let decides = |name: &OsString| DECIDING.iter().any(|begin| name.to_string_lossy().starts_with(begin));
        let mut variables: Vec<_> = self.variables.iter().filter(|(name, _)| decides(name)).collect();
        variables.sort_unstable();
        variables.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    #[cfg(feature = "sandbox")]
    fn tools(&self) -> RegistryTools {
        RegistryTools::of(&self.registries.home, &self.registries.workspace, self.variables)
    }

    #[cfg(feature = "sandbox")]
    fn programs(&self) -> Vec<PathBuf> {
        self.tools().programs()
    }

    #[cfg(not(feature = "sandbox"))]
    fn programs(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    #[cfg(feature = "sandbox")]
    fn ask_tools(&self) -> (Vec<(String, String)>, Vec<String>) {
        let answers = self.tools().ask();
        (answers.addresses, answers.silent)
    }

    /// Nothing can be run in this build, so only files and variables speak.
    #[cfg(not(feature = "sandbox"))]
    fn ask_tools(&self) -> (Vec<(String, String)>, Vec<String>) {
        let _ = &self.registries.workspace;
        (Vec::new(), Vec::new())
    }
}
