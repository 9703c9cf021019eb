//! Keeps the interpreters of sessions between snippets. They end with the place in which they run.

use std::sync::{Mutex, MutexGuard, PoisonError};

use haft_contract::doors::door::SessionName;
use haft_contract::doors::process::Worker;

use super::language::SnippetLanguage;

/// Most interpreters that wait for their next snippet. Of more, the one that waited longest is ended.
const MOST_KERNELS: usize = 6;

/// An interpreter.
pub(super) struct Kernel {
    pub(super) worker: Box<dyn Worker>,
    /// How many snippets it has run.
    pub(super) snippets: u64,
}

/// All interpreters that wait, the one that was used last at the end.
#[derive(Default)]
pub(super) struct Kernels(Mutex<Vec<IdleKernel>>);

struct IdleKernel {
    session: SessionName,
    language: SnippetLanguage,
    kernel: Kernel,
}

impl Kernels {
    /// Takes the interpreter of a session.
    pub(super) fn take(&self, session: &SessionName, language: SnippetLanguage) -> Option<Kernel> {
        let mut waiting = self.waiting();
        let at = waiting.iter().position(|one| one.session == *session && one.language == language)?;
        Some(waiting.remove(at).kernel)
    }

    /// Lets an interpreter wait for the next snippet of its session.
    pub(super) fn keep(&self, kernel: Kernel, (session, language): (&SessionName, SnippetLanguage)) {
        let mut waiting = self.waiting();
        waiting.push(IdleKernel { session: session.clone(), language, kernel });
        if waiting.len() > MOST_KERNELS {
            // Dropping a worker ends it.
            waiting.remove(0);
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<IdleKernel>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
