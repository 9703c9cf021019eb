//! Checks whether what commands see of the system is still up to date.
//!
//! A root shows and covers files and folders as they were when it was built. If one of them is replaced, appears or
//! disappears, the root is out of date. To check each of some hundred paths before each command costs too much. So haft
//! checks the folders around them first: as long as none of those has changed, nothing in them has.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use super::glance::Glance;
use crate::launcher::secret_folders;
use crate::running::orders::{CommandNetwork, Visible};

/// Most sights that are remembered.
const MOST: usize = 8;
/// How long ago a folder must have changed to be trusted: the clock of the disk is coarse.
const COARSE: Duration = Duration::from_millis(50);
/// Folders of programs: after an installation in one of them, a root may show old names.
const PROGRAMS: [&str; 4] = ["/usr/bin", "/usr/lib", "/usr/local/bin", "/opt"];

/// Knows the sights of earlier commands.
#[derive(Debug, Default)]
pub(crate) struct Sights {
    known: Vec<SightRecord>,
}

/// What some commands see of the system, and the stamps by which a change is noticed.
#[derive(Debug)]
struct SightRecord {
    /// What they are to see.
    wanted: Vec<u8>,
    /// The folders around it, and when each was changed.
    around: Vec<(PathBuf, FolderStamp)>,
    key: Vec<u8>,
}

/// The identity of a folder and the time of its last change.
type FolderStamp = Option<(u64, u64, i64, i64)>;

impl Sights {
    /// Returns what distinguishes the root of a command from the roots of others and from one that is out of date.
    pub(crate) fn key(&mut self, visible: &Visible, network: CommandNetwork) -> Option<Vec<u8>> {
        let roots = visible.roots.iter().map(|root| &root.path);
        let wanted = SightRequest {
            roots: roots.clone().cloned().collect(),
            visible: &Visible { roots: Vec::new(), ..visible.clone() },
            network,
        };
        let wanted = serde_json::to_vec(&wanted).ok()?;
        let place = self.known.iter().position(|sight| sight.wanted == wanted);
        if let Some(place) = place {
            if self.known[place].around.iter().all(|(folder, then)| changed(folder) == *then) {
                return Some(self.known[place].key.clone());
            }
            self.known.remove(place);
        }
        let shown = visible.readable.iter().chain(&visible.shown).chain(&visible.hidden).chain(&visible.layers);
        let shown: Vec<&Path> = shown.chain(roots).map(PathBuf::as_path).collect();
        let mut glance = Glance::default();
        let around: BTreeSet<PathBuf> = shown.iter().filter_map(|path| folder_around(&mut glance, path)).collect();
        let others = secret_folders().into_iter().chain(PROGRAMS.map(Path::new)).map(Path::to_owned);
        // Before the things themselves: what changes in between is seen the next time.
        let around: Vec<(PathBuf, FolderStamp)> =
            around.into_iter().chain(others).map(|folder| (folder.clone(), changed(&folder))).collect();
        let mut glance = Glance::default();
        let key = SightKey {
            wanted: &wanted,
            things: shown.iter().map(|path| identity(&mut glance, path)).collect(),
            folders: around.iter().filter(|(folder, _)| is_system(folder)).map(|(_, then)| *then).collect(),
        };
        let key = serde_json::to_vec(&key).ok()?;
        let is_settled =
            |(_, then): &(PathBuf, FolderStamp)| then.is_none_or(|(_, _, seconds, nanos)| is_past(seconds, nanos));
        if around.iter().all(is_settled) {
            if self.known.len() >= MOST {
                self.known.remove(0);
            }
            self.known.push(SightRecord { wanted, around, key: key.clone() });
        }
        Some(key)
    }
}

#[derive(Serialize)]
struct SightRequest<'a> {
    #[serde(with = "crate::running::exact")]
    roots: Vec<PathBuf>,
    visible: &'a Visible,
    network: CommandNetwork,
}

#[derive(Serialize)]
struct SightKey<'a> {
    wanted: &'a [u8],
    /// Which thing each is.
    things: Vec<Option<(u64, u64)>>,
    /// Folders whose every change counts: what the system hides in them may be replaced by a file of the same name, over
    /// which nothing lies.
    folders: Vec<FolderStamp>,
}

fn is_system(folder: &Path) -> bool {
    secret_folders().contains(&folder) || PROGRAMS.iter().any(|program| folder == Path::new(program))
}

fn identity(glance: &mut Glance, path: &Path) -> Option<(u64, u64)> {
    let above = glance.real(path.parent()?)?;
    glance.kind(&above.join(path.file_name()?))?;
    path.symlink_metadata().ok().map(|found| (found.dev(), found.ino()))
}

fn changed(folder: &Path) -> FolderStamp {
    folder.metadata().ok().map(|found| (found.dev(), found.ino(), found.mtime(), found.mtime_nsec()))
}

/// Returns the nearest folder around a path that there is.
fn folder_around(glance: &mut Glance, path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find(|folder| glance.is_folder(folder)).map(Path::to_owned)
}

/// Returns whether a moment is so long ago that another change would show.
pub(crate) fn is_past(seconds: i64, nanos: i64) -> bool {
    let then = Duration::new(u64::try_from(seconds).unwrap_or(0), u32::try_from(nanos).unwrap_or(0));
    SystemTime::now().duration_since(UNIX_EPOCH + then).is_ok_and(|since| since >= COARSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_changes_with_what_is_wanted_and_with_what_there_is() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("tools/bin")).unwrap();
        let visible = Visible {
            readable: vec![at("tools"), at("later/on")],
            hidden: vec![at("tools/key")],
            ..Visible::default()
        };
        let mut sights = Sights::default();
        let mut key = || sights.key(&visible, CommandNetwork::Own).unwrap();
        let first = key();
        assert_eq!(key(), first);
        std::fs::write(at("tools/key"), "x").unwrap();
        let with_key = key();
        assert_ne!(with_key, first);
        // Replaced by another one of the same name.
        std::fs::write(at("other"), "y").unwrap();
        std::fs::rename(at("other"), at("tools/key")).unwrap();
        let replaced = key();
        assert_ne!(replaced, with_key);
        std::fs::create_dir_all(at("later/on")).unwrap();
        let later = key();
        assert_ne!(later, replaced);
        std::fs::rename(at("tools"), at("old")).unwrap();
        std::fs::create_dir_all(at("tools")).unwrap();
        assert_ne!(key(), later);
        let mut sights = Sights::default();
        let [own, host] = [CommandNetwork::Own, CommandNetwork::Host].map(|network| sights.key(&visible, network));
        assert_ne!(own, host);
    }
}
