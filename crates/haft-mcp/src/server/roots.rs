//! Uses the folder that a client names as its root, if the user lets the client choose the workspace.
//!
//! Only clients with a handshake have roots, and only a single existing folder can be a workspace. haft reports any other
//! root once and uses the user's own choice.

#![expect(deprecated, reason = "roots go away with the clients that have a handshake")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use haft_host::notices::Notices;
use rmcp::model::{ClientResult, ListRootsRequest, ServerRequest};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleServer};

use crate::server::is_modern;

/// How long a client has to name its roots.
const PATIENCE: Duration = Duration::from_secs(5);

/// Asks the client for its root; nothing where it has none that can be used.
pub(crate) async fn of_client(notices: &dyn Notices, context: &RequestContext<RoleServer>) -> Option<PathBuf> {
    let root = match named(context).await {
        Ok(root) => usable(&root),
        Err(why) => Err(why),
    };
    root.inspect_err(|why| {
        notices.note(&format!("note: the client names no workspace: {why}; haft uses -C or this folder"))
    })
    .ok()
}

async fn named(context: &RequestContext<RoleServer>) -> Result<String, String> {
    let has_roots = context.peer.peer_info().is_some_and(|client| client.capabilities.roots.is_some());
    if is_modern(context) || !has_roots {
        return Err("it has no roots".to_owned());
    }
    let request = ServerRequest::ListRootsRequest(ListRootsRequest::default());
    let options = PeerRequestOptions::with_timeout(PATIENCE);
    let handle = context.peer.send_request_with_option(request, options).await.map_err(|error| error.to_string())?;
    match handle.await_response().await.map_err(|error| error.to_string())? {
        ClientResult::ListRootsResult(list) => match &*list.roots {
            [root] => Ok(root.uri.clone()),
            roots => Err(format!("it has {} roots, and a workspace is one folder", roots.len())),
        },
        _ => Err("its answer is not a list of roots".to_owned()),
    }
}

/// Returns the folder that an address means.
fn usable(uri: &str) -> Result<PathBuf, String> {
    let path = uri.strip_prefix("file://").map(|rest| rest.strip_prefix("localhost").unwrap_or(rest));
    let path = path.filter(|path| path.starts_with('/')).and_then(decoded);
    let path = path.map(PathBuf::from).ok_or_else(|| format!("{uri:?} is not a file:// address of this machine"))?;
    if is_plain(&path) { Ok(path) } else { Err(format!("{uri:?} is not a plain path")) }
}

fn is_plain(path: &Path) -> bool {
    path.components().all(|part| !matches!(part, std::path::Component::ParentDir))
}

/// Puts the bytes of `%41` in their place; nothing where that is not text, or holds a NUL.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                bytes.push(u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?);
                rest = after;
            }
            (b'%', _) => return None,
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok().filter(|path| !path.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_a_plain_folder_of_this_machine() {
        assert_eq!(usable("file:///a/b%20c"), Ok(PathBuf::from("/a/b c")));
        assert_eq!(usable("file://localhost/a"), Ok(PathBuf::from("/a")));
        for bad in
            ["", "/a", "file://host/a", "https://a/b", "file:///a/../b", "file:///a%2", "file:///a%00", "file:///%ff"]
        {
            assert!(usable(bad).is_err(), "{bad}");
        }
    }
}
