//! Lets a model work on one prompt, and says how that ended.
//!
//! Ctrl-C stops the call or the reply that is under way, and the conversation stays valid; a second one ends at once.
//! Whoever ends services and a terminal that closes stop it as well.

use std::time::Instant;

use anyhow::Context;
use haft_agent::agent::Agent;
use haft_agent::history::Past;
use haft_agent::instructions::{Instructions, Manner, Words};
use haft_agent::outcome::Outcome;
use haft_agent::output::OutputSchema;
use haft_agent::settings::Settings;
use haft_agent::told::Told;
use haft_model::client::Connection;
use haft_runtime::record::VERSION;
use haft_workspace::state::read_config_file;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::asked_to_stop::{Asked, AskedToStop};
use super::choice::Chosen;
use super::ending::Ending;
use super::flags::HowFar;
use super::kept::{Keeping, Said};
use super::shown::one_line_of;
use super::spans::Spans;
use super::teller::Teller;
use super::tuning::Tuning;
use super::waiting::WaitingLine;
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
        keeping.begin(endpoint, tuning.noted_in(Said::by(common))).context(cannot)?;
        let (id, model) = (keeping.id(), endpoint.model.clone());
        let stop = CancellationToken::new();
        let teller = Teller::new(&keeping, desk, common, &stop);
        if common.json {
            let (wire, base_url) = (endpoint.wire.name(), &endpoint.base_url);
            teller.print(&json!({
                "v": VERSION, "event": "session", "id": id, "model": model, "wire": wire, "base_url": base_url,
                "workspace": desk.workspace, "prompt": desk.runtime.redactor().redact_known(&prompt)
            }));
        } else {
            let model = one_line_of(&model, LONGEST_NAME);
            screen::talk_part(&Part::Faint(&format!("{model} at {}, session {id}", chosen.from)));
        }
        let unseen = WaitingLine::unseen(&teller.waiting);
        let waiting = if teller.streams { unseen.on(teller.line.clone(), endpoint.times.idle) } else { unseen };
        let session = desk.session_of_agent(&id, common, teller.line.clone());
        session.set_agent(&model);
        let connection: Connection = tuning.over(chosen.connection());
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
        Ending { teller: &teller, keeping: &keeping, is_json: common.json, took: began.elapsed() }.say(outcome)
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
            () = waiting.step() => {}
        }
    }
}

fn settings(desk: &Desk, common: &Common, how_far: &HowFar) -> anyhow::Result<Settings> {
    let usual = Settings::default();
    Ok(Settings {
        max_steps: how_far.max_steps.unwrap_or(usual.max_steps),
        token_budget: how_far.max_tokens,
        instructions: instructions(desk, common)?,
        ..usual
    })
}

/// Returns what the model is told first.
pub(crate) fn instructions(desk: &Desk, common: &Common) -> anyhow::Result<Instructions> {
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
    Ok(Instructions {
        workspace: Some(desk.workspace.display().to_string()),
        words: own_words.into_iter().chain(words).collect(),
        manner,
    })
}
