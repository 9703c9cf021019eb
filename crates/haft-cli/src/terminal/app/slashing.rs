//! Runs slash commands: changes the state of the terminal, or gives orders to the worker.

use std::time::Instant;

use haft_contract::grouped::Grouped;
use haft_policy::policy::Mode;

use super::App;
use super::reports::fact;
use crate::terminal::painted::{Ink, paint};
use crate::terminal::protocol::{Order, Yes};
use crate::terminal::slash::{self, Slash};

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
    pub(super) fn run_slash(&mut self, slash: Slash, now: Instant) {
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
            Slash::Resume(id) => self.begin(Order::Resume(id), now),
            Slash::Shows(words) => self.begin(Order::Haft(words), now),
            Slash::Confirmed(words) => self.begin(Order::Confirmed(words), now),
        }
    }

    fn begin(&mut self, order: Order, now: Instant) {
        self.activity.begin(now);
        self.order(order);
    }

    fn help_screen(&mut self) {
        let commands = slash::help();
        let keys = KEYS.iter().map(|(key, does)| ((*key).to_owned(), *does));
        for (name, does) in keys.chain(commands) {
            let gap = " ".repeat(34_usize.saturating_sub(name.chars().count()).max(2));
            self.print(format!("  {}{gap}{}", paint(Ink::Name, &name), paint(Ink::Plain, does)));
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
        self.print(fact("tokens", &Grouped(tokens).to_string()));
        self.print(fact("cost", cost.as_deref().unwrap_or("unknown: config.toml has no price for this model")));
        if let Some(session) = self.status.session.clone() {
            self.print(fact("session", &session));
        }
    }
}
