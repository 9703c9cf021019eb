//! The question at the terminal: which keys answer it, and what they mean.
//!
//! Each answer has its own key. Enter answers nothing. A key counts only if none was pressed for a moment after the
//! question was drawn: keys of a person who was typing when it appeared go into the line below. A paste never answers.
//!
//! Not here: the words of the question (`question_body`).

mod user_answer;

use std::time::{Duration, Instant};

use haft_policy::decision::Class;
use haft_runtime::asking::approval::{ApprovalRequest, Verdict};

use super::drawing::painted::{Ink, paint};
use super::input::editor::{Editor, To};
use super::input::keys::{KeyCode, KeyPress};
use super::protocol::{Reply, RewindScope, ScreenQuestion, ScreenQuestionSubject};
use crate::screen::safe;
use crate::terminal::question_body::scope_words;
use haft_host::calling::typed_words::quoted;
use haft_host::texts::wrapped::wrapped;

/// How long the keyboard must be idle before a key counts.
const QUIET: Duration = Duration::from_millis(400);

/// A question that waits for an answer.
#[derive(Clone, Debug)]
pub(super) struct QuestionDialog {
    pub(super) asked: ScreenQuestion,
    /// Since when no key was pressed; nothing until the question was drawn.
    quiet_since: Option<Instant>,
    note: Option<Editor>,
    /// How many lines of what it shows are left out.
    pub(super) folded: usize,
}

/// The effect of a key on a question.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum KeyPressEffect {
    /// It answers.
    Answer(Reply),
    /// It belongs to what was being typed.
    Typed,
    /// Everything is to be shown.
    ShowAll,
    /// The call is to be changed: this is the line to change.
    Edit(String),
    /// It changes something in the question, or nothing.
    Kept,
}

impl QuestionDialog {
    pub(super) fn new(asked: ScreenQuestion, folded: usize) -> Self {
        Self { asked, quiet_since: None, note: None, folded }
    }

    /// The question is on the screen now.
    pub(super) fn drawn(&mut self, now: Instant) {
        self.quiet_since.get_or_insert(now);
    }

    /// Takes a key.
    pub(super) fn press(&mut self, key: KeyPress, now: Instant) -> KeyPressEffect {
        if let (Some(note), ScreenQuestionSubject::User { question, .. }) = (&mut self.note, &self.asked.about) {
            return user_answer::press_in_answer(note, question, key);
        }
        if let Some(note) = &mut self.note {
            return Self::press_in_note(note, key).unwrap_or_else(|| {
                self.note = None;
                KeyPressEffect::Kept
            });
        }
        if key == KeyPress::ctrl('c') {
            return KeyPressEffect::Answer(Reply::Verdict(Verdict::StopTurn));
        }
        let is_quiet = self.quiet_since.is_some_and(|since| now.saturating_duration_since(since) >= QUIET);
        if !is_quiet {
            self.quiet_since = self.quiet_since.map(|_| now);
            return KeyPressEffect::Typed;
        }
        match &self.asked.about {
            ScreenQuestionSubject::Call(request) => self.press_about_call(&request.clone(), key),
            ScreenQuestionSubject::User { question, .. } => match user_answer::press(question, key) {
                user_answer::First::Pressed(pressed) => pressed,
                user_answer::First::Types => {
                    user_answer::press_in_answer(self.note.insert(Editor::default()), &question.clone(), key)
                }
            },
            ScreenQuestionSubject::Plan { .. } => match key.code {
                KeyCode::Char('y' | 'Y') => KeyPressEffect::Answer(Reply::Verdict(Verdict::AllowOnce)),
                KeyCode::Char('n' | 'N') | KeyCode::Escape => {
                    KeyPressEffect::Answer(Reply::Verdict(Verdict::Refuse { note: None }))
                }
                _ => KeyPressEffect::Kept,
            },
            ScreenQuestionSubject::Rewind { change_sets, messages } => press_about_rewind(key, *change_sets, *messages),
            ScreenQuestionSubject::Circle { .. } => match key.code {
                KeyCode::Char('y' | 'Y') => KeyPressEffect::Answer(Reply::GoOn),
                KeyCode::Char('s' | 'S') | KeyCode::Escape => KeyPressEffect::Answer(Reply::Verdict(Verdict::StopTurn)),
                KeyCode::Char('n' | 'N') => self.open_note(),
                _ => KeyPressEffect::Kept,
            },
        }
    }

    fn press_about_call(&mut self, request: &ApprovalRequest, key: KeyPress) -> KeyPressEffect {
        if key.held.ctrl || key.held.alt {
            return KeyPressEffect::Kept;
        }
        match key.code {
            KeyCode::Char('y' | 'Y') => KeyPressEffect::Answer(Reply::Verdict(Verdict::AllowOnce)),
            KeyCode::Char('a' | 'A') if request.always().is_some() => KeyPressEffect::Answer(Reply::Always),
            KeyCode::Char('v' | 'V') if self.folded > 0 => {
                self.folded = 0;
                KeyPressEffect::ShowAll
            }
            KeyCode::Char('e' | 'E') if !request.is_running => KeyPressEffect::Edit(line_of(request)),
            KeyCode::Char('n' | 'N') => self.open_note(),
            KeyCode::Char('s' | 'S') | KeyCode::Escape => KeyPressEffect::Answer(Reply::Verdict(Verdict::StopTurn)),
            KeyCode::Char(c) => {
                let number = c.to_digit(10).and_then(|digit| usize::try_from(digit).ok()?.checked_sub(1));
                match number.and_then(|number| request.offers.get(number)) {
                    Some(offer) => KeyPressEffect::Answer(Reply::Verdict(Verdict::AllowFor(offer.scope.clone()))),
                    None => KeyPressEffect::Kept,
                }
            }
            _ => KeyPressEffect::Kept,
        }
    }

    fn open_note(&mut self) -> KeyPressEffect {
        self.note = Some(Editor::default());
        KeyPressEffect::Kept
    }

    /// Takes a key while the person types a note; nothing if the person discards the note.
    fn press_in_note(note: &mut Editor, key: KeyPress) -> Option<KeyPressEffect> {
        match key.code {
            KeyCode::Enter => {
                let text = note.take();
                let note = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
                return Some(KeyPressEffect::Answer(Reply::Verdict(Verdict::Refuse { note })));
            }
            KeyCode::Escape => return None,
            KeyCode::Char('c') if key.held.ctrl => return None,
            KeyCode::Char('u') if key.held.ctrl => note.cut_to(To::LineStart),
            KeyCode::Char('w') if key.held.ctrl => note.cut_to(To::WordLeft),
            KeyCode::Char(c) if !key.held.ctrl && !key.held.alt => note.insert(c.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace => note.backspace(),
            KeyCode::Delete => note.delete(),
            KeyCode::Left => _ = note.go(To::Left),
            KeyCode::Right => _ = note.go(To::Right),
            KeyCode::Home => _ = note.go(To::LineStart),
            KeyCode::End => _ = note.go(To::LineEnd),
            _ => {}
        }
        Some(KeyPressEffect::Kept)
    }

    /// Takes a paste: into a note, or not at all.
    pub(super) fn paste(&mut self, text: &str) -> bool {
        if matches!(self.asked.about, ScreenQuestionSubject::User { .. }) && self.quiet_since.is_some() {
            self.note.get_or_insert_default();
        }
        let Some(note) = &mut self.note else { return false };
        note.paste_in(text);
        true
    }

    /// Returns the note that is typed.
    pub(super) fn note(&self) -> Option<&Editor> {
        self.note.as_ref()
    }

    /// Returns the rows with the answers, whole in a terminal of any width.
    pub(super) fn rows(&self, waiting: &[&QuestionDialog], columns: usize) -> Vec<String> {
        let mut rows = vec![self.title(waiting.len())];
        match &self.asked.about {
            ScreenQuestionSubject::User { question, .. } => {
                let how = question.how_to_answer();
                rows.push(paint(Ink::Faint, &format!("  {how} Enter: send it, empty: leave it out. Esc: dismiss.")));
            }
            _ if self.note.is_some() => {
                rows.push(paint(Ink::Faint, "  What should the model know? Enter: no. Esc: back to the question."));
            }
            ScreenQuestionSubject::Call(request) => rows.extend(self.answers(request, columns)),
            ScreenQuestionSubject::Plan { does } => {
                rows.push(answer("y", &format!("yes, {does}")));
                rows.push(answer("n", "no, change nothing"));
            }
            ScreenQuestionSubject::Rewind { change_sets, messages } => {
                if *change_sets > 0 && *messages > 0 {
                    rows.push(answer("b", "go back with both, files and conversation"));
                }
                if *change_sets > 0 {
                    rows.push(answer("f", "undo the changes of files only"));
                }
                if *messages > 0 {
                    rows.push(answer("c", "go back in the conversation only"));
                }
                rows.push(answer("n", "no, change nothing"));
            }
            ScreenQuestionSubject::Circle { .. } => {
                rows.push(answer("y", "yes, let it continue"));
                rows.push(answer("n", "no, and tell it what to do instead"));
                rows.push(answer("s", "stop"));
            }
        }
        rows.extend(waiting.iter().take(3).map(|other| paint(Ink::Faint, &format!("  then: {}", other.name()))));
        rows
    }

    fn title(&self, waiting: usize) -> String {
        let ink = match &self.asked.about {
            ScreenQuestionSubject::Call(request) if request.ruling.class == Class::Dangerous => Ink::Bad,
            _ => Ink::Warn,
        };
        let danger = if ink == Ink::Bad { "dangerous: " } else { "" };
        let count = if waiting > 0 { format!("  (1 of {} questions)", waiting + 1) } else { String::new() };
        format!("{}{}", paint(ink, &format!("? {danger}{}", self.name())), paint(Ink::Faint, &count))
    }

    fn name(&self) -> String {
        match &self.asked.about {
            ScreenQuestionSubject::Call(request) if request.is_running => {
                format!("{} wants to connect", label(request))
            }
            ScreenQuestionSubject::Call(request) => format!("{}: allow it?", label(request)),
            ScreenQuestionSubject::Circle { tool, .. } => {
                format!("Tool({tool}) repeats the same call: let it continue?")
            }
            ScreenQuestionSubject::User { question, .. } => match &question.header {
                Some(header) => format!("Your answer: {}", safe(header).replace('\n', " ")),
                None => "Your answer?".to_owned(),
            },
            ScreenQuestionSubject::Plan { .. } => "Do this?".to_owned(),
            ScreenQuestionSubject::Rewind { .. } => "Go back?".to_owned(),
        }
    }

    fn answers(&self, request: &ApprovalRequest, columns: usize) -> Vec<String> {
        let mut rows = vec![answer("y", "yes, this once")];
        for (number, offer) in (1..=9).zip(&request.offers) {
            let words = format!("yes, and don't ask again for {}", scope_words(offer));
            rows.extend(long_answer(&number.to_string(), &words, columns));
            if !offer.would_have_allowed.is_empty() {
                let examples = offer.would_have_allowed.join("; ");
                rows.push(paint(Ink::Faint, &format!("     would also have allowed: {examples}")));
            }
        }
        if let Some(always) = request.always() {
            rows.extend(long_answer("a", &format!("always: {always}"), columns));
        }
        if self.folded > 0 {
            rows.extend(long_answer("v", &format!("view the other {} lines first", self.folded), columns));
        }
        if !request.is_running {
            rows.extend(long_answer("e", "edit the call first, then run it yourself", columns));
        }
        rows.extend(long_answer("n", "no (then you may add a note for the model)", columns));
        rows.push(answer("s", "no, and stop"));
        rows
    }
}

/// Takes a key in the question what is to go back. Only offered answers count.
fn press_about_rewind(key: KeyPress, change_sets: usize, messages: usize) -> KeyPressEffect {
    let (has_changes, has_messages) = (change_sets > 0, messages > 0);
    let goes_back = |scope| KeyPressEffect::Answer(Reply::Rewind(scope));
    match key.code {
        KeyCode::Char('b' | 'B') if has_changes && has_messages => goes_back(RewindScope::Both),
        KeyCode::Char('f' | 'F') if has_changes => goes_back(RewindScope::Files),
        KeyCode::Char('c' | 'C') if has_messages && !key.held.ctrl => goes_back(RewindScope::Conversation),
        KeyCode::Char('n' | 'N') | KeyCode::Escape => {
            KeyPressEffect::Answer(Reply::Verdict(Verdict::Refuse { note: None }))
        }
        _ => KeyPressEffect::Kept,
    }
}

/// Names the tool; for a tool of a server its title does.
fn label(request: &ApprovalRequest) -> String {
    match request.title.starts_with("MCP(") {
        true => request.title.clone(),
        false => format!("Tool({})", request.tool),
    }
}

fn answer(key: &str, words: &str) -> String {
    format!("  {}  {}", paint(Ink::Name, key), paint(Ink::Plain, words))
}

/// Returns an answer whose words a person must be able to read to the end.
fn long_answer(key: &str, words: &str, columns: usize) -> Vec<String> {
    let rows = wrapped(&safe(words).replace('\n', "\\n"), columns.saturating_sub(6).max(10), 0);
    let later = rows.iter().skip(1).map(|row| format!("     {row}"));
    rows.iter().take(1).map(|row| answer(key, row)).chain(later).collect()
}

/// Returns the call as a line that can be typed.
fn line_of(request: &ApprovalRequest) -> String {
    let mut line = request.tool.clone();
    let fields = request.arguments.as_object().into_iter().flatten();
    let is_simple = fields.clone().all(|(_, value)| !value.is_object() && !value.is_array());
    if !is_simple {
        return format!("{line} {}", request.arguments);
    }
    for (key, value) in fields {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        line.push_str(&format!(" {key}={}", quoted(&text)));
    }
    line
}

#[cfg(test)]
mod tests;
