//! One version of a file: its lines, and who wrote each.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use haft_contract::text::diff::unchanged;
use haft_contract::text::lines::LineBreak;

use super::LineOrigin;
use crate::state::journal::ContentHash;

/// A version of a file.
pub(super) struct BlamedVersion {
    /// The hash of its content, where that is in the journal.
    pub(super) hash: Option<ContentHash>,
    /// Stands for the text of each line, without the `\n` at its end: the last line may get one.
    lines: Vec<u64>,
    /// Who wrote each line.
    pub(super) origins: Vec<LineOrigin>,
}

impl BlamedVersion {
    /// Makes a version of a text. A line that a parent has is from there, from the first parent that has it; all others are
    /// new, and have this origin.
    pub(super) fn of(text: &str, hash: Option<ContentHash>, parents: &[Rc<BlamedVersion>], new: LineOrigin) -> Self {
        let lines = numbered(text);
        let mut origins: Vec<Option<LineOrigin>> = vec![None; lines.len()];
        for parent in parents {
            for (origin, old) in origins.iter_mut().zip(unchanged(&parent.lines, &lines)) {
                *origin = origin.or(old.map(|old| parent.origins[old]));
            }
        }
        Self { hash, lines, origins: origins.into_iter().map(|origin| origin.unwrap_or(new)).collect() }
    }

    /// Returns whether at least half of the lines have another origin.
    pub(super) fn is_much_from_elsewhere(&self, origin: LineOrigin) -> bool {
        let elsewhere = self.origins.iter().filter(|known| **known != origin).count();
        2 * elsewhere >= self.origins.len()
    }
}

fn numbered(text: &str) -> Vec<u64> {
    let lines = LineBreak::of(&[text.as_bytes()]).split(text.as_bytes());
    let number = |line: &[u8]| {
        let mut hasher = DefaultHasher::new();
        line.strip_suffix(b"\n").unwrap_or(line).hash(&mut hasher);
        hasher.finish()
    };
    lines.into_iter().map(number).collect()
}
