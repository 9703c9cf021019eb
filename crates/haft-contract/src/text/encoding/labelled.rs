//! Received text with the encoding that its sender names, such as a web page. haft only reads it and never writes it back.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Text that was received, decoded with the label of its sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledText {
    /// The text; U+FFFD stands for bytes that are none.
    pub text: String,
    /// The name of the encoding.
    pub encoding: &'static str,
    /// Whether some bytes are no text in it.
    pub is_damaged: bool,
}

/// Reads text: by its byte order mark, by the first label that names an encoding and is not contradicted by the bytes, or as
/// what it most likely is.
pub fn decode_labelled(bytes: &[u8], labels: &[Option<&str>]) -> LabelledText {
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    let labelled = || labels.iter().flatten().find_map(|label| Encoding::for_label(label.trim().as_bytes()));
    let encoding = match marked.or_else(labelled) {
        Some(encoding) if marked.is_some() || encoding != UTF_8 || is_utf8(bytes) => encoding,
        // Many servers say UTF-8 of everything.
        Some(_) | None if is_utf8(bytes) => UTF_8,
        Some(_) | None => guessed(bytes),
    };
    let (text, is_damaged) = encoding.decode_with_bom_removal(bytes);
    LabelledText { text: text.into_owned(), encoding: encoding.name(), is_damaged }
}

/// Returns whether all but a cut character at the end is UTF-8.
fn is_utf8(bytes: &[u8]) -> bool {
    match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    }
}

fn guessed(bytes: &[u8]) -> &'static Encoding {
    // Every second byte of such text is zero where it is mostly of Latin letters.
    let zeros = |from: usize| bytes.iter().skip(from).step_by(2).take(200).filter(|byte| **byte == 0).count();
    match (zeros(0), zeros(1)) {
        (0..=10, 100..) => return UTF_16LE,
        (100.., 0..=10) => return UTF_16BE,
        _ => {}
    }
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, chardetng::Utf8Detection::Deny)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], label: Option<&str>, text: &str, encoding: &str) {
        let read = decode_labelled(bytes, &[label]);
        assert_eq!((read.text.as_str(), read.encoding), (text, encoding));
    }

    #[test]
    fn a_text_is_read_by_its_mark_its_label_or_its_bytes() {
        check("Grüße".as_bytes(), None, "Grüße", "UTF-8");
        check(b"\xef\xbb\xbfa", Some("iso-8859-1"), "a", "UTF-8");
        check(b"\xff\xfea\0b\0", None, "ab", "UTF-16LE");
        check(b"Gr\xfc\xdfe", Some("ISO-8859-1"), "Grüße", "windows-1252");
        check(b"Gr\xfc\xdfe aus K\xf6ln", Some("utf-8"), "Grüße aus Köln", "windows-1252");
        check(b"\x93\xfa\x96\x7b", Some("shift_jis"), "日本", "Shift_JIS");
        check(b"\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0", Some("windows-1251"), "Привет, мир", "windows-1251");
        check("cut ü".as_bytes().split_last().unwrap().1, Some("utf-8"), "cut \u{fffd}", "UTF-8");
        check(b"plain", Some("no such encoding"), "plain", "UTF-8");
    }
}
