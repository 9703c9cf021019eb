//! Limits how often a server may ask the user's model in a session: the user's file sets the limit, else it is zero.

use std::sync::atomic::{AtomicU32, Ordering};

/// A budget of questions to the user's model.
#[derive(Debug)]
pub(crate) struct SamplingBudget {
    most: u32,
    used: AtomicU32,
}

impl SamplingBudget {
    /// Allows so many questions.
    pub(crate) fn of(most: u32) -> Self {
        Self { most, used: AtomicU32::new(0) }
    }

    /// Uses one up; the error says why there is none.
    pub(crate) fn take(&self) -> Result<(), String> {
        let more = |used: u32| (used < self.most).then_some(used + 1);
        match self.used.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more) {
            Ok(_) => Ok(()),
            Err(_) if self.most == 0 => Err("the entry of the server does not allow it (sampling = …)".to_owned()),
            Err(_) => Err(format!("it has used up its {} questions of this session", self.most)),
        }
    }

    /// Returns how many were used, of how many.
    pub(crate) fn used(&self) -> String {
        format!("{} of {}", self.used.load(Ordering::SeqCst), self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_asks_in_a_circle_ends_at_its_budget() {
        let budget = SamplingBudget::of(2);
        assert_eq!([budget.take().is_ok(), budget.take().is_ok(), budget.take().is_ok()], [true, true, false]);
        assert_eq!(budget.used(), "2 of 2");
        assert!(SamplingBudget::of(0).take().is_err_and(|why| why.contains("sampling")));
    }
}
