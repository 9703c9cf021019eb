//! Lines as they come in, one message each, in bounded memory.
//!
//! Reading blocks and cannot be given up, so it has a thread of its own. A line that is too long is skipped to its end
//! without being kept.

use std::io::{self, BufRead, BufReader, Read};

use tokio::sync::mpsc;

/// Longest line, in bytes.
pub(crate) const LONGEST_LINE: usize = 64 * 1024 * 1024;
/// How much is read at once.
const STEP: usize = 64 * 1024;

/// One line of input that is not empty.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line without its end.
    Message(Vec<u8>),
    /// A line that was longer than a message may be.
    TooLong,
}

/// Reads lines until the input ends. At most one waits to be taken.
pub(crate) fn read_lines(input: impl Read + Send + 'static) -> mpsc::Receiver<Line> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut input = BufReader::with_capacity(STEP, input);
        // An input that cannot be read any more has ended, whatever the reason.
        while let Ok(Some(line)) = read_line(&mut input, LONGEST_LINE) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Reads the next line that is not blank.
fn read_line(input: &mut impl BufRead, longest: usize) -> io::Result<Option<Line>> {
    loop {
        let mut line = Vec::new();
        let mut too_long = false;
        let mut has_ended = true;
        loop {
            let step = match input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                step => step?,
            };
            if step.is_empty() {
                break;
            }
            has_ended = false;
            let end = step.iter().position(|&byte| byte == b'\n');
            let piece = &step[..end.unwrap_or(step.len())];
            too_long |= line.len() + piece.len() > longest;
            if too_long {
                line = Vec::new();
            } else {
                line.extend_from_slice(piece);
            }
            let taken = piece.len() + usize::from(end.is_some());
            input.consume(taken);
            if end.is_some() {
                break;
            }
        }
        match (has_ended, too_long) {
            (true, _) => return Ok(None),
            (false, true) => return Ok(Some(Line::TooLong)),
            (false, false) if line.trim_ascii().is_empty() => {}
            (false, false) => return Ok(Some(Line::Message(line))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, longest: usize) -> Vec<Line> {
        let mut input = BufReader::with_capacity(4, text.as_bytes());
        std::iter::from_fn(|| read_line(&mut input, longest).expect("it can be read")).collect()
    }

    fn message(text: &str) -> Line {
        Line::Message(text.as_bytes().to_vec())
    }

    #[test]
    fn blank_lines_are_none_and_the_last_one_needs_no_end() {
        assert_eq!(all("\n\r\n  \nabc\r\n\nde", 10), [message("abc\r"), message("de")]);
        assert_eq!(all("", 10), []);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_one_is_whole() {
        assert_eq!(all("0123456789\n01234567890\nab\n", 10), [message("0123456789"), Line::TooLong, message("ab")]);
        assert_eq!(all("01234567890", 10), [Line::TooLong]);
    }
}
