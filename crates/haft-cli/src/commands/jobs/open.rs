//! `haft jobs open`: opens a port of a session on the loopback of this machine, for the user's browser.

use anyhow::Context;
use clap::Args;
use haft_host::calling::jobs::FoundSessions;
use haft_net::jobs::{Forward, LocalPort};
use serde_json::json;

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
    let SessionPort(ref id, port) = arguments.port;
    let found = FoundSessions::find(&common.options()).await?;
    let session = found.listening(id.as_deref(), port).await?;
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
