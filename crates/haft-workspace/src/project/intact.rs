//! Checks that a trusted copy in haft's state is unchanged before code runs from it.
//!
//! Another process of the user, or another user with access to the state, may have written into it. haft reads the copy
//! once; after that it only looks at the files, because every change of a file changes its stamp.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The hashes that the files of a copy must have.
pub(super) type Hashes<'a> = BTreeMap<&'a str, &'a str>;

/// Inode, mode, owner, size, and when content and facts changed.
type CopyFileStamp = (u64, u32, u32, u64, [(i64, i64); 2]);

/// How a copy looked when it was found intact.
pub(super) type Intact = BTreeMap<PathBuf, CopyFileStamp>;

/// Fails where something in a copy is not what was copied; says what. What looks as known is not read again.
pub(super) fn check(folder: &Path, hashes: &Hashes<'_>, known: &mut Intact) -> Result<(), String> {
    let mut now = Intact::new();
    let above = folder.parent().unwrap_or(folder);
    for place in [above, folder] {
        let facts = place.symlink_metadata().map_err(|error| error.to_string())?;
        is_ours(&facts).map_err(|why| format!("{} {why}", place.display()))?;
    }
    look(folder, folder, &mut now)?;
    if *known == now {
        return Ok(());
    }
    for (name, hash) in hashes {
        let path = folder.join(name);
        let is_same = now.contains_key(&path) && hash_of(&path).as_deref() == Some(*hash);
        if !is_same {
            return Err(format!("{name} is not what was copied"));
        }
    }
    let name_in = |path: &Path| path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
    let is_added = |path: &&PathBuf| !path.is_dir() && !hashes.contains_key(name_in(path).as_str());
    if let Some(path) = now.keys().find(is_added) {
        return Err(format!("{} was added", name_in(path)));
    }
    *known = now;
    Ok(())
}

/// Looks at everything in a folder of the copy.
fn look(root: &Path, folder: &Path, seen: &mut Intact) -> Result<(), String> {
    let entries = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        let named = |why: &str| format!("{} {why}", path.strip_prefix(root).unwrap_or(&path).display());
        let facts = path.symlink_metadata().map_err(|error| named(&error.to_string()))?;
        is_ours(&facts).map_err(named)?;
        let changed = [(facts.mtime(), facts.mtime_nsec()), (facts.ctime(), facts.ctime_nsec())];
        seen.insert(path.clone(), (facts.ino(), facts.mode(), facts.uid(), facts.size(), changed));
        if facts.is_dir() {
            look(root, &path, seen)?;
        }
    }
    Ok(())
}

/// Fails for what others can change, and for what is neither a file nor a folder.
fn is_ours(facts: &Metadata) -> Result<(), &'static str> {
    if !facts.is_dir() && !facts.is_file() {
        return Err("is neither a file nor a folder");
    }
    if facts.uid() != 0 && facts.uid() != rustix::process::geteuid().as_raw() {
        return Err("belongs to another user");
    }
    if facts.mode() & 0o022 != 0 { Err("can be changed by other users") } else { Ok(()) }
}

fn hash_of(path: &Path) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(std::fs::File::open(path).ok()?).ok()?;
    Some(hasher.finalize().to_hex().to_string())
}
