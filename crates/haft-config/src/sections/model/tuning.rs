//! How haft uses a model: how much it thinks, the size of its window, the length of a reply.
//!
//! The bounds refuse only values that must be mistakes: a window too small for the first request, or a reply that fills
//! the whole window.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// The smallest window: the first request alone takes about 3,000 tokens.
const LEAST_WINDOW: u64 = 4_096;
/// The largest window that is not a mistake.
const MOST_WINDOW: u64 = 100_000_000;
/// The longest reply that is not a mistake.
const MOST_REPLY: u32 = 10_000_000;

/// How much a model shall think, as people name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffortName {
    /// Little.
    Low,
    /// Something between.
    Medium,
    /// Much.
    High,
}

impl EffortName {
    /// All of them.
    pub const ALL: [EffortName; 3] = [EffortName::Low, EffortName::Medium, EffortName::High];
}

impl fmt::Display for EffortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EffortName::Low => "low",
            EffortName::Medium => "medium",
            EffortName::High => "high",
        })
    }
}

impl FromStr for EffortName {
    type Err = UnknownEffort;

    fn from_str(name: &str) -> Result<Self, UnknownEffort> {
        let found = EffortName::ALL.into_iter().find(|effort| effort.to_string() == name);
        found.ok_or_else(|| UnknownEffort(name.to_owned()))
    }
}

/// A word for an effort that there is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no effort {0:?}; use low, medium or high, or leave it out")]
pub struct UnknownEffort(String);

/// How many tokens a model takes in one request, with its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u64")]
pub struct Window(pub u64);

impl TryFrom<u64> for Window {
    type Error = String;

    fn try_from(tokens: u64) -> Result<Self, String> {
        match tokens {
            LEAST_WINDOW..=MOST_WINDOW => Ok(Self(tokens)),
            _ => Err(format!("must be between {LEAST_WINDOW} and {MOST_WINDOW} tokens")),
        }
    }
}

/// How long a reply may be, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u64")]
pub struct ReplyTokens(pub u32);

impl TryFrom<u64> for ReplyTokens {
    type Error = String;

    fn try_from(tokens: u64) -> Result<Self, String> {
        let fits = u32::try_from(tokens).ok().filter(|tokens| (1..=MOST_REPLY).contains(tokens));
        fits.map(Self).ok_or_else(|| format!("must be between 1 and {MOST_REPLY} tokens"))
    }
}

/// Says what is wrong with a reply that leaves no room for what it replies to; nothing where it does.
pub(crate) fn no_room(window: Option<Window>, reply: Option<ReplyTokens>) -> Option<(String, String)> {
    let (Window(window), ReplyTokens(reply)) = (window?, reply?);
    let most = window / 2;
    (u64::from(reply) > most).then(|| {
        let problem = format!("a reply of {reply} tokens leaves too little of a window of {window}");
        (problem, format!("set reply_tokens to {most} or less, or window to what the model accepts"))
    })
}

#[cfg(test)]
mod tests {
    use crate::file::{check_config, parse};

    fn told(settings: &str) -> String {
        let (line, problem, fix) = check_config(&format!("[model]\n{settings}\n")).expect_err("there is a mistake");
        format!("{line}: {problem}; {fix}")
    }

    #[test]
    fn what_can_only_be_a_mistake_is_told_with_its_line() {
        assert_eq!(told("effort = \"hihg\""), "2: unknown variant `hihg`; did you mean `high`?");
        assert_eq!(told("window = 4095"), "2: must be between 4096 and 100000000 tokens; fix or remove this line");
        assert!(told("window = 100000001").starts_with("2: must be between"));
        assert!(told("window = -1").starts_with("2: "));
        assert!(told("reply_tokens = 0").starts_with("2: must be between 1 and"));
        assert!(told("reply_tokens = 10000001").starts_with("2: must be between 1 and"));
        assert_eq!(
            told("window = 8192\nreply_tokens = 4097"),
            "3: a reply of 4097 tokens leaves too little of a window of 8192; set reply_tokens to 4096 or less, or window to what the model accepts"
        );
    }

    #[test]
    fn what_is_in_order_is_read() {
        let text = "[model]\neffort = \"low\"\nwindow = 8192\nreply_tokens = 4096\ncall_first = true\nimages = false\n";
        let model = parse(text).expect("it is in order").model;
        let read = (model.effort.map(|effort| effort.to_string()), model.window.map(|window| window.0));
        assert_eq!(read, (Some("low".to_owned()), Some(8192)));
        assert_eq!((model.reply_tokens.map(|tokens| tokens.0), model.call_first), (Some(4096), Some(true)));
        assert_eq!(model.images, Some(false));
    }
}
