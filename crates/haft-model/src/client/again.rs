//! Decides whether to retry, and after which pause.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, SystemTime};

use haft_net::Headers;

use super::Times;
use super::moment::{moment, span};
use crate::provider::{ModelError, ModelErrorKind};

/// The longest pause where the provider names none.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How often haft tries an address that does not answer: probably it is wrong, or the server is not started.
const TRIES_OF_A_SILENT_ADDRESS: u32 = 3;
/// The most characters of a failure that are told: some providers answer with a page, or with the whole request.
const LONGEST_WORDS: usize = 700;
/// How often a provider may fall silent before haft gives up: each silence is a long wait.
const MOST_SILENCES: u32 = 2;
/// The most characters that are said about a reply that broke off.
const LONGEST_CLAUSE: usize = 200;

/// Shorter keys would be found in ordinary words.
const SHORTEST_KEY: usize = 8;

/// A failed attempt to get a reply, before any part of the reply was reported.
#[derive(Clone, Debug)]
pub(super) struct ReplyFailure {
    pub(super) error: ModelError,
    /// How long the provider wants to be left alone.
    asked: Option<Duration>,
    /// Whether it is of no use to ask again.
    is_final: bool,
    /// Whether nothing came for as long as may be waited.
    is_silence: bool,
}

/// Counts the attempts so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AttemptCount {
    times: u32,
    silences: u32,
}

impl ReplyFailure {
    /// Makes a failure that is tried again as its kind is.
    pub(super) fn new(error: ModelError) -> ReplyFailure {
        ReplyFailure { error, asked: None, is_final: false, is_silence: false }
    }

    /// Makes a failure with the usual advice.
    pub(super) fn because(kind: ModelErrorKind, what: impl Into<String>) -> ReplyFailure {
        let next = "try again; if the error persists, check the base URL and the provider";
        ReplyFailure::new(ModelError { kind, what: what.into(), next: next.to_owned() })
    }

    /// Makes the failure of an answer that has nothing in it.
    pub(super) fn empty() -> ReplyFailure {
        ReplyFailure::because(ModelErrorKind::Broken, "The provider's answer is empty.")
    }

    /// Says what to do about it.
    pub(super) fn advising(mut self, next: &str) -> ReplyFailure {
        next.clone_into(&mut self.error.next);
        self
    }

    /// Says that it is of no use to ask again, and what to do.
    pub(super) fn final_with(self, next: &str) -> ReplyFailure {
        ReplyFailure { is_final: true, ..self.advising(next) }
    }

    /// Says how long the provider wants to be left alone, where it says so.
    pub(super) fn asked(self, asked: Option<Duration>) -> ReplyFailure {
        ReplyFailure { asked, ..self }
    }

    /// Says whether the provider wants to be left alone for ever.
    pub(super) fn final_if(self, says_no: bool) -> ReplyFailure {
        ReplyFailure { is_final: self.is_final || says_no, ..self }
    }

    /// Says that nothing came for as long as may be waited.
    pub(super) fn in_silence(self) -> ReplyFailure {
        ReplyFailure { is_silence: true, ..self }
    }

    /// Returns what went wrong as a part of a sentence: on one line, not long, without a capital and a full stop.
    pub(super) fn clause(&self) -> String {
        let what = haft_contract::files::path::one_line(self.error.what.trim().trim_end_matches('.'));
        let what = what.strip_prefix("The ").map_or_else(|| what.to_string(), |rest| format!("the {rest}"));
        match what.char_indices().nth(LONGEST_CLAUSE) {
            Some((end, _)) => format!("{}…", &what[..end]),
            None => what,
        }
    }

    /// Takes the key out of the words, which some providers repeat, and shortens them then: a key of which only the
    /// beginning is left would not be found.
    pub(super) fn without(mut self, key: Option<&str>) -> ReplyFailure {
        if let Some(key) = key.filter(|key| key.len() >= SHORTEST_KEY) {
            self.error.what = self.error.what.replace(key, "[key]");
        }
        if let Some((end, _)) = self.error.what.char_indices().nth(LONGEST_WORDS) {
            self.error.what.truncate(end);
            self.error.what.push('…');
        }
        self
    }

    /// Returns the error of one who would have to wait longer than a reply may take.
    pub(super) fn too_long_a_pause(self, pause: Duration) -> ModelError {
        let seconds = pause.as_secs_f64().ceil();
        let what = format!("{} haft could retry in {seconds} s, which is too long.", sentence(&self.error.what));
        ModelError { what, next: "wait until then, or use another model".to_owned(), ..self.error }
    }
}

impl From<ModelError> for ReplyFailure {
    fn from(error: ModelError) -> ReplyFailure {
        ReplyFailure::new(error)
    }
}

impl AttemptCount {
    /// Counts a try that failed; returns the pause before the next one, or the error where there is none.
    pub(super) fn pause_after(&mut self, failure: &ReplyFailure, times: &Times) -> Result<Duration, ModelError> {
        self.times += 1;
        self.silences += u32::from(failure.is_silence);
        let is_too_silent = failure.is_silence && self.silences >= MOST_SILENCES;
        if is_too_silent || self.times >= most_tries(failure, times) {
            let mut error = failure.error.clone();
            if self.times > 1 {
                error.what = format!("{} haft tried {} times.", sentence(&error.what), self.times);
            }
            return Err(error);
        }
        // Who was silent was left alone for long enough. Nothing is added to what a provider asks for: with chance
        // on top it would be later than it asks.
        let pause = if failure.is_silence { Some(Duration::ZERO) } else { failure.asked };
        Ok(pause.unwrap_or_else(|| back_off(self.times, times.back_off)))
    }
}

fn most_tries(failure: &ReplyFailure, times: &Times) -> u32 {
    match failure.error.kind {
        _ if failure.is_final => 1,
        ModelErrorKind::Limited | ModelErrorKind::Broken | ModelErrorKind::TimedOut => times.tries,
        ModelErrorKind::Unreachable => times.tries.min(TRIES_OF_A_SILENT_ADDRESS),
        ModelErrorKind::NotAdmitted
        | ModelErrorKind::NoCredit
        | ModelErrorKind::BadRequest
        | ModelErrorKind::TooLong
        | ModelErrorKind::Stopped => 1,
    }
}

/// Returns between the half and the whole of a pause that doubles each time, so that many who failed together do not
/// come back together.
fn back_off(tried: u32, first: Duration) -> Duration {
    let whole = first.saturating_mul(2_u32.saturating_pow(tried - 1)).min(LONGEST_PAUSE);
    let chance = RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64;
    whole.mul_f64(0.5 + chance / 2.0)
}

/// Returns how long the provider wants to be left alone, by the headers of its answer. A moment in the past says
/// nothing: its clock or ours is wrong, and the provider does not want an immediate retry.
pub(super) fn asked_in(headers: &Headers, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.text(name).map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let seconds = |number: f64| Duration::try_from_secs_f64(number.max(0.0)).unwrap_or(Duration::MAX);
    // A date has whole seconds, so one that is just over is now.
    let until = |moment: SystemTime| match moment.duration_since(now) {
        Ok(span) => Some(span),
        Err(over) => (over.duration() < Duration::from_secs(1)).then_some(Duration::ZERO),
    };
    if let Some(milliseconds) = text("retry-after-ms").and_then(number) {
        return Some(seconds(milliseconds / 1000.0));
    }
    if let Some(after) = text("retry-after") {
        return number(after).map(seconds).or_else(|| moment(after).and_then(until));
    }
    // Without that header: the latest of the limits that are used up.
    let limits = ["requests", "tokens", "input-tokens", "output-tokens"];
    let used_up = limits.into_iter().flat_map(|limit| {
        [
            (format!("anthropic-ratelimit-{limit}-remaining"), format!("anthropic-ratelimit-{limit}-reset")),
            (format!("x-ratelimit-remaining-{limit}"), format!("x-ratelimit-reset-{limit}")),
        ]
    });
    let resets = used_up.filter(|(remaining, _)| text(remaining) == Some("0")).filter_map(|(_, reset)| {
        let reset = text(&reset)?;
        match moment(reset) {
            Some(moment) => until(moment),
            None => span(reset).or_else(|| number(reset).map(seconds)),
        }
    });
    resets.max()
}

fn sentence(words: &str) -> String {
    if words.ends_with(['.', '!', '?', '…']) { words.to_owned() } else { format!("{words}.") }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use haft_net::Headers;

    use super::super::Times;
    use super::{AttemptCount, LONGEST_WORDS, ReplyFailure, asked_in};
    use crate::provider::{ModelError, ModelErrorKind};

    /// Returns the pause after this many tries that all failed like this.
    fn pause(failure: &ReplyFailure, tried: u32, times: &Times) -> Result<Duration, ModelError> {
        AttemptCount { times: tried - 1, silences: 0 }.pause_after(failure, times)
    }

    fn check(headers: &[(&'static str, &str)], expected: Option<u64>) {
        let headers: Headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_812_400); // 2026-11-16 07:00:00
        assert_eq!(asked_in(&headers, now), expected.map(Duration::from_millis), "{headers:?}");
    }

    #[test]
    fn a_provider_says_in_many_ways_how_long_it_wants_to_be_left_alone() {
        check(&[("retry-after", "2")], Some(2_000));
        check(&[("retry-after", "0.25")], Some(250));
        check(&[("retry-after", "-3")], Some(0));
        check(&[("retry-after", "Mon, 16 Nov 2026 07:00:30 GMT")], Some(30_000));
        check(&[("retry-after", "Mon, 16 Nov 2026 07:00:00 GMT")], Some(0));
        check(&[("retry-after", "Mon, 16 Nov 2026 06:59:59 GMT")], None);
        check(&[("retry-after", "0")], Some(0));
        check(&[("retry-after-ms", "1500"), ("retry-after", "2")], Some(1_500));
        check(&[("retry-after", "soon")], None);
        check(&[("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "1m0.5s")], Some(60_500));
        check(&[("x-ratelimit-remaining-tokens", "12"), ("x-ratelimit-reset-tokens", "6m0s")], None);
        check(
            &[
                ("anthropic-ratelimit-requests-remaining", "3"),
                ("anthropic-ratelimit-requests-reset", "2026-11-16T07:10:00Z"),
                ("anthropic-ratelimit-output-tokens-remaining", "0"),
                ("anthropic-ratelimit-output-tokens-reset", "2026-11-16T07:00:04Z"),
            ],
            Some(4_000),
        );
        check(
            &[
                ("anthropic-ratelimit-requests-remaining", "0"),
                ("anthropic-ratelimit-requests-reset", "2026-11-16T06:59:00Z"),
            ],
            None,
        );
        check(&[], None);
    }

    #[test]
    fn pauses_grow_and_are_never_longer_than_asked() {
        let times = Times::default();
        let broken = ReplyFailure::because(ModelErrorKind::Broken, "b");
        for (tried, longest) in [(1, 500), (2, 1_000), (3, 2_000), (4, 4_000), (5, 8_000)] {
            let pause = pause(&broken, tried, &times).expect("it is tried again");
            assert!(
                pause <= Duration::from_millis(longest) && pause >= Duration::from_millis(longest / 2),
                "{pause:?}"
            );
        }
        let asked = broken.clone().asked(Some(Duration::from_millis(70)));
        assert_eq!(pause(&asked, 4, &times), Ok(Duration::from_millis(70)));
        let error = pause(&broken, 6, &times).expect_err("that was the last");
        assert_eq!(error.what, "b. haft tried 6 times.");
    }

    #[test]
    fn words_are_shortened_after_the_key_was_taken_out_of_them() {
        let key = "sk-0123456789abcdef";
        for at in LONGEST_WORDS - key.len() - 1..=LONGEST_WORDS + 1 {
            let words = format!("{}{key}{}", "ä".repeat(at), "b".repeat(5000));
            let told = ReplyFailure::because(ModelErrorKind::Broken, words).without(Some(key)).error.what;
            assert!(!told.contains("sk-"), "{told}");
            assert_eq!(told.chars().count(), LONGEST_WORDS + 1);
        }
    }

    #[test]
    fn what_a_provider_asks_for_is_kept_to_the_letter_at_each_try() {
        let times = Times::default();
        for (tried, kind) in (1..6).zip([ModelErrorKind::Limited, ModelErrorKind::Broken].into_iter().cycle()) {
            for asked in [0, 1, 999, 60_000].map(Duration::from_millis) {
                let failure = ReplyFailure::because(kind, "b").asked(Some(asked));
                assert_eq!(pause(&failure, tried, &times), Ok(asked));
            }
        }
    }

    #[test]
    fn silence_is_waited_for_twice_whatever_happened_before() {
        let times = Times::default();
        let silence = ReplyFailure::because(ModelErrorKind::TimedOut, "Nothing came.").in_silence();
        let broken = ReplyFailure::because(ModelErrorKind::Broken, "b");
        let mut tried = AttemptCount::default();
        assert!(tried.pause_after(&broken, &times).is_ok() && tried.pause_after(&broken, &times).is_ok());
        assert_eq!(tried.pause_after(&silence, &times), Ok(Duration::ZERO));
        assert!(tried.pause_after(&broken, &times).is_ok());
        let error = tried.pause_after(&silence, &times).expect_err("that is enough");
        assert_eq!(error.what, "Nothing came. haft tried 5 times.");
        let once = Times { tries: 1, ..times };
        assert!(AttemptCount::default().pause_after(&silence, &once).is_err());
    }

    #[test]
    fn a_clause_fits_into_a_sentence() {
        let clause = |what: &str| ReplyFailure::because(ModelErrorKind::Broken, what).clause();
        assert_eq!(clause("The stream ended. "), "the stream ended");
        assert_eq!(clause("A page came.\n<p>Theodora"), "A page came.\\n<p>Theodora");
        assert_eq!(clause(&"é".repeat(900)).chars().count(), 201);
    }

    #[test]
    fn what_will_not_change_is_not_tried_again() {
        let times = Times::default();
        let final_kinds = [
            ModelErrorKind::NotAdmitted,
            ModelErrorKind::NoCredit,
            ModelErrorKind::BadRequest,
            ModelErrorKind::TooLong,
        ];
        for kind in final_kinds {
            assert_eq!(
                pause(&ReplyFailure::because(kind, "b."), 1, &times).map_err(|error| error.what),
                Err("b.".to_owned())
            );
        }
        let says_no = ReplyFailure::because(ModelErrorKind::Limited, "b.").final_if(true);
        assert!(pause(&says_no, 1, &times).is_err());
        let silent = ReplyFailure::because(ModelErrorKind::Unreachable, "b.");
        assert!(pause(&silent, 2, &times).is_ok() && pause(&silent, 3, &times).is_err());
    }
}
