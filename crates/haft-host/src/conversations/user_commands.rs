//! Commands that users write as Markdown files: a name, arguments, and a prompt for the model.
//!
//! The user's own are in `commands/` of the settings folder, those of a project in `.haft/commands/`. A project's command
//! counts only with the content that the user trusts. A command gives the model a prompt; it never widens what a call may
//! do. Files in a folder are named after it: `git/commit.md` is `/git:commit`.
//!
//! Not here: haft's own slash commands (`haft-cli/src/terminal/input/slash.rs`).

mod expansion;
mod front_matter;

use std::collections::BTreeSet;
use std::path::Path;

use haft_contract::text::closest::closest;
use haft_model::conversation::Image;
use haft_workspace::project::FOLDER;
use haft_workspace::state::{list_config_folder, read_config_file};

use super::prompt_images::images_named;
use crate::host::Host;
use expansion::expanded;
use front_matter::FrontMatter;

/// How deep folders of commands are looked into.
const DEEPEST: usize = 3;
/// Longest first line that stands for a description, in characters.
const LONGEST_DESCRIPTION: usize = 80;

/// A command that a file describes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it does, on one line.
    pub description: String,
    /// The arguments that it takes, in the words of the file.
    pub argument_hint: Option<String>,
    /// The file, to be named to a person.
    pub file: String,
    model: Option<String>,
    tools: Option<Vec<String>>,
    prompt: String,
}

/// The commands of a user and of a trusted project.
#[derive(Clone, Debug, Default)]
pub struct UserCommands {
    commands: Vec<UserCommand>,
    /// What is wrong with files, a sentence each.
    pub notes: Vec<String>,
}

/// A prompt as it is given to a model, and what its command asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpandedPrompt {
    /// The words for the model.
    pub text: String,
    /// The model that the command names.
    pub model: Option<String>,
    /// The only tools that the model may use, by the names in the file.
    pub tools: Option<BTreeSet<String>>,
    /// The images that the line names.
    pub images: Vec<Image>,
}

impl ExpandedPrompt {
    /// Adds the images that a line of a person names.
    ///
    /// # Errors
    ///
    /// Fails when one of them cannot be shown to a model.
    pub fn with_images_of(self, line: &str, host: &Host) -> anyhow::Result<Self> {
        Ok(Self { images: images_named(line, &host.workspace)?, ..self })
    }
}

impl UserCommands {
    /// Reads all commands of a workspace.
    #[must_use]
    pub fn of(host: &Host) -> Self {
        let mut found = Self::default();
        // What a person wrote for all projects wins over a file of one project.
        found.read_folder(&host.settings.environment.config_folder.join("commands"), "", DEEPEST);
        let (of_project, told) = host.project_commands();
        found.notes.extend(told);
        let folder = format!("{FOLDER}/commands/");
        for (file, text) in of_project {
            let below = file.strip_prefix(&folder).unwrap_or(&file).to_owned();
            found.take(&below, &file, &text);
        }
        found.commands.sort_by(|one, other| one.name.cmp(&other.name));
        found
    }

    /// Returns the commands by their names.
    #[must_use]
    pub fn list(&self) -> &[UserCommand] {
        &self.commands
    }

    /// Returns the prompt that a line means: that of a command, or the line itself.
    ///
    /// # Errors
    ///
    /// Fails when the line begins like a command that does not exist.
    pub fn expand(&self, line: &str) -> anyhow::Result<ExpandedPrompt> {
        let Some((name, arguments)) = command_in(line) else {
            return Ok(ExpandedPrompt { text: line.to_owned(), ..ExpandedPrompt::default() });
        };
        match self.find(name) {
            Some(command) => Ok(command.expand(arguments)),
            None => anyhow::bail!("{}", self.unknown(name)),
        }
    }

    /// Finds a command by its name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&UserCommand> {
        self.commands.iter().find(|command| command.name == name)
    }

    fn unknown(&self, name: &str) -> String {
        let near = closest(name, self.commands.iter().map(|command| command.name.as_str()));
        let near = near.map(|near| format!("; did you mean /{near}?")).unwrap_or_default();
        let next = "commands are files such as .haft/commands/NAME.md; put a blank in front to send the line unchanged";
        let notes: String = self.notes.iter().map(|note| format!("\n{note}")).collect();
        format!("there is no command /{name}{near}; {next}{notes}")
    }

    fn read_folder(&mut self, folder: &Path, above: &str, depth: usize) {
        let paths = match list_config_folder(folder) {
            Ok(paths) => paths.unwrap_or_default(),
            Err(error) => {
                self.notes.push(format!("note: {} cannot be read: {error}", folder.display()));
                return;
            }
        };
        for path in paths {
            self.read_entry(&path, above, depth);
        }
    }

    fn read_entry(&mut self, path: &Path, above: &str, depth: usize) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return };
        let below = format!("{above}{name}");
        if !name.ends_with(".md") {
            if depth > 1 && !name.starts_with('.') {
                self.read_folder(path, &format!("{below}/"), depth - 1);
            }
            return;
        }
        let shown = path.display().to_string();
        match read_config_file(path) {
            Ok(text) => self.take(&below, &shown, &text.unwrap_or_default()),
            Err(error) => self.notes.push(format!("note: haft skips {shown}: it cannot be read: {error}")),
        }
    }

    /// Adds the command of a file, unless its name is taken.
    fn take(&mut self, below: &str, file: &str, text: &str) {
        let Some(stem) = below.strip_suffix(".md") else { return };
        let name = stem.replace('/', ":");
        if !is_name(&name) {
            self.notes.push(format!(
                "note: haft skips {file}: the name of a command has letters, digits, `-` and `_`; rename the file"
            ));
            return;
        }
        if let Some(other) = self.find(&name) {
            self.notes.push(format!("note: haft skips {file}: {} has the name /{name} already", other.file));
            return;
        }
        match UserCommand::read(name, file, text) {
            Ok(command) => self.commands.push(command),
            Err(why) => self.notes.push(format!("note: haft skips {file}: {why}")),
        }
    }
}

impl UserCommand {
    fn read(name: String, file: &str, text: &str) -> Result<Self, String> {
        let (front, prompt) = FrontMatter::split(text)?;
        if prompt.trim().is_empty() {
            return Err("it has no prompt; write the prompt below the frontmatter".to_owned());
        }
        let first = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let first: String = first.trim_start_matches('#').trim().chars().take(LONGEST_DESCRIPTION).collect();
        Ok(Self {
            name,
            description: front.text("description").unwrap_or(first),
            argument_hint: front.text("argument-hint"),
            file: file.to_owned(),
            model: front.text("model").filter(|model| model != "inherit"),
            tools: front.tools(),
            prompt: prompt.trim().to_owned(),
        })
    }

    /// Fills arguments into the prompt.
    #[must_use]
    pub fn expand(&self, arguments: &str) -> ExpandedPrompt {
        ExpandedPrompt {
            text: expanded(&self.prompt, arguments.trim()),
            model: self.model.clone(),
            tools: self.tools.as_ref().map(|tools| tools.iter().cloned().collect()),
            images: Vec::new(),
        }
    }
}

/// Splits a line that begins with the name of a command; a path is none.
#[must_use]
pub fn command_in(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix('/')?;
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (name, arguments) = rest.split_at(end);
    is_name(name).then_some((name, arguments.trim()))
}

fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        part.starts_with(char::is_alphanumeric) && part.chars().all(is_letter)
    };
    name.split(':').all(is_part) && name.chars().count() <= 64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(files: &[(&str, &str)]) -> UserCommands {
        let mut commands = UserCommands::default();
        files.iter().for_each(|(name, text)| commands.take(name, &format!("/c/{name}"), text));
        commands
    }

    #[test]
    fn a_command_has_a_name_a_description_and_a_prompt_with_arguments() {
        let text = "---\ndescription: Fixes an issue\nargument-hint: [number] [priority]\nmodel: small\nallowed-tools: Bash(git add:*, x), read_file\n---\nFix issue $1 ($2). All: $ARGUMENTS\n";
        let commands = commands(&[("fix.md", text), ("git/commit.md", "# Commit\n\nWrite a commit.")]);
        let fix = commands.find("fix").expect("it is one");
        assert_eq!(
            (fix.description.as_str(), fix.argument_hint.as_deref()),
            ("Fixes an issue", Some("[number] [priority]"))
        );
        let tools = ["Bash", "read_file"].map(str::to_owned);
        let expected = ExpandedPrompt {
            text: "Fix issue 47 (very high). All: 47 'very high'".into(),
            model: Some("small".into()),
            tools: Some(tools.into()),
            images: Vec::new(),
        };
        assert_eq!(commands.expand("/fix 47 'very high'").expect("it is one"), expected);
        assert_eq!(commands.find("git:commit").expect("it is one").description, "Commit");
    }

    #[test]
    fn a_line_that_is_no_command_stays_and_an_unknown_command_is_an_error() {
        let commands = commands(&[("fix.md", "Fix it.")]);
        for line in ["fix it", "/etc/passwd is what?", "/ is the root", " /fix with a blank", ""] {
            assert_eq!(commands.expand(line).expect("it is none").text, line);
        }
        let error = commands.expand("/fxi 3").expect_err("it is unknown").to_string();
        assert!(error.starts_with("there is no command /fxi; did you mean /fix?"), "{error}");
    }

    #[test]
    fn a_file_that_cannot_be_a_command_is_skipped_with_the_reason() {
        let commands = commands(&[
            ("a b.md", "x"),
            ("empty.md", "---\ndescription: d\n---\n"),
            ("open.md", "---\ndescription: d\n"),
            ("fine.md", "one"),
            ("fine.md", "two"),
            ("notes.txt", "no command"),
        ]);
        assert_eq!(commands.list().len(), 1);
        let notes = commands.notes.join("\n");
        insta::assert_snapshot!(notes, @r"
        note: haft skips /c/a b.md: the name of a command has letters, digits, `-` and `_`; rename the file
        note: haft skips /c/empty.md: it has no prompt; write the prompt below the frontmatter
        note: haft skips /c/open.md: its frontmatter has no end; add a line `---`
        note: haft skips /c/fine.md: /c/fine.md has the name /fine already
        ");
    }
}
