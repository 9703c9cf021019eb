//! Judges what an agent is about to do, by the rules that hold for haft's own tools.
//!
//! A call is said as the effects that the same call of haft's tool would have, so the same rules speak about it under the
//! same names. What differs: haft runs nothing here, so nothing is contained, and what haft would undo or throw away is
//! not allowed because of that.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use haft::door::{FileKind, Look};
use haft::effect::{AgentName, Change, Claim, CommandLine, Effect, Exposure, Host, RemoteClaim, StateKey};
use haft::guarded::is_secret;
use haft::path::{Extent, Place, RawPath, Target, one_line};
use haft::process::Level;
use haft_config::settings::Settings;
use haft_policy::containment::Containment;
use haft_policy::containment::only_looks;
use haft_policy::decision::{Class, Decision, Ruling};
use haft_policy::policy::{Mode, Policy, Situation};
use haft_runtime::redact::Redactor;
use haft_tools::bash::reading::{read_command, scene};
use haft_workspace::files::Workspace;

use super::address;
use super::event::Event;
use super::place;
use super::wanted::{Deed, Wanted};
use crate::arguments::Common;
use crate::brought::Manner;
use crate::desk::mode;
use crate::ground::Ground;
use crate::rulebook::Rulebook;

const COMMANDS: &str = "bash";

/// Judges in one workspace.
pub(super) struct Judge {
    settings: Settings,
    workspace: Workspace,
    policy: Policy,
    mode: Mode,
    says_yes: bool,
}

impl Judge {
    /// Gets ready for the workspace that an event is about. No state is changed, and nobody is asked.
    pub(super) fn open(common: &Common, event: &Event) -> anyhow::Result<Self> {
        let common = place::workspace(common, event);
        let Ground { settings, workspace, rulebook, .. } = Ground::open(&common, Manner::Telling)?;
        // Where the agent itself changes nothing, a yes of ours must not be what lets it.
        let policy = if event.plans { without_permissions(rulebook) } else { rulebook.policy() };
        let says_yes = common.yes && !event.plans;
        Ok(Self { settings, workspace, policy, mode: mode(&common), says_yes })
    }

    /// Returns what hides secrets in an answer.
    pub(super) fn redactor(&self) -> Redactor {
        Redactor::of_values(self.settings.environment.secrets.iter().cloned())
    }

    /// Judges an event; fails with why that cannot be done.
    pub(super) fn judge(&self, event: &Event) -> anyhow::Result<Ruling> {
        let folder = self.folder(&event.folder)?;
        let ruling = match Wanted::of(event).map_err(|why| anyhow!(why))? {
            Wanted::Command { text, folder: elsewhere, leaves_sandbox } => {
                let folder = elsewhere.map_or(Ok(folder.clone()), |elsewhere| self.folder(&folder.join(elsewhere)))?;
                return self.command(&text, &folder).map(|ruling| leaving(ruling, leaves_sandbox));
            }
            Wanted::Files(files) => self.files(&files, &folder)?,
            Wanted::Search { tool, folder: below, only } => {
                let below = below.unwrap_or_else(|| ".".to_owned());
                self.by_effects(tool, &self.searched(&folder, &below, only.as_deref())?)
            }
            Wanted::Fetch(addresses) => self.fetch(&addresses)?,
            Wanted::WebSearch => {
                self.by_effects("web_search", &[Effect::Connect(Host("the web search of the agent".to_owned()))])
            }
            Wanted::Server { server, tool } => {
                let name = format!("mcp__{server}__{tool}");
                self.by_effects(&name, &[remote(&server, &tool)])
            }
            Wanted::Delegate(agent) => self.by_effects("agent", &[Effect::Delegate(AgentName(shown(&agent)))]),
            Wanted::Notes => self.by_effects("todo", &[Effect::Session(StateKey("notes".to_owned()))]),
            Wanted::Unknown => self.unknown(&event.tool),
        };
        Ok(if self.says_yes && ruling.is_ordinary_question() { said_yes(ruling) } else { ruling })
    }

    fn by_effects(&self, tool: &str, effects: &[Effect]) -> Ruling {
        let contained = Containment::WithoutSandbox;
        self.policy.judge(tool, effects, Situation { contained, ..self.mode.into() })
    }

    /// Judges a command that starts in this folder.
    fn command(&self, text: &str, folder: &Path) -> anyhow::Result<Ruling> {
        let scene = scene(&self.workspace, folder).context("the workspace has no real path")?;
        let parts = read_command(text, &scene, &self.workspace);
        let looks = only_looks(&parts);
        let mut effects = vec![Effect::Run(CommandLine(text.to_owned()))];
        effects.extend(parts);
        // Whoever only looks around in the home does there what they could do anywhere.
        let wide = self.workspace.wide_workspace().filter(|_| !looks);
        effects.extend(wide.map(|path| Effect::Expose(Exposure::WideWorkspace(path))));
        let ruling = self.by_effects(COMMANDS, &effects);
        Ok(match ruling {
            ruling if self.mode != Mode::Normal && !looks && ruling.decision != Decision::Deny => {
                ruling.stricter(cannot_be_thrown_away(self.mode))
            }
            ruling if self.says_yes && ruling.is_ordinary_question() => self.yes_to_command(ruling),
            ruling => ruling,
        })
    }

    /// Says yes to a command only where the settings say that commands need no sandbox: here they have none.
    fn yes_to_command(&self, ruling: Ruling) -> Ruling {
        if self.settings.surroundings.required == Level::None {
            return said_yes(ruling);
        }
        let reason = format!("{} --yes does not answer that, because haft's sandbox is not around it.", ruling.reason);
        Ruling { reason, ..ruling }
    }

    fn files(&self, files: &[(Deed, String)], folder: &Path) -> anyhow::Result<Ruling> {
        let judge = |(deed, path): &(Deed, String)| {
            let target = self.locate(folder, path, Extent::Entry)?;
            let (tool, effect) = match deed {
                Deed::Read => ("read_file", Effect::Read(target)),
                Deed::Write | Deed::Edit => {
                    let tool = if *deed == Deed::Write { "write_file" } else { "edit_file" };
                    let is_there = !target.is_inside() || self.workspace.stamp(&target).is_some();
                    (tool, Effect::Change(target, if is_there { Change::Replace } else { Change::Create }))
                }
                Deed::Remove => ("edit_file", Effect::Change(target, Change::Remove)),
            };
            anyhow::Ok(self.by_effects(tool, &[effect]))
        };
        let rulings: Vec<Ruling> = files.iter().map(judge).collect::<Result<_, _>>()?;
        rulings.into_iter().reduce(Ruling::stricter).context("the call names no file")
    }

    /// Returns what a search reads: everything below a folder, and the secrets that it is asked for by name.
    fn searched(&self, folder: &Path, below: &str, only: Option<&str>) -> anyhow::Result<Vec<Effect>> {
        let tree = self.locate(folder, below, Extent::Tree)?;
        let mut effects = vec![Effect::Read(tree.clone())];
        // A pattern that finds a secret among others (`.env*`) is asked about, too.
        let plain = only.map(|only| only.replace(['*', '{', '}', '[', ']'], ""));
        let is_for_secret = |name: &&str| is_secret(Path::new(name));
        if let Some(name) = only.into_iter().chain(plain.as_deref()).find(is_for_secret) {
            let place = Place::new(tree.place().path().join(name), Extent::Entry);
            effects.push(Effect::Read(if tree.is_inside() { Target::Inside(place) } else { Target::Outside(place) }));
        }
        Ok(effects)
    }

    fn fetch(&self, addresses: &[String]) -> anyhow::Result<Ruling> {
        let judge = |address: &String| address::judge(address, |effects| self.by_effects("fetch", effects));
        addresses.iter().map(judge).reduce(Ruling::stricter).context("the call names no address")
    }

    fn unknown(&self, tool: &str) -> Ruling {
        let ruling = self.by_effects(tool, &[remote("the agent", tool)]);
        if !ruling.is_ordinary_question() || ruling.rule != "remote changes" {
            return ruling;
        }
        Ruling {
            rule: "unknown tools".to_owned(),
            reason: format!("haft does not know what the tool {} does.", shown(tool)),
            ..ruling
        }
    }

    /// Finds the folder that a call is made in.
    fn folder(&self, path: &Path) -> anyhow::Result<PathBuf> {
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
            path if path.contains("://") => return Err(anyhow!("{} is an address and no path", shown(path))),
            path => folder.join(path).to_string_lossy().into_owned(),
        };
        self.workspace.locate(&RawPath::new(whole), extent).map_err(|error| anyhow!("{}", error.what))
    }
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

fn said_yes(ruling: Ruling) -> Ruling {
    Ruling { decision: Decision::Allow, reason: format!("{} --yes says yes to that.", ruling.reason), ..ruling }
}

/// Asks about a command that is to run outside of the sandbox that the agent has: a yes would be a yes to that.
fn leaving(ruling: Ruling, leaves_sandbox: bool) -> Ruling {
    if !leaves_sandbox {
        return ruling;
    }
    ruling.stricter(Ruling {
        decision: Decision::Ask,
        class: Class::Dangerous,
        rule: "weak sandbox".to_owned(),
        reason: "It would run outside of the sandbox of the agent.".to_owned(),
        instead: "run it in the sandbox, or ask the user".to_owned(),
    })
}

/// Refuses a command whose changes were to be shown and thrown away, which only haft's own sandbox can do.
fn cannot_be_thrown_away(mode: Mode) -> Ruling {
    let rule = if mode == Mode::Try { "try mode" } else { "plan mode" };
    Ruling {
        decision: Decision::Deny,
        class: Class::Ordinary,
        rule: rule.to_owned(),
        reason: "It may change something, and what it changes cannot be thrown away here.".to_owned(),
        instead: "describe what you would run, and let the user leave that mode".to_owned(),
    }
}
