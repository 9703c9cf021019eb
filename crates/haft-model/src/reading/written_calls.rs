//! Finds calls that a model wrote into its text because it, or its server, knows no other way.
//!
//! The forms are those in which local models are trained: `<tool_call>{…}</tool_call>`, `<function=name>…</function>`,
//! `[TOOL_CALLS]…`, `<|python_tag|>{…}`, JSON in a fence or alone, and the XML of NexAU (`<tool_use>`,
//! `<use_parallel_tool_calls>`). A text becomes a call only where it can hardly be anything else:
//!
//! - tools were offered, and the name is exactly one of theirs;
//! - a form with a marker begins a line (or follows another call), outside of fences and of what is thought aloud; a
//!   marker inside a sentence or between backticks is prose;
//! - JSON without a marker is the whole reply, or stands in fences that end it, and has the members of a call and no
//!   others. A fence with text behind it is an example;
//! - what stands twice, or does not fit its form, stays text.
//!
//! Text before and after stays text. A call that ends in the middle is one that is cut, where its name was written.
//!
//! Not here: repairing arguments. They are passed on unchanged, and judged like any other.

pub(crate) mod hold_back;
mod json;
mod markers;
#[cfg(test)]
mod tests;
mod xml;

use self::markers::Begins;
use crate::writing::offered_names::OfferedNames;

/// A segment of a reply's text: plain text or a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReplySegment {
    /// Text.
    Text(String),
    /// A call.
    Call {
        /// The name as it was offered.
        name: String,
        /// The text of the arguments.
        arguments: String,
        /// Whether the text ends in the middle of it.
        is_cut: bool,
    },
}

/// The calls at the beginning of a text, and their length.
#[derive(Debug)]
struct CallMatch {
    calls: Vec<ReplySegment>,
    length: usize,
}

/// A reply with more places that look like a call is no reply.
const MOST_TRIED: usize = 1000;
const FENCE: &str = "```";

/// Returns a text in pieces; nothing where it holds no call.
pub(crate) fn find(text: &str, names: &OfferedNames) -> Option<Vec<ReplySegment>> {
    if names.is_empty() {
        return None;
    }
    let start = end_of_thoughts(text);
    if let Some(calls) = json::only_calls(text.get(start..)?, names) {
        let before = text.get(..start).unwrap_or_default();
        return Some(pieces(vec![ReplySegment::Text(before.to_owned())], calls));
    }
    let mut search = CallSearch { text, names, at: start, taken: 0, pieces: Vec::new(), tried: 0 };
    search.run();
    search.end()
}

/// Returns where what is thought aloud at the beginning ends; a template may have begun it before the reply.
fn end_of_thoughts(text: &str) -> usize {
    const BEGIN: &str = "<think>";
    const END: &str = "</think>";
    let begins_with = text.trim_start().starts_with(BEGIN);
    match text.split_once(END) {
        Some((thought, after)) if begins_with || !thought.contains(BEGIN) => text.len() - after.len(),
        None if begins_with => text.len(),
        Some(_) | None => 0,
    }
}

struct CallSearch<'a> {
    text: &'a str,
    names: &'a OfferedNames,
    /// Where a call may begin.
    at: usize,
    /// How much of the text stands in the pieces.
    taken: usize,
    pieces: Vec<ReplySegment>,
    tried: usize,
}

impl<'a> CallSearch<'a> {
    fn run(&mut self) {
        while self.tried < MOST_TRIED {
            self.skip_space();
            let rest = self.rest();
            if rest.is_empty() {
                return;
            }
            let found = if rest.starts_with(FENCE) { self.fenced(rest) } else { self.marked(rest) };
            match found {
                Some(found) => self.take(found),
                None => self.skip_line(),
            }
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Goes to the next line on which a call may begin: behind a fence, and behind what is thought aloud.
    fn skip_line(&mut self) {
        let rest = self.rest();
        let skipped = if rest.starts_with(FENCE) {
            fence_length(rest)
        } else if let Some(thought) = rest.strip_prefix("<think>") {
            thought.find("</think>").map_or(rest.len(), |end| rest.len() - thought.len() + end + "</think>".len())
        } else {
            rest.find('\n').map_or(rest.len(), |end| end + 1)
        };
        self.at += skipped.max(1).min(rest.len());
    }

    fn marked(&mut self, rest: &str) -> Option<CallMatch> {
        if markers::begins(rest) != Begins::Yes {
            return None;
        }
        self.tried += 1;
        markers::read(rest, self.names)
    }

    /// Returns the calls of fences, if there is nothing else up to the end of the text.
    fn fenced(&mut self, rest: &str) -> Option<CallMatch> {
        self.tried += 1;
        let mut calls = Vec::new();
        let mut left = rest.trim_end();
        while !left.is_empty() {
            let length = left.starts_with(FENCE).then(|| fence_length(left))?;
            let fence = left.get(..length)?;
            calls.extend(calls_of_fence(fence, self.names)?);
            left = left.get(length..)?.trim_start();
        }
        Some(CallMatch { calls, length: rest.len() })
    }

    fn take(&mut self, found: CallMatch) {
        let before = self.text.get(self.taken..self.at).unwrap_or_default();
        self.pieces.push(ReplySegment::Text(before.to_owned()));
        self.pieces.extend(found.calls);
        self.at += found.length;
        self.taken = self.at;
    }

    fn end(mut self) -> Option<Vec<ReplySegment>> {
        if self.pieces.is_empty() {
            return None;
        }
        let after = self.text.get(self.taken..).unwrap_or_default().to_owned();
        Some(pieces(std::mem::take(&mut self.pieces), vec![ReplySegment::Text(after)]))
    }
}

/// Joins pieces, without text that is only white space.
fn pieces(before: Vec<ReplySegment>, after: Vec<ReplySegment>) -> Vec<ReplySegment> {
    let is_something = |piece: &ReplySegment| match piece {
        ReplySegment::Text(text) => !text.trim().is_empty(),
        ReplySegment::Call { .. } => true,
    };
    before.into_iter().chain(after).filter(is_something).collect()
}

/// Returns how long a fence is, with its last line; the whole text where it does not end.
fn fence_length(text: &str) -> usize {
    let Some(first_line) = text.find('\n') else { return text.len() };
    let mut at = first_line + 1;
    while let Some(line) = text.get(at..).and_then(|rest| rest.split_inclusive('\n').next()) {
        at += line.len();
        if line.trim() == FENCE {
            return at;
        }
    }
    text.len()
}

fn calls_of_fence(fence: &str, names: &OfferedNames) -> Option<Vec<ReplySegment>> {
    let (_, body) = fence.split_once('\n')?;
    let body = body.trim_end();
    let body = body.strip_suffix(FENCE).unwrap_or(body).trim();
    if let Some(calls) = json::only_calls(body, names) {
        return Some(calls);
    }
    let mut calls = Vec::new();
    let mut left = body;
    while !left.is_empty() {
        let found = markers::read(left, names)?;
        calls.extend(found.calls);
        left = left.get(found.length..)?.trim_start();
    }
    (!calls.is_empty()).then_some(calls)
}
