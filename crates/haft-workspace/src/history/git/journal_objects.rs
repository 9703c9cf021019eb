//! Finds git objects in the journal: those that commands created or removed, with their content.
//!
//! The user's own `git gc --prune=now` may have removed what an undone command had made. A redo needs it again, and the
//! journal has kept it.
//!
//! Not here: which objects are needed (`needs`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_zlib_with_limit};

use super::object_store::{from_hex, to_hex};
use super::{is_oid, loose_oid};
use crate::history::contents::{Contents, is_too_large};
use crate::state::journal::{ContentLocation, Inline, IntentStep, PathState};

/// How much of an object is decompressed; only a blob is larger, and it names no other object.
const LARGEST: usize = 64 * 1024 * 1024;

/// One recorded file of an object store.
#[derive(Clone, Copy)]
pub(in crate::history) struct ObjectStoreFile<'a> {
    pub(in crate::history) state: &'a PathState,
    pub(in crate::history) inline: Inline,
}

/// The files of object stores that the journal has.
pub(in crate::history) struct JournalObjects<'a> {
    loose: HashMap<String, Vec<ObjectStoreFile<'a>>>,
    /// Packs by the name of their index, without its folder; each with all files of that pack.
    packs: HashMap<String, HashMap<String, ObjectStoreFile<'a>>>,
}

impl<'a> JournalObjects<'a> {
    pub(in crate::history) fn of(contents: &Contents<'a>) -> Self {
        let mut all = Self { loose: HashMap::new(), packs: HashMap::new() };
        for (intent, inline) in &contents.sets.reading.intents {
            for step in &intent.steps {
                let IntentStep::Change { path, before, after, .. } = step else { continue };
                for state in [before, after] {
                    let is_kept = matches!(
                        state,
                        PathState::File {
                            content: ContentLocation::Inline { .. } | ContentLocation::Object { .. },
                            ..
                        }
                    );
                    if is_kept {
                        all.note(&path.path(), ObjectStoreFile { state, inline: *inline });
                    }
                }
            }
        }
        all
    }

    fn note(&mut self, path: &Path, recorded: ObjectStoreFile<'a>) {
        if let Some(oid) = loose_oid(path) {
            self.loose.entry(oid).or_default().push(recorded);
            return;
        }
        let is_pack = path.parent().is_some_and(|folder| folder.ends_with("objects/pack"));
        let (Some(stem), Some(extension)) = (path.file_stem(), path.extension()) else { return };
        if is_pack {
            let pack = self.packs.entry(stem.to_string_lossy().into_owned()).or_default();
            pack.insert(extension.to_string_lossy().into_owned(), recorded);
        }
    }

    /// Returns a loose object and the objects that it names; nothing when no sound content was kept.
    pub(in crate::history) fn loose(
        &self,
        contents: &Contents<'a>,
        oid: &str,
    ) -> Option<(ObjectStoreFile<'a>, Vec<String>)> {
        self.loose.get(oid)?.iter().find_map(|recorded| {
            // Only a blob is so large, and it names nothing.
            if is_too_large(recorded.state) {
                return Some((*recorded, Vec::new()));
            }
            let bytes = contents.bytes(recorded.state, &PathState::Absent, recorded.inline)?;
            Some((*recorded, named_by(&bytes, oid.len() / 2)?))
        })
    }

    /// Returns the files of a pack that has an object, each with its path below the store.
    pub(in crate::history) fn pack_with(
        &self,
        contents: &Contents<'a>,
        oid: &str,
    ) -> Option<Vec<(PathBuf, ObjectStoreFile<'a>)>> {
        let wanted = from_hex(oid)?;
        let has = |files: &HashMap<String, ObjectStoreFile<'a>>| {
            let index = files.get("idx").filter(|_| files.contains_key("pack"));
            let bytes = index.and_then(|index| contents.bytes(index.state, &PathState::Absent, index.inline));
            // The names are sorted, yet whole; a search by bytes finds the aligned one.
            bytes.is_some_and(|bytes| memchr::memmem::find(&bytes, &wanted).is_some())
        };
        let (stem, files) = self.packs.iter().find(|(_, files)| has(files))?;
        let path = |extension: &String| Path::new("pack").join(format!("{stem}.{extension}"));
        Some(files.iter().map(|(extension, recorded)| (path(extension), *recorded)).collect())
    }
}

/// Returns whether a file of an object store can be what its name promises.
pub(super) fn is_sound(path: &Path, bytes: &[u8]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    match (loose_oid(path), extension) {
        (Some(oid), _) => named_by(bytes, oid.len() / 2).is_some(),
        (None, Some("pack")) => bytes.starts_with(b"PACK"),
        (None, Some("idx")) => bytes.starts_with(b"\xfftOc"),
        (None, _) => true,
    }
}

/// Returns the objects that a loose object names; nothing when it is damaged.
fn named_by(loose: &[u8], length: usize) -> Option<Vec<String>> {
    let text = match decompress_to_vec_zlib_with_limit(loose, LARGEST) {
        Err(error) if error.status == TINFLStatus::HasMoreOutput => error.output,
        text => text.ok()?,
    };
    let end = memchr::memchr(0, &text)?;
    let body = &text[end + 1..];
    match text[..end].split(|byte| *byte == b' ').next()? {
        b"blob" => Some(Vec::new()),
        b"commit" | b"tag" => Some(named_in_header(body)),
        b"tree" => named_in_tree(body, length),
        _ => None,
    }
}

fn named_in_header(body: &[u8]) -> Vec<String> {
    let lines = body.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
    let named = lines.filter_map(|line| {
        let (key, value) = std::str::from_utf8(line).ok()?.split_once(' ')?;
        (matches!(key, "tree" | "parent" | "object") && is_oid(value)).then(|| value.to_owned())
    });
    named.collect()
}

fn named_in_tree(mut body: &[u8], length: usize) -> Option<Vec<String>> {
    let mut named = Vec::new();
    while !body.is_empty() {
        let name = memchr::memchr(0, body)? + 1;
        let oid = body.get(name..name + length)?;
        // A commit of a submodule is in another repository.
        if !body.starts_with(b"160000 ") {
            named.push(to_hex(oid));
        }
        body = &body[name + length..];
    }
    Some(named)
}
