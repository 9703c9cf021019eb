//! Reports what a tool prints beside its answer while it runs, and keeps the last lines to explain a failure.

use std::sync::{Mutex, MutexGuard, PoisonError};

use haft_contract::doors::process::Stream;
use haft_contract::prelude::*;
use haft_contract::text::plain_text::PlainText;

/// Most bytes that are told while it runs; of what comes behind them only the last of each piece.
const MOST_TOLD: usize = 1024 * 1024;
/// How much of a piece is looked at then.
const LAST_OF_PIECE: usize = 2 * 1024;
/// How many bytes of the end are kept.
const KEPT: usize = 3_000;

/// Collects what a tool prints on both streams beside its answer.
pub(super) struct BoundToolLog<'a> {
    cx: &'a RunContext<'a>,
    heard: Mutex<HeardSoFar>,
}

struct HeardSoFar {
    out: PlainText,
    err: PlainText,
    last: String,
    told: usize,
}

impl<'a> BoundToolLog<'a> {
    pub(super) fn new(cx: &'a RunContext<'a>) -> Self {
        let (out, err) = (PlainText::line_by_line(), PlainText::line_by_line());
        Self { cx, heard: Mutex::new(HeardSoFar { out, err, last: String::new(), told: 0 }) }
    }

    /// Takes a piece of a stream.
    pub(super) fn hear(&self, stream: Stream, piece: &[u8]) {
        let mut heard = self.heard();
        let is_much = heard.told > MOST_TOLD;
        let piece = if is_much { &piece[piece.len().saturating_sub(LAST_OF_PIECE)..] } else { piece };
        let text = match stream {
            Stream::Out => heard.out.take(piece),
            Stream::Err => heard.err.take(piece),
        };
        self.told(&mut heard, &text);
    }

    /// Returns the last lines, after everything was heard.
    pub(super) fn end(&self) -> String {
        let mut heard = self.heard();
        for rest in [heard.out.rest(), heard.err.rest()] {
            // What comes next, be it of the other stream, is another line.
            let gap = if rest.is_empty() || rest.ends_with('\n') { "" } else { "\n" };
            self.told(&mut heard, &format!("{rest}{gap}"));
        }
        std::mem::take(&mut heard.last)
    }

    fn told(&self, heard: &mut HeardSoFar, text: &str) {
        if text.is_empty() {
            return;
        }
        heard.told += text.len();
        heard.last.push_str(text);
        let beyond = heard.last.len().saturating_sub(KEPT);
        if beyond > KEPT {
            let end = heard.last.ceil_char_boundary(beyond);
            heard.last.drain(..end);
        }
        self.cx.chunk(text);
    }

    fn heard(&self) -> MutexGuard<'_, HeardSoFar> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the end of a log for a person, and its last line that says something.
pub(super) fn last_of(log: &str) -> (Option<String>, Option<&str>) {
    let start = log.ceil_char_boundary(log.len().saturating_sub(KEPT));
    let end = log[start..].trim_end();
    let line = end.lines().map(str::trim).rfind(|line| line.chars().any(char::is_alphanumeric));
    ((!end.is_empty()).then(|| end.to_owned()), line)
}
