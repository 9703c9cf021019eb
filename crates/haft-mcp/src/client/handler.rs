//! What a server may ask of haft, and where its progress goes.
//!
//! A server learns the workspace as its one root. Questions for the user and requests for a model are refused: haft does
//! not declare them.

#![expect(deprecated, reason = "roots go away with the servers that have a handshake")]

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ListRootsResult, ProgressNotificationParam, ProgressToken,
    ProtocolVersion, Root, RootsCapabilities,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use rmcp::{ClientHandler, ErrorData};
use tokio::sync::mpsc;

/// Most characters of a word of progress.
const LONGEST_PROGRESS: usize = 500;

/// Where the progress of each running call goes.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProgressRoutes(Arc<Mutex<HashMap<ProgressToken, mpsc::Sender<String>>>>);

impl ProgressRoutes {
    /// Sends the progress of a call here.
    pub(crate) fn open(&self, token: ProgressToken, to: mpsc::Sender<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(token, to);
    }

    /// Ends that.
    pub(crate) fn close(&self, token: &ProgressToken) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(token);
    }

    fn pass_on(&self, progress: &ProgressNotificationParam) {
        let routes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(to) = routes.get(&progress.progress_token) else { return };
        let part = match progress.total {
            Some(total) => format!("{}/{total}", progress.progress),
            None => progress.progress.to_string(),
        };
        let words: String = progress.message.iter().flat_map(|words| words.chars()).take(LONGEST_PROGRESS).collect();
        // Whoever does not keep up misses some of it.
        let _ = to.try_send(format!("{part} {words}\n"));
    }
}

/// Answers a server.
pub(crate) struct Handler {
    info: ClientConfig,
    root: String,
    pub(crate) progress: ProgressRoutes,
}

impl Handler {
    /// Makes the handler for a server that works for this workspace.
    pub(crate) fn new(workspace: &Path) -> Self {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(RootsCapabilities::default());
        let mut info = ClientConfig::new(capabilities, Implementation::new("haft", env!("CARGO_PKG_VERSION")));
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        Self { info, root: address_of(workspace), progress: ProgressRoutes::default() }
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        self.info.clone()
    }

    async fn list_roots(&self, _context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new(self.root.clone())]))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.progress.pass_on(&progress);
    }
}

/// Writes a path as an address; every byte that is not plain is escaped.
fn address_of(path: &Path) -> String {
    let mut address = "file://".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                address.push(char::from(*byte));
            }
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_folder_has_no_character_with_a_meaning() {
        assert_eq!(address_of(Path::new("/a b/ü#?.rs")), "file:///a%20b/%C3%BC%23%3F.rs");
    }
}
