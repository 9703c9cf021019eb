//! `haft mcp serve`: the tools of a workspace for one client, on stdin and stdout.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::time::Duration;

use haft_config::settings::Settings;
use haft_host::host::block_on;
use haft_host::hosts::HostLists;
use haft_host::options::Options;
use haft_mcp::asking::Asking;
use haft_mcp::serve::serve;
use haft_mcp::toolbox::{self, Workspace};
use haft_sandbox::own_code;
use rustix::event::{PollFd, PollFlags, poll};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::Serve;
use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen;

/// What the user can do where a client cannot ask anybody.
const HOW: &str = "do without it, or ask the user to start the server with --yes (with --yes=all where undo cannot take it back), to use a client that can ask \
                   (elicitation), or to call the tool alone at a terminal: haft call TOOL …";

/// After this long what was needed only to start is not needed any more.
const STARTED: Duration = Duration::from_secs(1);

/// Runs the command.
pub(super) fn run(common: &Common, arguments: &Serve) -> anyhow::Result<Exit> {
    let file = match arguments.roots {
        true => Settings::read(common.profile)?.config_file,
        // Whoever opens the workspace reads it, and says what is wrong with it.
        false => Settings::file()?,
    };
    let lists = HostLists::of_file(&file);
    let asking = Asking::or_nobody_there_with(HOW, lists);
    let options = common.options();
    let workspace = match arguments.roots {
        true => Workspace::OfClient,
        // A mistake in the settings is reported before a client waits for anything.
        false => Workspace::Chosen(Box::new(toolbox::open(&options, &asking, None).map_err(anyhow::Error::msg)?)),
    };
    if io::stdin().is_terminal() {
        screen::talk("note: haft expects a program on stdin, not a person; press Ctrl-D to end");
    }
    block_on(until_the_end(options, workspace, asking))?
}

async fn until_the_end(options: Options, workspace: Workspace, asking: Asking) -> anyhow::Result<Exit> {
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
    let serving = serve((options, workspace), asking, pipes, ended.clone());
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
