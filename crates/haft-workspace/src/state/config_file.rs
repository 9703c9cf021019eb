//! Reads the files of haft's own configuration.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// No configuration of a person is larger; anything else is a mistake or an attack.
const LARGEST: u64 = 1024 * 1024;

/// Returns the text of a configuration file, or nothing when there is no such file.
pub fn read_config_file(path: &Path) -> io::Result<Option<String>> {
    // A person may link to the file; a pipe in its place answers at once instead of waiting for somebody to write.
    let file = match OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => super::private::regular(file?)?,
    };
    let mut text = String::new();
    file.take(LARGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 1 MiB"));
    }
    Ok(Some(text))
}
