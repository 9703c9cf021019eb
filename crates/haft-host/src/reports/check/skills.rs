//! Finds mistakes in a skill: in its `SKILL.md`, and in the files beside it.

use std::path::{Path, PathBuf};

use haft_tools::defined::definition::{DefinitionProblem, check_skill};
use haft_tools::defined::skill::{SKILL_FILE, SkillEntry};
use haft_workspace::state::{SkillFileEntry, list_config_folder, list_skill, real_path_of};

use super::Checking;

/// Folders of skills beside haft's own, from the root of a workspace or a home.
const OF_OTHERS: [&str; 2] = [".claude/skills", ".agents/skills"];

impl Checking {
    /// Checks a `SKILL.md`, and whether what lies beside it can be used.
    pub(super) fn skill(&mut self, path: &Path, text: &str) {
        let real = real_path_of(path);
        let folder = real.parent().unwrap_or(Path::new("/"));
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let checked = check_skill(text, &name);
        let declares = checked.skill.as_ref().is_none_or(|skill| skill.effects.is_some());
        self.tell(path, checked.problems);
        match list_skill(folder) {
            Ok(files) => self.tell(path, (!declares && files.into_iter().any(is_script)).then(undeclared)),
            Err(error) => {
                self.add(path, (1, format!("the folder of the skill cannot be listed: {error}"), "fix that".into()));
            }
        }
    }

    /// Checks each skill that a folder holds: in it, in its `skills`, or where other programs look. Returns how many there are.
    pub(super) fn skills_in(&mut self, folder: &Path) -> usize {
        let mut skills = vec![folder.to_owned()];
        for place in ["skills"].into_iter().chain(OF_OTHERS).map(|place| folder.join(place)) {
            match list_config_folder(&place) {
                Ok(inside) => skills.extend(inside.unwrap_or_default()),
                Err(error) => self.add(&place, (1, format!("cannot be listed: {error}"), "keep fewer skills".into())),
            }
        }
        let has_file = |skill: &&PathBuf| {
            let inside = list_config_folder(skill).ok().flatten().unwrap_or_default();
            inside.contains(&skill.join(SKILL_FILE))
        };
        let files: Vec<PathBuf> = skills.iter().filter(has_file).map(|skill| skill.join(SKILL_FILE)).collect();
        files.iter().for_each(|file| self.file(file));
        files.len()
    }
}

fn is_script(SkillFileEntry { name, is_executable }: SkillFileEntry) -> bool {
    SkillEntry { name, is_executable }.is_script()
}

fn undeclared() -> DefinitionProblem {
    DefinitionProblem {
        line: Some(1),
        what: "the scripts declare no effects, so haft judges each run as an unknown program".to_owned(),
        fix: "write effects: what they read and change, such as [{read: \"{arguments}\"}], or []".to_owned(),
        is_warning: true,
    }
}
