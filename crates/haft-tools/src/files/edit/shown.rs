//! Shows lines in a refusal: cuts them to the difference, and makes white space visible where it matters.

use std::fmt::Write;

use super::nearest::{LinePair, Nearest};

/// Characters of a line that are shown.
const SHOWN: usize = 110;
/// Lines that are shown with their difference.
const LINES: usize = 6;

/// Words of the old text that are looked for in a long line.
const WORDS: usize = 20;

/// Returns the differences between the old text and the region, one line each, and what they amount to.
pub(super) fn differences(nearest: &Nearest<'_>) -> String {
    let different: Vec<&LinePair<'_>> =
        nearest.pairs.iter().filter(|pair| pair.old != pair.file.map(|(_, line)| line)).collect();
    let mut words = String::new();
    for pair in different.iter().take(LINES) {
        let _infallible = match (pair.old, pair.file) {
            (Some(old), Some((index, line))) => {
                let (line, old) = both(line, old);
                write!(words, "\n  line {} is    {line}\n  old_text has {old}", nearest.line_number(index))
            }
            (None, Some((index, line))) => {
                write!(words, "\n  line {} is not in old_text: {}", nearest.line_number(index), cut(line, 0))
            }
            (Some(old), None) => write!(words, "\n  old_text has a line that is not there: {}", cut(old, 0)),
            (None, None) => Ok(()),
        };
    }
    if different.len() > LINES {
        let _infallible = write!(words, "\n  and {} more lines differ", different.len() - LINES);
    }
    words
}

/// Returns whether lines differ, and only in white space.
pub(super) fn only_white_space_differs(pairs: &[LinePair<'_>]) -> bool {
    let bare = |line: &str| -> String { line.chars().filter(|letter| !letter.is_whitespace()).collect() };
    pairs.iter().all(|pair| match (pair.old, pair.file) {
        (Some(old), Some((_, line))) => bare(old) == bare(line),
        (Some(line), None) | (None, Some((_, line))) => bare(line).is_empty(),
        (None, None) => true,
    })
}

/// Shows two lines from a little before where they differ.
fn both(line: &str, old: &str) -> (String, String) {
    let bare = |line: &str| -> String { line.chars().filter(|letter| !letter.is_whitespace()).collect() };
    let same = line.chars().zip(old.chars()).take_while(|(one, other)| one == other).count();
    let from = same.saturating_sub(SHOWN / 2);
    let is_inside = same == 0 && line.chars().nth(SHOWN).is_some();
    let line_from = if is_inside { begin_inside(line, old) } else { from };
    let (line_shown, old_shown) = (cut(line, line_from), cut(old, from));
    if bare(line) == bare(old) { (visible(&line_shown), visible(&old_shown)) } else { (line_shown, old_shown) }
}

/// Returns where a long line seems to hold the old text: at the first longer word of it that the line has.
fn begin_inside(line: &str, old: &str) -> usize {
    let words = old.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.len() > 3);
    let at = words.take(WORDS).find_map(|word| line.find(word)).unwrap_or(0);
    line[..at].chars().count().saturating_sub(SHOWN / 4)
}

fn cut(line: &str, from: usize) -> String {
    let before = if from > 0 { "…" } else { "" };
    let mut rest = line.chars().skip(from);
    let shown: String = rest.by_ref().take(SHOWN).collect();
    let after = if rest.next().is_some() { "…" } else { "" };
    format!("{before}{shown}{after}")
}

/// Writes white space so that it can be seen.
fn visible(line: &str) -> String {
    let mut shown = String::new();
    for letter in line.chars() {
        match letter {
            ' ' => shown.push('·'),
            '\t' => shown.push('→'),
            '\r' => shown.push('␍'),
            '\u{a0}' => shown.push('⍽'),
            other if other.is_whitespace() => {
                let _infallible = write!(shown, "<U+{:04X}>", u32::from(other));
            }
            other => shown.push(other),
        }
    }
    shown
}
