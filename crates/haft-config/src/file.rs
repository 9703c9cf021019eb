//! Reads the user's settings from `config.toml`, and reports the place of every mistake.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use haft_workspace::state::NotUtf8;
use serde::Deserialize;

use crate::edits::toml_words;
use crate::profile::{Profile, SomeLimits};
use crate::sections::hooks::HooksSection;
use crate::sections::journal::JournalSection;
use crate::sections::mcp::McpSection;
use crate::sections::model::ModelSection;
use crate::sections::network::NetworkSection;
use crate::sections::price::Prices;
use crate::surroundings::SandboxSection;

/// What a configuration file may say.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfigFile {
    pub(crate) profile: Option<Profile>,
    #[serde(default)]
    pub(crate) limits: SomeLimits,
    #[serde(default)]
    pub(crate) sandbox: SandboxSection,
    #[serde(default)]
    pub(crate) commands: CommandsSection,
    #[serde(default)]
    pub(crate) journal: JournalSection,
    #[serde(default)]
    pub(crate) network: NetworkSection,
    #[serde(default)]
    pub(crate) hooks: HooksSection,
    #[serde(default)]
    pub(crate) model: ModelSection,
    #[serde(default)]
    pub(crate) prices: Prices,
    #[serde(default)]
    pub(crate) tools: ToolsSection,
    #[serde(default)]
    pub(crate) mcp: McpSection,
}

/// Which tools a model gets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolsSection {
    /// Deferred tools that are listed.
    #[serde(default)]
    pub show: Vec<String>,
}

/// How commands are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandsSection {
    /// Whether commands may run side by side where each has its own layer.
    #[serde(default = "yes")]
    pub overlap: bool,
    /// After how many seconds without a command a session of `haft exec` ends.
    #[serde(default = "usual_idle", deserialize_with = "seconds")]
    pub idle: Duration,
}

impl Default for CommandsSection {
    fn default() -> Self {
        Self { overlap: yes(), idle: usual_idle() }
    }
}

fn usual_idle() -> Duration {
    Duration::from_secs(15 * 60)
}

fn seconds<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let number = f64::deserialize(deserializer)?;
    let is_usual = (0.01..=1_000_000.0).contains(&number);
    is_usual
        .then(|| Duration::from_secs_f64(number))
        .ok_or_else(|| serde::de::Error::custom("must be a number of seconds, from 0.01 to 1000000"))
}

fn yes() -> bool {
    true
}

/// A mistake in a file, with its place and the fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
    /// How to fix it.
    pub fix: String,
}

impl Mistake {
    /// Says why a file cannot be read.
    pub(crate) fn unreadable(file: &Path, error: &io::Error) -> Self {
        let not_text = error.get_ref().and_then(|inner| inner.downcast_ref::<NotUtf8>());
        let line = not_text.map_or(1, |not_text| not_text.line);
        let said = error.to_string();
        let (problem, fix) = match (not_text, error.kind()) {
            (Some(_), _) => ("this line is not text in UTF-8".to_owned(), "save the file as UTF-8"),
            // Another user owns the file or can write it; the reason says what to do.
            (None, io::ErrorKind::PermissionDenied) if error.get_ref().is_some() => {
                let (reason, fix) = said.split_once("; ").unwrap_or((&said, "make it your own file"));
                (format!("haft does not use this file: {reason}"), fix)
            }
            (None, io::ErrorKind::PermissionDenied) => {
                ("cannot be read: permission denied".to_owned(), "give yourself the right to read it")
            }
            (None, _) => (format!("cannot be read: {error}"), "make it a readable text file"),
        };
        Self { file: file.into(), line, problem, fix: fix.to_owned() }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}; {}", self.file.display(), self.line, self.problem, self.fix)
    }
}

impl std::error::Error for Mistake {}

/// Reads a configuration file that may not be there.
pub(crate) fn load(path: &Path, home: &Path) -> Result<ConfigFile, Mistake> {
    let mistake = |line, problem: String, fix: &str| Mistake { file: path.into(), line, problem, fix: fix.to_owned() };
    match haft_workspace::state::read_config_file(path) {
        Ok(None) => Ok(ConfigFile::default()),
        Ok(Some(text)) => {
            let in_order = |file: ConfigFile| file.hooks.foreign_script(&text, home).map_or(Ok(file), Err);
            parse(&text).and_then(in_order).map_err(|(line, problem, fix)| mistake(line, problem, &fix))
        }
        Err(error) => Err(Mistake::unreadable(path, &error)),
    }
}

/// Checks the text of a configuration file; returns line, problem and fix.
pub fn check_config(text: &str) -> Result<(), (usize, String, String)> {
    parse(text).map(drop)
}

pub(crate) fn parse(text: &str) -> Result<ConfigFile, (usize, String, String)> {
    let file: ConfigFile = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        let (problem, fix) = toml_words::explain(error.message());
        (line, problem, fix)
    })?;
    let no_room = file.model.no_room().map(|mistake| ("reply_tokens", mistake));
    let nowhere = || file.model.server_is_nowhere().map(|mistake| ("server", mistake));
    if let Some((word, (problem, fix))) = no_room.or_else(nowhere) {
        return Err((line_with(text, word), problem, fix));
    }
    match file.mcp.mistake() {
        Some((name, problem, fix)) => Err((line_with(text, &name), format!("{problem} ({name})"), fix.to_owned())),
        None => Ok(file),
    }
}

/// Returns the first line that has this word, from 1.
pub(crate) fn line_with(text: &str, word: &str) -> usize {
    text.lines().position(|line| line.contains(word)).map_or(1, |line| line + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        let (line, problem, fix) = check_config(text).expect_err("there is a mistake");
        format!("{line}: {problem}; {fix}")
    }

    #[test]
    fn a_mistake_is_told_with_its_line_and_the_fix() {
        assert_eq!(told("profile = \"haft\"\n\n[limts]\n"), "3: unknown field `limts`; did you mean `limits`?");
        assert_eq!(told("[limits]\nread_line = 3\n"), "2: unknown field `read_line`; did you mean `read_lines`?");
        assert_eq!(told("[limits]\nread_lines = 0\n"), "2: must be at least 1; fix or remove this line");
        assert!(told("profile = \"haf\"\n").ends_with("did you mean `haft`?"));
        assert!(told("a = [\n").starts_with("2: ") || told("a = [\n").starts_with("1: "));
    }
}
