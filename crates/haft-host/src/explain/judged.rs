//! A command, read and judged: everything that is said of it, before it is shown to a person or a program.

use std::ops::Range;

use anyhow::Context;
use haft_contract::effect::{Does, Effect};
use haft_contract::path::Target;
use haft_contract::process::Level;
use haft_policy::command::Scene;
use haft_policy::containment::Containment;
use haft_policy::containment::Undo;
use haft_policy::decision::Ruling;
use haft_policy::policy::{Policy, Situation};
use haft_policy::rule::EffectSort;
use haft_tools::bash::reading::{read_command, scene};
use haft_workspace::files::Workspace;

use crate::loaded_workspace::LoadedWorkspace;
use crate::options::Options;
use crate::project_files::OnUntrusted;

/// The tool whose calls are explained.
const TOOL: &str = "bash";

/// What is said of a command.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The command.
    pub command: String,
    /// The strictest decision about any part.
    pub ruling: Ruling,
    /// What its parts would do, in the order of the command.
    pub parts: Vec<JudgedPart>,
    /// How it would run.
    pub confined: Confined,
    /// What a person could say yes to for the rest of the session, in words, the narrowest first.
    pub grants: Vec<String>,
}

/// One thing that a part of a command would do, and what the rules say of it.
#[derive(Clone, Debug)]
pub struct JudgedPart {
    /// In words, as the end of "it would …".
    pub does: String,
    /// Whether it only lists the workspace.
    pub lists_workspace: bool,
    /// Which bytes of the command.
    pub part: Range<usize>,
    /// Its kind.
    pub sort: EffectSort,
    /// What the rules say of it.
    pub ruling: Ruling,
}

/// How the command would run, if it is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confined {
    /// The level of the sandbox that the settings require.
    pub required: Level,
    /// Whether it would reach the network.
    pub network: bool,
}

impl Confined {
    /// Returns whether what the command changes can be taken back: that needs the layer of a full sandbox.
    pub fn can_be_undone(&self) -> bool {
        self.required == Level::Full
    }

    /// Says what undo would bring back.
    pub fn undo(&self) -> Undo {
        Undo { sends: self.network }
    }
}

/// Judges commands in one workspace.
pub struct Judge {
    workspace: Workspace,
    scene: Scene,
    policy: Policy,
    situation: Situation<'static>,
    required: Level,
    /// Whether all commands have the network.
    network: bool,
}

impl Judge {
    /// Gets ready for the workspace that the command line names. No state is changed.
    pub fn open(options: &Options) -> anyhow::Result<Self> {
        let LoadedWorkspace { settings, workspace, rulebook, .. } =
            LoadedWorkspace::open(options, OnUntrusted::Report)?;
        let surroundings = &settings.surroundings;
        Ok(Self {
            scene: scene(&workspace, workspace.path()).context("the workspace has no real path")?,
            workspace,
            policy: rulebook.policy(),
            situation: Situation { contained: contained(surroundings.network), ..options.mode.into() },
            required: surroundings.required,
            network: surroundings.network,
        })
    }

    /// Reads and judges a command.
    pub fn explain(&self, command: &str) -> Explained {
        let effects = read_command(command, &self.scene, &self.workspace);
        let situation = self.situation;
        let ruling = self.policy.judge(TOOL, &effects, situation);
        let judged = self.policy.judge_each(TOOL, &effects, situation);
        let has_network = self.network || effects.iter().any(Effect::gives_network);
        let offers = self.policy.offers(TOOL, &effects, situation);
        Explained {
            command: command.to_owned(),
            parts: judged.into_iter().filter_map(|(effect, ruling)| JudgedPart::of(effect, ruling)).collect(),
            confined: Confined { required: self.required, network: has_network },
            grants: offers.iter().map(|scope| scope.to_string()).collect(),
            ruling,
        }
    }
}

impl JudgedPart {
    fn of(effect: &Effect, ruling: Ruling) -> Option<Self> {
        let Effect::Step(step) = effect else { return None };
        let (from, to) = step.part;
        let lists_workspace =
            matches!(&step.does, Does::List(Target::Inside(place)) if place.path().as_os_str().is_empty());
        let (does, sort) = (step.does.to_string(), EffectSort::of(effect));
        Some(Self { does, lists_workspace, part: from..to, sort, ruling })
    }
}

/// What is known without trying the sandbox: the settings may give every command the network.
fn contained(has_network: bool) -> Containment {
    if has_network { Containment::WithNetwork } else { Containment::Contained }
}
