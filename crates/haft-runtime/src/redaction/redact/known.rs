//! Holds the table of known secret texts and finds where they occur in a text.
//!
//! Letters count without regard to case. For a long text the middle is enough, so haft also finds a value without its
//! first or last letters. The match then includes the rest of the value around the middle. For a text that looks
//! random, such as a line of a key, any long enough part is enough. haft also finds a long text across line ends, as
//! programs wrap it; one look at each line end shows whether it may be there at all (`fragments`).
//!
//! Not here: which texts are secret (`file_values`), in which forms they are written (`forms`).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::file_values::may_be_ordinary;
use super::forms::forms;
use super::fragments::{Fragments, extended};
use super::wrapped::{LineWrapping, UnwrappedText, line_pieces};

/// Most texts that become known.
const MOST_TEXTS: usize = 200_000;
/// Shortest text of which a part is hidden, in bytes, and which is found across the ends of lines.
const SHORTEST_LONG: usize = 16;
/// The part at either end of a long text that may be missing: one in so many.
const MISSING: usize = 5;
/// Shortest text that looks random of which any longer part is hidden, in bytes.
const SHORTEST_RANDOM: usize = 20;
/// Longest beginning of a text that is waited for, in bytes.
const LONGEST_BEGINNING: usize = 4 * 1024;
/// How much of the beginning of a text tells it from others.
const BEGINNING: usize = 3;
/// Longest text in which others that begin inside of it are looked for, in bytes.
const LONGEST_SEARCHED_AGAIN: usize = 512;
/// Shortest beginning of a text, before the end of a line, whose rest is waited for.
const SHORTEST_BEGINNING: usize = 6;

/// A text to be hidden.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Secret {
    pub(super) text: String,
    /// How much of its beginning stays, in bytes: the name that it is hidden together with.
    pub(super) kept: usize,
}

impl Secret {
    pub(super) fn whole(text: impl Into<String>) -> Self {
        Self { text: text.into(), kept: 0 }
    }
}

/// The texts that are known to be secret.
#[derive(Default)]
pub(super) struct SecretTable {
    /// By their texts, in lower case.
    entries: BTreeMap<String, SecretTableEntry>,
    files: Vec<String>,
    found_by: Option<AhoCorasick>,
    longest: usize,
    /// Fragments of the long ones.
    fragments: Fragments,
    /// Fragments of those that look random: any longer part of one is hidden.
    random: Fragments,
    /// The files that those are of.
    random_files: Vec<Option<usize>>,
    /// How they begin, as far as that tells quickly that nothing does.
    beginnings: HashSet<[u8; BEGINNING]>,
}

#[derive(Clone)]
struct SecretTableEntry {
    /// What stays of its beginning, in its own case: a name in another one is a word like any other.
    kept: Box<str>,
    file: Option<usize>,
    is_long: bool,
    /// The text that this is the middle of, and where it begins in it.
    middle_of: Option<(Arc<str>, usize)>,
}

/// Where something is to be hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) range: Range<usize>,
    pub(super) file: Option<usize>,
    /// Where the text begins that this is of: some lines above, where it was wrapped.
    begins: usize,
}

impl std::fmt::Debug for SecretTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Known").field("texts", &self.entries.len()).field("files", &self.files).finish()
    }
}

impl SecretTable {
    /// Adds what is not known yet.
    pub(super) fn add(&mut self, secrets: impl IntoIterator<Item = (Secret, Option<usize>)>) {
        let known = self.entries.len();
        for (secret, file) in secrets {
            self.add_middle(&secret, file);
            for form in forms(&secret) {
                // What a form adds to a short text does not make it one that programs wrap.
                let is_long = secret.text.len() >= SHORTEST_LONG;
                self.insert(
                    &form.text,
                    SecretTableEntry {
                        kept: form.text.get(..form.kept).unwrap_or_default().into(),
                        file,
                        is_long,
                        middle_of: None,
                    },
                );
            }
        }
        if self.entries.len() > known {
            self.found_by = Some(automaton(self.entries.keys()));
            self.longest = self.entries.keys().map(String::len).max().unwrap_or(0).min(LONGEST_BEGINNING);
            let long = self.entries.iter().filter(|(_, entry)| entry.is_long);
            self.fragments = Fragments::of(long.map(|(text, _)| text.as_str()));
            let is_random = |(text, entry): &(&String, &SecretTableEntry)| {
                text.len() >= SHORTEST_RANDOM
                    && entry.kept.is_empty()
                    && entry.middle_of.is_none()
                    // Parts of these are ordinary in other texts.
                    && !["&quot;", "&lt;", "&gt;", "&amp;", "&#", "\\u00"].iter().any(|escape| text.contains(escape))
                    && !may_be_ordinary(text)
            };
            let random = || self.entries.iter().filter(is_random);
            self.random = Fragments::of(random().map(|(text, _)| text.as_str()));
            self.random_files = random().map(|(_, entry)| entry.file).collect();
            self.beginnings = self.entries.keys().filter_map(|text| text.as_bytes().first_chunk().copied()).collect();
        }
    }

    /// Adds the middle of a long text, unless it says less than the whole.
    fn add_middle(&mut self, secret: &Secret, file: Option<usize>) {
        let text = secret.text.as_str();
        let missing = text.len() / MISSING;
        let Some(middle) = text.get(missing..text.len() - missing).filter(|_| text.len() >= SHORTEST_LONG) else {
            return;
        };
        if secret.kept == 0 && (!may_be_ordinary(middle) || may_be_ordinary(text)) {
            let middle_of = Some((text.to_ascii_lowercase().into(), missing));
            self.insert(middle, SecretTableEntry { kept: "".into(), file, is_long: true, middle_of });
        }
    }

    fn insert(&mut self, text: &str, entry: SecretTableEntry) {
        if self.entries.len() < MOST_TEXTS && !text.is_empty() {
            self.entries.entry(text.to_ascii_lowercase()).or_insert(entry);
        }
    }

    /// Says whether no more texts become known.
    pub(super) fn is_full(&self) -> bool {
        self.entries.len() >= MOST_TEXTS
    }

    /// Returns the number of a file.
    pub(super) fn number_of(&mut self, file: &str) -> usize {
        let known = self.files.iter().position(|known| known == file);
        known.unwrap_or_else(|| {
            self.files.push(file.to_owned());
            self.files.len() - 1
        })
    }

    /// Returns the files of these numbers.
    pub(super) fn files(&self, numbers: &BTreeSet<usize>) -> Vec<String> {
        numbers.iter().filter_map(|number| self.files.get(*number).cloned()).collect()
    }

    /// Returns what is to be hidden in a text, in order and apart from each other.
    pub(super) fn spans(&self, text: &str) -> Vec<Span> {
        let Some(found_by) = &self.found_by else { return Vec::new() };
        let mut spans = Vec::new();
        for (found, entry) in self.found(found_by, text) {
            let range = found.start + entry.kept.len()..found.end;
            spans.push(Span { begins: range.start, range, file: entry.file });
        }
        for (range, number) in self.random.parts(text) {
            if !may_be_ordinary(&text[range.clone()]) {
                spans.push(Span { begins: range.start, range, file: self.random_files[number] });
            }
        }
        let lines = line_pieces(text);
        for wrapping in [LineWrapping::Anywhere, LineWrapping::Numbered, LineWrapping::Listed, LineWrapping::Words] {
            let Some(unwrapped) = UnwrappedText::of(text, &lines, wrapping) else { continue };
            if !unwrapped.joints().any(|place| self.fragments.may_be_across(&unwrapped.text, place)) {
                continue;
            }
            for (found, entry) in self.found(found_by, &unwrapped.text).into_iter().filter(|(_, entry)| entry.is_long) {
                if unwrapped.pieces(found.clone()).len() > 1 {
                    let pieces = unwrapped.pieces(found.start + entry.kept.len()..found.end);
                    let begins = pieces.first().map_or(0, |first| first.start);
                    spans.extend(pieces.into_iter().map(|range| Span { range, file: entry.file, begins }));
                }
            }
        }
        apart(spans).into_iter().flat_map(|span| line_by_line(text, span)).collect()
    }

    /// Returns what is found in a text, each with all that belongs to it.
    fn found<'a>(&'a self, found_by: &AhoCorasick, text: &str) -> Vec<(Range<usize>, &'a SecretTableEntry)> {
        let mut all: Vec<(Range<usize>, &SecretTableEntry)> = Vec::new();
        let mut from = 0;
        while let Some(found) = found_by.find(aho_corasick::Input::new(text).range(from..)) {
            from = found.end();
            let Some(entry) = self.entry(&text[found.range()]) else { continue };
            // A longer text may begin inside of one that is hidden: the value behind a name, or one that goes on.
            if found.len() <= LONGEST_SEARCHED_AGAIN {
                let name = entry.kept.len().max(1);
                from = text.ceil_char_boundary(found.start() + name);
            }
            // Not this name; the value behind it may be a secret by itself.
            if !text[found.start()..].starts_with(&*entry.kept) {
                continue;
            }
            let mut range = found.range();
            if let Some((whole, from)) = &entry.middle_of {
                let before = all.last().map_or(0, |(before, _)| before.end);
                range = extended(text, range, (whole, *from));
                range.start = range.start.max(before).min(found.start());
            }
            all.push((range, entry));
        }
        all
    }

    fn entry(&self, text: &str) -> Option<&SecretTableEntry> {
        self.entries.get(&text.to_ascii_lowercase())
    }

    /// Returns where in a text the last thing begins that may yet become a secret; the end where there is none.
    pub(super) fn may_go_on_from(&self, text: &str) -> usize {
        let first = (text.len().saturating_sub(2 * self.longest)..).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let tail = text[first..].to_ascii_lowercase();
        let unwrapped = UnwrappedText::of(&tail, &line_pieces(&tail), LineWrapping::Anywhere);
        let mut nearest = tail.len().saturating_sub(self.longest)..tail.len();
        let plain = nearest.find(|at| tail.is_char_boundary(*at) && self.begins_some(&tail[*at..], |_| true));
        let wrapped = unwrapped.and_then(|unwrapped| {
            let text = &unwrapped.text;
            let starts =
                (0..text.len()).filter(|at| text.is_char_boundary(*at) && text.len() - at >= SHORTEST_BEGINNING);
            let mut begun = starts.filter(|at| self.begins_some(&text[*at..], |entry| entry.is_long));
            begun.next().map(|at| unwrapped.original(at))
        });
        let mut start = [plain, wrapped].into_iter().flatten().min().unwrap_or(tail.len());
        // A secret that is whole is not parted by one that may begin inside of it.
        let spans = self.spans(&text[first..]);
        while let Some(parted) = spans.iter().find(|span| span.begins < start && span.range.end > start) {
            start = parted.begins;
        }
        first + start
    }

    /// Returns whether a text of this kind begins with this one and goes on.
    fn begins_some(&self, beginning: &str, is_meant: impl Fn(&SecretTableEntry) -> bool) -> bool {
        if beginning.as_bytes().first_chunk().is_some_and(|first| !self.beginnings.contains(first)) {
            return false;
        }
        let after = (std::ops::Bound::Excluded(beginning), std::ops::Bound::Unbounded);
        let mut begun = self.entries.range::<str, _>(after).take_while(|(text, _)| text.starts_with(beginning)).take(8);
        begun.any(|(_, entry)| is_meant(entry))
    }
}

/// Puts spans in order and makes one of those that overlap.
fn apart(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.range.start, span.range.end));
    let mut apart: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match apart.last_mut().filter(|last| span.range.start < last.range.end) {
            Some(last) => {
                last.range.end = last.range.end.max(span.range.end);
                last.begins = last.begins.min(span.begins);
            }
            None => apart.push(span),
        }
    }
    apart
}

/// Parts a span where lines end, so that a text has as many of them as before.
fn line_by_line(text: &str, span: Span) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut start = span.range.start;
    for line in text[span.range.clone()].split_inclusive(['\n', '\r']) {
        let range = start..start + line.trim_end_matches(['\n', '\r']).len();
        start += line.len();
        if !range.is_empty() {
            spans.push(Span { range, file: span.file, begins: span.begins });
        }
    }
    spans
}

fn automaton<'s>(texts: impl IntoIterator<Item = &'s String>) -> AhoCorasick {
    // Longest first, so that a value that begins with another one goes as a whole.
    let built = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .ascii_case_insensitive(true)
        // Rebuilt whenever a file changes, so building it must be quick.
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(texts);
    built.expect("some thousand short values fit an automaton")
}
