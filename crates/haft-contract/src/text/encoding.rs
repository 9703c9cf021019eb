//! Decodes bytes as text and encodes them again, and leaves every byte outside an edit unchanged.
//!
//! Most files are UTF-8, and for them everything here is a borrow or a copy. haft decodes the others so that
//! a model can read and edit them, and writes them back in their own encoding. An edit that turned an old
//! file into UTF-8 would change every accented letter in it.
//!
//! A guessed encoding may be the wrong one. That is harmless: haft accepts a text only if it encodes to exactly
//! the same bytes, and copies those bytes outside an edit. It refuses an edit after which the guess would be
//! another encoding.
//!
//! Not here: reading files (`haft-workspace`), what a line is (`lines`).

mod detect;
mod labelled;
#[cfg(test)]
mod tests;

pub use labelled::{LabelledText, decode_labelled};

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// How much of a file's beginning is enough to find its form.
pub const LOOKED_AT: usize = 64 * 1024;

/// How a file's bytes are text: encoding and byte order mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextForm {
    encoding: &'static Encoding,
    mark: &'static [u8],
}

/// Why bytes are no text that can be edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoText {
    /// They are something else, for instance an image.
    #[error("the bytes are not text")]
    Binary,
    /// They are text of a kind that cannot be written back byte for byte.
    #[error("byte {at} does not fit {}", looks_like.unwrap_or("any known encoding"))]
    BadEncoding {
        /// The encoding that comes closest, if one does.
        looks_like: Option<&'static str>,
        /// The first byte that does not fit, from 0.
        at: usize,
    },
}

/// Whether some bytes are all there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// They are.
    Yes,
    /// More follow, and the last character may be cut.
    No,
}

impl TextForm {
    /// Finds the form from the beginning of a file, of which no more than [`LOOKED_AT`] bytes are looked at.
    ///
    /// UTF-8 with some broken bytes is still found to be UTF-8: [`decode`] refuses it, [`TextForm::show`] shows it.
    pub fn detect(start: &[u8], whole: Whole) -> Result<TextForm, NoText> {
        detect::detect(start, whole)
    }

    /// Returns the form of nearly all files: UTF-8 without a mark.
    pub fn utf8() -> TextForm {
        TextForm { encoding: UTF_8, mark: b"" }
    }

    /// Returns the name of the encoding, for instance `UTF-16LE` or `windows-1252`.
    pub fn name(&self) -> &'static str {
        self.encoding.name()
    }

    /// Tells whether the text is preceded by a byte order mark.
    pub fn has_mark(&self) -> bool {
        !self.mark.is_empty()
    }

    /// Returns the byte order mark; empty where there is none.
    pub fn mark(&self) -> &'static [u8] {
        self.mark
    }

    /// Tells whether a character takes two bytes or four, so that a line end is a unit and not a byte.
    pub fn has_wide_units(&self) -> bool {
        self.encoding == UTF_16LE || self.encoding == UTF_16BE
    }

    /// Returns the bytes of an ASCII character; one byte, or two for UTF-16.
    pub fn unit(&self, ascii: u8) -> [u8; 2] {
        if self.encoding == UTF_16BE { [0, ascii] } else { [ascii, 0] }
    }

    /// Counts the characters of a piece; exact for UTF-8, UTF-16 and encodings of one byte, else at most twice too many.
    pub fn characters_in(&self, piece: &[u8]) -> usize {
        if self.encoding == UTF_8 {
            return piece.iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        }
        if self.has_wide_units() {
            // The second half of a pair is not a character of its own.
            let high = usize::from(self.encoding == UTF_16LE);
            return piece.chunks_exact(2).filter(|unit| unit[high] & 0xfc != 0xdc).count();
        }
        piece.len()
    }

    /// Decodes a piece for display: what is no text becomes U+FFFD.
    pub fn show(&self, piece: &[u8], whole: Whole) -> DisplayText {
        if self.encoding == UTF_8
            && let Ok(text) = std::str::from_utf8(piece)
        {
            return DisplayText { text: text.to_owned(), lossy: false };
        }
        self.in_pieces().take(piece, whole)
    }

    /// Begins to decode a text that comes in pieces.
    pub fn in_pieces(&self) -> PieceDecoder {
        PieceDecoder(self.encoding.new_decoder_without_bom_handling())
    }
}

/// Decodes a text that comes in pieces, for display.
pub struct PieceDecoder(Decoder);

impl PieceDecoder {
    /// Decodes the next piece; what is no text becomes U+FFFD.
    pub fn take(&mut self, piece: &[u8], whole: Whole) -> DisplayText {
        let room = self.0.max_utf8_buffer_length(piece.len()).unwrap_or(piece.len());
        let mut text = String::with_capacity(room);
        let (_, _, lossy) = self.0.decode_to_string(piece, &mut text, whole == Whole::Yes);
        DisplayText { text, lossy }
    }
}

/// A piece of text for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayText {
    /// The text.
    pub text: String,
    /// Whether bytes that are no text became U+FFFD.
    pub lossy: bool,
}

/// A whole text with what is needed to write it back byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedText<'a> {
    /// The text, without the byte order mark.
    pub text: Cow<'a, str>,
    /// How the bytes are text.
    pub form: TextForm,
}

/// Decodes a whole file, if encoding the text again gives exactly these bytes.
pub fn decode(bytes: &[u8]) -> Result<DecodedText<'_>, NoText> {
    decode_as(bytes, detect::detect_whole(bytes)?)
}

/// Decodes in a form that is known.
fn decode_as(bytes: &[u8], form: TextForm) -> Result<DecodedText<'_>, NoText> {
    let bad = |at: usize| NoText::BadEncoding { looks_like: Some(form.name()), at: form.mark.len() + at };
    let body = bytes.strip_prefix(form.mark).unwrap_or(bytes);
    if form.encoding == UTF_8 {
        let text = std::str::from_utf8(body).map_err(|error| bad(error.valid_up_to()))?;
        return Ok(DecodedText { text: Cow::Borrowed(text), form });
    }
    let Some(text) = form.encoding.decode_without_bom_handling_and_without_replacement(body) else {
        return Err(bad(first_malformed(form.encoding, body)));
    };
    let again = encode(form.encoding, &text).map_err(|_| bad(0))?;
    if *again != *body {
        let same = again.iter().zip(body).take_while(|(one, other)| one == other).count();
        return Err(bad(same));
    }
    Ok(DecodedText { text, form })
}

/// Says why a new text cannot be written into a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unencodable {
    /// The encoding has no such character.
    #[error("the file's encoding, {encoding}, has no character {character:?} (U+{:04X})", u32::from(*character))]
    Character {
        /// The first such character.
        character: char,
        /// The name of the encoding.
        encoding: &'static str,
    },
    /// The bytes would be read as another text than the one meant.
    #[error("written as {encoding}, the file would be read as {taken_for} the next time")]
    ReadsDifferently {
        /// The name of the encoding.
        encoding: &'static str,
        /// What the next reader would take them for: the name of another encoding, or other words.
        taken_for: &'static str,
    },
}

impl DecodedText<'_> {
    /// Replaces stretches (byte ranges of `text`, sorted, not overlapping) and returns the new bytes.
    ///
    /// Bytes outside the stretches are copied from `original`, the bytes that this was decoded from.
    ///
    /// # Panics
    /// When a range is not one of `text`, or `original` are other bytes: both are defects of the caller.
    pub fn splice(&self, original: &[u8], replacements: &[(Range<usize>, &str)]) -> Result<Vec<u8>, Unencodable> {
        let bytes = self.spliced(original, replacements)?;
        match self.taken_for(&bytes, replacements) {
            None => Ok(bytes),
            Some(taken_for) => Err(Unencodable::ReadsDifferently { encoding: self.form.name(), taken_for }),
        }
    }

    /// Returns how many bytes there will be after replacing stretches, without making them.
    ///
    /// # Panics
    /// As [`DecodedText::splice`] does.
    pub fn size_after(&self, original: &[u8], replacements: &[(Range<usize>, &str)]) -> usize {
        let size = |text: &str| encoded_length(self.form.encoding, text);
        let gone: usize = replacements.iter().map(|(range, _)| size(&self.text[range.clone()])).sum();
        let come: usize = replacements.iter().map(|(_, new)| size(new)).sum();
        original.len() - gone + come
    }

    fn spliced(&self, original: &[u8], replacements: &[(Range<usize>, &str)]) -> Result<Vec<u8>, Unencodable> {
        let encoding = self.form.encoding;
        let mut bytes = Vec::with_capacity(self.size_after(original, replacements));
        // How far the text and its bytes have been taken over.
        let (mut in_text, mut in_bytes) = (0, self.form.mark.len());
        bytes.extend_from_slice(self.form.mark);
        for (range, new) in replacements {
            let kept = encoded_length(encoding, &self.text[in_text..range.start]);
            bytes.extend_from_slice(&original[in_bytes..in_bytes + kept]);
            bytes.extend_from_slice(&encode(encoding, new)?);
            in_bytes += kept + encoded_length(encoding, &self.text[range.clone()]);
            in_text = range.end;
        }
        bytes.extend_from_slice(&original[in_bytes..]);
        Ok(bytes)
    }

    /// Returns what the next reader would take the spliced bytes for; nothing when that is the text that was meant.
    ///
    /// No file stores the form: the next reader has to detect it again.
    fn taken_for(&self, bytes: &[u8], replacements: &[(Range<usize>, &str)]) -> Option<&'static str> {
        let body = &bytes[self.form.mark.len()..];
        if self.form.encoding == UTF_8 {
            // Pieces of UTF-8 are UTF-8; only a mark or a NUL that was not there makes something else of it.
            if replacements.iter().any(|(_, new)| new.contains('\0')) {
                return Some("binary data");
            }
            let gets_mark = !self.form.has_mark() && body.starts_with("\u{feff}".as_bytes());
            return gets_mark.then_some("UTF-8 with a byte order mark");
        }
        let read = match decode(bytes) {
            Ok(read) => read,
            Err(NoText::Binary) => return Some("binary data"),
            Err(NoText::BadEncoding { .. }) => return Some("damaged text"),
        };
        // What is ASCII by now means the same in all encodings of bytes.
        let is_same_form = read.form == self.form || body.is_ascii();
        let is_same_text = || read.text == replaced(&self.text, replacements);
        match is_same_form {
            false => Some(read.form.name()),
            true if !is_same_text() => Some("another text"),
            true => None,
        }
    }
}

/// Returns the text with its stretches replaced.
pub fn replaced(text: &str, replacements: &[(Range<usize>, &str)]) -> String {
    let mut new_text = String::with_capacity(text.len());
    let mut taken = 0;
    for (range, new) in replacements {
        new_text.push_str(&text[taken..range.start]);
        new_text.push_str(new);
        taken = range.end;
    }
    new_text.push_str(&text[taken..]);
    new_text
}

/// Encodes a text. `encoding_rs` does not write UTF-16, so that is done here.
fn encode<'t>(encoding: &'static Encoding, text: &'t str) -> Result<Cow<'t, [u8]>, Unencodable> {
    if encoding == UTF_16LE {
        return Ok(Cow::Owned(text.encode_utf16().flat_map(u16::to_le_bytes).collect()));
    }
    if encoding == UTF_16BE {
        return Ok(Cow::Owned(text.encode_utf16().flat_map(u16::to_be_bytes).collect()));
    }
    let (bytes, _, unmappable) = encoding.encode(text);
    if !unmappable {
        return Ok(bytes);
    }
    let lacks = |character: &char| encoding.encode(character.encode_utf8(&mut [0; 4])).2;
    let character = text.chars().find(lacks).unwrap_or(char::REPLACEMENT_CHARACTER);
    Err(Unencodable::Character { character, encoding: encoding.name() })
}

/// Returns how many bytes a part of a decoded text came from.
fn encoded_length(encoding: &'static Encoding, text: &str) -> usize {
    if encoding == UTF_8 || encoding.is_single_byte() && text.is_ascii() {
        return text.len();
    }
    if encoding == UTF_16LE || encoding == UTF_16BE {
        return text.chars().map(|character| character.len_utf16() * 2).sum();
    }
    encoding.encode(text).0.len()
}

fn first_malformed(encoding: &'static Encoding, body: &[u8]) -> usize {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut text = String::new();
    let mut taken = 0;
    loop {
        text.clear();
        text.reserve(LOOKED_AT);
        let (result, read) = decoder.decode_to_string_without_replacement(&body[taken..], &mut text, true);
        taken += read;
        match result {
            encoding_rs::DecoderResult::OutputFull => {}
            encoding_rs::DecoderResult::InputEmpty => return taken,
            encoding_rs::DecoderResult::Malformed(bad, behind) => {
                return taken.saturating_sub(usize::from(bad) + usize::from(behind));
            }
        }
    }
}
