//! A decision, with the rule that made it and the reason.

/// Whether a call may run. Ordered: the strictest opinion wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// It may.
    Allow,
    /// A person is asked.
    Ask,
    /// It may not.
    Deny,
}

/// How much is at stake when a person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Everyday work: `--yes` answers it, and a grant may cover it.
    Ordinary,
    /// Always a person's own word, each time.
    Dangerous,
}

/// A decision with the rule that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// What was decided.
    pub decision: Decision,
    /// How much is at stake.
    pub class: Class,
    /// The rule that decided.
    pub rule: String,
    /// Why, in a sentence for people and models.
    pub reason: String,
    /// What to do instead, for refusals.
    pub instead: String,
}

impl Decision {
    /// Returns the word for it in rules and records.
    pub fn code(self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Ask => "ask",
            Decision::Deny => "deny",
        }
    }
}

impl Ruling {
    /// Returns whether a person is asked, and `--yes` or a grant may answer.
    pub fn is_ordinary_question(&self) -> bool {
        self.decision == Decision::Ask && self.class == Class::Ordinary
    }

    /// Returns what holds of a question that a grant answers.
    pub(crate) fn granted(self) -> Ruling {
        Ruling { decision: Decision::Allow, ..self }
    }

    /// Returns the stricter of the two; the first one when they are equal.
    pub fn stricter(self, other: Ruling) -> Ruling {
        if (other.decision, other.class) > (self.decision, self.class) { other } else { self }
    }
}
