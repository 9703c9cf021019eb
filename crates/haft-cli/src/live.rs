//! Shows the last line of a running call's output while a user waits at the terminal.
//!
//! It overwrites one line and removes it when the call ends, because the result has everything. Without a terminal, it
//! writes nothing.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use anstyle::Style;
use haft_runtime::events::{CallEventContent, EventKind, Events, Subscription};
use tokio::time::Instant;

use crate::screen::{safe, talk_width};

/// How long a line stays at least.
const STAYS: Duration = Duration::from_millis(100);

/// Shows the last line of what a call prints.
pub(crate) struct Live {
    subscription: Option<Subscription>,
    waiting: Option<String>,
    next_show: Instant,
    line: LiveLine,
}

/// The line on the screen. Code that prints something else removes it first.
#[derive(Clone, Default)]
pub(crate) struct LiveLine {
    /// How many columns are in use.
    columns: Arc<AtomicUsize>,
    /// Whether haft asks the user something, so no output may cover the question.
    is_held: Arc<AtomicBool>,
}

/// Keeps a line from being shown.
pub(crate) struct HeldLine(Arc<AtomicBool>);

impl Drop for HeldLine {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl LiveLine {
    /// Takes the line away and shows nothing, as long as the answer lives.
    pub(crate) fn hold(&self) -> HeldLine {
        self.is_held.store(true, Ordering::Relaxed);
        self.clear();
        HeldLine(self.is_held.clone())
    }

    /// Overwrites the line, unless haft asks the user something.
    pub(crate) fn show(&self, line: &str, style: Style) {
        if self.is_held.load(Ordering::Relaxed) {
            return;
        }
        let (text, columns) = cut(&safe(line), talk_width().saturating_sub(1));
        // Blanks and not an escape sequence: that works on every terminal, and colours may be switched off.
        let rest = self.columns.swap(columns, Ordering::Relaxed).saturating_sub(columns);
        let has_colours = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
        let style = if has_colours { style } else { Style::new() };
        // Past anstream: where there are no colours it drops the steps back too.
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "\r{style}{text}{style:#}{:rest$}{:\u{8}<rest$}", "", "");
        let _ = stderr.flush();
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        let columns = self.columns.swap(0, Ordering::Relaxed);
        if columns > 0 {
            let _ = write!(io::stderr(), "\r{:columns$}\r", "");
        }
    }
}

impl Live {
    /// Listens to the output of calls, if a user is at the terminal.
    pub(crate) fn new(events: &Events) -> Self {
        let is_watched = io::stderr().is_terminal();
        let subscription = is_watched.then(|| events.subscribe_only(EventKind::OutputChunk));
        Self { subscription, waiting: None, next_show: Instant::now(), line: LiveLine::default() }
    }

    /// Uses this line, which others take away too.
    pub(crate) fn on(mut self, line: LiveLine) -> Self {
        self.line = line;
        self
    }

    /// Waits for the next line and shows it when its time has come.
    pub(crate) async fn step(&mut self) {
        let Some(subscription) = &mut self.subscription else { return std::future::pending().await };
        let show_at = self.next_show;
        tokio::select! {
            () = tokio::time::sleep_until(show_at), if self.waiting.is_some() => self.show(),
            event = subscription.next() => {
                if let CallEventContent::OutputChunk(text) = &event.what
                    && let Some(line) = text.lines().rfind(|line| !line.trim().is_empty())
                {
                    self.waiting = Some(line.to_owned());
                }
            }
        }
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        self.waiting = None;
        self.line.clear();
    }

    fn show(&mut self) {
        let Some(line) = self.waiting.take() else { return };
        self.line.show(&line, Style::new());
        self.next_show = Instant::now() + STAYS;
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Cuts a line so that it fits; returns how many columns it may need.
fn cut(line: &str, most: usize) -> (String, usize) {
    let mut columns = 0;
    let mut text = String::new();
    for c in line.chars() {
        let c = if c == '\t' { ' ' } else { c };
        // A character beyond ASCII may be two columns wide; one that breaks the line would spoil the screen.
        let wide = if c.is_ascii() { 1 } else { 2 };
        if columns + wide > most {
            break;
        }
        columns += wide;
        text.push(c);
    }
    (text, columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_never_reaches_the_edge() {
        assert_eq!(cut("abc\tdef", 5), ("abc d".to_owned(), 5));
        assert_eq!(cut("漢字漢字", 5), ("漢字".to_owned(), 4));
        assert_eq!(cut("abc", 0), (String::new(), 0));
    }
}
