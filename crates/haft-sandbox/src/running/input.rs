//! The input of a command, as a file in memory that no process can change.
//!
//! A pipe would need a writer that runs while the command reads, even if the command reads nothing.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{MemfdFlags, SealFlags, SeekFrom, fcntl_add_seals, memfd_create, seek};

/// Makes a file of these bytes, to be read from its beginning.
pub(crate) fn sealed(bytes: &[u8]) -> io::Result<OwnedFd> {
    let file = memfd_create("input", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut rest = bytes;
    while !rest.is_empty() {
        match rustix::io::write(&file, rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => rest = &rest[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    seek(&file, SeekFrom::Start(0))?;
    Ok(file)
}
