//! Gives a model the skills of the user and of the project: a short list in the words of the tool, the rest on demand.
//!
//! Texts come from the folder that the host passes; for a project that is the copy that the user trusts. A script runs as
//! the program of a definition would, limited to the `effects` of the frontmatter ([`script_tool`]).
//!
//! The list also has tools that are listed in short (`as_skill: true`): a model can ask for the whole text of each.
//!
//! Not here: finding skills, trusting them, resolving two skills with one name (`haft-host`).

use std::sync::Arc;

use haft_contract::prelude::*;
use haft_contract::text::closest::closest;
use haft_contract::text::visible::visible;
use haft_contract::tool::{AnyTool, ToolInvocation};
use serde_json::json;

use super::bound::{DefinitionOrigin, INTERPRETED, ScriptRun, script_tool};
use super::definition::SkillFile;

/// Most bytes of the list of skills in the words of the tool: they are in every request.
const MOST_LISTED: usize = 1_300;
/// Fewest characters of a description in that list.
const SHORTEST: usize = 60;
/// Most files that the text of a skill names.
const MOST_NAMED: usize = 60;

/// A skill that a model can load.
#[derive(Clone)]
pub struct LoadedSkill {
    /// What its `SKILL.md` says.
    pub file: SkillFile,
    /// Its folder, as people know it.
    pub place: String,
    /// The files of that folder.
    pub files: Arc<dyn SkillFolder>,
    /// Where its scripts are at home.
    pub home: DefinitionOrigin,
}

/// The files of a skill.
pub trait SkillFolder: Send + Sync + 'static {
    /// Fails where the skill does not count any more.
    ///
    /// # Errors
    ///
    /// Returns what changed, and what the user can do.
    fn check(&self) -> Result<(), ToolError>;

    /// Lists all files but `SKILL.md`, by their paths from the folder.
    ///
    /// # Errors
    ///
    /// Fails where the folder cannot be listed.
    fn list(&self) -> Result<Vec<SkillEntry>, ToolError>;

    /// Reads a file that was listed.
    ///
    /// # Errors
    ///
    /// Fails where it cannot be read.
    fn read(&self, name: &str) -> Result<Vec<u8>, ToolError>;

    /// Holds a script to what the user trusts.
    ///
    /// # Errors
    ///
    /// Fails where others could have changed it.
    fn gated(&self, script: Arc<dyn AnyTool>) -> Result<Arc<dyn AnyTool>, ToolError>;
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillEntry {
    /// Its path from the folder of the skill.
    pub name: String,
    /// Whether it may be executed.
    pub is_executable: bool,
}

impl SkillEntry {
    /// Returns whether it can be run.
    pub fn is_script(&self) -> bool {
        let ending = self.name.rsplit_once('.').map_or("", |(_, ending)| ending);
        self.is_executable || INTERPRETED.contains(&ending)
    }
}

/// A tool that is listed in short, with its whole text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolInShort {
    /// Its name.
    pub name: String,
    /// Its description in full.
    pub words: String,
}

/// The tool that loads skills.
pub struct Skill {
    skills: Vec<LoadedSkill>,
    in_short: Vec<ToolInShort>,
}

impl Skill {
    /// Takes the skills of a session; nothing where there are none.
    pub fn of(skills: Vec<LoadedSkill>, in_short: Vec<ToolInShort>) -> Option<Self> {
        (!skills.is_empty() || !in_short.is_empty()).then_some(Self { skills, in_short })
    }

    fn find(&self, name: &str) -> Result<&LoadedSkill, ToolError> {
        let wanted = name.trim();
        let is_it = |skill: &&LoadedSkill| skill.file.name == wanted;
        let is_nearly = |skill: &&LoadedSkill| skill.file.name.eq_ignore_ascii_case(wanted);
        let found = self.skills.iter().find(is_it).or_else(|| self.skills.iter().find(is_nearly));
        found.ok_or_else(|| self.unknown(wanted))
    }

    fn unknown(&self, name: &str) -> ToolError {
        let names = || self.skills.iter().map(|skill| &*skill.file.name);
        let next = match closest(name, names()) {
            Some(near) => format!("load \"{near}\""),
            None => "leave \"name\" out to see all skills; those of a project count once the user trusts it".to_owned(),
        };
        let shown: String = name.chars().take(100).collect();
        ToolError::new(ErrorKind::BadArguments, format!("There is no skill \"{shown}\"."), Next::FixArguments(next))
    }

    /// Returns the list that stands in the words of the tool.
    fn listed(&self) -> String {
        let shown: Vec<&LoadedSkill> = self.skills.iter().filter(|skill| !skill.file.is_unlisted).collect();
        let mut words = String::new();
        let room = MOST_LISTED / shown.len().max(1);
        for (number, skill) in shown.iter().enumerate() {
            let SkillFile { name, description, .. } = &skill.file;
            let most = room.saturating_sub(name.len() + 8).max(SHORTEST);
            let line = format!("\n- {name}: {}", shortened(description, most));
            if words.len() + line.len() > MOST_LISTED {
                let left = shown.len() - number;
                words.push_str(&format!("\n- and {left} more: call this tool without arguments"));
                break;
            }
            words.push_str(&line);
        }
        let names: Vec<&str> = self.in_short.iter().map(|tool| &*tool.name).collect();
        if !names.is_empty() {
            let names = shortened(&names.join(", "), MOST_LISTED / 4);
            words.push_str(&format!("\n\nIt also has the whole description of these tools: {names}."));
        }
        words
    }

    fn all(&self) -> ToolOutput {
        let line = |skill: &LoadedSkill| format!("- {}: {}", skill.file.name, skill.file.description);
        let tools = self.in_short.iter().map(|tool| format!("- {}: a tool, described in full", tool.name));
        let lines: Vec<String> = self.skills.iter().map(line).chain(tools).collect();
        let names: Vec<&str> = self.skills.iter().map(|skill| &*skill.file.name).collect();
        ToolOutput::text(lines.join("\n")).with_data(json!({ "skills": names }))
    }
}

/// The arguments of `skill`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// The skill. Default: lists all.
    name: Option<String>,
    /// A file of the skill to read.
    file: Option<String>,
    /// A script of the skill to run.
    run: Option<String>,
    /// Its arguments.
    arguments: Option<Vec<String>>,
    /// Its standard input.
    input: Option<String>,
}

impl Tool for Skill {
    const NAME: &'static str = "skill";
    const DOES: AtMost = AtMost::Anything;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("name", &["skill", "skill_name", "command"]),
        ("file", &["path", "file_path", "reference", "resource"]),
        ("run", &["script", "script_path"]),
        ("arguments", &["args", "argv"]),
        ("input", &["stdin"]),
    ];
    const OTHER_NAMES: &'static [&'static str] = &["activate_skill", "load_skill", "use_skill", "read_skill"];
    type Args = Args;
    /// A script that was planned; nothing where only text is returned.
    type Draft = Option<Box<dyn ToolInvocation>>;

    fn manual(&self) -> Manual {
        let mut manual = Manual::read(include_str!("skill.md"));
        manual.words.push_str(&self.listed());
        manual
    }

    async fn plan(&self, args: &Args, cx: &PlanContext<'_>) -> Result<(Plan, Self::Draft), ToolError> {
        let Some(script) = &args.run else {
            if args.arguments.is_some() || args.input.is_some() {
                let next = "name the script in \"run\"".to_owned();
                return Err(bad("\"arguments\" and \"input\" are for a script, and \"run\" names none.", next));
            }
            return Ok((Plan::new([]), None));
        };
        let Some(name) = &args.name else {
            return Err(bad("A script belongs to a skill, and \"name\" names none.", "add \"name\"".to_owned()));
        };
        if args.file.is_some() {
            return Err(bad("A call reads a file or runs a script, not both.", "make two calls".to_owned()));
        }
        let skill = self.find(name)?;
        skill.files.check()?;
        let entry = skill.entry(script)?;
        if !entry.is_script() {
            let what = format!("{} is not executable, and its name does not say which program runs it.", entry.name);
            return Err(bad(&what, format!("read it with \"file\": \"{}\"", entry.name)));
        }
        let run = ScriptRun {
            script: entry.name,
            is_executable: entry.is_executable,
            arguments: args.arguments.clone().unwrap_or_default(),
            input: args.input.clone().unwrap_or_default(),
        };
        let paths = run.paths();
        let tool = skill.files.gated(script_tool(&skill.file, run, skill.home.clone())?)?;
        let mut call = tool.bind(&paths)?;
        let plan = call.plan(cx).await?;
        Ok((plan, Some(call)))
    }

    async fn run(&self, args: Args, draft: Self::Draft, cx: &RunContext<'_>) -> Result<ToolOutput, ToolError> {
        if let Some(script) = draft {
            return script.run(cx).await;
        }
        let Some(name) = &args.name else { return Ok(self.all()) };
        let tool = self.in_short.iter().find(|tool| tool.name == name.trim());
        match (self.find(name), tool, &args.file) {
            (Ok(skill), _, Some(file)) => skill.text_of(file),
            (Ok(skill), _, None) => skill.instructions(),
            (Err(_), Some(tool), _) => Ok(ToolOutput::text(visible(&tool.words).into_owned())),
            (Err(error), None, _) => Err(error),
        }
    }
}

impl LoadedSkill {
    /// Finds a file by its path from the folder of the skill, or by the whole path.
    fn entry(&self, path: &str) -> Result<SkillEntry, ToolError> {
        let path = path.trim();
        let wanted = path.strip_prefix(&self.place).map_or(path, |rest| rest.trim_start_matches('/'));
        let wanted = wanted.trim_start_matches("./");
        let entries = self.files.list()?;
        entries.iter().find(|entry| entry.name == wanted).cloned().ok_or_else(|| {
            let what = format!("The skill \"{}\" has no file {wanted}.", self.file.name);
            let names = entries.iter().map(|entry| &*entry.name);
            let next = match closest(wanted, names.clone()) {
                Some(near) => format!("use {near}"),
                None if entries.is_empty() => "it has instructions only".to_owned(),
                None => format!("use one of {}", names.take(MOST_NAMED).collect::<Vec<_>>().join(", ")),
            };
            bad(&what, next)
        })
    }

    fn text_of(&self, file: &str) -> Result<ToolOutput, ToolError> {
        if file.trim() == SKILL_FILE {
            return self.instructions();
        }
        self.files.check()?;
        let entry = self.entry(file)?;
        let bytes = self.files.read(&entry.name)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let what = format!("{} is not text: {} bytes.", entry.name, error.as_bytes().len());
            let next = "run a script of the skill that uses it, or do without".to_owned();
            ToolError::new(ErrorKind::Binary, what, Next::FixArguments(next))
        })?;
        Ok(ToolOutput::text(visible(&text).into_owned())
            .with_data(json!({ "skill": self.file.name, "file": entry.name })))
    }

    fn instructions(&self) -> Result<ToolOutput, ToolError> {
        self.files.check()?;
        let entries = self.files.list()?;
        let (scripts, others): (Vec<&SkillEntry>, Vec<&SkillEntry>) =
            entries.iter().partition(|entry| entry.is_script());
        let name = &self.file.name;
        let mut text = visible(&self.file.body).into_owned();
        text.push_str(&format!("\n\n[Skill \"{name}\" from {}]", self.place));
        if let Some(first) = others.first() {
            let call = json!({ "name": name, "file": first.name });
            text.push_str(&format!("\n[Its files: {}. To read one, call \"skill\" with {call}]", named(&others)));
        }
        if let Some(first) = scripts.first() {
            let call = json!({ "name": name, "run": first.name, "arguments": [] });
            let names = named(&scripts);
            text.push_str(&format!(
                "\n[Its scripts: {names}. To run one in the workspace, call \"skill\" with {call}. {}]",
                self.file.limits_of_scripts()
            ));
        }
        let names = |entries: &[&SkillEntry]| entries.iter().map(|entry| entry.name.clone()).collect::<Vec<_>>();
        let data = json!({ "skill": name, "files": names(&others), "scripts": names(&scripts) });
        Ok(ToolOutput::text(text).with_data(data))
    }
}

/// The file that makes a folder a skill.
pub const SKILL_FILE: &str = "SKILL.md";

fn named(entries: &[&SkillEntry]) -> String {
    let names: Vec<String> = entries.iter().take(MOST_NAMED).map(|entry| visible(&entry.name).into_owned()).collect();
    match entries.len().saturating_sub(MOST_NAMED) {
        0 => names.join(", "),
        left => format!("{} and {left} more", names.join(", ")),
    }
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

fn bad(what: &str, next: String) -> ToolError {
    ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next))
}

#[cfg(test)]
mod tests;
