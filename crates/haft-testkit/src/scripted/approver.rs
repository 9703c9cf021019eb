//! Approvers that follow a script.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use haft_contract::BoxFuture;
use haft_contract::doors::user_questions::{AnswerForm, UserAnswer, UserQuestion, UserReply};
use haft_runtime::asking::approval::{ApprovalRequest, Approver, Nobody, Questionnaire, Verdict};

/// Leaves every question unanswered, because no person is there.
pub fn nobody() -> Nobody {
    Nobody::there("allow it in the test")
}

/// Answers questions in the order of a script, then not at all, and records the requests for approval.
#[derive(Clone, Default)]
pub struct ScriptedApprover {
    answers: Arc<Mutex<VecDeque<Verdict>>>,
    asked: Arc<Mutex<Vec<ApprovalRequest>>>,
}

impl ScriptedApprover {
    /// Will give these answers.
    pub fn of(answers: impl IntoIterator<Item = Verdict>) -> Self {
        Self { answers: Arc::new(Mutex::new(answers.into_iter().collect())), asked: Arc::default() }
    }

    /// Returns the questions so far.
    pub fn asked(&self) -> Vec<ApprovalRequest> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Approver for ScriptedApprover {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        let answer = self.answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        Box::pin(async move { answer.unwrap_or(Verdict::NoAnswer { how: "add an answer to the script".into() }) })
    }

    /// Takes the first option of every question, and says yes to the others.
    fn ask_user<'a>(&'a self, questionnaire: &'a Questionnaire) -> BoxFuture<'a, UserReply> {
        let answer = |question: &UserQuestion| match (&question.form, question.options()) {
            (AnswerForm::YesOrNo, _) => UserAnswer::Yes,
            (_, [first, ..]) => UserAnswer::Chosen(vec![first.label.clone()]),
            (_, []) => UserAnswer::Words("yes".to_owned()),
        };
        let answers = questionnaire.questions.iter().map(answer).collect();
        Box::pin(async move { UserReply::Answered(answers) })
    }
}
