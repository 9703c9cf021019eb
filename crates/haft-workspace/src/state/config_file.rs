//! Reads the files of haft's own configuration.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// No configuration of a person is larger; anything else is a mistake or an attack.
const LARGEST: u64 = 1024 * 1024;

/// Returns the text of a configuration file, or nothing when there is no such file.
pub fn read_config_file(path: &Path) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut text = String::new();
    file.take(LARGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 1 MiB"));
    }
    Ok(Some(text))
}
