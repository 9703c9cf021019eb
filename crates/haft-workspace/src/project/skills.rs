//! Finds the skills in a workspace: folders with a `SKILL.md`, in the places that programs look for them.
//!
//! A skill is trusted as a whole: a script, a text that a model reads, and a file that either uses are all alike. So its
//! `SKILL.md` is bound to every file of its folder, and the copy has all of them.
//!
//! Not here: what a skill says, and who may use it (`haft-host`).

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, OFlags};

use super::reach::whole_folder;
use super::{Fingerprint, Project, ProjectFile, ProjectFileKind};
use crate::files::read::open::open_beneath;

/// Where a workspace has skills, from its root; the first counts first.
pub const SKILL_FOLDERS: [&str; 3] = [".haft/skills", ".claude/skills", ".agents/skills"];
/// The file that makes a folder a skill.
pub const SKILL_FILE: &str = "SKILL.md";
/// Most names in one of these folders.
const MOST_NAMES: usize = 200;

/// Returns the folder of a skill, by the path of its `SKILL.md` from the root of the workspace.
pub fn skill_folder(name: &str) -> Option<&str> {
    let folder = name.strip_suffix(SKILL_FILE)?.strip_suffix('/')?;
    let (above, name) = folder.rsplit_once('/')?;
    (SKILL_FOLDERS.contains(&above) && !name.is_empty()).then_some(folder)
}

/// Returns the hashes of all files of a skill but its `SKILL.md`.
pub(super) fn hashes(project: &Project, folder: &str) -> Result<Fingerprint, String> {
    let files = whole_folder(project, folder)?;
    Ok(files.into_iter().map(|(name, file)| (name, blake3::hash(&file.bytes).to_hex().to_string())).collect())
}

impl Project {
    /// Finds skills by the names of their files; folders that are not looked into are noted with the reason.
    pub(super) fn find_skills(&mut self) -> Vec<ProjectFile> {
        let mut found = Vec::new();
        for above in SKILL_FOLDERS {
            // Of a folder that is not looked into, one word is enough.
            if self.refused.iter().any(|(name, _)| Path::new(above).starts_with(name)) {
                continue;
            }
            let Some(folder) = self.open_folder(above) else { continue };
            let Ok(entries) = Dir::read_from(&folder) else { continue };
            let names = entries.flatten().filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
            let mut names: Vec<String> =
                names.filter(|name| !matches!(name.as_str(), "." | "..")).take(MOST_NAMES + 1).collect();
            if names.len() > MOST_NAMES {
                let why = format!("it has more than {MOST_NAMES} names, so no skill in it is loaded");
                self.refused.push((above.to_owned(), why));
                continue;
            }
            names.sort();
            for name in names {
                found.extend(self.skill(above, &name));
            }
        }
        found
    }

    /// Looks for a skill in a folder of this name.
    fn skill(&mut self, above: &str, name: &str) -> Option<ProjectFile> {
        let folder = format!("{above}/{name}");
        let file = format!("{folder}/{SKILL_FILE}");
        let kind = |path: &str, flags: AtFlags| {
            let facts = rustix::fs::statat(self.root.as_fd(), path, flags).ok()?;
            Some(FileType::from_raw_mode(facts.st_mode))
        };
        match kind(&folder, AtFlags::SYMLINK_NOFOLLOW)? {
            // A link to something else than a skill is nothing to haft.
            FileType::Symlink => {
                kind(&file, AtFlags::empty())?;
                self.refused.push((folder, "it is a link, which is not followed".to_owned()));
                None
            }
            FileType::Directory => {
                let opened = open_beneath(self.root.as_fd(), folder.as_str(), OFlags::DIRECTORY | OFlags::RDONLY);
                let facts = rustix::fs::statat(opened.ok()?, SKILL_FILE, AtFlags::SYMLINK_NOFOLLOW).ok()?;
                let is_file = FileType::from_raw_mode(facts.st_mode) != FileType::Directory;
                is_file.then_some(ProjectFile { name: file, kind: ProjectFileKind::Code })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_lies_right_in_one_of_the_folders() {
        assert_eq!(skill_folder(".claude/skills/forms/SKILL.md"), Some(".claude/skills/forms"));
        for other in [
            ".claude/skills/SKILL.md",
            ".claude/skills//SKILL.md",
            ".claude/skills/a/b/SKILL.md",
            ".claude/skills/forms/skill.md",
            "skills/forms/SKILL.md",
        ] {
            assert_eq!(skill_folder(other), None, "{other}");
        }
    }
}
