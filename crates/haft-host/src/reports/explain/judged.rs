//! Reads and judges a command, and collects everything to show about it to a person or a program.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use anyhow::Context;
use haft_command::CommandScene;
use haft_config::surroundings::CommandSurroundings;
use haft_contract::doors::door::{Breadth, Look};
use haft_contract::doors::process::ConfinementLevel;
use haft_contract::effect::{Effect, StepEffect};
use haft_contract::files::path::Target;
use haft_policy::containment::Containment;
use haft_policy::containment::UndoCoverage;
use haft_policy::decision::{Decision, Ruling};
use haft_policy::effect_kind::EffectKind;
use haft_policy::grant::GrantScope;
use haft_policy::policy::{Policy, Situation};
use haft_runtime::redaction::redact::Redactor;
use haft_tools::run::bash::reading::{read_command, scene};
use haft_workspace::files::Workspace;
use serde_json::json;

use crate::opening::loaded_workspace::LoadedWorkspace;
use crate::opening::project_files::OnUntrusted;
use crate::options::Options;

/// The tool whose calls are explained.
const TOOL: &str = "bash";

/// The explanation of a command: its ruling, its parts and how it would run.
#[derive(Clone, Debug)]
pub struct CommandExplanation {
    /// The command.
    pub command: String,
    /// The strictest decision about any part.
    pub ruling: Ruling,
    /// What its parts would do, in the order of the command.
    pub parts: Vec<JudgedPart>,
    /// How it would run.
    pub confined: CommandConfinement,
    /// What a session decides, where that is less strict.
    pub in_session: Option<InSession>,
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
    pub sort: EffectKind,
    /// What the rules say of it.
    pub ruling: Ruling,
}

/// The sandbox level and the network access that a command would run with, if it is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandConfinement {
    /// The level of the sandbox that the settings require.
    pub required: ConfinementLevel,
    /// Whether it would reach the network.
    pub network: bool,
    /// Whether it reaches hosts by name, and each connection is judged when it is made.
    pub by_name: bool,
}

/// What haft decides in a session of its own, where the sandbox makes more harmless than the words tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InSession {
    /// The decision.
    pub decision: Decision,
    /// What the sandbox makes harmless, in words.
    pub because: Vec<String>,
}

impl CommandConfinement {
    /// Returns whether what the command changes can be taken back: that needs the layer of a full sandbox.
    pub fn can_be_undone(&self) -> bool {
        self.required == ConfinementLevel::Full
    }

    /// Says what undo would bring back.
    pub fn undo(&self) -> UndoCoverage {
        UndoCoverage { sends: self.network }
    }
}

/// Judges commands in one workspace.
pub struct CommandJudge {
    workspace: Workspace,
    scene: CommandScene,
    policy: Policy,
    situation: Situation<'static>,
    required: ConfinementLevel,
    /// Whether all commands have the network.
    network: bool,
    /// Hides what is secret, in the workspace as well.
    redactor: Redactor,
}

impl CommandJudge {
    /// Gets ready for the workspace that the command line names. No state is changed.
    pub fn open(options: &Options) -> anyhow::Result<Self> {
        let LoadedWorkspace { settings, workspace, rulebook, .. } =
            LoadedWorkspace::open(options, OnUntrusted::Report)?;
        let surroundings = &settings.surroundings;
        let redactor = Redactor::of_values(settings.environment.secrets.iter().cloned());
        redactor.also_hide_files(&workspace.secrets(Breadth::FirstLevel).changed);
        Ok(Self {
            scene: scene(&workspace, workspace.path()).context("the workspace has no real path")?,
            workspace,
            policy: rulebook.policy(),
            situation: Situation { contained: contained(surroundings), ..options.mode.into() },
            required: surroundings.required,
            network: surroundings.network,
            redactor,
        })
    }

    /// Reads and judges a command.
    pub fn explain(&self, command: &str) -> CommandExplanation {
        let effects = read_command(command, &self.scene, &self.workspace);
        let arguments = json!({ "command": command });
        let situation = Situation { arguments: Some(&arguments), ..self.situation };
        let ruling = self.policy.judge(TOOL, &effects, situation);
        let judged = self.policy.judge_each(TOOL, &effects, situation);
        let has_network = self.network || effects.iter().any(Effect::gives_network);
        let offers = self.policy.offers(TOOL, &effects, situation);
        let by_name = self.required == ConfinementLevel::Full && !self.network;
        let words = |scope: &GrantScope| if by_name { scope.by_name() } else { scope.to_string() };
        let explained = CommandExplanation {
            command: command.to_owned(),
            parts: judged.into_iter().filter_map(|(effect, ruling)| JudgedPart::of(effect, ruling)).collect(),
            confined: CommandConfinement { required: self.required, network: has_network, by_name: self.by_name() },
            in_session: self.in_session(&effects, ruling.decision, situation),
            grants: offers.iter().map(words).collect(),
            ruling,
        };
        explained.hidden_by(&self.redactor)
    }
}

impl CommandJudge {
    /// Returns whether commands reach hosts by name: that needs the full sandbox, and a build that supervises it.
    fn by_name(&self) -> bool {
        self.required == ConfinementLevel::Full && !self.network && cfg!(all(feature = "sandbox", feature = "model"))
    }

    /// Judges a command as a session of haft does: with folders and a network of its own.
    fn in_session(&self, effects: &[Effect], by_words: Decision, outside: Situation<'_>) -> Option<InSession> {
        if self.required != ConfinementLevel::Full {
            return None;
        }
        let own_home = Some(Path::new(&self.scene.home));
        let situation = Situation { by_name: !self.network, own_home, ..outside };
        let decision = self.policy.judge(TOOL, effects, situation).decision;
        let before = self.policy.judge_each(TOOL, effects, outside);
        let after = self.policy.judge_each(TOOL, effects, situation);
        let is_looser = |(before, after): &(Ruling, Ruling)| after.decision < before.decision;
        let pairs = before.into_iter().map(|(_, ruling)| ruling).zip(after.into_iter().map(|(_, ruling)| ruling));
        let mut because: Vec<String> = pairs.filter(is_looser).map(|(_, after)| after.reason).collect();
        because.dedup();
        (decision < by_words).then_some(InSession { decision, because })
    }
}

impl CommandExplanation {
    /// Hides what is secret in all words, and finds the parts of the command in what is left of it.
    fn hidden_by(mut self, redactor: &Redactor) -> Self {
        let hide = |text: &mut String| {
            if let Cow::Owned(hidden) = redactor.redact_known(text) {
                *text = hidden;
            }
        };
        let command = std::mem::take(&mut self.command);
        let hidden = redactor.redact_known(&command).into_owned();
        for part in &mut self.parts {
            if hidden != command {
                let text = redactor.redact_known(command.get(part.part.clone()).unwrap_or_default());
                // A part that cannot be found is not marked.
                part.part = hidden.find(&*text).map_or(0..0, |at| at..at + text.len());
            }
            [&mut part.does, &mut part.ruling.reason, &mut part.ruling.instead].into_iter().for_each(hide);
        }
        [&mut self.ruling.reason, &mut self.ruling.instead].into_iter().chain(&mut self.grants).for_each(hide);
        self.in_session.iter_mut().flat_map(|session| &mut session.because).for_each(hide);
        Self { command: hidden, ..self }
    }
}

impl JudgedPart {
    fn of(effect: &Effect, ruling: Ruling) -> Option<Self> {
        let Effect::Step(step) = effect else { return None };
        let (from, to) = step.part;
        let lists_workspace =
            matches!(&step.does, StepEffect::List(Target::Inside(place)) if place.path().as_os_str().is_empty());
        let (does, sort) = (step.does.to_string(), EffectKind::of(effect));
        Some(Self { does, lists_workspace, part: from..to, sort, ruling })
    }
}

/// What is known without trying the sandbox: the settings may give every command the network.
fn contained(surroundings: &CommandSurroundings) -> Containment {
    if surroundings.network { Containment::WithNetwork } else { Containment::Contained }
}
