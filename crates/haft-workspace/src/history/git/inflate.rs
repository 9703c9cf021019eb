//! Decompresses loose objects, to see which other objects they name.
//!
//! A loose object is a zlib stream. Only objects that undo adds back from the journal are read, so this is small and
//! plain rather than fast. The checksum at the end is not compared: the journal has compared its own.
//!
//! Not here: packed objects.

/// How much of an object is decompressed; only a blob is larger, and it names no other object.
const LARGEST: usize = 64 * 1024 * 1024;
/// Most bits of a code.
const MOST_BITS: usize = 15;

const LENGTH_BASE: [u16; 29] =
    [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const LENGTH_EXTRA: [u8; 29] = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASE: [u16; 30] = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
    8193, 12289, 16385, 24577,
];
const DISTANCE_EXTRA: [u8; 30] =
    [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13];
/// The order in which the lengths of the codes for lengths are written.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Decompresses a zlib stream; nothing when it is damaged. Of a very large one the beginning is returned.
pub(in crate::history) fn inflate(stream: &[u8]) -> Option<Vec<u8>> {
    let (header, body) = stream.split_first_chunk::<2>()?;
    if header[0] & 0x0f != 8 || u16::from_be_bytes(*header) % 31 != 0 || header[1] & 0x20 != 0 {
        return None;
    }
    let mut bits = Bits { bytes: body, at: 0, held: 0, count: 0 };
    let mut text = Vec::new();
    loop {
        let is_last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut text)?,
            1 => coded(&mut bits, &mut text, &fixed())?,
            2 => {
                let codes = dynamic(&mut bits)?;
                coded(&mut bits, &mut text, &codes)?;
            }
            _ => return None,
        }
        if is_last || text.len() > LARGEST {
            return Some(text);
        }
    }
}

/// A stream read bit by bit, the lowest first.
struct Bits<'b> {
    bytes: &'b [u8],
    at: usize,
    held: u32,
    count: u32,
}

impl Bits<'_> {
    fn take(&mut self, count: u32) -> Option<u32> {
        while self.count < count {
            self.held |= u32::from(*self.bytes.get(self.at)?) << self.count;
            self.at += 1;
            self.count += 8;
        }
        let value = self.held & ((1 << count) - 1);
        self.held >>= count;
        self.count -= count;
        Some(value)
    }
}

/// A Huffman code: how many codes there are of each length, and the symbols in their order.
struct Code {
    counts: [u16; MOST_BITS + 1],
    symbols: Vec<u16>,
}

impl Code {
    fn of(lengths: &[u8]) -> Self {
        let mut counts = [0; MOST_BITS + 1];
        lengths.iter().for_each(|length| counts[usize::from(*length)] += 1);
        counts[0] = 0;
        let mut symbols: Vec<(u8, u16)> = lengths.iter().copied().zip(0..).filter(|(length, _)| *length > 0).collect();
        symbols.sort_unstable();
        Self { counts, symbols: symbols.into_iter().map(|(_, symbol)| symbol).collect() }
    }

    fn next(&self, bits: &mut Bits<'_>) -> Option<u16> {
        let (mut code, mut first, mut index) = (0_i32, 0_i32, 0_i32);
        for count in &self.counts[1..] {
            code |= i32::try_from(bits.take(1)?).ok()?;
            let count = i32::from(*count);
            if code - count < first {
                return self.symbols.get(usize::try_from(index + code - first).ok()?).copied();
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

fn stored(bits: &mut Bits<'_>, text: &mut Vec<u8>) -> Option<()> {
    // It begins at the next whole byte; whole bytes that were taken already are given back.
    bits.at -= (bits.count / 8) as usize;
    (bits.held, bits.count) = (0, 0);
    let length = usize::from(u16::from_le_bytes(*bits.bytes.get(bits.at..)?.first_chunk()?));
    let begin = bits.at + 4;
    text.extend_from_slice(bits.bytes.get(begin..begin + length)?);
    bits.at = begin + length;
    Some(())
}

fn fixed() -> (Code, Code) {
    let lengths: Vec<u8> = (0..288_u16)
        .map(|symbol| match symbol {
            144..=255 => 9,
            256..=279 => 7,
            _ => 8,
        })
        .collect();
    (Code::of(&lengths), Code::of(&[5; 30]))
}

fn dynamic(bits: &mut Bits<'_>) -> Option<(Code, Code)> {
    let (lengths, distances) = (bits.take(5)? as usize + 257, bits.take(5)? as usize + 1);
    let count = bits.take(4)? as usize + 4;
    let mut of_lengths = [0; 19];
    for place in &ORDER[..count] {
        of_lengths[*place] = u8::try_from(bits.take(3)?).ok()?;
    }
    let code = Code::of(&of_lengths);
    let mut all: Vec<u8> = Vec::with_capacity(lengths + distances);
    while all.len() < lengths + distances {
        let (length, times) = match code.next(bits)? {
            16 => (*all.last()?, 3 + bits.take(2)?),
            17 => (0, 3 + bits.take(3)?),
            18 => (0, 11 + bits.take(7)?),
            length => (u8::try_from(length).ok()?, 1),
        };
        all.extend(std::iter::repeat_n(length, times as usize));
    }
    let (of_lengths, of_distances) = (all.get(..lengths)?, all.get(lengths..lengths + distances)?);
    Some((Code::of(of_lengths), Code::of(of_distances)))
}

fn coded(bits: &mut Bits<'_>, text: &mut Vec<u8>, (lengths, distances): &(Code, Code)) -> Option<()> {
    loop {
        match lengths.next(bits)? {
            256 => return Some(()),
            symbol @ 0..=255 => text.push(u8::try_from(symbol).ok()?),
            symbol => {
                let place = usize::from(symbol) - 257;
                let extra = bits.take(u32::from(*LENGTH_EXTRA.get(place)?))?;
                let length = usize::from(LENGTH_BASE[place]) + extra as usize;
                let place = usize::from(distances.next(bits)?);
                let extra = bits.take(u32::from(*DISTANCE_EXTRA.get(place)?))?;
                let distance = usize::from(DISTANCE_BASE[place]) + extra as usize;
                let from = text.len().checked_sub(distance)?;
                (from..from + length).for_each(|at| text.push(text[at]));
            }
        }
        if text.len() > LARGEST {
            return Some(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DYNAMIC: &str = "78da2590c10d00410802ff56416ba888fd57706eee69101cac48e5eeba736907571d392441b789de454ff78a46967260b4148bb7dd760d26f73478964b4584abd06ca08d895921ce5e6fe64ea0e11d0f813835d885a88498f9125a1935ca2aa1a49ddda43c3e41e8309b2ed63e166c1f6b8ca96a2a532a87ea1a44c756bc2693e78adeb4b09cb0583d77e4451e23ae65f20e1eb70e503393faedf70ee735fa0015dc6117";

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        digits.chunks(2).map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap()).collect()
    }

    #[test]
    fn streams_of_all_kinds_of_blocks_are_read() {
        let stored = bytes("7801 01 0500 faff 68656c6c6f 062c0215");
        assert_eq!(inflate(&stored).as_deref(), Some(&b"hello"[..]));
        let fixed = bytes("78da2b294a4d5528811319a93939f9c8241700d0430bf7");
        assert_eq!(inflate(&fixed).as_deref(), Some(&b"tree tree tree hello hello hello\n"[..]));
        let dynamic = bytes(DYNAMIC);
        let text = inflate(&dynamic).expect("it is sound");
        assert!(text.len() == 300 && text.starts_with(b"c\nbebhhhgdbhagg") && text.ends_with(b" bfagbgcc"));
    }

    #[test]
    fn damaged_streams_are_refused_and_end() {
        let mut seed = 7_u64;
        for length in 0..2_000 {
            let mut stream = vec![0x78, 0x9c];
            for _ in 0..length % 97 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                stream.push((seed >> 33) as u8);
            }
            let _ = inflate(&stream);
        }
        assert_eq!(inflate(b""), None);
    }
}
