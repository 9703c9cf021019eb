//! Reports how the calls of a replay compare: a line each, with the difference below, or a record each for programs.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use haft_agent::work::preview::preview;
use haft_contract::BoxFuture;
use haft_contract::files::path::one_line;
use haft_contract::text::grouped::GroupedNumber;
use haft_host::conversations::replay::session_replay::{ReplayCopy, ReplayOutput};
use haft_model::conversation::ModelToolCall;
use haft_runtime::events::Events;
use haft_runtime::record::VERSION;
use haft_runtime::redaction::redact::Redactor;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::arguments::Common;
use crate::live::{Live, LiveLine};
use crate::screen::{self, StyledText};
use crate::shown_diff;
use haft_host::conversations::replay::compared::{CallComparison, Difference};
use haft_host::conversations::replay::records::{Tally, record};

/// Most lines of a difference that a person is shown; a program gets more.
const MOST_LINES: usize = 40;
/// Longest preview of a call, in characters.
const LONGEST: usize = 80;

/// Reports how the calls of a replay compare.
pub(crate) struct ReplayTeller<'a> {
    is_json: bool,
    /// Stops everything when the reader of the output is gone.
    pub(crate) stop: &'a CancellationToken,
    pub(crate) line: LiveLine,
    redactor: Mutex<Redactor>,
    tally: Mutex<Tally>,
}

impl<'a> ReplayTeller<'a> {
    pub(crate) fn new(common: &Common, stop: &'a CancellationToken) -> Self {
        let (line, redactor, tally) = (LiveLine::default(), Mutex::default(), Mutex::default());
        Self { is_json: common.json, stop, line, redactor, tally }
    }

    /// Returns how many calls came to what so far.
    pub(crate) fn tally(&self) -> Tally {
        *self.slot()
    }

    /// Prints a record.
    pub(crate) fn print(&self, record: &Value) -> io::Result<()> {
        screen::record(&record.to_string())
    }

    /// What a call is about, on one short line.
    fn preview(&self, call: &ModelToolCall) -> String {
        let line = preview(call, &self.redactor.lock().unwrap_or_else(PoisonError::into_inner));
        match line.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }

    fn slot(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReplayOutput for ReplayTeller<'_> {
    fn began(&self, beginning: &ReplayCopy<'_>) -> io::Result<()> {
        let ReplayCopy { session, workspace, from, entries, bytes, took_back, notes } = beginning;
        if self.is_json {
            return self.print(&json!({
                "v": VERSION, "event": "replay", "session": session, "workspace": workspace,
                "from": from, "entries": entries, "bytes": bytes, "took_back": took_back, "notes": notes
            }));
        }
        let size = match *bytes {
            bytes @ ..1_048_576 => GroupedNumber(bytes).of("byte"),
            bytes => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        };
        let things = match *entries {
            1 => "one file".to_owned(),
            entries => format!("{} files and folders", GroupedNumber(entries)),
        };
        screen::talk_part(&StyledText::Faint(&format!("replaying session {session} in a copy of {things}, {size}")));
        notes.iter().for_each(|note| screen::talk(&format!("note: {note}")));
        Ok(())
    }

    fn hide_like(&self, redactor: &Redactor) {
        *self.redactor.lock().unwrap_or_else(PoisonError::into_inner) = redactor.clone();
    }

    fn compared(&self, call: &ModelToolCall, compared: &CallComparison) {
        self.line.clear();
        self.slot().count(compared);
        let shown =
            if self.is_json { self.print(&record(call, compared)) } else { show(call, compared, &self.preview(call)) };
        if shown.is_err() {
            self.stop.cancel();
        }
    }

    fn watch<'a>(&'a self, events: &'a Events) -> BoxFuture<'a, ()> {
        let mut live = Live::new(events).on(self.line.clone());
        Box::pin(async move {
            loop {
                live.step().await;
            }
        })
    }
}

fn show(call: &ModelToolCall, compared: &CallComparison, about: &str) -> io::Result<()> {
    let line = |mark: &str, part: fn(&str) -> StyledText<'_>, why: &str| {
        let gap = if about.is_empty() { "" } else { " " };
        screen::line(&[part(&format!("{mark} {}{gap}{about}", call.name)), StyledText::Faint(why)])
    };
    match compared {
        CallComparison::Same => line("=", |words| StyledText::Plain(words), ""),
        CallComparison::Not(why) => line("?", |words| StyledText::Strong(words), &format!("  ({why})")),
        CallComparison::Differs(differences) => {
            line("≠", |words| StyledText::Bad(words), "")?;
            differences.iter().try_for_each(show_difference)
        }
    }
}

fn show_difference(difference: &Difference) -> io::Result<()> {
    let shown = match difference {
        Difference::Fact(name, then, now) => {
            let words = format!("    {name}: {} → {}", one_line(then), one_line(now));
            return screen::line(&[StyledText::Strong(&words)]);
        }
        Difference::Text(diff) => diff,
        Difference::File(path, diff) => {
            screen::line(&[StyledText::Strong(&format!("    {} now has different content", one_line(path)))])?;
            let Some(diff) = diff else { return Ok(()) };
            diff
        }
    };
    shown_diff::lines(shown, MOST_LINES)
        .iter()
        .try_for_each(|line| screen::line(&[StyledText::Plain("    "), line.part()]))
}
