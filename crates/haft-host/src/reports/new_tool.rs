//! Writes a working example of a new tool for the user to change: a definition and its program, with helpful comments.
//!
//! It overwrites no existing file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use haft_config::settings::Settings;
use haft_contract::description::schema_rules::is_safe_name;
use haft_tools::defined::definition::nearest_fit;
use haft_workspace::project::FOLDER;
use haft_workspace::state::{create_new_files, link_below};

use crate::opening::loaded_workspace::open_workspace;
use crate::options::Options;

const DEFINITION: &str = include_str!("new_tool/tool.yaml");
const PYTHON: &str = include_str!("new_tool/tool.py");
const SHELL: &str = include_str!("new_tool/tool.sh");
const PYTHON_NAMES: &str = include_str!("new_tool/python_names.txt");

/// A tool that is to be written.
#[derive(Clone, Debug)]
pub struct NewTool {
    /// The name that calls use.
    pub name: String,
    /// What it is written in.
    pub language: NewToolLanguage,
    /// Where its files go.
    pub destination: NewToolDestination,
}

/// The destination that the user chose for the files of a new tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewToolDestination {
    /// Into `.haft/tools` of the workspace.
    Workspace,
    /// Into the user's folder, for all projects.
    User,
    /// Into this folder.
    Folder(PathBuf),
}

/// The language of the program of a new tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewToolLanguage {
    /// A Python function.
    Python,
    /// A shell script.
    Sh,
}

/// A tool that was written.
#[derive(Clone, Debug)]
pub struct WrittenTool {
    /// Its files.
    pub files: Vec<String>,
    /// What to do next, in words.
    pub next: String,
}

/// The folder for the files of a new tool, which decides what the user does before the first call.
enum NewToolFolder {
    Project { tools: PathBuf, named: Option<PathBuf> },
    User(PathBuf),
    Elsewhere(PathBuf),
}

/// Writes a tool.
///
/// # Errors
///
/// Fails when the name cannot be one, a file exists already, or the folder cannot be written.
pub fn write_tool(options: &Options, tool: &NewTool) -> anyhow::Result<WrittenTool> {
    check_name(&tool.name)?;
    let place = NewToolFolder::of(options, tool)?;
    let scaffold = Scaffold::of(&tool.name, tool.language);
    let files = [&scaffold.definition, &scaffold.program].map(|(name, text)| (name.as_str(), text.as_str()));
    create_new_files(place.folder(), &files).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => anyhow!("nothing was written: {error}; choose another name, or remove it"),
        _ => anyhow!("nothing was written: {error}; name a folder that you may write to with --dir"),
    })?;
    let files = files.map(|(name, _)| place.folder().join(name).display().to_string()).into();
    Ok(WrittenTool { files, next: place.next(&tool.name) })
}

fn check_name(name: &str) -> anyhow::Result<()> {
    if !is_safe_name(name) {
        let fit = if name.trim().is_empty() { "my_tool".to_owned() } else { nearest_fit(name) };
        let rule = "a name has 1 to 64 letters, digits, `_` or `-` and begins with a letter or `_`";
        bail!("\"{name}\" cannot be the name of a tool: {rule}; try: haft new tool {fit}");
    }
    if haft_tools::all().iter().any(|tool| tool.spec().name == name && !tool.spec().deferred) {
        bail!("haft already has a tool \"{name}\"; try: haft new tool my_{name}");
    }
    if name == "tools" {
        bail!("tools.yaml is the list of all tools, so none can be called \"tools\"; try: haft new tool my_tools");
    }
    Ok(())
}

impl NewToolFolder {
    fn of(options: &Options, tool: &NewTool) -> anyhow::Result<Self> {
        let settings = Settings::read(options.profile)?;
        match &tool.destination {
            NewToolDestination::Folder(folder) => return Ok(Self::Elsewhere(folder.clone())),
            NewToolDestination::User => return Ok(Self::User(settings.environment.config_folder.join("tools"))),
            NewToolDestination::Workspace => {}
        }
        let workspace = options.folder().to_owned();
        // A missing folder is a typing mistake, and is not created.
        open_workspace(options, &workspace, &settings)?;
        let below = Path::new(FOLDER).join("tools");
        // haft loads nothing through a link in a project, and its target may have another owner.
        if let Some(link) = link_below(&workspace, &below) {
            bail!("{} is a link, and haft loads nothing through links; replace it with a folder", link.display());
        }
        Ok(match workspace == Path::new(".") {
            // A path without "./" is shorter to copy.
            true => Self::Project { tools: below, named: None },
            false => Self::Project { tools: workspace.join(below), named: Some(workspace) },
        })
    }

    fn folder(&self) -> &Path {
        match self {
            Self::Project { tools: folder, .. } | Self::User(folder) | Self::Elsewhere(folder) => folder,
        }
    }

    /// Says what to do next.
    fn next(&self, name: &str) -> String {
        let definition = quoted(&self.folder().join(format!("{name}.yaml")));
        let check = format!("Next, and after each change:\n  haft check {definition}");
        let call = format!("call {name} text='one two three'");
        match self {
            Self::Project { named, .. } => {
                let workspace = named.as_deref().map(quoted);
                let trust = workspace.as_ref().map(|folder| format!(" {folder}")).unwrap_or_default();
                let there = workspace.as_ref().map(|folder| format!("-C {folder} ")).unwrap_or_default();
                format!(
                    "{check}\n  haft trust{trust}\n  haft {there}{call}\nhaft uses the tools of a project once you trust them."
                )
            }
            Self::User(_) => format!("{check}\n  haft {call}"),
            Self::Elsewhere(_) => format!(
                "{check}\nhaft finds it when a tools.yaml lists it, yours or a project's (yaml_path is relative to its folder):\n  - name: {name}\n    yaml_path: {definition}"
            ),
        }
    }
}

/// Writes a path so that a shell reads it as one word.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-~+".contains(letter);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// The two files of a tool: names and texts.
struct Scaffold {
    definition: (String, String),
    program: (String, String),
}

impl Scaffold {
    fn of(name: &str, language: NewToolLanguage) -> Self {
        let function = python_name(name);
        let (program, text, binding) = match language {
            NewToolLanguage::Python => {
                let why = format!(
                    "# A Python function: MODULE:FUNCTION, found from the folder of this file, so this is {function}.py."
                );
                (format!("{function}.py"), PYTHON, format!("{why}\nbinding: {function}:{function}"))
            }
            NewToolLanguage::Sh => {
                let program = format!("{name}.sh");
                let why = "# A program and its arguments, found from the folder of this file. No shell is involved.";
                let binding = format!("{why}\nbinding: {{command: [sh, {program}]}}");
                (program, SHELL, binding)
            }
        };
        let fill = |text: &str| {
            text.replace("{name}", name)
                .replace("{quoted}", &yaml_name(name))
                .replace("{function}", &function)
                .replace("{binding}", &binding)
        };
        Self { program: (program, fill(text)), definition: (format!("{name}.yaml"), fill(DEFINITION)) }
    }
}

/// Returns the name of the file and the function: that of the tool, where Python has nothing of that name.
fn python_name(name: &str) -> String {
    let fit = name.replace('-', "_");
    let lines = PYTHON_NAMES.lines().filter(|line| !line.starts_with('#'));
    let is_taken = lines.flat_map(str::split_whitespace).any(|taken| taken == fit);
    if is_taken { format!("{fit}_tool") } else { fit }
}

/// Writes a name so that YAML reads it as text.
fn yaml_name(name: &str) -> String {
    let is_special =
        ["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&&*name.to_ascii_lowercase());
    if is_special { format!("\"{name}\"") } else { name.to_owned() }
}
