//! Paths as statements: the written text, and where it leads.
//!
//! A path from a model is only text ([`RawPath`]) until the door has located it ([`Target`]). A
//! target is still a statement, judged and shown; the file that the door opens beneath the root is
//! the proof, and the door refuses when that is not the target any more.
//!
//! Not here: touching the file system (`haft-workspace`).

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A path exactly as a model or a person wrote it. Nothing may be done with it but to locate it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawPath(String);

impl RawPath {
    /// Wraps the text of a path.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the id when this names a spilled output (`spill:ID`) instead of a file.
    pub fn spill_id(&self) -> Option<&str> {
        self.0.strip_prefix("spill:")
    }
}

impl JsonSchema for RawPath {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Path".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

/// How much of the file system a target covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// This one entry.
    Entry,
    /// A folder and everything below it.
    Tree,
}

/// A place in the file system, relative to the root for places inside, absolute for others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileLocation {
    path: Arc<Path>,
    extent: Extent,
}

impl FileLocation {
    /// States a place.
    pub fn new(path: impl AsRef<Path>, extent: Extent) -> Self {
        Self { path: Arc::from(path.as_ref()), extent }
    }

    /// Returns the path; empty for the root of the workspace.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns how much is covered.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    fn holds(&self, other: &FileLocation) -> bool {
        self == other || (self.extent == Extent::Tree && other.path.starts_with(&self.path))
    }

    fn overlaps(&self, other: &FileLocation) -> bool {
        self.path == other.path
            || (self.extent == Extent::Tree && other.path.starts_with(&self.path))
            || (other.extent == Extent::Tree && self.path.starts_with(&other.path))
    }
}

/// Where a path leads, as the door found it while planning.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// Beneath the root of the workspace.
    Inside(FileLocation),
    /// Anywhere else.
    Outside(FileLocation),
}

impl Target {
    /// Returns the place, wherever it is.
    pub fn place(&self) -> &FileLocation {
        match self {
            Target::Inside(place) | Target::Outside(place) => place,
        }
    }

    /// Returns the same place with everything below it.
    pub fn as_tree(&self) -> Target {
        let place = FileLocation { extent: Extent::Tree, ..self.place().clone() };
        if self.is_inside() { Target::Inside(place) } else { Target::Outside(place) }
    }

    /// Returns whether the target lies beneath the root of the workspace.
    pub fn is_inside(&self) -> bool {
        matches!(self, Target::Inside(_))
    }

    /// Returns whether the other is the same or lies in this tree.
    pub fn holds(&self, other: &Target) -> bool {
        match (self, other) {
            (Target::Inside(a), Target::Inside(b)) | (Target::Outside(a), Target::Outside(b)) => a.holds(b),
            (Target::Inside(_), Target::Outside(_)) | (Target::Outside(_), Target::Inside(_)) => false,
        }
    }

    /// Returns whether the two are equal or one tree holds the other.
    pub fn overlaps(&self, other: &Target) -> bool {
        match (self, other) {
            (Target::Inside(a), Target::Inside(b)) | (Target::Outside(a), Target::Outside(b)) => a.overlaps(b),
            // A tree outside may hold the workspace itself; where that is, only the door knows.
            (Target::Inside(_), Target::Outside(outside)) | (Target::Outside(outside), Target::Inside(_)) => {
                outside.extent == Extent::Tree
            }
        }
    }
}

/// Shows the path for people and models, on one line; bytes that are not text are replaced.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.place().path();
        if path.as_os_str().is_empty() {
            return f.write_str(".");
        }
        f.write_str(&one_line(&path.to_string_lossy()))
    }
}

/// Returns a name as it is shown to people and models: line ends and other control characters are escaped, because
/// a name must not be able to add a line to what is said of it.
pub fn one_line(name: &str) -> Cow<'_, str> {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if !name.contains(breaks) {
        return Cow::Borrowed(name);
    }
    let mut shown = String::with_capacity(name.len() + 8);
    for c in name.chars() {
        if breaks(c) { shown.extend(c.escape_debug()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(path: &str, extent: Extent) -> Target {
        Target::Inside(FileLocation::new(path, extent))
    }

    #[test]
    fn a_name_is_shown_on_one_line() {
        assert_eq!(inside("a\nNext: b\t\u{1b}é", Extent::Entry).to_string(), "a\\nNext: b\\t\\u{1b}é");
        assert_eq!(inside("a\u{2028}\"b\"", Extent::Entry).to_string(), "a\\u{2028}\"b\"");
        assert_eq!(inside("", Extent::Tree).to_string(), ".");
    }

    #[test]
    fn targets_overlap_when_equal_or_when_one_tree_holds_the_other() {
        let file = inside("src/a.rs", Extent::Entry);
        assert!(file.overlaps(&file));
        assert!(file.overlaps(&inside("src", Extent::Tree)));
        assert!(inside("", Extent::Tree).overlaps(&file));
        assert!(!file.overlaps(&inside("src", Extent::Entry)));
        assert!(!file.overlaps(&inside("src/a", Extent::Tree)));
        assert!(!file.overlaps(&inside("src/b.rs", Extent::Entry)));
    }
}
