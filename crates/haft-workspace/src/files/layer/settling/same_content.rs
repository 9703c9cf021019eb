//! Compares the contents of two files, piece by piece.

use std::fs::File;
use std::io::{self, Read};

/// How many bytes of two files are compared in one step.
const STEP: usize = 64 * 1024;

/// Returns whether two files have the same content.
pub(in crate::files::layer) fn is_same(mut one: File, mut other: File, stopped: &dyn Fn() -> bool) -> io::Result<bool> {
    let (mut first, mut second) = (vec![0; STEP], vec![0; STEP]);
    loop {
        if stopped() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let read = fill(&mut one, &mut first)?;
        if read != fill(&mut other, &mut second)? || first[..read] != second[..read] {
            return Ok(false);
        }
        if read < STEP {
            return Ok(true);
        }
    }
}

fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
