//! Keys in a question of the model: a digit or a letter answers it, other keys begin an answer in words.

use haft_contract::user_questions::{AnswerForm, UserAnswer, UserQuestion};

use super::{Pressed, Question};
use crate::terminal::editor::Editor;
use crate::terminal::keys::{Code, Key};
use crate::terminal::protocol::Reply;

/// What the first key in a question is.
pub(super) enum First {
    /// All of an answer, or nothing.
    Pressed(Pressed),
    /// The beginning of an answer in words.
    Types,
}

/// Takes the first key.
pub(super) fn press(question: &UserQuestion, key: Key) -> First {
    let is_held = key.held.ctrl || key.held.alt;
    match (key.code, &question.form) {
        (Code::Escape, _) => First::Pressed(Pressed::Answer(Reply::Dismissed)),
        (Code::Char(c), AnswerForm::One(_) | AnswerForm::YesOrNo) if !is_held => {
            match question.read(c.encode_utf8(&mut [0; 4])) {
                Some(answer @ (UserAnswer::Chosen(_) | UserAnswer::Yes | UserAnswer::No)) => {
                    First::Pressed(Pressed::Answer(Reply::User(answer)))
                }
                _ => First::Types,
            }
        }
        (Code::Char(_), _) if !is_held => First::Types,
        _ => First::Pressed(Pressed::Kept),
    }
}

/// Takes a key while an answer is typed.
pub(super) fn press_in_answer(typed: &mut Editor, question: &UserQuestion, key: Key) -> Pressed {
    match key.code {
        Code::Enter => {
            let text = typed.take();
            match question.read(&text) {
                Some(answer) => Pressed::Answer(Reply::User(answer)),
                None if text.trim().is_empty() => Pressed::Answer(Reply::User(UserAnswer::Skipped)),
                None => {
                    // What is no answer stays to be corrected.
                    typed.set(&text);
                    Pressed::Kept
                }
            }
        }
        Code::Escape => Pressed::Answer(Reply::Dismissed),
        Code::Char('c') if key.held.ctrl => Pressed::Answer(Reply::Dismissed),
        _ => Question::press_in_note(typed, key).unwrap_or(Pressed::Kept),
    }
}
