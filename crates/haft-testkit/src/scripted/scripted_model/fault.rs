//! What can go wrong between a model and its client, as data.
//!
//! Errors of the model itself (malformed arguments, a tool that does not exist, a call that is cut by the length) are
//! no faults: the reply contains them.

use std::collections::BTreeMap;

use serde::Deserialize;

/// One thing that goes wrong. The request that meets it is answered by it and by nothing else; then the reply is still to
/// come, unless it is [`Fault::Slow`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// A status that is not 200, with the error in the form of the provider.
    Status(StatusFault),
    /// The conversation is longer than the model takes, in the words of the provider.
    TooLong,
    /// The connection is closed before anything of the answer comes.
    CutBeforeHeaders,
    /// The connection is closed when so many bytes of the stream have come.
    CutAfterBytes(usize),
    /// The connection is closed when so many events have come.
    CutAfterEvents(usize),
    /// The stream ends in order, but after so many events, without the last ones.
    EndsAfterEvents(usize),
    /// Status 200, and nothing.
    Empty,
    /// Status 200, and a page for people instead of a stream.
    Page,
    /// Status 200, and the whole reply as one JSON value instead of a stream.
    NotStreamed,
    /// After so many events come bytes that are neither events nor text, and the stream ends.
    GarbageAfterEvents(usize),
    /// The JSON of this event, counted from 0, is broken off in its middle; all others are whole.
    BrokenEvent(usize),
    /// After so many events comes an error in the stream, and it ends.
    ErrorAfterEvents(usize),
    /// Nothing comes, and the connection stays.
    HangBeforeHeaders,
    /// After so many events nothing more comes, and the connection stays.
    HangAfterEvents(usize),
    /// The reply comes, each of its events so many milliseconds after the one before. It is the reply: nothing else can
    /// go wrong behind it.
    Slow(u64),
}

/// An answer with an HTTP status instead of the reply.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatusFault {
    /// The status: 429, 500, 529…
    pub code: u16,
    /// What `Retry-After` says.
    #[serde(default)]
    pub retry_after: Option<RetryAfter>,
    /// What the error says.
    #[serde(default)]
    pub message: Option<String>,
    /// More headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

/// When to come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryAfter {
    /// In so many seconds, said as a number.
    Seconds(u64),
    /// In so many seconds, said as a date.
    Date(u64),
}

impl Fault {
    /// Answers with this status and nothing that is special about it.
    pub fn status(code: u16) -> Self {
        Self::Status(StatusFault { code, ..StatusFault::default() })
    }

    /// Answers that there were too many requests, and when to come again.
    pub fn limited(retry_after: RetryAfter) -> Self {
        Self::Status(StatusFault { code: 429, retry_after: Some(retry_after), ..StatusFault::default() })
    }

    /// Returns one of each sort, as early in the answer as they have a place, for tests that try them all.
    ///
    /// Leaves out those that hang, because a client needs its own time limit for them, and the slow reply, which no
    /// client requests again.
    pub fn one_of_each() -> Vec<Self> {
        vec![
            Self::limited(RetryAfter::Seconds(0)),
            Self::limited(RetryAfter::Date(0)),
            Self::status(500),
            Self::status(503),
            Self::status(529),
            Self::CutBeforeHeaders,
            Self::CutAfterBytes(7),
            Self::CutAfterEvents(1),
            Self::EndsAfterEvents(1),
            Self::Empty,
            Self::Page,
            Self::GarbageAfterEvents(0),
            Self::BrokenEvent(0),
            Self::ErrorAfterEvents(0),
        ]
    }
}

impl RetryAfter {
    /// Returns the value of the header, said now.
    pub(super) fn header(self) -> String {
        match self {
            Self::Seconds(seconds) => seconds.to_string(),
            Self::Date(seconds) => {
                let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
                http_date(now.as_secs().saturating_add(seconds))
            }
        }
    }
}

/// Writes a time as HTTP does. The days are counted from a March, so that the leap day is the last of a year.
fn http_date(seconds: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    let since_march_of_year_0 = day + 719_468;
    let (era, day_of_era) = (since_march_of_year_0 / 146_097, since_march_of_year_0 % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12;
    let year = era * 400 + year_of_era + u64::from(month < 2);
    let at = |index: u64| usize::try_from(index).expect("it is below twelve");
    format!(
        "{}, {day_of_month:02} {} {year} {:02}:{:02}:{:02} GMT",
        DAYS[at(day % 7)],
        MONTHS[at(month)],
        second / 3_600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::http_date;

    #[test]
    fn a_date_is_written_as_http_does() {
        assert_eq!(http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(http_date(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(http_date(951_782_400), "Tue, 29 Feb 2000 00:00:00 GMT");
        assert_eq!(http_date(1_793_491_199), "Sat, 31 Oct 2026 23:59:59 GMT");
    }
}
