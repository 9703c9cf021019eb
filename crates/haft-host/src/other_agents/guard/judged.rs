//! Judges a call of an agent by the rules for haft's own tools.
//!
//! The call is described by the effects that the same call of haft's tool would have, so the same rules apply under the
//! same names. One thing differs: a command that haft does not run itself is not contained, so haft does not allow it
//! only because its changes could be undone or discarded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use haft_config::rules::FiledRule;
use haft_config::settings::Settings;
use haft_contract::doors::door::{Breadth, FileKind, Look};
use haft_contract::effect::{AgentName, Change, Claim, Effect, Host, RemoteClaim, StateKey};
use haft_contract::files::guarded::is_secret;
use haft_contract::files::path::{Extent, FileLocation, RawPath, Target, one_line};
use haft_contract::outcome::error::AdvanceYes;
use haft_policy::containment::Containment;
use haft_policy::decision::{Class, Decision, Ruling};
use haft_policy::policy::{Mode, Policy, Situation};
use haft_policy::rule::{Pattern, REMOTE_CHANGES};
use haft_runtime::redaction::redact::Redactor;
use haft_workspace::files::Workspace;
use haft_workspace::state::Covers;
use serde_json::Value;

use super::GuardMode;
use super::events::address;
use super::events::event::GuardEvent;
use super::events::form::PermissionMode;
use super::events::place;
use super::events::served::{is_other_server, serves};
use super::events::server_tool;
use super::events::server_tool::ServerTool;
use super::events::wanted::{AgentCallEffect, AgentFileOperation};
use super::own_rules::OwnRules;
use super::secrets;
use super::secrets::git_settings;
use super::secrets::name_pattern::{alternatives, may_fit_path};
use super::secrets::secret_looks::SecretLooks;
use crate::opening::hosts::HostsOfSettings;
use crate::opening::loaded_workspace::LoadedWorkspace;
use crate::opening::project_files::OnUntrusted;
use crate::opening::rulebook::Rulebook;
use crate::options::Options;

mod command;

const COMMANDS: &str = "bash";
/// haft's own tools that change nothing.
const LOOKING: &[&str] = &["read_file", "list_dir", "glob", "grep"];

/// The ruling on a call of an agent, and what haft does if the call is made.
pub(super) struct AgentCallJudgement {
    pub(super) ruling: Ruling,
    pub(super) follows: Follows,
}

/// What haft does about a call that is made.
pub(super) enum Follows {
    Nothing,
    /// It runs this command itself; without haft's answer the questions that this does not cover stay open.
    Command {
        text: String,
        /// The folder in which it starts.
        folder: PathBuf,
        covers: Covers,
    },
    /// It records the changes to these paths.
    Edit(Vec<PathBuf>),
}

impl AgentCallJudgement {
    fn only(ruling: Ruling) -> Self {
        Self { ruling, follows: Follows::Nothing }
    }
}

/// What a search of an agent looks at, and shows.
#[derive(Clone, Copy)]
struct AgentSearch<'a> {
    only: Option<&'a str>,
    shows_lines: bool,
}

/// Judges the calls of an agent in one workspace.
pub(super) struct AgentCallJudge {
    pub(super) settings: Settings,
    pub(super) workspace: Workspace,
    /// The options with which the workspace was opened.
    pub(super) options: Options,
    /// Whether haft runs commands itself.
    rewrites: bool,
    policy: Policy,
    mode: Mode,
    /// The yes that the user gave in advance.
    yes: Option<AdvanceYes>,
    /// The yes that edits need.
    needed_for_edits: AdvanceYes,
    /// Whether the agent only makes a plan.
    plans: bool,
    /// Whether the agent says that it does not ask.
    never_asks: bool,
    /// Whether the agent answers ordinary questions by its own rules.
    leaves_questions: bool,
    /// Whether the agent types into programs without asking haft about the text.
    types_unheard: bool,
    /// The arguments of the call, under the agent's own names.
    arguments: Value,
    /// The servers that rules name.
    servers: Vec<String>,
    /// Whether the call is one of haft's own server, which judges it itself.
    is_served: bool,
}

impl AgentCallJudge {
    /// Prepares for the workspace that an event is about. It changes no state and asks no question.
    pub(super) fn open((options, reach): (&Options, GuardMode), event: &GuardEvent) -> anyhow::Result<Self> {
        let options = place::workspace(options, event);
        let rewrites = reach == GuardMode::Contains && event.recipient.form.takes_rewritten_calls();
        let text = AgentCallEffect::of(event).ok().and_then(AgentCallEffect::into_command).filter(|_| rewrites);
        let LoadedWorkspace { settings, workspace, rulebook, files, .. } =
            LoadedWorkspace::open(&options, OnUntrusted::Report)?;
        let own_rules = || OwnRules::of(event, (&settings.surroundings.home, workspace.path()));
        let rewrites = text.is_some_and(|text| !own_rules().concern(&text));
        let own = event.server_tool.as_ref().and_then(ServerTool::of_haft);
        let folders = (settings.environment.config_folder.as_path(), workspace.path());
        let is_served =
            own.is_some_and(|tool| serves(tool, folders, files) && !is_other_server(&settings, workspace.path()));
        // Where the agent itself changes nothing, a yes of ours must not be what lets it.
        let plans = event.recipient.mode == PermissionMode::Plans;
        let never_asks = event.recipient.mode == PermissionMode::NeverAsks;
        let leaves_questions = event.recipient.is_left_ordinary_questions();
        let servers = servers_in(&rulebook);
        let mut rulebook = rulebook;
        if plans {
            rulebook.hosts = Some(Arc::new(HostsOfSettings::denying(&settings, workspace.path())));
        }
        let policy = if plans { without_permissions(rulebook) } else { rulebook.policy() };
        let yes = options.yes.filter(|_| !plans);
        let types_unheard = event.is_of_codex;
        let mode = options.mode;
        Ok(Self {
            settings,
            workspace,
            options,
            rewrites,
            policy,
            mode,
            yes,
            needed_for_edits: AdvanceYes::ToUndoable,
            plans,
            never_asks,
            leaves_questions,
            types_unheard,
            arguments: Value::Object(event.input.clone()),
            servers,
            is_served,
        })
    }

    /// Judges edits as changes that cannot be undone, because haft cannot keep what they replace.
    pub(super) fn recording_nothing(self) -> Self {
        Self { needed_for_edits: AdvanceYes::ToAll, ..self }
    }

    /// Returns what hides secrets in an answer.
    pub(super) fn redactor(&self) -> Redactor {
        let redactor = Redactor::of_values(self.settings.environment.secrets.iter().cloned());
        redactor.also_hide_files(&self.workspace.secrets(Breadth::FirstLevel).changed);
        redactor
    }

    /// Judges an event; fails with why that cannot be done.
    pub(super) fn judge(&self, event: &GuardEvent) -> anyhow::Result<AgentCallJudgement> {
        let folder = self.folder(&event.folder)?;
        if let Some(tool) = &event.server_tool {
            let ruling = self.server_tool(tool);
            return Ok(AgentCallJudgement::only(self.answered(ruling, AdvanceYes::ToAll)));
        }
        let mut needed = AdvanceYes::ToUndoable;
        let ruling = match AgentCallEffect::of(event).map_err(|why| anyhow!(why))? {
            AgentCallEffect::Command { text, folders, leaves_sandbox } => {
                let judged = self.command_in_each(&self.own_line(event, text), &folder, &folders)?;
                let ruling = if leaves_sandbox { command::leaving(judged.ruling) } else { judged.ruling };
                return Ok(AgentCallJudgement { ruling, ..judged });
            }
            AgentCallEffect::Files(files) => {
                let ruling = self.answered_edit(self.files(&files, &folder)?);
                let places = self.changed_places(&files, &folder);
                return Ok(AgentCallJudgement { ruling, follows: Follows::Edit(places) });
            }
            AgentCallEffect::ManyFiles(patterns) => self.many_files(&patterns, &folder)?,
            AgentCallEffect::Search { tool, folders, only, shows_lines } => {
                let searches = folders.iter().flat_map(|below| only.iter().map(move |only| (below, only)));
                let judge = |(below, only): (&Option<String>, &Option<String>)| {
                    let below = below.as_deref().unwrap_or(".");
                    self.search(tool, (&folder, below), AgentSearch { only: only.as_deref(), shows_lines })
                };
                let rulings: Vec<Ruling> = searches.map(judge).collect::<Result<_, _>>()?;
                rulings.into_iter().reduce(Ruling::stricter).context("the call names no folder")?
            }
            AgentCallEffect::Fetch(addresses) => {
                needed = AdvanceYes::ToAll;
                self.fetch(&addresses)?
            }
            AgentCallEffect::WebSearch => {
                needed = AdvanceYes::ToAll;
                self.by_effects("web_search", &[Effect::Connect(Host("the web search of the agent".to_owned()))])
            }
            AgentCallEffect::Delegate(agent) => self.by_effects("agent", &[Effect::Delegate(AgentName(shown(&agent)))]),
            AgentCallEffect::TypedInput(text) => {
                return Ok(AgentCallJudgement::only(command::typed(self.command(&text, &folder)?.ruling)));
            }
            AgentCallEffect::Notes => self.by_effects("todo", &[Effect::Session(StateKey("notes".to_owned()))]),
            AgentCallEffect::Unknown => {
                needed = AdvanceYes::ToAll;
                self.unknown(&event.tool)
            }
        };
        Ok(AgentCallJudgement::only(self.answered(ruling, needed)))
    }

    /// Returns the files that a call of a file tool changes, by their paths from the root. Files outside are left to the
    /// rules: no change set covers them.
    pub(super) fn changed_places(&self, files: &[(AgentFileOperation, String)], folder: &Path) -> Vec<PathBuf> {
        let changed = files.iter().filter(|(deed, _)| *deed != AgentFileOperation::Read);
        let target = |(_, path): &(AgentFileOperation, String)| self.locate(folder, path, Extent::Entry).ok();
        let inside = changed.filter_map(target).filter(Target::is_inside);
        inside.map(|target| target.place().path().to_owned()).collect()
    }

    /// Returns the places that the call of an event changes.
    pub(super) fn places_of(&self, event: &GuardEvent) -> Vec<PathBuf> {
        match (AgentCallEffect::of(event), self.folder(&event.folder)) {
            (Ok(AgentCallEffect::Files(files)), Ok(folder)) => self.changed_places(&files, &folder),
            _ => Vec::new(),
        }
    }

    /// Answers an ordinary question if the user's advance yes covers it. Effects beyond this machine, and unknown effects,
    /// need the yes to everything.
    fn answered(&self, ruling: Ruling, needed: AdvanceYes) -> Ruling {
        match self.yes {
            Some(given) if ruling.is_ordinary_question() && given >= needed => said_yes(ruling, given),
            Some(_) if ruling.is_ordinary_question() => {
                let reason = format!("{} --yes does not answer that; --yes=all does.", ruling.reason);
                Ruling { reason, ..ruling }
            }
            _ => ruling,
        }
    }

    /// Answers the question about an edit. If haft cannot undo the edit and the agent never asks, the edit is refused.
    fn answered_edit(&self, ruling: Ruling) -> Ruling {
        let ruling = self.answered(ruling, self.needed_for_edits);
        let is_undoable = self.needed_for_edits == AdvanceYes::ToUndoable;
        let is_unheard = self.never_asks && ruling.is_ordinary_question();
        if is_unheard && !is_undoable { Ruling { class: Class::Dangerous, ..ruling } } else { ruling }
    }

    fn by_effects(&self, tool: &str, effects: &[Effect]) -> Ruling {
        self.by_effects_where(tool, effects, Containment::WithoutSandbox)
    }

    fn by_effects_where(&self, tool: &str, effects: &[Effect], contained: Containment) -> Ruling {
        self.policy.judge(tool, effects, Situation { contained, arguments: Some(&self.arguments), ..self.mode.into() })
    }

    /// Returns the code of other programs that changes would plant: in a new git repository, or where a protected name
    /// leads.
    fn planted(&self, effects: &[Effect]) -> Vec<Effect> {
        self.workspace.planted(&effects.iter().filter_map(Effect::changed).collect::<Vec<_>>())
    }

    fn files(&self, files: &[(AgentFileOperation, String)], folder: &Path) -> anyhow::Result<Ruling> {
        let effect = |(deed, path): &(AgentFileOperation, String)| {
            let target = self.locate(folder, path, Extent::Entry)?;
            let (tool, effect) = match deed {
                AgentFileOperation::Read => ("read_file", Effect::Read(target)),
                AgentFileOperation::Write | AgentFileOperation::Edit => {
                    let tool = if *deed == AgentFileOperation::Write { "write_file" } else { "edit_file" };
                    let is_there = !target.is_inside() || self.workspace.stamp(&target).is_some();
                    (tool, Effect::Change(target, if is_there { Change::Replace } else { Change::Create }))
                }
                AgentFileOperation::Remove => ("edit_file", Effect::Change(target, Change::Remove)),
            };
            anyhow::Ok((tool, effect))
        };
        let (tools, effects): (Vec<&str>, Vec<Effect>) =
            files.iter().map(effect).collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        let judge = |(tool, effect)| self.by_effects(tool, std::slice::from_ref(effect));
        let rulings = tools.iter().copied().zip(&effects).map(judge);
        let ruling = rulings.reduce(Ruling::stricter).context("the call names no file")?;
        let ruling = self.stricter_for_other_names(ruling, &effects);
        let planted = self.planted(&effects);
        let tool = tools.first().copied().unwrap_or(COMMANDS);
        Ok(if planted.is_empty() { ruling } else { ruling.stricter(self.by_effects(tool, &planted)) })
    }

    /// Asks about files that are secrets by another name, and about settings of git with a password. A patch shows what is around a change, as a reader does.
    fn stricter_for_other_names(&self, ruling: Ruling, effects: &[Effect]) -> Ruling {
        let touched = effects.iter().filter_map(|effect| match effect {
            Effect::Read(target) | Effect::Change(target, _) => Some(target),
            _ => None,
        });
        let looks = SecretLooks::at(&self.workspace);
        let of_git = git_settings::question_about_files(&self.workspace, touched.clone());
        let ruling = of_git.into_iter().fold(ruling, Ruling::stricter);
        touched.filter_map(|target| secrets::of_other_name(&looks, target)).fold(ruling, Ruling::stricter)
    }

    /// Judges the reading of files by patterns: each as the path that it is, and as the secret that it finds.
    fn many_files(&self, patterns: &[String], folder: &Path) -> anyhow::Result<Ruling> {
        let (mut files, mut found) = (Vec::new(), Vec::new());
        // A pattern with braces may be the name of a file, or stand for several patterns.
        let written_out = |pattern: &String| alternatives(pattern).unwrap_or_default();
        for pattern in patterns.iter().flat_map(|pattern| [vec![pattern.clone()], written_out(pattern)].concat()) {
            let target = self.locate(folder, &pattern, Extent::Tree)?;
            files.push((AgentFileOperation::Read, pattern.clone()));
            if !target.is_inside() {
                continue;
            }
            found.push(target.place().path().to_owned());
            let secret = secrets::found_by_path(&self.workspace, target.place().path());
            let secret = secret.map(|secret| Target::Inside(FileLocation::new(secret, Extent::Entry)));
            let path = secret.and_then(|secret| self.workspace.real_path(&secret));
            files.extend(path.map(|path| (AgentFileOperation::Read, path.to_string_lossy().into_owned())));
        }
        let is_found = |file: &Path| found.iter().any(|pattern: &PathBuf| may_fit_path(pattern, file));
        let of_git = git_settings::question_about_pattern(&self.workspace, is_found);
        Ok(of_git.into_iter().fold(self.files(&files, folder)?, Ruling::stricter))
    }

    /// Returns what a search reads: everything below a folder, and the secrets that it is asked for by name.
    fn searched(&self, folder: &Path, below: &str, only: Option<&str>) -> anyhow::Result<Vec<Effect>> {
        let tree = self.locate(folder, below, Extent::Tree)?;
        let mut effects = vec![Effect::Read(tree.clone())];
        // A pattern that finds a secret among others (`.env*`) is asked about, too.
        let plain = only.map(|only| only.replace(['*', '{', '}', '[', ']'], ""));
        let is_for_secret = |name: &&str| is_secret(Path::new(name));
        if let Some(name) = only.into_iter().chain(plain.as_deref()).find(is_for_secret) {
            let place = FileLocation::new(tree.place().path().join(name), Extent::Entry);
            effects.push(Effect::Read(if tree.is_inside() { Target::Inside(place) } else { Target::Outside(place) }));
        }
        Ok(effects)
    }

    fn search(&self, tool: &str, (folder, below): (&Path, &str), search: AgentSearch<'_>) -> anyhow::Result<Ruling> {
        let mut effects = self.searched(folder, below, search.only)?;
        let tells_content = tool == "grep" && (search.shows_lines || search.only.is_some());
        if let (true, Some(Effect::Read(Target::Inside(place)))) = (tells_content, effects.first()) {
            let secret = secrets::found_by_search(&self.workspace, place.path(), search.only);
            let place = secret.map(|secret| FileLocation::new(secret, Extent::Entry));
            effects.extend(place.map(|place| Effect::Read(Target::Inside(place))));
        }
        let ruling = self.by_effects(tool, &effects);
        if tool != "grep" {
            return Ok(ruling);
        }
        let is_found = |file: &Path| search.only.is_some_and(|only| secrets::may_be_searched(only, file));
        let of_git = git_settings::question_about_pattern(&self.workspace, is_found);
        let ruling = of_git.into_iter().fold(ruling, Ruling::stricter);
        Ok(self.stricter_for_other_names(ruling, &effects))
    }

    fn fetch(&self, addresses: &[String]) -> anyhow::Result<Ruling> {
        let judge = |address: &String| address::judge(address, |effects| self.by_effects("fetch", effects));
        addresses.iter().map(judge).reduce(Ruling::stricter).context("the call names no address")
    }

    /// Judges a tool of a server by each reading of its name. haft's own server judges its calls itself.
    fn server_tool(&self, tool: &ServerTool) -> Ruling {
        let readings = tool.readings(&self.servers);
        let judge = |(server, tool): &(String, String)| {
            self.by_effects(&server_tool::canonical(server, tool), &[remote(server, tool)])
        };
        let ruling = readings.iter().map(judge).reduce(Ruling::stricter);
        let ruling = ruling.unwrap_or_else(|| self.unknown("of a server"));
        match tool.of_haft() {
            Some(tool)
                if self.is_served && is_default_question(&ruling) && (!self.plans || LOOKING.contains(&tool)) =>
            {
                Ruling {
                    decision: Decision::Allow,
                    rule: "haft as a server".to_owned(),
                    reason: "haft judges this call itself when it makes it.".to_owned(),
                    ..ruling
                }
            }
            Some(_) | None => ruling,
        }
    }

    fn unknown(&self, tool: &str) -> Ruling {
        let ruling = self.by_effects(tool, &[remote("the agent", tool)]);
        if !is_default_question(&ruling) {
            return ruling;
        }
        Ruling {
            rule: "unknown tools".to_owned(),
            reason: format!("haft does not know what the tool {} does.", shown(tool)),
            // It runs commands, which haft does not read: no agent answers that by itself.
            class: if tool.to_lowercase().contains("powershell") { Class::Dangerous } else { ruling.class },
            ..ruling
        }
    }

    /// Finds the folder that a call is made in.
    pub(super) fn folder(&self, path: &Path) -> anyhow::Result<PathBuf> {
        let shown = || format!("the folder {} cannot be found", one_line(&path.to_string_lossy()));
        let text = path.to_str().with_context(shown)?;
        match self.workspace.locate(&RawPath::new(text), Extent::Entry) {
            Ok(target @ Target::Inside(_)) => {
                let is_folder = self.workspace.facts(&target).is_ok_and(|facts| facts.kind == FileKind::Folder);
                self.workspace.real_path(&target).filter(|_| is_folder).with_context(shown)
            }
            Ok(Target::Outside(place)) => Ok(place.path().to_owned()),
            Err(error) => Err(anyhow!("{}", error.what)),
        }
    }

    /// Says where a path leads that an agent wrote: from its folder on, unless it is a whole one.
    fn locate(&self, folder: &Path, path: &str, extent: Extent) -> anyhow::Result<Target> {
        let whole = match path {
            "" => return Err(anyhow!("the path is empty")),
            path if path == "~" || path.starts_with("~/") => path.to_owned(),
            path if path.contains("://") => return Err(anyhow!("{} is an address, not a path", shown(path))),
            path => folder.join(path).to_string_lossy().into_owned(),
        };
        self.workspace.locate(&RawPath::new(whole), extent).map_err(|error| anyhow!("{}", error.what))
    }
}

/// Returns whether only the default rule about remote tools asks.
fn is_default_question(ruling: &Ruling) -> bool {
    ruling.is_ordinary_question() && ruling.rule == REMOTE_CHANGES
}

/// Returns the servers that rules about tools name.
fn servers_in(rulebook: &Rulebook) -> Vec<String> {
    let named = |filed: &FiledRule| match &filed.written.rule.matches {
        Pattern::Written(conditions) => conditions.tools.iter().map(|name| name.text().to_owned()).collect(),
        Pattern::Tool(name) => vec![name.clone()],
        Pattern::Effect(_) => Vec::new(),
    };
    let tools: Vec<String> = rulebook.own.iter().chain(&rulebook.project).flat_map(named).collect();
    tools.iter().filter_map(|tool| server_tool::server_in(tool)).map(str::to_owned).collect()
}

/// Returns the judge without what people have allowed.
fn without_permissions(mut rulebook: Rulebook) -> Policy {
    rulebook.own.retain(|filed| filed.written.rule.decision != Decision::Allow);
    rulebook.policy()
}

fn remote(server: &str, tool: &str) -> Effect {
    Effect::Remote(RemoteClaim { server: shown(server), tool: shown(tool), claims: Claim::MayChange })
}

fn shown(name: &str) -> String {
    one_line(name).into_owned()
}

fn said_yes(ruling: Ruling, given: AdvanceYes) -> Ruling {
    Ruling { decision: Decision::Allow, reason: format!("{} {given} allows that.", ruling.reason), ..ruling }
}
