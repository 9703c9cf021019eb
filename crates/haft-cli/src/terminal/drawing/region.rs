//! The live region: the last rows on the screen, which haft redraws. Everything above them belongs to the scrollback.
//!
//! haft prints finished text as logical lines. The terminal wraps them, and wraps them again when its size changes. haft
//! never touches them again: it uses no scroll region, clears nothing and sends the terminal no queries. A frame begins by
//! moving up over the rows that the old region occupies at the current width. A count that is too large would erase a part
//! of the scrollback, so each row is shorter than the terminal, and the count is never above that of any terminal.
//!
//! Not here: what is shown (`app`), writing to the terminal (`terminal.rs`).

use std::fmt::Write;

use super::painted::{bare, cut, width};

/// Begins and ends a frame that the terminal shows as a whole.
const SYNC_BEGINS: &str = "\u{1b}[?2026h\u{1b}[?25l";
const SYNC_ENDS: &str = "\u{1b}[?25h\u{1b}[?2026l";
const ERASE_BELOW: &str = "\u{1b}[J";

/// The content of the live region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::terminal) struct ScreenFrame {
    /// The rows, from above.
    pub(in crate::terminal) rows: Vec<String>,
    /// Where the cursor is: the row, and the column in it.
    pub(in crate::terminal) cursor: (usize, usize),
}

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) struct TerminalSize {
    pub(in crate::terminal) rows: usize,
    pub(in crate::terminal) columns: usize,
}

/// Whether colours are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum Colours {
    On,
    Off,
}

/// Whether a terminal wraps lines again when its width changes. Most do; xterm, rxvt and the console of Linux cut them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum Reflow {
    Breaks,
    Cuts,
}

/// The region as it is on the screen.
pub(in crate::terminal) struct Region {
    colours: Colours,
    reflow: Reflow,
    drawn: ScreenFrame,
    size: Option<TerminalSize>,
}

impl Region {
    pub(in crate::terminal) fn new(colours: Colours, reflow: Reflow) -> Self {
        Self { colours, reflow, drawn: ScreenFrame::default(), size: None }
    }

    /// Returns the bytes that print finished lines and draw this frame below them; nothing where nothing changes.
    pub(in crate::terminal) fn update(
        &mut self,
        finished: &[String],
        frame: &ScreenFrame,
        size: TerminalSize,
    ) -> String {
        let frame = fitted(frame, size);
        if finished.is_empty() && frame == self.drawn && self.size == Some(size) {
            return String::new();
        }
        let mut out = String::from(SYNC_BEGINS);
        self.move_to_top(&mut out, size);
        for line in finished {
            // A line that contains line ends is several.
            for part in line.split('\n') {
                out.push_str(&self.shown(part));
                out.push_str("\r\n");
            }
        }
        for (index, row) in frame.rows.iter().enumerate() {
            out.push_str(if index > 0 { "\r\n" } else { "" });
            out.push_str(&self.shown(row));
        }
        place_cursor(&mut out, &frame);
        out.push_str(SYNC_ENDS);
        self.drawn = frame;
        self.size = Some(size);
        out
    }

    /// Returns the bytes that erase the region, so that another program can print.
    pub(in crate::terminal) fn clear(&mut self, size: TerminalSize) -> String {
        let mut out = String::new();
        self.move_to_top(&mut out, size);
        self.drawn = ScreenFrame::default();
        self.size = None;
        out
    }

    /// Another program has printed: the drawn region stays where it is.
    pub(in crate::terminal) fn forget(&mut self) {
        self.drawn = ScreenFrame::default();
        self.size = None;
    }

    fn move_to_top(&self, out: &mut String, size: TerminalSize) {
        let (row, column) = self.drawn.cursor;
        let above = match self.reflow {
            Reflow::Cuts => row,
            Reflow::Breaks => {
                let above: usize = self.drawn.rows.iter().take(row).map(|row| occupied(row, size.columns)).sum();
                above + column / size.columns.max(1)
            }
        };
        // The region is never higher than the screen it was drawn on; above the first row is the scrollback.
        let up = above.min(size.rows.saturating_sub(1));
        out.push('\r');
        if up > 0 {
            let _infallible = write!(out, "\u{1b}[{up}A");
        }
        out.push_str(ERASE_BELOW);
    }

    fn shown(&self, text: &str) -> String {
        match self.colours {
            Colours::On => text.to_owned(),
            Colours::Off => bare(text).into_owned(),
        }
    }
}

/// Keeps a frame lower than the screen and its rows shorter than the screen is wide. The lowest rows stay: they have the
/// cursor.
fn fitted(frame: &ScreenFrame, size: TerminalSize) -> ScreenFrame {
    let most = size.rows.saturating_sub(1).max(1);
    let left_out = frame.rows.len().saturating_sub(most);
    let room = size.columns.saturating_sub(1).max(1);
    let rows: Vec<String> = frame.rows.iter().skip(left_out).map(|row| cut(row, room).into_owned()).collect();
    let (row, column) = frame.cursor;
    ScreenFrame { cursor: (row.saturating_sub(left_out), column.min(room)), rows }
}

/// Returns how many rows of the screen a row of the region takes.
fn occupied(row: &str, columns: usize) -> usize {
    width(row).div_ceil(columns.max(1)).max(1)
}

fn place_cursor(out: &mut String, frame: &ScreenFrame) {
    let (row, column) = frame.cursor;
    let up = frame.rows.len().saturating_sub(row + 1);
    out.push('\r');
    if up > 0 {
        let _infallible = write!(out, "\u{1b}[{up}A");
    }
    if column > 0 {
        let _infallible = write!(out, "\u{1b}[{column}C");
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use super::*;

    struct Screen {
        parser: vt100::Parser,
        region: Region,
        size: TerminalSize,
    }

    impl Screen {
        fn new(rows: usize, columns: usize) -> Self {
            let number = |number: usize| NonZeroU16::new(number as u16).expect("a terminal has a size");
            let parser = vt100::Parser::new(number(rows), number(columns), 10_000);
            Self { parser, region: Region::new(Colours::Off, Reflow::Breaks), size: TerminalSize { rows, columns } }
        }

        fn update(&mut self, finished: &[&str], rows: &[&str]) -> usize {
            let finished: Vec<String> = finished.iter().map(|line| (*line).to_owned()).collect();
            let rows: Vec<String> = rows.iter().map(|row| (*row).to_owned()).collect();
            let cursor = (rows.len().saturating_sub(1), 2);
            let bytes = self.region.update(&finished, &ScreenFrame { rows, cursor }, self.size);
            self.parser.process(bytes.as_bytes());
            bytes.len()
        }

        fn text(&self) -> String {
            self.parser.screen().contents()
        }
    }

    #[test]
    fn finished_lines_come_once_and_the_region_stays_below_them() {
        let mut screen = Screen::new(24, 40);
        screen.parser.process(b"$ earlier\r\n");
        for number in 0..10 {
            screen.update(&[&format!("line {number}")], &["status", &format!("> {number}")]);
            screen.update(&[], &["status", "another row", "> typed"]);
        }
        let expected: Vec<String> = (0..10).map(|number| format!("line {number}")).collect();
        let expected = format!("$ earlier\n{}\nstatus\nanother row\n> typed", expected.join("\n"));
        assert_eq!(screen.text(), expected);
        assert_eq!(screen.parser.screen().cursor_position(), (13, 2));
    }

    #[test]
    fn an_unchanged_frame_costs_nothing_and_a_changed_one_is_bounded() {
        let mut screen = Screen::new(24, 80);
        assert!(screen.update(&[], &["a", "> "]) > 0);
        assert_eq!(screen.update(&[], &["a", "> "]), 0);
        let long = "x".repeat(100_000);
        let rows = vec![long.as_str(); 1_000];
        assert!(screen.update(&[], &rows) < 24 * 80 + 200);
        assert!(screen.text().lines().all(|line| line.chars().count() < 80));
    }

    #[test]
    fn a_region_that_was_drawn_on_a_wider_screen_is_taken_away_whole() {
        let mut screen = Screen::new(24, 40);
        screen.size = TerminalSize { rows: 24, columns: 80 };
        // Drawn for 80 columns on a screen that has 40 by now: the terminal breaks each row into two.
        screen.update(&["kept"], &[&"a".repeat(70), &"b".repeat(60), "> "]);
        screen.size = TerminalSize { rows: 24, columns: 40 };
        screen.update(&["more"], &["status", "> "]);
        assert_eq!(screen.text().trim_end(), "kept\nmore\nstatus\n>");
    }

    #[test]
    fn a_long_line_is_one_logical_line_that_the_terminal_breaks() {
        let mut screen = Screen::new(24, 40);
        screen.update(&[&"y".repeat(100)], &["> "]);
        assert!(screen.parser.screen().row_wrapped(0) && screen.parser.screen().row_wrapped(1));
    }
}
