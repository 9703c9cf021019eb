//! Finds the places that protected names lead to: the targets of their links, and the files that the settings of git name.
//!
//! A link at `.vscode` makes a folder `cfg` the settings of an editor, and `core.hooksPath = tools` makes each file in
//! `tools` a hook. Such a place is judged by the name that it stands for: `cfg/tasks.json` as `.vscode/tasks.json`, and
//! `tools/pre-commit` as `.git/hooks/pre-commit`. Each look reads the settings, which are small. The index of `secrets`
//! knows the links and repositories, and reads a folder again only when it changed.
//!
//! Not here: which names are protected (`haft_contract::files::guarded`), new repositories (`repository`).

mod git;
mod program;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_contract::doors::door::FileKind;
use haft_contract::effect::{Change, Effect, FollowedChange};
use haft_contract::files::guarded;
use haft_contract::files::path::Target;

use crate::files::read::locate::resolve_through;
use crate::files::read::open::WorkspaceRoot;
use git::Repositories;

/// Most places that are kept of one look.
const MOST_PLACES: usize = 2_000;

/// The places of a workspace to which protected names lead.
#[derive(Debug, Default)]
pub(crate) struct FollowedPlaces {
    places: Vec<FollowedPlace>,
    git_secrets: Vec<GitSecret>,
    /// Whether a setting makes git print patches where it would print only names.
    git_prints_patches: bool,
}

/// A password or a token in the settings of git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSecret {
    /// The key of the setting, in small letters.
    pub key: String,
    /// The file, as an absolute path.
    pub file: PathBuf,
}

/// One place to which a protected name leads.
#[derive(Debug)]
struct FollowedPlace {
    place: PathBuf,
    /// The protected name by which this place, and what is in it, is judged.
    stands_for: PathBuf,
    /// What leads here, in words.
    leader: Arc<str>,
    /// Whether it is a root of the workspace: then only what is right in it counts.
    is_root: bool,
}

impl FollowedPlaces {
    /// Looks at all links and repositories of a workspace.
    pub(crate) fn look(root: &WorkspaceRoot) -> Self {
        let signs = root.index().signs(root);
        let mut followed = Self::default();
        for link in signs.links {
            let leader = format!("the link {}", link.display());
            followed.add(root, &root.path().join(&link), (&link, &leader));
        }
        Repositories { root, followed: &mut followed, files: 0 }.look(&signs.repositories);
        followed
    }

    /// Returns the passwords and tokens in the settings of all repositories, and in those of the account.
    pub(in crate::files) fn into_git_secrets(self) -> Vec<GitSecret> {
        self.git_secrets
    }

    /// Returns whether a setting of a repository or of the account makes git print patches where it would print only names.
    pub(in crate::files) fn git_prints_patches(&self) -> bool {
        self.git_prints_patches
    }

    /// Adds what a path leads to inside, and every link on the way.
    fn add(&mut self, root: &WorkspaceRoot, path: &Path, (stands_for, leader): (&Path, &str)) {
        let mut way: Vec<PathBuf> = Vec::new();
        let Ok(end) = resolve_through(path, &mut |link| way.push(link.to_owned())) else { return };
        way.push(end);
        for place in way.iter().filter_map(|path| root.place_of(path)) {
            if place != stands_for && self.places.len() < MOST_PLACES {
                let (place, is_root) = (place.to_owned(), root.is_root(place));
                self.places.push(FollowedPlace {
                    place,
                    stands_for: stands_for.to_owned(),
                    leader: leader.into(),
                    is_root,
                });
            }
        }
    }

    /// Returns what is to be asked about a change of a tool, or one that the words of a command tell.
    pub(in crate::files) fn question(&self, (target, change): (&Target, Change)) -> Option<Effect> {
        let Target::Inside(place) = target else { return None };
        let is_removed = |followed: &FollowedPlace| change == Change::Remove && followed.lies_below(place.path());
        let why = |followed: &FollowedPlace| {
            let own = followed.name_of(place.path());
            let below = || is_removed(followed).then(|| followed.stands_for.clone());
            own.or_else(below).and_then(|name| guarded::protected(&name))
        };
        let (leader, why) = self.places.iter().find_map(|followed| Some((followed.leader.clone(), why(followed)?)))?;
        Some(Effect::ChangeFollowed(FollowedChange { target: target.clone(), leader, why }))
    }

    /// Returns what leads to a place that other programs run or follow, or to one in it, in words.
    pub(crate) fn leader_to(&self, place: &Path) -> Option<&str> {
        let is_protected = |name: PathBuf| guarded::protected(&name).is_some();
        let leads =
            |followed: &&FollowedPlace| followed.name_of(place).is_some_and(is_protected) || followed.lies_below(place);
        self.places.iter().find(leads).map(|followed| &*followed.leader)
    }

    /// Returns whether a command may not leave something of this kind at a place.
    pub(in crate::files) fn refuses(&self, place: &Path, kind: FileKind) -> bool {
        let refuses = |followed: &FollowedPlace| {
            let own = followed.name_of(place).and_then(|name| guarded::refused_from_commands(&name, kind));
            // What takes the place of a folder changes what lies at every name in it.
            own.is_some() || (kind != FileKind::Folder && followed.lies_below(place))
        };
        self.places.iter().any(refuses)
    }
}

impl FollowedPlace {
    /// Returns the name by which a path at this place or in it is judged.
    fn name_of(&self, path: &Path) -> Option<PathBuf> {
        let below = path.strip_prefix(&self.place).ok()?;
        let is_near = !self.is_root || below.components().count() == 1;
        is_near.then(|| self.stands_for.iter().chain(below).collect())
    }

    fn lies_below(&self, folder: &Path) -> bool {
        !folder.as_os_str().is_empty() && self.place != folder && self.place.starts_with(folder)
    }
}
