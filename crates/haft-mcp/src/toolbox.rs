//! Opens the tools of a workspace for a client, with the client's session.

use std::path::Path;
use std::sync::Arc;

use haft_contract::tool::AnyTool;
use haft_host::changes::change_log::LogTool;
use haft_host::host::Host;
use haft_host::opening::project_files::OnUntrusted;
use haft_host::options::{BuiltIn, Options};
use haft_host::toolbox::Toolbox;
use haft_runtime::asking::approval::{Approver, YesToOrdinary};
use haft_runtime::state::session::{Readers, Session};

use crate::server::asking::ClientApprover;

/// What sessions of clients are called, and how the names of those begin that have a place of their own.
const SESSION: &str = "mcp";

/// Opens the workspace that the options name, or the one that the client names. Questions go to the client. May take a
/// while.
///
/// # Errors
///
/// Says what is wrong and what to do.
pub fn open(options: &Options, asking: &ClientApprover, root: Option<&Path>) -> Result<Toolbox, String> {
    let folder = root.map(Path::to_owned).or_else(|| options.folder.clone());
    let mut options = Options { folder, ..options.clone() };
    let log = Arc::new(LogTool::default());
    let is_in_dialect = options.dialect.is_some() || options.own_dialect.is_some();
    if options.built_in == BuiltIn::Shown && !is_in_dialect {
        options.show.push(log.spec().name.clone());
        options.tools.push(log.clone());
    }
    let host = Host::open_for(&options, OnUntrusted::Report).map_err(|error| format!("{error:#}"))?;
    let host = Arc::new(host);
    log.show(&host);
    host.note_deferral();
    let session = host.session(SESSION, approver(&options, asking));
    Ok(of_session(host, session))
}

/// Opens a session of an opened workspace for one more client, which shares nothing but the workspace with the others:
/// neither the place of its commands nor the outputs that are kept for it.
pub(crate) fn of_client(host: Arc<Host>, options: &Options, asking: &ClientApprover) -> Toolbox {
    // Outputs are kept under the name of the session, also those of other servers in this workspace.
    let name = format!("{SESSION}-{}", uuid::Uuid::now_v7().simple());
    let session = host.session_apart(&name, approver(options, asking));
    of_session(host, session)
}

fn approver(options: &Options, asking: &ClientApprover) -> Box<dyn Approver> {
    YesToOrdinary::given(options.yes, Box::new(asking.clone()))
}

fn of_session(host: Arc<Host>, session: Session) -> Toolbox {
    // Agents of one client share the session, and do not see what another one has read.
    Toolbox::of(host, session.with_readers(Readers::Several))
}

/// Who chooses the workspace.
pub enum WorkspaceChoice {
    /// The user has, and these are its tools.
    User(Box<Toolbox>),
    /// The client, because the user lets it; the server opens it when the tools are needed.
    Client,
}
