//! Differences between two texts, line by line, for people and models to read.
//!
//! A diff is data: the code that shows it chooses colours and length. It is only for display and never applied. So its
//! lines show invisible differences: `␍` where line ends differ, and words where the last line end is missing.
//!
//! The comparison has a time limit. If two texts differ too much, the diff shows changed parts as wholes, and
//! [`Diff::coarse`] says so. The cost of an edit with known stretches depends on the stretches, not on the file.
//!
//! Not here: colours (`haft-cli`), changing texts (`encoding`), three texts (`merge`).

#[cfg(test)]
mod tests;

use std::fmt::{self, Write};
use std::hash::Hash;
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};

use super::encoding::replaced;
use super::lines::{LineBreak, LineEnds};

/// How long a comparison looks for the shortest difference.
const LONGEST: Duration = Duration::from_millis(300);
/// Most characters of a line that are rendered.
const LINE_SHOWN: usize = 500;

/// The differences of two texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// The changed places, each with unchanged lines around it.
    pub hunks: Vec<DiffHunk>,
    /// How many lines the new text has that the old one had not.
    pub added: usize,
    /// How many lines the old text had that the new one has not.
    pub removed: usize,
    /// Whether time ran out, so that changed parts are shown as wholes.
    pub coarse: bool,
}

/// One changed place with the lines around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffHunk {
    /// The number of its first line in the old text, from 1.
    pub old_line: usize,
    /// The number of its first line in the new text, from 1.
    pub new_line: usize,
    /// Its lines; of a replaced part all deleted ones, then all inserted ones.
    pub lines: Vec<DiffLine>,
}

/// One line of a diff, as it is shown, without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffLine {
    /// Both texts have it.
    Equal(String),
    /// Only the old text has it.
    Delete(String),
    /// Only the new text has it.
    Insert(String),
}

impl Diff {
    /// Compares two texts; `context` is the number of unchanged lines around a change.
    pub fn between(before: &str, after: &str, context: usize) -> Diff {
        let line_break = LineBreak::of(&[before.as_bytes(), after.as_bytes()]);
        let whole = ComparedLines { old: lines(line_break, before), new: lines(line_break, after), before: 0 };
        compare(&[whole], context)
    }

    /// Shows what replacing some stretches does (byte ranges, sorted, not overlapping), without reading the rest.
    ///
    /// # Panics
    /// When a range is not one of `before`: a defect of the caller.
    pub fn of_replacements(before: &str, replacements: &[(Range<usize>, &str)], context: usize) -> Diff {
        let bytes = before.as_bytes();
        let texts: Vec<&[u8]> =
            std::iter::once(bytes).chain(replacements.iter().map(|(_, new)| new.as_bytes())).collect();
        let line_break = LineBreak::of(&texts);
        let parts = parts(line_break, bytes, replacements, context);
        let new_parts: Vec<String> = parts.iter().map(|part| part.replaced(before, replacements)).collect();
        let (mut counted, mut before_part) = (0, 0);
        let mut stretches = Vec::with_capacity(parts.len());
        for (part, new_part) in parts.iter().zip(&new_parts) {
            before_part += line_break.count(&bytes[counted..part.place.start]);
            counted = part.place.start;
            let old = lines(line_break, &before[part.place.clone()]);
            stretches.push(ComparedLines { old, new: lines(line_break, new_part), before: before_part });
        }
        compare(&stretches, context)
    }

    /// Writes the diff as plain text, at most so many lines of it.
    pub fn render(&self, most_lines: usize) -> String {
        let mut text = String::new();
        let mut left = most_lines;
        for hunk in self.hunks.iter().take_while(|_| most_lines > 0) {
            if left == 0 {
                break;
            }
            let _infallible = writeln!(text, "{}", hunk.header());
            for line in hunk.lines.iter().take(left) {
                render_line(&mut text, line);
            }
            left = left.saturating_sub(hunk.lines.len());
        }
        let all: usize = self.hunks.iter().map(|hunk| hunk.lines.len()).sum();
        let _infallible = match all.saturating_sub(most_lines) {
            0 => Ok(()),
            1 => writeln!(text, "[1 more line]"),
            more => writeln!(text, "[{more} more lines]"),
        };
        if self.coarse {
            text.push_str("[comparing took too long; changed parts are shown as wholes]\n");
        }
        text
    }

    /// Tells whether [`Diff::render`] with this limit shows every line in full.
    pub fn is_shown_whole(&self, most_lines: usize) -> bool {
        let mut lines = self.hunks.iter().flat_map(|hunk| &hunk.lines);
        let count = self.hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>();
        count <= most_lines && !lines.any(DiffLine::is_cut)
    }

    /// Returns what is known of the new text to a reader who knows the old one and sees [`Diff::render`] with this
    /// limit: the old text and every new line that is shown in full. Old lines stay where the lines that replace them
    /// are not all shown. The diff must be that [`Diff::between`] the two texts.
    pub fn known_from(&self, before: &str, after: &str, most_lines: usize) -> String {
        let line_break = LineBreak::of(&[before.as_bytes(), after.as_bytes()]);
        let (old, new) = (lines(line_break, before), lines(line_break, after));
        let (mut known, mut copied, mut left) = (String::new(), 0, most_lines);
        for hunk in &self.hunks {
            let (mut old_at, mut new_at) = (hunk.old_line - 1, hunk.new_line - 1);
            for part in hunk.lines.chunk_by(|one, next| one.is_equal() == next.is_equal()) {
                let is_shown = |(at, line): (usize, &DiffLine)| at < left && !line.is_cut();
                let shown: Vec<bool> = part.iter().enumerate().map(is_shown).collect();
                left = left.saturating_sub(part.len());
                if part[0].is_equal() {
                    (old_at, new_at) = (old_at + part.len(), new_at + part.len());
                    continue;
                }
                // All deleted lines precede all inserted ones.
                let deleted = part.iter().take_while(|line| matches!(line, DiffLine::Delete(_))).count();
                let kept = if shown.iter().all(|shown| *shown) { old_at } else { old_at + deleted };
                known.extend(old[copied..kept].iter().copied());
                let inserted = new[new_at..].iter().zip(&shown[deleted..]);
                known.extend(inserted.filter(|(_, shown)| **shown).map(|(line, _)| *line));
                (old_at, new_at) = (old_at + deleted, new_at + part.len() - deleted);
                copied = old_at;
            }
        }
        known.extend(old[copied..].iter().copied());
        known
    }

    /// Returns all lines, to be changed before they are shown.
    pub fn lines_mut(&mut self) -> impl Iterator<Item = &mut DiffLine> {
        self.hunks.iter_mut().flat_map(|hunk| &mut hunk.lines)
    }

    /// Tells whether the texts are the same.
    pub fn is_empty(&self) -> bool {
        self.hunks.is_empty()
    }
}

impl DiffHunk {
    /// Says in words where the hunk is.
    pub fn header(&self) -> String {
        if self.old_line == self.new_line {
            return format!("@@ line {} @@", self.old_line);
        }
        format!("@@ line {}, now {} @@", self.old_line, self.new_line)
    }
}

impl DiffLine {
    /// Returns the text of the line, to be changed before it is shown.
    pub fn text_mut(&mut self) -> &mut String {
        match self {
            DiffLine::Equal(text) | DiffLine::Delete(text) | DiffLine::Insert(text) => text,
        }
    }

    /// Returns the line without its prefix.
    pub fn text(&self) -> &str {
        match self {
            DiffLine::Equal(text) | DiffLine::Delete(text) | DiffLine::Insert(text) => text,
        }
    }

    /// Tells whether both texts have it.
    fn is_equal(&self) -> bool {
        matches!(self, DiffLine::Equal(_))
    }

    /// Tells whether it is too long to be shown in full.
    fn is_cut(&self) -> bool {
        self.text().chars().nth(LINE_SHOWN).is_some()
    }

    /// Returns the two characters that precede it.
    pub fn prefix(&self) -> &'static str {
        match self {
            DiffLine::Equal(_) => "  ",
            DiffLine::Delete(_) => "- ",
            DiffLine::Insert(_) => "+ ",
        }
    }
}

impl fmt::Display for DiffLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.prefix(), self.text())
    }
}

/// Compares the text to replace with the text that replaces it, and returns all lines of both.
///
/// The two are parts of a file, so their last line ends do not count.
pub fn render_file_diff(target: &str, patch: &str) -> Vec<DiffLine> {
    let (old, new): (Vec<&str>, Vec<&str>) = (target.lines().collect(), patch.lines().collect());
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(Instant::now() + LONGEST));
    let show = |line: &str| line.to_owned();
    ops.iter().flat_map(|op| lines_of(op, (&old, &new), show)).collect()
}

/// Finds, for each new line, the old line that it is, stands for, or follows; nothing when that takes too long.
///
/// A line before all old lines has the first of them, and is 0 also when there are none.
pub fn counterparts(old: &[&str], new: &[&str]) -> Option<Vec<usize>> {
    let deadline = Instant::now() + LONGEST;
    let ops = capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(deadline));
    let of_op = |op: &DiffOp| {
        let (old, new) = (op.old_range(), op.new_range());
        let last = if old.is_empty() { old.start.saturating_sub(1) } else { old.end - 1 };
        (0..new.len()).map(move |index| (old.start + index).min(last))
    };
    let found = ops.iter().flat_map(of_op).collect();
    (Instant::now() < deadline).then_some(found)
}

/// Finds, for each new line, the old line that it is; nothing for a line that is new. Where the texts differ too much to be
/// compared in time, whole parts count as new.
pub fn unchanged<T: Hash + Ord>(old: &[T], new: &[T]) -> Vec<Option<usize>> {
    let deadline = Instant::now() + LONGEST;
    let mut found = vec![None; new.len()];
    for op in capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(deadline)) {
        if op.tag() == DiffTag::Equal {
            op.new_range().zip(op.old_range()).for_each(|(new, old)| found[new] = Some(old));
        }
    }
    found
}

/// Lines of both texts that are compared with each other.
struct ComparedLines<'t> {
    old: Vec<&'t str>,
    new: Vec<&'t str>,
    /// How many lines of the old text precede it.
    before: usize,
}

/// A part of the old text around replacements that are near to each other.
struct ReplacementRegion {
    place: Range<usize>,
    /// Which replacements lie in it.
    replacements: Range<usize>,
}

impl ReplacementRegion {
    fn replaced(&self, before: &str, replacements: &[(Range<usize>, &str)]) -> String {
        let start = self.place.start;
        let moved = replacements[self.replacements.clone()].iter();
        let moved: Vec<_> = moved.map(|(range, new)| (range.start - start..range.end - start, *new)).collect();
        replaced(&before[self.place.clone()], &moved)
    }
}

/// Finds the whole lines around the replacements, with their context. What touches is one part.
fn parts(
    line_break: LineBreak,
    text: &[u8],
    replacements: &[(Range<usize>, &str)],
    context: usize,
) -> Vec<ReplacementRegion> {
    let mut parts: Vec<ReplacementRegion> = Vec::new();
    let mut line_end = 0;
    for (index, (range, _)) in replacements.iter().enumerate() {
        // A million replacements in one long line: it is looked through once, not for each of them.
        if let Some(last) = parts.last_mut().filter(|_| range.end < line_end) {
            last.replacements.end = index + 1;
            continue;
        }
        line_end = line_break.end_of_line(text, range.end);
        let mut start = line_break.start_of_line(text, range.start);
        let mut end = line_end;
        for _ in 0..context {
            start = if start == 0 { 0 } else { line_break.start_of_line(text, start - 1) };
            end = line_break.end_of_line(text, end);
        }
        match parts.last_mut() {
            Some(last) if start <= last.place.end => {
                last.place.end = last.place.end.max(end);
                last.replacements.end = index + 1;
            }
            _ => parts.push(ReplacementRegion { place: start..end, replacements: index..index + 1 }),
        }
    }
    parts
}

/// Compares stretches of two texts, in one time for all.
fn compare(stretches: &[ComparedLines<'_>], context: usize) -> Diff {
    let deadline = Instant::now() + LONGEST;
    let groups: Vec<Vec<Vec<DiffOp>>> = stretches
        .iter()
        .map(|stretch| {
            let ops = capture_diff_slices_deadline(Algorithm::Myers, &stretch.old, &stretch.new, Some(deadline));
            let changed = ops.iter().any(|op| op.tag() != DiffTag::Equal);
            if changed { group_diff_ops(ops, context) } else { Vec::new() }
        })
        .collect();
    let mut diff = Diff { coarse: Instant::now() >= deadline, ..Diff::default() };
    let ends_differ = ends_of(stretches, &groups) == LineEnds::Mixed;
    let mut new_before = 0;
    let mut old_before = 0;
    for (stretch, groups) in stretches.iter().zip(&groups) {
        new_before += stretch.before - old_before;
        old_before = stretch.before;
        for ops in groups {
            diff.add_hunk(ops, stretch, new_before, ends_differ.then_some('␍'));
        }
        new_before += stretch.new.len();
        old_before += stretch.old.len();
    }
    diff
}

impl Diff {
    /// Adds one group of changes; `new_before` lines of the new text precede the stretch.
    fn add_hunk(&mut self, ops: &[DiffOp], stretch: &ComparedLines<'_>, new_before: usize, sign: Option<char>) {
        let Some(first) = ops.first() else { return };
        let mut hunk = DiffHunk {
            old_line: stretch.before + first.old_range().start + 1,
            new_line: new_before + first.new_range().start + 1,
            lines: Vec::new(),
        };
        for op in ops {
            let is_equal = op.tag() == DiffTag::Equal;
            let show = |line: &str| shown(line, sign.filter(|_| !is_equal));
            hunk.lines.extend(lines_of(op, (&stretch.old, &stretch.new), show));
            if !is_equal {
                self.removed += op.old_range().len();
                self.added += op.new_range().len();
            }
        }
        self.hunks.push(hunk);
    }
}

/// Returns the lines of one operation: what both have, or all deletions and then all insertions.
fn lines_of(op: &DiffOp, (old, new): (&[&str], &[&str]), show: impl Fn(&str) -> String) -> Vec<DiffLine> {
    if op.tag() == DiffTag::Equal {
        return old[op.old_range()].iter().map(|line| DiffLine::Equal(show(line))).collect();
    }
    let deleted = old[op.old_range()].iter().map(|line| DiffLine::Delete(show(line)));
    let inserted = new[op.new_range()].iter().map(|line| DiffLine::Insert(show(line)));
    deleted.chain(inserted).collect()
}

/// Returns how the lines end that will be shown.
fn ends_of(stretches: &[ComparedLines<'_>], groups: &[Vec<Vec<DiffOp>>]) -> LineEnds {
    let of_line = |ends: LineEnds, line: &&str| ends.and(LineEnds::of_line(line.as_bytes()));
    let mut ends = LineEnds::None;
    for (stretch, groups) in stretches.iter().zip(groups) {
        for op in groups.iter().flatten() {
            ends = stretch.old[op.old_range()].iter().fold(ends, of_line);
            ends = stretch.new[op.new_range()].iter().fold(ends, of_line);
        }
    }
    ends
}

/// Returns a line as it is shown: `sign` stands for a `\r` at its end, where line ends differ.
fn shown(line: &str, sign: Option<char>) -> String {
    let without = line.strip_suffix('\n');
    let text = without.unwrap_or(line);
    let (text, has_return) = text.strip_suffix('\r').map_or((text, false), |text| (text, true));
    let mut shown = text.replace('\r', "␍");
    if let Some(sign) = sign.filter(|_| has_return) {
        shown.push(sign);
    }
    if without.is_none() && !has_return {
        shown.push_str(" [no line end]");
    }
    shown
}

fn render_line(text: &mut String, line: &DiffLine) {
    let shown = line.text();
    let _infallible = match shown.char_indices().nth(LINE_SHOWN) {
        None => writeln!(text, "{line}"),
        Some((cut, _)) => {
            let more = shown[cut..].chars().count();
            writeln!(text, "{}{} [… {more} more characters in this line]", line.prefix(), &shown[..cut])
        }
    };
}

/// Splits a text into its lines, each with its end.
fn lines(line_break: LineBreak, text: &str) -> Vec<&str> {
    text.split_inclusive(char::from(line_break.byte())).collect()
}
