//! Keys in a question of the model: a digit or a letter answers it, other keys begin an answer in words.

use haft_contract::doors::user_questions::{AnswerForm, UserAnswer, UserQuestion};

use super::{KeyPressEffect, QuestionDialog};
use crate::terminal::input::editor::Editor;
use crate::terminal::input::keys::{KeyCode, KeyPress};
use crate::terminal::protocol::Reply;

/// What the first key in a question is.
pub(super) enum First {
    /// All of an answer, or nothing.
    Pressed(KeyPressEffect),
    /// The beginning of an answer in words.
    Types,
}

/// Takes the first key.
pub(super) fn press(question: &UserQuestion, key: KeyPress) -> First {
    let is_held = key.held.ctrl || key.held.alt;
    match (key.code, &question.form) {
        (KeyCode::Escape, _) => First::Pressed(KeyPressEffect::Answer(Reply::Dismissed)),
        (KeyCode::Char(c), AnswerForm::One(_) | AnswerForm::YesOrNo) if !is_held => {
            match question.read(c.encode_utf8(&mut [0; 4])) {
                Some(answer @ (UserAnswer::Chosen(_) | UserAnswer::Yes | UserAnswer::No)) => {
                    First::Pressed(KeyPressEffect::Answer(Reply::User(answer)))
                }
                _ => First::Types,
            }
        }
        (KeyCode::Char(_), _) if !is_held => First::Types,
        _ => First::Pressed(KeyPressEffect::Kept),
    }
}

/// Takes a key while an answer is typed.
pub(super) fn press_in_answer(typed: &mut Editor, question: &UserQuestion, key: KeyPress) -> KeyPressEffect {
    match key.code {
        KeyCode::Enter => {
            let text = typed.take();
            match question.read(&text) {
                Some(answer) => KeyPressEffect::Answer(Reply::User(answer)),
                None if text.trim().is_empty() => KeyPressEffect::Answer(Reply::User(UserAnswer::Skipped)),
                None => {
                    // What is no answer stays to be corrected.
                    typed.set(&text);
                    KeyPressEffect::Kept
                }
            }
        }
        KeyCode::Escape => KeyPressEffect::Answer(Reply::Dismissed),
        KeyCode::Char('c') if key.held.ctrl => KeyPressEffect::Answer(Reply::Dismissed),
        _ => QuestionDialog::press_in_note(typed, key).unwrap_or(KeyPressEffect::Kept),
    }
}
