//! Runs slash commands: changes the state of the terminal, or gives orders to the worker.

use std::time::Instant;

use haft_contract::text::grouped::GroupedNumber;
use haft_host::texts::wrapped::wrapped;
use haft_policy::policy::Mode;
use haft_tools::session::remember::MEMORY_FILE;
use serde_json::json;

use super::App;
use super::reports::fact;
use crate::screen::safe;
use crate::terminal::drawing::painted::{Ink, paint, width};
use crate::terminal::input::slash;
use crate::terminal::input::slash::Slash;
use crate::terminal::protocol::{Order, Yes};

/// The column in which the words of the help begin.
const BESIDE: usize = 36;
/// A terminal with fewer columns shows them below the names.
const NARROW: usize = 70;
const KEYS: &[(&str, &str)] = &[
    ("Enter", "sends; while the model works, at its next step"),
    ("Alt+Enter", "while the model works: sends after its turn"),
    ("Alt+↑", "brings back the last waiting message"),
    ("Ctrl-J, \\ Enter", "starts another line"),
    ("Esc, Ctrl-C", "stops the work; if none runs, Ctrl-C clears the line, then leaves"),
    ("Tab", "completes"),
    ("Ctrl-O", "prints the last result in full"),
    ("↑ ↓, Ctrl-R", "earlier lines, or a search in them"),
    ("@name", "a file of the project"),
    ("!command", "runs a command yourself, in the sandbox and with undo"),
    ("tool key=value", "calls a tool yourself; a pasted JSON call works too"),
];

impl App {
    pub(super) fn run_slash(&mut self, slash: Slash, line: &str, now: Instant) {
        match slash {
            Slash::Help => self.help_screen(),
            Slash::Quit => self.order(Order::Quit),
            Slash::Plan => self.toggle_plan(),
            Slash::Yolo => self.toggle_yolo(),
            Slash::Cost => self.show_cost(),
            Slash::Clear => {
                (self.status.context, self.status.tokens, self.status.cost) = (0, 0, None);
                self.status.session = None;
                self.order(Order::Clear);
                self.say("A new conversation starts with your next message.");
            }
            Slash::Model(None) => self.begin(Order::Haft(vec!["models".to_owned()]), now),
            Slash::Model(Some(name)) => self.begin(Order::Model(name), now),
            Slash::Resume(Some(id)) => self.begin(Order::Resume(id), now),
            // The person chooses before anything is sent.
            Slash::Resume(None) => {}
            Slash::Rewind(number) => self.begin(Order::Rewind(number), now),
            Slash::Name(name) => self.begin(Order::Name(name), now),
            Slash::Export(file) => self.begin(Order::Export(file), now),
            Slash::Todo => self.begin(Order::NativeCall("todo", json!({})), now),
            Slash::Memory if !self.known.files.iter().any(|file| file == MEMORY_FILE) => {
                self.say("The memory of this project is empty: the model has remembered nothing.");
            }
            Slash::Memory => self.begin(Order::NativeCall("read_file", json!({ "path": MEMORY_FILE })), now),
            Slash::Own => self.begin(Order::UserCommand(line.to_owned()), now),
            Slash::Shows(words) => self.begin(Order::Haft(words), now),
            Slash::Confirmed(words) => self.begin(Order::Confirmed(words), now),
            Slash::ServerPrompt(words) => self.begin(Order::ServerPrompt(words), now),
        }
    }

    fn begin(&mut self, order: Order, now: Instant) {
        self.activity.begin(now);
        self.order(order);
    }

    fn help_screen(&mut self) {
        let commands = slash::help().into_iter().map(|(name, does)| (name, does.to_owned()));
        let own = self
            .known
            .own
            .iter()
            .map(|own| (format!("/{} {}", own.name, own.takes.as_deref().unwrap_or_default()), own.about.clone()));
        let keys = KEYS.iter().map(|(key, does)| ((*key).to_owned(), (*does).to_owned()));
        let lines: Vec<(String, String)> = keys.chain(commands).chain(own).collect();
        for (name, does) in lines {
            let rows = help_rows(&name, &does, self.columns);
            self.finished.extend(rows);
        }
    }

    fn toggle_plan(&mut self) {
        let (mode, words) = match self.status.mode {
            Mode::Plan => (Mode::Normal, "Plan mode is off: haft makes changes after your yes."),
            Mode::Normal | Mode::Try => (Mode::Plan, "Plan mode is on: haft changes nothing."),
        };
        self.status.mode = mode;
        self.order(Order::Mode(mode));
        self.say(words);
    }

    fn toggle_yolo(&mut self) {
        let (yes, words) = match self.status.yes {
            Yes::ToAll => (Yes::Asked, "haft asks you again."),
            Yes::Asked | Yes::ToUndoable => {
                (Yes::ToAll, "haft answers every ordinary question with yes. It still asks dangerous ones.")
            }
        };
        self.status.yes = yes;
        self.order(Order::Yes(yes));
        self.say(words);
    }

    fn show_cost(&mut self) {
        let (tokens, cost) = (self.status.tokens, self.status.cost.clone());
        self.print(fact("tokens", &GroupedNumber(tokens).to_string()));
        self.print(fact("cost", cost.as_deref().unwrap_or("unknown: config.toml has no price for this model")));
        if let Some(session) = self.status.session.clone() {
            self.print(fact("session", &session));
        }
    }
}

/// Returns a line of help: the words beside the name where both fit, else below it.
fn help_rows(name: &str, does: &str, columns: usize) -> Vec<String> {
    let is_beside = columns >= NARROW && width(name) < BESIDE - 3;
    let indent = if is_beside { BESIDE } else { 6 };
    let words = wrapped(&safe(does).replace('\n', " "), columns.saturating_sub(indent + 1).max(10), 0);
    let mut words = words.iter().map(|row| paint(Ink::Plain, row));
    let head = match words.next() {
        Some(first) if is_beside => {
            format!("  {}{}{first}", paint(Ink::Name, name), " ".repeat(BESIDE - 2 - width(name)))
        }
        first => {
            let names = wrapped(&safe(name), columns.saturating_sub(3).max(10), 4);
            let names: Vec<String> = names.iter().map(|row| format!("  {}", paint(Ink::Name, row))).collect();
            format!("{}\n{}{}", names.join("\n"), " ".repeat(indent), first.unwrap_or_default())
        }
    };
    std::iter::once(head).chain(words.map(|row| format!("{}{row}", " ".repeat(indent)))).collect()
}
