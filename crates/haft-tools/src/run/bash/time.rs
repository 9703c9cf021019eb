//! Decides how long a command may run: as long as the call says, within the limits of the profile.

use std::time::Duration;

use haft_contract::description::page_style::ContinuationArguments;
use haft_contract::limits::Limits;

/// The time of one command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Time {
    pub(crate) seconds: Duration,
    /// A sentence when it is another one than was asked for.
    pub(crate) note: Option<String>,
}

impl Time {
    /// Chooses the time of a call that asks for so many seconds.
    pub(crate) fn chosen(asked: Option<f64>, limits: &Limits) -> Self {
        let most = limits.command_time_within_call();
        let usual = limits.command_time.min(most);
        let Some(asked) = asked else { return Self { seconds: usual, note: None } };
        let other = |seconds: Duration, why: &str| {
            let note = format!("timeout {asked} s {why}; haft used {} s", seconds.as_secs_f64());
            Self { seconds, note: Some(note) }
        };
        let too_long = || {
            let mut time = other(most, "is over the maximum");
            // Other systems call their arguments otherwise.
            if looks_like_milliseconds(asked) && limits.page_style.arguments == ContinuationArguments::Own {
                time.note =
                    time.note.map(|note| format!("{note}. \"timeout\" is in seconds, \"timeout_ms\" in milliseconds"));
            }
            time
        };
        match Duration::try_from_secs_f64(asked) {
            Ok(seconds) if seconds > most => too_long(),
            Ok(seconds) if !seconds.is_zero() => Self { seconds, note: None },
            Err(_) if asked > 0.0 => too_long(),
            Ok(_) | Err(_) => other(usual, "is not a time, so the default applied"),
        }
    }
}

/// Whether a number of seconds is one that callers write who count in milliseconds: 60000, 1500.
fn looks_like_milliseconds(seconds: f64) -> bool {
    seconds >= 1_000.0 && seconds % 100.0 == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(asked: Option<f64>) -> (f64, Option<String>) {
        let (command_time, command_time_most) = (Duration::from_secs(5), Duration::from_secs(60));
        let time = Time::chosen(asked, &Limits { command_time, command_time_most, ..Limits::default() });
        (time.seconds.as_secs_f64(), time.note)
    }

    #[test]
    fn without_a_word_the_default_holds() {
        assert_eq!(chosen(None), (5.0, None));
    }

    #[test]
    fn a_time_within_the_limit_is_taken_with_its_fractions() {
        assert_eq!(chosen(Some(1.5)), (1.5, None));
        assert_eq!(chosen(Some(60.0)), (60.0, None));
    }

    #[test]
    fn more_than_the_most_is_cut_and_said() {
        assert_eq!(chosen(Some(9999.0)), (60.0, Some("timeout 9999 s is over the maximum; haft used 60 s".into())));
        assert_eq!(chosen(Some(1e300)).0, 60.0);
    }

    #[test]
    fn whoever_counts_in_milliseconds_is_told_the_unit() {
        for asked in [1_000.0, 1_500.0, 30_000.0, 60_000.0, 600_000.0] {
            let (seconds, note) = chosen(Some(asked));
            let told = note.unwrap_or_default();
            assert!(seconds == 60.0 && told.contains("in seconds, \"timeout_ms\" in milliseconds"), "{asked}: {told}");
        }
        for asked in [61.0, 90.0, 900.0, 1_234.0, 9_999.0] {
            assert!(!chosen(Some(asked)).1.unwrap_or_default().contains("timeout_ms"), "{asked}");
        }
    }

    #[test]
    fn a_command_ends_before_its_call_does() {
        let seconds = |call: f64| {
            let call_time = Duration::from_secs_f64(call);
            Time::chosen(None, &Limits { call_time, ..Limits::default() }).seconds.as_secs_f64()
        };
        assert_eq!([seconds(900.0), seconds(30.0), seconds(1.0)], [120.0, 29.0, 0.5]);
    }

    #[test]
    fn what_is_no_time_is_the_default_and_said() {
        let note = "timeout -1 s is not a time, so the default applied; haft used 5 s";
        assert_eq!(chosen(Some(-1.0)), (5.0, Some(note.into())));
        assert_eq!(chosen(Some(0.0)).0, 5.0);
        assert_eq!(chosen(Some(f64::NAN)).0, 5.0);
    }
}
