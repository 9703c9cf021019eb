//! Keeps the end of a job's output as plain text without secrets. Its size is always bounded.

use haft_contract::doors::job::JobOutput;
use haft_contract::doors::process::Stream;
use haft_contract::text::plain_text::PlainText;

use crate::redaction::redact::{ChunkRedactor, Redactor};

/// Most bytes that are kept of a job.
const MOST_KEPT: usize = 512 * 1024;

/// The end of the output of a job: both streams, line by line, in the order of arrival.
pub(super) struct JobLog {
    redactor: Redactor,
    out: Ear,
    err: Ear,
    kept: String,
    /// How many bytes were dropped before what is kept.
    dropped: u64,
}

struct Ear {
    plain_text: PlainText,
    hiding: ChunkRedactor,
}

impl Default for Ear {
    fn default() -> Self {
        Self { plain_text: PlainText::line_by_line(), hiding: ChunkRedactor::default() }
    }
}

impl JobLog {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self { redactor, out: Ear::default(), err: Ear::default(), kept: String::new(), dropped: 0 }
    }

    /// Takes a piece of a stream.
    pub(super) fn take(&mut self, stream: Stream, piece: &[u8]) {
        let ear = match stream {
            Stream::Out => &mut self.out,
            Stream::Err => &mut self.err,
        };
        let text = ear.plain_text.take(piece);
        let shown = ear.hiding.take(&self.redactor, &text);
        self.keep(&shown);
    }

    /// Takes what both streams held back.
    pub(super) fn finish(&mut self) {
        for stream in [Stream::Out, Stream::Err] {
            let ear = match stream {
                Stream::Out => &mut self.out,
                Stream::Err => &mut self.err,
            };
            let text = ear.plain_text.rest();
            let mut shown = ear.hiding.take(&self.redactor, &text) + &ear.hiding.rest(&self.redactor);
            if !shown.is_empty() && !shown.ends_with('\n') {
                shown.push('\n');
            }
            self.keep(&shown);
        }
    }

    /// Returns how many bytes were printed.
    pub(super) fn printed(&self) -> u64 {
        self.dropped + self.kept.len() as u64
    }

    /// Returns what comes behind a position, of at most so many bytes the last, in whole lines where that is possible.
    pub(super) fn from(&self, position: u64, most: usize) -> JobOutput {
        let skipped = usize::try_from(position.saturating_sub(self.dropped)).unwrap_or(usize::MAX);
        let begin = self.kept.ceil_char_boundary(skipped.min(self.kept.len()));
        let text = last_lines(&self.kept[begin..], most);
        let printed = self.printed();
        let left_out = printed.saturating_sub(position).saturating_sub(text.len() as u64);
        JobOutput { text: text.to_owned(), left_out, position: printed }
    }

    fn keep(&mut self, text: &str) {
        self.kept.push_str(text);
        if self.kept.len() > MOST_KEPT {
            // More than necessary, so that not every line moves all others.
            let rest = last_lines(&self.kept, MOST_KEPT / 2).len();
            let dropped = self.kept.len() - rest;
            self.kept.drain(..dropped);
            self.dropped += dropped as u64;
        }
    }
}

/// Returns the last lines that fit; the end of one line where none does.
fn last_lines(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let cut = &text[text.ceil_char_boundary(text.len() - most)..];
    match cut.find('\n') {
        Some(end) if end + 1 < cut.len() => &cut[end + 1..],
        _ => cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> JobLog {
        JobLog::new(Redactor::of_values(["hunter2-hunter2".to_owned()]))
    }

    #[test]
    fn both_streams_are_kept_as_they_come_without_secrets() {
        let mut log = log();
        for (stream, piece) in
            [(Stream::Out, "one\nhunter2-"), (Stream::Err, "\x1b[31mtwo\x1b[0m\n"), (Stream::Out, "hunter2\n")]
        {
            log.take(stream, piece.as_bytes());
        }
        assert_eq!(log.from(0, 1000).text, "one\ntwo\n[secret]\n");
        let read = log.from(0, 1000).position;
        log.take(Stream::Out, b"rest");
        log.finish();
        assert_eq!(log.from(read, 1000), JobOutput { text: "rest\n".into(), left_out: 0, position: log.printed() });
    }

    #[test]
    fn of_much_the_last_lines_are_kept_and_the_rest_is_counted() {
        let mut log = log();
        for number in 0..200_000 {
            log.take(Stream::Out, format!("line {number}\n").as_bytes());
        }
        let all: u64 = (0..200_000).map(|number| format!("line {number}\n").len() as u64).sum();
        assert_eq!(log.printed(), all);
        assert!(log.kept.len() <= MOST_KEPT);
        let last = log.from(0, 30);
        assert_eq!(last.text, "line 199998\nline 199999\n");
        assert_eq!(last.left_out, all - last.text.len() as u64);
    }
}
