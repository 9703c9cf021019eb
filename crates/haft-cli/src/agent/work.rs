//! Lets a model work on one prompt, and says how that ended.
//!
//! Ctrl-C stops the call or the reply that is under way, and the conversation stays valid; a second one ends at once.

use std::io::{self, IsTerminal};
use std::time::Instant;

use anyhow::Context;
use haft::grouped::Grouped;
use haft_agent::agent::Agent;
use haft_agent::history::Past;
use haft_agent::instructions::{Instructions, Manner, Words};
use haft_agent::outcome::{Ended, Outcome};
use haft_agent::output::OutputSchema;
use haft_agent::settings::Settings;
use haft_agent::told::Told;
use haft_model::client::Connection;
use haft_model::provider::ModelErrorKind;
use haft_runtime::record::VERSION;
use haft_workspace::state::read_config_file;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::choice::{Chosen, connection};
use super::flags::HowFar;
use super::kept::{Keeping, Said};
use super::spans::Spans;
use super::teller::Teller;
use super::tuning::Tuning;
use super::waiting::WaitingLine;
use super::{output, stream};
use crate::arguments::Common;
use crate::desk::Desk;
use crate::exit::Exit;
use crate::live::Live;
use crate::prompt::overseer;
use crate::screen::{self, Part};

/// A model, a workspace and a session, ready to work.
pub(crate) struct Work<'a> {
    pub(crate) desk: &'a Desk,
    pub(crate) common: &'a Common,
    pub(crate) how_far: &'a HowFar,
    pub(crate) tuning: Tuning,
    pub(crate) keeping: Keeping,
    pub(crate) chosen: Chosen,
    pub(crate) past: Past,
    pub(crate) output: Option<OutputSchema>,
}

impl Work<'_> {
    /// Works on a prompt to its end.
    pub(crate) async fn on(self, prompt: String) -> anyhow::Result<Exit> {
        let spans = Spans::of(&self, &prompt);
        let exit = self.watched_by(&spans, prompt).await;
        spans.send().await;
        exit
    }

    async fn watched_by(self, spans: &Spans, prompt: String) -> anyhow::Result<Exit> {
        let Work { desk, common, how_far, tuning, keeping, chosen, past, output } = self;
        let began = Instant::now();
        let endpoint = &chosen.endpoint;
        let cannot = "the session cannot be written down";
        keeping.begin(endpoint, Said::by(common)).context(cannot)?;
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
            screen::talk_part(&Part::Faint(&format!("{model} at {}, session {id}", chosen.from)));
        }
        let unseen = WaitingLine::unseen(&teller.waiting);
        let waiting = if teller.streams { unseen.on(teller.line.clone(), endpoint.times.idle) } else { unseen };
        let session = desk.session_of_agent(&id, common, teller.line.clone());
        let connection: Connection = connection(chosen.endpoint);
        let agent = Agent::new(&desk.runtime, &session, &connection, &keeping);
        let overseer = overseer(teller.line.clone());
        let settings = Settings { output, ..tuning.of(settings(desk, common, how_far)?) };
        let mut agent = agent.with_settings(settings).watched_by(&*overseer).going_on(past);
        let outcome = {
            let told = |what: Told<'_>| {
                spans.tell(what);
                teller.tell(what);
            };
            let working = agent.run(prompt, &told, &stop);
            let live = Live::new(desk.runtime.events()).on(teller.line.clone());
            attended(working, live, waiting, &stop).await?
        };
        spans.end(outcome.as_ref());
        teller.end_line();
        let Some(outcome) = outcome else {
            keeping.end("Ended at once.");
            if common.json {
                let (exit_code, how) = (Exit::Interrupted.code(), "ended_at_once");
                let record =
                    json!({ "v": VERSION, "event": "ended", "how": how, "session": id, "exit_code": exit_code });
                teller.print(&record);
                return Ok(Exit::Interrupted);
            }
            screen::talk(&format!("Ended at once. To go on: haft resume {id}"));
            return Ok(Exit::Interrupted);
        };
        let exit = exit_of(&outcome.ended);
        keeping.end(&outcome.ended.to_string());
        let took = began.elapsed().as_secs_f64();
        if common.json {
            teller.print(&end_record(&outcome, &id, exit, took));
            return Ok(exit);
        }
        if let Some(output) = &outcome.output {
            screen::answer(&output.value.to_string())?;
        } else if outcome.ended == Ended::Finished {
            // Where the text has just come to the same screen, it is there.
            if !(teller.streams && io::stdout().is_terminal()) {
                screen::answer(&outcome.answer)?;
            }
        } else {
            if !teller.streams {
                output::show_last_words(&outcome);
            }
            screen::talk(&format!("haft: {}", outcome.ended));
            screen::talk(&format!("To go on: haft resume {id}"));
        }
        screen::talk_part(&Part::Faint(&last_line(&outcome, &teller.tools(), took)));
        Ok(exit)
    }
}

/// Waits for the end, unless somebody will not; meanwhile Ctrl-C stops it, and what a running call prints
/// is shown, or that there is nothing but waiting.
async fn attended(
    working: impl Future<Output = Outcome>,
    mut live: Live,
    mut waiting: WaitingLine<'_>,
    stop: &CancellationToken,
) -> anyhow::Result<Option<Outcome>> {
    // One listener for the whole time: a signal between two looks must not be lost.
    let mut interrupted = signal(SignalKind::interrupt())?;
    tokio::pin!(working);
    loop {
        tokio::select! {
            biased;
            _ = interrupted.recv() => {
                if stop.is_cancelled() {
                    // Whatever still runs ends with this process, and the session has everything up to here.
                    return Ok(None);
                }
                stop.cancel();
            }
            outcome = &mut working => return Ok(Some(outcome)),
            () = live.step() => {}
            () = waiting.step() => {}
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
        | Ended::OutOfMoney { .. }
        | Ended::Unfinished(_)
        | Ended::SaidNothing
        | Ended::Unfit(_)
        | Ended::GoesInCircles { .. }
        | Ended::Failed(_)
        | Ended::NotRecorded(_) => Exit::Failed,
    }
}

/// Names an end for programs.
pub(super) fn name_of(ended: &Ended) -> &'static str {
    match ended {
        Ended::Finished => "finished",
        Ended::Stopped => "stopped",
        Ended::OutOfSteps(_) => "out_of_steps",
        Ended::OutOfBudget { .. } => "out_of_budget",
        Ended::OutOfMoney { .. } => "out_of_money",
        Ended::Refused => "refused",
        Ended::Unfinished(_) => "unfinished",
        Ended::SaidNothing => "said_nothing",
        Ended::Unfit(_) => "unfit",
        Ended::GoesInCircles { .. } => "goes_in_circles",
        Ended::Failed(error) if error.kind == ModelErrorKind::TimedOut => "timed_out",
        Ended::Failed(_) => "failed",
        Ended::NotRecorded(_) => "not_recorded",
    }
}

fn end_record(outcome: &Outcome, id: &str, exit: Exit, took: f64) -> serde_json::Value {
    let mut record = json!({
        "v": VERSION, "event": "ended", "how": name_of(&outcome.ended), "answer": outcome.answer, "session": id,
        "steps": outcome.steps, "usage": stream::usage(outcome.usage), "exit_code": exit.code(),
        "duration_ms": (took * 1_000.0) as u64
    });
    output::add_to(&mut record, outcome);
    if let Some(cost) = &outcome.cost {
        record["cost"] = json!({ "amount": cost.exact(), "currency": cost.currency() });
    }
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
    let cost = outcome.cost.as_ref().map(|cost| format!(", {cost}")).unwrap_or_default();
    let tools = if tools.is_empty() { String::new() } else { format!("; {tools}") };
    format!(
        "{}, {} in{cached}, {} out{cost}{tools}; {took:.1} s in all",
        Grouped(u64::from(outcome.steps)).of("step"),
        Grouped(usage.input).of("token"),
        Grouped(usage.output)
    )
}
