//! Reads a command before it runs: what its parts would do, and which paths they name. The file door locates the paths.
//!
//! The tool plans with it and `haft rules explain` explains with it, so haft explains exactly what it judges.

use std::path::{Path, PathBuf};

use haft_command::{CommandReader, CommandScene, Locate, PathLocation};
use haft_contract::doors::door::Look;
use haft_contract::effect::Effect;
use haft_contract::files::path::{Extent, FileLocation, RawPath, Target};
use haft_policy::effect_kind::EffectKind;

/// Returns what a command would do, part by part.
pub fn read_command(command: &str, scene: &CommandScene, look: &dyn Look) -> Vec<Effect> {
    reader(scene, &AtTheDoor(look)).steps(command)
}

/// Returns whether a command runs text that a person types into it at its terminal.
pub fn runs_typed_text(command: &str, scene: &CommandScene, look: &dyn Look) -> bool {
    reader(scene, &AtTheDoor(look)).runs_typed_text(command)
}

fn reader<'a>(scene: &'a CommandScene, locate: &'a AtTheDoor<'_>) -> CommandReader<'a> {
    CommandReader { scene, locate, is_refused: EffectKind::refuses_step }
}

/// The home folder to assume if none is known: a folder outside the workspace.
const SOME_HOME: &str = "/home/user";

/// Says where a command that starts in this folder would run; nothing where the workspace has no real path.
pub fn scene(look: &dyn Look, folder: &Path) -> Option<CommandScene> {
    let workspace = look.real_path(&Target::Inside(FileLocation::new("", Extent::Tree)))?;
    let home = look.home().unwrap_or_else(|| SOME_HOME.into());
    let user = home.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // The components alone: a slash at the end would make `${PWD%/*}` the folder itself.
    let text = |path: &Path| path.components().collect::<PathBuf>().to_string_lossy().into_owned();
    Some(CommandScene { home: text(&home), user, workspace: text(&workspace), folder: text(folder) })
}

/// Larger files are not looked into before a command runs, in bytes.
const LARGEST_TEXT: u64 = 64 * 1024;

struct AtTheDoor<'a>(&'a dyn Look);

impl Locate for AtTheDoor<'_> {
    fn locate(&self, path: &str) -> PathLocation {
        // What the door cannot locate is none of the workspace's files.
        let outside = |_| Target::Outside(FileLocation::new(path, Extent::Entry));
        let target = self.0.locate(&RawPath::new(path), Extent::Entry).unwrap_or_else(outside);
        // The stamp comes first because it is cheap where nothing is there: the facts would look for near names.
        let kind = self.0.stamp(&target).and_then(|_| self.0.facts(&target).ok()).map(|facts| facts.kind);
        PathLocation { target, kind }
    }

    fn real_path(&self, folder: &str) -> Option<String> {
        let way = self.0.way_to(Path::new(folder));
        way.last().map(|real| real.to_string_lossy().into_owned())
    }

    fn names_in(&self, folder: &str) -> Vec<String> {
        let target = self.0.locate(&RawPath::new(folder), Extent::Entry).ok().filter(Target::is_inside);
        target.map(|target| self.0.names_in(&target)).unwrap_or_default()
    }

    fn text_of(&self, file: &str) -> Option<String> {
        let target = self.0.locate(&RawPath::new(file), Extent::Entry).ok().filter(Target::is_inside)?;
        let copy = self.0.read(&target, LARGEST_TEXT).ok()?;
        String::from_utf8(copy.bytes.to_vec()).ok()
    }
}
