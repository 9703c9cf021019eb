//! Where a command of `haft exec` runs: in this process, or in the one that holds its session.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use haft_config::settings::Settings;
use haft_host::exec::{Approvers, CommandServer, Dialogue, given_yes};
use haft_host::host::{Host, block_on};
use haft_host::hosts::HostLists;
use haft_host::notices::Unheard;
use haft_host::options::Options;
use haft_host::project_files::OnUntrusted;
use haft_net::exec::{CommandRequest, Connection, FromClient, PlainEnd, connect, pair};
use haft_runtime::approval::{Approver, Nobody, YesToOrdinary};
use haft_sandbox::{Owner, start_detached};
use haft_workspace::state::{LiveSessions, WorkspaceState, real_path_of};

use super::client::{Client, ClientEnd};
use crate::arguments::Common;
use crate::caller::{HOW_TO_ALLOW, HOW_TO_ALLOW_THE_REST};
use crate::prompt::{AskedFromAfar, Offers};
use crate::screen;

/// What a holder reports when clients can come.
pub(super) const READY: &str = "ready";
/// The name of the session of a command that has none.
const ALONE: &str = "exec";
/// How often a holder is looked for that ends while somebody comes.
const ATTEMPTS: usize = 5;
/// How long a holder of another version may take to end.
const TO_END: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

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
        let ended = block_on(async { client.talk(Connection::within(ours)?).await })?;
        // Whoever served it puts everything in order before this process ends.
        let served = serving.join().unwrap_or_else(|_| bail!("a defect in haft while the command ran"));
        served??;
        Ok(ended?)
    })
}

async fn serve_one(end: PlainEnd, server: &CommandServer, approvers: &AskedThere) -> io::Result<()> {
    let (sender, mut receiver) = Connection::within(end)?.split();
    match receiver.next::<FromClient>().await? {
        Some(FromClient::Run(_, request)) => server.serve(*request, (sender, receiver), approvers).await,
        _ => Ok(()),
    }
}

/// Runs the command in the session of this name, which is started if there is none.
pub(super) fn joined(
    common: &Common,
    (id, owner): (&str, Option<i32>),
    mut client: Client,
    settings: &Settings,
) -> anyhow::Result<ClientEnd> {
    if let Some(pid) = owner {
        let owner = Owner::of(pid).with_context(|| format!("there is no process {pid} that could own the session"))?;
        client.belongs_to(owner.into_descriptor());
    }
    let workspace = real_path_of(common.options().folder());
    let held = WorkspaceState::new(&settings.environment.state_folder, &workspace).held_sessions();
    for _ in 0..ATTEMPTS {
        let Some(session) = held.find(id) else {
            start(&held, id, &holder_words(common, id))?;
            continue;
        };
        let ended = block_on(async { client.talk(connect(&session.socket.path()).await?).await })?;
        match ended {
            Ok(ClientEnd::NotServed) => {}
            Ok(ClientEnd::OtherVersion) => wait_for_end(&held, id)?,
            // It ended just now, or was killed.
            Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => {
                held.all();
            }
            ended => return Ok(ended?),
        }
    }
    Err(io::Error::other(format!("the session {id} ends each time that a command comes; try again")).into())
}

/// Starts the holder of a session, unless somebody else has done so meanwhile.
fn start(held: &LiveSessions, id: &str, words: &[OsString]) -> anyhow::Result<()> {
    let _others_wait = held.starting()?;
    if held.find(id).is_some() {
        return Ok(());
    }
    match start_detached(words)?.as_str() {
        READY => Ok(()),
        "" => bail!(io::Error::other(format!("the process that should hold the session {id} ended"))),
        problem => bail!("{problem}"),
    }
}

fn holder_words(common: &Common, id: &str) -> Vec<OsString> {
    let workspace = real_path_of(common.options().folder());
    let mut words: Vec<OsString> = vec!["hold".into(), id.into(), "-C".into(), workspace.into()];
    for folder in &common.added {
        words.extend(["--add-dir".into(), real_path_of(folder).into()]);
    }
    if let Some(profile) = common.profile {
        words.extend(["--profile".into(), profile.name().into()]);
    }
    words.extend(common.trust.then(|| "--trust".into()));
    words
}

/// Waits until a holder of another version has ended, which it does as soon as nothing of it runs.
fn wait_for_end(held: &LiveSessions, id: &str) -> anyhow::Result<()> {
    screen::talk(&format!(
        "haft: another version of haft holds the session {id}; it ends as soon as nothing of it runs"
    ));
    let began = std::time::Instant::now();
    while held.find(id).is_some() {
        if began.elapsed() > TO_END {
            bail!(io::Error::other(format!(
                "the session {id} still runs something under another version of haft; try again later, or use another ID"
            )));
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    Ok(())
}

/// Asks at the terminal of whoever brought the command.
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
