//! Reports to a person or a program how a run ended.

use std::io::{self, IsTerminal};
use std::time::Duration;

use haft_agent::outcome::{AgentEndReason, AgentOutcome};
use haft_model::provider::ModelErrorKind;
use haft_runtime::record::VERSION;
use serde_json::json;

use super::output;
use super::teller::Printer;
use crate::exit::Exit;
use crate::screen::{self, StyledText};
use haft_host::conversations::agent_records::{cost_line, end_record};
use haft_host::conversations::session_records::SessionRecorder;
use haft_host::texts::bounded_text::paragraph;

/// Reports the end of a run to a person or a program.
pub(super) struct RunEndReporter<'a> {
    pub(super) teller: &'a Printer<'a>,
    pub(super) keeping: &'a SessionRecorder,
    pub(super) is_json: bool,
    pub(super) took: Duration,
}

impl RunEndReporter<'_> {
    /// Records and reports how the run ended. Without an outcome, the user did not wait for the end.
    pub(super) fn say(self, outcome: Option<AgentOutcome>) -> anyhow::Result<Exit> {
        let Some(mut outcome) = outcome else { return Ok(self.say_that_nobody_waited()) };
        let redactor = self.teller.redactor();
        outcome.answer = redactor.redact_known(&outcome.answer).into_owned();
        if let Some(output) = &mut outcome.output {
            redactor.redact_known_value(&mut output.value);
        }
        let (id, took) = (self.keeping.id(), self.took.as_secs_f64());
        let exit = exit_of(&outcome.ended);
        self.keeping.end(&outcome.ended.to_string());
        if self.is_json {
            return Ok(self.teller.print_end(&end_record(&outcome, &id, exit.code(), took), exit));
        }
        if let Some(output) = &outcome.output {
            screen::record(&output.value.to_string())?;
        } else if outcome.ended == AgentEndReason::Finished {
            // Where the text has just come to the same screen, it is there.
            if !(self.teller.streams && io::stdout().is_terminal()) {
                screen::answer(&outcome.answer)?;
            }
        } else {
            if !self.teller.streams {
                output::show_last_words(&outcome);
            }
            screen::talk(&format!("haft: {}", paragraph(&outcome.ended.to_string())));
            screen::talk(&format!("To continue: haft resume {id}"));
        }
        screen::talk_part(&StyledText::Faint(&cost_line(&outcome, &self.teller.tools(), took)));
        Ok(exit)
    }

    fn say_that_nobody_waited(&self) -> Exit {
        let (id, exit) = (self.keeping.id(), Exit::Interrupted);
        self.keeping.end("Ended immediately.");
        if self.is_json {
            let code = exit.code();
            let record =
                json!({ "v": VERSION, "event": "ended", "how": "ended_at_once", "session": id, "exit_code": code });
            return self.teller.print_end(&record, exit);
        }
        screen::talk(&format!("Ended immediately. To continue: haft resume {id}"));
        exit
    }
}

fn exit_of(ended: &AgentEndReason) -> Exit {
    match ended {
        AgentEndReason::Finished => Exit::Ok,
        AgentEndReason::Stopped => Exit::Interrupted,
        AgentEndReason::Refused => Exit::Refused,
        AgentEndReason::PromptTooLong { .. } => Exit::Usage,
        AgentEndReason::Failed(error) if error.kind == ModelErrorKind::TimedOut => Exit::TimedOut,
        AgentEndReason::OutOfSteps(_)
        | AgentEndReason::OutOfBudget { .. }
        | AgentEndReason::OutOfMoney { .. }
        | AgentEndReason::Unfinished(_)
        | AgentEndReason::SaidNothing
        | AgentEndReason::Unfit(_)
        | AgentEndReason::GoesInCircles { .. }
        | AgentEndReason::Failed(_)
        | AgentEndReason::NotRecorded(_) => Exit::Failed,
    }
}
