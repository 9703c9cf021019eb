//! Lists the tools of all configured servers from haft's memory, without starting a server.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use haft_contract::text::closest::closest;
use haft_host::notices::Notices;
use haft_host::opening::servers::local_code::LocalCode;
use haft_host::opening::servers::{
    ConfiguredServer, OfferedTool, ServerOrigin, ServerScope, ServerSpec, ServerTools, configured,
};
use haft_host::options::Options;

use super::link::connection::ServerLaunch;
use super::link::thread::ClientThread;
use super::offers::resources::resource_tools;
use super::offers::tool::RemoteTool;
use super::record::{RecordPlace, ServerRecord, consent_hash};
use super::server::{AgreedServer, RemoteServer};

/// What the tools for resources belong to, which are for all servers together.
const RESOURCES: &str = "resources";

/// The servers of a workspace. When it is dropped, all that run end.
#[derive(Default)]
pub struct Servers {
    thread: Arc<ClientThread>,
    known: Mutex<HashMap<String, Arc<RemoteServer>>>,
    /// Only these, where the caller names some.
    only: Option<BTreeSet<String>>,
    /// What was said already: servers are looked at again while haft runs.
    told: Mutex<HashSet<String>>,
}

impl Servers {
    /// Adds the tools of the user's servers to a workspace that is opened so. Starts nothing.
    #[must_use]
    pub fn added_to(options: Options) -> Options {
        Options { servers: Some(Arc::new(Self::default())), ..options }
    }

    /// Adds the tools of these servers and of no other; without a name, of none. Starts nothing.
    ///
    /// # Errors
    ///
    /// Fails if no file names one of them.
    pub fn only_added_to(options: Options, names: &[String]) -> Result<Options, String> {
        if names.is_empty() {
            return Ok(options);
        }
        let scope = ServerScope::open(&options).map_err(|error| format!("{error:#}"))?;
        let (servers, _) = configured(&scope);
        let is_there = |name: &String| servers.iter().any(|server| server.name == *name);
        if let Some(name) = names.iter().find(|name| !is_there(name)) {
            let near = closest(name, servers.iter().map(|server| server.name.as_str()));
            let near = near.map(|near| format!(" (did you mean \"{near}\"?)")).unwrap_or_default();
            return Err(format!(
                "no file names an MCP server \"{name}\"{near}. Next: haft mcp list shows the servers; haft mcp add {name} -- \
                 COMMAND adds one"
            ));
        }
        let servers = Self { only: Some(names.iter().cloned().collect()), ..Self::default() };
        Ok(Options { servers: Some(Arc::new(servers)), ..options })
    }

    fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(name))
    }

    /// Says what the user can do about a server, where it is worth a line at the start: for a server of haft's own file or
    /// one that the caller named, and for consent that ended.
    fn note(&self, standing: ServerStatus, server: &ConfiguredServer) -> Option<String> {
        let name = &server.name;
        let is_wanted = server.origin == ServerOrigin::Own || self.only.is_some();
        match (standing, &server.spec) {
            (ServerStatus::New | ServerStatus::Unlisted, _) if is_wanted => Some(format!(
                "note: the MCP server \"{name}\" is not used yet: run \"haft mcp add {name}\", which shows its command line and asks"
            )),
            (ServerStatus::Changed, _) => Some(format!(
                "note: the MCP server \"{name}\" is not used: its command line has changed, or what it runs of this folder, \
                 since you agreed to it; \"haft mcp add {name}\" shows it and asks"
            )),
            (ServerStatus::Broken, Err(problem)) if self.only.is_some() => {
                Some(format!("note: the MCP server \"{name}\" in {} cannot be used: {problem}", server.file.display()))
            }
            _ => None,
        }
    }

    fn is_new(&self, note: &str) -> bool {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(note.to_owned())
    }

    /// Ends the servers that no tool of the catalogue belongs to any more.
    fn keep_only(&self, keys: &HashSet<String>) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).retain(|key, _| keys.contains(key));
    }

    /// Returns the server of a record; one that runs already stays the same.
    fn server(&self, agreed: AgreedServer, place: RecordPlace) -> Arc<RemoteServer> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = known.get(&place.key).filter(|server| server.is_as(&agreed.start, &agreed.manifest)) {
            return server.clone();
        }
        let key = place.key.clone();
        let server = Arc::new(RemoteServer::new(agreed, place, self.thread.clone()));
        known.insert(key, server.clone());
        server
    }
}

impl ServerTools for Servers {
    fn tools(&self, scope: ServerScope, notices: &dyn Notices) -> Vec<OfferedTool> {
        let scope = Arc::new(scope);
        let (servers, _) = configured(&scope);
        let (mut tools, mut keys) = (Vec::new(), HashSet::new());
        let mut with_resources = Vec::new();
        for server in servers.iter().filter(|server| server.hidden_by.is_none() && self.wants(&server.name)) {
            let place = RecordPlace::of(server, &scope);
            let record = place.read();
            let standing = ServerStatus::of((server, &scope), &record);
            if let Some(note) = self.note(standing, server).filter(|note| self.is_new(note)) {
                notices.note(&note);
            }
            let (ServerStatus::Allowed, Ok(spec), Some(manifest)) = (standing, &server.spec, record.manifest) else {
                continue;
            };
            let spec = with_hosts(spec, &record.hosts);
            let filter = spec.filter.clone();
            keys.insert(place.key.clone());
            let (name, key) = (server.name.clone(), place.key.clone());
            let local_code = LocalCode::of(&spec, scope.workspace());
            let start = ServerLaunch { name, spec, key, scope: scope.clone(), era: record.era, local_code };
            let server = self.server(AgreedServer { start, manifest, offers: record.offers }, place);
            if server.offers.resources {
                with_resources.push(server.clone());
            }
            for listed in server.agreed.tools.iter().filter(|listed| filter.admits(&listed.name)) {
                // "haft mcp list" and "haft mcp doctor" say which tools are left out, and why.
                if let Ok(tool) = RemoteTool::new(&server, listed) {
                    tools.push(OfferedTool { server: server.name.clone(), tool: Arc::new(tool) });
                }
            }
        }
        let of_all = |tool| OfferedTool { server: RESOURCES.to_owned(), tool };
        tools.extend(resource_tools(&with_resources).into_iter().map(of_all));
        self.keep_only(&keys);
        tools
    }
}

/// Returns what a server is started with: what its file says, and the hosts that the user granted beside it.
pub(crate) fn with_hosts(spec: &ServerSpec, hosts: &[String]) -> ServerSpec {
    let mut spec = spec.clone();
    spec.hosts.extend(hosts.iter().filter(|host| !spec.hosts.contains(host)).cloned().collect::<Vec<_>>());
    spec
}

/// Says whether a server can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerStatus {
    /// Yes: the user agreed to its command line and its tools.
    Allowed,
    /// The user has not agreed to its command line.
    New,
    /// Its command line is another one than the user agreed to.
    Changed,
    /// The user agreed to its command line, and it has not listed its tools yet.
    Unlisted,
    /// Its file cannot be used, or switches it off.
    Broken,
    /// Another server has its name.
    Hidden,
}

impl ServerStatus {
    pub(crate) fn of((server, scope): (&ConfiguredServer, &ServerScope), record: &ServerRecord) -> Self {
        let spec = match &server.spec {
            _ if server.hidden_by.is_some() => return ServerStatus::Hidden,
            Ok(spec) => spec,
            Err(_) => return ServerStatus::Broken,
        };
        match &record.agreed {
            None => ServerStatus::New,
            Some(agreed) if *agreed != consent_hash(spec, scope.workspace()) => ServerStatus::Changed,
            Some(_) if record.manifest.is_none() => ServerStatus::Unlisted,
            Some(_) => ServerStatus::Allowed,
        }
    }

    /// Returns the name of the state in records.
    pub(crate) fn code(self) -> &'static str {
        match self {
            ServerStatus::Allowed => "allowed",
            ServerStatus::New => "not allowed",
            ServerStatus::Changed => "changed",
            ServerStatus::Unlisted => "no tools yet",
            ServerStatus::Broken => "off",
            ServerStatus::Hidden => "hidden",
        }
    }
}
