//! Parses moments and spans in headers.

use std::time::{Duration, SystemTime};

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Reads a moment: `Mon, 16 Nov 2026 07:00:30 GMT`, or `2026-11-16T07:00:30Z` with any offset.
pub(super) fn moment(text: &str) -> Option<SystemTime> {
    let seconds = of_http(text).or_else(|| of_rfc_3339(text))?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(seconds).ok()?))
}

fn of_http(text: &str) -> Option<i64> {
    let (_, date) = text.split_once(", ")?;
    let [day, month, year, time, "GMT"] = date.split(' ').collect::<Vec<_>>()[..] else { return None };
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    Some(days(number(year)?, i64::try_from(month).ok()?, number(day)?)? * 86_400 + of_clock(time)?)
}

fn of_rfc_3339(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let [year, month, day] = date.split('-').collect::<Vec<_>>()[..] else { return None };
    let at = time.find(['Z', 'z', '+', '-'])?;
    let (clock, offset) = time.split_at(at);
    let clock = clock.split_once('.').map_or(clock, |(whole, _)| whole);
    let offset = match offset.split_at_checked(1)? {
        ("Z" | "z", "") => 0,
        ("+", offset) => of_clock(offset)?,
        ("-", offset) => -of_clock(offset)?,
        _ => return None,
    };
    Some(days(number(year)?, number(month)?, number(day)?)? * 86_400 + of_clock(clock)? - offset)
}

/// Reads `hours:minutes` with or without seconds.
fn of_clock(text: &str) -> Option<i64> {
    let mut parts = text.split(':').map(number);
    let (hours, minutes) = (parts.next()??, parts.next()??);
    let seconds = parts.next().map_or(Some(0), |seconds| seconds)?;
    let fits = hours < 24 && minutes < 60 && seconds <= 60 && parts.next().is_none();
    fits.then_some(hours * 3600 + minutes * 60 + seconds)
}

/// Counts the days since 1970 of a date in the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // A year that begins in March has its leap day at the end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year / 4 - year / 100 + year / 400;
    Some(year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468)
}

fn number(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.len() < 6 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// Reads a span: `1s`, `6m0s`, `1h2m3.5s`, `120ms`.
pub(super) fn span(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut whole = Duration::ZERO;
    while !rest.is_empty() {
        let (value, after) = rest.split_at(rest.find(|letter: char| letter.is_ascii_alphabetic())?);
        let (unit, after) =
            after.split_at(after.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(after.len()));
        let seconds = match unit {
            "d" => 86_400.0,
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 0.001,
            _ => return None,
        };
        whole = whole.checked_add(Duration::try_from_secs_f64(value.parse::<f64>().ok()? * seconds).ok()?)?;
        rest = after;
    }
    (!text.is_empty()).then_some(whole)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{moment, span};

    fn seconds(text: &str) -> Option<u64> {
        moment(text)?.duration_since(SystemTime::UNIX_EPOCH).ok().map(|since| since.as_secs())
    }

    #[test]
    fn moments_are_read_in_both_forms() {
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(seconds("Thu, 29 Feb 2024 00:00:00 GMT"), Some(1_709_164_800));
        assert_eq!(seconds("2026-11-16T07:00:00Z"), Some(1_794_812_400));
        assert_eq!(seconds("2026-11-16T08:30:00.123+01:30"), Some(1_794_812_400));
        assert_eq!(seconds("2026-11-16T02:00:00-05:00"), Some(1_794_812_400));
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in
            ["", "soon", "Sun, 06 Nov 1994", "2026-13-01T00:00:00Z", "2026-11-16T25:00:00Z", "2026-11-16T07:00:00"]
        {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn spans_are_read_with_all_units() {
        assert_eq!(span("6m0s"), Some(Duration::from_secs(360)));
        assert_eq!(span("120ms"), Some(Duration::from_millis(120)));
        assert_eq!(span("1h2m3.5s"), Some(Duration::from_millis(3_723_500)));
        for text in ["", "5", "s", "1x", "-1s", "1e400s"] {
            assert_eq!(span(text), None, "{text}");
        }
    }
}
