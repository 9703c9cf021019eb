//! Asks a person at the terminal of another process, which shows the question and passes the answer on.

use std::io::{self, BufReader, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

use haft_contract::BoxFuture;
use haft_host::exec::Dialogue;
use haft_host::hosts::HostLists;
use haft_net::exec::ToClient;
use haft_runtime::approval::{ApprovalRequest, Approver, Verdict};

use super::converse;
use super::marked::Marks;
use super::question::Paper;

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
                let (input, mut output) = (Typed { dialogue: &dialogue, line: Vec::new() }, Shown::new(&dialogue));
                let verdict = converse(&request, paper, (&mut BufReader::new(input), &mut output), &lists);
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
}

/// What is typed there.
struct Typed<'a> {
    dialogue: &'a Dialogue,
    line: Vec<u8>,
}

impl Read for Typed<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        if self.line.is_empty() {
            let is_asked = self.dialogue.say.send(ToClient::Read).is_ok();
            // Whoever is gone answers nothing.
            let line = if is_asked { self.dialogue.typed.recv().ok().flatten() } else { None };
            let Some(line) = line else { return Ok(0) };
            self.line = line.into_bytes();
            self.line.push(b'\n');
        }
        let taken = self.line.len().min(room.len());
        room[..taken].copy_from_slice(&self.line[..taken]);
        self.line.drain(..taken);
        Ok(taken)
    }
}

/// What is shown there.
struct Shown<'a> {
    dialogue: &'a Dialogue,
    text: Vec<u8>,
}

impl<'a> Shown<'a> {
    fn new(dialogue: &'a Dialogue) -> Self {
        Self { dialogue, text: Vec::new() }
    }
}

impl Write for Shown<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let text = std::mem::take(&mut self.text);
        if !text.is_empty() {
            let said = ToClient::Say(String::from_utf8_lossy(&text).into_owned());
            self.dialogue.say.send(said).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        }
        Ok(())
    }
}
