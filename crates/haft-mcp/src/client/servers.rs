//! The tools of all configured servers, from what haft remembers of each: nothing is started to list them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use haft_contract::tool::AnyTool;
use haft_host::notices::Notices;
use haft_host::options::Options;
use haft_host::servers::{ConfiguredServer, Origin, ServerScope, ServerSpec, ServerTools, configured};

use super::connection::Start;
use super::manifest::Manifest;
use super::record::{RecordPlace, ServerRecord, consent_hash};
use super::server::Server;
use super::thread::ClientThread;
use super::tool::RemoteTool;

/// The servers of a workspace. When it is dropped, all that run end.
#[derive(Default)]
pub struct Servers {
    thread: Arc<ClientThread>,
    known: Mutex<HashMap<String, Arc<Server>>>,
}

impl Servers {
    /// Adds the tools of the user's servers to a workspace that is opened so. Starts nothing.
    #[must_use]
    pub fn added_to(options: Options) -> Options {
        Options { servers: Some(Arc::new(Self::default())), ..options }
    }

    /// Returns the server of a record; one that runs already stays the same.
    fn server(&self, name: &str, (start, agreed): (Start, Manifest), place: RecordPlace) -> Arc<Server> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = known.get(&place.key).filter(|server| server.is_as(&start, &agreed)) {
            return server.clone();
        }
        let key = place.key.clone();
        let server = Arc::new(Server::new(name.to_owned(), (start, agreed), place, self.thread.clone()));
        known.insert(key, server.clone());
        server
    }
}

impl ServerTools for Servers {
    fn tools(&self, scope: ServerScope, notices: &dyn Notices) -> Vec<Arc<dyn AnyTool>> {
        let scope = Arc::new(scope);
        let (servers, _) = configured(&scope);
        let mut tools: Vec<Arc<dyn AnyTool>> = Vec::new();
        for server in servers.iter().filter(|server| server.hidden_by.is_none()) {
            let place = RecordPlace::of(server, &scope);
            let record = place.read();
            let standing = Standing::of(server, &record);
            if let Some(note) = standing.note(server) {
                notices.note(&note);
            }
            let (Standing::Allowed, Ok(spec), Some(agreed)) = (standing, &server.spec, record.manifest) else {
                continue;
            };
            let spec = with_hosts(spec, &record.hosts);
            let filter = spec.filter.clone();
            let start = Start { spec, key: place.key.clone(), scope: scope.clone(), era: record.era };
            let server = self.server(&server.name, (start, agreed), place);
            for listed in server.agreed.tools.iter().filter(|listed| filter.admits(&listed.name)) {
                // "haft mcp list" and "haft mcp doctor" say which tools are left out, and why.
                if let Ok(tool) = RemoteTool::new(&server, listed) {
                    tools.push(Arc::new(tool));
                }
            }
        }
        tools
    }
}

/// Returns what a server is started with: what its file says, and the hosts that the user granted beside it.
pub(crate) fn with_hosts(spec: &ServerSpec, hosts: &[String]) -> ServerSpec {
    let mut spec = spec.clone();
    spec.hosts.extend(hosts.iter().filter(|host| !spec.hosts.contains(host)).cloned().collect::<Vec<_>>());
    spec
}

/// Whether a server can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
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

impl Standing {
    pub(crate) fn of(server: &ConfiguredServer, record: &ServerRecord) -> Self {
        let spec = match &server.spec {
            _ if server.hidden_by.is_some() => return Standing::Hidden,
            Ok(spec) => spec,
            Err(_) => return Standing::Broken,
        };
        match &record.agreed {
            None => Standing::New,
            Some(agreed) if *agreed != consent_hash(spec) => Standing::Changed,
            Some(_) if record.manifest.is_none() => Standing::Unlisted,
            Some(_) => Standing::Allowed,
        }
    }

    /// Returns the name of the state in records.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Standing::Allowed => "allowed",
            Standing::New => "not allowed",
            Standing::Changed => "changed",
            Standing::Unlisted => "no tools yet",
            Standing::Broken => "off",
            Standing::Hidden => "hidden",
        }
    }

    /// Says what the user can do, where it is worth a line at each start: for haft's own file, and for consent that ended.
    fn note(self, server: &ConfiguredServer) -> Option<String> {
        let name = &server.name;
        match (self, server.origin) {
            (Standing::New | Standing::Unlisted, Origin::Own) => Some(format!(
                "note: the MCP server \"{name}\" is not used yet: run \"haft mcp add {name}\", which shows its command line and asks"
            )),
            (Standing::Changed, _) => Some(format!(
                "note: the MCP server \"{name}\" is not used: its command line has changed since you agreed to it; \
                 \"haft mcp add {name}\" shows it and asks"
            )),
            _ => None,
        }
    }
}
