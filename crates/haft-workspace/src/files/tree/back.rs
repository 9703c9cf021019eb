//! Plans the undo of an exchange: later changes stay.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::exchange::{EntryStat, Exchange};
use super::manifest::{ExchangeOperation, Identity, Manifest};
use super::plan::{From, Hides, MergeSide, Planner, stat_if_there};
use crate::files::read::folder::FolderNameList;
use crate::files::read::open::open_name;
use crate::state::journal::PathText;

/// The entries that undos of later changes put back, so they count as unchanged.
pub(super) struct PutBack<'a> {
    /// Those that the journal has written again: they have the old content, but are other files.
    pub(super) restored: HashSet<Identity>,
    /// Those that came back from the stores of later exchanges.
    pub(super) by_stores: Box<dyn Fn() -> HashSet<Identity> + 'a>,
}

impl PutBack<'_> {
    /// Returns whether an entry was written again in the place of this one.
    fn has_restored(&self, found: &EntryStat, earlier: &Identity) -> bool {
        let now = Identity::of(&found.stat);
        let size = |identity: &Identity| identity.content.map(|(size, ..)| size);
        self.restored.contains(&now) && size(&now) == size(earlier)
    }
}

/// Plans to take an exchange back; also returns how many entries stay because they were changed since.
pub(super) fn back(
    exchange: &Exchange,
    done: &Manifest,
    put_back: &PutBack<'_>,
) -> io::Result<(Vec<ExchangeOperation>, usize)> {
    let find_put_back = || &(put_back.by_stores)() | &put_back.restored;
    let mut planner = Planner::new(From::Store, done.since(), &|| false);
    planner.find_put_back = &find_put_back;
    let mut made: Vec<PathBuf> = Vec::new();
    for operation in done.operations.iter().rev().filter(|operation| operation.moves()) {
        let path = operation.path();
        planner.path = path.path();
        let (in_workspace, in_store) = exchange.both(path);
        let is = |found: &Option<EntryStat>, identity: &Identity| {
            found.as_ref().is_some_and(|found| Identity::of(&found.stat) == *identity)
        };
        // What the exchange brought is what is there, or what the journal has written in its place.
        let came = |comes: &Identity| {
            let is_it = |found: &&EntryStat| Identity::of(&found.stat) == *comes || put_back.has_restored(found, comes);
            in_workspace.as_ref().filter(is_it).map(|found| Identity::of(&found.stat))
        };
        match operation {
            // It is gone by now, and so it should be.
            ExchangeOperation::Bring { .. } if in_workspace.is_none() => {}
            // A file is recognised by itself; in a folder something may have been changed.
            ExchangeOperation::Bring { comes, .. } if came(comes).is_some() => {
                match came(comes).filter(|goes| goes.content.is_some()) {
                    Some(goes) => planner.operations.push(ExchangeOperation::Take { path: path.clone(), goes }),
                    None => planner.pair(None, in_workspace.as_ref().map(EntryStat::side), (Hides::Yes, 0))?,
                }
            }
            ExchangeOperation::Take { goes, .. } if is(&in_store, goes) => {
                planner.make_folders(exchange, &mut made)?;
                let both = (in_store.as_ref().map(EntryStat::side), in_workspace.as_ref().map(EntryStat::side));
                planner.returning(both)?;
            }
            // What took its place is gone by now.
            ExchangeOperation::Exchange { goes, .. } if in_workspace.is_none() && is(&in_store, goes) => {
                planner.make_folders(exchange, &mut made)?;
                planner.returning((in_store.as_ref().map(EntryStat::side), None))?;
            }
            ExchangeOperation::Exchange { comes, goes, .. } if is(&in_store, goes) && came(comes).is_some() => {
                let (now, then) = (in_workspace.as_ref(), in_store.as_ref());
                match came(comes).filter(|now| now.content.is_some()) {
                    Some(now) => {
                        let path = path.clone();
                        planner.operations.push(ExchangeOperation::Exchange { path, comes: *goes, goes: now });
                    }
                    None => planner.pair(then.map(EntryStat::side), now.map(EntryStat::side), (Hides::Yes, 0))?,
                }
            }
            _ => planner.kept += 1,
        }
    }
    let mut operations = planner.operations;
    operations.append(&mut planner.folders);
    operations.extend(folders_back(done));
    Ok((operations, planner.kept))
}

/// Returns what gives folders the modes and times again that they had.
fn folders_back(done: &Manifest) -> impl Iterator<Item = ExchangeOperation> {
    done.operations.iter().filter_map(|operation| match operation {
        ExchangeOperation::Folder { path, before, after } => {
            Some(ExchangeOperation::Folder { path: path.clone(), before: *after, after: *before })
        }
        _ => None,
    })
}

impl Planner<'_> {
    /// Plans the return of an entry: where something is by now, that stays, and what is missing in it returns.
    fn returning(&mut self, (upper, lower): (Option<MergeSide<'_>>, Option<MergeSide<'_>>)) -> io::Result<()> {
        match (upper, lower) {
            (Some(upper), None) => self.bring(upper),
            (Some(upper), Some(lower)) if upper.is_folder() && lower.is_folder() => {
                let open = |side: MergeSide<'_>| open_name(side.folder, side.name, OFlags::DIRECTORY | OFlags::RDONLY);
                let (opened, below) = (open(upper)?, open(lower)?);
                let mut names = FolderNameList::default();
                names.read(&opened)?;
                let mut index = 0;
                while let Some((name, _)) = names.at(index) {
                    index += 1;
                    let (up, low) = (stat_if_there(opened.as_fd(), name)?, stat_if_there(below.as_fd(), name)?);
                    self.path.push(OsStr::from_bytes(name));
                    let upper = up.as_ref().map(|stat| MergeSide { folder: opened.as_fd(), name, stat });
                    let lower = low.as_ref().map(|stat| MergeSide { folder: below.as_fd(), name, stat });
                    let planned = self.returning((upper, lower));
                    self.path.pop();
                    planned?;
                }
                Ok(())
            }
            (Some(_), Some(_)) => {
                self.kept += 1;
                Ok(())
            }
            (None, _) => Ok(()),
        }
    }

    /// Plans the folders of the workspace that an entry returns into and that are gone by now.
    fn make_folders(&mut self, exchange: &Exchange, made: &mut Vec<PathBuf>) -> io::Result<()> {
        let path = self.path.clone();
        let above: Vec<&Path> = path.ancestors().skip(1).collect();
        for folder in above.into_iter().rev() {
            let is_missing = !exchange.has_parent(&folder.join("x")) && !made.iter().any(|known| known == folder);
            if is_missing {
                let path = PathText::from(folder);
                let mode = exchange.both(&path).1.map_or(0o755, |found| found.stat.st_mode & 0o7777);
                self.operations.push(ExchangeOperation::Make { path, mode });
                made.push(folder.to_owned());
            }
        }
        Ok(())
    }
}

impl EntryStat {
    fn side(&self) -> MergeSide<'_> {
        MergeSide { folder: self.folder.as_fd(), name: self.name.as_encoded_bytes(), stat: &self.stat }
    }
}
