//! Caches answers in the memory of this process; it writes none of them to a disk.
//!
//! A session reads a long document in several calls, and asks for the same page again after it has tried something. Without
//! a cache each call would be another request, and the pages of one document could be of different versions.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use hyper::HeaderMap;
use hyper::header::{ETAG, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};

use super::exchange::FetchAnswer;
use super::freshness::{self, Freshness};

/// Most bytes of bodies that are kept.
const MOST_BYTES: usize = 32 * 1024 * 1024;
/// Most answers that are kept.
const MOST_ANSWERS: usize = 256;

/// The kept answers, the latest at the end.
#[derive(Default)]
pub(super) struct AnswerCache {
    kept: VecDeque<(String, CachedAnswer)>,
}

/// An answer that may be used again, and how long.
#[derive(Clone)]
pub(super) struct CachedAnswer {
    answer: FetchAnswer,
    since: SystemTime,
    fresh_for: Duration,
    conditions: Vec<(HeaderName, HeaderValue)>,
}

impl CachedAnswer {
    /// Keeps an answer, where its headers let it: a document, or a redirect that lasts.
    pub(super) fn of(answer: &FetchAnswer, headers: &HeaderMap, now: SystemTime) -> Option<Self> {
        let lasts = answer.status == 200 || matches!(answer.status, 301 | 308) && answer.location.is_some();
        let Freshness::For(fresh_for) = freshness::of(headers, now) else { return None };
        let conditions = conditions(headers);
        let is_of_use = !fresh_for.is_zero() || !conditions.is_empty();
        let answer = FetchAnswer { is_kept: true, ..answer.clone() };
        (lasts && is_of_use).then_some(Self { answer, since: now, fresh_for, conditions })
    }

    /// Returns the same after the server said that it has not changed.
    pub(super) fn renewed(&self, headers: &HeaderMap, now: SystemTime) -> Self {
        let fresh_for = match freshness::of(headers, now) {
            Freshness::For(time) => time,
            Freshness::NotKept => Duration::ZERO,
        };
        Self { since: now, fresh_for, ..self.clone() }
    }

    pub(super) fn is_fresh(&self, now: SystemTime) -> bool {
        // A clock that was set back makes everything stale.
        now.duration_since(self.since).is_ok_and(|age| age < self.fresh_for)
    }

    /// Returns whether it has as much of the document as such a limit lets through.
    pub(super) fn serves(&self, most: usize) -> bool {
        if self.answer.is_cut { self.answer.body.len() == most } else { self.answer.body.len() <= most }
    }

    pub(super) fn answer(&self) -> FetchAnswer {
        self.answer.clone()
    }

    /// Returns the headers that ask only whether it has changed.
    pub(super) fn conditions(&self) -> Vec<(HeaderName, HeaderValue)> {
        self.conditions.clone()
    }
}

fn conditions(headers: &HeaderMap) -> Vec<(HeaderName, HeaderValue)> {
    let one = |from: HeaderName, to: HeaderName| headers.get(from).map(|value| (to, value.clone()));
    one(ETAG, IF_NONE_MATCH).into_iter().chain(one(LAST_MODIFIED, IF_MODIFIED_SINCE)).collect()
}

impl AnswerCache {
    pub(super) fn get(&self, url: &str) -> Option<CachedAnswer> {
        self.kept.iter().find(|(kept, _)| kept == url).map(|(_, kept)| kept.clone())
    }

    pub(super) fn forget(&mut self, url: &str) {
        self.kept.retain(|(kept, _)| kept != url);
    }

    /// Keeps an answer. The oldest ones make room for it.
    pub(super) fn put(&mut self, url: &str, kept: CachedAnswer) {
        self.forget(url);
        self.kept.push_back((url.to_owned(), kept));
        let size = |kept: &VecDeque<(String, CachedAnswer)>| {
            kept.iter().map(|(_, kept)| kept.answer.body.len()).sum::<usize>()
        };
        while self.kept.len() > MOST_ANSWERS || size(&self.kept) > MOST_BYTES {
            self.kept.pop_front();
        }
    }
}
