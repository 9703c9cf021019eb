//! Questions of a model, or of a server that a call works with, to the user: about the task, not about permission.
//!
//! They decide nothing for haft. An answer is text for the asker, and a user who gives none is no error.
//!
//! Not here: questions about permission (`haft-runtime`), how a question is shown (`haft-cli`, `haft-mcp`).

use std::fmt;

use crate::BoxFuture;
use crate::text::visible::visible;

/// Most options of a question.
pub const MOST_OPTIONS: usize = 4;

/// Who asks the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Asker {
    /// The model.
    #[default]
    Model,
    /// A server of tools, by its name: a program of others.
    Server(String),
}

impl fmt::Display for Asker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Asker::Model => f.write_str("The model"),
            Asker::Server(name) => write!(f, "The MCP server \"{}\"", visible(name)),
        }
    }
}

/// One question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserQuestion {
    /// Who asks.
    pub asker: Asker,
    /// The question.
    pub text: String,
    /// A word or two that stand above it.
    pub header: Option<String>,
    /// How it can be answered.
    pub form: AnswerForm,
}

/// How a question can be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerForm {
    /// With one of these options.
    One(Vec<AnswerOption>),
    /// With some of these options.
    Several(Vec<AnswerOption>),
    /// In words; an example of such words may stand in the empty field.
    Words(Option<String>),
    /// With yes or no.
    YesOrNo,
}

/// An answer that is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerOption {
    /// Its name.
    pub label: String,
    /// What it means.
    pub description: String,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserAnswer {
    /// These options.
    Chosen(Vec<String>),
    /// These words.
    Words(String),
    /// Yes.
    Yes,
    /// No.
    No,
    /// None: the user left the question out.
    Skipped,
}

/// What came of some questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserReply {
    /// An answer to each, in their order.
    Answered(Vec<UserAnswer>),
    /// The user saw them and answers none.
    Dismissed,
    /// The user cannot be asked; says why.
    Nobody(String),
}

/// Takes questions to the user.
pub trait UserDesk: Send + Sync {
    /// Asks, and waits for the answers.
    fn ask<'a>(&'a self, questions: &'a [UserQuestion]) -> BoxFuture<'a, UserReply>;
}

/// Where no user is.
#[derive(Clone, Copy, Debug)]
pub struct NoUser;

impl UserDesk for NoUser {
    fn ask<'a>(&'a self, _questions: &'a [UserQuestion]) -> BoxFuture<'a, UserReply> {
        Box::pin(async { UserReply::Nobody("no user is behind this call".to_owned()) })
    }
}

impl UserQuestion {
    /// Returns the options that are offered.
    pub fn options(&self) -> &[AnswerOption] {
        match &self.form {
            AnswerForm::One(options) | AnswerForm::Several(options) => options,
            AnswerForm::Words(_) | AnswerForm::YesOrNo => &[],
        }
    }

    /// Says how the question is answered by typing.
    pub fn how_to_answer(&self) -> &'static str {
        match self.form {
            AnswerForm::One(_) => "Type a number, or an answer of your own.",
            AnswerForm::Several(_) => "Type numbers such as 1, 3, or an answer of your own.",
            AnswerForm::Words(_) => "Type your answer.",
            AnswerForm::YesOrNo => "Type y or n.",
        }
    }

    /// Reads an answer that was typed; nothing if it is none.
    pub fn read(&self, typed: &str) -> Option<UserAnswer> {
        let typed = typed.trim();
        if typed.is_empty() {
            return None;
        }
        match &self.form {
            AnswerForm::Words(_) => Some(UserAnswer::Words(typed.to_owned())),
            AnswerForm::YesOrNo => match typed.to_ascii_lowercase().as_str() {
                "y" | "yes" => Some(UserAnswer::Yes),
                "n" | "no" => Some(UserAnswer::No),
                _ => None,
            },
            AnswerForm::One(options) => chosen(typed, options, 1),
            AnswerForm::Several(options) => chosen(typed, options, MOST_OPTIONS),
        }
    }
}

/// Reads numbers or labels of options; any other text is an answer of the user's own.
fn chosen(typed: &str, options: &[AnswerOption], most: usize) -> Option<UserAnswer> {
    let label = |option: &AnswerOption| option.label.clone();
    if let Some(option) = options.iter().find(|option| option.label.eq_ignore_ascii_case(typed)) {
        return Some(UserAnswer::Chosen(vec![label(option)]));
    }
    let parts: Vec<&str> = typed.split([',', ' ']).filter(|part| !part.is_empty()).collect();
    if !parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit())) {
        return Some(UserAnswer::Words(typed.to_owned()));
    }
    let mut labels: Vec<String> = Vec::new();
    for part in parts {
        let option = options.get(part.parse::<usize>().ok()?.checked_sub(1)?)?;
        if !labels.contains(&option.label) {
            labels.push(label(option));
        }
    }
    (1..=most).contains(&labels.len()).then_some(UserAnswer::Chosen(labels))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(form: impl Fn(Vec<AnswerOption>) -> AnswerForm) -> UserQuestion {
        let option = |label: &str| AnswerOption { label: label.to_owned(), description: String::new() };
        let form = form(["Small", "Large", "None at all"].map(option).to_vec());
        UserQuestion { asker: Asker::Model, text: "Which?".to_owned(), header: None, form }
    }

    fn picked(labels: &[&str]) -> Option<UserAnswer> {
        Some(UserAnswer::Chosen(labels.iter().map(|label| (*label).to_owned()).collect()))
    }

    #[test]
    fn numbers_and_labels_choose_and_other_words_are_the_user_s_own() {
        let one = question(AnswerForm::One);
        assert_eq!(one.read(" 2 "), picked(&["Large"]));
        assert_eq!(one.read("none AT all"), picked(&["None at all"]));
        assert_eq!(one.read("a bit of both"), Some(UserAnswer::Words("a bit of both".to_owned())));
        assert_eq!([one.read("4"), one.read("0"), one.read("1, 2"), one.read("  ")], [None, None, None, None]);
        assert_eq!(question(AnswerForm::Several).read("3,1 3"), picked(&["None at all", "Small"]));
    }

    #[test]
    fn only_yes_and_no_answer_such_a_question() {
        let question = question(|_| AnswerForm::YesOrNo);
        assert_eq!((question.read("Y"), question.read("no")), (Some(UserAnswer::Yes), Some(UserAnswer::No)));
        assert_eq!(question.read("perhaps"), None);
    }
}
