//! Finds the process that holds a session for `haft exec --session`, and starts one if there is none.
//!
//! Not here: the conversation with it (`haft-cli`), what it does (`holder`).

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::bail;
use haft_config::settings::Settings;
use haft_sandbox::start_detached;
use haft_workspace::state::{LiveSessions, WorkspaceState, real_path_of};

use super::holder::READY;
use crate::options::Options;

/// How often a holder is looked for that ends while a client comes.
const ATTEMPTS: usize = 5;
/// How long a holder of another version may take to end.
const TO_END: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A session that commands of separate processes join.
pub struct JoinedSession<'a> {
    id: &'a str,
    held: LiveSessions,
    /// The words by which haft starts a holder.
    words: Vec<OsString>,
}

/// What a client got from the holder that it was sent to.
#[derive(Debug)]
pub enum Attempt<T> {
    /// The command was taken.
    Served(T),
    /// The session was just ending.
    NotServed,
    /// The holder is another version of haft.
    OtherVersion,
}

impl<'a> JoinedSession<'a> {
    /// Names the session of the workspace that the options name.
    pub fn of(id: &'a str, options: &Options, settings: &Settings) -> Self {
        let workspace = real_path_of(options.folder());
        let held = WorkspaceState::new(&settings.environment.state_folder, &workspace).held_sessions();
        Self { id, held, words: holder_words(options, id) }
    }

    /// Sends a client to the socket of the holder, again if that one ends meanwhile.
    ///
    /// `meanwhile` is told when a holder of another version has to end first.
    ///
    /// # Errors
    ///
    /// Fails if no holder can be started, if an old one does not end, or as the client fails.
    pub fn join<T>(
        &self,
        mut client: impl FnMut(PathBuf) -> anyhow::Result<io::Result<Attempt<T>>>,
        meanwhile: impl Fn(&str),
    ) -> anyhow::Result<T> {
        let Self { id, held, words } = self;
        for _ in 0..ATTEMPTS {
            let Some(session) = held.find(id) else {
                start(held, id, words)?;
                continue;
            };
            match client(session.socket.path())? {
                Ok(Attempt::Served(served)) => return Ok(served),
                Ok(Attempt::NotServed) => {}
                Ok(Attempt::OtherVersion) => {
                    meanwhile(&format!(
                        "another version of haft holds the session {id}; it ends as soon as nothing in it runs"
                    ));
                    wait_for_end(held, id)?;
                }
                // It ended just now, or was killed.
                Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => {
                    held.all();
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::Error::other(format!("the session {id} ended each time that a command arrived; try again")).into())
    }
}

/// Starts the holder of a session, unless another process has done so meanwhile.
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

fn holder_words(options: &Options, id: &str) -> Vec<OsString> {
    let workspace = real_path_of(options.folder());
    let mut words: Vec<OsString> = vec!["hold".into(), id.into(), "-C".into(), workspace.into()];
    for folder in &options.added {
        words.extend(["--add-dir".into(), real_path_of(folder).into()]);
    }
    if let Some(profile) = options.profile {
        words.extend(["--profile".into(), profile.name().into()]);
    }
    words.extend(options.trust.then(|| "--trust".into()));
    words
}

/// Waits until a holder of another version has ended, which it does as soon as nothing in it runs.
fn wait_for_end(held: &LiveSessions, id: &str) -> anyhow::Result<()> {
    let began = Instant::now();
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
