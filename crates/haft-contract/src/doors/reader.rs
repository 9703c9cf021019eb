//! The reader of haft's messages: a model, or the person whom a model calls "the user".
//!
//! haft writes errors and notes for models, because models make most calls: "ask the user to add that folder". A person
//! who makes a call is that user, and reads "add that folder". One table turns the first form into the second, so no
//! message needs two texts.
//!
//! Not here: words for the person beside a model's (`ToolError::with_detail`).

use std::borrow::Cow;

use crate::call::CallOrigin;

/// The reader of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// A model, which can ask the user.
    Model,
    /// The user.
    Person,
}

/// What models read, and what the user reads instead. The first that fits is taken, so longer ones stand first.
const FOR_PERSONS: [(&str, &str); 47] = [
    ("describe the change instead, and let the user leave plan mode", "call it without --plan"),
    ("describe what you would run, and let the user leave that mode", "leave that mode"),
    ("; else tell the user that", "; it may be that"),
    ("leave it out, and tell the user that", "leave it out;"),
    ("; if it fails again, tell the user", ""),
    (", then tell the user", ""),
    ("; else tell the user", ""),
    (", or tell the user that", ", or know that"),
    (", or tell the user", ""),
    ("tell the user that ", ""),
    ("tell the user: ", ""),
    ("tell the user; ", ""),
    ("tell the user which ", "report which "),
    ("tell the user what ", "say what "),
    ("tell the user", "report it"),
    ("wait for the user", "call it again"),
    ("do not repeat it; ask the user how to go on", "call it in another way"),
    ("ask the user, who can answer at a terminal", "answer at a terminal"),
    ("ask the user, whose rule it is", "change the rule"),
    ("choose a way that the rule permits, or ask the user", "choose a way that the rule permits, or change the rule"),
    ("do what the hook says, or ask the user", "do what the hook says, or change the hook"),
    ("do it in a way that the hook allows, or ask the user", "do it in a way that the hook allows"),
    ("ask the user for the one thing you need", "do it by hand"),
    ("ask the user for ", "choose "),
    ("ask the user whether ", "check whether "),
    ("ask the user to allow it", "say yes to it"),
    ("ask the user to ", ""),
    ("ask the user, or ", ""),
    ("or ask the user: ", "or undo it by its number: "),
    ("ask the user", "do it yourself"),
    ("let the user ", ""),
    ("after the user agreed", "when it is what you want"),
    ("so that the user is asked", "so that you are asked"),
    ("the user is asked", "you are asked"),
    // The person who said it knows who is meant.
    ("The user said no", "The user said no"),
    ("the user stopped", "you stopped"),
    ("the user allows", "you allow"),
    ("the user starts haft", "start haft"),
    ("the user lets commands", "let commands"),
    ("the user sets", "set"),
    ("the user installs", "you install"),
    ("the user wants", "you want"),
    ("the user says", "you say"),
    ("leave haft's rules and state to the user", "change haft's rules and state by hand"),
    ("the user's", "your"),
    ("The user ", "You "),
    ("the user", "you"),
];

/// What joins a second request to the first: "ask the user to look at it, or to remove it".
const ALSO: [&str; 4] = [", or to ", " or to ", " and to ", ", and then to "];

impl Audience {
    /// Returns who reads the result of a call.
    pub fn of(origin: CallOrigin) -> Audience {
        match origin {
            CallOrigin::Model => Audience::Model,
            CallOrigin::Person | CallOrigin::Script => Audience::Person,
        }
    }

    /// Returns words for a model as this reader needs them.
    pub fn reads(self, words: &str) -> Cow<'_, str> {
        if self == Audience::Model || !words.to_lowercase().contains("the user") {
            return Cow::Borrowed(words);
        }
        let mut said = String::with_capacity(words.len());
        let mut rest = words;
        let mut asks = false;
        while let Some(c) = rest.chars().next() {
            match FOR_PERSONS.iter().find(|(model, _)| begins_with_words(rest, model)) {
                Some((model, person)) => {
                    said.push_str(person);
                    rest = &rest[model.len()..];
                    asks |= model.ends_with("ask the user to ");
                }
                None => match ALSO.iter().find(|also| asks && rest.starts_with(**also)) {
                    Some(also) => {
                        said.push_str(also.trim_end_matches("to "));
                        rest = &rest[also.len()..];
                    }
                    None => {
                        said.push(c);
                        rest = &rest[c.len_utf8()..];
                    }
                },
            }
        }
        Cow::Owned(said)
    }
}

/// Returns whether a text begins with these words, whole: "the user" does not begin "the username", and "ask the user" is not
/// all of "ask the user to add it".
fn begins_with_words(text: &str, words: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let has_object = words.ends_with("k the user") || words.ends_with("l the user");
    let is_whole = |behind: &str| !(behind.starts_with(goes_on) || has_object && behind.starts_with(' '));
    text.strip_prefix(words).is_some_and(|behind| words.ends_with(' ') || is_whole(behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(words: &str) -> String {
        Audience::Person.reads(words).into_owned()
    }

    #[test]
    fn a_person_is_not_told_to_ask_the_user() {
        for (model, shown) in [
            ("ask the user to add that folder, or to copy the file in", "add that folder, or copy the file in"),
            (
                "work inside the workspace, or ask the user to do it by hand",
                "work inside the workspace, or do it by hand",
            ),
            ("do without it, or ask the user, who can answer at a terminal", "do without it, or answer at a terminal"),
            ("tell the user that this tool has a defect", "this tool has a defect"),
            ("try again once, then tell the user", "try again once"),
            ("retry; if it fails again, ask the user to run it", "retry; if it fails again, run it"),
            ("wait for the user", "call it again"),
            ("The user said no: not now", "The user said no: not now"),
            ("call it again: haft now knows this and asks the user", "call it again: haft now knows this and asks you"),
            ("the username and the user-agent stay", "the username and the user-agent stay"),
            ("name the files", "name the files"),
        ] {
            assert_eq!(person(model), shown);
            assert_eq!(Audience::Model.reads(model), model);
        }
    }
}
