//! Pairs lines of the old text with lines of the region.

use super::Lines;
use super::folded::OldTextLine;

/// How many lines may have been added or left out around the proposed start.
const BAND: usize = 8;
/// Lines that have less in common are not paired.
const PAIRED: f32 = 0.35;
/// What a line of the file between two pairs takes away, so that lines next to each other are preferred.
const GAP: f32 = 0.06;
/// Sums that differ less are equal.
const CLOSE: f32 = 1e-4;

/// A line of the old text, a line of the file, or both where they belong together.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct LinePair<'t> {
    /// The line of the old text.
    pub(in super::super) old: Option<&'t str>,
    /// The index and text of the line of the file.
    pub(in super::super) file: Option<(usize, &'t str)>,
}

/// Pairs the lines so that most is in common, and returns how much that is.
pub(super) fn align<'t>(lines: &Lines<'t>, wanted: &[OldTextLine<'t>], start: usize) -> (Vec<LinePair<'t>>, f32) {
    let first = start.saturating_sub(BAND);
    let height = lines.len().min(start + wanted.len() + BAND).saturating_sub(first);
    let scores = scores(lines, wanted, (first, height));
    let (mut old, mut file) = (0, 0);
    let mut pairs = Vec::new();
    let total = scores.at(0, 0);
    while old < wanted.len() || file < height {
        let line = |file: usize| (first + file, lines.at(first + file));
        let here = scores.at(old, file);
        if old < wanted.len() && file < height && scores.at(old + 1, file + 1) < here && scores.paired(old, file, here)
        {
            pairs.push(LinePair { old: Some(wanted[old].line), file: Some(line(file)) });
            (old, file) = (old + 1, file + 1);
        } else if file < height && scores.at(old, file + 1) - gap(old, wanted.len()) >= here - CLOSE {
            pairs.push(LinePair { old: None, file: Some(line(file)) });
            file += 1;
        } else {
            pairs.push(LinePair { old: wanted.get(old).map(|old| old.line), file: None });
            old += 1;
        }
    }
    (trimmed(pairs), total / wanted.len() as f32)
}

/// Returns the first and last line of the file that are paired.
pub(super) fn bounds(pairs: &[LinePair<'_>]) -> Option<(usize, usize)> {
    let mut paired = pairs.iter().filter(|pair| pair.old.is_some()).filter_map(|pair| pair.file);
    let first = paired.next()?.0;
    Some((first, paired.next_back().map_or(first, |(last, _)| last)))
}

/// The best sum of likenesses of what is left from each pair of positions on.
struct Scores {
    best: Vec<f32>,
    alike: Vec<f32>,
    width: usize,
}

impl Scores {
    fn at(&self, old: usize, file: usize) -> f32 {
        self.best[old * self.width + file]
    }

    fn paired(&self, old: usize, file: usize, here: f32) -> bool {
        let alike = self.alike[old * self.width + file];
        alike >= PAIRED && (alike + self.at(old + 1, file + 1) - here).abs() < CLOSE
    }
}

/// Returns what it costs to leave out a line of the file; before the first and after the last it is free.
fn gap(old: usize, height: usize) -> f32 {
    if old == 0 || old == height { 0.0 } else { GAP }
}

fn scores(lines: &Lines<'_>, wanted: &[OldTextLine<'_>], (first, height): (usize, usize)) -> Scores {
    let width = height + 1;
    let mut scores =
        Scores { best: vec![0.0; width * (wanted.len() + 1)], alike: vec![0.0; width * (wanted.len() + 1)], width };
    for old in (0..wanted.len()).rev() {
        for file in (0..height).rev() {
            let is_near = file.abs_diff(old) <= 2 * BAND;
            let alike = if is_near { wanted[old].alike(lines.at(first + file)) } else { 0.0 };
            let diagonal = if alike >= PAIRED { alike + scores.at(old + 1, file + 1) } else { 0.0 };
            let best = diagonal.max(scores.at(old + 1, file)).max(scores.at(old, file + 1) - gap(old, wanted.len()));
            scores.alike[old * width + file] = alike;
            scores.best[old * width + file] = best;
        }
    }
    scores
}

/// Leaves out the lines of the file before the first and after the last pair.
fn trimmed(pairs: Vec<LinePair<'_>>) -> Vec<LinePair<'_>> {
    let Some((first, last)) = bounds(&pairs) else { return pairs };
    pairs.into_iter().filter(|pair| pair.file.is_none_or(|(index, _)| (first..=last).contains(&index))).collect()
}
