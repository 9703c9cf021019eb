//! Finds the state folder of a workspace, also after the workspace was renamed or moved.
//!
//! A state folder is named after the path of its workspace, so the usual look-up reads one small file. Where that
//! file describes another folder, the path was used again: the new workspace gets a state folder whose name also
//! carries its identity. A root whose path is unknown is compared with all recorded roots once; where one was moved,
//! its state folder stays where it is (another haft may be using it), and a record under the new name leads there.
//!
//! Not here: what is in a state folder (`state`), how roots are compared (`root_record`).

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::private;
use super::root_record::{self, RootRecord};

/// The state folders of all workspaces.
pub(crate) struct Registry {
    workspaces: PathBuf,
    /// All records, read when a root is not found by its path.
    records: OnceCell<Vec<(PathBuf, RootRecord)>>,
}

impl Registry {
    pub(in crate::state) fn new(state_folder: &Path) -> Self {
        Self { workspaces: state_folder.join("workspaces"), records: OnceCell::new() }
    }

    /// Returns the state folder that belongs to a root. Creates none.
    pub(in crate::state) fn assign(&self, root: &Path) -> Claim {
        let mine = RootRecord::of(root);
        let mut free = None;
        for folder in self.names_of(root, &mine).map(|name| self.workspaces.join(name)) {
            match RootRecord::read(&folder) {
                Some(record) if record.is_of(&mine) => match self.led_by(&record, &mine) {
                    Led::Here => return Claim::renewed(folder, &record, mine),
                    Led::To(state, record) => return Claim::renewed(state, &record, mine),
                    // What it led to was removed.
                    Led::Nowhere => return Claim::open(folder, mine),
                },
                Some(_) => {}
                // Made by a version that recorded nothing; its name is the path.
                None if holds_state(&folder) => return Claim::written(folder, mine),
                None => free = free.or(Some(folder)),
            }
        }
        let free = free.unwrap_or_else(|| self.workspaces.join(format!("{}-again", name_of(root))));
        match self.records().iter().find(|(_, record)| record.lives_in.is_none() && record.moved_to(&mine)) {
            Some((state, _)) => {
                // Without this the comparison with all others is made again at the next start, and nothing else.
                let _ = mine.leading_to(state).write(&free);
                Claim::written(state.clone(), mine)
            }
            None => Claim::open(free, mine),
        }
    }

    /// Returns all state folders with what they record, those of moved workspaces once.
    pub(in crate::state) fn records(&self) -> &[(PathBuf, RootRecord)] {
        self.records.get_or_init(|| {
            let with_record = |folder: PathBuf| RootRecord::read(&folder).map(|record| (folder, record));
            self.folders().into_iter().filter_map(with_record).collect()
        })
    }

    /// Returns all folders in which there is the state of a workspace, or a record that leads to one.
    pub(in crate::state) fn folders(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.workspaces).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let is_hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let mut paths: Vec<PathBuf> = folders.map(|entry| entry.path()).filter(|path| !is_hidden(path)).collect();
        paths.sort_unstable();
        paths
    }

    /// Returns the folders whose names begin so: a clean-up was interrupted while it removed them.
    pub(in crate::state) fn removed(&self, beginning: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.workspaces).into_iter().flatten().flatten();
        let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(beginning));
        named.map(|entry| entry.path()).filter(|path| private::is_folder(path)).collect()
    }

    /// Returns whether a folder that only leads to another one leads to one that exists.
    pub(in crate::state) fn leads_somewhere(&self, folder: &Path) -> bool {
        let leads_to = RootRecord::read(folder).and_then(|record| record.lives_in);
        leads_to.is_some_and(|name| private::is_folder(&self.workspaces.join(name)))
    }

    fn names_of(&self, root: &Path, mine: &RootRecord) -> impl Iterator<Item = String> + use<> {
        let name = name_of(root);
        let with_identity = format!("{name}-{}", mine.short_identity());
        [name, with_identity].into_iter()
    }

    fn led_by(&self, record: &RootRecord, mine: &RootRecord) -> Led {
        let Some(name) = &record.lives_in else { return Led::Here };
        let state = self.workspaces.join(name);
        let is_inside = state.parent() == Some(&self.workspaces) && private::is_folder(&state);
        match RootRecord::read(&state).filter(|led| is_inside && led.lives_in.is_none() && led.is_of(mine)) {
            Some(led) => Led::To(state, led),
            None => Led::Nowhere,
        }
    }
}

/// Returns whether anything but a record is kept in a folder: another process may be writing one at this moment.
pub(in crate::state) fn holds_state(folder: &Path) -> bool {
    let is_kept = |entry: std::fs::DirEntry| {
        let name = entry.file_name();
        name != root_record::NAME && !name.as_encoded_bytes().starts_with(b".")
    };
    private::is_folder(folder) && std::fs::read_dir(folder).is_ok_and(|entries| entries.flatten().any(is_kept))
}

/// Where a record leads.
enum Led {
    Here,
    To(PathBuf, RootRecord),
    Nowhere,
}

/// The name of a state folder, made of the path of its root.
fn name_of(root: &Path) -> String {
    let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    let name: String = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let safe: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(32).collect();
    format!("{safe}-{}", &hash[..16])
}

/// The state folder of one workspace, and the record that says so.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    folder: PathBuf,
    record: Arc<RootRecord>,
    is_written: Arc<AtomicBool>,
}

impl Claim {
    /// The record is written when the first thing is kept.
    fn open(folder: PathBuf, record: RootRecord) -> Self {
        Self { folder, record: record.into(), is_written: AtomicBool::new(false).into() }
    }

    /// The record is written immediately.
    fn written(folder: PathBuf, record: RootRecord) -> Self {
        let claim = Self::open(folder, record);
        claim.stake();
        claim
    }

    /// The record is written immediately if it says something new: another path, another number of the device.
    fn renewed(folder: PathBuf, recorded: &RootRecord, record: RootRecord) -> Self {
        let is_written = AtomicBool::new(*recorded == record);
        let claim = Self { folder, record: record.into(), is_written: is_written.into() };
        claim.stake();
        claim
    }

    /// Returns the state folder.
    pub(in crate::state) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Records whose state this is. Best effort: without the record the state is found by the path alone.
    pub(crate) fn stake(&self) {
        if !self.is_written.swap(true, Ordering::Relaxed) && self.record.write(&self.folder).is_err() {
            self.is_written.store(false, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
