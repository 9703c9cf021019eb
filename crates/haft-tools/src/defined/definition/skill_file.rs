//! Reads `SKILL.md`: instructions for a kind of task, in the form that people already use.
//!
//! The file begins with a frontmatter in YAML. The rest is Markdown, which a model reads when it needs the skill. Other
//! programs have other keys, so an unknown key is a warning. haft adds `effects` and `timeout` for the scripts beside the
//! file: they mean the same as in a definition.
//!
//! Not here: finding skills and trusting them (the host), giving them to a model (`skill`).

use std::time::Duration;

use haft_contract::text::closest::closest;
use haft_contract::text::visible::{is_deceptive, visible};
use serde_json::{Value, json};

use super::syntax::fields::{Fields, Problems};
use super::syntax::node::{DefinitionNode, DefinitionValue};
use super::{DeclaredEffect, DefinitionProblem, effects};

/// Most characters of a name.
const LONGEST_NAME: usize = 64;
/// Most characters of a description.
const LONGEST_DESCRIPTION: usize = 1_024;
/// Most seconds that a script may run.
const LONGEST_RUN: u64 = 24 * 60 * 60;
/// What stands above and below the frontmatter.
const FENCE: &str = "---";

/// The keys that haft reads.
const KEYS: [&str; 7] =
    ["name", "description", "license", "allowed-tools", "effects", "timeout", "disable-model-invocation"];
/// Keys that other programs read.
const OF_OTHERS: [&str; 18] = [
    "agent",
    "argument-hint",
    "arguments",
    "author",
    "compatibility",
    "context",
    "dependencies",
    "effort",
    "hooks",
    "metadata",
    "mode",
    "model",
    "paths",
    "shell",
    "tags",
    "user-invocable",
    "version",
    "when_to_use",
];

/// A skill as its `SKILL.md` describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillFile {
    /// The name by which a model asks for it.
    pub name: String,
    /// What it is for, and when to use it.
    pub description: String,
    /// The licence, where the file names one.
    pub license: Option<String>,
    /// Tools that other programs let it use without a question. They grant nothing here.
    pub allowed_tools: Vec<String>,
    /// What its scripts touch: nothing if the list is empty; unknown if there is no list.
    pub effects: Option<Vec<DeclaredEffect>>,
    /// How long a script may run.
    pub timeout: Option<Duration>,
    /// Whether it is left out of the list that a model gets. Its name works all the same.
    pub is_unlisted: bool,
    /// The text below the frontmatter.
    pub body: String,
}

impl SkillFile {
    /// Says what its scripts may do.
    pub fn limits_of_scripts(&self) -> String {
        match self.effects.as_deref() {
            None => "They declare no effects, so haft judges each run as an unknown program.".to_owned(),
            Some([]) => "They only compute: they read and change no file of the workspace.".to_owned(),
            Some(effects) => {
                let told: Vec<String> = effects.iter().map(DeclaredEffect::to_string).collect();
                format!("They can {}, and nothing else.", told.join(", "))
            }
        }
    }
}

/// A `SKILL.md` that was looked through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckedSkill {
    /// The skill, where nothing but warnings was found.
    pub skill: Option<SkillFile>,
    /// Everything that was found, in the order of the text.
    pub problems: Vec<DefinitionProblem>,
}

/// Looks through the text of a `SKILL.md`. The folder that holds it gives the name where the file has none.
pub fn check_skill(text: &str, folder: &str) -> CheckedSkill {
    let mut problems = Problems::default();
    let skill = read(text, folder, &mut problems).filter(|_| !problems.has_errors());
    problems.0.sort_by_key(|problem| problem.line);
    CheckedSkill { skill, problems: problems.0 }
}

/// The arguments of a script, as its effects name them.
pub(crate) fn script_schema() -> Value {
    json!({ "type": "object", "properties": { "arguments": { "type": "array", "items": { "type": "string" } } } })
}

fn read(text: &str, folder: &str, problems: &mut Problems) -> Option<SkillFile> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (frontmatter, body) = parts(text, problems)?;
    let node = match DefinitionNode::from_yaml(&frontmatter) {
        Ok(node) => node,
        Err(problem) => {
            problems.0.push(problem);
            return None;
        }
    };
    if !matches!(node.value, DefinitionValue::Map(_)) {
        let what = format!("the frontmatter is {}, but it is a map", node.sort());
        problems.error(Some(node.line.unwrap_or(1).max(2)), what, "write name: NAME and description: TEXT");
        return None;
    }
    check_keys(&node, problems);
    let all: Vec<&str> = node.entries().iter().map(|(key, _)| key.name.as_str()).collect();
    let fields = Fields::of(&node, &all, &[], problems);
    let skill = SkillFile {
        name: name(&fields, folder, problems),
        description: description(&fields, problems),
        license: fields.text("license", problems),
        allowed_tools: allowed_tools(&fields, problems),
        effects: effects::read(&fields, &script_schema(), problems),
        timeout: fields.seconds("timeout", LONGEST_RUN, problems),
        is_unlisted: fields.flag("disable-model-invocation", problems),
        body: body.trim().to_owned(),
    };
    if skill.body.is_empty() {
        problems.warn(None, "there are no instructions below the frontmatter", "write what to do, in Markdown");
    }
    check_body(text, body, problems);
    Some(skill)
}

/// Returns the frontmatter, with as many lines above it as the file has, and the text below it.
fn parts<'t>(text: &'t str, problems: &mut Problems) -> Option<(String, &'t str)> {
    let form = "begin the file with a line ---, name: NAME, description: TEXT, and a line ---";
    let Some((first, rest)) = text.split_once('\n').filter(|(first, _)| first.trim_end() == FENCE) else {
        problems.error(Some(1), "the file does not begin with a frontmatter", form);
        return None;
    };
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == FENCE {
            // A comment stands for the first line, so that lines are counted as in the file.
            return Some((format!("#\n{}", &rest[..end]), &rest[end + line.len()..]));
        }
        end += line.len();
    }
    problems.error(
        Some(1),
        format!("the frontmatter that begins with {first:?} has no end"),
        "write a line --- below it",
    );
    None
}

/// Finds unknown keys. One that is nearly a key that haft enforces must not be passed over.
fn check_keys(node: &DefinitionNode, problems: &mut Problems) {
    let is_known = |name: &str| KEYS.contains(&name) || OF_OTHERS.contains(&name);
    for (key, _) in node.entries().iter().filter(|(key, _)| !is_known(&key.name)) {
        let what = format!("there is no key {:?}", key.name);
        match closest(&key.name, KEYS.into_iter()) {
            Some(near) => problems.error(key.line, what, format!("did you mean \"{near}\"?")),
            None => problems.warn(key.line, format!("haft does not know the key {:?}", key.name), "haft ignores it"),
        }
    }
    if let Some((key, _)) = node.entry("hooks") {
        problems.warn(key.line, "haft does not run the hooks of a skill", "write them in config.toml");
    }
}

fn name(fields: &Fields<'_>, folder: &str, problems: &mut Problems) -> String {
    let written = fields.text("name", problems);
    let line = fields.entry("name").and_then(|(key, _)| key.line).or(Some(1));
    let name = match written {
        Some(name) => {
            if name != folder {
                let what = format!("the skill is called {name:?}, and its folder {folder:?}");
                problems.warn(line, what, "give both the same name: other programs ask for that");
            }
            name
        }
        None => {
            problems.warn(
                line,
                "the skill has no name",
                format!("write name: {folder}; haft takes that of its folder"),
            );
            folder.to_owned()
        }
    };
    let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | ':' | ' ');
    let is_good = !name.is_empty() && name.chars().count() <= LONGEST_NAME && name.chars().all(is_letter);
    if !is_good {
        let what = format!("{name:?} cannot be the name of a skill: 1 to {LONGEST_NAME} letters, digits or -");
        problems.error(line, what, "write a name such as name: pdf-forms");
    }
    name
}

fn description(fields: &Fields<'_>, problems: &mut Problems) -> String {
    let line = fields.entry("description").and_then(|(key, _)| key.line).or(Some(1));
    let found = problems.0.len();
    let Some(text) = fields.text("description", problems) else {
        if problems.0.len() == found {
            let fix = "write description: what it does, and when to use it";
            problems.error(line, "nothing tells a model when to use the skill", fix);
        }
        return String::new();
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // An emoji may have such characters.
    if let Some(hidden) = text.chars().find(|letter| is_deceptive(*letter)).filter(|_| visible(&text) != text) {
        let what = format!("the description has a character that people do not see ({})", hidden.escape_unicode());
        problems.error(line, what, "remove it");
    }
    if text.chars().count() > LONGEST_DESCRIPTION {
        let what = format!("the description has more than {LONGEST_DESCRIPTION} characters");
        problems.warn(line, what, "shorten it; a model is shown its beginning");
    }
    text
}

/// Reads a list of texts, or the same as one text with commas or blanks.
fn allowed_tools(fields: &Fields<'_>, problems: &mut Problems) -> Vec<String> {
    match fields.entry("allowed-tools").map(|(_, node)| &node.value) {
        Some(DefinitionValue::Text(text)) => split_tools(text),
        Some(_) => {
            let texts = fields.texts("allowed-tools", "names of tools", problems).unwrap_or_default();
            texts.into_iter().map(|(name, _)| name).collect()
        }
        None => Vec::new(),
    }
}

/// Splits at commas and blanks, but not within parentheses: `Bash(git add *), Read`.
fn split_tools(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let is_end = |letter: char| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (letter == ',' || letter.is_whitespace())
    };
    text.split(is_end).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Reports what a person who reads the file does not see. A model is shown it in its escaped form.
fn check_body(text: &str, body: &str, problems: &mut Problems) {
    let Some(line) = body.lines().position(|line| visible(line) != line) else { return };
    let line = text[..text.len() - body.len()].matches('\n').count() + 1 + line;
    let what = "the text has characters that people do not see";
    problems.warn(Some(line), what, "remove them; a model is shown them in escaped form");
}

#[cfg(test)]
mod tests;
