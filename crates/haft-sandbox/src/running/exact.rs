//! Writes names that are not valid text into JSON and reads them back byte for byte.
//!
//! serde refuses a path that is not UTF-8, and writes a word as a list of numbers. Here each byte becomes the character of
//! the same number, which is short for common names and loses nothing.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes a value exactly; the way of `#[serde(with = "exact")]`.
pub(crate) fn serialize<T: Exact, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.written().serialize(serializer)
}

/// Reads back what [`serialize`] has written.
pub(crate) fn deserialize<'de, T: Exact, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::read(T::Written::deserialize(deserializer)?).ok_or_else(|| D::Error::custom("a character that is no byte"))
}

/// A value with names in it that may be no text.
pub(crate) trait Exact: Sized {
    /// How it is written.
    type Written: Serialize + DeserializeOwned;

    fn written(&self) -> Self::Written;
    fn read(written: Self::Written) -> Option<Self>;
}

fn written(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

fn read(written: &str) -> Option<Vec<u8>> {
    written.chars().map(|character| u8::try_from(character).ok()).collect()
}

impl Exact for OsString {
    type Written = String;

    fn written(&self) -> String {
        written(self.as_bytes())
    }

    fn read(written: String) -> Option<Self> {
        read(&written).map(OsString::from_vec)
    }
}

impl Exact for PathBuf {
    type Written = String;

    fn written(&self) -> String {
        written(self.as_os_str().as_bytes())
    }

    fn read(written: String) -> Option<Self> {
        OsString::read(written).map(PathBuf::from)
    }
}

impl Exact for String {
    type Written = String;

    fn written(&self) -> String {
        self.clone()
    }

    fn read(written: String) -> Option<Self> {
        Some(written)
    }
}

impl<T: Exact> Exact for Vec<T> {
    type Written = Vec<T::Written>;

    fn written(&self) -> Self::Written {
        self.iter().map(T::written).collect()
    }

    fn read(written: Self::Written) -> Option<Self> {
        written.into_iter().map(T::read).collect()
    }
}

impl<A: Exact, B: Exact> Exact for (A, B) {
    type Written = (A::Written, B::Written);

    fn written(&self) -> Self::Written {
        (self.0.written(), self.1.written())
    }

    fn read((first, second): Self::Written) -> Option<Self> {
        Some((A::read(first)?, B::read(second)?))
    }
}
