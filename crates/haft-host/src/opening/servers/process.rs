//! Starts a server in a sandbox of its own.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
#[cfg(feature = "model")]
use std::sync::Arc;

use haft_config::settings::Settings;
use haft_contract::doors::process::ConfinementLevel;
use haft_contract::outcome::error::ToolError;
use haft_contract::outcome::kinds::ErrorKind;
#[cfg(feature = "model")]
use haft_net::{NetworkOfSession, supervisor::HostDial};
use haft_sandbox::Sandbox;
use haft_sandbox::sandbox::server::{ServerCommand, ServerProcess as Process};
use haft_workspace::state::{list_config_folder, real_path_of, stamps_of};

use super::records::ServerRecords;
use super::{ServerScope, ServerSpec, ServerTransport};
use crate::host::sandbox;
#[cfg(feature = "model")]
use crate::opening::hosts::HostsOfSettings;

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
const PACKAGE_FILES: [&str; 6] = ["package.json", "pyproject.toml", PYTHON_ENVIRONMENT, "Cargo.toml", "go.mod", ".git"];
/// The file in the root folder of an environment of Python.
const PYTHON_ENVIRONMENT: &str = "pyvenv.cfg";
/// The folder in which a package of Node.js lies beside those that it needs.
const NODE_PACKAGES: &str = "node_modules";
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
    pub fn level(&self) -> ConfinementLevel {
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
    let ServerTransport::Command { words, folder } = &spec.reach else {
        return Err(ToolError::of(ErrorKind::Unavailable, "haft does not start a server that has an address."));
    };
    let own_folder = ServerRecords::of(scope).own_folder(key).map_err(|error| {
        ToolError::of(ErrorKind::Io, format!("haft cannot make a folder for the server: {error}. It was not started."))
    })?;
    let folder = folder.as_ref().map_or_else(|| workspace.to_owned(), |folder| real_path_of(folder));
    let mut readable = readable_places(spec, scope);
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

/// Returns the folders beside the workspace that a server reads, because its command line names something in them. Never
/// haft's own settings and state.
#[must_use]
pub fn readable_places(spec: &ServerSpec, scope: &ServerScope) -> Vec<PathBuf> {
    let ServerScope { settings, .. } = scope;
    let ServerTransport::Command { words, .. } = &spec.reach else { return Vec::new() };
    let own = [&settings.environment.config_folder, &settings.environment.state_folder].map(|path| real_path_of(path));
    let holds_own = |place: &PathBuf| own.iter().any(|own| own.starts_with(place) || place.starts_with(own));
    let mut places = named_places(words, &settings.surroundings.home);
    places.retain(|place| !holds_own(place));
    places.sort_unstable();
    places.dedup();
    places
}

/// Returns the variables that a server gets: a few of the user's, and those that its file sets.
fn environment(spec: &ServerSpec, settings: &Settings) -> Vec<(OsString, OsString)> {
    let is_set = |name: &OsString| name.to_str().is_some_and(|name| spec.environment.contains_key(name));
    let usual = settings.surroundings.environment.iter();
    let usual = usual.filter(|(name, _)| VARIABLES.iter().any(|usual| name == usual) && !is_set(name)).cloned();
    // Else a module of the workspace stands in the place of one that the server loads.
    let runs_module =
        matches!(&spec.reach, ServerTransport::Command { words, .. } if words.iter().any(|word| word == "-m"));
    let safe_path = runs_module.then(|| (OsString::from("PYTHONSAFEPATH"), OsString::from("1")));
    // The home is that of the sandbox.
    let own = spec.environment.iter().filter(|(name, _)| *name != "HOME");
    usual.chain(safe_path).chain(own.map(|(name, value)| (name.into(), value.into()))).collect()
}

/// Returns what the command line names by an absolute path, with the package around a file. The home itself, and what is
/// above it, is never meant.
fn named_places(words: &[String], home: &Path) -> Vec<PathBuf> {
    let is_narrow = |path: &Path| !home.starts_with(path) && path.components().count() > 2;
    let place = |word: &String| {
        let path = real_path_of(Path::new(word));
        if list_config_folder(&path).is_ok_and(|names| names.is_some()) {
            return Some(path);
        }
        let folder = path.parent()?.to_owned();
        let is_package = |folder: &&Path| PACKAGE_FILES.iter().any(|name| exists(&folder.join(name)));
        let is_of_node = |above: &&Path| above.file_name().is_some_and(|name| name == NODE_PACKAGES);
        let above = || folder.ancestors().take_while(|above| is_narrow(above));
        // The outermost: a package may bring packages of its own.
        let root = above().filter(is_of_node).last().or_else(|| above().take(MOST_ABOVE).find(is_package));
        Some(root.map_or(folder.clone(), Path::to_owned))
    };
    let named: Vec<PathBuf> = words.iter().filter(|word| word.starts_with('/')).filter_map(place).collect();
    let interpreters: Vec<PathBuf> = named.iter().filter_map(|place| base_of_environment(place)).collect();
    named.into_iter().chain(interpreters).filter(|path| is_narrow(path)).collect()
}

/// Returns the Python that an environment of Python was made from: its interpreter is a link to that. A link to anything
/// else opens nothing: others may have made the environment.
fn base_of_environment(environment: &Path) -> Option<PathBuf> {
    if !exists(&environment.join(PYTHON_ENVIRONMENT)) {
        return None;
    }
    let interpreter = real_path_of(&environment.join("bin/python3"));
    let base = interpreter.parent().filter(|folder| folder.ends_with("bin"))?.parent()?;
    let libraries = list_config_folder(&base.join("lib")).ok()??;
    let is_python = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
    (is_python(&interpreter) && libraries.iter().any(is_python)).then(|| base.to_owned())
}

fn exists(file: &Path) -> bool {
    let file = file.to_owned();
    stamps_of(std::slice::from_ref(&file)).remove(&file).flatten().is_some()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test lays out the files of packages")]
    fn a_server_sees_the_package_around_its_file_and_the_packages_beside_it() {
        let base = tempfile::tempdir().expect("a temporary folder can be made");
        let base = real_path_of(base.path()).join("deep");
        let place = |name: &str| {
            let path = base.join(name);
            std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("folders can be made");
            std::fs::write(&path, "").expect("a file can be written");
            path.to_string_lossy().into_owned()
        };
        place("app/package.json");
        place("app/node_modules/@x/server/package.json");
        place("app/node_modules/@x/server/node_modules/inner/package.json");
        place("venv/pyvenv.cfg");
        let seen = |word: String| named_places(&[word], Path::new("/home/ann"));
        let modules = base.join("app/node_modules");
        assert_eq!(seen(place("app/node_modules/@x/server/dist/index.js")), std::slice::from_ref(&modules));
        assert_eq!(seen(place("app/node_modules/@x/server/node_modules/inner/main.js")), [modules]);
        assert_eq!(seen(place("app/src/server.js")), [base.join("app")]);
        let server = place("venv/bin/mcp-server-git");
        assert_eq!(seen(server.clone()), [base.join("venv")]);
        // The Python that it was made from; a link to something else opens nothing.
        let link = |to: &str| {
            let link = base.join("venv/bin/python3");
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(base.join(to), link).expect("a link can be made");
        };
        place("secrets/bin/python3");
        link("secrets/bin/python3");
        assert_eq!(seen(server.clone()), [base.join("venv")]);
        place("python/3.13/bin/python3.13");
        place("python/3.13/lib/python3.13/os.py");
        link("python/3.13/bin/python3.13");
        assert_eq!(seen(server), [base.join("venv"), base.join("python/3.13")]);
        assert_eq!(seen(place("alone/server")), [base.join("alone")]);
    }
}
