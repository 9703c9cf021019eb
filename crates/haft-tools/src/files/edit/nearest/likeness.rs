//! Measures how much two lines have in common, by the pairs of bytes they share.

/// Bytes of a line of the old text that are compared; the rest of a very long line is left out.
const COMPARED: usize = 400;
/// Bytes an old text must have to be looked for as a part of a line.
const PART: usize = 6;
const BUCKETS: usize = 1024;

/// The pairs of bytes of some lines.
pub(super) struct PairSet {
    bits: Vec<u64>,
    len: usize,
}

impl PairSet {
    pub(super) fn new<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let mut set = Self { bits: vec![0; (1 << 16) / 64], len: 0 };
        for pair in lines.flat_map(|line| line.as_bytes().array_windows::<2>()) {
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
        let bytes = line.as_bytes();
        let mut shared = 0;
        for pair in bytes.array_windows::<2>() {
            let number = usize::from(u16::from_be_bytes(*pair));
            shared += (self.bits[number / 64] >> (number % 64)) as u32 & 1;
        }
        (shared, u32::try_from(bytes.len().saturating_sub(1)).unwrap_or(u32::MAX))
    }
}

/// Returns how much a line of the old text and one of the file have in common, from 0 to 1; both are folded.
pub(super) fn alike(old: &str, line: &str) -> f32 {
    let (old, line) = (old.as_bytes(), line.as_bytes());
    if old == line {
        return 1.0;
    }
    let old = &old[..old.len().min(COMPARED)];
    if old.is_empty() || line.is_empty() {
        return 0.0;
    }
    let bucket = |pair: [u8; 2]| (usize::from(pair[0]) * 31 + usize::from(pair[1])) % BUCKETS;
    let mut counts = [0_u16; BUCKETS];
    let mut shared = 0;
    pairs(old).for_each(|pair| counts[bucket(pair)] += 1);
    for pair in pairs(line) {
        let count = &mut counts[bucket(pair)];
        shared += usize::from(*count > 0);
        *count = count.saturating_sub(1);
    }
    // Each has one pair more than bytes, because both ends count.
    let common = 2.0 * shared as f32 / (old.len() + line.len() + 2) as f32;
    // The old text may be a part of a longer line. A long line has many pairs by chance, so a part has to be nearly whole.
    let held = if old.len() >= PART { shared as f32 / (old.len() + 1) as f32 } else { 0.0 };
    common.max(0.8 * held * held)
}

/// Returns the pairs of bytes of a line, with its ends as bytes of their own.
fn pairs(line: &[u8]) -> impl Iterator<Item = [u8; 2]> + '_ {
    let before = std::iter::once(&0).chain(line);
    before.zip(line.iter().chain(std::iter::once(&0))).map(|(first, second)| [*first, *second])
}
