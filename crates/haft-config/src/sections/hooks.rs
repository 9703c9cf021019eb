//! Hooks that run commands, from `config.toml`: `[[hooks.PreToolUse]]` and `[[hooks.PostToolUse]]`.
//!
//! Not here: running hooks (`haft-runtime`), deciding whether the hooks of a project count (`haft-workspace`).

use std::path::{Path, PathBuf};
use std::time::Duration;

use haft_workspace::project::files_named;
use haft_workspace::state::check_script;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use toml::Spanned;

use crate::file::Mistake;

/// How long a hook may run, where nothing is set.
const TIME: f64 = 60.0;
/// The longest time that may be set, in seconds.
const LONGEST: f64 = 600.0;
/// Longest name, in characters.
const LONGEST_NAME: usize = 64;
/// Longest command, in bytes.
const LONGEST_COMMAND: usize = 16 * 1024;
/// Largest pattern, compiled, in bytes.
const LARGEST_PATTERN: usize = 1 << 20;

/// A hook that is a command.
#[derive(Clone, Debug)]
pub struct HookSetting {
    /// When it runs.
    pub event: HookEvent,
    /// What refusals call it: its name, or else its matcher.
    pub name: String,
    /// The whole names of the tools that it is for; nothing means all.
    pub tools: Option<Regex>,
    /// What `sh` runs.
    pub command: String,
    /// How long it may run.
    pub time: Duration,
    /// Whether it reaches the network.
    pub network: bool,
    /// What it may read outside the workspace.
    pub readable: Vec<PathBuf>,
    /// Who wrote it.
    pub whose: HookOwner,
}

/// When a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookEvent {
    /// Before a call.
    PreToolUse,
    /// After a call that worked.
    PostToolUse,
}

/// The author of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookOwner {
    /// The user.
    User,
    /// The project; the user trusted it.
    Project,
}

/// The hooks of a file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HooksSection {
    #[serde(default, rename = "PreToolUse")]
    before: Vec<HookEntry>,
    #[serde(default, rename = "PostToolUse")]
    after: Vec<HookEntry>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HookEntry {
    name: Option<HookName>,
    #[serde(default)]
    matcher: Matcher,
    command: Spanned<CommandText>,
    #[serde(default)]
    timeout: Seconds,
    network: Option<Spanned<bool>>,
}

impl HooksSection {
    /// Returns the hooks of the user's file; what their commands name outside the workspace they may read.
    pub(crate) fn of_user(self, config_folder: &Path, home: &Path) -> Vec<HookSetting> {
        let readable = |command: &str| {
            let mut readable = files_named(command, home);
            readable.push(config_folder.join("hooks"));
            readable
        };
        let hooks = self.entries().map(|(event, entry)| {
            let hook = entry.setting(event, HookOwner::User);
            HookSetting { readable: readable(&hook.command), ..hook }
        });
        hooks.collect()
    }

    /// Finds a script in the commands of the user's file that another user can change; returns line, problem and fix.
    pub(crate) fn foreign_script(&self, text: &str, home: &Path) -> Option<(usize, String, String)> {
        self.before.iter().chain(&self.after).find_map(|entry| {
            let foreign = |script: PathBuf| Some((check_script(&script).err()?, script));
            let (error, script) = files_named(&entry.command.get_ref().0, home).into_iter().find_map(foreign)?;
            let line = text.get(..entry.command.span().start).unwrap_or_default().matches('\n').count() + 1;
            let problem = format!("a hook runs {}, and {error}", script.display());
            Some((line, problem, "let the hook name a script that only you can change".to_owned()))
        })
    }

    /// Returns the hooks of a project's file. What they reach is the user's to say.
    pub(crate) fn of_project(self, file: &Path, text: &str) -> Result<Vec<HookSetting>, Mistake> {
        let mut hooks = Vec::new();
        for (event, entry) in self.entries() {
            if let Some(network) = entry.network.as_ref().filter(|network| *network.get_ref()) {
                let line = text.get(..network.span().start).unwrap_or_default().matches('\n').count() + 1;
                let problem = "a hook of a project cannot reach the network".to_owned();
                let fix = "remove this line, or move the hook to your own config.toml".to_owned();
                return Err(Mistake { file: file.into(), line, problem, fix });
            }
            hooks.push(entry.setting(event, HookOwner::Project));
        }
        Ok(hooks)
    }

    fn entries(self) -> impl Iterator<Item = (HookEvent, HookEntry)> {
        let before = self.before.into_iter().map(|entry| (HookEvent::PreToolUse, entry));
        before.chain(self.after.into_iter().map(|entry| (HookEvent::PostToolUse, entry)))
    }
}

impl HookEntry {
    fn setting(self, event: HookEvent, whose: HookOwner) -> HookSetting {
        let name = self.name.map(|name| name.0);
        HookSetting {
            event,
            name: name.unwrap_or_else(|| self.matcher.text.chars().take(LONGEST_NAME).collect()),
            tools: self.matcher.tools,
            command: self.command.into_inner().0,
            time: Duration::from_secs_f64(self.timeout.0),
            network: self.network.is_some_and(Spanned::into_inner),
            readable: Vec::new(),
            whose,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
struct HookName(String);

impl TryFrom<String> for HookName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        let is_plain = !name.trim().is_empty() && !name.chars().any(char::is_control);
        if is_plain && name.chars().count() <= LONGEST_NAME {
            return Ok(Self(name));
        }
        Err(format!("a name has 1 to {LONGEST_NAME} characters on one line"))
    }
}

/// A pattern for whole names. Empty and `*` mean all.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
struct Matcher {
    text: String,
    tools: Option<Regex>,
}

impl Default for Matcher {
    fn default() -> Self {
        Self { text: "*".to_owned(), tools: None }
    }
}

impl TryFrom<String> for Matcher {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if matches!(text.as_str(), "" | "*") {
            return Ok(Self::default());
        }
        // Alone first: what is not a pattern must not become one by what is put around it.
        let compiled = |text: &str| RegexBuilder::new(text).size_limit(LARGEST_PATTERN).build();
        let tools = compiled(&text).and_then(|_| compiled(&format!("^(?:{text})$")));
        let tools = tools.map_err(|error| {
            let last = error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            format!("the matcher is not a regular expression: {last}")
        })?;
        Ok(Self { text, tools: Some(tools) })
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
struct CommandText(String);

impl TryFrom<String> for CommandText {
    type Error = String;

    fn try_from(command: String) -> Result<Self, Self::Error> {
        match command.trim() {
            "" => Err("the command is empty".to_owned()),
            text if text.contains('\0') => Err("the command contains a NUL character".to_owned()),
            text if text.len() > LONGEST_COMMAND => {
                Err("the command is longer than 16 KiB; put it into a script".to_owned())
            }
            text => Ok(Self(text.to_owned())),
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "f64")]
struct Seconds(f64);

impl Default for Seconds {
    fn default() -> Self {
        Self(TIME)
    }
}

impl TryFrom<f64> for Seconds {
    type Error = String;

    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        if (0.1..=LONGEST).contains(&seconds) {
            return Ok(Self(seconds));
        }
        Err(format!("the timeout must be from 0.1 to {LONGEST} seconds"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{check_config, parse};

    fn hooks(text: &str) -> Vec<HookSetting> {
        parse(text).expect("the file is in order").hooks.of_user(Path::new("/c"), Path::new("/h"))
    }

    fn told(text: &str) -> String {
        let (line, problem, _) = check_config(text).expect_err("there is a mistake");
        format!("{line}: {problem}")
    }

    #[test]
    fn a_hook_has_sensible_defaults() {
        let hooks = hooks("[[hooks.PostToolUse]]\ncommand = \"b\"\n[[hooks.PreToolUse]]\ncommand = \"a\"\n");
        let told: Vec<_> = hooks.iter().map(|hook| (hook.event, hook.name.as_str(), hook.command.as_str())).collect();
        assert_eq!(told, [(HookEvent::PreToolUse, "*", "a"), (HookEvent::PostToolUse, "*", "b")]);
        assert_eq!((hooks[0].time.as_secs(), hooks[0].network, hooks[0].tools.is_none()), (60, false, true));
    }

    #[test]
    fn a_matcher_describes_whole_names() {
        let hooks = hooks("[[hooks.PreToolUse]]\nmatcher = \"bash|write.*\"\ncommand = \"a\"\ntimeout = 2.5\n");
        let tools = hooks[0].tools.as_ref().expect("there is a pattern");
        assert_eq!(
            ["bash", "write_file", "rebash", "bashes"].map(|name| tools.is_match(name)),
            [true, true, false, false]
        );
        assert_eq!((hooks[0].name.as_str(), hooks[0].time.as_millis()), ("bash|write.*", 2500));
    }

    #[test]
    fn a_mistake_is_told_with_its_line() {
        let hook = |line: &str| format!("[[hooks.PreToolUse]]\ncommand = \"a\"\n{line}\n");
        assert!(told(&hook("matcher = \"(\"")).starts_with("3: the matcher is not a regular expression: unclosed"));
        assert!(told(&hook("matcher = \"a)(b\"")).starts_with("3: the matcher is not a regular expression"));
        assert_eq!(told(&hook("timeout = 601")), "3: the timeout must be from 0.1 to 600 seconds");
        assert_eq!(told(&hook("timeout = 0")), "3: the timeout must be from 0.1 to 600 seconds");
        assert_eq!(told(&hook("name = \"\"")), "3: a name has 1 to 64 characters on one line");
        assert!(told(&hook("comand = \"a\"")).starts_with("3: unknown field `comand`"));
        assert_eq!(told("[[hooks.PreToolUse]]\ncommand = \" \"\n"), "2: the command is empty");
        assert!(told("[[hooks.PreToolUse]]\nname = \"a\"\n").contains("`command` is missing"));
        assert!(told("[[hooks.PreTool]]\ncommand = \"a\"\n").contains("unknown field `PreTool`"));
    }

    #[test]
    fn the_hook_of_a_project_reaches_nothing() {
        let text = "[[hooks.PreToolUse]]\ncommand = \"a\"\nnetwork = true\n";
        let section = parse(text).expect("the file is in order").hooks;
        let mistake = section.of_project(Path::new("p"), text).expect_err("it is refused");
        assert_eq!((mistake.line, mistake.problem.as_str()), (3, "a hook of a project cannot reach the network"));
        let text = "[[hooks.PreToolUse]]\ncommand = \"/etc/passwd\"\n";
        let section = parse(text).expect("the file is in order").hooks;
        let hooks = section.of_project(Path::new("p"), text).expect("it is in order");
        assert_eq!((hooks[0].readable.len(), hooks[0].whose), (0, HookOwner::Project));
    }
}
