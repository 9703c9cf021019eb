//! Converts tabs to spaces and back, as far as that is certain.
//!
//! One depth does not show how wide a tab is: a tab that stands for eight spaces may be two levels of four. So haft
//! converts a new text with other depths than the old one only in two cases. Either the block has two depths, or the
//! levels in the file or the new text are as wide as the one depth suggests.

use std::collections::HashSet;

use super::super::super::even::EvenText;
use super::{indentation, is_blank};

/// How many spaces a tab may stand for.
const WIDTHS: std::ops::RangeInclusive<usize> = 2..=8;

/// Which blanks become which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super::super) struct Conversion {
    to: To,
    /// How many spaces a tab stands for.
    width: usize,
    /// The depths that the old text has, in what was sent.
    depths: HashSet<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum To {
    Tabs,
    Spaces,
}

impl Conversion {
    /// Returns the conversions that would bring the first indented line of a text to that of the file.
    pub(super) fn candidates(sent: &[&str], lines: &[&str]) -> Vec<Self> {
        let pairs = sent.iter().zip(lines).filter(|(sent, _)| !is_blank(sent) && !has_star(sent));
        let mut pairs = pairs.map(|(sent, line)| (indentation(sent).len(), indentation(line).len()));
        // The first line that is indented at all says how wide a tab is.
        let Some((sent_depth, depth)) = pairs.find(|(sent, line)| *sent > 0 && *line > 0) else { return Vec::new() };
        let both = [(To::Tabs, sent_depth / depth), (To::Spaces, depth / sent_depth)];
        let sensible = both.into_iter().filter(|(_, width)| WIDTHS.contains(width));
        let conversion = |(to, width)| {
            let bare = Self { to, width, depths: HashSet::new() };
            let depths = sent.iter().filter(|line| !is_blank(line)).map(|line| bare.depth(line)).collect();
            Self { depths, ..bare }
        };
        sensible.map(conversion).collect()
    }

    /// Converts the blanks before the rest of a line; nothing when they are no whole number of tabs.
    pub(super) fn blanks(&self, blanks: &str, rest: &str) -> Option<String> {
        match self.to {
            To::Tabs => {
                let (levels, star) = (blanks.len() / self.width, &blanks[..blanks.len() % self.width]);
                let fits = blanks.bytes().all(|blank| blank == b' ') && (star.is_empty() || is_starred(star, rest));
                fits.then(|| format!("{}{star}", "\t".repeat(levels)))
            }
            To::Spaces => {
                let star = blanks.trim_start_matches('\t');
                let fits = star.is_empty() || is_starred(star, rest);
                fits.then(|| format!("{}{star}", " ".repeat((blanks.len() - star.len()) * self.width)))
            }
        }
    }

    /// Tells whether every line of a new text can only be meant to come where this conversion brings it.
    pub(super) fn is_certain(&self, text: &EvenText<'_>, new: &str) -> bool {
        let new_depths = || new.split('\n').filter(|line| !is_blank(line)).map(|line| self.depth(line));
        if self.depths.len() > 1 || new_depths().all(|depth| self.depths.contains(&depth)) {
            return true;
        }
        match self.to {
            To::Tabs => step(self.depths.iter().copied().chain(new_depths())) == Some(self.width),
            To::Spaces => {
                let lines = text.as_str().split('\n').filter(|line| !is_blank(line) && !has_star(line));
                // A tab among the spaces has no width of its own.
                let depth = |blanks: &str| if blanks.contains('\t') { 1 } else { blanks.len() };
                step(lines.map(|line| depth(indentation(line)))) == Some(self.width)
            }
        }
    }

    /// Returns how deep a line is, in what was sent.
    fn depth(&self, line: &str) -> usize {
        let blanks = indentation(line);
        match self.to {
            To::Tabs => blanks.len() / self.width * self.width,
            To::Spaces => blanks.bytes().take_while(|blank| *blank == b'\t').count(),
        }
    }
}

/// Returns the widest level that all depths are made of; nothing where there is only one depth.
fn step(depths: impl Iterator<Item = usize>) -> Option<usize> {
    let (mut step, mut first, mut has_two) = (0, None, false);
    for depth in depths {
        has_two |= *first.get_or_insert(depth) != depth;
        step = greatest_divisor(step, depth);
    }
    has_two.then_some(step)
}

fn greatest_divisor(mut one: usize, mut other: usize) -> usize {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// Returns whether a line may be a further one of a comment, which has a space before its star.
fn has_star(line: &str) -> bool {
    line[indentation(line).len()..].starts_with('*')
}

/// Returns whether blanks are the one space before the star of a comment's further lines, which no tab stands for.
fn is_starred(blanks: &str, rest: &str) -> bool {
    blanks == " " && rest.starts_with('*')
}
