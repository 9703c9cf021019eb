//! Starts a server in a sandbox of its own.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
#[cfg(feature = "model")]
use std::sync::Arc;

use haft_config::settings::Settings;
use haft_contract::error::ToolError;
use haft_contract::kinds::ErrorKind;
use haft_contract::process::Level;
#[cfg(feature = "model")]
use haft_net::{NetworkOfSession, supervisor::HostDial};
use haft_sandbox::Sandbox;
use haft_sandbox::sandbox::server::{ServerCommand, ServerProcess as Process};
use haft_workspace::state::real_path_of;

use super::records::ServerRecords;
use super::{Reach, ServerScope, ServerSpec};
use crate::host::sandbox;
#[cfg(feature = "model")]
use crate::hosts::HostsOfSettings;

/// Variables of the user's that every server gets.
const VARIABLES: [&str; 11] = [
    "PATH",
    "USER",
    "LOGNAME",
    "TZ",
    "LC_ALL",
    "TERM",
    "TMPDIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NIX_SSL_CERT_FILE",
    "JAVA_HOME",
];
/// Files that lie in the root folder of a package.
const PACKAGE_FILES: [&str; 5] = ["package.json", "pyproject.toml", "Cargo.toml", "go.mod", ".git"];
/// How far above a named file the root of its package is looked for.
const MOST_ABOVE: usize = 6;

/// A server that runs. When it is dropped, all its processes end.
#[derive(Debug)]
pub struct ServerProcess(Process);

impl ServerProcess {
    /// Takes the pipes: the one to write to it, the one to read from it. They can be taken once.
    pub fn take_pipes(&mut self) -> Option<(OwnedFd, OwnedFd)> {
        self.0.take_pipes()
    }

    /// Returns the end of what it wrote to its errors.
    #[must_use]
    pub fn last_errors(&self) -> String {
        self.0.last_errors()
    }

    /// Returns how strongly it is confined.
    #[must_use]
    pub fn level(&self) -> Level {
        self.0.level()
    }

    /// Waits until all its processes have ended; returns how it ended, as a sentence.
    pub async fn ended(&self) -> String {
        self.0.ended().await
    }

    /// Returns how it ended, if it has.
    #[must_use]
    pub fn how_it_ended(&self) -> Option<String> {
        self.0.how_it_ended()
    }

    /// Asks all its processes to end, and kills those that do not end soon.
    pub fn stop(&self) {
        self.0.stop();
    }
}

/// Starts a server for a workspace. `key` names its record.
///
/// # Errors
///
/// Fails if haft does not start such servers, or cannot confine it as the settings require.
pub fn start(spec: &ServerSpec, key: &str, scope: &ServerScope) -> Result<ServerProcess, ToolError> {
    let ServerScope { settings, workspace, .. } = scope;
    let Reach::Command { words, folder } = &spec.reach else {
        return Err(ToolError::of(ErrorKind::Unavailable, "haft does not start a server that has an address."));
    };
    let own_folder = ServerRecords::of(scope).own_folder(key).map_err(|error| {
        ToolError::of(ErrorKind::Io, format!("haft cannot make a folder for the server: {error}. It was not started."))
    })?;
    let folder = folder.as_ref().map_or_else(|| workspace.to_owned(), |folder| real_path_of(folder));
    let mut readable = named_places(words, &settings.surroundings.home);
    readable.extend([workspace.to_owned(), folder.clone()]);
    let command = ServerCommand {
        words: words.iter().map(OsString::from).collect(),
        folder,
        environment: environment(spec, settings),
        readable,
        own_folder,
    };
    let sandbox = supervised(sandbox(settings), spec, (settings, workspace));
    sandbox.start_server(&command).map(ServerProcess)
}

/// Returns the variables that a server gets: a few of the user's, and those that its file sets.
fn environment(spec: &ServerSpec, settings: &Settings) -> Vec<(OsString, OsString)> {
    let is_set = |name: &OsString| name.to_str().is_some_and(|name| spec.environment.contains_key(name));
    let usual = settings.surroundings.environment.iter();
    let usual = usual.filter(|(name, _)| VARIABLES.iter().any(|usual| name == usual) && !is_set(name)).cloned();
    // The home is that of the sandbox.
    let own = spec.environment.iter().filter(|(name, _)| *name != "HOME");
    usual.chain(own.map(|(name, value)| (name.into(), value.into()))).collect()
}

/// Returns what the command line names by an absolute path, with the package around a file. The home itself, and what is
/// above it, is never meant.
fn named_places(words: &[String], home: &Path) -> Vec<PathBuf> {
    let is_narrow = |path: &Path| !home.starts_with(path) && path.components().count() > 2;
    let place = |word: &String| {
        let path = real_path_of(Path::new(word));
        let folder = if haft_workspace::state::list_config_folder(&path).is_ok_and(|names| names.is_some()) {
            return Some(path);
        } else {
            path.parent()?.to_owned()
        };
        let is_package = |folder: &&Path| {
            PACKAGE_FILES.iter().any(|name| {
                let file = folder.join(name);
                haft_workspace::state::stamps_of(std::slice::from_ref(&file)).remove(&file).flatten().is_some()
            })
        };
        let root = folder.ancestors().take(MOST_ABOVE).take_while(|above| is_narrow(above)).find(is_package);
        Some(root.map_or(folder.clone(), Path::to_owned))
    };
    let named = words.iter().filter(|word| word.starts_with('/')).filter_map(place);
    named.filter(|path| is_narrow(path)).collect()
}

/// Lets a server reach the hosts that its file grants, and no other.
#[cfg(feature = "model")]
fn supervised(sandbox: Sandbox, spec: &ServerSpec, (settings, workspace): (&Settings, &Path)) -> Sandbox {
    let mut settings = settings.clone();
    settings.network.allow = spec.hosts.iter().filter_map(|host| host.parse().ok()).collect();
    let hosts = Arc::new(HostsOfSettings::unchanging(&settings, workspace));
    sandbox.supervised_by(Arc::new(NetworkOfSession::new(hosts, Arc::new(HostDial::new()))))
}

#[cfg(not(feature = "model"))]
fn supervised(sandbox: Sandbox, _: &ServerSpec, _: (&Settings, &Path)) -> Sandbox {
    sandbox
}
