//! Names the kind of a file that is not text.

use bytes::Bytes;
use haft_contract::outcome::output::Image;
use imagesize::ImageType;
use infer::MatcherType;

/// Most pixels in a row or column; providers refuse more.
const MOST_PIXELS: usize = 8_000;

/// Returns what the beginning of a file shows it to be.
pub(super) fn kind_of(start: &[u8]) -> &'static str {
    let Some(found) = infer::get(start) else { return "unknown binary data" };
    named(found.extension()).unwrap_or(match found.matcher_type() {
        MatcherType::App => "program",
        MatcherType::Archive => "archive",
        MatcherType::Audio => "audio",
        MatcherType::Book => "book",
        MatcherType::Doc => "document",
        MatcherType::Font => "font",
        MatcherType::Image => "image",
        MatcherType::Video => "video",
        MatcherType::Text | MatcherType::Custom => "unknown binary data",
    })
}

/// Returns an image that models take. A broken one is none: a provider would refuse the whole request for it.
pub(in crate::files) fn image(bytes: &Bytes) -> Option<Image> {
    let media_type = match imagesize::image_type(bytes).ok()? {
        ImageType::Png => "image/png",
        ImageType::Jpeg => "image/jpeg",
        ImageType::Gif => "image/gif",
        ImageType::Webp => "image/webp",
        _ => return None,
    };
    let size = imagesize::blob_size(bytes).ok()?;
    let is_taken = |length: usize| (1..=MOST_PIXELS).contains(&length);
    let (width, height) = (u32::try_from(size.width).ok()?, u32::try_from(size.height).ok()?);
    let image = Image { media_type, width, height, bytes: bytes.clone() };
    (is_taken(size.width) && is_taken(size.height)).then_some(image)
}

/// Names what is met in source trees more closely.
fn named(extension: &str) -> Option<&'static str> {
    Some(match extension {
        "png" => "PNG image",
        "jpg" => "JPEG image",
        "gif" => "GIF image",
        "webp" => "WebP image",
        "bmp" => "BMP image",
        "tif" => "TIFF image",
        "ico" => "icon",
        "pdf" => "PDF document",
        "docx" => "Word document",
        "xlsx" => "Excel document",
        "pptx" => "PowerPoint document",
        "zip" => "ZIP archive",
        "tar" => "tar archive",
        "gz" => "gzip archive",
        "bz2" => "bzip2 archive",
        "xz" => "xz archive",
        "zst" => "zstd archive",
        "7z" => "7z archive",
        "ar" => "ar archive",
        "elf" => "ELF program",
        "exe" | "dll" => "Windows program",
        "mach" => "Mach-O program",
        "wasm" => "WebAssembly module",
        "class" => "Java class",
        "sqlite" => "SQLite database",
        "mp3" => "MP3 audio",
        "wav" => "WAV audio",
        "mp4" => "MP4 video",
        "woff" | "woff2" => "web font",
        "ttf" | "otf" => "font",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::kind_of;

    #[test]
    fn known_kinds_have_names_and_others_are_said_to_be_unknown() {
        assert_eq!(kind_of(b"\x89PNG\r\n\x1a\n\0\0"), "PNG image");
        assert_eq!(kind_of(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), "ELF program");
        assert_eq!(kind_of(b"OggS\0"), "audio");
        assert_eq!(kind_of(b"a\0b"), "unknown binary data");
    }
}
