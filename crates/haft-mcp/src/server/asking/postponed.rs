//! Keeps questions from a running call, for a client that can ask a person only before a call runs.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use haft_runtime::asking::approval::{ApprovalRequest, Verdict};

use super::seal::Digest;

/// Most questions that are kept.
const MOST: usize = 64;

/// The postponed questions, one for each call, the oldest first.
#[derive(Default)]
pub(super) struct PostponedQuestions {
    questions: Mutex<VecDeque<PostponedQuestion>>,
}

struct PostponedQuestion {
    call: Digest,
    plan: Digest,
    request: ApprovalRequest,
    /// What was said, until the call has come to the same point again.
    verdict: Option<Verdict>,
}

impl PostponedQuestions {
    /// Keeps the question of a call instead of an earlier one.
    pub(super) fn add(&self, call: &Digest, (plan, request): (Digest, ApprovalRequest)) {
        let mut questions = self.questions();
        questions.retain(|question| question.call != *call);
        questions.push_back(PostponedQuestion { call: call.clone(), plan, request, verdict: None });
        if questions.len() > MOST {
            questions.pop_front();
        }
    }

    /// Returns the question of a call that has no answer.
    pub(super) fn open(&self, call: &Digest) -> Option<(Digest, ApprovalRequest)> {
        let questions = self.questions();
        let open = questions.iter().find(|question| question.call == *call && question.verdict.is_none())?;
        Some((open.plan.clone(), open.request.clone()))
    }

    /// Keeps the answer to the question of a call.
    pub(super) fn answer(&self, call: &Digest, verdict: Verdict) {
        if let Some(question) = self.questions().iter_mut().find(|question| question.call == *call) {
            question.verdict = Some(verdict);
        }
    }

    /// Returns the answer to exactly this question of a call, once.
    pub(super) fn take(&self, call: &Digest, plan: &Digest) -> Option<Verdict> {
        let mut questions = self.questions();
        let place = questions.iter().position(|question| question.call == *call)?;
        let question = questions.remove(place)?;
        question.verdict.filter(|_| question.plan == *plan)
    }

    fn questions(&self) -> MutexGuard<'_, VecDeque<PostponedQuestion>> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
