//! Reports to a person or a program what an agent does, while it works.
//!
//! A terminal at stderr shows the model's text as it arrives; otherwise stderr shows only calls, a line each. Programs
//! get records on stdout. If a call needs approval and no person is there, haft reports the rule that would allow it.

use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use haft_agent::work::told::RunEvent;
use haft_agent::work::waiting::ModelWaitTimer;
use haft_contract::doors::reader::Audience;
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::result::ToolResult;
use haft_runtime::record;
use haft_runtime::redaction::redact::{Redactor, TextStream};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::arguments::Common;
use crate::caller::{CallerKind, how_to_allow};
use crate::exit::Exit;
use crate::live::LiveLine;
use crate::screen::{self, StyledText, safe, talk_width};
use haft_host::conversations::agent_records as stream;
use haft_host::conversations::session_records::SessionRecorder;
use haft_host::host::Host;
use haft_host::texts::agent_lines::{ToolCallTally, call_line, room_made};
use haft_host::texts::bounded_text::paragraph;
use haft_host::texts::result_preview::call_name;
use haft_runtime::catalogue::catalog::Catalog;

/// Tells what an agent does.
pub(super) struct Printer<'a> {
    keeping: &'a SessionRecorder,
    is_json: bool,
    /// Whether a person watches the text as it arrives.
    pub(super) streams: bool,
    redactor: &'a Redactor,
    catalog: &'a Catalog,
    /// Stops everything when our records cannot be written any more.
    stop: &'a CancellationToken,
    /// What a running call prints, which goes before anything else is printed.
    pub(super) line: LiveLine,
    /// Since when the model is waited for.
    pub(super) waiting: ModelWaitTimer,
    state: Mutex<AgentTellerState>,
}

/// The state of a teller that changes while the agent works.
#[derive(Default)]
struct AgentTellerState {
    tools: ToolCallTally,
    /// The text that the model is writing.
    text: TextStream,
    /// What the calls that run are about, by their ids.
    about: HashMap<String, String>,
    /// Whether the last thing on the screen is text without a line end.
    is_in_line: bool,
    /// Rules that were told already.
    told_rules: Vec<String>,
    /// Why a record could not be written.
    unwritten: Option<io::Error>,
}

impl<'a> Printer<'a> {
    pub(super) fn new(
        keeping: &'a SessionRecorder,
        host: &'a Host,
        common: &Common,
        stop: &'a CancellationToken,
    ) -> Self {
        let (is_json, redactor) = (common.json, host.runtime.redactor());
        let streams = !is_json && io::stderr().is_terminal();
        let (line, waiting, state) = (LiveLine::default(), ModelWaitTimer::default(), Mutex::default());
        let catalog = host.runtime.catalog();
        Self { keeping, is_json, streams, redactor, catalog, stop, line, waiting, state }
    }

    /// Tells one thing.
    pub(super) fn tell(&self, told: RunEvent<'_>) {
        if let RunEvent::Finished(text) = told {
            self.tell(RunEvent::Text(text));
            return self.show_rest_of_text();
        }
        self.waiting.note(&told, Instant::now());
        // A text is shown without secrets; what may be one is shown with what follows.
        let piece = match told {
            RunEvent::Text(text) => self.state().text.take(self.redactor, text),
            _ => String::new(),
        };
        match told {
            RunEvent::CallEnded { result, .. } => {
                self.keeping.result(record::of_result(result));
                self.state().tools.note(&result.tool, result.took);
            }
            RunEvent::Replied { usage, .. } => self.keeping.count(usage),
            _ => {}
        }
        let told = if let RunEvent::Text(_) = told {
            RunEvent::Text(&piece)
        } else {
            self.show_rest_of_text();
            told
        };
        if self.is_json {
            self.tell_program(told);
            return;
        }
        match told {
            RunEvent::Text(text) if self.streams => self.stream(text),
            // Output arrived, so the wait is over.
            RunEvent::Thinking(_) | RunEvent::Writing(_) | RunEvent::Arguments(_) | RunEvent::Steered(_) => {
                self.line.clear()
            }
            RunEvent::Text(_) | RunEvent::Step(_) | RunEvent::Finished(_) => {}
            RunEvent::Replied { .. } => self.end_line(),
            RunEvent::CallBegan { call, preview } => _ = self.state().about.insert(call.id.clone(), preview.to_owned()),
            RunEvent::CallEnded { call, result, .. } => {
                let about = self.state().about.remove(&call.id).unwrap_or_default();
                let name = call_name(self.catalog, &call.name);
                self.part(&call_line((&name, &about), Some(result), talk_width()));
                self.tell_rule(result);
            }
            RunEvent::NotRun { call, .. } => {
                self.part(&call_line((&call_name(self.catalog, &call.name), ""), None, talk_width()))
            }
            RunEvent::Again(after, why) => {
                let when = if after.is_zero() { String::new() } else { format!(" in {}", seconds(after)) };
                self.note(&format!("{}. Retrying{when}.", why.trim_end_matches('.')))
            }
            RunEvent::GoesOn(why) => {
                self.note(&format!("The reply is incomplete: {why}. haft asks the model to continue."))
            }
            RunEvent::Unfit(why) => {
                self.note(&format!("The answer does not fit the schema. haft tells the model:\n{why}"))
            }
            RunEvent::Compacted(done) => self.note(&room_made(done)),
        }
    }

    /// Shows what was held back of a text, once something else follows.
    fn show_rest_of_text(&self) {
        let rest = self.state().text.rest(self.redactor);
        match rest.as_str() {
            "" => {}
            rest if self.is_json => self.tell_program(RunEvent::Text(rest)),
            rest if self.streams => self.stream(rest),
            _ => {}
        }
    }

    fn tell_program(&self, told: RunEvent<'_>) {
        if matches!(told, RunEvent::Text("")) {
            return;
        }
        if let Some(mut record) = stream::record(told) {
            if let Some(arguments) = record.get_mut("arguments") {
                self.redactor.redact_value(arguments);
            }
            // A model may call a tool by any name.
            for key in ["tool", "id"] {
                if let Some(name) = record.get_mut(key) {
                    self.redactor.redact_known_value(name);
                }
            }
            self.print(&record);
        }
    }

    /// Hides known secrets in what is said at the end.
    pub(super) fn redactor(&self) -> &Redactor {
        self.redactor
    }

    /// Prints a record; where that cannot be done any more, everything stops.
    pub(super) fn print(&self, record: &Value) {
        if let Err(error) = screen::record(&record.to_string()) {
            self.stop.cancel();
            self.state().unwritten.get_or_insert(error);
        }
    }

    /// Prints the last record; returns the exit status. A reader that closed its end of the pipe has read enough; this
    /// reports any other write error.
    pub(super) fn print_end(&self, record: &Value, exit: Exit) -> Exit {
        self.print(record);
        match self.state().unwritten.take() {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                screen::talk(&format!("haft: {error}. To continue: haft resume {}", self.keeping.id()));
                Exit::Failed
            }
            Some(_) | None => exit,
        }
    }

    /// Ends a line of text that has no end.
    pub(super) fn end_line(&self) {
        self.line.clear();
        let mut state = self.state();
        if std::mem::take(&mut state.is_in_line) {
            let _ = writeln!(io::stderr());
        }
    }

    /// Returns how often each tool was called, and how long that took, in words.
    pub(super) fn tools(&self) -> String {
        self.state().tools.to_string()
    }

    fn stream(&self, text: &str) {
        self.line.clear();
        let mut state = self.state();
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "{}", safe(text));
        let _ = stderr.flush();
        state.is_in_line = !text.ends_with('\n');
    }

    /// Reports once per rule what would allow a call that needed approval while no person was there.
    fn tell_rule(&self, result: &ToolResult) {
        let Some(error) = result.error.as_ref().filter(|error| error.kind == ErrorKind::NeedsApproval) else { return };
        let next = match how_to_allow(error, CallerKind::Agent) {
            Some(how) => how.to_owned(),
            None => Audience::Person.reads(&error.next.to_string()).into_owned(),
        };
        let words = [Some(format!("{} Next: {next}", error.what)), error.detail.clone()];
        let words = words.into_iter().flatten().collect::<Vec<_>>().join("\n");
        let mut state = self.state();
        if !state.told_rules.contains(&words) {
            screen::talk(&words);
            state.told_rules.push(words);
        }
    }

    fn part(&self, part: &(bool, String)) {
        self.end_line();
        let (is_good, line) = part;
        screen::talk_part(&if *is_good { StyledText::Faint(line) } else { StyledText::Bad(line) });
    }

    fn note(&self, words: &str) {
        self.end_line();
        screen::talk(&format!("note: {}", paragraph(words)));
    }

    fn state(&self) -> MutexGuard<'_, AgentTellerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
