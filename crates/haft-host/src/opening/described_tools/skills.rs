//! Finds skills and gives them to the tool that loads them.
//!
//! haft accepts the user's own skills as they are. It accepts a project's skill only with the content that the user trusts,
//! and takes its files from the copy that `haft trust` made.
//!
//! Not here: the format of `SKILL.md` (`haft_tools::defined::definition`), and the tool (`haft_tools::defined::skill`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_contract::description::spec::Spec;
use haft_contract::files::path::one_line;
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::tool::{AnyTool, Typed};
use haft_runtime::catalogue::catalog::Catalog;
use haft_runtime::catalogue::toolset::ToolList;
use haft_tools::defined::bound::{DefinitionOrigin, ToolOwner};
use haft_tools::defined::definition::{SkillFile, check_skill};
use haft_tools::defined::skill::{LoadedSkill, Skill, SkillEntry, SkillFolder, ToolInShort};
use haft_workspace::project::{SKILL_FILE, TrustCheck, skill_folder};
use haft_workspace::state::{
    SkillFileEntry, check_script, list_config_folder, list_skill, read_config_file, read_skill_file, real_path_of,
};

use super::Assembly;
use super::found::ToolDescriptions;
use super::trust_gated::{TrustGated, refused};

/// A skill that was found.
pub struct FoundSkill {
    /// What its `SKILL.md` says.
    pub file: SkillFile,
    /// Its folder, as people know it.
    pub place: String,
    /// Its folder.
    pub folder: PathBuf,
    /// What it is held to, where a project brings it.
    pub held: Option<TrustCheck>,
}

/// Where the user's own skills are: haft's folder first, then those of other programs.
pub fn own_skill_folders(config: &Path, home: &Path) -> [PathBuf; 3] {
    [config.join("skills"), home.join(".claude/skills"), home.join(".agents/skills")]
}

impl ToolDescriptions {
    /// Adds the user's own skills. They go before those of a project.
    #[must_use]
    pub fn with_own_skills(mut self, config: &Path, home: &Path) -> Self {
        let of_project = std::mem::take(&mut self.skills);
        for above in own_skill_folders(config, home) {
            let folders = match list_config_folder(&above) {
                Ok(folders) => folders.unwrap_or_default(),
                Err(error) => {
                    self.notes.push(format!("note: haft skips the skills in {}: {error}", above.display()));
                    continue;
                }
            };
            folders.into_iter().for_each(|folder| self.own_skill(folder));
        }
        of_project.into_iter().for_each(|skill| self.add_skill(skill));
        self
    }

    fn own_skill(&mut self, folder: PathBuf) {
        let path = folder.join(SKILL_FILE);
        let place = one_line(&folder.display().to_string()).into_owned();
        match read_config_file(&path) {
            Ok(Some(text)) => {
                self.named.push(path);
                self.skill_of(&text, place, (real_path_of(&folder), None));
            }
            Ok(None) => {}
            Err(error) => self.notes.push(format!("note: haft skips the skill {place}: {error}")),
        }
    }

    /// Takes in a skill of a project that is trusted, by the path of its `SKILL.md` from the workspace.
    pub(super) fn project_skill(&mut self, workspace: &Path, (name, text): (&str, &str), held: TrustCheck) {
        let Some(place) = skill_folder(name) else { return };
        self.named.extend(held.bound_files());
        self.skill_of(text, place.to_owned(), (workspace.join(place), Some(held)));
    }

    fn skill_of(&mut self, text: &str, place: String, (folder, held): (PathBuf, Option<TrustCheck>)) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let checked = check_skill(text, &name);
        let file = format!("{place}/{SKILL_FILE}");
        self.tell(&file, &checked.problems);
        if let Some(file) = checked.skill {
            self.add_skill(FoundSkill { file, place, folder, held });
        }
    }

    /// Adds a skill whose name is not taken. The same skill in two places is one.
    fn add_skill(&mut self, skill: FoundSkill) {
        match self.skills.iter().find(|known| known.file.name.eq_ignore_ascii_case(&skill.file.name)) {
            None => self.skills.push(skill),
            Some(known) if known.file == skill.file => {}
            Some(known) => {
                let FoundSkill { file, place, .. } = &skill;
                let name = &file.name;
                self.notes.push(format!(
                    "note: haft skips the skill {place}: there is a skill \"{name}\" in {}; give one of them another name",
                    known.place
                ));
            }
        }
    }
}

/// Adds the tool that loads skills, where there is something to load.
pub(super) async fn add(catalog: &Catalog, skills: Vec<FoundSkill>, in_short: Vec<ToolInShort>, into: Assembly<'_>) {
    let loaded = skills.into_iter().map(|skill| skill.loaded(into.workspace)).collect();
    let Some(tool) = Skill::of(loaded, in_short) else { return };
    let tool: Arc<dyn AnyTool> = Arc::new(Typed::under(tool, into.runtime.limits()));
    if let Err(error) = catalog.add(&ToolList::new("skills", [tool])).await {
        into.notices.note(&format!("note: no skill can be loaded: {error}; give the other tool another name"));
    }
}

/// Returns a tool that is shown in short with its whole text.
pub(super) fn in_short(own: &Spec) -> Option<ToolInShort> {
    own.skill.is_some().then(|| ToolInShort { name: own.name.clone(), words: own.manual.words.clone() })
}

impl FoundSkill {
    /// Returns whether it has a script. A folder that cannot be listed has none that could run.
    pub fn has_scripts(&self) -> bool {
        list_skill(&self.folder).unwrap_or_default().into_iter().map(entry).any(|entry| entry.is_script())
    }

    fn loaded(self, workspace: &Path) -> LoadedSkill {
        let Self { file, place, folder, held } = self;
        let owner = if held.is_some() { ToolOwner::Workspace } else { ToolOwner::User };
        let code = held.as_ref().and_then(TrustCheck::code);
        let home = DefinitionOrigin::new(folder.clone(), workspace).with_owner(owner).with_code(code);
        let files = Arc::new(HostSkill { folder, place: place.clone(), held });
        LoadedSkill { file, place, files, home }
    }
}

fn entry(SkillFileEntry { name, is_executable }: SkillFileEntry) -> SkillEntry {
    SkillEntry { name, is_executable }
}

/// The files of a skill, as far as they count.
struct HostSkill {
    folder: PathBuf,
    place: String,
    held: Option<TrustCheck>,
}

impl HostSkill {
    /// Returns where the files are read: for a project in the trusted copy.
    fn source(&self) -> PathBuf {
        let copied = self.held.as_ref().and_then(TrustCheck::code).map(|code| code.folder.join(&self.place));
        copied.unwrap_or_else(|| self.folder.clone())
    }

    fn failed(&self, error: &std::io::Error) -> ToolError {
        let what = format!("The skill in {} cannot be read: {error}.", self.place);
        ToolError::new(ErrorKind::Unavailable, what, Next::AskUser("tell the user".to_owned()))
    }
}

impl SkillFolder for HostSkill {
    fn check(&self) -> Result<(), ToolError> {
        self.held.as_ref().map_or(Ok(()), |held| held.still().map_err(refused))
    }

    fn list(&self) -> Result<Vec<SkillEntry>, ToolError> {
        let files = list_skill(&self.source()).map_err(|error| self.failed(&error))?;
        Ok(files.into_iter().map(entry).collect())
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, ToolError> {
        read_skill_file(&self.source(), name).map_err(|error| self.failed(&error))
    }

    fn gated(&self, script: Arc<dyn AnyTool>) -> Result<Arc<dyn AnyTool>, ToolError> {
        match &self.held {
            Some(held) => Ok(Arc::new(TrustGated { tool: script, held: held.clone() })),
            None => {
                let files = list_skill(&self.folder).map_err(|error| self.failed(&error))?;
                let foreign = files.iter().find_map(|file| check_script(&self.folder.join(&file.name)).err());
                foreign.map_or(Ok(script), |error| {
                    let what = format!("haft does not run scripts of the skill in {}: {error}.", self.place);
                    Err(ToolError::new(ErrorKind::Denied, what, Next::AskUser("tell the user".to_owned())))
                })
            }
        }
    }
}
