//! `haft replay`: replays a session in a copy, without a model, and reports differences.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use haft_host::calling::stop_signals::{StopRequest, StopSignals};
use haft_host::conversations::replay::records::Tally;
use haft_host::conversations::replay::session_replay::{ReplayEnd, SessionReplay};
use haft_host::host::block_on;
use haft_runtime::record::VERSION;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::arguments::Common;
use crate::exit::Exit;
use crate::replay::told::ReplayTeller;
use crate::screen::{self, StyledText};

/// How long removing the copy may take when the user ends the replay.
const TO_CLEAN_UP: Duration = Duration::from_secs(3);

/// Arguments of `haft replay`.
#[derive(Args)]
#[command(after_help = "Examples:
  haft replay
  haft replay k3f9-q2bx --json
  haft replay k3f9-q2bx --from ../checkout-of-that-day

haft repeats the replies that the model gave then, and runs each call with the current tools and rules. To restore the \
beginning, haft undoes, in the copy, the changes that it has made here since; it names what it cannot undo. \
haft allows again what the user allowed then, as far as it stays in the copy.

Exit codes: 0 nothing differs, 1 something differs, 2 usage or configuration, 130 stopped.")]
pub(crate) struct Replay {
    /// The session, as named by "haft sessions" [default: the one used last in this workspace]
    #[arg(value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Start from a copy of DIR, without undoing anything
    #[arg(long, value_name = "DIR")]
    pub(crate) from: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &Replay) -> anyhow::Result<Exit> {
    let options = common.options();
    let replay = SessionReplay::of(&options, arguments.session.as_deref(), arguments.from.as_deref())?;
    block_on(async {
        let stop = CancellationToken::new();
        let telling = ReplayTeller::new(common, &stop);
        let mut asked = StopSignals::listen()?;
        let replaying = replay.run(&options, &telling, &stop);
        tokio::pin!(replaying);
        loop {
            tokio::select! {
                biased;
                wish = asked.next(&stop) => match wish {
                    StopRequest::End => {
                        // The thread that makes the copy removes it; it was told to stop before.
                        let _ = tokio::time::timeout(TO_CLEAN_UP, &mut replaying).await;
                        return Ok(Exit::Interrupted);
                    }
                    StopRequest::Stop => stop.cancel(),
                },
                ended = &mut replaying => return end(common, ended?, &telling, &replay.session()),
            }
        }
    })?
}

/// Says how the replay ended.
fn end(common: &Common, ended: ReplayEnd, telling: &ReplayTeller<'_>, session: &str) -> anyhow::Result<Exit> {
    if ended == ReplayEnd::NotCopied {
        screen::talk("Stopped before the workspace was copied.");
        return Ok(Exit::Interrupted);
    }
    let tally = telling.tally();
    let exit = match tally {
        _ if telling.stop.is_cancelled() => Exit::Interrupted,
        Tally { differs: 1.., .. } => Exit::Failed,
        Tally { .. } => Exit::Ok,
    };
    if common.json {
        telling.print(&json!({
            "v": VERSION, "event": "ended", "session": session, "same": tally.same,
            "differs": tally.differs, "not_comparable": tally.not_comparable, "exit_code": exit.code()
        }))?;
    } else {
        let stopped = if exit == Exit::Interrupted { "Stopped. " } else { "" };
        screen::line(&[StyledText::Strong(&format!("{stopped}{}", tally.words()))])?;
    }
    Ok(exit)
}
