//! Reads `$'…'`, in which numbers can stand for letters.

use crate::syntax::reader::{SyntaxFault, SyntaxResult, TextReader};
use crate::syntax::{Quoting, WordPart};

impl TextReader<'_> {
    /// Reads to the quote that closes it; the opening one is behind us.
    pub(crate) fn ansi_quoted(&mut self) -> SyntaxResult<WordPart> {
        let start = self.at;
        let mut bytes = Vec::new();
        loop {
            match self.next_char().ok_or(SyntaxFault("a quote is not closed"))? {
                '\'' => break,
                '\\' => self.ansi_escape(&mut bytes)?,
                next => bytes.extend(next.to_string().bytes()),
            }
        }
        self.work(self.at - start)?;
        // The shell takes the string as C does: nothing behind a zero is seen.
        let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        bytes.truncate(length);
        Ok(match String::from_utf8(bytes) {
            Ok(text) => WordPart::Text(text, Quoting::Quoted),
            Err(_) => WordPart::Opaque("it has bytes that are not text".to_owned()),
        })
    }

    fn ansi_escape(&mut self, bytes: &mut Vec<u8>) -> SyntaxResult<()> {
        let escape = self.next_char().ok_or(SyntaxFault("a quote is not closed"))?;
        let byte = match escape {
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '\\' | '\'' | '"' | '?' => escape as u8,
            '0'..='7' => {
                self.at -= 1;
                (self.digits(8, 3).unwrap_or_default() & 0xff) as u8
            }
            'x' => return self.hexadecimal(bytes),
            'u' => return self.code_point('u', 4, bytes),
            'U' => return self.code_point('U', 8, bytes),
            'c' => match self.next_char() {
                Some('?') => 0x7f,
                Some(next) if next.is_ascii() => (next.to_ascii_uppercase() as u8) & 0x1f,
                _ => return Err(SyntaxFault("an escape is not understood")),
            },
            other => {
                bytes.push(b'\\');
                bytes.extend(other.to_string().bytes());
                return Ok(());
            }
        };
        bytes.push(byte);
        Ok(())
    }

    fn hexadecimal(&mut self, bytes: &mut Vec<u8>) -> SyntaxResult<()> {
        if self.bytes_from(self.at).first() == Some(&b'{') {
            return Err(SyntaxFault("an escape is not understood"));
        }
        match self.digits(16, 2) {
            Some(number) => bytes.push((number & 0xff) as u8),
            None => bytes.extend(b"\\x"),
        }
        Ok(())
    }

    fn code_point(&mut self, letter: char, most: usize, bytes: &mut Vec<u8>) -> SyntaxResult<()> {
        match self.digits(16, most) {
            Some(number) => {
                let next = char::from_u32(number).ok_or(SyntaxFault("an escape is not a character"))?;
                bytes.extend(next.to_string().bytes());
            }
            None => bytes.extend(format!("\\{letter}").bytes()),
        }
        Ok(())
    }

    fn digits(&mut self, base: u32, most: usize) -> Option<u32> {
        let mut number = None;
        for _ in 0..most {
            let next = self.bytes_from(self.at).first().copied();
            let Some(digit) = next.and_then(|next| char::from(next).to_digit(base)) else { break };
            number = Some(number.unwrap_or(0_u32).wrapping_mul(base).wrapping_add(digit));
            self.at += 1;
        }
        number
    }
}
