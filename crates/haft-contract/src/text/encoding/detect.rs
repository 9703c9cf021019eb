//! Detects the encoding of bytes: by their mark, then by what they can only be, then by a guess.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, GB18030, GBK, UTF_8, UTF_16BE, UTF_16LE};

use super::{LOOKED_AT, NoText, TextForm, Whole};

const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";
/// Fewer units than this are too few to be sure of UTF-16 without a mark.
const SURE_UNITS: usize = 4;
/// How much before the first odd byte is looked at, where that byte is far behind the beginning.
const BEFORE: usize = 1024;

pub(super) fn detect(start: &[u8], whole: Whole) -> Result<TextForm, NoText> {
    let (start, whole) = match start.get(..LOOKED_AT) {
        Some(beginning) if start.len() > LOOKED_AT => (beginning, Whole::No),
        _ => (start, whole),
    };
    if let Some(form) = by_mark(start)? {
        return Ok(form);
    }
    if start.contains(&0) {
        return [UTF_16LE, UTF_16BE]
            .into_iter()
            .find(|encoding| is_surely_utf16(encoding, start, whole))
            .map(unmarked)
            .ok_or(NoText::Binary);
    }
    match std::str::from_utf8(start) {
        Ok(_) => Ok(TextForm::utf8()),
        Err(error) if whole == Whole::No && error.error_len().is_none() => Ok(TextForm::utf8()),
        Err(error) => guess(start, whole).map_err(|no_text| moved(no_text, error.valid_up_to())),
    }
}

/// Finds the form of a file that is there as a whole, also when its first odd byte comes late.
pub(super) fn detect_whole(bytes: &[u8]) -> Result<TextForm, NoText> {
    let form = detect(bytes, Whole::Yes)?;
    if form.has_wide_units() {
        return Ok(form);
    }
    if memchr::memchr(0, bytes).is_some() {
        return Err(NoText::Binary);
    }
    let Err(error) = std::str::from_utf8(bytes) else { return Ok(form) };
    let came_late = error.valid_up_to() >= LOOKED_AT - 4 && form == TextForm::utf8();
    // UTF-8 up to there is damaged UTF-8, and no guess is better.
    if !came_late || !bytes[..error.valid_up_to()].is_ascii() {
        return Ok(form);
    }
    let window = &bytes[error.valid_up_to() - BEFORE..];
    let rest = if window.len() <= LOOKED_AT { Whole::Yes } else { Whole::No };
    guess(&window[..window.len().min(LOOKED_AT)], rest).map_err(|no_text| moved(no_text, error.valid_up_to()))
}

fn unmarked(encoding: &'static Encoding) -> TextForm {
    TextForm { encoding, mark: b"" }
}

fn moved(no_text: NoText, at: usize) -> NoText {
    match no_text {
        NoText::BadEncoding { looks_like, .. } => NoText::BadEncoding { looks_like, at },
        NoText::Binary => NoText::Binary,
    }
}

fn by_mark(start: &[u8]) -> Result<Option<TextForm>, NoText> {
    // The mark of UTF-32LE begins with that of UTF-16LE, so it is looked for first.
    for (mark, name) in [(b"\xff\xfe\0\0", "UTF-32LE"), (b"\0\0\xfe\xff", "UTF-32BE")] {
        if start.starts_with(mark) {
            return Err(NoText::BadEncoding { looks_like: Some(name), at: 0 });
        }
    }
    if let Some(body) = start.strip_prefix(UTF_8_MARK) {
        let form = TextForm { encoding: UTF_8, mark: UTF_8_MARK };
        return if body.contains(&0) { Err(NoText::Binary) } else { Ok(Some(form)) };
    }
    for (mark, encoding) in [(b"\xff\xfe", UTF_16LE), (b"\xfe\xff", UTF_16BE)] {
        if let Some(body) = start.strip_prefix(mark) {
            let has_nul = body.chunks_exact(2).any(|unit| unit == [0, 0]);
            return if has_nul { Err(NoText::Binary) } else { Ok(Some(TextForm { encoding, mark })) };
        }
    }
    Ok(None)
}

/// Says yes only when at least every second unit is a plain ASCII character and none is a control character.
fn is_surely_utf16(encoding: &'static Encoding, start: &[u8], whole: Whole) -> bool {
    let odd_end = start.len() % 2 == 1 && whole == Whole::Yes;
    let units = start.len() / 2;
    if units < SURE_UNITS || odd_end {
        return false;
    }
    let read = if encoding == UTF_16LE { u16::from_le_bytes } else { u16::from_be_bytes };
    let units_of = || start.chunks_exact(2).map(|unit| read([unit[0], unit[1]]));
    // In nearly all binaries this ends after a few units, and a search meets many binaries.
    let mut text = char::decode_utf16(units_of().take(units - 1));
    if !text.all(|character| character.is_ok_and(|character| !is_odd(character))) {
        return false;
    }
    let plain = units_of().filter(|unit| matches!(unit, 0x20..=0x7e | 9 | 10 | 13)).count();
    plain * 2 >= units
}

/// Guesses an older encoding. It must explain every byte, else there is none.
fn guess(start: &[u8], whole: Whole) -> Result<TextForm, NoText> {
    let controls = start.iter().filter(|byte| matches!(byte, 0..=7 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f)).count();
    if controls * 100 > start.len() {
        return Err(NoText::Binary);
    }
    let utf8 = Likeness::of(start, whole);
    if utf8 == Likeness::Surely {
        return Ok(TextForm::utf8());
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(start, whole == Whole::Yes);
    let guessed = detector.guess(None, Utf8Detection::Deny);
    // GB18030 has everything that GBK has, and the four-byte characters.
    let encoding = if guessed == GBK { GB18030 } else { guessed };
    let shown = unmarked(encoding).show(start, whole);
    let fits = !shown.lossy && !shown.text.chars().any(|character| ('\u{80}'..='\u{9f}').contains(&character));
    // An encoding of single bytes fits nearly all bytes, which says nothing for it.
    if utf8 == Likeness::Perhaps && (!fits || encoding.is_single_byte()) {
        return Ok(TextForm::utf8());
    }
    if fits { Ok(unmarked(encoding)) } else { Err(NoText::BadEncoding { looks_like: None, at: 0 }) }
}

/// How likely it is that bytes are UTF-8 with some damage, and not text in another encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Likeness {
    /// Most of what is not ASCII is UTF-8.
    Surely,
    /// At least half of it is. Words in an encoding of two bytes may look so; real texts in others do not.
    Perhaps,
    No,
}

impl Likeness {
    fn of(start: &[u8], whole: Whole) -> Self {
        let (mut good, mut bad) = (0, 0);
        for chunk in start.utf8_chunks() {
            good += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
            bad += usize::from(!chunk.invalid().is_empty());
        }
        match (good, bad) {
            // A character cut off by the end of the file after two bytes or three. One byte is rather a letter of an
            // older encoding: "café" without a line end.
            (0, 1) if whole == Whole::Yes && cut_off(start) > 1 => Self::Surely,
            _ if good >= bad * 2 => Self::Surely,
            _ if good >= bad => Self::Perhaps,
            _ => Self::No,
        }
    }
}

/// Returns how many bytes of a character there are where the bytes end within the first that is not ASCII.
fn cut_off(start: &[u8]) -> usize {
    match std::str::from_utf8(start) {
        Err(error) if error.error_len().is_none() => start.len() - error.valid_up_to(),
        Ok(_) | Err(_) => 0,
    }
}

fn is_odd(character: char) -> bool {
    character.is_control() && !matches!(character, '\t' | '\n' | '\r' | '\u{c}' | '\u{8}' | '\u{1b}')
}
