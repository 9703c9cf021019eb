//! Skims output when haft can keep only its end.
//!
//! haft reads a program that prints without end for as long as the program runs. Once the disk limit is reached, only the
//! last bytes are useful. The others are not worth reading as text.

/// How much of the end is held back.
const LAST: usize = 128 * 1024;

/// The end of an output, as bytes.
#[derive(Debug, Default)]
pub(super) struct Skimming {
    last: Vec<u8>,
    /// How many bytes came before those.
    skipped: u64,
}

impl Skimming {
    pub(super) fn take(&mut self, piece: &[u8]) {
        self.last.extend_from_slice(piece);
        if self.last.len() > 4 * LAST {
            let beyond = self.last.len() - LAST;
            self.last.drain(..beyond);
            self.skipped += beyond as u64;
        }
    }

    /// Returns how many bytes were skipped, and the end from the beginning of a line.
    pub(super) fn end(&self) -> (u64, &[u8]) {
        if self.skipped == 0 {
            return (0, &self.last);
        }
        let line = self.last.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let begin = line.max(behind_cut_key(&self.last));
        (self.skipped + begin as u64, &self.last[begin..])
    }
}

/// A private key whose beginning was skipped would not be recognised any more: returns where it ends.
fn behind_cut_key(bytes: &[u8]) -> usize {
    let find = |what: &[u8]| bytes.windows(what.len()).position(|window| window == what);
    match (find(b"-----END "), find(b"-----BEGIN ")) {
        (Some(end), begin) if begin.is_none_or(|begin| begin > end) => {
            bytes[end..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |line| end + line + 1)
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(pieces: impl IntoIterator<Item = Vec<u8>>) -> (u64, Vec<u8>) {
        let mut skimming = Skimming::default();
        pieces.into_iter().for_each(|piece| skimming.take(&piece));
        let (skipped, last) = skimming.end();
        (skipped, last.to_vec())
    }

    #[test]
    fn a_short_rest_is_kept_whole() {
        assert_eq!(end([b"half a li".to_vec(), b"ne\nend".to_vec()]), (0, b"half a line\nend".to_vec()));
    }

    #[test]
    fn of_a_long_rest_the_last_lines_are_kept_and_all_others_counted() {
        let lines = (0..200_000).map(|number| format!("line {number}\n").into_bytes());
        let length: usize = lines.clone().map(|line| line.len()).sum();
        let (skipped, last) = end(lines);
        assert!(last.starts_with(b"line ") && last.ends_with(b"line 199999\n"));
        assert_eq!(skipped + last.len() as u64, length as u64);
        assert!(last.len() <= 4 * LAST);
    }

    #[test]
    fn half_a_private_key_is_left_out() {
        let mut output = b"x\n".repeat(4 * LAST);
        output.extend(b"MIIE\n-----END PRIVATE KEY-----\ndone\n");
        let (_, last) = end([output]);
        assert_eq!(last, b"done\n");
    }
}
