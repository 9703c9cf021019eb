//! Control characters and escape sequences, read one character at a time.
//!
//! It carries out those that move the cursor or erase something. It drops colours, titles, links, images
//! and questions to the terminal. A title that its line does not close counts as text, so it cannot hide
//! anything.

use super::screen::{EraseRange, Screen};

/// Where in a sequence the output is.
#[derive(Debug, Default)]
pub(super) struct Sequences {
    state: SequenceState,
}

#[derive(Debug, Default)]
enum SequenceState {
    #[default]
    Text,
    /// Behind an escape character.
    Escape,
    /// Behind an escape character and signs that belong to a longer sequence.
    EscapeSigns,
    /// In a control sequence.
    Control(Control),
    /// In a title, a link, an image or the like; with its text, which is shown if it does not end in its line.
    Title(String),
}

/// A control sequence as far as it has come.
#[derive(Debug, Default)]
struct Control {
    numbers: [Option<usize>; 2],
    /// Which number is being read.
    at: usize,
    is_private: bool,
    is_unknown: bool,
}

/// Longest text of a title that is kept, in bytes.
const LONGEST_TITLE: usize = 16 * 1024;
/// Largest number in a sequence; nothing on the screen is as far away.
const LARGEST: usize = 9_999;

impl Sequences {
    /// Runs text over the screen.
    pub(super) fn run(&mut self, text: &str, screen: &mut Screen) {
        let mut left = text;
        // How much comes behind the lines that were looked at together: no text is looked at twice.
        let mut unseen = text.len();
        while !left.is_empty() {
            if matches!(self.state, SequenceState::Text) {
                if left.len() <= unseen {
                    let length = length_before(left, ends_lines);
                    unseen = left.len() - length;
                    left = screen.scroll_through(left, length);
                }
                let (drawn, behind) = left.split_at(length_before(left, ends_text));
                screen.draw(drawn);
                left = behind;
            }
            let mut characters = left.chars();
            if let Some(c) = characters.next() {
                left = characters.as_str();
                self.step(c, screen);
            }
        }
    }

    /// Ends what had begun.
    pub(super) fn end(&mut self, screen: &mut Screen) {
        if let SequenceState::Title(text) = std::mem::take(&mut self.state) {
            screen.draw(&text);
        }
    }

    fn step(&mut self, c: char, screen: &mut Screen) {
        self.state = match (std::mem::take(&mut self.state), c) {
            (_, '\u{1b}') => SequenceState::Escape,
            // These two end whatever had begun.
            (_, '\u{18}' | '\u{1a}') => SequenceState::Text,
            (SequenceState::Title(_), '\u{7}' | '\u{9c}') => SequenceState::Text,
            (SequenceState::Title(text), '\n') => {
                screen.draw(&text);
                control_character(c, screen);
                SequenceState::Text
            }
            (SequenceState::Title(mut text), c) => {
                if !c.is_control() && text.len() < LONGEST_TITLE {
                    text.push(c);
                }
                SequenceState::Title(text)
            }
            (_, '\u{80}'..='\u{9f}') => SequenceState::after_escape(second_of(c), screen),
            (state @ (SequenceState::Escape | SequenceState::EscapeSigns | SequenceState::Control(_)), c)
                if c.is_control() =>
            {
                control_character(c, screen);
                state
            }
            (SequenceState::Text, c) => {
                control_character(c, screen);
                SequenceState::Text
            }
            (SequenceState::Escape, c) => SequenceState::after_escape(c, screen),
            (SequenceState::EscapeSigns, ' '..='/') => SequenceState::EscapeSigns,
            (SequenceState::EscapeSigns, _) => SequenceState::Text,
            (SequenceState::Control(control), c) => control.read(c, screen),
        };
    }
}

impl SequenceState {
    fn after_escape(c: char, screen: &mut Screen) -> SequenceState {
        match c {
            '[' => return SequenceState::Control(Control::default()),
            ']' | 'P' | 'X' | '^' | '_' => return SequenceState::Title(String::new()),
            ' '..='/' => return SequenceState::EscapeSigns,
            '7' => screen.save_cursor(),
            '8' => screen.restore_cursor(),
            'D' => screen.down(1),
            'E' => screen.next_line(),
            'M' => screen.up(1),
            'c' => {
                screen.leave_alternate();
                screen.erase_in_screen(EraseRange::All);
            }
            _ => {}
        }
        SequenceState::Text
    }
}

impl Control {
    fn read(mut self, c: char, screen: &mut Screen) -> SequenceState {
        match c {
            '0'..='9' => {
                if let Some(number) = self.numbers.get_mut(self.at) {
                    let digit = c as usize - '0' as usize;
                    *number = Some((number.unwrap_or(0) * 10 + digit).min(LARGEST));
                }
            }
            ';' | ':' => self.at = self.at.saturating_add(1),
            '?' => self.is_private = true,
            '<'..='>' | ' '..='/' => self.is_unknown = true,
            _ => {
                self.carry_out(c, screen);
                return SequenceState::Text;
            }
        }
        SequenceState::Control(self)
    }

    fn carry_out(&self, last: char, screen: &mut Screen) {
        if self.is_unknown || self.is_private && !matches!(last, 'h' | 'l' | 'J' | 'K') {
            return;
        }
        let count = self.numbers[0].unwrap_or(1).max(1);
        match last {
            'A' => screen.up(count),
            'B' | 'e' => screen.down(count),
            'C' | 'a' => screen.right(count),
            'D' => screen.left(count),
            'E' => {
                screen.down(count);
                screen.go_to_column(0);
            }
            'F' => {
                screen.up(count);
                screen.go_to_column(0);
            }
            'G' | '`' => screen.go_to_column(count - 1),
            'd' => screen.go_to_row(count - 1),
            'H' | 'f' => screen.go_to(count - 1, self.numbers[1].unwrap_or(1).max(1) - 1),
            'J' => self.part().into_iter().for_each(|part| screen.erase_in_screen(part)),
            'K' => self.part().into_iter().for_each(|part| screen.erase_in_line(part)),
            'X' => screen.blank(count),
            'P' => screen.remove(count),
            '@' => screen.insert(count),
            's' => screen.save_cursor(),
            'u' => screen.restore_cursor(),
            'h' if self.is_about_alternate() => screen.enter_alternate(),
            'l' if self.is_about_alternate() => screen.leave_alternate(),
            _ => {}
        }
    }

    fn is_about_alternate(&self) -> bool {
        self.is_private && matches!(self.numbers[0], Some(47 | 1047 | 1049))
    }

    fn part(&self) -> Option<EraseRange> {
        match self.numbers[0].unwrap_or(0) {
            0 => Some(EraseRange::Behind),
            1 => Some(EraseRange::Before),
            2 | 3 => Some(EraseRange::All),
            _ => None,
        }
    }
}

fn control_character(c: char, screen: &mut Screen) {
    match c {
        '\n' | '\u{b}' | '\u{c}' => screen.next_line(),
        '\r' => screen.go_to_column(0),
        '\u{8}' => screen.left(1),
        '\t' => screen.draw("\t"),
        _ => {}
    }
}

/// Returns whether a byte may begin a control character. 0xC2 begins those of the second set, and others.
fn ends_text(byte: u8) -> bool {
    byte < b' ' || byte == 0x7f || byte == 0xc2
}

/// Returns whether a byte may begin a control character that is not part of plain lines.
fn ends_lines(byte: u8) -> bool {
    ends_text(byte) && byte != b'\n' && byte != b'\t'
}

/// How many bytes of the text come before a control character that begins with such a byte.
fn length_before(text: &str, may_begin: impl Fn(u8) -> bool) -> usize {
    /// So many bytes are compared at a time.
    const AT_ONCE: usize = 64;
    let has_none = |bytes: &&[u8]| !bytes.iter().fold(false, |found, &byte| found | may_begin(byte));
    let mut from = 0;
    loop {
        let bytes = &text.as_bytes()[from..];
        let passed: usize = bytes.chunks(AT_ONCE).take_while(has_none).map(<[u8]>::len).sum();
        let found = bytes[passed..].iter().position(|&byte| may_begin(byte));
        let Some(at) = found.map(|at| from + passed + at) else { return text.len() };
        match text[at..].chars().next() {
            Some(c) if !c.is_control() => from = at + c.len_utf8(),
            _ => return at,
        }
    }
}

/// The character that would follow an escape character to say the same as one of the second set.
fn second_of(c: char) -> char {
    char::from_u32(c as u32 - 0x40).unwrap_or(c)
}
