//! Scans JSON in one pass: one value, values one after the other, or one value a line.
//!
//! It builds only the shape, so a gigabyte takes as much memory as a page. A broken line of JSON Lines costs only that
//! line. In other JSON the scan ends at the broken place and reports it.

use super::shape::{CompositeKind, KEPT_TEXT, Scalar, ShapeSummary};

/// Deepest nesting that is followed.
const DEEPEST: usize = 10_000;
/// Longest number or word.
const LONGEST_WORD: usize = 400;
/// Most problems that are kept in words.
const MOST_PROBLEMS: usize = 3;

/// Whether each line is a value of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PerLine {
    Yes,
    No,
}

/// The state of a scan, by what comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonScanState {
    /// A value, at the top or behind a comma or colon.
    Value,
    /// The first item of an array, or its end.
    FirstItem,
    /// The first key of an object, or its end.
    FirstKey,
    Key,
    Colon,
    /// A comma or the end of the holder.
    AfterValue,
    /// The rest of a text.
    Text(JsonStringRole),
    /// The rest of a number or word.
    Word,
    /// The rest of a broken line.
    BrokenLine,
    /// Nothing: the scan has ended.
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonStringRole {
    Key,
    Value,
}

/// A scan on its way.
pub(super) struct JsonScan {
    pub(super) shape: ShapeSummary,
    per_line: PerLine,
    state: JsonScanState,
    holders: Vec<CompositeKind>,
    text: JsonToken,
    /// Values at the top that are complete.
    pub(super) values: u64,
    /// Lines that are no JSON.
    pub(super) broken_lines: u64,
    /// What is wrong, in words, the first ones.
    pub(super) problems: Vec<String>,
    line: u64,
}

/// A string or word of JSON that is being scanned.
#[derive(Default)]
struct JsonToken {
    bytes: Vec<u8>,
    characters: u64,
    escape: Escape,
    /// The first half of a character that was written as two.
    high: Option<u16>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    No,
    Begun,
    /// So many hexadecimal digits, with this value.
    Digits(u8, u16),
}

impl JsonScan {
    pub(super) fn new(per_line: PerLine) -> Self {
        Self {
            shape: ShapeSummary::new(),
            per_line,
            state: JsonScanState::Value,
            holders: Vec::new(),
            text: JsonToken::default(),
            values: 0,
            broken_lines: 0,
            problems: Vec::new(),
            line: 1,
        }
    }

    /// Returns whether nothing more is scanned.
    pub(super) fn has_ended(&self) -> bool {
        self.state == JsonScanState::Ended
    }

    /// Returns whether the last value is complete.
    pub(super) fn is_between_values(&self) -> bool {
        self.holders.is_empty() && matches!(self.state, JsonScanState::Value | JsonScanState::AfterValue)
    }

    /// Goes on at another place of the file, behind the next line end.
    pub(super) fn skip_to_next_line(&mut self) {
        self.drop_value();
        self.state = JsonScanState::BrokenLine;
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() && self.state != JsonScanState::Ended {
            at += match self.state {
                JsonScanState::Text(role) => self.take_text(&bytes[at..], role),
                JsonScanState::Word => self.take_word(&bytes[at..]),
                JsonScanState::BrokenLine => self.take_broken_line(&bytes[at..]),
                _ => {
                    self.take_byte(bytes[at]);
                    1
                }
            };
        }
    }

    /// Says that nothing more comes.
    pub(super) fn end(&mut self) {
        if self.state == JsonScanState::Word {
            self.end_word();
        }
        let is_complete =
            self.is_between_values() || matches!(self.state, JsonScanState::Ended | JsonScanState::BrokenLine);
        if !is_complete {
            self.fail("it ends in the middle of a value");
        }
        self.shape.close_all();
    }

    fn take_byte(&mut self, byte: u8) {
        match byte {
            b'\n' => self.line_end(),
            b' ' | b'\t' | b'\r' => {}
            _ => self.take_sign(byte),
        }
    }

    fn line_end(&mut self) {
        if self.per_line == PerLine::Yes && !self.is_between_values() {
            self.fail("it ends in the middle of a value");
            self.state = JsonScanState::Value;
        }
        self.line += 1;
        if self.holders.is_empty() && self.state == JsonScanState::AfterValue {
            self.state = JsonScanState::Value;
        }
    }

    fn take_sign(&mut self, byte: u8) {
        match (self.state, byte) {
            (JsonScanState::Colon, b':') => self.state = JsonScanState::Value,
            (JsonScanState::FirstKey | JsonScanState::Key, b'"') => {
                self.begin(JsonScanState::Text(JsonStringRole::Key))
            }
            (JsonScanState::FirstKey, b'}') | (JsonScanState::FirstItem, b']') => self.close(),
            (JsonScanState::AfterValue, b',') => match self.holders.last() {
                Some(CompositeKind::Object) => self.state = JsonScanState::Key,
                Some(CompositeKind::Array) => self.state = JsonScanState::Value,
                None => self.unexpected(byte),
            },
            (JsonScanState::AfterValue, b'}') if self.holders.last() == Some(&CompositeKind::Object) => self.close(),
            (JsonScanState::AfterValue, b']') if self.holders.last() == Some(&CompositeKind::Array) => self.close(),
            (JsonScanState::AfterValue, _) if self.holders.is_empty() && self.per_line == PerLine::No => {
                self.begin_value(byte);
            }
            (JsonScanState::Value | JsonScanState::FirstItem, _) => self.begin_value(byte),
            _ => self.unexpected(byte),
        }
    }

    fn begin_value(&mut self, byte: u8) {
        match byte {
            b'{' => self.open(CompositeKind::Object, JsonScanState::FirstKey),
            b'[' => self.open(CompositeKind::Array, JsonScanState::FirstItem),
            b'"' => self.begin(JsonScanState::Text(JsonStringRole::Value)),
            b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.begin(JsonScanState::Word);
                self.text.bytes.push(byte);
            }
            _ => self.unexpected(byte),
        }
    }

    fn begin(&mut self, state: JsonScanState) {
        self.text = JsonToken { bytes: std::mem::take(&mut self.text.bytes), ..JsonToken::default() };
        self.text.bytes.clear();
        self.state = state;
    }

    fn open(&mut self, holder: CompositeKind, state: JsonScanState) {
        if self.holders.len() >= DEEPEST {
            return self.fail("it is nested deeper than 10,000 levels");
        }
        self.shape.open(holder);
        self.holders.push(holder);
        self.state = state;
    }

    fn close(&mut self) {
        self.shape.close();
        self.holders.pop();
        self.value_ended();
    }

    fn value_ended(&mut self) {
        self.state = JsonScanState::AfterValue;
        if self.holders.is_empty() {
            self.values += 1;
        }
    }

    fn take_word(&mut self, bytes: &[u8]) -> usize {
        let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
        let length = bytes.iter().position(|byte| !is_of_word(byte)).unwrap_or(bytes.len());
        let room = LONGEST_WORD.saturating_sub(self.text.bytes.len());
        self.text.bytes.extend_from_slice(&bytes[..length.min(room)]);
        if length > room {
            self.fail("a number or word is longer than 400 characters");
        } else if length < bytes.len() {
            self.end_word();
        }
        length
    }

    fn end_word(&mut self) {
        let bytes = std::mem::take(&mut self.text.bytes);
        let word = std::str::from_utf8(&bytes).unwrap_or_default();
        let scalar = match word {
            "null" => Some(Scalar::Null),
            "true" => Some(Scalar::Bool(true)),
            "false" => Some(Scalar::Bool(false)),
            word if is_number(word) => Some(Scalar::Number(word)),
            _ => None,
        };
        match scalar {
            Some(scalar) => {
                self.shape.scalar(scalar);
                self.value_ended();
            }
            None => {
                let shown: String = word.chars().take(20).collect();
                self.fail(&format!("{shown:?} is no JSON value"));
            }
        }
    }

    fn take_text(&mut self, bytes: &[u8], role: JsonStringRole) -> usize {
        if self.text.escape != Escape::No {
            if self.text.take_escaped(bytes[0]).is_err() {
                self.fail("a text has a \\ before something else than an escape");
            }
            return 1;
        }
        let end = memchr::memchr3(b'"', b'\\', b'\n', bytes).unwrap_or(bytes.len());
        self.text.add(&bytes[..end]);
        match bytes.get(end) {
            None => end,
            Some(b'"') => {
                self.end_text(role);
                end + 1
            }
            Some(b'\\') => {
                self.text.escape = Escape::Begun;
                end + 1
            }
            // The code that continues counts the line end.
            Some(_) if self.per_line == PerLine::Yes => {
                self.fail("a text is not closed");
                end
            }
            Some(_) => {
                self.line += 1;
                self.fail("a text is not closed on its line");
                end + 1
            }
        }
    }

    fn end_text(&mut self, role: JsonStringRole) {
        let text = String::from_utf8_lossy(&self.text.bytes);
        match role {
            JsonStringRole::Key => {
                self.shape.key(&text);
                self.state = JsonScanState::Colon;
            }
            JsonStringRole::Value => {
                self.shape.scalar(Scalar::Text(&text, self.text.characters));
                self.value_ended();
            }
        }
    }

    fn take_broken_line(&mut self, bytes: &[u8]) -> usize {
        match memchr::memchr(b'\n', bytes) {
            None => bytes.len(),
            Some(end) => {
                self.line += 1;
                self.state = JsonScanState::Value;
                end + 1
            }
        }
    }

    fn unexpected(&mut self, byte: u8) {
        let shown = if byte.is_ascii_graphic() { format!("\"{}\"", byte as char) } else { format!("byte {byte:#04x}") };
        self.fail(&format!("{shown} is not expected here"));
    }

    fn fail(&mut self, what: &str) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(format!("line {}: {what}", self.line));
        }
        self.drop_value();
        self.state = match self.per_line {
            PerLine::Yes => {
                self.broken_lines += 1;
                JsonScanState::BrokenLine
            }
            PerLine::No => JsonScanState::Ended,
        };
    }

    fn drop_value(&mut self) {
        self.shape.close_all();
        self.holders.clear();
    }
}

impl JsonToken {
    fn add(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.end_half();
        }
        self.characters += bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64;
        let room = KEPT_TEXT.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn take_escaped(&mut self, byte: u8) -> Result<(), ()> {
        let plain = match (self.escape, byte) {
            (Escape::Begun, b'u') => {
                self.escape = Escape::Digits(0, 0);
                return Ok(());
            }
            (Escape::Begun, b'"' | b'\\' | b'/') => byte,
            (Escape::Begun, b'n') => b'\n',
            (Escape::Begun, b't') => b'\t',
            (Escape::Begun, b'r') => b'\r',
            (Escape::Begun, b'b') => 8,
            (Escape::Begun, b'f') => 12,
            (Escape::Digits(count, value), _) => {
                let digit = (byte as char).to_digit(16).ok_or(())?;
                let value = value << 4 | u16::try_from(digit).unwrap_or(0);
                self.escape = if count == 3 { Escape::No } else { Escape::Digits(count + 1, value) };
                if count == 3 {
                    self.add_unit(value);
                }
                return Ok(());
            }
            _ => return Err(()),
        };
        self.escape = Escape::No;
        self.add(&[plain]);
        Ok(())
    }

    fn add_unit(&mut self, unit: u16) {
        let units: Vec<u16> = self.high.take().into_iter().chain([unit]).collect();
        if units.len() == 1 && (0xd800..0xdc00).contains(&unit) {
            self.high = Some(unit);
            return;
        }
        let text = String::from_utf16_lossy(&units);
        self.add(text.as_bytes());
    }

    /// Adds half a character that nothing completes.
    fn end_half(&mut self) {
        if self.high.take().is_some() {
            self.add("\u{fffd}".as_bytes());
        }
    }
}

/// Returns whether a word is a number of JSON.
fn is_number(word: &str) -> bool {
    let unsigned = word.strip_prefix('-').unwrap_or(word);
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    is_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(is_digits)
        && exponent.is_none_or(|exponent| is_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}
