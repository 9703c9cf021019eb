//! The state of the terminal: keys and reports go in, finished lines, orders and a frame come out.
//!
//! Nothing here touches the terminal or waits, so a test can feed events and check the output.
//!
//! Not here: the work itself (`worker`), the screen (`region`, `terminal.rs`).

mod activity;
mod frame;
mod reports;
mod sending;
mod slashing;
mod typing;

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use haft_policy::policy::Mode;

pub(super) use activity::Tails;

use super::drawing::markdown::Markdown;
use super::drawing::painted::{Ink, paint};
use super::drawing::region::Colours;
use super::input::completion::{CompletionNames, Menu};
use super::input::editor::Editor;
use super::input::editor::history::InputHistory;
use super::protocol::{ModelReport, Order, WaitingMessage, Yes};
use super::question::QuestionDialog;
use activity::Activity;

/// How long after the first Ctrl-C a second one leaves.
const LEAVE_AGAIN: Duration = Duration::from_secs(3);

/// The terminal as a value.
pub(super) struct App {
    editor: Editor,
    history: InputHistory,
    menu: Option<Menu>,
    /// The line for which the menu was closed.
    closed_for: Option<String>,
    search: Option<HistorySearch>,
    pub(super) known: CompletionNames,
    questions: VecDeque<QuestionDialog>,
    /// The question whose call the person changes.
    editing: Option<QuestionDialog>,
    activity: Activity,
    /// What sessions are about, by their IDs; nothing while that is looked up.
    previews: HashMap<String, Vec<String>>,
    /// The text that the model is writing.
    markdown: Markdown,
    /// All of the last result of which only a few lines are shown.
    last_result: Option<String>,
    queue: Vec<WaitingMessage>,
    next_id: u64,
    /// The last of the waiting lines that were there when the session was continued.
    restored_up_to: u64,
    status: StatusRow,
    /// Until when a second Ctrl-C leaves.
    leaves_until: Option<Instant>,
    /// A line of advice below the input, until the next key.
    hint: Option<String>,
    finished: Vec<String>,
    orders: Vec<Order>,
    columns: usize,
    colours: Colours,
}

/// The facts in the status row.
#[derive(Clone, Debug)]
struct StatusRow {
    model: Option<ModelReport>,
    session: Option<String>,
    mode: Mode,
    yes: Yes,
    /// How much of the model's window the last request took.
    context: u64,
    tokens: u64,
    cost: Option<String>,
}

/// A search in earlier lines.
#[derive(Clone, Debug, Default)]
struct HistorySearch {
    words: String,
    which: usize,
    before: String,
}

impl App {
    /// An app for a terminal with or without colours, in this mode.
    pub(super) fn new(colours: Colours, mode: Mode, yes: Yes) -> Self {
        let status = StatusRow { model: None, session: None, mode, yes, context: 0, tokens: 0, cost: None };
        let known = CompletionNames { commands: super::input::slash::listed(), ..CompletionNames::default() };
        Self {
            editor: Editor::default(),
            history: InputHistory::default(),
            menu: None,
            closed_for: None,
            search: None,
            known,
            questions: VecDeque::new(),
            editing: None,
            activity: Activity::default(),
            previews: HashMap::new(),
            markdown: Markdown::default(),
            last_result: None,
            queue: Vec::new(),
            next_id: 0,
            restored_up_to: 0,
            status,
            leaves_until: None,
            hint: None,
            finished: Vec::new(),
            orders: Vec::new(),
            columns: 80,
            colours,
        }
    }

    /// Returns the lines that were finished since the last call, for the scrollback.
    pub(super) fn take_finished(&mut self) -> Vec<String> {
        std::mem::take(&mut self.finished)
    }

    /// Returns the orders that were given since the last call.
    pub(super) fn take_orders(&mut self) -> Vec<Order> {
        std::mem::take(&mut self.orders)
    }

    /// Sets how many columns the terminal has.
    pub(super) fn resized(&mut self, columns: usize) {
        self.columns = columns;
    }

    /// Returns whether something changes by itself with time.
    pub(super) fn is_busy(&self) -> bool {
        self.activity.is_busy()
    }

    /// Returns when something changes by itself although nothing is done for the person.
    pub(super) fn due(&self) -> Option<Instant> {
        self.leaves_until
    }

    /// Returns the name of the session, once there is one.
    pub(super) fn session(&self) -> Option<String> {
        self.status.session.clone()
    }

    /// Returns where the work puts what running calls print.
    pub(super) fn tails(&self) -> Tails {
        self.activity.tails.clone()
    }

    /// Returns what is typed and not sent.
    pub(super) fn draft(&self) -> String {
        self.editor.whole()
    }

    fn print(&mut self, line: impl Into<String>) {
        self.finished.push(line.into());
    }

    /// Prints a message of haft about the last event.
    fn say(&mut self, words: &str) {
        self.finished.push(paint(Ink::Faint, words));
    }

    fn order(&mut self, order: Order) {
        self.orders.push(order);
    }

    fn has_model(&self) -> bool {
        matches!(self.status.model, Some(ModelReport::Is { .. }))
    }

    fn fresh_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}

#[cfg(test)]
mod tests;
