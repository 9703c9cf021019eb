//! Finds the lines that are most like a missing text, only to word a refusal.
//!
//! Typography, white space and copied line numbers do not count here. Two cheap passes over the text propose starts:
//! equal lines vote for the start they imply, and the module sums the byte pairs that also occur in the old text over
//! a window. It compares only the few best starts line by line, so a large file costs one walk.
//!
//! Not here: any say in where an edit is applied.

mod alignment;
mod folded;
mod likeness;

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use memchr::memchr_iter;

use super::even::EvenText;
use super::whole_lines::BLANKS;

pub(super) use alignment::LinePair;
use folded::{OldTextLine, folded};
use likeness::PairSet;

/// Lines of the old text that are looked at; the rest adds nothing to finding the place.
const OLD_LINES: usize = 60;
/// Proposals that are compared line by line.
const PROPOSALS: usize = 6;
/// Places of one and the same line within the old text that may vote.
const VOTES: usize = 4;
/// Lines by which a proposal from byte pairs may be off.
const SLIP: usize = 3;
/// Below this likeness a region is not worth showing.
const WORTH_SHOWING: f32 = 0.3;

/// The region of the text that is most like the old text.
pub(super) struct Nearest<'t> {
    /// Index of its first line among those of the even text.
    first: usize,
    /// The numbers of its lines, as the other tools count.
    numbers: Vec<usize>,
    /// Its bytes in the even text, without the last line end.
    pub(super) range: Range<usize>,
    /// From 0 (nothing in common) to 1 (equal but for white space and typography).
    pub(super) likeness: f32,
    /// Which line of the old text belongs to which line of the region.
    pub(super) pairs: Vec<LinePair<'t>>,
}

/// Returns the region that is most like the old text; nothing when none is worth showing.
pub(super) fn nearest<'t>(text: &'t EvenText<'_>, old: &'t str) -> Option<Nearest<'t>> {
    let lines = Lines::new(text.as_str());
    let mut wanted: Vec<&str> = old.split('\n').take(OLD_LINES).collect();
    while wanted.last().is_some_and(|line| line.trim_matches(BLANKS).is_empty()) {
        wanted.pop();
    }
    let leading = wanted.iter().take_while(|line| line.trim_matches(BLANKS).is_empty()).count();
    let wanted: Vec<OldTextLine<'_>> = wanted[leading..].iter().map(|line| OldTextLine::new(line)).collect();
    let wanted = wanted.as_slice();
    if wanted.is_empty() || lines.is_empty() {
        return None;
    }
    let mut starts = by_equal_lines(&lines, wanted);
    let around = by_byte_pairs(&lines, wanted).into_iter().flat_map(|start| start.saturating_sub(SLIP)..=start + SLIP);
    starts.extend(around.filter(|start| *start < lines.len()));
    starts.sort_unstable();
    starts.dedup();
    let likeness = |start: usize| {
        let pairs = wanted.iter().enumerate();
        pairs.map(|(index, line)| weight(line.line) as f32 * line.alike(lines.at(start + index))).sum::<f32>()
    };
    let compared = starts.into_iter().map(|start| (start, likeness(start)));
    let (start, _) = compared.reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    let (pairs, likeness) = alignment::align(&lines, wanted, start);
    let (first, last) = alignment::bounds(&pairs)?;
    let range = lines.range(first).start..lines.range(last).end;
    let first_line = text.line_at(range.start);
    let number = |index: usize| first_line + text.lines_between(&(range.start..lines.range(index).start));
    let numbers = (first..=last).map(number).collect();
    (likeness >= WORTH_SHOWING).then_some(Nearest { first, numbers, range, likeness, pairs })
}

impl Nearest<'_> {
    /// Returns the number of a line of the region, given its index in a pair.
    pub(super) fn line_number(&self, index: usize) -> usize {
        self.numbers[index - self.first]
    }
}

/// Returns how much a line says about the place: a long one more than a brace.
fn weight(line: &str) -> u32 {
    1 + line.trim_matches(BLANKS).len().min(40) as u32
}

/// The lines of a text.
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1));
        if starts.last() == Some(&text.len()) {
            starts.pop();
        }
        Self { text, starts }
    }

    fn len(&self) -> usize {
        self.starts.len()
    }

    fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the bytes of a line without its end; empty beyond the last line.
    fn range(&self, index: usize) -> Range<usize> {
        let Some(start) = self.starts.get(index).copied() else { return self.text.len()..self.text.len() };
        let next = self.starts.get(index + 1).copied().unwrap_or(self.text.len());
        start..next - usize::from(self.text[start..next].ends_with('\n'))
    }

    fn at(&self, index: usize) -> &'t str {
        &self.text[self.range(index)]
    }
}

/// Lets every line that is equal to one of the old text vote for the start that follows from it.
fn by_equal_lines(lines: &Lines<'_>, wanted: &[OldTextLine<'_>]) -> Vec<usize> {
    let hasher = RandomState::new();
    let mut positions: HashMap<u64, Vec<usize>> = HashMap::new();
    let forms = wanted.iter().enumerate().flat_map(|(index, line)| {
        [Some(&line.folded), line.bare.as_ref()].into_iter().flatten().map(move |form| (index, &**form))
    });
    for (index, line) in forms.filter(|(_, line)| !line.is_empty()) {
        let places = positions.entry(hasher.hash_one(line)).or_default();
        if places.len() < VOTES {
            places.push(index);
        }
    }
    let mut votes = vec![0_u32; lines.len()];
    for index in 0..lines.len() {
        let line = folded(lines.at(index));
        for position in positions.get(&hasher.hash_one(&*line)).into_iter().flatten() {
            if let Some(start) = index.checked_sub(*position) {
                votes[start] += weight(&line) + u32::from(wanted[*position].line == lines.at(index));
            }
        }
    }
    let mut best = Vec::new();
    let voted = votes.iter().enumerate().filter(|(_, votes)| **votes > 0);
    voted.for_each(|(start, votes)| keep_best(&mut best, (f64::from(*votes), start), 1));
    best.into_iter().map(|(_, start)| start).collect()
}

/// Slides a window over the text and keeps the starts where most byte pairs also occur in the old text.
fn by_byte_pairs(lines: &Lines<'_>, wanted: &[OldTextLine<'_>]) -> Vec<usize> {
    let set = PairSet::new(wanted.iter().map(|line| &*line.folded));
    let sums: Vec<(u32, u32)> = (0..lines.len()).map(|index| set.shared(&folded(lines.at(index)))).collect();
    let (mut shared, mut total) = (0_u64, 0_u64);
    let mut best: Vec<(f64, usize)> = Vec::new();
    for (index, sum) in sums.iter().enumerate() {
        shared += u64::from(sum.0);
        total += u64::from(sum.1);
        if let Some(gone) = index.checked_sub(wanted.len()) {
            shared -= u64::from(sums[gone].0);
            total -= u64::from(sums[gone].1);
        }
        let start = (index + 1).saturating_sub(wanted.len());
        let score = 2.0 * shared as f64 / (total as f64 + set.len() as f64 + 1.0);
        keep_best(&mut best, (score, start), wanted.len());
    }
    best.into_iter().map(|(_, start)| start).collect()
}

/// Keeps the best few proposals, at most one of those that share lines.
fn keep_best(best: &mut Vec<(f64, usize)>, next: (f64, usize), height: usize) {
    let weakest = best.last().map_or(0.0, |(score, _)| *score);
    if next.0 <= weakest && best.len() == PROPOSALS {
        return;
    }
    match best.iter().position(|(_, start)| next.1.abs_diff(*start) < height) {
        Some(same) if best[same].0 >= next.0 => return,
        Some(same) => best[same] = next,
        None => best.push(next),
    }
    best.sort_by(|a, b| b.0.total_cmp(&a.0));
    best.truncate(PROPOSALS);
}
