//! Examines a workspace by really planning a call and really running a command (`haft doctor`).
//!
//! haft does not rely on what the system says about itself: it really runs a command that does nothing.
//!
//! Not here: which layers of the sandbox work (`haft_sandbox::examine`).

use std::path::PathBuf;
use std::time::Duration;

use haft_contract::BoxFuture;
use haft_contract::call::CallOrigin;
use haft_contract::context::{PlanContext, ReadHistory, RunContext};
use haft_contract::description::manual::Example;
use haft_contract::doors::door::ReadVersion;
use haft_contract::doors::inspection::{Inspection, Inspector};
use haft_contract::doors::process::CommandSpec;
use haft_contract::effect::CommandLine;
use haft_contract::files::path::{Extent, RawPath, Target};
use haft_contract::outcome::error::ToolError;
use haft_contract::tool::Tool;
use haft_policy::decision::Decision;
use haft_policy::policy::{Mode, Situation};
use haft_runtime::catalogue::entry::CatalogEntry;
use haft_tools::defined::skill::Skill;
use haft_workspace::project::{Project, skill_folder};
use haft_workspace::state::{UndoRange, WorkspaceUsage};

use crate::changes::change_log::ago;
use crate::host::{Host, described_in};
use crate::opening::described_tools::FoundSkill;
use crate::opening::project_files;
use crate::opening::project_files::OnUntrusted;
use crate::texts::shown_tools::traits_in_words;

/// The command that is tried. It does nothing.
const TRIAL: &str = "true";
/// How long it may take.
const TRIAL_TIME: Duration = Duration::from_secs(10);

/// Says how far back undo reaches.
#[must_use]
pub fn how_far_undo_reaches(usage: &WorkspaceUsage) -> String {
    match usage.reach {
        None => "there is nothing to undo".to_owned(),
        Some(UndoRange { oldest, newest, oldest_ms }) if oldest == newest => {
            format!("reaches back to change set {oldest}, {}", ago(oldest_ms))
        }
        Some(UndoRange { oldest, newest, oldest_ms }) => {
            format!("reaches back to change set {oldest} of {newest}, {}", ago(oldest_ms))
        }
    }
}

/// Says what the rules think of an example, by really planning it here.
pub async fn judged(host: &Host, entry: &CatalogEntry, example: &Example, mode: Mode) -> String {
    let nothing_read = NothingRead;
    let limits = &host.settings.limits;
    let cx = PlanContext::new(host.runtime.doors(), &nothing_read, CallOrigin::Person, limits);
    let mut inward = None;
    let bound = entry.inward(example.arguments.clone()).and_then(|(tool, arguments)| {
        let bound = tool.bind(&arguments);
        inward = Some(arguments);
        bound
    });
    let planned = match bound {
        Ok(mut bound) => bound.plan(&cx).await,
        Err(error) => Err(error),
    };
    let told = match planned {
        Ok(plan) => {
            let situation = Situation { arguments: inward.as_ref(), ..mode.into() };
            let ruling = host.runtime.policy().judge(entry.native_name(), &plan.effects, situation);
            let decision = match ruling.decision {
                Decision::Allow => "yes",
                Decision::Ask => "asked about",
                Decision::Deny => "no",
            };
            format!("{decision} (rule \"{}\")", ruling.rule)
        }
        // The example is from the manual; its file need not be in this workspace.
        Err(error) => format!("unknown here, because the example is for another folder: {}", error.what),
    };
    format!("{}: {told}", example.arguments)
}

/// Says how the last call of a tool went.
#[must_use]
pub fn last_call(host: &Host, name: &str) -> String {
    match host.state.recent_calls().last_of(name) {
        None => "none in this workspace".to_owned(),
        Some(record) => {
            let status = record["status"].as_str().unwrap_or("?");
            let took = record["duration_ms"].as_u64().unwrap_or(0);
            match record["error"]["what"].as_str() {
                Some(what) => format!("{status} after {took} ms: {what}"),
                None => format!("{status} after {took} ms"),
            }
        }
    }
}

/// What is said of something, and the words.
pub type Fact = (&'static str, String);

/// Says how many skills there are, and which of the project do not count; nothing where there are none.
///
/// # Errors
///
/// Fails where the workspace cannot be read.
pub fn skill_facts(host: &Host) -> anyhow::Result<Vec<Fact>> {
    let SkillsReport { loaded, left_out } = SkillsReport::of(host)?;
    let count = (!loaded.is_empty() || !left_out.is_empty())
        .then(|| ("skills", format!("{} (haft doctor skill)", loaded.len())));
    let left_out = left_out.iter().map(|name| ("", format!("{name} does not count: not trusted, or changed since")));
    Ok(count.into_iter().chain(left_out).collect())
}

/// Says how a tool is loaded and run, where that is not as usual, and which skills the tool for skills has.
///
/// # Errors
///
/// Fails where the workspace cannot be read.
pub fn tool_facts(host: &Host, entry: &CatalogEntry) -> anyhow::Result<Vec<Fact>> {
    let mut facts: Vec<Fact> =
        traits_in_words(entry).into_iter().map(|(what, words)| (what, words.to_owned())).collect();
    if entry.native_name() == Skill::NAME {
        let SkillsReport { loaded, left_out } = SkillsReport::of(host)?;
        facts.extend(loaded.into_iter().map(|line| ("skill", line)));
        let line = |name: String| ("left out", format!("{name}: not trusted, or changed since"));
        facts.extend(left_out.into_iter().map(line));
    }
    Ok(facts)
}

/// The skills of a workspace.
struct SkillsReport {
    /// Those that a model can load: name, place, and what their scripts may do.
    loaded: Vec<String>,
    /// Those of the project that do not count.
    left_out: Vec<String>,
}

impl SkillsReport {
    fn of(host: &Host) -> anyhow::Result<Self> {
        let files = project_files::load(host.options(), &host.settings, &host.workspace, OnUntrusted::Ignore)?;
        let counts: Vec<String> = files.skills.iter().map(|(name, _)| name.clone()).collect();
        let project = Project::look(&host.workspace)?;
        let of_project = project.brought().iter().filter(|file| skill_folder(&file.name).is_some());
        let left_out = of_project.filter(|file| !counts.contains(&file.name)).map(|file| file.name.clone()).collect();
        let found = described_in(&host.settings, &host.workspace, files);
        let line = |skill: &FoundSkill| {
            let limits =
                if skill.has_scripts() { skill.file.limits_of_scripts() } else { "It has no scripts.".to_owned() };
            format!("{} from {}. {limits}", skill.file.name, skill.place)
        };
        Ok(Self { loaded: found.skills.iter().map(line).collect(), left_out })
    }
}

struct NothingRead;

impl ReadHistory for NothingRead {
    fn when_read(&self, _target: &Target) -> Option<ReadVersion> {
        None
    }
}

/// Runs the trial; says why what a command changes cannot be taken back.
///
/// # Errors
///
/// Fails with that reason.
pub async fn try_command(host: &Host) -> Result<(), String> {
    let doors = host.runtime.doors();
    let told = |error: ToolError| doors.files.uncovered().unwrap_or_else(|| error.what.clone());
    let root = doors.look.locate(&RawPath::new("."), Extent::Tree).map_err(told)?;
    let folder = doors.look.real_path(&root).ok_or("the workspace has no real path")?;
    host.runtime.inspect(&CommandProbe { folder }).await.map_err(told)
}

/// Runs a command that does nothing.
struct CommandProbe {
    folder: PathBuf,
}

impl Inspection for CommandProbe {
    type Found = ();

    fn tool(&self) -> &str {
        "bash"
    }

    fn line(&self) -> CommandLine {
        CommandLine(TRIAL.to_owned())
    }

    fn run<'a>(&'a self, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<(), ToolError>> {
        let command = CommandSpec::new(vec![TRIAL.into()], TRIAL, self.folder.clone(), TRIAL_TIME);
        Box::pin(async move { cx.run(&command, &|_, _| {}).await.map(drop) })
    }
}
