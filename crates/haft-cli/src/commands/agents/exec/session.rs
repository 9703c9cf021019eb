//! Chooses where a command of `haft exec` runs: in this process, or in the process that holds its session.

use std::io;
use std::sync::Arc;

use anyhow::{Context, bail};
use haft_host::calling::exec::joining::{Attempt, JoinedSession};
use haft_host::calling::exec::{Approvers, CommandServer, Dialogue, given_yes};
use haft_host::host::{Host, block_on};
use haft_host::notices::Unheard;
use haft_host::opening::hosts::HostLists;
use haft_host::opening::project_files::OnUntrusted;
use haft_host::options::Options;
use haft_net::exec::{CommandRequest, ExecConnection, FromClient, PlainEnd, connect, pair};
use haft_runtime::asking::approval::{AnsweredElsewhere, Approver, Nobody, YesToOrdinary};
use haft_sandbox::SessionOwner;

use super::client::{Client, ClientEnd};
use crate::arguments::Common;
use crate::caller::{HOW_TO_ALLOW, HOW_TO_ALLOW_THE_REST};
use crate::prompt::{AskedFromAfar, Offers};
use crate::screen;

/// The name of the session of a command that has none.
const ALONE: &str = "exec";
/// Runs the command in a session of its own, in this process.
pub(super) fn alone(common: &Common, mut client: Client) -> anyhow::Result<ClientEnd> {
    let options = options_of_holder(common);
    let options = if client.is_quiet() { Options { notices: Arc::new(Unheard), ..options } } else { options };
    let host = Host::open_for(&options, OnUntrusted::Ask)?;
    let (ours, theirs) = pair()?;
    let approvers = AskedThere::of(&host, Offers::LeftOut);
    let server = CommandServer::for_one_command(host, ALONE);
    std::thread::scope(|scope| {
        let serving = scope.spawn(|| block_on(serve_one(theirs, &server, &approvers)));
        let ended = block_on(async { client.talk(ExecConnection::within(ours)?).await })?;
        // The serving thread puts everything in order before this process ends.
        let served = serving.join().unwrap_or_else(|_| bail!("a defect in haft while the command ran"));
        served??;
        Ok(ended?)
    })
}

async fn serve_one(end: PlainEnd, server: &CommandServer, approvers: &AskedThere) -> io::Result<()> {
    let (sender, mut receiver) = ExecConnection::within(end)?.split();
    match receiver.next::<FromClient>().await? {
        Some(FromClient::Run(_, request)) => server.serve(*request, (sender, receiver), approvers).await,
        _ => Ok(()),
    }
}

/// Runs the command in the session of this name, which is started if there is none.
pub(super) fn joined(session: &JoinedSession, owner: Option<i32>, mut client: Client) -> anyhow::Result<ClientEnd> {
    if let Some(pid) = owner {
        let owner =
            SessionOwner::of(pid).with_context(|| format!("there is no process {pid} that could own the session"))?;
        client.belongs_to(owner.into_descriptor());
    }
    session.join(
        |socket| {
            let ended = block_on(async { client.talk(connect(&socket).await?).await })?;
            Ok(ended.map(|ended| match ended {
                ClientEnd::NotServed => Attempt::NotServed,
                ClientEnd::OtherVersion => Attempt::OtherVersion,
                served @ (ClientEnd::Ended(_) | ClientEnd::Lost) => Attempt::Served(served),
            }))
        },
        |note| screen::talk(&format!("haft: {note}")),
    )
}

/// Asks at the terminal of the person who sent the command.
pub(super) struct AskedThere {
    lists: HostLists,
    offers: Offers,
}

impl AskedThere {
    /// Asks about commands in this workspace.
    pub(super) fn of(host: &Host, offers: Offers) -> Self {
        Self { lists: HostLists::of_file(&host.settings.config_file), offers }
    }
}

impl Approvers for AskedThere {
    fn approver(&self, request: &CommandRequest, dialogue: Dialogue) -> Box<dyn Approver> {
        if request.agent.as_ref().is_some_and(|call| call.covers_all) {
            return Box::new(AnsweredElsewhere);
        }
        let base: Box<dyn Approver> = match request.paper {
            Some(paper) => Box::new(AskedFromAfar::new(dialogue, paper, (self.lists.clone(), self.offers))),
            None => Box::new(Nobody::there(HOW_TO_ALLOW).or_if_not_undoable(HOW_TO_ALLOW_THE_REST)),
        };
        YesToOrdinary::given(given_yes(request), base)
    }
}

/// Returns how a holder opens its workspace.
pub(super) fn options_of_holder(common: &Common) -> Options {
    Options { dialect: None, ..common.options() }
}
