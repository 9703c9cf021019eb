//! Asks the person at the terminal.
//!
//! The question shows the exact call, its effect and the reason. Only the listed answers count, also in capitals or as
//! whole words. haft asks again after anything else. The end of input means no, and earlier input is no answer.

mod circle;
mod from_afar;
#[cfg(test)]
pub(crate) mod tests;

use std::io::{self, BufRead, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use haft_contract::BoxFuture;
use haft_contract::doors::user_questions::UserReply;
use haft_host::calling::user_questions;
use haft_host::calling::user_questions::typed_line;
use haft_host::opening::hosts::HostLists;
use haft_runtime::asking::approval::{ApprovalRequest, Approver, Offer, Questionnaire, Verdict};
use rustix::termios::{QueueSelector, tcflush};

use crate::live::LiveLine;
use crate::screen::{safe, talk_width};
use crate::terminal::drawing::marked_command::Marks;
use crate::terminal::question_body::Paper;
pub(crate) use circle::overseer;
pub(crate) use from_afar::{AskedFromAfar, Offers};

/// Returns whether haft can ask a person: both its input and its stderr are a terminal.
pub(crate) fn somebody_is_there() -> bool {
    crate::screen::captured_columns().is_none() && io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Discards input that was typed before a question was shown: the person cannot mean it as the answer.
pub(crate) fn forget_what_was_typed() {
    if io::stdin().is_terminal() {
        // Where that does not work, there is no terminal any more, and reading says so.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

/// Asks at the terminal.
pub(crate) enum AtTerminal {
    /// About the one call of a session.
    ForOneCall(HostLists),
    /// About calls of a session that goes on, so that a yes may hold for more than one. What others of its calls print
    /// on this line waits for the answer.
    ForSession(LiveLine, HostLists),
}

impl Approver for AtTerminal {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        let (request, line, lists) = match self {
            // A yes for the session would end with this call, and promise more than it holds.
            AtTerminal::ForOneCall(lists) => {
                (ApprovalRequest { offers: Vec::new(), ..request.clone() }, LiveLine::default(), lists.clone())
            }
            AtTerminal::ForSession(line, lists) => (request.clone(), line.clone(), lists.clone()),
        };
        Box::pin(async move {
            let _held = line.hold();
            let asked = tokio::task::spawn_blocking(move || {
                forget_what_was_typed();
                // Not locked: code that interrupts the question prints while this waits for an answer.
                paper().converse(&request, &mut io::stdin().lock(), &mut anstream::stderr(), &lists)
            });
            match asked.await {
                Ok(Ok(verdict)) => verdict,
                Ok(Err(_)) | Err(_) => {
                    Verdict::NoAnswer { how: "ask the user to answer the question at a terminal".into() }
                }
            }
        })
    }

    fn ask_user<'a>(&'a self, questionnaire: &'a Questionnaire) -> BoxFuture<'a, UserReply> {
        let line = match self {
            AtTerminal::ForOneCall(_) => LiveLine::default(),
            AtTerminal::ForSession(line, _) => line.clone(),
        };
        let questions = questionnaire.questions.clone();
        Box::pin(async move {
            let _held = line.hold();
            let asked = tokio::task::spawn_blocking(move || {
                forget_what_was_typed();
                let (mut input, mut output) = (io::stdin().lock(), anstream::stderr());
                user_questions::converse(&questions, talk_width(), (&mut input, &mut output))
            });
            asked.await.ok().and_then(Result::ok).unwrap_or_else(|| UserReply::Nobody(NO_TERMINAL.to_owned()))
        })
    }
}

/// Why a person cannot be asked whose terminal cannot be read.
pub(crate) const NO_TERMINAL: &str = "the terminal cannot be read";

fn paper() -> Paper {
    let marks = match AutoStream::choice(&io::stderr()) {
        ColorChoice::Never => Marks::Signs,
        ColorChoice::Auto | ColorChoice::Always | ColorChoice::AlwaysAnsi => Marks::Colours,
    };
    Paper { columns: talk_width(), marks }
}

impl Paper {
    /// Shows the question and reads until there is an answer.
    fn converse(
        self,
        request: &ApprovalRequest,
        input: &mut impl BufRead,
        output: &mut impl Write,
        lists: &HostLists,
    ) -> io::Result<Verdict> {
        for row in self.question(request) {
            writeln!(output, "{row}")?;
        }
        loop {
            write!(output, "> ")?;
            output.flush()?;
            let Some(answer) = typed_line(input)? else {
                return Ok(Verdict::Refuse { note: None });
            };
            if let (Some(setting), "a" | "always") = (&request.setting_to_paste, answer.to_ascii_lowercase().as_str()) {
                match lists.allow(&setting.names) {
                    Ok(_) => writeln!(output, "Your config.toml now has {}.", safe(&setting.line))?,
                    Err(error) => writeln!(output, "Allowed only now: {}", safe(&format!("{error:#}")))?,
                }
                return Ok(request.yes_to_hosts());
            }
            if matches!(answer.as_str(), "v" | "view") {
                for row in self.everything(request) {
                    writeln!(output, "{row}")?;
                }
                continue;
            }
            match understood(&answer, &request.offers) {
                Some(verdict) => {
                    // A person who approves edits one by one wants to see them.
                    let is_worth_it =
                        matches!(verdict, Verdict::AllowOnce | Verdict::AllowFor(_)) && request.command.is_some();
                    let rows = match (&request.setting_to_paste, &request.rule_to_paste) {
                        // It is one of the answers.
                        (Some(_), _) => Vec::new(),
                        (None, Some(rule)) if is_worth_it => self.to_paste(rule),
                        (None, _) => Vec::new(),
                    };
                    for row in rows {
                        writeln!(output, "{row}")?;
                    }
                    return Ok(verdict);
                }
                None => writeln!(output, "Choose one of the answers above.")?,
            }
        }
    }
}

fn understood(answer: &str, offers: &[Offer]) -> Option<Verdict> {
    let (word, note) = answer.split_once(char::is_whitespace).unwrap_or((answer, ""));
    let note = Some(note.trim().to_owned()).filter(|note| !note.is_empty());
    match (word.to_ascii_lowercase().as_str(), &note) {
        ("y" | "yes", None) => Some(Verdict::AllowOnce),
        ("n" | "no", _) => Some(Verdict::Refuse { note }),
        ("s" | "stop", None) => Some(Verdict::StopTurn),
        (number, None) => {
            let chosen = number.parse::<usize>().ok()?.checked_sub(1)?;
            offers.get(chosen).map(|offer| Verdict::AllowFor(offer.scope.clone()))
        }
        _ => None,
    }
}
