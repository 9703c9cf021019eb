//! The current activity: what haft waits for, what the model writes, which calls run and what they print.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use haft_contract::text::grouped::GroupedNumber;

use crate::terminal::drawing::painted::{Ink, paint};
use crate::terminal::protocol::RunningCall;

/// Most lines of the output of a running call.
const MOST_LINES: usize = 3;
/// Most calls that are shown with their output; more have a row each, and then a count.
const MOST_CALLS: usize = 4;
/// Longest line of output that is kept, in bytes.
const LONGEST: usize = 1_000;

/// The last lines that running calls print. The worker fills it, and each frame reads it. A call may print much faster
/// than the screen shows.
#[derive(Clone, Default)]
pub(in crate::terminal) struct Tails(Arc<Mutex<HashMap<String, CallOutputTail>>>);

/// The last lines that a running call printed.
#[derive(Default)]
struct CallOutputTail {
    lines: Vec<String>,
    /// A line that has no end yet.
    open: String,
    bytes: u64,
}

impl Tails {
    /// Notes what a call printed.
    pub(in crate::terminal) fn note(&self, call: &str, text: &str) {
        let mut tails = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !tails.contains_key(call) {
            tails.insert(call.to_owned(), CallOutputTail::default());
        }
        let Some(tail) = tails.get_mut(call) else { return };
        tail.bytes += text.len() as u64;
        // Only the end of a large piece can still be seen.
        let from = text.rmatch_indices('\n').nth(MOST_LINES + 1).map_or(0, |(at, _)| at + 1);
        if from > 0 {
            tail.open.clear();
        }
        for part in text[from..].split_inclusive('\n') {
            let room = LONGEST.saturating_sub(tail.open.len());
            tail.open.extend(part.trim_end_matches('\n').chars().take(room));
            if part.ends_with('\n') {
                let line = std::mem::take(&mut tail.open);
                if !line.trim().is_empty() {
                    tail.lines.push(line);
                }
            }
        }
        let extra = tail.lines.len().saturating_sub(MOST_LINES);
        tail.lines.drain(..extra);
    }

    /// Forgets a call that has ended.
    fn forget(&self, call: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(call);
    }

    /// Returns the last lines of a call, and how much it has printed.
    fn last(&self, call: &str) -> (Vec<String>, u64) {
        let tails = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(tail) = tails.get(call) else { return (Vec::new(), 0) };
        let open = Some(&tail.open).filter(|open| !open.trim().is_empty());
        let mut lines: Vec<String> = tail.lines.iter().chain(open).cloned().collect();
        let extra = lines.len().saturating_sub(MOST_LINES);
        lines.drain(..extra);
        (lines, tail.bytes)
    }
}

/// The current activity.
#[derive(Default)]
pub(super) struct Activity {
    /// Since when something is done for the person.
    since: Option<Instant>,
    model: ModelDoes,
    /// Since when the model does that.
    model_since: Option<Instant>,
    calls: Vec<(RunningCall, Instant)>,
    pub(super) tails: Tails,
    pub(super) is_stopping: bool,
}

/// What the model does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum ModelDoes {
    #[default]
    Nothing,
    /// It has not sent anything yet.
    Awaited,
    Thinks {
        characters: usize,
    },
    Talks,
    Writes {
        tool: String,
        bytes: usize,
    },
    /// It is asked again after a pause.
    Again {
        why: String,
        at: Duration,
    },
}

impl Activity {
    /// Something is done for the person from now on.
    pub(super) fn begin(&mut self, now: Instant) {
        self.since = Some(now);
        self.is_stopping = false;
    }

    /// Everything is done.
    pub(super) fn end(&mut self) {
        for (call, _) in self.calls.drain(..) {
            self.tails.forget(&call.id);
        }
        self.since = None;
        self.model = ModelDoes::Nothing;
        self.is_stopping = false;
    }

    pub(super) fn is_busy(&self) -> bool {
        self.since.is_some()
    }

    pub(super) fn model_does(&mut self, does: ModelDoes, now: Instant) {
        let is_other = std::mem::discriminant(&self.model) != std::mem::discriminant(&does);
        if is_other || self.model_since.is_none() {
            self.model_since = Some(now);
        }
        self.model = does;
    }

    /// More of what the model thinks.
    pub(super) fn thinks(&mut self, more: usize, now: Instant) {
        let before = if let ModelDoes::Thinks { characters } = self.model { characters } else { 0 };
        self.model_does(ModelDoes::Thinks { characters: before + more }, now);
    }

    /// More of the arguments that the model writes.
    pub(super) fn writes(&mut self, more: usize) {
        if let ModelDoes::Writes { bytes, .. } = &mut self.model {
            *bytes += more;
        }
    }

    pub(super) fn call_began(&mut self, call: RunningCall, now: Instant) {
        self.calls.push((call, now));
    }

    /// Removes a call that has ended.
    pub(super) fn call_ended(&mut self, id: &str) {
        self.calls.retain(|(call, _)| call.id != id);
        self.tails.forget(id);
    }

    /// Returns the rows that show it. Calls that wait for an answer do not run.
    pub(super) fn rows(&self, model: &str, now: Instant, asked: &[String]) -> Vec<String> {
        let mut rows = Vec::new();
        let stopping = if self.is_stopping { " · stopping" } else { "" };
        // The call of the first question is named by the question.
        let shown = self.calls.iter().filter(|(call, _)| asked.first() != Some(&call.id));
        for (call, since) in shown.take(MOST_CALLS) {
            let (lines, bytes) = self.tails.last(&call.id);
            let mut facts = time(now.saturating_duration_since(*since));
            if bytes > 0 {
                facts.push_str(&format!(" · {} printed", size(bytes)));
            }
            let about = if call.about.is_empty() { String::new() } else { format!(" {}", call.about) };
            rows.push(format!(
                "{} {}{}",
                paint(Ink::Warn, "◌"),
                paint(Ink::Strong, &call.title),
                paint(Ink::Plain, &about)
            ));
            let facts = if asked.contains(&call.id) { "waits for your answer".to_owned() } else { facts };
            rows.push(paint(Ink::Faint, &format!("  {facts}{stopping}")));
            rows.extend(lines.iter().map(|line| paint(Ink::Faint, &format!("  │ {line}"))));
        }
        if let more @ 1.. = self.calls.len().saturating_sub(MOST_CALLS) {
            rows.push(paint(Ink::Faint, &format!("  and {more} more calls")));
        }
        if self.calls.is_empty()
            && asked.is_empty()
            && let Some(words) = self.model_words(model, now)
        {
            rows.push(format!("{} {}", paint(Ink::Warn, "◌"), paint(Ink::Faint, &format!("{words}{stopping}"))));
        }
        rows
    }

    fn model_words(&self, model: &str, now: Instant) -> Option<String> {
        let took = now.saturating_duration_since(self.model_since.or(self.since)?);
        Some(match &self.model {
            ModelDoes::Nothing if self.is_busy() => format!("working · {}", time(took)),
            ModelDoes::Nothing => return None,
            ModelDoes::Awaited => format!("waiting for {model} · {}", time(took)),
            ModelDoes::Thinks { characters } => {
                format!("thinking · {} characters · {}", GroupedNumber(*characters as u64), time(took))
            }
            ModelDoes::Talks => format!("writing · {}", time(took)),
            ModelDoes::Writes { tool, bytes } => {
                format!("writing a call of {tool} · {} · {}", size(*bytes as u64), time(took))
            }
            ModelDoes::Again { why, at } => {
                let left = at.saturating_sub(took);
                format!("{} · retrying in {}", why.trim_end_matches('.'), time(left))
            }
        })
    }
}

/// A time as people say it.
pub(in crate::terminal) fn time(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// A size as people say it.
pub(in crate::terminal) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_a_flood_are_kept_and_all_of_it_is_counted() {
        let tails = Tails::default();
        tails.note("1", "one\ntw");
        tails.note("1", "o\n\nthree\nfour\nopen");
        assert_eq!(tails.last("1"), (vec!["three".into(), "four".into(), "open".into()], 24));
        let flood = "line of a flood\n".repeat(100_000);
        tails.note("1", &flood);
        assert_eq!(tails.last("1").0, ["line of a flood"; 3]);
        tails.note("1", &"x".repeat(10_000_000));
        assert!(tails.last("1").0.iter().all(|line| line.len() <= LONGEST));
        tails.forget("1");
        assert_eq!(tails.last("1"), (Vec::new(), 0));
    }

    #[test]
    fn times_and_sizes_are_short() {
        let seconds = |seconds| time(Duration::from_secs(seconds));
        assert_eq!([seconds(5), seconds(65), seconds(3_700)], ["5 s", "1 min 05 s", "1 h 01 min"]);
        assert_eq!([size(5), size(2_100), size(12_000_000)], ["5 B", "2.1 kB", "12.0 MB"]);
    }
}
