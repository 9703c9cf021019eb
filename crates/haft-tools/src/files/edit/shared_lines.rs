//! Allows edits that quote the same lines, if none of them changes those lines.
//!
//! Models quote lines around a change to make it unique, and two edits of a call may quote the same ones. If each edit
//! fits exactly one place and the changed lines are apart, every order of the edits has the same result.

use std::ops::Range;

use super::ladder::EditSpan;
use super::{Count, Edit, Rung};

/// Cuts the lines that stay from both ends of all places. Returns the rest, sorted, if no two of them touch; nothing where
/// an edit was forgiven something or means several places, because then more than its changed lines decides.
pub(super) fn without_shared_lines(
    text: &str,
    edits: &[Edit<'_>],
    (places, rungs): (&[(EditSpan, usize)], &[Rung]),
) -> Option<Vec<(EditSpan, usize)>> {
    let mut cut = Vec::with_capacity(places.len());
    for (place, index) in places {
        if rungs[*index] != Rung::Exact || edits[*index].count != Count::Unique || place.new.is_some() {
            return None;
        }
        let (range, new) = changed_lines(text, place.range.clone(), edits[*index].new);
        cut.push((EditSpan { range, new: Some(new.to_owned()) }, *index));
    }
    cut.sort_by_key(|(place, _)| (place.range.start, place.range.end));
    // A whole line lies between changed lines that are apart; else the order of the edits could matter.
    let touches = cut.array_windows().any(|[(a, _), (b, _)]| line_end(text, a.range.end) >= b.range.start);
    (!touches).then_some(cut)
}

/// Returns the lines of a place that change, and what shall stand there. Only whole lines are cut.
fn changed_lines<'a>(text: &str, range: Range<usize>, new: &'a str) -> (Range<usize>, &'a str) {
    let (old, starts_line) = (&text[range.clone()], is_line_start(text, range.start));
    let same_first = if starts_line { same_lines(old.split_inclusive('\n'), new.split_inclusive('\n')) } else { 0 };
    let (old, new) = (&old[same_first..], &new[same_first..]);
    let is_open = !old.ends_with('\n') && !new.ends_with('\n') && text[range.end..].starts_with(['\n']);
    let same_last = match is_line_start(text, range.end) {
        true => same_lines(old.split_inclusive('\n').rev(), new.split_inclusive('\n').rev()),
        false if is_open => same_open_lines(old, new),
        false => 0,
    };
    (range.start + same_first..range.end - same_last, &new[..new.len() - same_last])
}

/// Returns how many bytes the last lines have that are the same, where no line end follows them.
fn same_open_lines(old: &str, new: &str) -> usize {
    let (short, long) = if old.len() < new.len() { (old, new) } else { (new, old) };
    // Lines were only added or removed before those that stay.
    if long.strip_suffix(short).is_some_and(|rest| rest.ends_with('\n')) {
        return short.len();
    }
    // Else the line end before the last lines goes with them, and a line is left.
    let most = short.matches('\n').count().min(long.matches('\n').count());
    let same = old.rsplit('\n').zip(new.rsplit('\n')).take(most).take_while(|(old, new)| old == new);
    same.map(|(line, _)| line.len() + 1).sum()
}

/// Returns where the line ends that holds a position, behind its line end.
fn line_end(text: &str, at: usize) -> usize {
    if is_line_start(text, at) { at } else { text[at..].find('\n').map_or(text.len(), |end| at + end + 1) }
}

fn is_line_start(text: &str, at: usize) -> bool {
    at == 0 || text.as_bytes()[at - 1] == b'\n'
}

/// Returns how many bytes the first lines have that are the same and complete.
fn same_lines<'t>(old: impl Iterator<Item = &'t str>, new: impl Iterator<Item = &'t str>) -> usize {
    let is_same = |(old, new): &(&str, &str)| old == new && old.ends_with('\n');
    old.zip(new).take_while(is_same).map(|(line, _)| line.len()).sum()
}
