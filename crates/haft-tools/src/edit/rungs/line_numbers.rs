//! Forgives line numbers that were copied along from a read result or from `grep -n`.
//!
//! All lines must carry consecutive numbers in one style. A single number proves little, so a single
//! line must also stand at the line it names.

use super::super::even::EvenText;
use super::super::exact::Places;
use super::super::whole_lines::WholeLines;
use super::{Change, Found};

/// What stands between a line's number and its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Style(&'static str);

/// The styles in use: ours and `cat -n`, arrows, `grep -n`, bars.
const STYLES: [Style; 8] =
    [Style("\t"), Style("→"), Style(": "), Style(":"), Style("| "), Style("|"), Style(" | "), Style(":\t")];

/// Finds the blocks that are the old text without its line numbers.
pub(super) fn find(text: &EvenText<'_>, old: &str) -> (Places, Option<Found>) {
    let mut all = Places::default();
    let mut first = None;
    for style in STYLES {
        let Some((number, bare)) = style.bare(old) else { continue };
        let block = WholeLines::new(&bare);
        let is_single = block.lines.len() == 1;
        let (places, found) = block.places(text, |stand| {
            let stands_there = !is_single || text.lines_of(&stand.range).0 == number;
            let agrees = stands_there && block.lines == stand.lines;
            agrees.then(|| Found::new(&block, stand, Change::Unnumber(style)))
        });
        all.count += places.count;
        all.first.extend(places.first);
        first = first.or(found);
    }
    (all, first)
}

impl Style {
    /// Returns the first number and the text without numbers; nothing when they are not consecutive.
    fn bare(self, text: &str) -> Option<(usize, String)> {
        let mut first = None;
        let mut lines = Vec::new();
        for (index, line) in text.split('\n').enumerate() {
            if line.is_empty() {
                lines.push("");
                continue;
            }
            let (number, rest) = self.split(line)?;
            let expected: usize = *first.get_or_insert(number.checked_sub(index)?) + index;
            if number != expected {
                return None;
            }
            lines.push(rest);
        }
        let bare = lines.join("\n");
        // A block that begins with the end of the line before is counted from there.
        let first = first? + usize::from(text.starts_with('\n'));
        bare.chars().any(char::is_alphanumeric).then_some((first, bare))
    }

    /// Leaves the numbers out where all lines have them; nothing where only some do.
    pub(super) fn without_numbers(self, text: &str) -> Option<String> {
        let lines = || text.split('\n').filter(|line| !line.trim().is_empty());
        // A line that is only a number is a numbered blank line among others, and text on its own.
        if !lines().filter_map(|line| self.split(line)).any(|(_, rest)| !rest.is_empty()) {
            return Some(text.to_owned());
        }
        let bare = |line| if str::trim(line).is_empty() { Some(line) } else { self.split(line).map(|(_, rest)| rest) };
        let lines: Option<Vec<&str>> = text.split('\n').map(bare).collect();
        lines.map(|lines| lines.join("\n"))
    }

    fn split(self, line: &str) -> Option<(usize, &str)> {
        let line = line.trim_start_matches(' ');
        let digits = line.len() - line.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let number: usize = line[..digits].parse().ok()?;
        let rest = &line[digits..];
        // Blanks at the end of a numbered blank line are easily lost.
        let is_blank = rest.is_empty() || rest == self.0.trim_end();
        rest.strip_prefix(self.0).or(is_blank.then_some("")).map(|rest| (number, rest))
    }
}
