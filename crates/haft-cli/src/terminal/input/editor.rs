//! The line that a person types: several lines of text, a cursor, folded pastes.
//!
//! A long paste is one character here, which is shown as `[pasted 120 lines]`, is removed with one key and becomes its text
//! when the line is sent. The characters that stand for pastes are private ones that the user cannot type.
//!
//! Not here: earlier lines (`history`), what can be completed (`completion`), where rows break (`layout`).

pub(in crate::terminal) mod history;
mod layout;

pub(in crate::terminal) use layout::Laid;

use unicode_width::UnicodeWidthChar;

/// The first of the characters that stand for pastes.
const FIRST_PASTE: u32 = 0xf_0000;
/// A paste of more lines or characters than this is folded.
const MOST_LINES: usize = 4;
const MOST_CHARACTERS: usize = 500;
/// How wide a tab is.
const TAB: &str = "    ";

/// The text that the person is typing.
#[derive(Clone, Debug, Default)]
pub(in crate::terminal) struct Editor {
    text: String,
    /// A byte of the text, between two characters as people see them.
    cursor: usize,
    pastes: Vec<String>,
    /// The text that was cut last, for Ctrl-Y.
    cut: String,
}

/// Where the cursor goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum To {
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    Up,
    Down,
}

impl Editor {
    /// Returns the text with a character for each folded paste.
    pub(in crate::terminal) fn text(&self) -> &str {
        &self.text
    }

    pub(in crate::terminal) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(in crate::terminal) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the text with the pastes unfolded.
    pub(in crate::terminal) fn whole(&self) -> String {
        let mut whole = String::with_capacity(self.text.len());
        for c in self.text.chars() {
            match self.paste(c) {
                Some(paste) => whole.push_str(paste),
                None => whole.push(c),
            }
        }
        whole
    }

    /// Removes the text and returns it in full.
    pub(in crate::terminal) fn take(&mut self) -> String {
        let whole = self.whole();
        self.set("");
        whole
    }

    /// Replaces the text, with the cursor at its end.
    pub(in crate::terminal) fn set(&mut self, text: &str) {
        self.text.clear();
        self.pastes.clear();
        self.cursor = 0;
        self.insert(text);
    }

    /// Inserts what was typed.
    pub(in crate::terminal) fn insert(&mut self, text: &str) {
        let text: String = text.chars().filter(|c| is_text(*c)).collect::<String>().replace('\t', TAB);
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
    }

    /// Inserts a paste; a long one is folded.
    pub(in crate::terminal) fn paste_in(&mut self, text: &str) {
        let text: String = text.chars().filter(|c| is_text(*c)).collect();
        let is_long = text.lines().count() > MOST_LINES || text.chars().count() > MOST_CHARACTERS;
        let number = u32::try_from(self.pastes.len()).unwrap_or(u32::MAX);
        match char::from_u32(FIRST_PASTE.saturating_add(number)).filter(|_| is_long) {
            Some(c) => {
                self.pastes.push(text);
                self.text.insert(self.cursor, c);
                self.cursor += c.len_utf8();
            }
            None => self.insert(&text),
        }
    }

    /// Replaces a range of bytes with a text, with the cursor after it.
    pub(in crate::terminal) fn replace(&mut self, bytes: std::ops::Range<usize>, by: &str) {
        self.text.replace_range(bytes.clone(), by);
        self.cursor = bytes.start + by.len();
    }

    /// Moves the cursor; returns whether it moved.
    pub(in crate::terminal) fn go(&mut self, to: To) -> bool {
        let place = match to {
            To::Left => self.before(self.cursor),
            To::Right => self.after(self.cursor),
            To::WordLeft => self.word_start(),
            To::WordRight => self.word_end(),
            To::LineStart => self.line_start(),
            To::LineEnd => self.line_end(),
            To::Up => match self.line_start() {
                0 => self.cursor,
                start => self.column_in_line(self.text[..start - 1].rfind('\n').map_or(0, |end| end + 1)),
            },
            To::Down => match self.line_end() {
                end if end == self.text.len() => self.cursor,
                end => self.column_in_line(end + 1),
            },
        };
        std::mem::replace(&mut self.cursor, place) != place
    }

    pub(in crate::terminal) fn backspace(&mut self) {
        let start = self.before(self.cursor);
        self.remove(start..self.cursor);
    }

    pub(in crate::terminal) fn delete(&mut self) {
        let end = self.after(self.cursor);
        self.remove(self.cursor..end);
    }

    /// Cuts from the cursor to where it would go.
    pub(in crate::terminal) fn cut_to(&mut self, to: To) {
        let from = self.cursor;
        self.go(to);
        let range = from.min(self.cursor)..from.max(self.cursor);
        // At the end of a line there is its end to cut.
        let range = if range.is_empty() && to == To::LineEnd { from..self.after(from) } else { range };
        if !range.is_empty() {
            self.cut = self.text[range.clone()].to_owned();
            self.remove(range);
        }
    }

    /// Inserts what was cut last.
    pub(in crate::terminal) fn yank(&mut self) {
        let cut = self.cut.clone();
        self.text.insert_str(self.cursor, &cut);
        self.cursor += cut.len();
    }

    /// Returns the rows as they are shown.
    pub(in crate::terminal) fn laid_out(&self, columns: usize) -> Laid {
        layout::laid_out(self, columns)
    }

    fn paste(&self, c: char) -> Option<&String> {
        self.pastes.get(usize::try_from(u32::from(c).checked_sub(FIRST_PASTE)?).ok()?)
    }

    /// Returns how a paste is shown.
    fn folded(&self, c: char) -> Option<String> {
        let paste = self.paste(c)?;
        Some(match paste.lines().count() {
            1 => format!("[pasted {} characters]", paste.chars().count()),
            lines => format!("[pasted {lines} lines]"),
        })
    }

    fn remove(&mut self, bytes: std::ops::Range<usize>) {
        self.text.replace_range(bytes.clone(), "");
        self.cursor = bytes.start;
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |end| end + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |end| self.cursor + end)
    }

    fn word_start(&self) -> usize {
        let before = self.text[..self.cursor].trim_end_matches(|c: char| !c.is_alphanumeric());
        before.trim_end_matches(char::is_alphanumeric).len()
    }

    fn word_end(&self) -> usize {
        let behind = self.text[self.cursor..].trim_start_matches(|c: char| !c.is_alphanumeric());
        self.text.len() - behind.trim_start_matches(char::is_alphanumeric).len()
    }

    /// Returns the position in another line that is in the column of the cursor.
    fn column_in_line(&self, start: usize) -> usize {
        let column = self.text[self.line_start()..self.cursor].chars().count();
        let line = self.text[start..].split('\n').next().unwrap_or_default();
        let end = line.char_indices().nth(column).map_or(line.len(), |(end, _)| end);
        start + end
    }

    /// Returns the end of the character, as people see it, that begins here.
    fn after(&self, place: usize) -> usize {
        let mut characters = self.text[place..].char_indices();
        let Some((_, first)) = characters.next() else { return place };
        let mut last = first;
        for (at, c) in characters {
            let is_flag = is_flag_part(first) && is_flag_part(c) && last == first && at == first.len_utf8();
            if !(last == '\u{200d}' || c == '\u{200d}' || continues(c) || is_flag) {
                return place + at;
            }
            last = c;
        }
        self.text.len()
    }

    /// Returns the start of the character, as people see it, that ends here.
    fn before(&self, place: usize) -> usize {
        let line = self.text[..place].strip_suffix('\n');
        if let Some(line) = line {
            return line.len();
        }
        let mut at = self.text[..place].rfind('\n').map_or(0, |end| end + 1);
        loop {
            match self.after(at) {
                next if next >= place => return at,
                next => at = next,
            }
        }
    }
}

/// Says whether a character belongs to the one before it: it takes no room, or is a shade of skin.
fn continues(c: char) -> bool {
    c != '\n' && (c.width() == Some(0) || ('\u{1f3fb}'..='\u{1f3ff}').contains(&c))
}

fn is_flag_part(c: char) -> bool {
    ('\u{1f1e6}'..='\u{1f1ff}').contains(&c)
}

/// Says whether a character may be in what was typed: no control, and none that stands for a paste.
fn is_text(c: char) -> bool {
    c == '\n' || c == '\t' || !(c.is_control() || u32::from(c) >= FIRST_PASTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Editor {
        let mut editor = Editor::default();
        editor.insert(text);
        editor
    }

    #[test]
    fn a_character_as_people_see_it_is_removed_with_one_key() {
        for last in [
            "e\u{301}",
            "漢",
            "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
            "\u{1f44d}\u{1f3fd}",
            "\u{1f1e9}\u{1f1ea}",
        ] {
            let mut editor = typed(&format!("a{last}"));
            editor.backspace();
            assert_eq!(editor.text(), "a", "{last}");
        }
    }

    #[test]
    fn a_long_paste_is_folded_and_sent_whole() {
        let long = "line\n".repeat(120);
        let mut editor = typed("look: ");
        editor.paste_in(&long);
        editor.insert(" ok");
        assert_eq!(editor.laid_out(80).rows, ["look: [pasted 120 lines] ok"]);
        assert_eq!(editor.whole(), format!("look: {long} ok"));
        editor.cut_to(To::WordLeft);
        editor.backspace();
        editor.backspace();
        assert_eq!(editor.take(), "look: ");
        editor.paste_in("short\none");
        assert_eq!(editor.text(), "short\none");
        let mut editor = typed("");
        editor.insert("\u{f0000}\u{1b}[2J\u{7}");
        assert_eq!(editor.text(), "[2J", "nobody types what stands for a paste, or a control");
    }

    #[test]
    fn the_cursor_goes_by_words_and_lines() {
        let mut editor = typed("one two\nthree fo\nx");
        assert!(!editor.go(To::Down) && editor.go(To::Up) && editor.go(To::LineEnd));
        assert!(editor.go(To::Up));
        assert_eq!(editor.cursor(), 7, "a shorter line is as far as it goes");
        editor.go(To::WordLeft);
        editor.cut_to(To::LineEnd);
        assert_eq!(editor.text(), "one \nthree fo\nx");
        editor.cut_to(To::LineEnd);
        assert_eq!(editor.text(), "one three fo\nx");
        editor.yank();
        editor.go(To::LineStart);
        assert_eq!(editor.text(), "one \nthree fo\nx");
    }
}
