//! How much two lines have in common, measured by the pairs of bytes they share.

use super::super::whole_lines::BLANKS;

/// Bytes of a line that are compared; the rest of a very long line is left out.
const COMPARED: usize = 400;
const BUCKETS: usize = 1024;

/// The pairs of bytes of some lines.
pub(super) struct PairSet {
    bits: Vec<u64>,
    len: usize,
}

impl PairSet {
    pub(super) fn new(lines: &[&str]) -> Self {
        let mut set = Self { bits: vec![0; (1 << 16) / 64], len: 0 };
        for pair in lines.iter().flat_map(|line| line.trim_matches(BLANKS).as_bytes().array_windows::<2>()) {
            let number = usize::from(u16::from_be_bytes(*pair));
            set.bits[number / 64] |= 1 << (number % 64);
            set.len += 1;
        }
        set
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns how many pairs of a line are in the set, and how many it has.
    pub(super) fn shared(&self, line: &str) -> (u32, u32) {
        let bytes = line.trim_matches(BLANKS).as_bytes();
        let mut shared = 0;
        for pair in bytes.array_windows::<2>() {
            let number = usize::from(u16::from_be_bytes(*pair));
            shared += (self.bits[number / 64] >> (number % 64)) as u32 & 1;
        }
        (shared, u32::try_from(bytes.len().saturating_sub(1)).unwrap_or(u32::MAX))
    }
}

/// Returns how much two lines have in common, from 0 to 1; outer blanks do not count.
pub(super) fn alike(one: &str, other: &str) -> f32 {
    let (one, other) = (one.trim_matches(BLANKS).as_bytes(), other.trim_matches(BLANKS).as_bytes());
    if one == other {
        return 1.0;
    }
    let (one, other) = (&one[..one.len().min(COMPARED)], &other[..other.len().min(COMPARED)]);
    if one.is_empty() || other.is_empty() {
        return 0.0;
    }
    let bucket = |pair: [u8; 2]| (usize::from(pair[0]) * 31 + usize::from(pair[1])) % BUCKETS;
    let mut counts = [0_u16; BUCKETS];
    let mut shared = 0;
    pairs(one).for_each(|pair| counts[bucket(pair)] += 1);
    for pair in pairs(other) {
        let count = &mut counts[bucket(pair)];
        shared += usize::from(*count > 0);
        *count = count.saturating_sub(1);
    }
    // Each has one pair more than bytes, because both ends count.
    2.0 * shared as f32 / (one.len() + other.len() + 2) as f32
}

/// Returns the pairs of bytes of a line, with its ends as bytes of their own.
fn pairs(line: &[u8]) -> impl Iterator<Item = [u8; 2]> + '_ {
    let before = std::iter::once(&0).chain(line);
    before.zip(line.iter().chain(std::iter::once(&0))).map(|(first, second)| [*first, *second])
}
