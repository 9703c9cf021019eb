//! Lets a model work on one prompt, and says how that ended.
//!
//! Ctrl-C stops the call or the reply that is under way, and the conversation stays valid; a second one ends at once.
//! Whoever ends services and a terminal that closes stop it as well.

use std::io::{self, IsTerminal};
use std::time::Instant;

use anyhow::Context;
use haft::grouped::Grouped;
use haft_agent::agent::Agent;
use haft_agent::history::Past;
use haft_agent::instructions::{Instructions, Manner, Words};
use haft_agent::outcome::{Ended, Outcome};
use haft_agent::settings::Settings;
use haft_model::client::Connection;
use haft_model::provider::ModelErrorKind;
use haft_runtime::record::VERSION;
use haft_workspace::state::read_config_file;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::asked_to_stop::{Asked, AskedToStop};
use super::choice::Chosen;
use super::flags::HowFar;
use super::kept::Keeping;
use super::shown::{one_line_of, paragraph};
use super::stream;
use super::teller::Teller;
use crate::arguments::Common;
use crate::desk::Desk;
use crate::exit::Exit;
use crate::live::Live;
use crate::prompt::overseer;
use crate::screen::{self, Part};

/// Longest name of a model, in columns.
const LONGEST_NAME: usize = 120;

/// A model, a workspace and a session, ready to work.
pub(crate) struct Work<'a> {
    pub(crate) desk: &'a Desk,
    pub(crate) common: &'a Common,
    pub(crate) how_far: &'a HowFar,
    pub(crate) keeping: Keeping,
    pub(crate) chosen: Chosen,
    pub(crate) past: Past,
}

impl Work<'_> {
    /// Works on a prompt to its end.
    pub(crate) async fn on(self, prompt: String) -> anyhow::Result<Exit> {
        let Work { desk, common, how_far, keeping, chosen, past } = self;
        let began = Instant::now();
        let endpoint = &chosen.endpoint;
        let cannot = "the session cannot be written down";
        keeping.begin(&endpoint.model, endpoint.wire, &endpoint.base_url).context(cannot)?;
        let (id, model) = (keeping.id(), endpoint.model.clone());
        let stop = CancellationToken::new();
        let teller = Teller::new(&keeping, desk, common, &stop);
        if common.json {
            let (wire, base_url) = (endpoint.wire.name(), &endpoint.base_url);
            teller.print(&json!({
                "v": VERSION, "event": "session", "id": id, "model": model, "wire": wire, "base_url": base_url,
                "workspace": desk.workspace, "prompt": prompt
            }));
        } else {
            let model = one_line_of(&model, LONGEST_NAME);
            screen::talk_part(&Part::Faint(&format!("{model} at {}, session {id}", chosen.from)));
        }
        let session = desk.session_of_agent(&id, common, teller.line.clone());
        let connection: Connection = chosen.connection();
        let agent = Agent::new(&desk.runtime, &session, &connection, &keeping);
        let overseer = overseer(teller.line.clone());
        let agent = agent.with_settings(settings(desk, common, how_far)?).watched_by(&*overseer);
        let mut agent = agent.going_on(past);
        let outcome = {
            let told = |what: haft_agent::told::Told<'_>| teller.tell(what);
            let working = agent.run(prompt, &told, &stop);
            attended(working, Live::new(desk.runtime.events()).on(teller.line.clone()), &stop).await?
        };
        teller.end_line();
        let Some(outcome) = outcome else {
            keeping.end("Ended at once.");
            return Ok(if common.json { teller.print_end_at_once() } else { told_end_at_once(&id) });
        };
        let exit = exit_of(&outcome.ended);
        keeping.end(&outcome.ended.to_string());
        let took = began.elapsed().as_secs_f64();
        if common.json {
            return Ok(teller.print_end(&end_record(&outcome, &id, exit, took), exit));
        }
        if outcome.ended == Ended::Finished {
            // Where the text has just come to the same screen, it is there.
            if !(teller.streams && io::stdout().is_terminal()) {
                screen::answer(&outcome.answer)?;
            }
        } else {
            // What it said up to there is no answer, and yet it may say why.
            if !teller.streams && !outcome.answer.trim().is_empty() {
                screen::talk(outcome.answer.trim_end());
            }
            screen::talk(&format!("haft: {}", paragraph(&outcome.ended.to_string())));
            screen::talk(&format!("To go on: haft resume {id}"));
        }
        screen::talk_part(&Part::Faint(&last_line(&outcome, &teller.tools(), took)));
        Ok(exit)
    }
}

/// Waits for the end, unless somebody will not; meanwhile Ctrl-C stops it, and what a running call prints is shown.
async fn attended(
    working: impl Future<Output = Outcome>,
    mut live: Live,
    stop: &CancellationToken,
) -> anyhow::Result<Option<Outcome>> {
    let mut asked = AskedToStop::listen()?;
    tokio::pin!(working);
    loop {
        tokio::select! {
            biased;
            asked = asked.next(stop) => match asked {
                Asked::ToStop => stop.cancel(),
                // Whatever still runs ends with this process, and the session has everything up to here.
                Asked::ToEnd => return Ok(None),
            },
            outcome = &mut working => return Ok(Some(outcome)),
            () = live.step() => {}
        }
    }
}

fn settings(desk: &Desk, common: &Common, how_far: &HowFar) -> anyhow::Result<Settings> {
    let usual = Settings::default();
    let own = desk.settings.environment.config_folder.join("AGENTS.md");
    let own_text = read_config_file(&own).with_context(|| format!("{} cannot be read", own.display()))?;
    let own_words = own_text.map(|text| Words { from: own.display().to_string(), text });
    let words = desk.words.iter().map(|(from, text)| Words { from: from.clone(), text: text.clone() });
    let manner = match () {
        () if common.plan => Manner::Plan,
        () if common.tries => Manner::Try,
        () if common.yes => Manner::Yolo,
        () => Manner::Normal,
    };
    Ok(Settings {
        max_steps: how_far.max_steps.unwrap_or(usual.max_steps),
        token_budget: how_far.max_tokens,
        instructions: Instructions {
            workspace: Some(desk.workspace.display().to_string()),
            words: own_words.into_iter().chain(words).collect(),
            manner,
        },
        ..usual
    })
}

fn exit_of(ended: &Ended) -> Exit {
    match ended {
        Ended::Finished => Exit::Ok,
        Ended::Stopped => Exit::Interrupted,
        Ended::Refused => Exit::Refused,
        Ended::Failed(error) if error.kind == ModelErrorKind::TimedOut => Exit::TimedOut,
        Ended::OutOfSteps(_)
        | Ended::OutOfBudget { .. }
        | Ended::Unfinished(_)
        | Ended::SaidNothing
        | Ended::GoesInCircles { .. }
        | Ended::Failed(_)
        | Ended::NotRecorded(_) => Exit::Failed,
    }
}

/// Names an end for programs.
fn name_of(ended: &Ended) -> &'static str {
    match ended {
        Ended::Finished => "finished",
        Ended::Stopped => "stopped",
        Ended::OutOfSteps(_) => "out_of_steps",
        Ended::OutOfBudget { .. } => "out_of_budget",
        Ended::Refused => "refused",
        Ended::Unfinished(_) => "unfinished",
        Ended::SaidNothing => "said_nothing",
        Ended::GoesInCircles { .. } => "goes_in_circles",
        Ended::Failed(error) if error.kind == ModelErrorKind::TimedOut => "timed_out",
        Ended::Failed(_) => "failed",
        Ended::NotRecorded(_) => "not_recorded",
    }
}

fn told_end_at_once(id: &str) -> Exit {
    screen::talk(&format!("Ended at once. To go on: haft resume {id}"));
    Exit::Interrupted
}

fn end_record(outcome: &Outcome, id: &str, exit: Exit, took: f64) -> serde_json::Value {
    let mut record = json!({
        "v": VERSION, "event": "ended", "how": name_of(&outcome.ended), "answer": outcome.answer, "session": id,
        "steps": outcome.steps, "usage": stream::usage(outcome.usage), "exit_code": exit.code(),
        "duration_ms": (took * 1_000.0) as u64
    });
    if outcome.ended != Ended::Finished {
        record["error"] = outcome.ended.to_string().into();
    }
    record
}

fn last_line(outcome: &Outcome, tools: &str, took: f64) -> String {
    let usage = outcome.usage;
    let cached = match usage.cache_read {
        0 => String::new(),
        cached => format!(" ({} of them from the cache)", Grouped(cached)),
    };
    let tools = if tools.is_empty() { String::new() } else { format!("; {tools}") };
    format!(
        "{}, {} in{cached}, {} out{tools}; {took:.1} s in all",
        Grouped(u64::from(outcome.steps)).of("step"),
        Grouped(usage.input).of("token"),
        Grouped(usage.output)
    )
}
