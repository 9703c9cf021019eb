//! Reads lines, one message each, in bounded memory.
//!
//! haft watches a pipe and reads when data arrives: a reader thread would cost a thread switch for every message. A thread
//! reads inputs that cannot be watched, such as files. haft skips a line that is too long, without keeping it.

use std::collections::VecDeque;
use std::io::{PipeReader, Read};
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc;

/// Longest line, in bytes.
const LONGEST_LINE: usize = 64 * 1024 * 1024;
/// How many bytes one read takes.
const STEP: usize = 64 * 1024;

/// One line of input that is not blank.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MessageLine {
    /// A line without its end.
    Message(Vec<u8>),
    /// A line that was longer than a message may be.
    TooLong,
}

/// The lines of an input.
pub(crate) enum Lines {
    /// Of a pipe.
    Watched(WatchedPipe),
    /// Of something else. At most one waits to be taken.
    Read(mpsc::Receiver<MessageLine>),
}

impl Lines {
    /// Reads this input.
    pub(crate) fn of(input: OwnedFd) -> Self {
        Self::at_most(input, LONGEST_LINE)
    }

    /// Reads this input, whose lines have at most so many bytes.
    pub(crate) fn at_most(input: OwnedFd, longest: usize) -> Self {
        #[expect(deprecated, reason = "what replaces it is unsafe, for descriptors that change; an owned one does not")]
        let watched = AsyncFd::try_with_interest(input, Interest::READABLE);
        match watched {
            Ok(input) => Lines::Watched(WatchedPipe {
                input,
                cut: LineSplitter::at(longest),
                step: vec![0; STEP],
                has_ended: false,
            }),
            Err(unwatched) => Lines::Read(read_on_thread(unwatched.into_parts().0, longest)),
        }
    }

    /// Waits for the next line; nothing when the input has ended. Can be given up at any moment without losing one.
    pub(crate) async fn next(&mut self) -> Option<MessageLine> {
        match self {
            Lines::Watched(watched) => watched.next().await,
            Lines::Read(lines) => lines.recv().await,
        }
    }
}

/// A pipe that is read as soon as it has input.
pub(crate) struct WatchedPipe {
    input: AsyncFd<OwnedFd>,
    cut: LineSplitter,
    step: Vec<u8>,
    has_ended: bool,
}

impl WatchedPipe {
    async fn next(&mut self) -> Option<MessageLine> {
        loop {
            if let Some(line) = self.cut.ready.pop_front() {
                return Some(line);
            }
            if self.has_ended {
                return None;
            }
            let Ok(mut readable) = self.input.readable().await else { return None };
            let input = readable.get_inner();
            // haft must not make the pipe non-blocking: that would also affect the process at the other end.
            let got = if has_something(input) { read(input, &mut *self.step) } else { Err(Errno::AGAIN) };
            match got {
                Ok(0) => self.has_ended = true,
                Ok(many) => self.cut.feed(&self.step[..many]),
                Err(Errno::AGAIN) => readable.clear_ready(),
                Err(Errno::INTR) => {}
                // An input that cannot be read any more has ended, whatever the reason.
                Err(_) => self.has_ended = true,
            }
            if self.has_ended {
                self.cut.end();
            }
        }
    }
}

fn has_something(input: &impl AsFd) -> bool {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(input, PollFlags::IN)], Some(&at_once)).is_ok_and(|ready| ready > 0)
}

fn read_on_thread(input: OwnedFd, longest: usize) -> mpsc::Receiver<MessageLine> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        let (mut input, mut step) = (PipeReader::from(input), vec![0; STEP]);
        let mut cut = LineSplitter::at(longest);
        loop {
            let many = match input.read(&mut step) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Ok(many) => many,
                Err(_) => 0,
            };
            if many == 0 {
                cut.end();
            }
            cut.feed(&step[..many]);
            while let Some(line) = cut.ready.pop_front() {
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
            if many == 0 {
                return;
            }
        }
    });
    receiver
}

/// Splits input that arrives in pieces into lines.
struct LineSplitter {
    longest: usize,
    line: Vec<u8>,
    is_too_long: bool,
    ready: VecDeque<MessageLine>,
}

impl LineSplitter {
    fn at(longest: usize) -> Self {
        Self { longest, line: Vec::new(), is_too_long: false, ready: VecDeque::new() }
    }

    fn feed(&mut self, mut piece: &[u8]) {
        while let Some(end) = piece.iter().position(|&byte| byte == b'\n') {
            self.add(&piece[..end]);
            self.end();
            piece = &piece[end + 1..];
        }
        self.add(piece);
    }

    fn add(&mut self, piece: &[u8]) {
        self.is_too_long |= self.line.len() + piece.len() > self.longest;
        if self.is_too_long {
            self.line = Vec::new();
        } else {
            self.line.extend_from_slice(piece);
        }
    }

    /// Ends the line. A blank one is none.
    fn end(&mut self) {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_too_long) {
            self.ready.push_back(MessageLine::TooLong);
        } else if !line.trim_ascii().is_empty() {
            self.ready.push_back(MessageLine::Message(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a text that comes in pieces of so many bytes.
    fn all(text: &str, longest: usize, pieces: usize) -> Vec<MessageLine> {
        let mut cut = LineSplitter::at(longest);
        text.as_bytes().chunks(pieces).for_each(|piece| cut.feed(piece));
        cut.end();
        cut.ready.into()
    }

    fn message(text: &str) -> MessageLine {
        MessageLine::Message(text.as_bytes().to_vec())
    }

    #[test]
    fn blank_lines_are_none_and_the_last_one_needs_no_end() {
        for pieces in 1..8 {
            assert_eq!(all("\n\r\n  \nabc\r\n\nde", 10, pieces), [message("abc\r"), message("de")]);
            assert_eq!(all("", 10, pieces), []);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_one_is_whole() {
        let expected = [message("0123456789"), MessageLine::TooLong, message("ab")];
        for pieces in 1..30 {
            assert_eq!(all("0123456789\n01234567890\nab\n", 10, pieces), expected);
            assert_eq!(all("01234567890", 10, pieces), [MessageLine::TooLong]);
        }
    }
}
