//! Records of the state of a path before a command first touches it.
//!
//! The process that watches a command writes the records, and the code that restores the workspace reads them.
//!
//! If no layer takes the changes of a command, the watching process saves the contents that the command is about to
//! change. It completes each record before the command continues. If the process is killed, its last record may be cut
//! off; the change of that record then did not happen.
//!
//! Not here: keeping contents (`haft-sandbox`), restoring them (`haft-workspace`).

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// The name of the file with the records, beside the contents.
pub const RECORDS: &str = "records";

/// The first touch of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchRecord {
    /// Where it is, from the root.
    pub path: PathBuf,
    /// What was there.
    pub before: BeforeImage,
    /// Whether everything below the path is known as well: nothing was there, or it has records of its own.
    pub is_whole: bool,
}

/// What was at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BeforeImage {
    /// Nothing.
    Absent,
    /// A file, or something else that has a name and no names in it.
    File(FileImage),
    /// A symbolic link that leads there.
    Link(OsString),
    /// A folder, with its mode and owner.
    Folder {
        /// Its mode.
        mode: u32,
        /// Its owner and group.
        owner: (u32, u32),
    },
    /// It could not be kept, for this reason.
    Lost(String),
}

/// A file as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileImage {
    /// The name of its content among the kept ones.
    pub number: u32,
    /// Its mode.
    pub mode: u32,
    /// Its owner and group.
    pub owner: (u32, u32),
    /// Its inode.
    pub inode: u64,
    /// When it was last changed, in seconds and nanoseconds.
    pub changed: (i64, i64),
    /// Whether it had other names, which change with it.
    pub is_shared: bool,
}

impl TouchRecord {
    /// Appends the record as bytes.
    pub fn write_to(&self, bytes: &mut Vec<u8>) {
        let mut body = Vec::with_capacity(96);
        let (kind, text): (u8, &[u8]) = match &self.before {
            BeforeImage::Absent => (b'a', b""),
            BeforeImage::File(file) => {
                body.extend(file.number.to_le_bytes());
                body.extend(file.mode.to_le_bytes());
                body.extend(file.owner.0.to_le_bytes());
                body.extend(file.owner.1.to_le_bytes());
                body.extend(file.inode.to_le_bytes());
                body.extend(file.changed.0.to_le_bytes());
                body.extend(file.changed.1.to_le_bytes());
                body.push(u8::from(file.is_shared));
                (b'f', b"")
            }
            BeforeImage::Link(to) => (b'l', to.as_bytes()),
            BeforeImage::Folder { mode, owner } => {
                body.extend(mode.to_le_bytes());
                body.extend(owner.0.to_le_bytes());
                body.extend(owner.1.to_le_bytes());
                (b'd', b"")
            }
            BeforeImage::Lost(why) => (b'x', why.as_bytes()),
        };
        let path = self.path.as_os_str().as_bytes();
        let lengths = [body.len() + text.len() + path.len() + 6, path.len()];
        // A path has at most 4096 bytes, and a reason is short.
        let [length, path_length] = lengths.map(|length| u32::try_from(length).unwrap_or(u32::MAX));
        bytes.extend(length.to_le_bytes());
        bytes.extend([kind, u8::from(self.is_whole)]);
        bytes.extend(path_length.to_le_bytes());
        bytes.extend(path);
        bytes.extend(&body);
        bytes.extend(text);
    }

    /// Reads records up to the end, or up to one that is cut off.
    pub fn read_all(bytes: &[u8]) -> Vec<Self> {
        let mut rest = UnreadBytes(bytes);
        let mut records = Vec::new();
        while let Some(record) = rest.number().and_then(|length| rest.take(length as usize)).and_then(Self::read) {
            records.push(record);
        }
        records
    }

    fn read(body: &[u8]) -> Option<Self> {
        let mut body = UnreadBytes(body);
        let [kind, is_whole] = body.array()?;
        let length = body.number()?;
        let path = OsString::from_vec(body.take(length as usize)?.to_vec()).into();
        let text = |rest: &UnreadBytes<'_>| rest.0.to_vec();
        let before = match kind {
            b'a' => BeforeImage::Absent,
            b'f' => BeforeImage::File(body.file()?),
            b'l' => BeforeImage::Link(OsString::from_vec(text(&body))),
            b'd' => BeforeImage::Folder { mode: body.number()?, owner: (body.number()?, body.number()?) },
            b'x' => BeforeImage::Lost(String::from_utf8_lossy(&text(&body)).into_owned()),
            _ => return None,
        };
        Some(Self { path, before, is_whole: is_whole != 0 })
    }
}

/// The bytes of a record that are not read yet.
struct UnreadBytes<'a>(&'a [u8]);

impl<'a> UnreadBytes<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn number(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn file(&mut self) -> Option<FileImage> {
        Some(FileImage {
            number: self.number()?,
            mode: self.number()?,
            owner: (self.number()?, self.number()?),
            inode: self.array().map(u64::from_le_bytes)?,
            changed: (self.array().map(i64::from_le_bytes)?, self.array().map(i64::from_le_bytes)?),
            is_shared: self.array::<1>()? != [0],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_every_kind_come_back_and_one_that_is_cut_off_ends_them() {
        let odd = || OsString::from_vec((1..=255).collect());
        let file = FileImage {
            number: 7,
            mode: 0o100_644,
            owner: (1, 2),
            inode: u64::MAX,
            changed: (-1, 999_999_999),
            is_shared: true,
        };
        let kinds = [
            BeforeImage::Absent,
            BeforeImage::File(file),
            BeforeImage::Link(odd()),
            BeforeImage::Folder { mode: 0o755, owner: (3, 4) },
            BeforeImage::Lost("it cannot be read".into()),
        ];
        let record = |before| TouchRecord { path: PathBuf::from(odd()), before, is_whole: true };
        let records: Vec<TouchRecord> = kinds.into_iter().map(record).collect();
        let mut bytes = Vec::new();
        records.iter().for_each(|record| record.write_to(&mut bytes));
        assert_eq!(TouchRecord::read_all(&bytes), records);
        for end in 0..bytes.len() {
            let read = TouchRecord::read_all(&bytes[..end]);
            assert!(read.len() < records.len() && records.starts_with(&read));
        }
    }
}
