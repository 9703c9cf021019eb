//! Captures both streams of a command as plain text without secrets. The size is always bounded.
//!
//! The beginning and the end of each stream stay in memory. If more arrives than a result can hold, the whole stream goes
//! to disk. The call also reports lines while the command runs.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use haft_contract::context::Hiding;
use haft_contract::doors::door::Spilling;
use haft_contract::doors::process::Stream;
use haft_contract::prelude::*;
use haft_contract::text::head_and_tail::HeadAndTail;
use haft_contract::text::plain_text::PlainText;

use super::skimming::Skimming;

/// Most bytes that are told while the command runs; of what comes behind them only the last lines of a piece now and then.
const MOST_TOLD: usize = 1024 * 1024;
/// How much of a piece is looked at then, and how long the pieces behind it are passed over.
const LAST_OF_PIECE: usize = 2 * 1024;
const PASSED_OVER: Duration = Duration::from_millis(50);

/// Listens to both streams of one command.
pub(crate) struct Listening<'a> {
    cx: &'a RunContext<'a>,
    ears: Mutex<Ears>,
}

struct Ears {
    out: Ear,
    err: Ear,
    told: usize,
    /// When something is told again, if much was told already.
    next: Option<Instant>,
}

/// Hears one stream.
struct Ear {
    plain_text: PlainText,
    hiding: Box<dyn Hiding>,
    heard: HeardStream,
    /// What comes when no more can be kept.
    skimming: Option<Skimming>,
    live: PlainText,
}

/// The output that was heard on both streams of a command.
pub(crate) struct CapturedStreams {
    pub(crate) out: HeardStream,
    pub(crate) err: HeardStream,
}

/// What was heard of one stream.
pub(crate) struct HeardStream {
    pub(crate) text: HeadAndTail,
    pub(crate) kept: StreamSpill,
    /// How many bytes were heard as text.
    heard: u64,
    /// How many bytes were not looked at.
    pub(crate) skipped: u64,
}

/// The copy of a whole stream on disk.
pub(crate) enum StreamSpill {
    /// It was not necessary so far.
    No,
    /// It is being kept.
    Open(Box<dyn Spilling>),
    /// It could not be kept, for this reason.
    Failed(String),
}

impl<'a> Listening<'a> {
    pub(crate) fn new(cx: &'a RunContext<'a>) -> Self {
        let ears = Ears { out: Ear::new(cx), err: Ear::new(cx), told: 0, next: None };
        Self { cx, ears: Mutex::new(ears) }
    }

    /// Takes a piece of a stream.
    pub(crate) fn hear(&self, stream: Stream, piece: &[u8]) {
        let mut ears = self.ears();
        let ears = &mut *ears;
        let ear = match stream {
            Stream::Out => &mut ears.out,
            Stream::Err => &mut ears.err,
        };
        ear.hear(piece, self.cx);
        let mut piece = piece;
        if ears.told > MOST_TOLD {
            let now = Instant::now();
            if ears.next.is_some_and(|next| now < next) {
                return;
            }
            ears.next = Some(now + PASSED_OVER);
            piece = &piece[piece.len().saturating_sub(LAST_OF_PIECE)..];
        }
        let live = ear.live.take(piece);
        if !live.is_empty() {
            ears.told += live.len();
            self.cx.chunk(&live);
        }
    }

    /// Returns everything that was heard.
    pub(crate) fn end(self) -> CapturedStreams {
        let cx = self.cx;
        let ears = self.ears.into_inner().unwrap_or_else(PoisonError::into_inner);
        let [out, err] = [ears.out, ears.err].map(|mut ear| {
            let live = ear.live.rest();
            if !live.is_empty() {
                // What comes next, be it of the other stream, is another line.
                let gap = if live.ends_with('\n') { "" } else { "\n" };
                cx.chunk(&format!("{live}{gap}"));
            }
            ear.end(cx)
        });
        CapturedStreams { out, err }
    }

    fn ears(&self) -> MutexGuard<'_, Ears> {
        self.ears.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ear {
    fn new(cx: &RunContext<'_>) -> Self {
        let limits = cx.limits();
        Self {
            plain_text: PlainText::default(),
            hiding: cx.hiding(),
            heard: HeardStream {
                text: HeadAndTail::new(limits.result_whole, limits.result_tail),
                kept: StreamSpill::No,
                heard: 0,
                skipped: 0,
            },
            skimming: None,
            live: PlainText::line_by_line(),
        }
    }

    fn hear(&mut self, piece: &[u8], cx: &RunContext<'_>) {
        if let Some(skimming) = &mut self.skimming {
            skimming.take(piece);
            return;
        }
        let plain = self.plain_text.take(piece);
        if !plain.is_empty() {
            let shown = self.hiding.take(&plain);
            self.heard.take(&shown, cx);
        }
        if self.heard.heard > cx.limits().command_output {
            let plain = self.plain_text.rest();
            let shown = self.hiding.take(&plain) + &self.hiding.rest();
            self.heard.take(&shown, cx);
            self.skimming = Some(Skimming::default());
        }
    }

    fn end(mut self, cx: &RunContext<'_>) -> HeardStream {
        if let Some(skimming) = self.skimming.take() {
            let (skipped, last) = skimming.end();
            self.heard.skip(skipped);
            let plain = self.plain_text.take(last);
            let shown = self.hiding.take(&plain);
            self.heard.take(&shown, cx);
        }
        let plain = self.plain_text.rest();
        let shown = self.hiding.take(&plain) + &self.hiding.rest();
        self.heard.take(&shown, cx);
        self.heard
    }
}

impl HeardStream {
    fn take(&mut self, text: &str, cx: &RunContext<'_>) {
        let before = self.text.head().len();
        self.text.push(text);
        self.heard += text.len() as u64;
        let is_more = self.text.characters() > cx.limits().result_whole as u64;
        if is_more && matches!(self.kept, StreamSpill::No) {
            self.kept = StreamSpill::begun(cx);
            // Until now everything was in the head.
            let earlier = &self.text.head()[..before];
            if let StreamSpill::Open(spilling) = &mut self.kept {
                spilling.keep(earlier);
            }
        }
        if let StreamSpill::Open(spilling) = &mut self.kept {
            spilling.keep(text);
        }
    }
}

impl HeardStream {
    /// Leaves a gap behind what was heard so far.
    fn skip(&mut self, bytes: u64) {
        if bytes > 0 {
            self.text.skip(bytes);
            self.skipped = bytes;
        }
    }
}

impl StreamSpill {
    /// Begins to keep a stream.
    pub(super) fn begun(cx: &RunContext<'_>) -> Self {
        cx.spilling().map_or_else(|error| StreamSpill::Failed(error.what.clone()), StreamSpill::Open)
    }
}

impl CapturedStreams {
    /// Returns whether nothing was printed.
    pub(super) fn is_silent(&self) -> bool {
        self.out.text.characters() == 0 && self.err.text.characters() == 0
    }
}
