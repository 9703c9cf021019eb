//! Withholds calls that a model writes into its text, so they are not shown as text while they arrive.
//!
//! haft shows text up to the first line that begins, or may begin, with a marker, also inside a fence. The rest, without
//! calls, follows at the end of the reply. JSON without a marker is shown as it arrives: it is mostly part of an answer.

use super::markers::{self, Begins};
use crate::provider::{ReplyEvent, ReplyListener};

/// What was not told yet.
#[derive(Debug)]
pub(crate) struct HoldBack {
    untold: String,
    /// Whether a marker was seen, so that nothing more is told.
    is_held: bool,
    /// Whether only white space was told of the line on which the rest begins.
    line_is_blank: bool,
}

impl HoldBack {
    pub(crate) fn new() -> HoldBack {
        HoldBack { untold: String::new(), is_held: false, line_is_blank: true }
    }

    /// Tells as much as cannot be the beginning of a call.
    pub(crate) fn add(&mut self, text: &str, heard: ReplyListener<'_>) {
        self.untold.push_str(text);
        if self.is_held {
            return;
        }
        let (end, begins) = self.end_of_text();
        self.is_held = begins == Begins::Yes;
        let rest = self.untold.split_off(end);
        tell(&self.untold, heard);
        self.line_is_blank = match self.untold.rsplit_once('\n') {
            Some((_, line)) => line.trim().is_empty(),
            None => self.line_is_blank && self.untold.trim().is_empty(),
        };
        self.untold = rest;
    }

    /// Returns what was not told yet: the end of the text.
    pub(crate) fn untold(&self) -> &str {
        &self.untold
    }

    /// Tells what was held back, where it was no call.
    pub(crate) fn release(&mut self, heard: ReplyListener<'_>) {
        tell(&std::mem::take(&mut self.untold), heard);
        self.is_held = false;
    }

    /// Returns where what may be a call begins.
    fn end_of_text(&self) -> (usize, Begins) {
        let mut at = 0;
        let mut may_begin = self.line_is_blank;
        for line in self.untold.split_inclusive('\n') {
            let space = line.len() - line.trim_start().len();
            let begins =
                if may_begin { markers::begins(self.untold.get(at + space..).unwrap_or_default()) } else { Begins::No };
            if begins != Begins::No && space < line.len() {
                return (at + space, begins);
            }
            at += line.len();
            may_begin = true;
        }
        (self.untold.len(), Begins::No)
    }
}

fn tell(text: &str, heard: ReplyListener<'_>) {
    if !text.is_empty() {
        heard(ReplyEvent::Text(text));
    }
}
