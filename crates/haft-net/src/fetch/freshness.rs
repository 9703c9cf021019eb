//! Computes from the headers how long the cache may use an answer (RFC 9111, for a private cache).

use std::time::{Duration, SystemTime};

use hyper::HeaderMap;
use hyper::header::{AGE, CACHE_CONTROL, DATE, EXPIRES, HeaderName, LAST_MODIFIED, VARY};

use super::exchange::text_of;
use super::http_date;

/// Longest time that is guessed for an answer that does not say how long it is fresh.
const LONGEST_GUESS: Duration = Duration::from_secs(24 * 3_600);
/// Longest time that anything is taken for fresh.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3_600);

/// What the headers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    /// It may not be kept at all.
    NotKept,
    /// It may be used without asking for so long.
    For(Duration),
}

/// Reads how long an answer is fresh that came now.
pub(super) fn of(headers: &HeaderMap, now: SystemTime) -> Freshness {
    let directives = directives(headers);
    let has = |name: &str| directives.iter().any(|(directive, _)| directive == name);
    let depends_on_anything = headers.get_all(VARY).iter().any(|value| value.as_bytes().contains(&b'*'));
    if has("no-store") || depends_on_anything {
        return Freshness::NotKept;
    }
    if has("no-cache") {
        return Freshness::For(Duration::ZERO);
    }
    let date = date_of(headers, &DATE).unwrap_or(now);
    let since = |from: SystemTime, to: SystemTime| to.duration_since(from).unwrap_or_default();
    let max_age =
        directives.iter().find(|(name, _)| name == "max-age").map(|(_, seconds)| seconds.parse().unwrap_or(0));
    let lifetime = match (max_age, headers.contains_key(EXPIRES)) {
        (Some(seconds), _) => Duration::from_secs(seconds),
        // An invalid date means that it has expired.
        (None, true) => date_of(headers, &EXPIRES).map_or(Duration::ZERO, |expires| since(date, expires)),
        (None, false) => {
            let guessed = date_of(headers, &LAST_MODIFIED).map(|modified| since(modified, date) / 10);
            guessed.unwrap_or_default().min(LONGEST_GUESS)
        }
    };
    let told: u64 = text_of(headers, &AGE).and_then(|age| age.trim().parse().ok()).unwrap_or(0);
    let age = since(date, now).max(Duration::from_secs(told));
    Freshness::For(lifetime.min(LONGEST).saturating_sub(age))
}

fn date_of(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    http_date::read(&text_of(headers, name)?)
}

/// The directives of `Cache-Control`, in small letters, with their values.
fn directives(headers: &HeaderMap) -> Vec<(String, String)> {
    let all = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let read = |directive: &str| {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        (name.trim().to_ascii_lowercase(), value.trim().trim_matches('"').to_owned())
    };
    all.flat_map(|text| text.split(',')).map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    #[test]
    fn an_answer_is_fresh_for_as_long_as_its_headers_say() {
        let now = http_date::read("Wed, 18 Nov 2026 12:00:00 GMT").unwrap();
        let date = ("date", "Wed, 18 Nov 2026 12:00:00 GMT");
        let check = |fields: &[(&'static str, &'static str)], expected: Freshness| {
            let field = |(name, value): &(&'static str, &'static str)| {
                (HeaderName::from_static(name), HeaderValue::from_static(value))
            };
            let headers: HeaderMap = fields.iter().map(field).collect();
            assert_eq!(of(&headers, now), expected, "{fields:?}");
        };
        let seconds = |seconds| Freshness::For(Duration::from_secs(seconds));
        check(&[], seconds(0));
        check(&[("cache-control", "max-age=60")], seconds(60));
        check(&[("cache-control", "private, Max-Age=\"60\"")], seconds(60));
        check(&[("cache-control", "max-age=60"), ("age", "50")], seconds(10));
        check(&[("cache-control", "max-age=60"), ("date", "Wed, 18 Nov 2026 11:59:30 GMT")], seconds(30));
        check(&[("cache-control", "s-maxage=600, max-age=5")], seconds(5));
        check(&[("cache-control", "max-age=99999999999999999999")], seconds(0));
        check(&[("cache-control", "no-cache, max-age=60")], seconds(0));
        check(&[("cache-control", "no-store")], Freshness::NotKept);
        check(&[("cache-control", "max-age=60"), ("vary", "*")], Freshness::NotKept);
        check(&[("cache-control", "max-age=60"), ("vary", "accept-encoding")], seconds(60));
        check(&[date, ("expires", "Wed, 18 Nov 2026 12:10:00 GMT")], seconds(600));
        check(&[date, ("expires", "0")], seconds(0));
        check(&[date, ("last-modified", "Wed, 18 Nov 2026 11:43:20 GMT")], seconds(100));
        check(&[date, ("last-modified", "Sat, 01 Jan 2000 00:00:00 GMT")], Freshness::For(LONGEST_GUESS));
    }
}
