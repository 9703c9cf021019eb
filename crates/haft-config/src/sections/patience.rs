//! How long haft waits for a model, and how often it tries, within bounds.
//!
//! A wait of zero would refuse every reply. A wait without end would look like a hang.

use std::time::Duration;

use serde::Deserialize;

/// The longest wait, in seconds: a day.
const LONGEST: f64 = 86_400.0;
/// The most tries.
const MOST_TRIES: i64 = 100;

/// A time to wait, between a second and a day. It may have fractions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "f64")]
pub struct WaitTime(Duration);

impl WaitTime {
    /// Returns how long it is.
    pub fn duration(self) -> Duration {
        self.0
    }
}

impl TryFrom<f64> for WaitTime {
    type Error = &'static str;

    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        // What is no number is in no range.
        if !(1.0..=LONGEST).contains(&seconds) {
            return Err("must be between 1 and 86400 (seconds)");
        }
        Ok(Self(Duration::from_secs_f64(seconds)))
    }
}

/// How often something is tried, between 1 and 100 times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "i64")]
pub struct Tries(u32);

impl Tries {
    /// Returns how often.
    pub fn count(self) -> u32 {
        self.0
    }
}

impl TryFrom<i64> for Tries {
    type Error = &'static str;

    fn try_from(tries: i64) -> Result<Self, Self::Error> {
        let in_bounds = u32::try_from(tries).ok().filter(|_| (1..=MOST_TRIES).contains(&tries));
        in_bounds.map(Self).ok_or("must be between 1 and 100")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::file::{check_config, parse};

    #[test]
    fn the_file_says_how_long_and_how_often() {
        let text = "[model]\nidle_seconds = 20\ntotal_seconds = 90.5\ntries = 1\n";
        let model = parse(text).expect("it is in order").model;
        assert_eq!(model.idle_seconds.map(|wait| wait.duration()), Some(Duration::from_secs(20)));
        assert_eq!(model.total_seconds.map(|wait| wait.duration()), Some(Duration::from_millis(90_500)));
        assert_eq!(model.tries.map(|tries| tries.count()), Some(1));
    }

    #[test]
    fn what_would_never_or_always_wait_has_its_line() {
        let told = |setting: &str| {
            let (line, problem, _) = check_config(&format!("[model]\n\n{setting}\n")).expect_err("it is nonsense");
            format!("{line}: {problem}")
        };
        for wait in ["0", "0.5", "-1", "86401", "1e300", "inf", "nan"] {
            let words = "3: must be between 1 and 86400 (seconds)";
            assert_eq!(told(&format!("idle_seconds = {wait}")), words, "{wait}");
            assert_eq!(told(&format!("total_seconds = {wait}")), words, "{wait}");
        }
        for tries in ["0", "-3", "101", "4294967297"] {
            assert_eq!(told(&format!("tries = {tries}")), "3: must be between 1 and 100", "{tries}");
        }
        for wrong in ["tries = 2.5", "tries = \"6\"", "idle_seconds = \"300\"", "total_seconds = true"] {
            assert!(told(wrong).starts_with("3: this value has the wrong type: "), "{wrong}: {}", told(wrong));
        }
    }
}
