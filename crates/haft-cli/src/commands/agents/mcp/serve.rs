//! `haft mcp serve`: offers the tools of a workspace to one client on stdin and stdout, or to many over HTTP.

use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::time::Duration;

use haft_config::environment::text_of_variable;
use haft_config::settings::Settings;
use haft_host::host::block_on;
use haft_host::opening::hosts::HostLists;
use haft_host::options::Options;
use haft_mcp::client::servers::Servers;
use haft_mcp::http::{HttpServer, ServedWorkspace, Token, WithFixture};
use haft_mcp::serve::PipeServer;
use haft_mcp::server::asking::ClientApprover;
use haft_mcp::server::listeners::Listeners;
use haft_mcp::toolbox::{self, WorkspaceChoice};
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

/// The variable with the secret that clients must send over HTTP.
const TOKEN: &str = "HAFT_MCP_TOKEN";

/// After this long what was needed only to start is not needed any more.
const STARTED: Duration = Duration::from_secs(1);

/// Runs the command.
pub(super) fn run(common: &Common, arguments: &Serve) -> anyhow::Result<Exit> {
    let file = match arguments.roots {
        true => Settings::read(common.profile)?.config_file,
        // The code that opens the workspace reads the settings, and reports errors in them.
        false => Settings::file()?,
    };
    let lists = HostLists::of_file(&file);
    let listeners = Listeners::default();
    let mut options = common.options();
    options.notices = listeners.reporting(options.notices);
    let options = Servers::only_added_to(options, &arguments.with).map_err(anyhow::Error::msg)?;
    if arguments.http.is_some() {
        return over_http(arguments, options, lists, listeners);
    }
    let asking = ClientApprover::or_nobody_there_with(HOW, lists);
    let workspace = match arguments.roots {
        true => WorkspaceChoice::Client,
        // A mistake in the settings is reported before a client waits for anything.
        false => WorkspaceChoice::User(Box::new(toolbox::open(&options, &asking, None).map_err(anyhow::Error::msg)?)),
    };
    if io::stdin().is_terminal() {
        screen::talk("note: haft expects a program on stdin, not a person; press Ctrl-D to end");
    }
    block_on(async {
        let ended = CancellationToken::new();
        watch_output(ended.clone());
        let server = PipeServer { options, workspace, asking, listeners };
        let (input, output) = (io::stdin().as_fd().try_clone_to_owned()?, io::stdout().as_fd().try_clone_to_owned()?);
        until_the_end(server.serve(input, output, ended.clone()), ended).await
    })?
}

fn over_http(arguments: &Serve, options: Options, lists: HostLists, listeners: Listeners) -> anyhow::Result<Exit> {
    let address = arguments.http.as_deref().unwrap_or_default();
    let address: SocketAddr = address.replace("localhost:", "127.0.0.1:").parse().map_err(|_| {
        anyhow::anyhow!("{address:?} is not an address. Next: name one with its port, such as --http 127.0.0.1:8700")
    })?;
    let secret = text_of_variable(TOKEN)?;
    let token = secret.as_deref().map(|secret| Token::new(secret).map_err(|why| anyhow::anyhow!("{TOKEN}: {why}")));
    let token = token.transpose()?;
    let asking = match &secret {
        Some(secret) => ClientApprover::or_nobody_there_sealed(HOW, lists, secret),
        None => ClientApprover::or_nobody_there_with(HOW, lists),
    };
    let toolbox = toolbox::open(&options, &asking, None).map_err(anyhow::Error::msg)?;
    let with_fixture = if arguments.fixture.is_some() { WithFixture::Conformance } else { WithFixture::No };
    block_on(async {
        let ended = CancellationToken::new();
        let server = HttpServer::bind(address, token).await.map_err(anyhow::Error::msg)?;
        screen::talk(&format!("haft serves {}", server.url()));
        let served = ServedWorkspace { options, toolbox, with_fixture };
        let serving = async {
            server.serve(served, (asking, listeners), ended.clone()).await;
            Ok(())
        };
        until_the_end(serving, ended.clone()).await
    })?
}

/// Serves until the client or a signal ends it.
async fn until_the_end(
    serving: impl Future<Output = io::Result<()>>,
    ended: CancellationToken,
) -> anyhow::Result<Exit> {
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

/// Reports when the reader of the output is gone, even while nothing is written.
fn watch_output(ended: CancellationToken) {
    std::thread::spawn(move || {
        let output = io::stdout();
        // Errors and the end of a pipe are always told, so nothing is asked for.
        let mut watched = [PollFd::new(&output, PollFlags::empty())];
        while let Err(rustix::io::Errno::INTR) = poll(&mut watched, None) {}
        ended.cancel();
    });
}
