//! `haft mcp serve`: the tools of a workspace for one client, on stdin and stdout.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use haft_contract::result::ToolResult;
use haft_mcp::asking::Asking;
use haft_mcp::serve::serve;
use haft_mcp::toolbox::{Books, Host, Toolbox, Workspace};
use haft_runtime::approval::{Approver, YesToOrdinary};
use haft_runtime::redact::Redactor;
use haft_runtime::session::{Keeping, Readers};
use haft_sandbox::own_code;
use haft_workspace::history::History;
use haft_workspace::state::WorkspaceState;
use rustix::event::{PollFd, PollFlags, poll};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::Serve;
use crate::arguments::Common;
use crate::commands::call::note_call;
use crate::commands::log;
use crate::desk::{Caller, Desk, block_on, mode};
use crate::exit::Exit;
use crate::screen;

/// What the user can do where a client cannot ask anybody.
const HOW: &str = "do without it, or ask the user to start the server with --yes, to use a client that can ask \
                   (elicitation), or to call the tool alone at a terminal: haft call TOOL …";

/// After this long what was needed only to start is not needed any more.
const STARTED: Duration = Duration::from_secs(1);

/// Runs the command.
pub(super) fn run(common: &Common, arguments: &Serve) -> anyhow::Result<Exit> {
    let asking = Asking::or_nobody_there(HOW);
    let opened = Opened { common: common.clone(), asking: asking.clone() };
    let workspace = match arguments.roots {
        true => Workspace::OfClient,
        // What is wrong with the settings is said before a client waits for anything.
        false => Workspace::Chosen(Box::new(opened.toolbox(None)?)),
    };
    if io::stdin().is_terminal() {
        screen::talk("note: this talks to a program and not to a person; end it with Ctrl-D");
    }
    block_on(until_the_end(Arc::new(opened), workspace, asking))?
}

async fn until_the_end(host: Arc<dyn Host>, workspace: Workspace, asking: Asking) -> anyhow::Result<Exit> {
    let ended = CancellationToken::new();
    watch_output(ended.clone());
    tokio::spawn(async {
        tokio::time::sleep(STARTED).await;
        own_code::let_go();
    });
    let (mut interrupted, mut asked_to_end) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let signalled = async {
        tokio::select! {
            _ = interrupted.recv() => Exit::Interrupted,
            _ = asked_to_end.recv() => Exit::Ok,
        }
    };
    let pipes = (io::stdin().as_fd().try_clone_to_owned()?, io::stdout().as_fd().try_clone_to_owned()?);
    let serving = serve((host, workspace), asking, pipes, ended.clone());
    tokio::pin!(serving);
    tokio::select! {
        served = &mut serving => Ok(served.map(|()| Exit::Ok)?),
        exit = signalled => {
            ended.cancel();
            serving.await?;
            Ok(exit)
        }
    }
}

/// Tells when nobody reads the output any more, also while nothing is written.
fn watch_output(ended: CancellationToken) {
    std::thread::spawn(move || {
        let output = io::stdout();
        // Errors and the end of a pipe are always told, so nothing is asked for.
        let mut watched = [PollFd::new(&output, PollFlags::empty())];
        while let Err(rustix::io::Errno::INTR) = poll(&mut watched, None) {}
        ended.cancel();
    });
}

/// Opens workspaces for the server.
struct Opened {
    common: Common,
    asking: Asking,
}

impl Opened {
    fn toolbox(&self, root: Option<&Path>) -> anyhow::Result<Toolbox> {
        let workspace = root.map(Path::to_owned).or_else(|| self.common.workspace.clone());
        let common = Common { workspace, ..self.common.clone() };
        let Desk { workspace, state, history, runtime, .. } = Desk::open_for(&common, Caller::Lines)?;
        let approver: Box<dyn Approver> = match common.yes {
            true => Box::new(YesToOrdinary::or_ask(self.asking.clone())),
            false => Box::new(self.asking.clone()),
        };
        let keeping = if common.no_cache { Keeping::Off } else { Keeping::On };
        // Agents of one client share the server, and do not see what another one has read.
        let session = runtime.session("mcp", approver).with_keeping(keeping).with_readers(Readers::Several);
        session.set_mode(mode(&common));
        let redactor = runtime.redactor().clone();
        Ok(Toolbox { runtime, session, workspace, books: Arc::new(Written { state, history, redactor }) })
    }
}

impl Host for Opened {
    fn open(&self, root: Option<&Path>) -> Result<Toolbox, String> {
        self.toolbox(root).map_err(|error| format!("{error:#}"))
    }

    fn tell(&self, words: &str) {
        screen::talk(words);
    }
}

/// What is written down about the calls of a workspace.
struct Written {
    state: WorkspaceState,
    history: History,
    redactor: Redactor,
}

impl Books for Written {
    fn log(&self, most: usize) -> Result<String, String> {
        let log = self.history.log().map_err(|error| error.to_string())?;
        Ok(log::as_text(log, most, &self.redactor))
    }

    fn called(&self, result: &ToolResult) {
        note_call(&self.state, result);
    }
}
