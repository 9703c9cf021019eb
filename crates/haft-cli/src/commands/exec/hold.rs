//! `haft hold`: the process that holds a session for `haft exec --session`. haft starts it itself.

use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use haft_host::exec::CommandServer;
use haft_host::exec::holder::Holder;
use haft_host::host::{Host, block_on};
use haft_host::notices::Notices;
use haft_host::options::Options;
use haft_host::project_files::OnUntrusted;
use haft_net::exec::Listener;
use haft_sandbox::report_to_starter;

use super::BUILD;
use super::session::{AskedThere, READY, options_of_holder};
use crate::arguments::Common;
use crate::exit::Exit;
use crate::prompt::Offers;

#[derive(Args)]
pub(crate) struct Hold {
    /// The name of the session
    id: String,
}

/// Holds the session until it ends.
pub(crate) fn run(common: &Common, hold: &Hold) -> anyhow::Result<Exit> {
    match held(common, hold) {
        Ok(()) => Ok(Exit::Ok),
        Err(error) => {
            report_to_starter(&format!("{error:#}"));
            Ok(Exit::Usage)
        }
    }
}

fn held(common: &Common, hold: &Hold) -> anyhow::Result<()> {
    let notices = Arc::new(Collected::default());
    let told: Arc<dyn Notices> = Arc::<Collected>::clone(&notices);
    let host = Host::open_for(&Options { notices: told, ..options_of_holder(common) }, OnUntrusted::Report)?;
    let held = host.state.held_sessions().hold_exactly(&hold.id)?;
    let idle = host.settings.commands.idle;
    let approvers = AskedThere::of(&host, Offers::Shown);
    let server = CommandServer::new(host, &hold.id);
    let holder = Holder::new(server, Box::new(approvers), (BUILD.to_owned(), idle));
    holder.report(notices.take());
    block_on(async move {
        let listener = Listener::bind(&held.socket.path())?;
        report_to_starter(READY);
        holder.hold(listener, held).await;
        anyhow::Ok(())
    })?
}

/// Collects what the first client is told.
#[derive(Default)]
struct Collected(Mutex<Vec<String>>);

impl Collected {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Notices for Collected {
    fn note(&self, text: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }
}
