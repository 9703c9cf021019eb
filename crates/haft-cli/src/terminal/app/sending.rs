//! Sends a line: as a slash command, a command, a call, or a message for the model.

use std::time::Instant;

use super::App;
use crate::terminal::drawing::painted::{Ink, paint};
use crate::terminal::input::call_line;
use crate::terminal::input::slash;
use crate::terminal::input::slash::Slash;
use crate::terminal::protocol::{MessageDelivery, ModelReport, Order, Reply, WaitingMessage};
use haft_host::conversations::prompt_images::names_images;

impl App {
    /// Sends the line; while something runs it waits.
    pub(super) fn send(&mut self, when: MessageDelivery, now: Instant) {
        let whole = self.editor.whole();
        let line = whole.trim();
        if line.is_empty() {
            return;
        }
        if self.editing.is_some() {
            self.send_instead(line);
            return;
        }
        if let Some(slash) = slash::read(line, &self.known.own) {
            self.send_slash(slash, line, now);
            return;
        }
        let is_awaited = self.status.model.is_none() && !self.is_call(line);
        if !self.has_model() && !self.is_call(line) && !is_awaited {
            self.hint = Some(
                "Without a model, type a tool call such as read_file path=README.md, or !ls; /model connects one."
                    .to_owned(),
            );
            return;
        }
        let line = line.to_owned();
        self.editor.set("");
        self.menu = None;
        self.history.add(&line);
        if self.activity.is_busy() || is_awaited {
            self.queue(line, when);
        } else {
            self.start(&line, now);
        }
    }

    /// Returns whether a line can be run without a model.
    fn is_call(&self, line: &str) -> bool {
        line.starts_with('!') || self.call_of(line).is_some()
    }

    fn call_of(&self, line: &str) -> Option<call_line::CallLine> {
        match self.has_model() {
            true => call_line::read_if_plain(line, &self.known.tools),
            false => call_line::read(line, &self.known.tools),
        }
    }

    /// Starts what a line asks for.
    pub(super) fn start(&mut self, line: &str, now: Instant) {
        self.print_typed(line);
        if let Some(Ok(slash)) = slash::read(line, &self.known.own) {
            self.run_slash(slash, line, now);
            return;
        }
        self.activity.begin(now);
        if let Some(command) = line.strip_prefix('!') {
            self.order(Order::Shell(command.trim().to_owned()));
        } else if let Some(call) = self.call_of(line) {
            self.order(Order::Call(call));
        } else {
            self.order(Order::Prompt(line.to_owned()));
        }
    }

    /// Lets a line wait. Only messages can be given to the model while it works.
    fn queue(&mut self, line: String, when: MessageDelivery) {
        let is_message = self.has_model() && !self.is_call(&line);
        // Images go with a prompt of their own.
        let when = if is_message && !names_images(&line) { when } else { MessageDelivery::AfterTurn };
        let queued = WaitingMessage { id: self.fresh_id(), text: line, when };
        self.queue.push(queued.clone());
        self.order(Order::Queue(queued));
    }

    /// Brings the last waiting line back to be changed.
    pub(super) fn recall_queued(&mut self) {
        let Some(queued) = self.queue.pop() else { return };
        self.order(Order::Unqueue(queued.id));
        let typed = self.editor.take();
        let gap = if typed.is_empty() { "" } else { "\n" };
        self.editor.set(&format!("{}{gap}{typed}", queued.text));
        self.refresh_menu();
    }

    /// Starts the waiting lines, now that nothing runs.
    pub(super) fn start_queued(&mut self, now: Instant) {
        while !self.activity.is_busy() && !self.queue.is_empty() {
            self.start_one(0, now);
        }
    }

    /// Starts one of the waiting lines.
    pub(super) fn start_one(&mut self, index: usize, now: Instant) {
        let queued = self.queue.remove(index);
        self.order(Order::Unqueue(queued.id));
        self.start(&queued.text, now);
    }

    /// Puts waiting lines back into the input, because the work was stopped.
    pub(super) fn return_queued(&mut self) {
        while !self.queue.is_empty() {
            self.recall_queued();
        }
    }

    /// Opens the menu of conversations.
    fn choose_session(&mut self) {
        if self.known.sessions.is_empty() {
            self.hint = Some("There is no earlier conversation in this project.".to_owned());
            return;
        }
        self.editor.set("/resume ");
        self.refresh_menu();
    }

    fn send_instead(&mut self, line: &str) {
        let Some(call) = call_line::read(line, &self.known.tools) else {
            self.hint = Some("This is not a call of a tool. Ctrl-C goes back to the question.".to_owned());
            return;
        };
        let Some(question) = self.editing.take() else { return };
        self.print_typed(line);
        self.history.add(line);
        self.editor.set("");
        self.menu = None;
        self.order(Order::Answer(question.asked.id, Reply::Instead(call)));
    }

    fn send_slash(&mut self, slash: Result<Slash, String>, line: &str, now: Instant) {
        let slash = match slash {
            Ok(slash) => slash,
            Err(why) => {
                self.hint = Some(why);
                return;
            }
        };
        if slash == Slash::Own && matches!(self.status.model, Some(ModelReport::None(_))) {
            self.hint = Some("This command needs a model; /model lists the ways to connect one.".to_owned());
            return;
        }
        if slash == Slash::Resume(None) {
            self.choose_session();
            return;
        }
        let line = line.to_owned();
        self.editor.set("");
        self.menu = None;
        self.history.add(&line);
        let is_awaited = slash == Slash::Own && self.status.model.is_none();
        if is_awaited || self.activity.is_busy() && !slash.works_while_busy() {
            let queued = WaitingMessage { id: self.fresh_id(), text: line, when: MessageDelivery::AfterTurn };
            self.queue.push(queued.clone());
            self.order(Order::Queue(queued));
            return;
        }
        self.print_typed(&line);
        self.run_slash(slash, &line, now);
    }

    /// Shows a line that was sent, as it was typed.
    pub(super) fn print_typed(&mut self, line: &str) {
        let mut lines = line.lines();
        let first = lines.next().unwrap_or_default();
        self.print("");
        self.print(format!("{} {}", paint(Ink::Name, "›"), paint(Ink::Strong, first)));
        for more in lines {
            self.print(format!("  {}", paint(Ink::Strong, more)));
        }
    }
}
