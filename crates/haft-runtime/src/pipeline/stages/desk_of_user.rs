//! Brings the questions of a running tool to the user: one questionnaire of a session at a time.

use std::sync::atomic::{AtomicBool, Ordering};

use haft_contract::BoxFuture;
use haft_contract::doors::user_questions::{AnswerForm, AnswerOption, UserDesk, UserQuestion, UserReply};

use crate::asking::approval::Questionnaire;
use crate::pipeline::call_context::CallContext;

/// The way from one call to the user.
pub(super) struct DeskOfUser<'a> {
    cx: &'a CallContext<'a>,
    is_waiting: AtomicBool,
}

impl<'a> DeskOfUser<'a> {
    pub(super) fn of(cx: &'a CallContext<'a>) -> Self {
        Self { cx, is_waiting: AtomicBool::new(false) }
    }

    /// Returns whether a question of the call is open.
    pub(super) fn is_waiting(&self) -> bool {
        self.is_waiting.load(Ordering::Relaxed)
    }

    /// Hides secrets in a question.
    fn shown(&self, question: &UserQuestion) -> UserQuestion {
        let hidden = |text: &String| self.cx.redactor.redact(text).into_owned();
        let options = |options: &[AnswerOption]| {
            let option = |option: &AnswerOption| AnswerOption {
                label: hidden(&option.label),
                description: hidden(&option.description),
            };
            options.iter().map(option).collect()
        };
        let form = match &question.form {
            AnswerForm::One(offered) => AnswerForm::One(options(offered)),
            AnswerForm::Several(offered) => AnswerForm::Several(options(offered)),
            AnswerForm::Words(example) => AnswerForm::Words(example.as_ref().map(hidden)),
            AnswerForm::YesOrNo => AnswerForm::YesOrNo,
        };
        UserQuestion {
            asker: question.asker.clone(),
            text: hidden(&question.text),
            header: question.header.as_ref().map(hidden),
            form,
        }
    }
}

impl UserDesk for DeskOfUser<'_> {
    fn ask<'a>(&'a self, questions: &'a [UserQuestion]) -> BoxFuture<'a, UserReply> {
        Box::pin(async move {
            self.is_waiting.store(true, Ordering::Relaxed);
            let _one_at_a_time = self.cx.session.asking.lock().await;
            let questions = questions.iter().map(|question| self.shown(question)).collect();
            let questionnaire = Questionnaire { call: self.cx.id.clone(), questions };
            let reply = self.cx.session.approver.ask_user(&questionnaire).await;
            self.is_waiting.store(false, Ordering::Relaxed);
            reply
        })
    }
}
