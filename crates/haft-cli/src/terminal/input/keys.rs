//! Decodes the bytes that a terminal sends into keys and pastes.
//!
//! A paste is one value, whatever its length and content: nothing in it is ever a key. The decoder keeps bytes until they
//! are a complete key, so a read may end anywhere.
//!
//! Not here: what a key does (`app`).

/// Input of the person: a key or a paste.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum TerminalInput {
    /// One key.
    Key(KeyPress),
    /// A paste, as one piece.
    Paste(String),
}

/// One key with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) struct KeyPress {
    pub(in crate::terminal) code: KeyCode,
    pub(in crate::terminal) held: KeyModifiers,
}

/// The key itself, without its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum KeyCode {
    Char(char),
    Enter,
    Tab,
    Backspace,
    Delete,
    Escape,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    /// A key that haft does not use.
    Other,
}

/// The modifier keys that were held down with a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::terminal) struct KeyModifiers {
    pub(in crate::terminal) ctrl: bool,
    pub(in crate::terminal) alt: bool,
    pub(in crate::terminal) shift: bool,
}

impl KeyPress {
    /// A key alone.
    pub(in crate::terminal) fn plain(code: KeyCode) -> Self {
        Self { code, held: KeyModifiers::default() }
    }

    /// A letter with Ctrl.
    pub(in crate::terminal) fn ctrl(letter: char) -> Self {
        Self { code: KeyCode::Char(letter), held: KeyModifiers { ctrl: true, ..KeyModifiers::default() } }
    }

    /// A key with Alt.
    #[cfg(test)]
    pub(in crate::terminal) fn alt(code: KeyCode) -> Self {
        Self { code, held: KeyModifiers { alt: true, ..KeyModifiers::default() } }
    }
}

const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";
/// Longest escape sequence; a longer one is discarded.
const LONGEST: usize = 64;

/// Decodes keys and pastes from bytes.
#[derive(Default)]
pub(in crate::terminal) struct KeyDecoder {
    bytes: Vec<u8>,
    /// Where the end of a paste is looked for next, while one comes in.
    in_paste: Option<usize>,
}

impl KeyDecoder {
    /// Takes bytes; returns the complete keys and pastes.
    pub(in crate::terminal) fn feed(&mut self, bytes: &[u8]) -> Vec<TerminalInput> {
        self.bytes.extend_from_slice(bytes);
        let mut inputs = Vec::new();
        while let Some(input) = self.next() {
            inputs.extend(input);
        }
        inputs
    }

    /// Returns whether bytes wait that may be the beginning of a longer key.
    pub(in crate::terminal) fn waits(&self) -> bool {
        self.in_paste.is_none() && !self.bytes.is_empty()
    }

    /// Decodes the waiting bytes as they are, because no more came.
    pub(in crate::terminal) fn flush(&mut self) -> Vec<TerminalInput> {
        if !self.waits() {
            return Vec::new();
        }
        let bytes = std::mem::take(&mut self.bytes);
        match bytes.as_slice() {
            [0x1b] => vec![TerminalInput::Key(KeyPress::plain(KeyCode::Escape))],
            [0x1b, 0x1b] => vec![TerminalInput::Key(KeyPress::plain(KeyCode::Escape)); 2],
            // A part of an unknown sequence.
            _ => Vec::new(),
        }
    }

    /// Returns the next input: nothing if bytes are missing, an empty one if the bytes have no meaning.
    fn next(&mut self) -> Option<Option<TerminalInput>> {
        if let Some(from) = self.in_paste {
            return self.rest_of_paste(from).map(Some);
        }
        let first = *self.bytes.first()?;
        if first == 0x1b {
            return self.escape();
        }
        if first < 0x80 {
            self.bytes.remove(0);
            return Some(control(first).map(TerminalInput::Key));
        }
        let length = utf8_length(first);
        if self.bytes.len() < length {
            return None;
        }
        let c = std::str::from_utf8(&self.bytes[..length]).ok().and_then(|text| text.chars().next());
        self.bytes.drain(..if c.is_some() { length } else { 1 });
        Some(c.map(|c| TerminalInput::Key(KeyPress::plain(KeyCode::Char(c)))))
    }

    fn escape(&mut self) -> Option<Option<TerminalInput>> {
        match *self.bytes.get(1)? {
            b'[' if self.bytes.starts_with(PASTE_BEGINS) => {
                self.bytes.drain(..PASTE_BEGINS.len());
                self.in_paste = Some(0);
                Some(None)
            }
            b'[' => {
                let end = self.bytes[2..].iter().position(|byte| (0x40..0x7f).contains(byte));
                let Some(end) = end else {
                    if self.bytes.len() > LONGEST {
                        self.bytes.clear();
                    }
                    return None;
                };
                let sequence: Vec<u8> = self.bytes.drain(..end + 3).skip(2).collect();
                Some(csi(&sequence).map(TerminalInput::Key))
            }
            b'O' => {
                let letter = *self.bytes.get(2)?;
                self.bytes.drain(..3);
                Some(csi(&[letter]).map(TerminalInput::Key))
            }
            // Two escapes: the first is a key, the second may begin one.
            0x1b => {
                self.bytes.remove(0);
                Some(Some(TerminalInput::Key(KeyPress::plain(KeyCode::Escape))))
            }
            _ => {
                self.bytes.remove(0);
                let Some(Some(TerminalInput::Key(key))) = self.next() else {
                    // A character of several bytes that is not whole yet.
                    self.bytes.insert(0, 0x1b);
                    return None;
                };
                Some(Some(TerminalInput::Key(KeyPress { held: KeyModifiers { alt: true, ..key.held }, ..key })))
            }
        }
    }

    fn rest_of_paste(&mut self, from: usize) -> Option<TerminalInput> {
        let ends = |window: &[u8]| window == PASTE_ENDS;
        let Some(end) = self.bytes[from..].windows(PASTE_ENDS.len()).position(ends).map(|end| end + from) else {
            self.in_paste = Some(self.bytes.len().saturating_sub(PASTE_ENDS.len()));
            return None;
        };
        let pasted: Vec<u8> = self.bytes.drain(..end).collect();
        self.bytes.drain(..PASTE_ENDS.len());
        self.in_paste = None;
        // Terminals send a line end as a carriage return.
        let text = String::from_utf8_lossy(&pasted).replace("\r\n", "\n").replace('\r', "\n");
        Some(TerminalInput::Paste(text))
    }
}

fn utf8_length(first: u8) -> usize {
    match first {
        0xf8.. => 1,
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}

/// Returns the key of one byte.
fn control(byte: u8) -> Option<KeyPress> {
    Some(match byte {
        b'\r' => KeyPress::plain(KeyCode::Enter),
        // What Ctrl-J and Shift-Enter send on many terminals.
        b'\n' => KeyPress { code: KeyCode::Enter, held: KeyModifiers { shift: true, ..KeyModifiers::default() } },
        b'\t' => KeyPress::plain(KeyCode::Tab),
        0x7f | 0x08 => KeyPress::plain(KeyCode::Backspace),
        0 => KeyPress::ctrl(' '),
        1..=26 => KeyPress::ctrl(char::from(byte - 1 + b'a')),
        0x1f => KeyPress::ctrl('_'),
        0x1c..=0x1e => return None,
        byte => KeyPress::plain(KeyCode::Char(char::from(byte))),
    })
}

/// Returns the key of a sequence, without its introducer.
fn csi(sequence: &[u8]) -> Option<KeyPress> {
    let (last, numbers) = sequence.split_last()?;
    let text = std::str::from_utf8(numbers).ok()?;
    let mut numbers = text.split(';').map(|part| part.split(':').next().unwrap_or_default().parse::<u32>().ok());
    let first = numbers.next().flatten();
    let held = held(numbers.next().flatten().unwrap_or(1));
    let code = match (*last, first) {
        (b'A', _) => KeyCode::Up,
        (b'B', _) => KeyCode::Down,
        (b'C', _) => KeyCode::Right,
        (b'D', _) => KeyCode::Left,
        (b'H', _) => KeyCode::Home,
        (b'F', _) => KeyCode::End,
        (b'M', None) => KeyCode::Enter,
        (b'Z', _) => return Some(KeyPress { code: KeyCode::Tab, held: KeyModifiers { shift: true, ..held } }),
        (b'~', Some(1 | 7)) => KeyCode::Home,
        (b'~', Some(4 | 8)) => KeyCode::End,
        (b'~', Some(3)) => KeyCode::Delete,
        (b'~', Some(5)) => KeyCode::PageUp,
        (b'~', Some(6)) => KeyCode::PageDown,
        // xterm's way to say which key was held with another: 27;held;key~
        (b'~', Some(27)) => coded(text.rsplit(';').next()?.parse().ok()?)?,
        (b'u', Some(code)) => coded(code)?,
        _ => KeyCode::Other,
    };
    Some(KeyPress { code, held })
}

/// Returns the key that a number names.
fn coded(number: u32) -> Option<KeyCode> {
    Some(match number {
        13 => KeyCode::Enter,
        9 => KeyCode::Tab,
        27 => KeyCode::Escape,
        8 | 127 => KeyCode::Backspace,
        number => KeyCode::Char(char::from_u32(number).filter(|c| !c.is_control())?),
    })
}

fn held(number: u32) -> KeyModifiers {
    let bits = number.saturating_sub(1);
    KeyModifiers { shift: bits & 1 != 0, alt: bits & 2 != 0, ctrl: bits & 4 != 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<TerminalInput> {
        KeyDecoder::default().feed(bytes)
    }

    #[test]
    fn keys_are_read_however_the_bytes_are_cut() {
        let bytes = "aä漢\u{1b}[A\u{1b}[1;5C\u{1b}OH\u{1b}f\r\u{1b}\r\u{3}\u{1b}[13;2u\u{1b}[3~\u{1b}ü".as_bytes();
        let whole = keys(bytes);
        assert_eq!(whole.len(), 13, "{whole:?}");
        let alt_enter = TerminalInput::Key(KeyPress::alt(KeyCode::Enter));
        let shift_enter = TerminalInput::Key(KeyPress {
            code: KeyCode::Enter,
            held: KeyModifiers { shift: true, ..KeyModifiers::default() },
        });
        assert!(
            whole.contains(&alt_enter)
                && whole.contains(&shift_enter)
                && whole.contains(&TerminalInput::Key(KeyPress::ctrl('c')))
        );
        for cut in 1..bytes.len() {
            let mut decoder = KeyDecoder::default();
            let mut read = decoder.feed(&bytes[..cut]);
            read.extend(decoder.feed(&bytes[cut..]));
            assert_eq!(read, whole, "cut at {cut}");
        }
    }

    #[test]
    fn nothing_in_a_paste_is_a_key() {
        let mut decoder = KeyDecoder::default();
        assert_eq!(
            decoder.feed(b"x\x1b[200~y\r\x03one\r\n\x1b[A"),
            [TerminalInput::Key(KeyPress::plain(KeyCode::Char('x')))]
        );
        assert!(!decoder.waits(), "a paste is never cut by time");
        assert_eq!(decoder.feed(b"two\x1b[20"), []);
        let pasted = TerminalInput::Paste("y\n\u{3}one\n\u{1b}[Atwo".into());
        assert_eq!(decoder.feed(b"1~z"), [pasted, TerminalInput::Key(KeyPress::plain(KeyCode::Char('z')))]);
    }

    #[test]
    fn an_escape_alone_is_a_key_when_nothing_follows() {
        let mut decoder = KeyDecoder::default();
        assert_eq!(decoder.feed(b"\x1b"), []);
        assert!(decoder.waits());
        assert_eq!(decoder.flush(), [TerminalInput::Key(KeyPress::plain(KeyCode::Escape))]);
        assert!(!decoder.waits() && decoder.flush().is_empty());
    }

    #[test]
    fn bytes_that_mean_nothing_are_passed_over() {
        let last = |bytes: &[u8]| keys(bytes).last().cloned();
        assert_eq!(last(b"\xff\xfea"), Some(TerminalInput::Key(KeyPress::plain(KeyCode::Char('a')))));
        assert_eq!(last(b"\x1b[?1;2ca"), Some(TerminalInput::Key(KeyPress::plain(KeyCode::Char('a')))));
        let mut decoder = KeyDecoder::default();
        decoder.feed(&[b"\x1b[".as_slice(), &[b'1'; 100]].concat());
        assert!(!decoder.waits());
    }
}
