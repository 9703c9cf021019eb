//! `haft jobs open`: a port of a session on the loopback of this machine, for the user's browser.

use anyhow::{Context, bail};
use clap::Args;
use futures_util::future::join_all;
use haft_net::jobs::{Answer, Ask, Forward, LocalPort};
use serde_json::json;

use super::find::{AnsweringSession, FoundSessions, NO_JOBS};
use crate::arguments::Common;
use crate::exit::Exit;
use crate::screen;

#[derive(Args)]
#[command(after_help = "haft listens on 127.0.0.1 only, and until you press Ctrl-C or the session ends. \
                        Until then every program on this machine can connect.")]
pub(super) struct Open {
    /// The port that a job listens on; SESSION:PORT if several sessions use this port
    #[arg(value_name = "PORT", value_parser = session_port)]
    port: SessionPort,
    /// Listen on this port of the machine [default: the same, or another if it is taken]
    #[arg(long, value_name = "LOCALPORT", value_parser = clap::value_parser!(u16).range(1..))]
    at: Option<u16>,
}

/// A port, and the session where one was named.
#[derive(Clone, Debug)]
struct SessionPort(Option<String>, u16);

fn session_port(given: &str) -> Result<SessionPort, String> {
    let (session, port) = match given.rsplit_once(':') {
        Some((session, port)) => (Some(session.to_owned()), port),
        None => (None, given),
    };
    let port = port.parse().ok().filter(|port| *port > 0);
    port.map(|port| SessionPort(session, port)).ok_or_else(|| "a port is a number from 1 to 65535".to_owned())
}

pub(super) async fn run(common: &Common, arguments: &Open) -> anyhow::Result<Exit> {
    let SessionPort(_, port) = arguments.port;
    let found = FoundSessions::find(common).await?;
    let session = listening(&found, &arguments.port).await?;
    let local = arguments.at.map_or(LocalPort::Preferably(port), LocalPort::Exactly);
    let listening = Forward::listen(&session.socket(), port, local).await;
    let forward = listening.with_context(|| match local {
        LocalPort::Exactly(port) => format!("haft cannot listen on 127.0.0.1:{port}; name another port with --at"),
        LocalPort::Preferably(_) => "haft cannot listen on 127.0.0.1".to_owned(),
    })?;
    let address = forward.address()?;
    if common.json {
        let record = json!({
            "v": 1, "session": session.id, "port": port, "address": address.to_string(), "url": format!("http://{address}/")
        });
        screen::record(&record.to_string())?;
    } else {
        screen::answer(&format!("http://{address}/"))?;
        screen::talk(&format!("leads to port {port} of session {} until Ctrl-C", session.id));
    }
    let told = |why: &str| screen::talk(&format!("No connection to port {port}: {why}"));
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted?,
        why = forward.run(&told) => screen::talk(&format!("Session {}: {why}", session.id)),
    }
    Ok(Exit::Ok)
}

/// Returns the session with a program that listens on the port.
async fn listening<'a>(found: &'a FoundSessions, wanted: &SessionPort) -> anyhow::Result<&'a AnsweringSession> {
    let SessionPort(id, port) = wanted;
    let meant = found.sessions.iter().filter(|session| id.as_ref().is_none_or(|id| session.id == *id));
    let asked = meant.map(|session| async move { (session, session.ask(&Ask::Port { port: *port }).await) });
    let answers = join_all(asked).await;
    if answers.is_empty() {
        match id {
            Some(id) => {
                bail!("there is no session \"{id}\" with a job here; \"haft jobs\" lists them{}", found.silence())
            }
            None => bail!("{NO_JOBS}{}", found.silence()),
        }
    }
    let listen = answers.iter().filter(|(_, answer)| *answer == Ok(Answer::Is(Some(true))));
    match listen.map(|(session, _)| *session).collect::<Vec<_>>()[..] {
        [session] => Ok(session),
        [] => bail!(
            "no program of a session listens on port {port}; \"haft jobs output JOB\" shows what a job printed{}",
            found.silence()
        ),
        ref several => {
            let names: Vec<String> = several.iter().map(|session| format!("{}:{port}", session.id)).collect();
            bail!("several sessions listen on port {port}; name one of them: {}", names.join(", "))
        }
    }
}
