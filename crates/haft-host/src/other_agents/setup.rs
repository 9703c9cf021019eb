//! Sets up other agents to ask haft: writes the lines of the guard into their settings, and removes them on request.
//!
//! haft shows every change before it makes it. It records the change in the journal of the agent's own folder, so
//! `haft setup --remove` restores the file exactly.
//!
//! Not here: the lines themselves (`guard::setup_lines`), asking the user (`haft-cli`).

mod json_text;
mod obstacles;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use haft_config::environment::{own_program, variable};
use haft_config::settings::Settings;
use haft_contract::call::CallId;
use haft_contract::doors::door::{OldChanges, Provenance, Purpose, SessionName};
use haft_contract::doors::history::Undone;
use haft_workspace::files::{AgentEdit, Workspace};
use haft_workspace::history::{ChangeSetKind, UndoRequest, UndoSelection, WorkspaceHistory};
use haft_workspace::state::{
    WorkspaceState, make_own_folder, read_project_file, real_path_of, replace_own_file, stamps_of,
};
use serde_json::{Value, json};

use super::guard::GuardMode;
use super::guard::setup_lines;
use super::guard::setup_lines::{codex_exception, hook_command};
use crate::options::Options;

/// The tool that the log names.
const TOOL: &str = "setup";
/// Most change sets of an agent's folder that are looked through.
const MOST_SETS: usize = 1_000;

/// An agent that haft can set up.
#[derive(Debug)]
pub struct SetupAgent {
    /// Its name on the command line.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// The command that starts it.
    program: &'static str,
    /// The variable that names its folder, if it has one, and its usual folder below the home.
    folder: (Option<&'static str>, &'static str),
    /// The file in that folder.
    file: &'static str,
    how: SetupMethod,
    /// How far haft covers it, as text for people.
    covered: &'static str,
}

/// The method by which an agent is set up: a hook, a plugin or a server.
#[derive(Clone, Copy, Debug)]
enum SetupMethod {
    /// It asks haft about its own tools.
    Hook,
    /// It does so through a plugin of haft, which is the whole file.
    Plugin(&'static str),
    /// It gets haft's tools.
    Server(fn(&str) -> Value),
}

const ALL: &str = "calls are judged; commands are sandboxed and undoable; edits are undoable";

/// The agents.
static AGENTS: [SetupAgent; 7] = [
    SetupAgent {
        name: "claude",
        title: "Claude Code",
        program: "claude",
        folder: (Some("CLAUDE_CONFIG_DIR"), ".claude"),
        file: "settings.json",
        how: SetupMethod::Hook,
        covered: ALL,
    },
    SetupAgent {
        name: "codex",
        title: "Codex",
        program: "codex",
        folder: (Some("CODEX_HOME"), ".codex"),
        file: "hooks.json",
        how: SetupMethod::Hook,
        covered: ALL,
    },
    SetupAgent {
        name: "gemini",
        title: "Gemini CLI",
        program: "gemini",
        folder: (None, ".gemini"),
        file: "settings.json",
        how: SetupMethod::Hook,
        covered: ALL,
    },
    SetupAgent {
        name: "cursor",
        title: "Cursor",
        program: "cursor",
        folder: (None, ".cursor"),
        file: "hooks.json",
        how: SetupMethod::Hook,
        covered: "calls are judged; edits are undoable; commands are only judged",
    },
    SetupAgent {
        name: "copilot",
        title: "Copilot CLI",
        program: "copilot",
        folder: (None, ".copilot"),
        file: "hooks/haft.json",
        how: SetupMethod::Hook,
        covered: ALL,
    },
    SetupAgent {
        name: "opencode",
        title: "opencode",
        program: "opencode",
        folder: (None, ".config/opencode"),
        file: "plugin/haft.js",
        how: SetupMethod::Plugin(include_str!("setup/opencode.js")),
        covered: ALL,
    },
    SetupAgent {
        name: "crush",
        title: "Crush",
        program: "crush",
        folder: (None, ".config/crush"),
        file: "crush.json",
        how: SetupMethod::Server(
            |program| json!({ "mcp": { "haft": { "type": "stdio", "command": program, "args": ["mcp", "serve"] } } }),
        ),
        covered: "haft's own tools are judged, sandboxed and undoable; the agent's tools are not covered",
    },
];

/// A change to one file of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The file.
    pub path: PathBuf,
    /// Its text now; nothing if there is no such file.
    pub before: Option<String>,
    /// Its text afterwards.
    pub after: String,
    /// Why this file changes, if that needs an explanation.
    pub why: Option<&'static str>,
}

/// The state of an agent on this machine.
#[derive(Debug)]
pub struct SetupStatus {
    /// The agent.
    pub agent: &'static SetupAgent,
    /// Whether its command or its folder is there.
    pub is_installed: bool,
    /// How far haft covers it; nothing if it is not set up.
    pub covered: Option<&'static str>,
    /// What keeps it from running haft's hook, a sentence each.
    pub obstacles: Vec<String>,
}

/// Reads the name of an agent.
///
/// # Errors
///
/// Lists the agents if there is none of that name.
pub fn agent(name: &str) -> Result<&'static SetupAgent, String> {
    AGENTS.iter().find(|agent| agent.name == name).ok_or_else(|| {
        let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
        format!("haft does not know that agent; choose one of {}", names.join(", "))
    })
}

/// Sets agents up for one user.
pub struct Setup {
    home: PathBuf,
    state_folder: PathBuf,
    /// The folder in which an agent would be started.
    project: PathBuf,
}

impl Setup {
    /// Finds the folders of the user.
    ///
    /// # Errors
    ///
    /// Fails if the settings of haft cannot be read.
    pub fn open(options: &Options) -> anyhow::Result<Self> {
        let settings = Settings::read(options.profile)?;
        let state_folder = options.state_folder.clone().unwrap_or(settings.environment.state_folder);
        let project = real_path_of(options.folder());
        Ok(Self { home: settings.surroundings.home, state_folder, project })
    }

    /// Says of each agent whether it is there, and whether it is set up.
    #[must_use]
    pub fn status(&self) -> Vec<SetupStatus> {
        let status = |agent: &'static SetupAgent| SetupStatus {
            agent,
            is_installed: is_installed(&self.folder(agent), agent.program),
            covered: self.is_set_up(agent).then(|| self.covered(agent)),
            obstacles: self.obstacles(agent),
        };
        AGENTS.iter().map(status).collect()
    }

    /// Says how far haft covers an agent that is set up.
    #[must_use]
    pub fn covered(&self, agent: &SetupAgent) -> &'static str {
        let text = read_project_file(&self.file(agent)).ok().flatten().unwrap_or_default();
        match agent.name {
            _ if text.contains(" guard") && text.contains("--judge-only") => "calls are only judged",
            "codex" if !runs_outside_codex(&self.home) => {
                "calls are judged; edits are undoable; commands are only judged, because rules/haft.rules is missing"
            }
            _ => agent.covered,
        }
    }

    /// Returns what keeps an agent that is set up from running haft's hook, a sentence each.
    #[must_use]
    pub fn obstacles(&self, agent: &SetupAgent) -> Vec<String> {
        match agent.name {
            "claude" if self.is_set_up(agent) => obstacles::of_claude_code(&self.file(agent), &self.project),
            _ => Vec::new(),
        }
    }

    /// Returns what haft would write for an agent; nothing if it is already set up like this.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be read, or haft cannot add its lines to it.
    pub fn propose(
        &self,
        agent: &SetupAgent,
        (options, reach): (&Options, GuardMode),
    ) -> anyhow::Result<Vec<Proposal>> {
        let program = own_program().context("haft cannot find its own program")?;
        let program = program.to_str().context("the path of haft is not UTF-8")?;
        let command = hook_command(options, reach)?;
        let added = match agent.how {
            SetupMethod::Plugin(_) => Value::Null,
            SetupMethod::Hook => {
                let setup_lines::Agents(known) = setup_lines::agents(agent.name).map_err(|why| anyhow::anyhow!(why))?;
                let known = known.first().context("the agent has no lines")?;
                known.lines(&command)
            }
            SetupMethod::Server(lines) => lines(program),
        };
        let path = self.file(agent);
        let before = read_project_file(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        let after = match agent.how {
            SetupMethod::Plugin(code) => code.replace("HOOK_COMMAND", &Value::from(command).to_string()),
            SetupMethod::Hook | SetupMethod::Server(_) => {
                json_text::merged(before.as_deref().unwrap_or_default(), &added)
                    .with_context(|| format!("haft cannot add its lines to {}", path.display()))?
            }
        };
        let mut all = vec![Proposal { path, before, after, why: None }];
        if agent.name == "codex" && reach == GuardMode::Contains {
            let path = self.folder(agent).join("rules/haft.rules");
            let before = read_project_file(&path)?;
            let why = "Codex runs commands in its own sandbox, where haft cannot write its journal. With this rule, commands that haft's hook has judged run outside that sandbox, in haft's. Without the rule haft only judges the commands of Codex.";
            all.push(Proposal { path, before, after: codex_exception(program), why: Some(why) });
        }
        all.retain(|proposal| proposal.before.as_deref() != Some(&proposal.after));
        Ok(all)
    }

    /// Returns whether the settings of an agent name haft.
    #[must_use]
    pub fn is_set_up(&self, agent: &SetupAgent) -> bool {
        let text = read_project_file(&self.file(agent)).ok().flatten().unwrap_or_default();
        match agent.how {
            SetupMethod::Hook | SetupMethod::Plugin(_) => {
                text.contains("haft guard")
                    || own_program().is_some_and(|program| text.contains(&format!("{} guard", program.display())))
            }
            SetupMethod::Server(_) => {
                serde_json::from_str::<Value>(&text).is_ok_and(|settings| settings["mcp"]["haft"].is_object())
            }
        }
    }

    /// Returns whether an agent is set up exactly like this.
    ///
    /// # Errors
    ///
    /// Fails when a path is not text, or haft does not know its own place.
    pub fn is_set_up_like(&self, agent: &SetupAgent, how: (&Options, GuardMode)) -> anyhow::Result<bool> {
        let Some(command) = trial_command(agent, how)? else { return Ok(self.is_set_up(agent)) };
        let text = read_project_file(&self.file(agent)).ok().flatten().unwrap_or_default();
        let mut commands = vec![command.clone()];
        if let (SetupMethod::Hook, Ok(setup_lines::Agents(known))) = (agent.how, setup_lines::agents(agent.name)) {
            // A haft of another version may have written other commands for some events.
            known.iter().for_each(|known| commands_in(&known.lines(&command), &mut commands));
        }
        let is_kept_out = agent.name == "codex" && how.1 == GuardMode::Contains && !runs_outside_codex(&self.home);
        let has = |command: String| text.contains(&Value::from(command).to_string());
        Ok(commands.into_iter().all(has) && !is_kept_out)
    }

    /// Makes a change, as a change set of the agent's folder.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written. Then nothing has changed.
    pub fn write(&self, agent: &SetupAgent, proposal: &Proposal) -> anyhow::Result<()> {
        let path = real_path_of(&proposal.path);
        let (workspace, state) = self.opened(agent, &path)?;
        let place = path.strip_prefix(workspace.path()).context("the file is outside the agent's folder")?;
        let now = read_project_file(&path)?;
        if now != proposal.before {
            bail!("{} changed in the meantime; nothing was written", path.display());
        }
        let errand = errand();
        let edit = AgentEdit { errand: &errand, places: &[place.to_owned()], agent: None };
        workspace.begin_edit(&state, &edit)?;
        let written = replace_own_file(&path, &proposal.after);
        workspace.end_edit(&state, &errand)?;
        written.with_context(|| format!("{} cannot be written", path.display()))
    }

    /// Returns the file that names haft in a line which `haft setup` did not write, and so does not remove.
    ///
    /// # Errors
    ///
    /// Fails if the journal of the agent's folder cannot be read.
    pub fn named_by_hand(&self, agent: &SetupAgent) -> anyhow::Result<Option<PathBuf>> {
        let path = real_path_of(&self.file(agent));
        let is_by_hand = self.is_set_up(agent) && self.own_changes(agent, &path)?.1.is_empty();
        Ok(is_by_hand.then_some(path))
    }

    /// Returns the history of an agent's file, and the changes of it that `haft setup` made and that stand.
    fn own_changes(&self, agent: &SetupAgent, path: &Path) -> anyhow::Result<(WorkspaceHistory, Vec<u64>)> {
        let (workspace, state) = self.opened(agent, path)?;
        let history = workspace.history(&state);
        let place = path.strip_prefix(workspace.path()).unwrap_or(path).to_string_lossy().into_owned();
        let sets = history.newest(MOST_SETS)?.sets;
        let is_ours = |set: &&haft_workspace::history::ChangeSet| {
            let is_standing = matches!(set.kind, ChangeSetKind::Change) && set.undone != Undone::Yes;
            set.tool == TOOL && is_standing && set.files.iter().any(|file| file.path == place)
        };
        let numbers = sets.iter().filter(is_ours).map(|set| set.number).collect();
        Ok((history, numbers))
    }

    /// Restores the files of an agent as they were before haft changed them, merged with changes since. Returns the files.
    ///
    /// # Errors
    ///
    /// Fails if a later change conflicts. Then nothing has changed.
    pub fn remove(&self, agent: &SetupAgent) -> anyhow::Result<Vec<String>> {
        let mut restored = Vec::new();
        for path in self.files(agent) {
            let path = real_path_of(&path);
            if read_project_file(&path)?.is_none() {
                continue;
            }
            let (history, numbers) = self.own_changes(agent, &path)?;
            for number in numbers {
                history
                    .request(&UndoRequest::all(UndoSelection::Number(number)))
                    .with_context(|| format!("{} has changed since; remove haft's lines by hand", path.display()))?;
                restored.push(path.display().to_string());
            }
        }
        restored.dedup();
        Ok(restored)
    }

    fn opened(&self, agent: &SetupAgent, path: &Path) -> anyhow::Result<(Workspace, WorkspaceState)> {
        let folder = self.folder(agent);
        make_own_folder(&folder).with_context(|| format!("{} cannot be created", folder.display()))?;
        // A link may lead the file elsewhere.
        let folder = real_path_of(&folder);
        let root = if path.starts_with(&folder) { folder } else { path.parent().unwrap_or(&folder).to_owned() };
        let workspace = Workspace::open(&root).with_context(|| format!("{} cannot be opened", root.display()))?;
        let state = WorkspaceState::new(&self.state_folder, workspace.path());
        Ok((workspace, state))
    }

    fn folder(&self, agent: &SetupAgent) -> PathBuf {
        folder_of(agent, &self.home)
    }

    fn file(&self, agent: &SetupAgent) -> PathBuf {
        self.folder(agent).join(agent.file)
    }

    fn files(&self, agent: &SetupAgent) -> Vec<PathBuf> {
        let exception = (agent.name == "codex").then(|| self.folder(agent).join("rules/haft.rules"));
        exception.into_iter().chain([self.file(agent)]).collect()
    }
}

/// Returns an event that haft must refuse, to try a hook out.
#[must_use]
pub fn trial_event(folder: &Path) -> String {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "setup", "cwd": folder, "permission_mode": "default",
        "tool_name": "Bash", "tool_input": { "command": "rm -rf ~" }, "tool_use_id": "setup",
    })
    .to_string()
}

/// Returns the command of the hook, to try it out; nothing for an agent that gets haft's tools instead.
///
/// # Errors
///
/// Fails when a path is not text, or haft does not know its own place.
pub fn trial_command(agent: &SetupAgent, (options, reach): (&Options, GuardMode)) -> anyhow::Result<Option<String>> {
    (!matches!(agent.how, SetupMethod::Server(_))).then(|| hook_command(options, reach)).transpose()
}

/// Adds the commands that lines for an agent run.
fn commands_in(lines: &Value, found: &mut Vec<String>) {
    match lines {
        Value::Object(members) => {
            let own = ["command", "bash"].iter().filter_map(|key| members.get(*key)?.as_str());
            found.extend(own.map(str::to_owned));
            members.values().for_each(|value| commands_in(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| commands_in(item, found)),
        _ => {}
    }
}

/// Returns whether the rules of Codex let haft run commands outside the sandbox of Codex.
pub(crate) fn runs_outside_codex(home: &Path) -> bool {
    let rules = agent("codex").ok().map(|codex| folder_of(codex, home).join("rules/haft.rules"));
    let text = rules.and_then(|file| read_project_file(&file).ok().flatten());
    let own = own_program().and_then(|program| Some(codex_exception(program.to_str()?)));
    own.is_some() && text == own
}

fn folder_of(agent: &SetupAgent, home: &Path) -> PathBuf {
    let (name, usual) = agent.folder;
    name.and_then(variable).map_or_else(|| home.join(usual), PathBuf::from)
}

/// Returns whether an agent has a folder, or a program in the user's path.
fn is_installed(folder: &Path, program: &str) -> bool {
    let path = variable("PATH").unwrap_or_default();
    let places: Vec<PathBuf> =
        std::env::split_paths(&path).map(|folder| folder.join(program)).chain([folder.to_owned()]).collect();
    stamps_of(&places).values().any(Option::is_some)
}

fn errand() -> Provenance {
    Provenance {
        call: CallId::fresh(),
        tool: TOOL.to_owned(),
        session: SessionName::new(TOOL),
        run: CallId::fresh().as_str().into(),
        turn: 1,
        purpose: Purpose { agent: Some("person".to_owned()), command: None, description: None },
        old_changes: OldChanges::Stay,
    }
}
