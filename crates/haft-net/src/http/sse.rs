//! Parses server-sent events as their bytes arrive.
//!
//! The bytes can be cut anywhere: in the middle of a letter, or between the two characters that end a line. The reader
//! looks only at whole lines, so the same bytes give the same events however they are cut.
//!
//! Not here: the meaning of an event, and reconnecting: a question that haft repeats costs twice. For callers that
//! reconnect, the reader remembers where they can resume a stream.

/// The longest event that is read, in bytes. A whole reply in one event is far shorter.
const LONGEST_EVENT: usize = 16 * 1024 * 1024;

/// One server-sent event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// Its name; empty where it has none.
    pub name: String,
    /// Its data; the lines of it joined.
    pub data: String,
}

/// Where a stream can be resumed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resumption {
    /// The id of the last event that had one.
    pub last_id: Option<String>,
    /// How long the server wants its reader to wait first, in milliseconds.
    pub wait: Option<u64>,
}

/// An event that is longer than `LONGEST_EVENT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl std::fmt::Display for TooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "an event of more than {} MiB", LONGEST_EVENT / 1024 / 1024)
    }
}

impl std::error::Error for TooLong {}

/// Reads server-sent events out of bytes.
#[derive(Debug)]
pub struct SseDecoder {
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    /// The line before ended with a carriage return, so a line feed that follows belongs to that end.
    after_return: bool,
    is_first_line: bool,
    longest: usize,
    resumption: Resumption,
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self {
            line: Vec::new(),
            event: SseEvent::default(),
            has_data: false,
            after_return: false,
            is_first_line: true,
            longest: LONGEST_EVENT,
            resumption: Resumption::default(),
        }
    }
}

impl SseDecoder {
    /// Takes more bytes and returns the events that are whole now.
    ///
    /// # Errors
    ///
    /// Fails for an event that is too long.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<Vec<SseEvent>, TooLong> {
        let mut events = Vec::new();
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if self.line.len() + self.event.data.len() + piece.len() > self.longest {
                return Err(TooLong);
            }
            self.line.extend_from_slice(piece);
            bytes = rest;
            if end.is_some() {
                self.after_return = bytes[0] == b'\r';
                bytes = &bytes[1..];
                events.extend(self.end_line());
            }
        }
        Ok(events)
    }

    /// Returns where the stream can be resumed from what was read so far.
    pub fn resumption(&self) -> &Resumption {
        &self.resumption
    }

    /// Says that no more bytes come. Returns the event that was not ended by an empty line: many servers forget it.
    pub fn end(mut self) -> Option<SseEvent> {
        let last = if self.line.is_empty() { None } else { self.end_line() };
        last.or_else(|| self.dispatch())
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        let mut line: &[u8] = &line;
        if std::mem::take(&mut self.is_first_line) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let line = String::from_utf8_lossy(line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.event.name),
            // An id with a zero byte is none, by the standard.
            "id" if !value.contains('\0') => self.resumption.last_id = Some(value.to_owned()),
            "retry" => self.resumption.wait = value.parse().ok().or(self.resumption.wait),
            // A comment has no name.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        let event = std::mem::take(&mut self.event);
        std::mem::take(&mut self.has_data).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{SseDecoder, SseEvent, TooLong};

    fn decoded(chunks: &[&[u8]]) -> Vec<SseEvent> {
        let mut decoder = SseDecoder::default();
        let mut events: Vec<SseEvent> =
            chunks.iter().flat_map(|chunk| decoder.push(chunk).expect("it is short")).collect();
        events.extend(decoder.end());
        events
    }

    fn check(stream: &str, expected: &[(&str, &str)]) {
        let expected: Vec<SseEvent> =
            expected.iter().map(|(name, data)| SseEvent { name: (*name).into(), data: (*data).into() }).collect();
        assert_eq!(decoded(&[stream.as_bytes()]), expected, "{stream:?}");
    }

    #[test]
    fn a_line_may_end_in_three_ways() {
        check("data: a\n\ndata: b\r\rdata: c\r\n\r\n", &[("", "a"), ("", "b"), ("", "c")]);
    }

    #[test]
    fn lines_of_data_are_joined_and_one_space_is_left_out() {
        check("event: e\ndata: a\ndata:  b\ndata\ndata:c\n\n", &[("e", "a\n b\n\nc")]);
    }

    #[test]
    fn comments_unknown_fields_and_events_without_data_are_left_out() {
        check(": ping\nid: 4\nretry: 1\n{\"a\":1}\n\nevent: ping\n\ndata: a\n\n", &[("", "a")]);
    }

    #[test]
    fn the_mark_of_the_byte_order_counts_only_at_the_beginning() {
        check("\u{feff}data: a\n\n\u{feff}data: b\n\n", &[("", "a")]);
    }

    #[test]
    fn the_last_event_needs_no_empty_line() {
        check("data: a\n\ndata: [DONE]", &[("", "a"), ("", "[DONE]")]);
        check("data: a\n", &[("", "a")]);
    }

    #[test]
    fn what_is_no_utf_8_is_replaced() {
        assert_eq!(decoded(&[b"data: a\xFFb\n\n"])[0].data, "a\u{fffd}b");
    }

    #[test]
    fn an_event_has_a_longest_length_however_it_is_divided_into_lines() {
        let limit = |longest, chunks: &[&[u8]]| {
            let mut decoder = SseDecoder { longest, ..SseDecoder::default() };
            chunks.iter().try_for_each(|chunk| decoder.push(chunk).map(|_| ()))
        };
        assert_eq!(limit(8, &[b"data:abc", b"\n\n", b"data:def\n\n"]), Ok(()));
        assert_eq!(limit(8, &[b"data:abc", b"d"]), Err(TooLong));
        assert_eq!(limit(12, &[b"data:abcdef\n", b"data:gh\n\n"]), Err(TooLong));
    }

    proptest! {
        #[test]
        fn the_same_bytes_give_the_same_events_however_they_are_cut(
            lines in proptest::collection::vec(
                prop_oneof![
                    "data: ?[a-zé{}\":]{0,6}", "event: ?[a-z]{1,3}", "[:a-z]{0,4}", Just(String::new()), Just("\u{feff}data:b".to_owned()),
                ],
                0..12,
            ),
            ends in proptest::collection::vec(prop_oneof![Just("\n"), Just("\r"), Just("\r\n")], 12),
            noise in proptest::option::of((any::<usize>(), any::<u8>())),
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
        ) {
            let mut bytes: Vec<u8> = lines.iter().zip(&ends).flat_map(|(line, end)| [line.as_bytes(), end.as_bytes()].concat()).collect();
            if let (Some((at, byte)), false) = (noise, bytes.is_empty()) {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts {
                chunks.push(&bytes[from..cut]);
                from = cut;
            }
            chunks.push(&bytes[from..]);
            prop_assert_eq!(decoded(&chunks), decoded(&[&bytes]));
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            prop_assert_eq!(decoded(&single), decoded(&[&bytes]));
        }
    }
}
