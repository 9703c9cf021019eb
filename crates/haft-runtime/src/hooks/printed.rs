//! Keeps what the command of a hook prints, up to the length that a reader needs.

use std::sync::{Mutex, PoisonError};

use haft_contract::doors::process::Stream;
use haft_contract::text::plain_text::PlainText;

/// Most bytes that are kept of each stream.
pub(super) const MOST: usize = 64 * 1024;

/// The output of a hook's command so far.
#[derive(Default)]
pub(super) struct HookOutput(Mutex<Streams>);

#[derive(Default)]
struct Streams {
    out: StreamCapture,
    err: StreamCapture,
}

/// The kept part of one stream.
#[derive(Default)]
pub(super) struct StreamCapture {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl HookOutput {
    pub(super) fn take(&self, stream: Stream, piece: &[u8]) {
        let mut streams = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match stream {
            Stream::Out => streams.out.take(piece),
            Stream::Err => streams.err.take(piece),
        }
    }

    /// Returns the output and the errors.
    pub(super) fn into_streams(self) -> (StreamCapture, StreamCapture) {
        let Streams { out, err } = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        (out, err)
    }
}

impl StreamCapture {
    fn take(&mut self, piece: &[u8]) {
        let room = MOST - self.bytes.len();
        self.is_cut |= piece.len() > room;
        self.bytes.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    /// Returns whether there was more than is kept.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns the bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns it as a terminal would show it in the end, without blanks around it.
    pub(super) fn words(&self) -> String {
        let mut plain = PlainText::default();
        let text = plain.take(&self.bytes) + &plain.rest();
        text.trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_much_is_kept_and_control_sequences_are_no_words() {
        let printed = HookOutput::default();
        printed.take(Stream::Err, b"\x1b[31m no \x1b[0m\n");
        printed.take(Stream::Out, &vec![b'a'; MOST]);
        printed.take(Stream::Out, b"b");
        let (out, err) = printed.into_streams();
        assert_eq!((out.bytes().len(), out.is_cut(), err.is_cut(), err.words()), (MOST, true, false, "no".to_owned()));
    }
}
