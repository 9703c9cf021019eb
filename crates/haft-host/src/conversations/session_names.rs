//! Finds a session by the name that a person gave it, or as the one used last.

use anyhow::bail;
use haft_workspace::state::sessions::{SessionId, Sessions};

/// Longest name, in characters.
const LONGEST: usize = 60;

/// Returns the session of a workspace that was used last.
///
/// # Errors
///
/// Fails when there is none.
pub fn newest_session(sessions: &Sessions) -> anyhow::Result<SessionId> {
    match sessions.list()?.into_iter().next() {
        Some(session) => Ok(session.id),
        None => bail!("there is no session in this workspace yet; start one: haft run \"make the tests pass\""),
    }
}

/// Returns the name that words give a session: one word, so that it can be typed where an ID can.
///
/// # Errors
///
/// Fails when nothing is left, the name is too long, or it would be taken for an ID.
pub fn session_name(words: &str) -> anyhow::Result<String> {
    let is_kept = |c: char| !c.is_control() && !haft_contract::text::visible::is_deceptive(c);
    let words: String = words.chars().filter(|c| c.is_whitespace() || is_kept(*c)).collect();
    let name = words.split_whitespace().collect::<Vec<_>>().join("-");
    if name.is_empty() || name.starts_with('-') {
        bail!("a session needs a name that begins with a letter or a digit, such as fix-login");
    }
    if name.chars().count() > LONGEST {
        bail!("the name is longer than {LONGEST} characters; choose a shorter one");
    }
    if name.parse::<SessionId>().is_ok() {
        bail!("\"{name}\" looks like the ID of a session; choose another name");
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word_that_no_id_is() {
        assert_eq!(session_name("  fix the\u{1b} login ").expect("it is one"), "fix-the-login");
        for wrong in ["", "  ", "--json", "k3f9-q2bx", &"x".repeat(61)] {
            assert!(session_name(wrong).is_err(), "{wrong}");
        }
    }
}
