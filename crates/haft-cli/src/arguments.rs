//! The command line as data.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};
use haft_config::profile::Profile;
use haft_contract::description::schema_rules::is_safe_name;
use haft_contract::outcome::error::AdvanceYes;
use haft_host::changes::change_log::moment;
use haft_host::options::Options;
use haft_model::lower::ProviderDialect;
use haft_policy::policy::Mode;
use haft_runtime::state::session::ResultCaching;

use crate::agent::flags::ModelFlags;
use crate::commands::agents::exec::Exec;
use crate::commands::agents::exec::hold::Hold;
use crate::commands::agents::guard::Guard;
use crate::commands::agents::mcp::McpArguments;
use crate::commands::agents::setup::Setup;
use crate::commands::calls::new_tool::NewCommandArguments;
use crate::commands::changes::blame::BlameArguments;
use crate::commands::changes::gc::Gc;
use crate::commands::jobs::JobsArguments;
use crate::commands::man::ManArguments;
use crate::commands::models::replay::Replay;
use crate::commands::models::resume::Resume;
use crate::commands::models::run::Run;
use crate::commands::models::sessions::Sessions;
use crate::commands::network::NetworkArguments;
use crate::commands::rules::RulesArguments;
use crate::deferred::DeferredArguments;
use crate::notices::Stderr;

/// The handle between a model and its tools: checks every call, runs commands in a sandbox, and records changes so that
/// you can undo them
#[derive(Parser)]
#[command(name = "haft", version = env!("HAFT_VERSION"), arg_required_else_help = false, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 ok, 1 failed, 2 usage or configuration, 3 refused, 4 timed out, 130 interrupted."
)]
pub(crate) struct CliArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) terminal: TerminalFlags,
    #[command(subcommand)]
    pub(crate) command: Option<CliCommand>,
}

/// The flags of the interactive terminal.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Without a command")]
pub(crate) struct TerminalFlags {
    /// Continue the conversation that was used last in this workspace
    #[arg(long = "continue")]
    pub(crate) continues: bool,
    #[command(flatten)]
    pub(crate) model: ModelFlags,
}

impl TerminalFlags {
    /// Returns whether any of them was given.
    pub(crate) fn is_given(&self) -> bool {
        let ModelFlags { model, wire, base_url } = &self.model;
        self.continues || model.is_some() || wire.is_some() || base_url.is_some()
    }
}

/// The flags that every command accepts.
#[derive(Args, Clone)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Common {
    /// Use DIR as the workspace [default: the current folder]
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub(crate) workspace: Option<PathBuf>,
    /// Treat the files in DIR as if they were in the workspace; repeatable
    #[arg(long = "add-dir", value_name = "DIR", global = true)]
    pub(crate) added: Vec<PathBuf>,
    /// Use the limits of profile P: haft, tunacode, ally, wyrm or nexau [default: the dialect's]
    #[arg(long, value_name = "P", global = true)]
    pub(crate) profile: Option<Profile>,
    /// Use the tool names, arguments and results of D: haft, tunacode, ally, wyrm, nexau, or a dialect of your own
    #[arg(long, value_name = "D", global = true, value_parser = dialect)]
    pub(crate) dialect: Option<String>,
    /// Answer yes to calls that "haft undo" can undo; with --yes=all to every ordinary question, also about other
    /// hosts, publishing, and commands that undo does not cover. Denials stay, and dangerous questions need a person
    #[arg(long, global = true, value_name = "all", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = UNDOABLE, value_parser = advance_yes)]
    yes: Option<AdvanceYes>,
    /// The same as --yes=all
    #[arg(long, global = true)]
    yolo: bool,
    /// Change nothing; run commands on a copy, show what they would change, and discard it
    #[arg(long, global = true)]
    pub(crate) plan: bool,
    /// Show what commands would change, and discard it; all other calls work as usual
    #[arg(long = "try", global = true, conflicts_with = "plan")]
    pub(crate) tries: bool,
    /// Trust the project's .haft folder, in this run only
    #[arg(long, global = true)]
    pub(crate) trust: bool,
    /// Run every call, even if haft has kept the result of an identical one
    #[arg(long = "no-cache", global = true)]
    pub(crate) no_cache: bool,
    /// Print long answers without a pager
    #[arg(long = "no-pager", global = true)]
    pub(crate) no_pager: bool,
    /// Print JSON for programs instead of text for people
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum CliCommand {
    /// Call a tool yourself, through the same steps as a model's call
    Call(DeferredArguments<CallCommandArguments>),
    /// Run a command yourself, in the sandbox and with undo, with its own streams and terminal
    Exec(DeferredArguments<Exec>),
    /// Hold a session for commands of separate processes
    #[command(hide = true)]
    Hold(DeferredArguments<Hold>),
    /// Show the tools as a model sees them
    Tools(DeferredArguments<ToolsCommandArguments>),
    /// Check configuration and tool definitions, and report each problem with its fix
    Check(DeferredArguments<Check>),
    /// Create a working tool to start from
    New(DeferredArguments<NewCommandArguments>),
    /// Serve haft's tools over the Model Context Protocol (MCP), and use the tools of MCP servers
    Mcp(DeferredArguments<McpArguments>),
    /// Explain how rules judge a command; list and test the rules
    Rules(DeferredArguments<RulesArguments>),
    /// Show which hosts commands may reach; allow, deny and learn hosts
    Network(DeferredArguments<NetworkArguments>),
    /// Give another agent haft's rules, sandbox and undo
    Setup(DeferredArguments<Setup>),
    /// Judge one call of another agent, as a hook of that agent
    Guard(DeferredArguments<Guard>),
    /// Trust a project's files for haft: settings, rules, hooks, tools, skills, prompts and commands
    Trust(DeferredArguments<Trust>),
    /// Report how haft confines commands here and whether it can undo them, or examine one tool
    Doctor(DeferredArguments<Doctor>),
    /// List the changes that were made through haft in this workspace, newest first
    Log(DeferredArguments<LogCommandArguments>),
    /// Show what one change set changed
    Diff(DeferredArguments<Diff>),
    /// Show which change set, agent and call wrote each line of a file
    Blame(DeferredArguments<BlameArguments>),
    /// Undo a change set
    Undo(DeferredArguments<UndoCommandArguments>),
    /// Revert the last undo
    Redo,
    /// Show what haft keeps on disk, and free what you choose
    Gc(DeferredArguments<Gc>),
    /// Let a model work on a task
    Run(DeferredArguments<Run>),
    /// Continue a session
    Resume(DeferredArguments<Resume>),
    /// Replay a session in a copy, without a model, and report differences
    Replay(DeferredArguments<Replay>),
    /// List the sessions of this workspace, most recently used first
    Sessions(DeferredArguments<Sessions>),
    /// List and control the background jobs of running sessions
    Jobs(DeferredArguments<JobsArguments>),
    /// List the models that you can use here, and where haft found them
    Models(DeferredArguments<ModelFlags>),
    /// Show real calls in a scratch folder, in five seconds
    Tour,
    /// Print the manual page of a command, or write all of them to a folder
    Man(DeferredArguments<ManArguments>),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

impl CliCommand {
    /// Returns whether it may print more than a screen holds, for a person to read.
    pub(crate) fn can_be_long(&self) -> bool {
        use CliCommand::{Blame, Diff, Doctor, Log, Redo, Rules, Sessions, Tools, Undo};
        matches!(self, Tools(_) | Rules(_) | Doctor(_) | Log(_) | Diff(_) | Blame(_) | Undo(_) | Redo | Sessions(_))
    }
}

#[derive(Args)]
#[command(after_help = "Examples:
  haft call read_file path=src/main.rs limit=20
  haft call read_file '{\"path\": \"src/main.rs\"}'
  haft call bash 'ls -la' timeout=5
  printf '%s\\n' '{\"name\":\"list_dir\",\"arguments\":{}}' | haft call -")]
pub(crate) struct CallCommandArguments {
    /// The tool, or - to read one JSON call per line from stdin
    pub(crate) tool: String,
    /// One JSON object, or key=value words; the tool's first argument may come first, without its key
    pub(crate) arguments: Vec<String>,
}

#[derive(Args)]
pub(crate) struct ToolsCommandArguments {
    /// Show the full description and all arguments of this tool
    pub(crate) tool: Option<String>,
    /// Include deferred tools, which a model gets only if a dialect, a profile or the settings list them
    #[arg(long, conflicts_with = "tool")]
    pub(crate) all: bool,
    /// Print the tools as provider P receives them: openai, openai-strict, anthropic, gemini or mcp
    #[arg(long = "for", value_name = "P")]
    pub(crate) provider: Option<ProviderDialect>,
    /// Print a prompt file for you to change: prompts/TOOL_prompt.xml replaces the description of a tool
    #[arg(long, requires = "tool", conflicts_with_all = ["provider", "json"])]
    pub(crate) xml: bool,
}

#[derive(Args)]
#[command(after_help = "Examples:
  haft log --agent claude --since 2h
  haft log --file src --grep 'cargo fmt'

A change set is listed if it fits all of --agent, --since, --file and --grep.")]
pub(crate) struct LogCommandArguments {
    /// List at most N change sets
    #[arg(short = 'n', long = "most", value_name = "N", default_value_t = 20)]
    pub(crate) most: usize,
    /// List only change sets of NAME: person, script, a model, or an agent; a part of the name is enough
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// List only change sets since WHEN: 90m, 2h, 3d or 1w ago, or a date in UTC (2026-11-18, 2026-11-18T14:30)
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    pub(crate) since: Option<u64>,
    /// List only change sets that changed this file, or something in this folder
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
    /// List only change sets with WORD in the command, the description, the tool or the name of a file, in any case
    #[arg(long, value_name = "WORD")]
    pub(crate) grep: Option<String>,
}

#[derive(Args)]
pub(crate) struct Diff {
    /// The change set, as numbered by "haft log" [default: the newest that is not undone]
    #[arg(value_name = "N")]
    pub(crate) number: Option<u64>,
}

#[derive(Args)]
#[command(
    after_help = "haft undo does not ask. If a file has changed since, haft keeps the later changes if they do not overlap. \
                  Otherwise it changes nothing and shows all differences.\n\n\
                  Repeat \"haft undo\" to go further back; \"haft redo\" reverts the last undo. \
                  With --plan, haft only shows what it would do."
)]
pub(crate) struct UndoCommandArguments {
    /// The change set, as numbered by "haft log" [default: the newest that is not undone]
    #[arg(value_name = "N", conflicts_with_all = ["turn", "session"])]
    pub(crate) number: Option<u64>,
    /// Undo everything in the turn of the newest change set
    #[arg(long, conflicts_with = "session")]
    pub(crate) turn: bool,
    /// Undo everything in the session of the newest change set
    #[arg(long)]
    pub(crate) session: bool,
    /// Undo change set N and all later ones of its session
    #[arg(long, value_name = "N", conflicts_with_all = ["number", "turn", "session"])]
    pub(crate) since: Option<u64>,
    /// Undo only the changes to this file, or in this folder
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
    /// Undo only this hunk, as numbered by "haft diff N" (src/a.rs:2); repeatable; without FILE:K, haft asks about each
    #[arg(long = "hunk", value_name = "FILE:K", num_args = 0..=1, default_missing_value = "", value_parser = hunk)]
    #[arg(conflicts_with_all = ["file", "turn", "session", "since", "beside"])]
    pub(crate) hunks: Vec<Hunk>,
    /// Restore earlier versions beside the current files, as NAME.before-N
    #[arg(long)]
    pub(crate) beside: bool,
}

#[derive(Args)]
pub(crate) struct Check {
    /// A config.toml, rules.toml or tools.yaml, a tool definition (.yaml), a dialect (dialects/NAME.toml), a skill (SKILL.md), the description of a tool (NAME.md, TOOL_prompt.xml), a JSON list of tools, or a folder of these
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Also run each tool, with its examples and with unexpected calls; haft discards the changes
    #[arg(long)]
    pub(crate) run: bool,
}

#[derive(Args)]
#[command(after_help = "If code changes, haft does not load it until you trust it again.")]
pub(crate) struct Trust {
    /// The project [default: the workspace]
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// List what you trust, in all folders
    #[arg(long, conflicts_with_all = ["folder", "revoke"])]
    pub(crate) list: bool,
    /// Revoke all trust in this project
    #[arg(long)]
    pub(crate) revoke: bool,
    /// Show how the project's files differ from the trusted copy; haft runs the copy
    #[arg(long, conflicts_with_all = ["list", "revoke"])]
    pub(crate) diff: bool,
}

#[derive(Args)]
pub(crate) struct Doctor {
    /// The tool to examine
    pub(crate) tool: Option<String>,
}

impl Common {
    /// Returns how the host opens the workspace for this command line.
    pub(crate) fn options(&self) -> Options {
        Options {
            folder: self.workspace.clone(),
            added: self.added.clone(),
            profile: self.profile,
            dialect: self.dialect.clone(),
            yes: self.yes(),
            mode: self.mode(),
            trust: self.trust,
            keeping: if self.no_cache { ResultCaching::Off } else { ResultCaching::On },
            notices: Arc::new(Stderr),
            ..Options::default()
        }
    }

    /// Returns which questions the flags answer with yes.
    pub(crate) fn yes(&self) -> Option<AdvanceYes> {
        if self.yolo { Some(AdvanceYes::ToAll) } else { self.yes }
    }

    /// Says what happens to changes.
    pub(crate) fn mode(&self) -> Mode {
        match (self.plan, self.tries) {
            (true, _) => Mode::Plan,
            (false, true) => Mode::Try,
            (false, false) => Mode::Normal,
        }
    }
}

/// What `--yes` means without a value.
const UNDOABLE: &str = "undoable";

fn advance_yes(text: &str) -> Result<AdvanceYes, String> {
    match text {
        UNDOABLE => Ok(AdvanceYes::ToUndoable),
        "all" => Ok(AdvanceYes::ToAll),
        _ => Err("write --yes (calls that \"haft undo\" can undo) or --yes=all (every ordinary question)".to_owned()),
    }
}

/// Returns the message for `--yes all`: without "=", the flag has no value and "all" counts as another argument.
pub(crate) fn blank_after_yes(words: &[OsString]) -> Option<&'static str> {
    let flags: Vec<&OsString> = words.iter().take_while(|word| *word != "--").collect();
    let is_meant = flags.windows(2).any(|pair| pair[0] == "--yes" && pair[1] == "all");
    is_meant.then_some("\"--yes all\" has a blank; write --yes=all for yes to every ordinary question")
}

/// Which hunk is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hunk {
    /// The person chooses.
    Asked,
    /// The one of this number in this file.
    Named(PathBuf, usize),
}

/// Parses the name of a file and the number of a hunk.
fn hunk(text: &str) -> Result<Hunk, String> {
    if text.is_empty() {
        return Ok(Hunk::Asked);
    }
    let found = text.rsplit_once(':').and_then(|(file, number)| Some((file, number.parse::<usize>().ok()?)));
    match found {
        Some((file, number @ 1..)) if !file.is_empty() => Ok(Hunk::Named(file.into(), number)),
        _ => Err("write FILE:K, with the number of the hunk in \"haft diff\", such as src/a.rs:2".to_owned()),
    }
}

/// Parses the name of a dialect. Whether the dialect exists is checked later, when haft looks for its file.
fn dialect(name: &str) -> Result<String, String> {
    let names = haft_tools::dialect::NAMES;
    let unknown = || format!("there is no such dialect; choose one of {}", names.join(", "));
    is_safe_name(name).then(|| name.to_owned()).ok_or_else(unknown)
}
