//! Asks a person at the terminal of another process, which shows the question and returns the answer.

use std::io::{BufReader, Write};
use std::sync::{Arc, Mutex, PoisonError};

use haft_contract::BoxFuture;
use haft_contract::doors::user_questions::UserReply;
use haft_host::calling::exec::Dialogue;
use haft_host::calling::exec::dialogue::{DialogueWriter, Typed};
use haft_host::calling::user_questions;
use haft_host::opening::hosts::HostLists;
use haft_runtime::asking::approval::{ApprovalRequest, Approver, Questionnaire, Verdict};

use super::NO_TERMINAL;
use crate::terminal::drawing::marked_command::Marks;
use crate::terminal::question_body::Paper;

/// Asks over a connection.
pub(crate) struct AskedFromAfar {
    /// One question at a time.
    dialogue: Arc<Mutex<Dialogue>>,
    paper: haft_net::exec::Paper,
    lists: HostLists,
    offers: Offers,
}

/// Whether a yes may hold for longer than one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offers {
    /// It may: the session goes on.
    Shown,
    /// It may not: the session ends with the call.
    LeftOut,
}

impl AskedFromAfar {
    /// Asks over this connection; what is allowed for good goes to these lists.
    pub(crate) fn new(dialogue: Dialogue, paper: haft_net::exec::Paper, (lists, offers): (HostLists, Offers)) -> Self {
        Self { dialogue: Arc::new(Mutex::new(dialogue)), paper, lists, offers }
    }
}

impl Approver for AskedFromAfar {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        let mut request = request.clone();
        if self.offers == Offers::LeftOut {
            request.offers.clear();
        }
        let marks = if self.paper.colours { Marks::Colours } else { Marks::Signs };
        let paper = Paper { columns: self.paper.columns, marks };
        let (dialogue, lists) = (Arc::clone(&self.dialogue), self.lists.clone());
        Box::pin(async move {
            let asked = tokio::task::spawn_blocking(move || {
                let dialogue = dialogue.lock().unwrap_or_else(PoisonError::into_inner);
                let (input, mut output) = (Typed::over(&dialogue), DialogueWriter::over(&dialogue));
                let verdict = paper.converse(&request, &mut BufReader::new(input), &mut output, &lists);
                output.flush().and(verdict)
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
        let (dialogue, columns) = (Arc::clone(&self.dialogue), self.paper.columns);
        let questions = questionnaire.questions.clone();
        Box::pin(async move {
            let asked = tokio::task::spawn_blocking(move || {
                let dialogue = dialogue.lock().unwrap_or_else(PoisonError::into_inner);
                let (input, mut output) = (Typed::over(&dialogue), DialogueWriter::over(&dialogue));
                let asking = (&mut BufReader::new(input), &mut output);
                let reply = user_questions::converse(&questions, columns, asking);
                output.flush().and(reply)
            });
            asked.await.ok().and_then(Result::ok).unwrap_or_else(|| UserReply::Nobody(NO_TERMINAL.to_owned()))
        })
    }
}
