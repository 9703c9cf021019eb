//! Limits how far haft follows one command: its depth, the work, and the words that it hands on.
//!
//! Not here: how haft reports a command beyond these limits (`Interpreter::has_time` and its kin).

/// How deep commands may be nested in each other.
const DEEPEST: usize = 32;
/// How deep searches among unknown words may be nested: `foo sh -c 'bar rm x'`.
const DEEPEST_NETS: usize = 2;
/// How much work is done for one command.
const MOST_WORK: usize = 320_000;
/// How many words commands may hand on to those that they run.
const MOST_HANDED_ON: usize = 100_000;

/// What one command has cost so far.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    depth: usize,
    work: usize,
    handed_on: usize,
    nets: usize,
}

impl Budget {
    /// Spends work, and returns whether it may be done.
    pub(crate) fn spend(&mut self, work: usize) -> bool {
        self.work += work;
        self.work <= MOST_WORK
    }

    /// Counts words that a command hands on, and returns whether they may be looked at.
    pub(crate) fn hand_on(&mut self, words: usize) -> bool {
        self.handed_on += words;
        self.handed_on <= MOST_HANDED_ON
    }

    /// Enters a nested text, function or substitution; returns whether it may.
    pub(crate) fn enter(&mut self) -> bool {
        let may_enter = self.depth < DEEPEST;
        self.depth += usize::from(may_enter);
        may_enter
    }

    /// Leaves what was entered.
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Returns whether the command itself is followed, and nothing nested in it.
    pub(crate) fn is_outermost(&self) -> bool {
        self.depth == 0
    }

    /// Begins a search among unknown words; returns whether there may be one more.
    pub(crate) fn enter_net(&mut self) -> bool {
        let may_enter = self.nets < DEEPEST_NETS;
        self.nets += usize::from(may_enter);
        may_enter
    }

    /// Ends the search.
    pub(crate) fn leave_net(&mut self) {
        self.nets -= 1;
    }

    /// Allows no further search until the returned count is put back.
    pub(crate) fn without_nets(&mut self) -> usize {
        std::mem::replace(&mut self.nets, DEEPEST_NETS)
    }

    /// Puts back what `without_nets` has returned.
    pub(crate) fn put_back_nets(&mut self, nets: usize) {
        self.nets = nets;
    }

    /// Returns whether no further search among unknown words is allowed.
    pub(crate) fn has_no_nets(&self) -> bool {
        self.nets >= DEEPEST_NETS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_too_deep_is_not_entered_and_what_is_left_can_be_entered_again() {
        let mut budget = Budget::default();

        assert!(budget.is_outermost() && (0..DEEPEST).all(|_| budget.enter()));
        assert!(!budget.enter());
        budget.leave();
        assert!(budget.enter() && !budget.is_outermost());
    }

    #[test]
    fn work_and_words_come_to_an_end() {
        let mut budget = Budget::default();

        assert!(budget.spend(MOST_WORK) && !budget.spend(1));
        assert!(budget.hand_on(MOST_HANDED_ON) && !budget.hand_on(1));
    }

    #[test]
    fn searches_among_unknown_words_are_nested_twice_at_most() {
        let mut budget = Budget::default();

        assert!(budget.enter_net() && budget.enter_net() && !budget.enter_net());
        budget.leave_net();
        let nets = budget.without_nets();
        assert!(budget.has_no_nets());
        budget.put_back_nets(nets);
        assert!(!budget.has_no_nets());
    }
}
