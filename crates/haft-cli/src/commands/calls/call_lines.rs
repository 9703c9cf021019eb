//! `haft call -`: reads calls as lines of JSON from stdin, and writes results as lines to stdout.

use std::io;

use haft_contract::outcome::result::ToolResult;
use haft_host::calling::call_lines::{LineOutput, LinesEnd, serve};
use haft_host::host::block_on;

use crate::arguments::Common;
use crate::caller::{CallerKind, how_to_allow};
use crate::exit::Exit;
use crate::prompt::somebody_is_there;
use crate::screen;

/// Runs the command.
pub(crate) fn run(common: &Common) -> anyhow::Result<Exit> {
    let host = CallerKind::Lines.opens(common)?;
    let session = CallerKind::Lines.session(&host, common);
    let end = block_on(serve(&host, &session, io::BufReader::new(io::stdin()), &Stdout))??;
    Ok(match end {
        LinesEnd::AllAnswered => Exit::Ok,
        LinesEnd::Interrupted => Exit::Interrupted,
        LinesEnd::Unread => Exit::Usage,
    })
}

struct Stdout;

impl LineOutput for Stdout {
    fn record(&self, json: &str) -> io::Result<()> {
        screen::record(json)
    }

    /// Tells a person who types calls what the record does not tell a model.
    fn ended(&self, result: &ToolResult) {
        let how = result.error.as_ref().and_then(|error| how_to_allow(error, CallerKind::Lines));
        if let Some(how) = how.filter(|_| somebody_is_there()) {
            screen::talk(&format!("To allow it: {how}"));
        }
    }
}
