//! Reads a string with the wrong quotes, raw line ends or unescaped backslashes.
//!
//! The backslash is the dangerous part: in `"C:\Users"` it is text, in `"a\nb"` it is half a line end. If JSON knows
//! none of the escapes in a string, the model wrote it without escaping, so haft keeps its backslashes. A string with
//! both kinds has two readings, and haft refuses it.

use super::object::{Notation, Parser};
use crate::arguments::fault::Fault;

const DOUBLE_BACKSLASHES: &str = "nothing was run; write every backslash that is text as two (\\\\) and send it again";

/// What opened a string, and so what closes it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    Double,
    Single,
    TypographicDouble,
    TypographicSingle,
}

impl Quote {
    fn closes_with(self, c: char) -> bool {
        match self {
            Quote::Double => c == '"',
            Quote::Single => c == '\'',
            Quote::TypographicDouble => matches!(c, '“' | '”'),
            Quote::TypographicSingle => matches!(c, '‘' | '’'),
        }
    }
}

/// A string while it is being read.
#[derive(Default)]
struct StringDraft {
    text: String,
    /// Where the first backslash stands that starts no JSON escape.
    kept_backslash: Option<usize>,
    /// Whether there was an escape that JSON reads as something else than its letters.
    has_escape: bool,
}

impl Parser<'_> {
    /// Returns what kind of quote stands at the next byte, if one does.
    pub(super) fn quote(&self) -> Option<Quote> {
        match self.text[self.at..].chars().next()? {
            '"' => Some(Quote::Double),
            '\'' => Some(Quote::Single),
            '“' | '”' | '„' => Some(Quote::TypographicDouble),
            '‘' | '’' | '‚' => Some(Quote::TypographicSingle),
            _ => None,
        }
    }

    /// Reads the string that begins at the next byte.
    pub(super) fn string(&mut self, quote: Quote) -> Result<String, Fault> {
        match quote {
            Quote::Double => {}
            Quote::Single => self.note("json: single quotes read as double quotes"),
            Quote::TypographicDouble | Quote::TypographicSingle => {
                self.note("json: typographic quotes read as double quotes");
            }
        }
        let text = self.text;
        let mut draft = StringDraft::default();
        self.at += text[self.at..].chars().next().map_or(0, char::len_utf8);
        while let Some(c) = text[self.at..].chars().next() {
            if quote.closes_with(c) {
                self.at += c.len_utf8();
                return self.finish(draft);
            }
            match c {
                '\\' => self.escape(quote, &mut draft)?,
                '"' if quote != Quote::Single => {
                    return Err(self.broken("the closing quote that belongs to the opening one"));
                }
                _ => {
                    if c < ' ' {
                        self.note(control_note(c));
                    }
                    draft.text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        Err(self.cut_off("inside a string"))
    }

    fn finish(&mut self, draft: StringDraft) -> Result<String, Fault> {
        match draft.kept_backslash {
            Some(at) if draft.has_escape => {
                Err(self.fault(at, "backslashes that are all escaped or all not", DOUBLE_BACKSLASHES))
            }
            Some(_) => {
                self.note("json: kept a backslash that was not escaped");
                Ok(draft.text)
            }
            None => Ok(draft.text),
        }
    }

    /// Reads a backslash and what belongs to it.
    fn escape(&mut self, quote: Quote, draft: &mut StringDraft) -> Result<(), Fault> {
        let start = self.at;
        let Some(c) = self.text[start + 1..].chars().next() else {
            return Err(self.cut_off("inside a string"));
        };
        self.at += 1 + c.len_utf8();
        let meaning = match c {
            // An escaped quote has no second reading: unescaped it would have ended the string.
            '"' => {
                draft.text.push('"');
                return Ok(());
            }
            '\'' => {
                if quote != Quote::Single {
                    self.note("json: read \\' as '");
                }
                draft.text.push('\'');
                return Ok(());
            }
            '\\' | '/' => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => self.unicode(start)?,
            'x' if self.is_hex_escape() => {
                let expected = "\\u00 and two digits for a character, or \\\\x for a backslash and an x";
                return Err(self.fault(start, expected, DOUBLE_BACKSLASHES));
            }
            'a' | 'v' | 'N' | 'U' | '0'..='7' | '\n' if self.notation == Notation::Python => {
                return Err(self.fault(start, "an escape that JSON has too", DOUBLE_BACKSLASHES));
            }
            _ => {
                draft.kept_backslash.get_or_insert(start);
                draft.text.push('\\');
                // What follows is read as any other character: it may be a raw line end.
                self.at = start + 1;
                return Ok(());
            }
        };
        draft.has_escape = true;
        draft.text.push(meaning);
        Ok(())
    }

    /// Reads the digits after `\u`, and the second half of a pair.
    fn unicode(&mut self, start: usize) -> Result<char, Fault> {
        let wrong = |parser: &Self| parser.fault(start, "four hexadecimal digits after \\u", DOUBLE_BACKSLASHES);
        let Some(first) = self.four_digits() else {
            return Err(wrong(self));
        };
        if let Some(c) = char::from_u32(first) {
            return Ok(c);
        }
        let is_high = (0xd800..0xdc00).contains(&first);
        if !is_high || !self.text[self.at..].starts_with("\\u") {
            return Err(self.fault(start, "both halves of the character", DOUBLE_BACKSLASHES));
        }
        self.at += 2;
        match self.four_digits() {
            Some(second @ 0xdc00..0xe000) => {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                char::from_u32(code).ok_or_else(|| wrong(self))
            }
            _ => Err(self.fault(start, "both halves of the character", DOUBLE_BACKSLASHES)),
        }
    }

    /// Whether two digits follow, so that `\x41` may be meant as a character.
    fn is_hex_escape(&self) -> bool {
        let digits = self.text.as_bytes().get(self.at..self.at + 2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    }

    fn four_digits(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}

fn control_note(c: char) -> &'static str {
    match c {
        '\n' | '\r' => "json: escaped a raw newline inside a string",
        '\t' => "json: escaped a raw tab inside a string",
        _ => "json: escaped a raw control character inside a string",
    }
}
