//! Options of a shell that change what commands do.

/// What `set`, `shopt` and `exec` change in how a shell works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShellOptions {
    /// Whether programs get all variables that are set from now on (`set -a`).
    pub(crate) exports_all: bool,
    /// Whether it certainly ends where a command fails (`set -e`).
    pub(crate) stops_on_failure: bool,
    /// Whether `cd` may go up from where a link leads (`set -P`).
    pub(crate) is_physical: bool,
    /// Whether errors may go where the output goes (`exec 2>&1`).
    pub(crate) merges_errors: bool,
    /// Whether it prints what it runs, with the values in it (`set -x`).
    pub(crate) traces: bool,
    /// Whether patterns find hidden names too.
    pub(crate) finds_hidden: bool,
    /// Whether patterns may find what lies in folders below (`globstar`).
    pub(crate) finds_deep: bool,
}

impl ShellOptions {
    /// Returns the options of a shell that this one starts.
    pub(crate) fn of_child(&self) -> Self {
        Self { traces: self.traces, finds_hidden: self.finds_hidden, finds_deep: self.finds_deep, ..Self::default() }
    }

    /// Takes what other options may change as well.
    pub(crate) fn join(&mut self, other: &Self) {
        self.exports_all |= other.exports_all;
        self.stops_on_failure &= other.stops_on_failure;
        self.is_physical |= other.is_physical;
        self.merges_errors |= other.merges_errors;
        self.traces |= other.traces;
        self.finds_hidden |= other.finds_hidden;
        self.finds_deep |= other.finds_deep;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_states_the_options_that_make_commands_do_more_hold_and_those_that_end_them_in_both_alone() {
        let on = ShellOptions { exports_all: true, traces: true, stops_on_failure: true, ..ShellOptions::default() };
        let mut joined = ShellOptions { stops_on_failure: false, finds_deep: true, ..ShellOptions::default() };
        joined.join(&on);

        let wanted = ShellOptions { exports_all: true, traces: true, finds_deep: true, ..ShellOptions::default() };
        assert_eq!(joined, wanted);
        assert_eq!(joined.of_child(), ShellOptions { exports_all: false, ..wanted });
    }
}
