//! Extracts images from other data: from a notebook, from an interpreter.

use bytes::Bytes;
use haft_contract::outcome::output::Image;

/// Most pixels in a row or column; providers refuse more.
const MOST_PIXELS: u32 = 8_000;

/// Returns an image of a kind that models take; nothing where it is none, is damaged or too large.
pub(crate) fn picture(bytes: Bytes) -> Option<Image> {
    let (media_type, (width, height)) = match &bytes[..] {
        [0x89, b'P', b'N', b'G', ..] => ("image/png", png_size(&bytes)?),
        [0xff, 0xd8, ..] => ("image/jpeg", jpeg_size(&bytes)?),
        _ => return None,
    };
    let is_taken = |length: u32| (1..=MOST_PIXELS).contains(&length);
    (is_taken(width) && is_taken(height)).then_some(Image { media_type, width, height, bytes })
}

fn png_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let is_whole = bytes.get(12..16)? == b"IHDR" && bytes.windows(4).rev().take(64).any(|end| end == b"IEND");
    is_whole.then_some((number(16)?, number(20)?))
}

/// Finds the frame of a JPEG behind its other segments.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let number = |at: usize| Some(usize::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    let mut at = 2;
    loop {
        let (sign, kind) = (*bytes.get(at)?, *bytes.get(at + 1)?);
        if sign != 0xff {
            return None;
        }
        if matches!(kind, 0xc0..=0xcf) && !matches!(kind, 0xc4 | 0xc8 | 0xcc) {
            return Some((u32::try_from(number(at + 7)?).ok()?, u32::try_from(number(at + 5)?).ok()?));
        }
        at += 2 + number(at + 2)?;
    }
}
