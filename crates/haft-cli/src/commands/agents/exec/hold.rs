//! `haft hold`: the process that holds a session for `haft exec --session`. haft starts it itself.

use clap::Args;
use haft_host::calling::exec::holder::hold;
use haft_sandbox::report_to_starter;

use super::BUILD;
use super::session::{AskedThere, options_of_holder};
use crate::arguments::Common;
use crate::exit::Exit;
use crate::prompt::Offers;

#[derive(Args)]
pub(crate) struct Hold {
    /// The name of the session
    id: String,
}

/// Holds the session until it ends.
pub(crate) fn run(common: &Common, arguments: &Hold) -> anyhow::Result<Exit> {
    let options = options_of_holder(common);
    match hold(options, (&arguments.id, BUILD), |host| Box::new(AskedThere::of(host, Offers::Shown))) {
        Ok(()) => Ok(Exit::Ok),
        Err(error) => {
            report_to_starter(&format!("{error:#}"));
            Ok(Exit::Usage)
        }
    }
}
