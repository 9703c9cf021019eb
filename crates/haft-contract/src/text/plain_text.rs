//! Turns the output of a program into plain text: the text that a terminal would show at the end.
//!
//! Programs draw progress bars with carriage returns, cursor movements and colours. A model or a
//! record needs only the final text. So the output runs over a small screen without width, and lines
//! become text when they scroll out of it. Memory is always bounded: the screen has few lines, and a
//! line that does not end is passed on in parts.
//!
//! The text is the same however the output is cut into pieces. A character is one column.
//!
//! Not here: hiding secrets (`Progress`), cutting what is too long (`head_and_tail`).

mod screen;
mod sequence;

#[cfg(test)]
mod tests;

use screen::Screen;
use sequence::Sequences;

/// How many lines can still be changed by cursor movements.
const SCREEN_LINES: usize = 50;

/// Turns output that comes in pieces into plain text.
#[derive(Debug)]
pub struct PlainText {
    /// The beginning of a character whose end has not come yet; at most three bytes.
    begun: Vec<u8>,
    sequences: Sequences,
    screen: Screen,
}

impl Default for PlainText {
    fn default() -> Self {
        Self::with_lines(SCREEN_LINES)
    }
}

impl PlainText {
    /// Holds only the current line back: what is shown while a program runs, and may be changed by it later.
    pub fn line_by_line() -> Self {
        Self::with_lines(1)
    }

    fn with_lines(lines: usize) -> Self {
        Self { begun: Vec::new(), sequences: Sequences::default(), screen: Screen::new(lines) }
    }

    /// Takes a piece of output; returns the text that cannot change any more.
    pub fn take(&mut self, piece: &[u8]) -> String {
        if self.begun.is_empty() {
            self.decode(piece);
        } else {
            let mut whole = std::mem::take(&mut self.begun);
            whole.extend_from_slice(piece);
            self.decode(&whole);
        }
        self.screen.scrolled_out()
    }

    /// Returns what is left on the screen at the end.
    pub fn rest(&mut self) -> String {
        if !std::mem::take(&mut self.begun).is_empty() {
            self.sequences.run("\u{fffd}", &mut self.screen);
        }
        self.sequences.end(&mut self.screen);
        self.screen.rest()
    }

    fn decode(&mut self, bytes: &[u8]) {
        // Mostly all of it is text, and one look at the whole is much faster than one at each character.
        if let Ok(text) = str::from_utf8(bytes) {
            return self.sequences.run(text, &mut self.screen);
        }
        let mut left = bytes.len();
        for chunk in bytes.utf8_chunks() {
            left -= chunk.valid().len() + chunk.invalid().len();
            self.sequences.run(chunk.valid(), &mut self.screen);
            match chunk.invalid() {
                [] => {}
                begun if left == 0 && may_go_on(begun) => self.begun = begun.to_vec(),
                _ => self.sequences.run("\u{fffd}", &mut self.screen),
            }
        }
    }
}

/// Returns whether these bytes are the beginning of a character.
fn may_go_on(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}
