//! Asks before three things come together in one session: private data, text of strangers, and a way out.
//!
//! Each alone is everyday work. Together, a page that the model reads can make it send private data to a stranger. The
//! rules judge one call at a time and cannot see that. So haft asks about the call that adds the last of the three, in any
//! order, and about each later call that sends something to a host that was not granted.
//!
//! Not here: which of them a session has, and which a call would add (`haft-runtime`).

use std::fmt;

use crate::decision::{Class, Decision, Ruling};

/// The name of the rule.
pub const RULE: &str = "private data, text from outside, and a way out";

/// What a call adds to a session, so that all three are together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastTaint {
    /// It reads private data.
    Private,
    /// It takes in text from outside.
    Untrusted,
    /// It sends something to a host that was not granted.
    Send,
}

impl fmt::Display for LastTaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LastTaint::Private => {
                "The session has read text from outside and has contacted a host that was not granted. This call would read \
                 private data, which that text could make the model send away."
            }
            LastTaint::Untrusted => {
                "The session has read private data and has contacted a host that was not granted. This call would read text \
                 from outside, which could make the model send that data away."
            }
            LastTaint::Send => {
                "The session has read private data and text from outside, or would with this call. The call would contact a \
                 host that was not granted, and so could send that data away."
            }
        })
    }
}

/// Asks about a call that brings the three together, whatever else it is asked about.
pub fn asked_too(judged: Ruling, last: Option<LastTaint>) -> Ruling {
    let Some(last) = last else { return judged };
    let reason = match (judged.decision, judged.class) {
        (Decision::Deny, _) => return judged,
        (Decision::Ask, Class::Dangerous) => {
            return Ruling { reason: format!("{} Also: {last}", judged.reason), ..judged };
        }
        (Decision::Ask, Class::Ordinary) => format!("{last} Also: {}", judged.reason),
        (Decision::Allow, _) => last.to_string(),
    };
    Ruling {
        decision: Decision::Ask,
        class: Class::Dangerous,
        rule: RULE.to_owned(),
        reason,
        instead: "do it in a new session, or ask the user".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ruling(decision: Decision, class: Class) -> Ruling {
        let words = || "x".to_owned();
        Ruling { decision, class, rule: words(), reason: words(), instead: words() }
    }

    #[test]
    fn a_call_that_brings_the_three_together_is_a_dangerous_question_unless_it_is_denied() {
        for (decision, class) in [(Decision::Allow, Class::Ordinary), (Decision::Ask, Class::Ordinary)] {
            let asked = asked_too(ruling(decision, class), Some(LastTaint::Send));
            assert_eq!((asked.decision, asked.class, asked.rule.as_str()), (Decision::Ask, Class::Dangerous, RULE));
        }
        let denied = ruling(Decision::Deny, Class::Ordinary);
        assert_eq!(asked_too(denied.clone(), Some(LastTaint::Send)), denied);
        let dangerous = asked_too(ruling(Decision::Ask, Class::Dangerous), Some(LastTaint::Private));
        assert!(dangerous.rule == "x" && dangerous.reason.contains(" Also: The session has read text from outside"));
        assert_eq!(asked_too(denied.clone(), None), denied);
    }
}
