//! A screen of few lines and any width, on which output is drawn until it scrolls out.

use std::collections::VecDeque;

/// Longest line, in characters; a longer one is handed on in parts, which cannot be changed any more.
const LONGEST_LINE: usize = 4096;

/// Most bytes that are kept of what scrolled out of the other screen of a full-screen program.
const MOST_OF_ALTERNATE: usize = 64 * 1024;
/// What stands in the place of the rest.
const LEFT_OUT: &str = "[earlier lines of a full-screen program are left out]\n";

/// The screen.
#[derive(Debug)]
pub(super) struct Screen {
    lines: VecDeque<ScreenLine>,
    most_lines: usize,
    row: usize,
    column: usize,
    saved: (usize, usize),
    /// The screen to which a full-screen program returns. What it draws on the other one is output only if it stays there.
    main: Option<Box<Screen>>,
    out: String,
}

/// The part of a line or of the screen that is erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EraseRange {
    /// From the cursor on.
    Behind,
    /// Up to the cursor.
    Before,
    /// Everything.
    All,
}

impl Screen {
    pub(super) fn new(most_lines: usize) -> Self {
        Self { lines: VecDeque::new(), most_lines, row: 0, column: 0, saved: (0, 0), main: None, out: String::new() }
    }

    /// Returns what has scrolled out.
    pub(super) fn scrolled_out(&mut self) -> String {
        match &mut self.main {
            Some(main) => main.scrolled_out(),
            None => std::mem::take(&mut self.out),
        }
    }

    /// Returns everything that is left.
    pub(super) fn rest(&mut self) -> String {
        if let Some(mut main) = self.main.take() {
            let mut rest = main.rest();
            let other = self.rest();
            if !rest.is_empty() && !rest.ends_with('\n') && !other.is_empty() {
                rest.push('\n');
            }
            return rest + &other;
        }
        let mut rest = self.scrolled_out();
        let lines = std::mem::take(&mut self.lines);
        for (index, line) in lines.iter().enumerate() {
            if index > 0 {
                rest.push('\n');
            }
            rest.push_str(&line.text);
        }
        *self = Self::new(self.most_lines);
        rest
    }

    /// Hands on what is on the screen and the first of these plain lines, as far as those behind them push all that out.
    /// Returns the rest of the text, which remains to be drawn. `length` is where the plain lines end.
    ///
    /// It is what drawing them one by one would come to, in a fraction of the time.
    pub(super) fn scroll_through<'t>(&mut self, text: &'t str, length: usize) -> &'t str {
        let is_at_end = match self.lines.back() {
            None => (self.row, self.column) == (0, 0),
            Some(last) => self.row + 1 == self.lines.len() && self.column == last.characters,
        };
        // As many ends of lines as the screen has lines push out what is before them.
        let pushed = memchr::memrchr_iter(b'\n', &text.as_bytes()[..length]).nth(self.most_lines);
        let Some(pushed) = pushed.filter(|_| is_at_end && self.main.is_none()) else { return text };
        for line in self.lines.drain(..self.row) {
            self.out.extend([line.text.as_str(), "\n"]);
        }
        self.lines.drain(..).for_each(|line| self.out.push_str(&line.text));
        self.out.push_str(&text[..=pushed]);
        (self.row, self.column) = (0, 0);
        &text[pushed + 1..]
    }

    /// Draws text without control characters.
    pub(super) fn draw(&mut self, mut text: &str) {
        while !text.is_empty() {
            if self.column >= LONGEST_LINE {
                self.hand_on_part();
            }
            let room = LONGEST_LINE - self.column;
            // Bytes are never fewer than characters, so most texts need no counting.
            let end = match text.len() <= room {
                true => text.len(),
                false => text.char_indices().nth(room).map_or(text.len(), |(end, _)| end),
            };
            let (part, left) = text.split_at(end);
            let column = self.column;
            self.column += self.line().put(column, part);
            text = left;
        }
    }

    /// Goes to the beginning of the next line.
    pub(super) fn next_line(&mut self) {
        self.line();
        self.column = 0;
        self.row += 1;
        if self.row == self.most_lines {
            self.row -= 1;
            if let Some(line) = self.lines.pop_front() {
                self.out.push_str(&line.text);
                self.out.push('\n');
            }
            self.bound_alternate();
        }
        self.line();
    }

    /// Keeps the end of what has scrolled out of the other screen.
    fn bound_alternate(&mut self) {
        if self.main.is_some() && self.out.len() > MOST_OF_ALTERNATE {
            let from = self.out.ceil_char_boundary(self.out.len() - MOST_OF_ALTERNATE / 2);
            let from = self.out[from..].find('\n').map_or(from, |end| from + end + 1);
            self.out.replace_range(..from, LEFT_OUT);
        }
    }

    pub(super) fn up(&mut self, lines: usize) {
        self.go_to(self.row.saturating_sub(lines), self.column);
    }

    pub(super) fn down(&mut self, lines: usize) {
        self.go_to(self.row.saturating_add(lines), self.column);
    }

    pub(super) fn left(&mut self, columns: usize) {
        self.go_to(self.row, self.column.saturating_sub(columns));
    }

    pub(super) fn right(&mut self, columns: usize) {
        self.go_to(self.row, self.column.saturating_add(columns));
    }

    pub(super) fn go_to_column(&mut self, column: usize) {
        self.go_to(self.row, column);
    }

    pub(super) fn go_to_row(&mut self, row: usize) {
        self.go_to(row, self.column);
    }

    pub(super) fn go_to(&mut self, row: usize, column: usize) {
        self.row = row.min(self.most_lines - 1);
        self.column = column.min(LONGEST_LINE);
    }

    pub(super) fn save_cursor(&mut self) {
        self.saved = (self.row, self.column);
    }

    pub(super) fn restore_cursor(&mut self) {
        let (row, column) = self.saved;
        self.go_to(row, column);
    }

    pub(super) fn erase_in_line(&mut self, part: EraseRange) {
        if self.row >= self.lines.len() {
            return;
        }
        let column = self.column;
        let line = self.line();
        match part {
            EraseRange::Behind => line.cut_at(column),
            EraseRange::Before => _ = line.put(0, &" ".repeat(line.characters.min(column + 1))),
            EraseRange::All => *line = ScreenLine::default(),
        }
    }

    pub(super) fn erase_in_screen(&mut self, part: EraseRange) {
        match part {
            EraseRange::Behind if (self.row, self.column) == (0, 0) => self.clear(),
            EraseRange::Behind => {
                self.lines.truncate(self.row + 1);
                self.erase_in_line(EraseRange::Behind);
            }
            EraseRange::Before => {
                let row = self.row.min(self.lines.len());
                self.lines.iter_mut().take(row).for_each(|line| *line = ScreenLine::default());
                self.erase_in_line(EraseRange::Before);
            }
            EraseRange::All => self.clear(),
        }
    }

    /// Begins with an empty screen. What was on the old one has been printed, and stays: a program cannot hide it.
    fn clear(&mut self) {
        for line in self.lines.drain(..).filter(|line| line.characters > 0) {
            self.out.push_str(&line.text);
            self.out.push('\n');
        }
        self.go_to(0, 0);
    }

    /// Makes characters blank from the cursor on.
    pub(super) fn blank(&mut self, count: usize) {
        self.change_line(|line, column| {
            let count = count.min(line.characters.saturating_sub(column));
            line.put(column, &" ".repeat(count));
        });
    }

    /// Removes characters from the cursor on; what is behind them moves up.
    pub(super) fn remove(&mut self, count: usize) {
        self.change_line(|line, column| line.remove(column, count));
    }

    /// Makes room for characters at the cursor.
    pub(super) fn insert(&mut self, count: usize) {
        self.change_line(|line, column| {
            if column < line.characters {
                line.insert(column, &" ".repeat(count.min(LONGEST_LINE - line.characters.min(LONGEST_LINE))));
            }
        });
    }

    /// Goes to the other screen of full-screen programs.
    pub(super) fn enter_alternate(&mut self) {
        if self.main.is_none() {
            let main = std::mem::replace(self, Self::new(self.most_lines));
            self.main = Some(Box::new(main));
        }
    }

    /// Comes back from the other screen.
    pub(super) fn leave_alternate(&mut self) {
        if let Some(main) = self.main.take() {
            *self = *main;
        }
    }

    fn change_line(&mut self, change: impl FnOnce(&mut ScreenLine, usize)) {
        if self.row < self.lines.len() {
            let column = self.column;
            change(self.line(), column);
        }
    }

    /// The line of the cursor, made if there is none yet.
    fn line(&mut self) -> &mut ScreenLine {
        while self.lines.len() <= self.row {
            self.lines.push_back(ScreenLine::default());
        }
        &mut self.lines[self.row]
    }

    /// Hands the current line on as far as it goes, with all lines above it.
    fn hand_on_part(&mut self) {
        self.line();
        for row in 0..=self.row {
            let Some(line) = self.lines.pop_front() else { break };
            self.out.push_str(&line.text);
            if row < self.row {
                self.out.push('\n');
            }
        }
        self.lines.push_front(ScreenLine::default());
        (self.row, self.column) = (0, 0);
    }
}

/// One line of the screen, whose columns are its characters.
#[derive(Debug, Default)]
struct ScreenLine {
    text: String,
    characters: usize,
}

impl ScreenLine {
    /// Writes over what stands at a column; returns how many characters were written.
    fn put(&mut self, column: usize, part: &str) -> usize {
        let count = if part.is_ascii() { part.len() } else { part.chars().count() };
        if column >= self.characters {
            let gap = column - self.characters;
            self.text.extend(std::iter::repeat_n(' ', gap));
            self.text.push_str(part);
        } else {
            let (begin, end) = (self.byte_at(column), self.byte_at(column + count));
            self.text.replace_range(begin..end, part);
        }
        self.characters = self.characters.max(column + count);
        count
    }

    fn cut_at(&mut self, column: usize) {
        if column < self.characters {
            self.text.truncate(self.byte_at(column));
            self.characters = column;
        }
    }

    fn remove(&mut self, column: usize, count: usize) {
        if column < self.characters {
            let count = count.min(self.characters - column);
            let (begin, end) = (self.byte_at(column), self.byte_at(column + count));
            self.text.replace_range(begin..end, "");
            self.characters -= count;
        }
    }

    fn insert(&mut self, column: usize, blanks: &str) {
        self.text.insert_str(self.byte_at(column), blanks);
        self.characters += blanks.len();
    }

    fn byte_at(&self, column: usize) -> usize {
        if self.text.len() == self.characters {
            return column.min(self.text.len());
        }
        self.text.char_indices().nth(column).map_or(self.text.len(), |(at, _)| at)
    }
}
