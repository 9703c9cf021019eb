//! Reads a moment as a person writes it: a time span before now, or a date.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::changes::gc::age;

/// How to write a moment.
const USAGE: &str =
    "write how long ago, such as 90m, 2h, 3d or 1w, or a date in UTC, such as 2026-11-18 or 2026-11-18T14:30";

/// Reads a moment, in milliseconds since 1970.
///
/// # Errors
///
/// Says how to write one.
pub fn moment(text: &str) -> Result<u64, String> {
    if let Ok(age) = age(text) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        return Ok(u64::try_from(now.saturating_sub(age).as_millis()).unwrap_or(u64::MAX));
    }
    date(text).ok_or_else(|| USAGE.to_owned())
}

/// Reads `2026-11-18`, `2026-11-18T14:30` or `2026-11-18T14:30:05.123Z`; a blank may stand for the T.
fn date(text: &str) -> Option<u64> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00"));
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok())?;
    let [year, month, day] = <[&str; 3]>::try_from(date.split('-').collect::<Vec<_>>()).ok()?.map(number);
    let (year, month, day) = (year.filter(|year| (1970..10_000).contains(year))?, month?, day?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_of = [31, if is_leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let month = usize::try_from(month.checked_sub(1)?).ok()?;
    if !(1..=*days_of.get(month)?).contains(&day) {
        return None;
    }
    let leap_days = |years: u64| years / 4 - years / 100 + years / 400;
    let days =
        (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969) + days_of[..month].iter().sum::<u64>() + day - 1;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut parts = time.split(':').map(number);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?);
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let milliseconds = number(format!("{fraction:0<3}").get(..3)?)?;
    Some(((days * 24 + hour) * 60 + minute) * 60_000 + second * 1_000 + milliseconds)
}

#[cfg(test)]
mod tests {
    use super::super::utc;
    use super::*;

    #[test]
    fn a_moment_is_an_age_or_a_date() {
        for text in [
            "1970-01-01T00:00:00.000Z",
            "2000-02-29T12:30:00.000Z",
            "2100-03-01T23:59:59.999Z",
            "2024-12-31T00:00:00.000Z",
        ] {
            assert_eq!(date(text).map(utc).as_deref(), Some(text));
        }
        assert_eq!(date("2026-11-18").map(utc).as_deref(), Some("2026-11-18T00:00:00.000Z"));
        assert_eq!(date("2026-11-18 14:30").map(utc).as_deref(), Some("2026-11-18T14:30:00.000Z"));
        for text in [
            "",
            "2026",
            "2026-13-01",
            "2026-02-29",
            "2026-11-18T25:00",
            "2026-11-18T14",
            "1-2-3-4",
            "2026-11-18T1:2:3:4",
            "+1",
            "2026-11-18T14:30:00.éé",
            "1969-01-01",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
        let hour_ago = moment("1h").expect("it is an age");
        assert!(moment("0m").expect("it is an age") - hour_ago >= 3_600_000);
        assert!(moment("soon").is_err_and(|usage| usage.contains("2h")));
    }
}
