//! The rows of the live region: activity, questions, waiting messages, the input, the menu or help, the status.

use std::time::Instant;

use haft_contract::text::grouped::GroupedNumber;
use haft_policy::policy::Mode;

use super::App;
use super::typing::HelpKind;
use crate::terminal::drawing::painted::{Ink, paint};
use crate::terminal::drawing::region::{ScreenFrame, TerminalSize};
use crate::terminal::input::completion::{Menu, MenuKind};
use crate::terminal::input::editor::Editor;
use crate::terminal::protocol::{MessageDelivery, ModelReport, ScreenQuestionSubject, Yes};
use crate::terminal::question::QuestionDialog;

/// The prompt before the input.
const PROMPT: &str = "› ";
/// Most rows of the input that are shown.
const MOST_INPUT: usize = 10;
/// Most rows of the text that the model is writing.
const MOST_TEXT: usize = 8;
/// Most waiting messages that are shown.
const MOST_QUEUED: usize = 3;

impl App {
    /// Returns the frame for a terminal of this size. What is in it counts as seen.
    pub(in crate::terminal) fn frame(&mut self, size: TerminalSize, now: Instant) -> ScreenFrame {
        self.columns = size.columns;
        let mut rows = self.text_rows();
        let model = self.model_name();
        let is_asked = self.editing.is_none() && !self.questions.is_empty();
        let asked = if is_asked { self.asked_calls() } else { Vec::new() };
        rows.extend(self.activity.rows(&model, now, &asked));
        rows.extend(self.queued_rows());
        if is_asked {
            self.questions.iter_mut().take(1).for_each(|question| question.drawn(now));
            rows.extend(self.question_rows());
        }
        let note = self.questions.front().filter(|_| is_asked).and_then(|question| question.note()).cloned();
        let input = note.as_ref().unwrap_or(&self.editor);
        let is_hidden = is_asked && note.is_none() && self.editor.is_empty();
        let cursor =
            if is_hidden { (rows.len().saturating_sub(1), 0) } else { self.input_rows(input, &mut rows, size) };
        if !is_asked {
            rows.extend(self.rows_below());
        }
        rows.push(self.status_row());
        ScreenFrame { rows, cursor }
    }

    /// The calls that wait for an answer; an empty name stands for work without a call.
    fn asked_calls(&self) -> Vec<String> {
        let call = |question: &QuestionDialog| match &question.asked.about {
            ScreenQuestionSubject::Call(request) => request.call.to_string(),
            ScreenQuestionSubject::Circle { .. }
            | ScreenQuestionSubject::User { .. }
            | ScreenQuestionSubject::Plan { .. }
            | ScreenQuestionSubject::Rewind { .. } => String::new(),
        };
        self.questions.iter().map(call).collect()
    }

    /// The text that the model is writing, as far as it is not finished.
    fn text_rows(&self) -> Vec<String> {
        let mut rows = self.markdown.open_rows(self.columns.saturating_sub(1));
        let extra = rows.len().saturating_sub(MOST_TEXT);
        rows.drain(..extra);
        rows
    }

    fn queued_rows(&self) -> Vec<String> {
        let shown = self.queue.iter().take(MOST_QUEUED).map(|queued| {
            let when = match queued.when {
                MessageDelivery::NextStep => "at the next step",
                MessageDelivery::AfterTurn => "afterwards",
            };
            format!("{} {}", paint(Ink::Name, &format!("⏎ {when}:")), paint(Ink::Plain, &queued.text))
        });
        let mut rows: Vec<String> = shown.collect();
        if let more @ 1.. = self.queue.len().saturating_sub(MOST_QUEUED) {
            rows.push(paint(Ink::Faint, &format!("  and {more} more")));
        }
        if !rows.is_empty() {
            rows.push(paint(Ink::Faint, "  Alt+↑ brings the last one back"));
        }
        rows
    }

    fn question_rows(&self) -> Vec<String> {
        let waiting: Vec<_> = self.questions.iter().skip(1).collect();
        self.questions.front().map(|question| question.rows(&waiting, self.columns)).unwrap_or_default()
    }

    /// Adds the rows of the input; returns where the cursor is.
    fn input_rows(&self, input: &Editor, rows: &mut Vec<String>, size: TerminalSize) -> (usize, usize) {
        let laid = input.laid_out(size.columns.saturating_sub(PROMPT.chars().count() + 1));
        let (row, column) = laid.cursor;
        // The row with the cursor is always shown.
        let most = MOST_INPUT.min(size.rows / 2).max(1);
        let first = (row + 1).saturating_sub(most);
        let top = rows.len();
        for (index, text) in laid.rows.iter().enumerate().skip(first).take(most) {
            let before = if index == first { paint(Ink::Name, PROMPT.trim_end()) + " " } else { "  ".to_owned() };
            rows.push(format!("{before}{text}"));
        }
        (top + row - first, column + PROMPT.chars().count())
    }

    fn rows_below(&self) -> Vec<String> {
        if let Some(search) = &self.search {
            let found = if self.history.find(&search.words, search.which).is_some() { "" } else { " (nothing found)" };
            return vec![paint(
                Ink::Faint,
                &format!("  search: {}{found} · Ctrl-R: older · Enter: send", search.words),
            )];
        }
        if let Some(hint) = &self.hint {
            return vec![paint(Ink::Warn, &format!("  {hint}"))];
        }
        let mut rows = Vec::new();
        if self.editing.is_some() {
            rows.push(paint(Ink::Warn, "  Enter runs the changed call; Ctrl-C goes back to the question"));
        }
        for (kind, text) in self.help() {
            let ink = match kind {
                HelpKind::About | HelpKind::Missing => Ink::Faint,
                HelpKind::Mistake => Ink::Bad,
            };
            rows.push(paint(ink, &format!("  {text}")));
        }
        rows.extend(self.menu.iter().flat_map(|menu| menu.rows()));
        rows.extend(self.preview_rows());
        rows
    }

    /// The preview of the session that is chosen in the menu.
    fn preview_rows(&self) -> Vec<String> {
        let chosen = self.menu.as_ref().filter(|menu| menu.kind == MenuKind::Sessions).map(Menu::chosen);
        let lines = chosen.and_then(|id| self.previews.get(id));
        lines.into_iter().flatten().map(|line| paint(Ink::Faint, &format!("    │ {line}"))).collect()
    }

    /// The status, the most important facts first: a narrow terminal cuts the others.
    fn status_row(&self) -> String {
        let mut parts = Vec::new();
        if self.activity.is_busy() {
            parts.push("Esc stops".to_owned());
        }
        match self.status.mode {
            Mode::Normal => {}
            Mode::Plan => parts.push("plan: nothing is changed".to_owned()),
            Mode::Try => parts.push("try: changes of commands are discarded".to_owned()),
        }
        match self.status.yes {
            Yes::Asked => {}
            Yes::ToUndoable => parts.push("yes to what can be undone".to_owned()),
            Yes::ToAll => parts.push("yolo".to_owned()),
        }
        match &self.status.model {
            None => parts.push("looking for a model".to_owned()),
            Some(ModelReport::None(_)) => parts.push("no model".to_owned()),
            Some(ModelReport::Is { name, window, .. }) => {
                parts.push(name.clone());
                if self.status.context > 0 && *window > 0 {
                    parts.push(format!("{} % of the window", self.status.context * 100 / window));
                }
            }
        }
        if self.status.tokens > 0 {
            parts.push(format!("{} tokens", GroupedNumber(self.status.tokens)));
        }
        parts.extend(self.status.cost.clone());
        paint(Ink::Faint, &format!("  {}", parts.join(" · ")))
    }

    pub(super) fn model_name(&self) -> String {
        match &self.status.model {
            Some(ModelReport::Is { name, .. }) => name.clone(),
            _ => "the model".to_owned(),
        }
    }
}
