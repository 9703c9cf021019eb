//! Forgives line numbers that the model copied from a read result or from `grep -n`.
//!
//! All lines must carry consecutive numbers in one style. A single number proves little, so a single line must also
//! stand at the line it names.
//!
//! Numbers never choose among several places: they may come from an earlier state of the file, before another edit, and
//! then they name another place.
//!
//! Lines of a file may themselves begin with numbers. Then the numbers of a new text have two readings. haft removes
//! them where they continue those of the old text, keeps them where the file itself has such numbers, and refuses
//! the edit where both may be meant.

use std::collections::HashSet;

use super::super::even::EvenText;
use super::super::exact::MatchRanges;
use super::super::whole_lines::WholeLines;
use super::{TextAdaptation, TolerantMatch};

/// The line numbers that an old text was copied with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Numbering {
    style: Style,
    padding: Padding,
    /// The number of the first line, also where it is a blank one that lacks it.
    first: usize,
    /// The old text without them.
    bare: String,
}

/// What stands between a line's number and its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Style(&'static str);

/// What brings numbers to one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Padding {
    None,
    Spaces,
    Zeros,
}

/// The styles in use: ours and `cat -n`, arrows, `grep -n`, bars.
const STYLES: [Style; 8] =
    [Style("\t"), Style("→"), Style(": "), Style(":"), Style("| "), Style("|"), Style(" | "), Style(":\t")];

/// Finds the blocks that are the old text without its line numbers.
pub(super) fn find(text: &EvenText<'_>, old: &str) -> (MatchRanges, Option<TolerantMatch>) {
    let mut all = MatchRanges::default();
    let mut first = None;
    for style in STYLES {
        let Some(numbering) = Numbering::of(old, style) else { continue };
        let block = WholeLines::new(&numbering.bare);
        // A block that begins with the end of the line before is counted from there.
        let named = numbering.first + usize::from(block.follows_line_end);
        if block.lines.len() == 1 && !stands_at(text, &block, named) {
            continue;
        }
        let (places, found) = block.places(text, |stand| {
            let agrees = block.lines == stand.lines;
            agrees.then(|| TolerantMatch::new(&block, stand, TextAdaptation::Unnumber(numbering.clone())))
        });
        all.count += places.count;
        all.may_be_more |= places.may_be_more;
        all.first.extend(places.first);
        first = first.or(found);
    }
    (all, first)
}

/// Returns a line without the number in front of it, if it has one, for the words of a refusal.
pub(in super::super) fn without_number(line: &str) -> Option<&str> {
    STYLES.iter().find_map(|style| style.number(line)?.1)
}

/// Tells whether a block stands at the line that it names.
fn stands_at(text: &EvenText<'_>, block: &WholeLines<'_>, named: usize) -> bool {
    let (mut at, mut line) = (0, 1);
    let (places, _) = block.places(text, |stand| {
        let start = stand.range.start + usize::from(block.follows_line_end);
        line += text.lines_between(&(at..start));
        at = start;
        (line == named && block.lines == stand.lines).then_some(())
    });
    places.count > 0
}

impl Numbering {
    /// Returns how a text is numbered in a style; nothing when it is not, or not one by one.
    fn of(text: &str, style: Style) -> Option<Self> {
        let mut first = None;
        let mut lines = Vec::new();
        for (index, line) in text.split('\n').enumerate() {
            if line.is_empty() {
                lines.push("");
                continue;
            }
            let (number, rest) = style.split(line)?;
            let expected: usize = *first.get_or_insert(number.checked_sub(index)?) + index;
            if number != expected {
                return None;
            }
            lines.push(rest);
        }
        let bare = lines.join("\n");
        let has_letters = bare.chars().any(char::is_alphanumeric);
        has_letters.then_some(Self { style, padding: style.padding(text), first: first?, bare })
    }

    /// Returns a new text as it belongs into the file; nothing when its numbers may be line numbers or not.
    pub(super) fn new_text(&self, new: &str) -> Option<String> {
        let depth = |line: &str| self.style.depth(line);
        if lines_of(new).all(|(_, line)| depth(line) == 0) {
            return Some(new.to_owned());
        }
        let is_alike = self.style.padding(new) == self.padding;
        let own = if is_alike { HashSet::new() } else { self.numbers_of_file() };
        let goes_on = |(index, line)| self.style.split(line).is_some_and(|(number, _)| number == self.first + index);
        if is_alike && lines_of(new).all(goes_on) {
            // Where the file has such numbers itself, there must be one more of them in front.
            let least = if self.style.padding(&self.bare) == self.padding { self.depth_of_file() } else { 0 };
            let is_blank = |line| self.style.split(line).is_some_and(|(_, rest)| rest.is_empty());
            let has_one_more = lines_of(new).any(|(_, line)| depth(line) > least)
                && lines_of(new).all(|(_, line)| depth(line) > least || is_blank(line));
            return has_one_more.then(|| self.without_numbers(new));
        }
        let most = self.depth_of_file();
        lines_of(new).all(|(_, line)| depth(line) <= most && !self.may_number(line, &own)).then(|| new.to_owned())
    }

    /// Returns how many numbers the lines of the file itself begin with.
    fn depth_of_file(&self) -> usize {
        lines_of(&self.bare).map(|(_, line)| self.style.depth(line)).max().unwrap_or(0)
    }

    /// Returns the numbers that the lines of the file itself begin with.
    fn numbers_of_file(&self) -> HashSet<usize> {
        lines_of(&self.bare).filter_map(|(_, line)| self.style.split(line)).map(|(number, _)| number).collect()
    }

    /// Tells whether the number of a line may be one of the old text's, and not one of the file's `own`.
    fn may_number(&self, line: &str, own: &HashSet<usize>) -> bool {
        let Some((number, Some(_))) = self.style.number(line) else { return false };
        let last = self.first + self.bare.split('\n').count();
        (self.first..last).contains(&number) && !own.contains(&number)
    }

    fn without_numbers(&self, text: &str) -> String {
        let bare = |line| self.style.split(line).map_or(line, |(_, rest)| rest);
        text.split('\n').map(bare).collect::<Vec<_>>().join("\n")
    }
}

impl Style {
    /// Returns the number of a line, and its text.
    fn split(self, line: &str) -> Option<(usize, &str)> {
        // Blanks at the end of a numbered blank line are easily lost.
        self.number(line).map(|(number, rest)| (number, rest.unwrap_or_default()))
    }

    /// Returns how many numbers a line begins with. A number alone is text.
    fn depth(self, line: &str) -> usize {
        let mut depth = 0;
        let mut rest = line;
        while let Some((_, Some(after))) = self.number(rest) {
            depth += 1;
            rest = after;
        }
        depth
    }

    /// Returns the number of a line, and what stands behind it and its sign; nothing where it stands alone.
    fn number(self, line: &str) -> Option<(usize, Option<&str>)> {
        let line = line.trim_start_matches(' ');
        let digits = line.len() - line.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let number: usize = line[..digits].parse().ok()?;
        match &line[digits..] {
            "" => Some((number, None)),
            sign if sign == self.0.trim_end() => Some((number, Some(""))),
            rest => rest.strip_prefix(self.0).map(|rest| (number, Some(rest))),
        }
    }

    fn padding(self, text: &str) -> Padding {
        let numbered = || text.split('\n').filter(|line| self.split(line).is_some());
        let has_zero = |line: &str| line.starts_with('0') && line[1..].starts_with(|next: char| next.is_ascii_digit());
        if numbered().any(|line| line.starts_with(' ')) {
            Padding::Spaces
        } else if numbered().any(has_zero) {
            Padding::Zeros
        } else {
            Padding::None
        }
    }
}

/// Returns the lines that are not blank, each with its index.
fn lines_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split('\n').enumerate().filter(|(_, line)| !line.trim().is_empty())
}
