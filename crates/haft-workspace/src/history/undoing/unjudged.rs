//! Refuses to write places that became protected after a change, where no rule has judged them.
//!
//! A call may write a harmless place that other programs now run or follow: a person has put a repository around it, or a
//! link or a setting of git leads to it. A person's redo writes what a call made, so haft checks all its places; a person's
//! undo writes the state before the call. The tool `undo` of a model declares the paths that it writes, and the rules judge
//! them, except for the files in a build folder.
//!
//! Not here: names that are protected by themselves; a call changes those only with the agreement of a person.

use std::path::{Path, PathBuf};

use haft_contract::files::guarded;
use rustix::fs::OFlags;

use crate::files::change::transaction::{FileAction, FileMutation};
use crate::files::guarding::followed::FollowedPlaces;
use crate::files::guarding::repository::{concerns, is_repository};
use crate::files::read::open::WorkspaceRoot;
use crate::files::tree::TreeStores;
use crate::history::{HistoryError, JudgedPlaces};
use crate::state::journal::{Journal, UndoDirection};

/// Most notes of one undo.
const MOST_NOTES: usize = 5;

/// Which places of an undo were not judged by any rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::history) enum UnjudgedPlaces {
    None,
    InBuildFolders,
    All,
}

impl UnjudgedPlaces {
    pub(in crate::history) fn of(judged: JudgedPlaces, how: UndoDirection) -> Self {
        match (judged, how) {
            (JudgedPlaces::Nothing, UndoDirection::Redo) => Self::All,
            (JudgedPlaces::NamedPaths, _) => Self::InBuildFolders,
            (JudgedPlaces::Nothing, UndoDirection::Undo) | (JudgedPlaces::Everything, _) => Self::None,
        }
    }

    /// Returns whether a place is one of them.
    pub(in crate::history) fn covers(self, place: &Path, deeds: &[FileMutation]) -> bool {
        let is_in = |deed: &FileMutation| matches!(deed.action, FileAction::Tree(_)) && place.starts_with(&deed.place);
        match self {
            Self::None => false,
            Self::InBuildFolders => deeds.iter().any(is_in),
            Self::All => true,
        }
    }

    /// Refuses to write one of them to which a protected name leads.
    pub(in crate::history) fn refuse_followed(
        self,
        root: &WorkspaceRoot,
        journal: &Journal,
        deeds: &[FileMutation],
    ) -> Result<(), HistoryError> {
        if self == Self::None {
            return Ok(());
        }
        let mut written: Vec<PathBuf> = Vec::new();
        for deed in deeds {
            match &deed.action {
                FileAction::Put(..) | FileAction::MakeLink(_) | FileAction::Bring(_) => {
                    written.push(deed.place.clone())
                }
                FileAction::Rename(to) => written.push(to.clone()),
                FileAction::MakeFolder(_) | FileAction::Remove | FileAction::SetMode(_) => {}
                FileAction::Tree(change) => {
                    let coming = change.coming(root, &TreeStores::of(journal), &deed.place);
                    let path = || deed.place.display().to_string();
                    written.extend(coming.map_err(|error| HistoryError::System { path: path(), error })?);
                }
            }
        }
        let followed = FollowedPlaces::look(root);
        let refused = written.iter().filter(|place| self.covers(place, deeds)).find_map(|place| {
            let leader = leader_to(&followed, place)?.to_owned();
            Some(HistoryError::Followed { path: place.display().to_string(), leader })
        });
        refused.map_or(Ok(()), Err)
    }
}

/// Says which places that an undo of a person restores other programs run or follow now.
pub(in crate::history) fn notes_about_protected(root: &WorkspaceRoot, deeds: &[FileMutation]) -> Vec<String> {
    let followed = FollowedPlaces::look(root);
    let written = deeds.iter().filter(|deed| matches!(deed.action, FileAction::Put(..) | FileAction::MakeLink(_)));
    let note = |deed: &FileMutation| {
        let place = &deed.place;
        if let Some(leader) = leader_to(&followed, place) {
            return Some(format!("Other programs run or follow {}, because {leader} leads to it.", place.display()));
        }
        let repository = repository_of(root, place)?;
        Some(format!(
            "Git runs or follows {}, because {} is a git repository now. Look at it before you use git there.",
            place.display(),
            repository.display()
        ))
    };
    written.filter_map(note).take(MOST_NOTES).collect()
}

/// Returns the repository of which a place is a setting or a hook, where no protected name says so.
fn repository_of<'p>(root: &WorkspaceRoot, place: &'p Path) -> Option<&'p Path> {
    if guarded::protected(place).is_some() {
        return None;
    }
    place.ancestors().skip(1).find(|folder| concerns(folder, place) && is_there(root, folder))
}

/// Returns what leads to a place that is not protected by its own name.
fn leader_to<'f>(followed: &'f FollowedPlaces, place: &Path) -> Option<&'f str> {
    if guarded::protected(place).is_some() { None } else { followed.leader_to(place) }
}

/// Returns whether git takes a folder for a repository now.
pub(in crate::history) fn is_there(root: &WorkspaceRoot, folder: &Path) -> bool {
    is_repository(folder, &|path| root.open_place(path, OFlags::PATH | OFlags::NOFOLLOW).is_ok())
}
