//! Finds the files that describe tools, and reads them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_config::environment::variable;
use haft_tools::defined::definition;
use haft_tools::defined::definition::{
    Binding, CheckedList, Definition, DefinitionProblem, Presets, ToolListEntry, check_list,
};
use haft_workspace::project::{Project, TrustCheck, hash_of_named, scripts_named};
use haft_workspace::state::trust::FolderTrust;
use haft_workspace::state::{check_script, list_config_folder, read_config_file, read_project_file, real_path_of};

use super::skills::FoundSkill;
use crate::opening::project_files::{ProjectFiles, TOOL_LIST};

/// The tools, prompts and skills that files describe.
#[derive(Default)]
pub struct ToolDescriptions {
    pub tools: Vec<DescribedTool>,
    pub prompts: Vec<(String, String)>,
    pub notes: Vec<String>,
    pub skills: Vec<FoundSkill>,
    workspace: PathBuf,
    /// Definitions that lists name, wherever they lie.
    pub named: Vec<PathBuf>,
}

/// A tool that a file describes.
pub struct DescribedTool {
    pub definition: Definition,
    pub presets: Presets,
    /// The folder of the file that names the binding.
    pub folder: PathBuf,
    /// The folder of the definition.
    pub beside: PathBuf,
    /// The file, for those who are told about it.
    pub file: String,
    pub held: Option<TrustCheck>,
    /// Whether it is shown as a skill.
    pub as_skill: bool,
}

/// The project and its trusted files, which limit the tools of the project.
struct ProjectTrust(Arc<Project>, Arc<FolderTrust>);

impl ProjectTrust {
    fn held(&self, file: &DescriptionFile) -> TrustCheck {
        TrustCheck::new(self.0.clone(), self.1.clone(), &file.shown)
    }

    /// Says whether a definition that a list names was trusted with the list.
    fn covers(&self, list: &DescriptionFile, definition: &Path, workspace: &Path) -> bool {
        let real = real_path_of(definition);
        let name = real.strip_prefix(workspace).ok().and_then(Path::to_str);
        name.is_some_and(|name| self.held(list).covers_definition(name))
    }
}

/// A file with its text.
struct DescriptionFile {
    /// Its path.
    path: PathBuf,
    /// How it is called.
    shown: String,
    text: String,
}

/// The files that make, bind and describe a tool.
struct ToolSourceFiles<'a> {
    /// The one that makes it a tool: a list, or the definition itself.
    by: &'a DescriptionFile,
    /// The one that says what it is bound to.
    binding: &'a DescriptionFile,
    /// The one that describes it.
    described: &'a DescriptionFile,
    as_skill: bool,
}

impl ToolDescriptions {
    /// Reads the user's own folder, and the trusted files of the project.
    pub fn in_folders(config: &Path, workspace: &Path, loaded: ProjectFiles) -> Self {
        let mut found = Self { workspace: workspace.to_owned(), ..Self::default() };
        let own = found.own(config);
        found.take(config.join("tools.yaml"), own, None);
        found.own_prompts(config);
        let ProjectFiles { tools, prompts, skills, trusted, .. } = loaded;
        let holding = Project::look(workspace).map(|project| ProjectTrust(Arc::new(project), Arc::new(trusted)));
        let of_project =
            |(name, text): (String, String)| DescriptionFile { path: workspace.join(&name), shown: name, text };
        let sources: Vec<DescriptionFile> = tools.into_iter().map(of_project).collect();
        match holding {
            Ok(holding) => {
                found.take(workspace.join(TOOL_LIST), sources, Some(&holding));
                for (name, text) in skills {
                    let held = TrustCheck::new(holding.0.clone(), holding.1.clone(), &name);
                    found.project_skill(workspace, (&name, &text), held);
                }
            }
            Err(error) => found.notes.push(format!("note: haft skips the tools of the project: {error}")),
        }
        found.prompts.extend(prompts);
        found
    }

    fn own(&mut self, config: &Path) -> Vec<DescriptionFile> {
        let listed = list_config_folder(&config.join("tools"));
        let files = listed.unwrap_or_else(|error| {
            self.notes.push(format!("note: {}: cannot be read: {error}", config.join("tools").display()));
            None
        });
        let is_definition = |path: &PathBuf| path.extension().is_some_and(|end| end == "yaml");
        let files = files.into_iter().flatten().filter(is_definition);
        let list = Some(config.join("tools.yaml"));
        files.chain(list).filter_map(|path| self.read(path)).collect()
    }

    fn own_prompts(&mut self, config: &Path) {
        let files = list_config_folder(&config.join("prompts")).ok().flatten().unwrap_or_default();
        let is_prompt = |path: &PathBuf| path.extension().is_some_and(|end| end == "xml");
        let read: Vec<DescriptionFile> =
            files.into_iter().filter(is_prompt).filter_map(|path| self.read(path)).collect();
        self.prompts.extend(read.into_iter().map(|source| (source.shown, source.text)));
    }

    fn read(&mut self, path: PathBuf) -> Option<DescriptionFile> {
        self.read_by(read_config_file, path)
    }

    fn read_by(&mut self, read: fn(&Path) -> io::Result<Option<String>>, path: PathBuf) -> Option<DescriptionFile> {
        let shown = path.display().to_string();
        match read(&path) {
            Ok(text) => text.map(|text| DescriptionFile { path, shown, text }),
            Err(error) => {
                self.notes.push(format!("note: haft skips {shown}: it cannot be read: {error}"));
                None
            }
        }
    }

    /// Takes in definitions and the list of them; what the list names counts as the list says.
    fn take(&mut self, list: PathBuf, sources: Vec<DescriptionFile>, project: Option<&ProjectTrust>) {
        let (lists, definitions): (Vec<DescriptionFile>, Vec<DescriptionFile>) =
            sources.into_iter().partition(|source| source.path == list);
        let mut named = Vec::new();
        for source in &lists {
            let CheckedList { listed, problems } = check_list(&source.text, &variable);
            self.tell(&source.shown, &problems);
            for entry in listed {
                named.extend(self.listed(source, entry, &definitions, project));
            }
        }
        for source in definitions.iter().filter(|source| !named.contains(&source.path)) {
            let checked = definition::check(&source.text);
            self.tell(&source.shown, &checked.problems);
            if let Some(definition) = checked.definition {
                let named = ToolSourceFiles { by: source, binding: source, described: source, as_skill: false };
                self.add((definition, Presets::default()), &named, project);
            }
        }
    }

    /// Takes in one entry of a list; returns the file that it names.
    fn listed(
        &mut self,
        list: &DescriptionFile,
        entry: ToolListEntry,
        definitions: &[DescriptionFile],
        project: Option<&ProjectTrust>,
    ) -> Option<PathBuf> {
        let folder = list.path.parent().unwrap_or(Path::new("/"));
        let path: PathBuf = folder.join(entry.yaml_path.as_ref()?).components().collect();
        self.named.push(path.clone());
        let read;
        let described = match definitions.iter().find(|source| source.path == path) {
            Some(known) => known,
            None => {
                let read_file = if project.is_some() { read_project_file } else { read_config_file };
                let Some(source) = self.read_by(read_file, path.clone()) else {
                    let line = entry.line.unwrap_or(1);
                    self.notes.push(format!("note: {}:{line}: there is no file {}", list.shown, path.display()));
                    return Some(path);
                };
                read = source;
                &read
            }
        };
        if project.is_some_and(|holding| !holding.covers(list, &path, &self.workspace)) {
            let why = "trust in the list does not cover it; name a file of the workspace that ends with .yaml";
            self.notes.push(format!("note: {}: haft skips {}: {why}", list.shown, path.display()));
            return Some(path);
        }
        let checked = definition::check(&described.text);
        self.tell(&path.display().to_string(), &checked.problems);
        let binding = if entry.binding.is_some() { list } else { described };
        let named = ToolSourceFiles { by: list, binding, described, as_skill: entry.as_skill };
        match checked.definition.map(|definition| entry.apply(definition)) {
            Some(Ok(applied)) => self.add(applied, &named, project),
            Some(Err(problems)) => self.tell(&list.shown, &problems),
            None => {}
        }
        Some(path)
    }

    fn add(&mut self, applied: (Definition, Presets), named: &ToolSourceFiles<'_>, project: Option<&ProjectTrust>) {
        let (mut definition, presets) = applied;
        let ToolSourceFiles { by, binding, described, as_skill } = *named;
        let [folder, beside] =
            [binding, described].map(|source| source.path.parent().unwrap_or(Path::new("/")).to_owned());
        if definition.use_cache {
            // A result must not outlive the code that gave it, which may lie in either place for a tool of the project.
            let workspace = project.map(|_| &self.workspace);
            for place in [&folder, &beside].into_iter().chain(workspace) {
                definition.version.push_str(&hash_of_named(&binding.text, place));
            }
        }
        let held = project.map(|holding| holding.held(by));
        let foreign = || [&folder, &beside].into_iter().find_map(|place| foreign_script(&definition, place));
        if let (None, Some(why)) = (&held, foreign()) {
            self.notes.push(format!("note: haft skips {}: {why}", by.shown));
            return;
        }
        self.tools.push(DescribedTool { definition, presets, folder, beside, file: by.shown.clone(), held, as_skill });
    }

    pub(super) fn tell(&mut self, file: &str, problems: &[DefinitionProblem]) {
        let grave = problems.iter().filter(|problem| !problem.is_warning);
        let told = grave
            .map(|problem| format!("note: {file}:{}: {}; {}", problem.line.unwrap_or(1), problem.what, problem.fix));
        self.notes.extend(told);
    }
}

/// Says which script of a tool of the user another user can change. What a project brings is trusted by its content.
fn foreign_script(definition: &Definition, folder: &Path) -> Option<String> {
    let text = match definition.binding.as_ref()? {
        Binding::Command(words) => words.join("\n"),
        Binding::Python(name) => name.module.clone(),
        Binding::Builtin(_) | Binding::Http(_) => return None,
    };
    let foreign = |script: PathBuf| {
        let error = check_script(&script).err()?;
        Some(format!("it runs {}, and {error}", script.display()))
    };
    scripts_named(&text, folder).into_iter().find_map(foreign)
}
