//! Lets a model work on one prompt, and reports how that ended.
//!
//! Ctrl-C stops the running call or reply, and the conversation stays valid; a second Ctrl-C ends haft immediately. A
//! service manager and a terminal that closes stop it as well.

use std::time::Instant;

use anyhow::Context;
use haft_agent::agent::AgentLoop;
use haft_agent::memory::history::Past;
use haft_agent::outcome::AgentOutcome;
use haft_agent::output::OutputSchema;
use haft_agent::settings::AgentSettings;
use haft_agent::work::told::RunEvent;
use haft_model::client::ModelConnection;
use haft_runtime::record::VERSION;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::ending::RunEndReporter;
use super::flags::HowFar;
use super::teller::Printer;
use super::waiting::WaitingLine;
use crate::arguments::Common;
use crate::caller::CallerKind;
use crate::exit::Exit;
use crate::live::Live;
use crate::prompt::overseer;
use crate::screen::{self, StyledText};
use haft_host::calling::stop_signals::{StopRequest, StopSignals};
use haft_host::conversations::session_records::{RunOptions, SessionRecorder, SharedValues, instructions};
use haft_host::conversations::user_commands::ExpandedPrompt;
use haft_host::host::Host;
use haft_host::opening::model::choice::ChosenModel;
use haft_host::opening::model::tuning::Tuning;
use haft_host::spans::{Spans, TracedRun};
use haft_host::texts::bounded_text::one_line_of;

/// Longest name of a model, in columns.
const LONGEST_NAME: usize = 120;

/// A model, a workspace and a session, ready to work.
pub(crate) struct AgentRun<'a> {
    pub(crate) host: &'a Host,
    pub(crate) common: &'a Common,
    pub(crate) how_far: &'a HowFar,
    pub(crate) tuning: Tuning,
    pub(crate) keeping: SessionRecorder,
    pub(crate) chosen: ChosenModel,
    pub(crate) past: Past,
    pub(crate) output: Option<OutputSchema>,
    /// What tools of the session kept in earlier runs.
    pub(crate) shared: SharedValues,
}

impl AgentRun<'_> {
    /// Works on a prompt to its end.
    pub(crate) async fn on(self, prompt: ExpandedPrompt) -> anyhow::Result<Exit> {
        let traced = TracedRun {
            runtime: &self.host.runtime,
            session: self.keeping.id(),
            endpoint: &self.chosen.endpoint,
            notices: self.host.options().notices.clone(),
        };
        let spans = Spans::of(traced, &prompt.text);
        let exit = self.watched_by(&spans, prompt).await;
        spans.send().await;
        exit
    }

    async fn watched_by(self, spans: &Spans, prompt: ExpandedPrompt) -> anyhow::Result<Exit> {
        let AgentRun { host, common, how_far, tuning, keeping, chosen, past, output, shared } = self;
        let began = Instant::now();
        let endpoint = &chosen.endpoint;
        let cannot = "the session cannot be recorded";
        keeping.begin(endpoint, tuning.noted_in(RunOptions::of(&common.options()))).context(cannot)?;
        let (id, model) = (keeping.id(), endpoint.model.clone());
        let stop = CancellationToken::new();
        let teller = Printer::new(&keeping, host, common, &stop);
        if common.json {
            let (wire, base_url) = (endpoint.wire.name(), &endpoint.base_url);
            teller.print(&json!({
                "v": VERSION, "event": "session", "id": id, "model": model, "wire": wire, "base_url": base_url,
                "workspace": host.workspace, "prompt": host.runtime.redactor().redact_known(&prompt.text)
            }));
        } else {
            let model = one_line_of(&model, LONGEST_NAME);
            screen::talk_part(&StyledText::Faint(&format!("{model} at {}, session {id}", chosen.from)));
        }
        let unseen = WaitingLine::unseen(&teller.waiting);
        let waiting = if teller.streams { unseen.on(teller.line.clone(), endpoint.times.idle) } else { unseen };
        let session = host.session(&id, CallerKind::Agent.approver((host, common), teller.line.clone()));
        session.set_agent(&model);
        shared.restore(&session);
        let connection: ModelConnection = tuning.over(chosen.connection());
        let agent = AgentLoop::new(&host.runtime, &session, &connection, &keeping);
        let overseer = overseer(teller.line.clone());
        let settings = AgentSettings { output, only_tools: prompt.tools, ..tuning.of(settings(host, how_far)?) };
        let mut agent = agent.with_settings(settings).watched_by(&*overseer).showing(prompt.images).going_on(past);
        let outcome = {
            let told = |what: RunEvent<'_>| {
                spans.tell(what);
                teller.tell(what);
            };
            let working = agent.run(prompt.text, &told, &stop);
            let live = Live::new(host.runtime.events()).on(teller.line.clone());
            attended(working, live, waiting, &stop).await
        };
        session.end_jobs().await;
        let outcome = outcome?;
        spans.end(outcome.as_ref());
        teller.end_line();
        RunEndReporter { teller: &teller, keeping: &keeping, is_json: common.json, took: began.elapsed() }.say(outcome)
    }
}

/// Waits for the end, unless the user stops waiting. Meanwhile Ctrl-C stops the work, and the terminal shows the output
/// of a running call, or that haft only waits.
async fn attended(
    working: impl Future<Output = AgentOutcome>,
    mut live: Live,
    mut waiting: WaitingLine<'_>,
    stop: &CancellationToken,
) -> anyhow::Result<Option<AgentOutcome>> {
    let mut asked = StopSignals::listen()?;
    tokio::pin!(working);
    loop {
        tokio::select! {
            biased;
            asked = asked.next(stop) => match asked {
                StopRequest::Stop => stop.cancel(),
                // Whatever still runs ends with this process, and the session has everything up to here.
                StopRequest::End => return Ok(None),
            },
            outcome = &mut working => return Ok(Some(outcome)),
            () = live.step() => {}
            () = waiting.step() => {}
        }
    }
}

fn settings(host: &Host, how_far: &HowFar) -> anyhow::Result<AgentSettings> {
    let usual = AgentSettings::default();
    Ok(AgentSettings {
        max_steps: how_far.max_steps.unwrap_or(usual.max_steps),
        token_budget: how_far.max_tokens,
        instructions: instructions(host)?,
        ..usual
    })
}
