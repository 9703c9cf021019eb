//! Checks settings, rules, definitions and prompts: every problem with its line and the fix.

mod conformance;
mod definitions;
mod folder;
mod prompts;
mod skills;
mod trials;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use haft_config::file::Mistake;
use haft_config::settings::Settings;
use haft_contract::description::manual::Manual;
use haft_contract::description::schema_rules;
use haft_contract::description::spec::Spec;
use haft_model::lower::{ProviderDialect, ToolOffer, lower};
use haft_tools::defined::definition;
use haft_tools::defined::skill::SKILL_FILE;
use haft_workspace::state::{list_config_folder, read_project_file};
use serde_json::{Value, json};

use crate::opening::rulebook::mistakes_in;
use crate::options::Options;
pub use conformance::ToolTrialReport;
use trials::DefinitionTrial;

/// Checks these files and folders.
///
/// # Errors
///
/// Fails when settings have a mistake, or the workspace cannot be opened.
pub fn check(options: &Options, paths: &[PathBuf], trying: Trying) -> anyhow::Result<CheckReport> {
    let mut checking = Checking::default();
    checking.all(paths);
    checking.tries(options, trying)?;
    let Checking { found, tried, not_tried, .. } = checking;
    Ok(CheckReport { found, tried, not_tried })
}

/// The findings of a check.
pub struct CheckReport {
    /// Problems of files.
    pub found: Vec<FileProblem>,
    /// What running tools showed.
    pub tried: Vec<ToolTrialReport>,
    /// Whether something was not tried because it is not trusted, or nothing can be tried here.
    pub not_tried: bool,
}

impl CheckReport {
    /// Returns whether a file has a problem or a tool failed.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.found.iter().any(|found| !found.is_warning) || self.tried.iter().any(ToolTrialReport::has_failed)
    }
}

/// How much is tried of what definitions are bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trying {
    /// Whether it is there and its examples hold.
    Examples,
    /// Everything that a tool must keep.
    Everything,
}

/// A problem in a file, with its line and the fix.
pub struct FileProblem {
    file: PathBuf,
    line: usize,
    problem: String,
    fix: String,
    is_warning: bool,
}

impl FileProblem {
    /// Returns the problem as one line.
    #[must_use]
    pub fn line(&self) -> String {
        let Self { file, line, problem, fix, is_warning } = self;
        let warning = if *is_warning { "warning: " } else { "" };
        format!("{}:{line}: {warning}{problem}; {fix}", file.display())
    }

    /// Returns the problem as a record.
    #[must_use]
    pub fn record(&self) -> String {
        let Self { file, line, problem, fix, is_warning } = self;
        let file = file.display().to_string();
        json!({ "v": 1, "file": file, "line": line, "problem": problem, "fix": fix, "warning": is_warning }).to_string()
    }
}

/// Looks through files, each once although a folder and a list may lead to it.
#[derive(Default)]
struct Checking {
    seen: BTreeSet<PathBuf>,
    found: Vec<FileProblem>,
    trials: Vec<DefinitionTrial>,
    tried: Vec<ToolTrialReport>,
    /// Whether something was not tried because the user does not trust it, or because nothing can be tried here.
    not_tried: bool,
}

impl Checking {
    fn all(&mut self, paths: &[PathBuf]) {
        for path in paths {
            match list_config_folder(path) {
                Ok(Some(inside)) => self.folder(path, &inside),
                Ok(None) => self.file(path),
                Err(error) => self.add(path, (1, format!("cannot be listed: {error}"), "name its files".into())),
            }
        }
    }

    fn add(&mut self, file: &Path, (line, problem, fix): LineProblem) {
        self.found.push(FileProblem { file: file.into(), line, problem, fix, is_warning: false });
    }

    /// Checks a file that is named, or that a folder holds.
    fn file(&mut self, path: &Path) {
        if !self.seen.insert(path.components().collect()) {
            return;
        }
        let text = match read_project_file(path) {
            Ok(Some(text)) => text,
            Ok(None) => return self.add(path, (1, "there is no such file".into(), "name an existing file".into())),
            Err(error) => {
                return self.add(path, (1, format!("cannot be read: {error}"), "name a readable text file".into()));
            }
        };
        if path.file_name().is_some_and(|name| name == SKILL_FILE) {
            return self.skill(path, &text);
        }
        if is_yaml(path) {
            return self.yaml(path, &text);
        }
        if is_xml(path) {
            return self.prompt(path, &text);
        }
        if is_dialect(path, &text) {
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            return self.tell(path, haft_tools::dialect::check(name, &text).problems);
        }
        if is_json(path) {
            return self.tell(path, tool_list_problems(&text));
        }
        for problem in problems(path, &text) {
            self.add(path, problem);
        }
    }
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

fn is_xml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "xml")
}

/// A dialect lies in its folder, and has tools, which no other file of this kind has.
fn is_dialect(path: &Path, text: &str) -> bool {
    let is_toml = path.extension().is_some_and(|extension| extension == "toml");
    let is_in_folder = path.parent().and_then(Path::file_name).is_some_and(|folder| folder == "dialects");
    is_toml && (is_in_folder || text.lines().any(|line| line.trim() == "[[tools]]"))
}

/// A problem in a text: its line, what is wrong, and the fix.
type LineProblem = (usize, String, String);

fn problems(path: &Path, text: &str) -> Vec<LineProblem> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") if path.file_name().is_some_and(|name| name == "rules.toml") => rule_problems(path, text),
        Some("toml") if path.ends_with(crate::opening::project_files::CONFIG) => project_problems(path, text),
        Some("toml") => haft_config::file::check_config(text).err().into_iter().collect(),
        Some("md") => manual_problems(text),
        _ => vec![(
            1,
            "haft does not know this kind of file".into(),
            "name a config.toml, a rules.toml, a tools.yaml, a definition (.yaml), a dialect (.toml), a SKILL.md, the description of a tool (.md, _prompt.xml) or a list of tools (.json)".into(),
        )],
    }
}

fn rule_problems(path: &Path, text: &str) -> Vec<LineProblem> {
    match Settings::read(None) {
        Ok(settings) => mistakes_in(path, text, &settings).0.into_iter().map(of_mistake).collect(),
        Err(error) => vec![(1, format!("cannot be checked: {error}"), "fix that first".into())],
    }
}

fn project_problems(path: &Path, text: &str) -> Vec<LineProblem> {
    match Settings::read(None).map(|settings| settings.with_project(path, text)) {
        Ok(checked) => checked.err().map(of_mistake).into_iter().collect(),
        Err(error) => vec![(1, format!("cannot be checked: {error}"), "fix that first".into())],
    }
}

fn of_mistake(mistake: Mistake) -> LineProblem {
    (mistake.line, mistake.problem, mistake.fix)
}

fn manual_problems(text: &str) -> Vec<LineProblem> {
    let manual = Manual::read(text);
    let mut problems = Vec::new();
    if manual.title.is_empty() {
        problems.push((1, "the title is missing".into(), "begin with a line such as \"# Read file\"".into()));
    }
    if manual.words.is_empty() {
        problems.push((
            1,
            "there is no description for the model".into(),
            "say what the tool does and when to use it".into(),
        ));
    }
    if manual.examples.is_empty() {
        problems.push((
            1,
            "there is no example".into(),
            "add a fenced `json` block with the arguments of a call".into(),
        ));
    }
    let blocks = text.lines().enumerate().filter(|(_, line)| line.trim() == "```json").map(|(index, _)| index + 1);
    for (line, example) in blocks.zip(&manual.examples) {
        if !example.arguments.is_object() {
            problems.push((line, "the example is not a JSON object".into(), "write the arguments of one call".into()));
        }
    }
    problems
}

fn tool_list_problems(text: &str) -> Vec<definition::DefinitionProblem> {
    let wrong = |line: usize, what: String, fix: &str| definition::DefinitionProblem {
        line: Some(line),
        what,
        fix: fix.to_owned(),
        is_warning: false,
    };
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => return vec![wrong(error.line(), format!("is not JSON: {error}"), "fix the JSON")],
    };
    let Some(tools) = value.as_array().or_else(|| value.get("tools").and_then(Value::as_array)) else {
        let fix = "write [{\"name\", \"description\", \"inputSchema\"}, …]";
        return vec![wrong(1, "is not a list of tools".into(), fix)];
    };
    let mut names: Vec<&str> = Vec::new();
    let mut problems = Vec::new();
    for tool in tools {
        // OpenAI wraps each tool once more.
        let tool = tool.get("function").unwrap_or(tool);
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        let line = text.lines().position(|line| line.contains(&format!("\"{name}\""))).map_or(1, |index| index + 1);
        if names.contains(&name) {
            problems.push(wrong(line, format!("two tools are called \"{name}\""), "rename one of them"));
        }
        names.push(name);
        problems.extend(tool_problems(name, tool, line));
    }
    problems
}

fn tool_problems(name: &str, tool: &Value, line: usize) -> Vec<definition::DefinitionProblem> {
    let words = tool.get("description").and_then(Value::as_str).unwrap_or_default();
    let schema = ["inputSchema", "input_schema", "parameters"].iter().find_map(|key| tool.get(key));
    let schema = schema.cloned().unwrap_or_else(|| serde_json::json!({}));
    let spec = Spec::new(name, Manual::plain(name, words), schema);
    let line = Some(line);
    let broken = schema_rules::check(&spec).into_iter().map(|broken| definition::DefinitionProblem {
        line,
        what: format!("{name}: {}: {}", broken.at, broken.rule),
        fix: broken.fix,
        is_warning: broken.is_advice,
    });
    let refused = ProviderDialect::ALL.into_iter().filter_map(|provider| {
        let quarantined = lower(&ToolOffer::of(&spec), provider).err()?;
        let what = format!("{name}: cannot be offered to {provider}");
        Some(definition::DefinitionProblem { line, what, fix: quarantined.reason, is_warning: false })
    });
    broken.chain(refused).collect()
}
