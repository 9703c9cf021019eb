//! Handles keys and pastes.

use std::collections::hash_map::Entry;
use std::time::Instant;

use super::{App, HistorySearch, LEAVE_AGAIN};
use crate::terminal::drawing::painted::{Ink, paint};
use crate::terminal::input::call_line;
use crate::terminal::input::completion;
use crate::terminal::input::completion::MenuKind;
use crate::terminal::input::editor::To;
use crate::terminal::input::keys::{KeyCode, KeyPress, TerminalInput};
use crate::terminal::input::slash;
use crate::terminal::protocol::{MessageDelivery, Order, Reply};
use crate::terminal::question::KeyPressEffect;
use haft_host::calling::typed_words::words;
use haft_host::conversations::prompt_images::mention_of_dropped;

impl App {
    /// Takes a key or a paste.
    pub(in crate::terminal) fn take(&mut self, input: TerminalInput, now: Instant) {
        self.hint = None;
        match input {
            TerminalInput::Paste(text) => {
                let asked = self.questions.front_mut().filter(|_| self.editing.is_none());
                let is_taken = asked.is_some_and(|question| question.paste(&text));
                if !is_taken {
                    self.history.leave();
                    let dropped = mention_of_dropped(&text).filter(|_| self.has_model());
                    self.editor.paste_in(dropped.as_deref().unwrap_or(&text));
                    self.refresh_menu();
                }
            }
            TerminalInput::Key(key) if self.questions.is_empty() || self.editing.is_some() => self.press(key, now),
            TerminalInput::Key(key) => self.press_in_question(key, now),
        }
        self.ask_for_preview();
    }

    /// Orders the preview of the session that is chosen in the menu.
    fn ask_for_preview(&mut self) {
        let Some(menu) = self.menu.as_ref().filter(|menu| menu.kind == MenuKind::Sessions) else { return };
        let id = menu.chosen().to_owned();
        if let Entry::Vacant(vacant) = self.previews.entry(id.clone()) {
            vacant.insert(Vec::new());
            self.order(Order::Preview(id));
        }
    }

    fn press_in_question(&mut self, key: KeyPress, now: Instant) {
        let Some(question) = self.questions.front_mut() else { return };
        match question.press(key, now) {
            KeyPressEffect::Kept => {}
            KeyPressEffect::Typed => self.press_while_asked(key),
            KeyPressEffect::ShowAll => self.show_all_of_question(),
            KeyPressEffect::Edit(line) => {
                self.editing = self.questions.pop_front();
                self.editor.set(&line);
                self.refresh_menu();
            }
            KeyPressEffect::Answer(reply) => self.answer(reply),
        }
    }

    /// Keys that a person was pressing when a question appeared go into the line, but send nothing.
    fn press_while_asked(&mut self, key: KeyPress) {
        match key.code {
            KeyCode::Char(c) if !key.held.ctrl && !key.held.alt => self.editor.insert(c.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace => self.editor.backspace(),
            _ => {}
        }
    }

    fn answer(&mut self, reply: Reply) {
        let Some(question) = self.questions.pop_front() else { return };
        self.print_answer(&reply);
        self.order(Order::Answer(question.asked.id, reply));
    }

    fn press(&mut self, key: KeyPress, now: Instant) {
        if self.search.is_some() && self.press_in_search(key) {
            return;
        }
        if self.menu.is_some() && self.press_in_menu(key) {
            return;
        }
        let before = self.editor.text().to_owned();
        self.press_in_line(key, now);
        if self.editor.text() != before {
            self.refresh_menu();
        } else if !matches!(key.code, KeyCode::Escape) {
            self.refresh_menu_if_shown();
        }
    }

    fn press_in_line(&mut self, key: KeyPress, now: Instant) {
        let held = key.held;
        match key.code {
            KeyCode::Enter if held.shift || held.ctrl => self.editor.insert("\n"),
            KeyCode::Enter if held.alt => self.send(MessageDelivery::AfterTurn, now),
            KeyCode::Enter
                if self.editor.text().ends_with('\\') && self.editor.cursor() == self.editor.text().len() =>
            {
                self.editor.backspace();
                self.editor.insert("\n");
            }
            KeyCode::Enter => self.send(MessageDelivery::NextStep, now),
            KeyCode::Escape => self.escape(),
            KeyCode::Char(c) if held.ctrl => self.press_ctrl(c, now),
            KeyCode::Char('b') if held.alt => _ = self.editor.go(To::WordLeft),
            KeyCode::Char('f') if held.alt => _ = self.editor.go(To::WordRight),
            KeyCode::Char('d') if held.alt => self.editor.cut_to(To::WordRight),
            KeyCode::Char(c) => {
                self.history.leave();
                self.editor.insert(c.encode_utf8(&mut [0; 4]));
            }
            KeyCode::Backspace if held.alt => self.editor.cut_to(To::WordLeft),
            KeyCode::Backspace => self.editor.backspace(),
            KeyCode::Delete => self.editor.delete(),
            KeyCode::Left if held.ctrl || held.alt => _ = self.editor.go(To::WordLeft),
            KeyCode::Right if held.ctrl || held.alt => _ = self.editor.go(To::WordRight),
            KeyCode::Left => _ = self.editor.go(To::Left),
            KeyCode::Right => _ = self.editor.go(To::Right),
            KeyCode::Home => _ = self.editor.go(To::LineStart),
            KeyCode::End => _ = self.editor.go(To::LineEnd),
            KeyCode::Up if held.alt => self.recall_queued(),
            KeyCode::Up => self.up(),
            KeyCode::Down => self.down(),
            KeyCode::Tab => self.open_menu(),
            KeyCode::PageUp | KeyCode::PageDown | KeyCode::Other => {}
        }
    }

    fn press_ctrl(&mut self, c: char, now: Instant) {
        match c {
            'a' => _ = self.editor.go(To::LineStart),
            'e' => _ = self.editor.go(To::LineEnd),
            'b' => _ = self.editor.go(To::Left),
            'f' => _ = self.editor.go(To::Right),
            'p' => self.up(),
            'n' => self.down(),
            'u' => self.editor.cut_to(To::LineStart),
            'k' => self.editor.cut_to(To::LineEnd),
            'w' => self.editor.cut_to(To::WordLeft),
            'y' => self.editor.yank(),
            'r' => {
                self.search = Some(HistorySearch { before: self.editor.text().to_owned(), ..HistorySearch::default() })
            }
            'c' => self.interrupt(now),
            'd' if self.editor.is_empty() => self.order(Order::Quit),
            'd' => self.editor.delete(),
            'z' => self.order(Order::Suspend),
            'o' => self.show_last_result(),
            _ => {}
        }
    }

    /// Ctrl-C stops the work; if none runs it clears the line; if the line is empty, a second one leaves.
    fn interrupt(&mut self, now: Instant) {
        if let Some(question) = self.editing.take() {
            self.editor.set("");
            self.menu = None;
            self.questions.push_front(question);
        } else if self.activity.is_busy() {
            self.stop();
        } else if !self.editor.is_empty() {
            let line = self.editor.take();
            self.history.add(&line);
            self.hint = Some("Cleared. ↑ brings the line back.".to_owned());
        } else if self.leaves_until.is_some_and(|until| now <= until) {
            self.order(Order::Quit);
        } else {
            self.leaves_until = Some(now + LEAVE_AGAIN);
            self.hint = Some("Press Ctrl-C again to leave.".to_owned());
        }
    }

    fn escape(&mut self) {
        if let Some(question) = self.editing.take() {
            self.editor.set("");
            self.questions.push_front(question);
        } else if self.activity.is_busy() {
            self.stop();
        } else if self.editor.is_empty() && !self.known.points.is_empty() {
            self.hint = Some("/undo and a blank lists the messages to which you can go back.".to_owned());
        }
    }

    /// Stops the work. Waiting lines come back into the input; lines that are sent from now on wait for the end.
    fn stop(&mut self) {
        self.return_queued();
        self.activity.is_stopping = true;
        self.order(Order::Stop);
    }

    /// Prints the last result in full.
    fn show_last_result(&mut self) {
        match self.last_result.take() {
            Some(text) => self.finished.extend(text.lines().map(|line| paint(Ink::Plain, line))),
            None => self.hint = Some("The last result is already shown in full.".to_owned()),
        }
    }

    fn up(&mut self) {
        if !self.editor.go(To::Up)
            && let Some(line) = self.history.older(self.editor.text())
        {
            self.editor.set(&line);
        }
    }

    fn down(&mut self) {
        if !self.editor.go(To::Down)
            && let Some(line) = self.history.newer()
        {
            self.editor.set(&line);
        }
    }

    /// Returns whether a key belonged to the search.
    fn press_in_search(&mut self, key: KeyPress) -> bool {
        let Some(search) = &mut self.search else { return false };
        match key.code {
            KeyCode::Char('r') if key.held.ctrl => search.which += 1,
            KeyCode::Char('c' | 'g') if key.held.ctrl => {
                let before = std::mem::take(&mut search.before);
                self.search = None;
                self.editor.set(&before);
                return true;
            }
            KeyCode::Char(c) if !key.held.ctrl && !key.held.alt => {
                search.words.push(c);
                search.which = 0;
            }
            KeyCode::Backspace => {
                search.words.pop();
                search.which = 0;
            }
            _ => {
                self.search = None;
                // Escape keeps the line that was found; any other key acts on it.
                return key.code == KeyCode::Escape;
            }
        }
        match self.history.find(&search.words, search.which).map(str::to_owned) {
            Some(found) => self.editor.set(&found),
            None => search.which = search.which.saturating_sub(1),
        }
        true
    }

    /// Returns whether a key belonged to the menu.
    fn press_in_menu(&mut self, key: KeyPress) -> bool {
        let Some(menu) = &mut self.menu else { return false };
        match key.code {
            KeyCode::Down => menu.select(1),
            KeyCode::Up if !key.held.alt => menu.select(-1),
            KeyCode::Char('n') if key.held.ctrl => menu.select(1),
            KeyCode::Char('p') if key.held.ctrl => menu.select(-1),
            KeyCode::Tab if key.held.shift => menu.select(-1),
            KeyCode::Tab => self.accept(),
            KeyCode::Escape => {
                self.menu = None;
                self.closed_for = Some(self.editor.text().to_owned());
            }
            KeyCode::Enter if key.held == crate::terminal::input::keys::KeyModifiers::default() => {
                return self.enter_in_menu();
            }
            _ => return false,
        }
        true
    }

    /// Enter takes an item of the menu, unless what is typed is complete: then it sends.
    fn enter_in_menu(&mut self) -> bool {
        let Some(menu) = &self.menu else { return false };
        let typed = self.editor.text()[menu.replaces.clone()].trim().to_owned();
        match menu.kind {
            MenuKind::Commands if menu.chosen().trim() == typed => return false,
            MenuKind::Commands => {
                self.accept();
                // A command that needs no arguments runs immediately.
                return !slash::is_complete(self.editor.text().trim(), &self.known.own);
            }
            MenuKind::Files => self.accept(),
            MenuKind::Sessions | MenuKind::Points => {
                self.accept();
                return false;
            }
            MenuKind::Tools if menu.chosen().trim() != typed => self.accept(),
            // A call may be sent with or without more.
            MenuKind::Tools | MenuKind::Arguments => return false,
        }
        true
    }

    fn accept(&mut self) {
        let Some(menu) = self.menu.take() else { return };
        let mut text = menu.chosen().to_owned();
        // The text after the cursor has its own blank.
        if self.editor.text()[menu.replaces.end..].starts_with(' ') {
            text.truncate(text.trim_end().len());
        }
        self.editor.replace(menu.replaces, &text);
        self.refresh_menu();
    }

    fn open_menu(&mut self) {
        self.closed_for = None;
        let known = completion::CompletionNames { has_model: false, ..self.known.clone() };
        self.menu = completion::menu(self.editor.text(), self.editor.cursor(), &known);
    }

    pub(super) fn refresh_menu(&mut self) {
        if self.closed_for.as_deref().is_some_and(|line| !self.editor.text().starts_with(line)) {
            self.closed_for = None;
        }
        self.menu = match self.closed_for {
            Some(_) => None,
            None => completion::menu(self.editor.text(), self.editor.cursor(), &self.known),
        };
    }

    fn refresh_menu_if_shown(&mut self) {
        if self.menu.is_some() {
            self.refresh_menu();
        }
    }

    /// Returns what is known of the call that is being typed: its tool's words, what is wrong, what is missing.
    pub(super) fn help(&self) -> Vec<(HelpKind, String)> {
        let line = self.editor.text();
        let (words, is_open) = words(line);
        let Some(tool) = words.first().and_then(|word| self.known.tools.iter().find(|tool| tool.name == word.text))
        else {
            return Vec::new();
        };
        let pairs = call_line::pairs(&words);
        let is_call = !self.has_model() || call_line::read_if_plain(line, &self.known.tools).is_some();
        if !is_call {
            return Vec::new();
        }
        let mut help = vec![(HelpKind::About, format!("{}({})  {}", tool.name, tool.signature(), tool.summary))];
        let at_cursor = words.iter().find(|word| word.bytes.contains(&self.editor.cursor().saturating_sub(1)));
        let key = at_cursor.and_then(|word| call_line::pair(&word.text)).map(|(key, _)| key);
        if let Some(parameter) = key.and_then(|key| tool.parameter(key)) {
            help.push((HelpKind::About, format!("{}: {}", parameter.name, parameter.about)));
        }
        let has_positional = words.get(1).is_some_and(|word| call_line::pair(&word.text).is_none());
        if let Some(mistake) = tool.mistake(&pairs) {
            help.push((HelpKind::Mistake, mistake));
        } else if is_open {
            help.push((HelpKind::Missing, "the quote is still open".to_owned()));
        } else {
            // A value alone is that of the first parameter.
            let missing: Vec<&str> = tool.missing(&pairs).into_iter().skip(usize::from(has_positional)).collect();
            if !missing.is_empty() {
                help.push((HelpKind::Missing, format!("still needed: {}", missing.join(", "))));
            }
        }
        help
    }
}

/// The kind of a line of help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HelpKind {
    About,
    Missing,
    Mistake,
}
