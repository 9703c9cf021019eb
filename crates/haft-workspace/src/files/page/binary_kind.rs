//! Says in words what a file is that is not text.

use infer::MatcherType;

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

/// Returns the kind of an image that models take.
pub(in crate::files) fn media_type(bytes: &[u8]) -> Option<&'static str> {
    let kind = infer::get(bytes)?.mime_type();
    ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&kind).then_some(kind)
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
