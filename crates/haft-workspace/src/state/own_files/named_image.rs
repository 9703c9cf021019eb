//! Reads an image that a person named in a message.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use bytes::Bytes;
use haft_contract::outcome::output::Image;
use rustix::fs::OFlags;

use crate::files::image_of;

/// Returns the image in a file of at most so many bytes, wherever the file is.
///
/// # Errors
///
/// Fails when the file cannot be read, is larger, or is no image that models see.
pub fn read_named_image(path: &Path, most: u64) -> io::Result<Image> {
    // A pipe in its place answers immediately instead of waiting for a writer.
    let opened = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    let file = super::private::regular(opened)?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let words = format!("it is larger than {:.1} MB, the most that models take", most as f64 / 1e6);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, words));
    }
    let no_image = || io::Error::new(io::ErrorKind::InvalidData, "it is not a PNG, JPEG, GIF or WebP image");
    image_of(&Bytes::from(bytes)).ok_or_else(no_image)
}
