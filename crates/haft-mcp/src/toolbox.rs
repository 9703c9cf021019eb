//! What is served: the tools of one workspace, with the one session of the client.

use std::path::Path;
use std::sync::Arc;

use haft_host::host::Host;
use haft_host::options::Options;
use haft_host::project_files::OnUntrusted;
use haft_host::toolbox::Toolbox;
use haft_runtime::approval::YesToOrdinary;
use haft_runtime::session::Readers;

use crate::asking::Asking;

/// Opens the workspace that the options name, or the one that the client names. Questions go to the client. May take a
/// while.
///
/// # Errors
///
/// Says what is wrong and what to do.
pub fn open(options: &Options, asking: &Asking, root: Option<&Path>) -> Result<Toolbox, String> {
    let folder = root.map(Path::to_owned).or_else(|| options.folder.clone());
    let options = Options { folder, ..options.clone() };
    let host = Host::open_for(&options, OnUntrusted::Report).map_err(|error| format!("{error:#}"))?;
    Ok(of_client(Arc::new(host), &options, asking))
}

/// Opens a session of an opened workspace for one more client.
pub(crate) fn of_client(host: Arc<Host>, options: &Options, asking: &Asking) -> Toolbox {
    let approver = YesToOrdinary::given(options.yes, Box::new(asking.clone()));
    // Agents of one client share the session, and do not see what another one has read.
    let session = host.session("mcp", approver).with_readers(Readers::Several);
    Toolbox::of(host, session)
}

/// Who chooses the workspace.
pub enum Workspace {
    /// The user has, and these are its tools.
    Chosen(Box<Toolbox>),
    /// The client, because the user lets it; the server opens it when the tools are needed.
    OfClient,
}
