//! The command line as data.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};
use haft_config::profile::Profile;
use haft_contract::schema_rules::is_safe_name;
use haft_host::options::Options;
use haft_model::lower::Provider;
use haft_policy::policy::Mode;
use haft_runtime::session::Keeping;

use crate::agent::flags::ModelFlags;
use crate::commands::gc::Gc;
use crate::commands::guard::Guard;
use crate::commands::mcp::McpArguments;
use crate::commands::new_tool::New;
use crate::commands::replay::Replay;
use crate::commands::resume::Resume;
use crate::commands::rules::RulesArguments;
use crate::commands::run::Run;
use crate::commands::sessions::Sessions;
use crate::notices::Stderr;

/// The handle between a model and its tools.
#[derive(Parser)]
#[command(name = "haft", version = env!("HAFT_VERSION"), about, arg_required_else_help = false)]
#[command(
    after_help = "Exit codes: 0 ok, 1 failed, 2 usage or configuration, 3 refused, 4 timed out, 130 interrupted."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What every command understands.
#[derive(Args, Clone)]
pub(crate) struct Common {
    /// The workspace; the current folder if left out
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub(crate) workspace: Option<PathBuf>,
    /// Another folder whose files may be read and changed as if they were in the workspace
    #[arg(long = "add-dir", value_name = "DIR", global = true)]
    pub(crate) added: Vec<PathBuf>,
    /// The profile whose limits hold: haft, tunacode, ally, wyrm or nexau; that of the dialect if left out
    #[arg(long, value_name = "P", global = true, value_parser = profile)]
    pub(crate) profile: Option<Profile>,
    /// The system whose tool names, arguments and results are spoken: haft, tunacode, ally, wyrm, nexau, or one of yours
    #[arg(long, value_name = "D", global = true, value_parser = dialect)]
    pub(crate) dialect: Option<String>,
    /// Say yes to ordinary questions; what is denied or dangerous stays so
    #[arg(long, visible_alias = "yolo", global = true)]
    pub(crate) yes: bool,
    /// Change nothing, whatever is called; what commands would change is shown and thrown away
    #[arg(long, global = true)]
    pub(crate) plan: bool,
    /// Show what commands would change, and throw it away; everything else is as usual
    #[arg(long = "try", global = true, conflicts_with = "plan")]
    pub(crate) tries: bool,
    /// Trust what the project brings along in .haft, in this run only
    #[arg(long, global = true)]
    pub(crate) trust: bool,
    /// Run every call, also where a kept result of an identical one would serve
    #[arg(long = "no-cache", global = true)]
    pub(crate) no_cache: bool,
    /// Print records for programs instead of text for people
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Call a tool yourself, through the same steps as a model
    Call(Call),
    /// Show what a model would see
    Tools(Tools),
    /// Check configuration and tool descriptions, with the fix for every problem
    Check(Check),
    /// Write a tool of your own to begin with
    New(New),
    /// Serve the tools to other programs, over the Model Context Protocol
    Mcp(McpArguments),
    /// Say how commands are judged, and by which rules
    Rules(RulesArguments),
    /// Judge one call of another agent, as a hook of that agent
    Guard(Guard),
    /// Trust what a project brings along for haft: settings, rules, tools, words
    Trust(Trust),
    /// Say how this workspace, or one tool, is doing
    Doctor(Doctor),
    /// List what was changed in this workspace, the newest first
    Log(Log),
    /// Show what one change set did
    Diff(Diff),
    /// Take a change set back
    Undo(Undo),
    /// Take the last undo back
    Redo,
    /// Show what haft keeps on the disk, and free what you choose
    Gc(Gc),
    /// Let a model work on a task
    Run(Run),
    /// Go on with a session
    Resume(Resume),
    /// Do a session once more in a copy, without a model, and say where it comes to something else
    Replay(Replay),
    /// List the sessions of this workspace, those used last first
    Sessions(Sessions),
    /// List the models that can be used here, and where they were found
    Models(ModelFlags),
    /// A five-second guided run of the real thing in a scratch folder
    Tour,
    /// Print a completion script for a shell
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: clap_complete::Shell,
    },
}

#[derive(Args)]
#[command(after_help = "Examples:
  haft call read_file path=src/main.rs limit=20
  haft call read_file '{\"path\": \"src/main.rs\"}'
  haft call bash 'ls -la' timeout=5
  printf '%s\\n' '{\"name\":\"list_dir\",\"arguments\":{}}' | haft call -")]
pub(crate) struct Call {
    /// The tool; or - to read one JSON call per line from stdin
    pub(crate) tool: String,
    /// One JSON object, or key=value words; the first argument of the tool may stand first without its key
    pub(crate) arguments: Vec<String>,
}

#[derive(Args)]
pub(crate) struct Tools {
    /// Show all words and arguments of this one
    pub(crate) tool: Option<String>,
    /// As this provider gets them: openai, openai-strict, anthropic, gemini or mcp
    #[arg(long = "for", value_name = "P")]
    pub(crate) provider: Option<Provider>,
    /// As a prompt file, to be changed: prompts/TOOL_prompt.xml replaces the words of a tool
    #[arg(long, requires = "tool", conflicts_with_all = ["provider", "json"])]
    pub(crate) xml: bool,
}

#[derive(Args)]
pub(crate) struct Log {
    /// Most change sets to list
    #[arg(short = 'n', long = "most", value_name = "N", default_value_t = 20)]
    pub(crate) most: usize,
}

#[derive(Args)]
pub(crate) struct Diff {
    /// The change set, as "haft log" numbers it; the newest not taken back if left out
    #[arg(value_name = "N")]
    pub(crate) number: Option<u64>,
}

#[derive(Args)]
#[command(
    after_help = "Nothing is asked. Where a file was changed since, both versions are merged when they do not overlap; otherwise
nothing is changed, and all differences are shown. \"haft undo\" again goes further back, \"haft redo\" takes the last undo
back. With --plan, haft only shows what it would do."
)]
pub(crate) struct Undo {
    /// The change set, as "haft log" numbers it; the newest not taken back if left out
    #[arg(value_name = "N", conflicts_with_all = ["turn", "session"])]
    pub(crate) number: Option<u64>,
    /// Everything of the turn that the newest belongs to
    #[arg(long, conflicts_with = "session")]
    pub(crate) turn: bool,
    /// Everything of the session that the newest belongs to
    #[arg(long)]
    pub(crate) session: bool,
    /// Only what was done to this file, or in this folder
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
    /// Only this hunk of a file, as "haft diff N" numbers them (src/a.rs:2); may be given several times
    #[arg(long = "hunk", value_name = "FILE:K", value_parser = hunk, conflicts_with_all = ["file", "turn", "session", "beside"])]
    pub(crate) hunks: Vec<(PathBuf, usize)>,
    /// Restore earlier versions beside the present files, as NAME.before-N
    #[arg(long)]
    pub(crate) beside: bool,
}

#[derive(Args)]
pub(crate) struct Check {
    /// config.toml, rules.toml, tools.yaml, a definition (.yaml), a dialect (dialects/NAME.toml), the words of a tool (name.md, TOOL_prompt.xml), a JSON list of tools, or a folder of those
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Run the tools too: their examples, and calls that no tool expects. What they change is thrown away
    #[arg(long)]
    pub(crate) run: bool,
}

#[derive(Args)]
#[command(after_help = "Code is bound to its content: what changes is not loaded until it is trusted again.")]
pub(crate) struct Trust {
    /// The project; the workspace if left out
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// List what is trusted, in all folders
    #[arg(long, conflicts_with_all = ["folder", "revoke"])]
    pub(crate) list: bool,
    /// Trust nothing there any more
    #[arg(long)]
    pub(crate) revoke: bool,
    /// Show how the project's files differ from the copy that runs
    #[arg(long, conflicts_with_all = ["list", "revoke"])]
    pub(crate) diff: bool,
}

#[derive(Args)]
pub(crate) struct Doctor {
    /// The tool to look at
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
            yes: self.yes,
            mode: self.mode(),
            trust: self.trust,
            keeping: if self.no_cache { Keeping::Off } else { Keeping::On },
            notices: Arc::new(Stderr),
            ..Options::default()
        }
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

/// Takes the name of a file and the number of a hunk.
fn hunk(text: &str) -> Result<(PathBuf, usize), String> {
    let found = text.rsplit_once(':').and_then(|(file, number)| Some((file, number.parse::<usize>().ok()?)));
    match found {
        Some((file, number @ 1..)) if !file.is_empty() => Ok((file.into(), number)),
        _ => {
            Err("write the file, a colon and the number of the hunk, as \"haft diff\" shows it: src/a.rs:2".to_owned())
        }
    }
}

/// Takes what can be the name of a dialect; whether it is one is known when its file is looked for.
fn dialect(name: &str) -> Result<String, String> {
    let names = haft_tools::dialect::NAMES;
    let unknown = || format!("there is no such dialect; there are {}", names.join(", "));
    is_safe_name(name).then(|| name.to_owned()).ok_or_else(unknown)
}

fn profile(name: &str) -> Result<Profile, String> {
    Profile::named(name).ok_or_else(|| {
        let names: Vec<&str> = Profile::ALL.iter().map(|profile| profile.name()).collect();
        format!("there is no such profile; there are {}", names.join(", "))
    })
}
