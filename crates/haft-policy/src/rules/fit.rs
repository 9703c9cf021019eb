//! How well something fits a rule.

/// How well something fits a rule. Ordered; several conditions fit as well as the worst of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fit {
    /// It does not.
    Not,
    /// It may, depending on something that is known only when it runs. A refusal becomes a question then.
    Perhaps,
    /// It does, by the reading that finds more: a letter in a bundle, a flag cut short, flags before a subcommand.
    Loosely,
    /// It does, in every reading. Only so does it fit a permission.
    Exactly,
}

impl Fit {
    /// Fits exactly or not at all.
    pub fn exactly_if(holds: bool) -> Self {
        if holds { Fit::Exactly } else { Fit::Not }
    }
}
