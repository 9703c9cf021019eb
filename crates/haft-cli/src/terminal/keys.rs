//! Decodes the bytes that a terminal sends into keys and pastes.
//!
//! A paste is one value, whatever its length and content: nothing in it is ever a key. The decoder keeps bytes until they
//! are a complete key, so a read may end anywhere.
//!
//! Not here: what a key does (`app`).

/// Input of the person: a key or a paste.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// One key.
    Key(Key),
    /// A paste, as one piece.
    Paste(String),
}

/// One key with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) code: Code,
    pub(super) held: Held,
}

/// Which key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
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

/// Which keys were held down with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) ctrl: bool,
    pub(super) alt: bool,
    pub(super) shift: bool,
}

impl Key {
    /// A key alone.
    pub(super) fn plain(code: Code) -> Self {
        Self { code, held: Held::default() }
    }

    /// A letter with Ctrl.
    pub(super) fn ctrl(letter: char) -> Self {
        Self { code: Code::Char(letter), held: Held { ctrl: true, ..Held::default() } }
    }

    /// A key with Alt.
    #[cfg(test)]
    pub(super) fn alt(code: Code) -> Self {
        Self { code, held: Held { alt: true, ..Held::default() } }
    }
}

const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";
/// Longest escape sequence; a longer one is discarded.
const LONGEST: usize = 64;

/// Reads keys from bytes.
#[derive(Default)]
pub(super) struct Decoder {
    bytes: Vec<u8>,
    /// Where the end of a paste is looked for next, while one comes in.
    in_paste: Option<usize>,
}

impl Decoder {
    /// Takes bytes; returns the complete keys and pastes.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Input> {
        self.bytes.extend_from_slice(bytes);
        let mut inputs = Vec::new();
        while let Some(input) = self.next() {
            inputs.extend(input);
        }
        inputs
    }

    /// Returns whether bytes wait that may be the beginning of a longer key.
    pub(super) fn waits(&self) -> bool {
        self.in_paste.is_none() && !self.bytes.is_empty()
    }

    /// Decodes the waiting bytes as they are, because no more came.
    pub(super) fn flush(&mut self) -> Vec<Input> {
        if !self.waits() {
            return Vec::new();
        }
        let bytes = std::mem::take(&mut self.bytes);
        match bytes.as_slice() {
            [0x1b] => vec![Input::Key(Key::plain(Code::Escape))],
            [0x1b, 0x1b] => vec![Input::Key(Key::plain(Code::Escape)); 2],
            // A part of an unknown sequence.
            _ => Vec::new(),
        }
    }

    /// Returns the next input: nothing if bytes are missing, an empty one if the bytes have no meaning.
    fn next(&mut self) -> Option<Option<Input>> {
        if let Some(from) = self.in_paste {
            return self.rest_of_paste(from).map(Some);
        }
        let first = *self.bytes.first()?;
        if first == 0x1b {
            return self.escape();
        }
        if first < 0x80 {
            self.bytes.remove(0);
            return Some(control(first).map(Input::Key));
        }
        let length = utf8_length(first);
        if self.bytes.len() < length {
            return None;
        }
        let c = std::str::from_utf8(&self.bytes[..length]).ok().and_then(|text| text.chars().next());
        self.bytes.drain(..if c.is_some() { length } else { 1 });
        Some(c.map(|c| Input::Key(Key::plain(Code::Char(c)))))
    }

    fn escape(&mut self) -> Option<Option<Input>> {
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
                Some(csi(&sequence).map(Input::Key))
            }
            b'O' => {
                let letter = *self.bytes.get(2)?;
                self.bytes.drain(..3);
                Some(csi(&[letter]).map(Input::Key))
            }
            // Two escapes: the first is a key, the second may begin one.
            0x1b => {
                self.bytes.remove(0);
                Some(Some(Input::Key(Key::plain(Code::Escape))))
            }
            _ => {
                self.bytes.remove(0);
                let Some(Some(Input::Key(key))) = self.next() else {
                    // A character of several bytes that is not whole yet.
                    self.bytes.insert(0, 0x1b);
                    return None;
                };
                Some(Some(Input::Key(Key { held: Held { alt: true, ..key.held }, ..key })))
            }
        }
    }

    fn rest_of_paste(&mut self, from: usize) -> Option<Input> {
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
        Some(Input::Paste(text))
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
fn control(byte: u8) -> Option<Key> {
    Some(match byte {
        b'\r' => Key::plain(Code::Enter),
        // What Ctrl-J and Shift-Enter send on many terminals.
        b'\n' => Key { code: Code::Enter, held: Held { shift: true, ..Held::default() } },
        b'\t' => Key::plain(Code::Tab),
        0x7f | 0x08 => Key::plain(Code::Backspace),
        0 => Key::ctrl(' '),
        1..=26 => Key::ctrl(char::from(byte - 1 + b'a')),
        0x1f => Key::ctrl('_'),
        0x1c..=0x1e => return None,
        byte => Key::plain(Code::Char(char::from(byte))),
    })
}

/// Returns the key of a sequence, without its introducer.
fn csi(sequence: &[u8]) -> Option<Key> {
    let (last, numbers) = sequence.split_last()?;
    let text = std::str::from_utf8(numbers).ok()?;
    let mut numbers = text.split(';').map(|part| part.split(':').next().unwrap_or_default().parse::<u32>().ok());
    let first = numbers.next().flatten();
    let held = held(numbers.next().flatten().unwrap_or(1));
    let code = match (*last, first) {
        (b'A', _) => Code::Up,
        (b'B', _) => Code::Down,
        (b'C', _) => Code::Right,
        (b'D', _) => Code::Left,
        (b'H', _) => Code::Home,
        (b'F', _) => Code::End,
        (b'M', None) => Code::Enter,
        (b'Z', _) => return Some(Key { code: Code::Tab, held: Held { shift: true, ..held } }),
        (b'~', Some(1 | 7)) => Code::Home,
        (b'~', Some(4 | 8)) => Code::End,
        (b'~', Some(3)) => Code::Delete,
        (b'~', Some(5)) => Code::PageUp,
        (b'~', Some(6)) => Code::PageDown,
        // xterm's way to say which key was held with another: 27;held;key~
        (b'~', Some(27)) => coded(text.rsplit(';').next()?.parse().ok()?)?,
        (b'u', Some(code)) => coded(code)?,
        _ => Code::Other,
    };
    Some(Key { code, held })
}

/// Returns the key that a number names.
fn coded(number: u32) -> Option<Code> {
    Some(match number {
        13 => Code::Enter,
        9 => Code::Tab,
        27 => Code::Escape,
        8 | 127 => Code::Backspace,
        number => Code::Char(char::from_u32(number).filter(|c| !c.is_control())?),
    })
}

fn held(number: u32) -> Held {
    let bits = number.saturating_sub(1);
    Held { shift: bits & 1 != 0, alt: bits & 2 != 0, ctrl: bits & 4 != 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Input> {
        Decoder::default().feed(bytes)
    }

    #[test]
    fn keys_are_read_however_the_bytes_are_cut() {
        let bytes = "aä漢\u{1b}[A\u{1b}[1;5C\u{1b}OH\u{1b}f\r\u{1b}\r\u{3}\u{1b}[13;2u\u{1b}[3~\u{1b}ü".as_bytes();
        let whole = keys(bytes);
        assert_eq!(whole.len(), 13, "{whole:?}");
        let alt_enter = Input::Key(Key::alt(Code::Enter));
        let shift_enter = Input::Key(Key { code: Code::Enter, held: Held { shift: true, ..Held::default() } });
        assert!(
            whole.contains(&alt_enter) && whole.contains(&shift_enter) && whole.contains(&Input::Key(Key::ctrl('c')))
        );
        for cut in 1..bytes.len() {
            let mut decoder = Decoder::default();
            let mut read = decoder.feed(&bytes[..cut]);
            read.extend(decoder.feed(&bytes[cut..]));
            assert_eq!(read, whole, "cut at {cut}");
        }
    }

    #[test]
    fn nothing_in_a_paste_is_a_key() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.feed(b"x\x1b[200~y\r\x03one\r\n\x1b[A"), [Input::Key(Key::plain(Code::Char('x')))]);
        assert!(!decoder.waits(), "a paste is never cut by time");
        assert_eq!(decoder.feed(b"two\x1b[20"), []);
        let pasted = Input::Paste("y\n\u{3}one\n\u{1b}[Atwo".into());
        assert_eq!(decoder.feed(b"1~z"), [pasted, Input::Key(Key::plain(Code::Char('z')))]);
    }

    #[test]
    fn an_escape_alone_is_a_key_when_nothing_follows() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.feed(b"\x1b"), []);
        assert!(decoder.waits());
        assert_eq!(decoder.flush(), [Input::Key(Key::plain(Code::Escape))]);
        assert!(!decoder.waits() && decoder.flush().is_empty());
    }

    #[test]
    fn bytes_that_mean_nothing_are_passed_over() {
        let last = |bytes: &[u8]| keys(bytes).last().cloned();
        assert_eq!(last(b"\xff\xfea"), Some(Input::Key(Key::plain(Code::Char('a')))));
        assert_eq!(last(b"\x1b[?1;2ca"), Some(Input::Key(Key::plain(Code::Char('a')))));
        let mut decoder = Decoder::default();
        decoder.feed(&[b"\x1b[".as_slice(), &[b'1'; 100]].concat());
        assert!(!decoder.waits());
    }
}
