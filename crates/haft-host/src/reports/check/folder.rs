//! Finds the files of a folder to check: those that haft would load from it.

use std::path::{Path, PathBuf};

use haft_workspace::state::list_config_folder;

use super::{Checking, is_xml, is_yaml};

/// Files right in a folder that haft knows by their names.
const FILES: [&str; 2] = ["config.toml", "rules.toml"];

impl Checking {
    /// Checks what a folder holds: haft's own folder in it where there is one, else its files, its `tools`, `prompts` and `dialects`; and skills, also those for other programs.
    pub(super) fn folder(&mut self, folder: &Path, inside: &[PathBuf]) {
        let below = |name: &str| folder.join(name);
        let skills = self.skills_in(folder);
        if let Ok(Some(own)) = list_config_folder(&below(haft_workspace::project::FOLDER)) {
            return self.folder(&below(haft_workspace::project::FOLDER), &own);
        }
        let is_known =
            |path: &&PathBuf| is_yaml(path) || is_prompt(path) || FILES.iter().any(|name| path.ends_with(name));
        let mut files: Vec<PathBuf> = inside.iter().filter(is_known).cloned().collect();
        if let Ok(Some(tools)) = list_config_folder(&below("tools")) {
            files.extend(tools.into_iter().filter(|path| is_yaml(path)));
        }
        if let Ok(Some(prompts)) = list_config_folder(&below("prompts")) {
            files.extend(prompts.into_iter().filter(|path| is_xml(path)));
        }
        if let Ok(Some(dialects)) = list_config_folder(&below("dialects")) {
            files.extend(dialects.into_iter().filter(|path| path.extension().is_some_and(|end| end == "toml")));
        }
        if files.is_empty() && skills == 0 {
            let fix = "name a folder with definitions (.yaml), prompts (_prompt.xml), a tools.yaml, skills (SKILL.md), a config.toml or a rules.toml";
            self.add(folder, (1, "there is nothing in it that haft checks".into(), fix.into()));
        }
        files.iter().for_each(|file| self.file(file));
    }
}

/// A folder may hold XML of all kinds.
fn is_prompt(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.and_then(haft_tools::defined::prompt_file::tool_of).is_some()
}
