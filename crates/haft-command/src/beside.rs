//! Tells a folder for temporary files from a home or a neighbour that is inside one.
//!
//! Scratch workspaces and scratch homes are in `/tmp`. The files around them are not temporary: the home is a home, and a
//! path beside or above the workspace belongs to a person. haft names such a path from the home (`~/…`) or from the
//! workspace (`../…`), as people do.

use std::path::{Component, Path, PathBuf};

use haft_contract::files::path::{FileLocation, Target};

use crate::path_class::is_temporary;
use crate::{CommandScene, Locate, PathLocation};

/// Locates as another does, and names what lies in the home or beside the workspace.
pub(crate) struct Beside<'a> {
    pub(crate) scene: &'a CommandScene,
    pub(crate) locate: &'a dyn Locate,
}

impl Locate for Beside<'_> {
    fn locate(&self, path: &str) -> PathLocation {
        let located = self.locate.locate(path);
        PathLocation { target: renamed(self.scene, located.target), ..located }
    }

    fn real_path(&self, folder: &str) -> Option<String> {
        self.locate.real_path(folder)
    }

    fn names_in(&self, folder: &str) -> Vec<String> {
        self.locate.names_in(folder)
    }

    fn text_of(&self, file: &str) -> Option<String> {
        self.locate.text_of(file)
    }
}

/// Names a target from the home or the workspace where its own name would be that of a temporary file.
pub(crate) fn renamed(scene: &CommandScene, target: Target) -> Target {
    let name = match &target {
        Target::Outside(place) if is_temporary(place.path()) => name_of(scene, place.path()),
        Target::Inside(_) | Target::Outside(_) => None,
    };
    name.map_or_else(|| target.clone(), |name| Target::Outside(FileLocation::new(name, target.place().extent())))
}

fn name_of(scene: &CommandScene, path: &Path) -> Option<PathBuf> {
    let (home, workspace) = (Path::new(&scene.home), Path::new(&scene.workspace));
    if let Ok(below) = path.strip_prefix(home) {
        // The components again: joining nothing would leave a slash at the end.
        return Some(Path::new("~").join(below).components().collect());
    }
    // A folder for temporary files itself stays what it is, whatever lies in it.
    let is_in_one = |path: &Path| path.parent().is_some_and(is_temporary);
    if (home.starts_with(path) || workspace.starts_with(path)) && is_in_one(path) {
        return Some(above(workspace, path));
    }
    let around = workspace.parent().filter(|parent| is_in_one(parent))?;
    path.strip_prefix(around).ok().map(|below| Path::new("..").join(below))
}

/// Names a folder above the workspace by the steps that lead there; the home may lie in another.
fn above(workspace: &Path, path: &Path) -> PathBuf {
    let steps = workspace.strip_prefix(path).map_or(1, |below| below.components().count());
    std::iter::repeat_n(Component::ParentDir, steps.max(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_contract::files::path::Extent;

    struct AllOutside;

    impl Locate for AllOutside {
        fn locate(&self, path: &str) -> PathLocation {
            PathLocation { target: Target::Outside(FileLocation::new(path, Extent::Entry)), kind: None }
        }
    }

    fn named(path: &str) -> String {
        let text = str::to_owned;
        let scene = CommandScene {
            home: text("/tmp/s/home"),
            user: text("u"),
            workspace: text("/tmp/s/ws"),
            folder: text("/tmp/s/ws"),
        };
        Beside { scene: &scene, locate: &AllOutside }.locate(path).target.to_string()
    }

    #[test]
    fn a_home_in_a_temporary_folder_is_a_home() {
        assert_eq!(named("/tmp/s/home"), "~");
        assert_eq!(named("/tmp/s/home/.bashrc"), "~/.bashrc");
    }

    #[test]
    fn what_lies_beside_or_above_the_workspace_is_no_temporary_file() {
        assert_eq!(named("/tmp/s/out/k.txt"), "../out/k.txt");
        assert_eq!(named("/tmp/s"), "..");
    }

    #[test]
    fn everything_else_keeps_its_name() {
        assert_eq!(named("/tmp"), "/tmp");
        assert_eq!(named("/tmp/other"), "/tmp/other");
        assert_eq!(named("/home/u"), "/home/u");
        assert_eq!(named("/"), "/");
    }
}
