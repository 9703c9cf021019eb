//! Gives a hook more than the call: its place, a way to warn, and commands whose changes are discarded.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use haft_contract::context::RunContext;
use haft_contract::doors::door::Provenance;
use haft_contract::doors::process::{CommandSpec, Disposition, OutputListener, SettledCommand};
use haft_contract::effect::{CommandLine, CommandStep, Effect, StepEffect};
use haft_contract::files::path::{Extent, RawPath};
use haft_contract::outcome::error::ToolError;
use haft_policy::policy::Mode;

use super::rule_of;
use crate::confining::permits;
use crate::pipeline::call_context::CallContext;

/// Longest warning of a hook, in characters.
const LONGEST_WARNING: usize = 2_000;

/// What a hook has beside the call.
pub struct HookContext<'a> {
    cx: &'a CallContext<'a>,
    hook: &'a str,
}

/// Whether the command of a hook reaches the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookReach {
    /// Only itself.
    Nothing,
    /// Other machines.
    Network,
}

impl<'a> HookContext<'a> {
    pub(super) fn new(cx: &'a CallContext<'a>, hook: &'a str) -> Self {
        Self { cx, hook }
    }

    /// Returns what tells this session from all others.
    pub fn session(&self) -> &str {
        &self.cx.session.run
    }

    /// Returns whether changes are possible at all.
    pub fn mode(&self) -> Mode {
        self.cx.session.mode()
    }

    /// Returns the real path of the workspace, where there is one.
    pub fn workspace(&self) -> Option<PathBuf> {
        let look = &self.cx.session.ground.doors.look;
        let path = look.real_path(&look.locate(&RawPath::new("."), Extent::Tree).ok()?)?;
        // Without a slash at its end: scripts put their own behind it.
        Some(path.components().collect())
    }

    /// Returns the path of the first of these programs that commands find.
    pub fn find_program(&self, names: &[&str]) -> Option<PathBuf> {
        self.cx.session.ground.doors.processes.find_program(names)
    }

    /// Returns the text without secrets.
    pub fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.cx.session.ground.redactor.redact(text)
    }

    /// Adds a note to the result, which model and person read; it begins with the name of the hook.
    pub fn warn(&self, words: &str) {
        let words = self.hide(words);
        let words = match words.char_indices().nth(LONGEST_WARNING) {
            None => words.into_owned(),
            Some((end, _)) => format!("{} […]", &words[..end]),
        };
        self.cx.note(|notes| notes.warnings.push(format!("The hook \"{}\" {words}", self.hook)));
    }

    /// Runs a command in the sandbox over the workspace; haft shows what it changes and then discards it.
    ///
    /// It has a permit of its own, for this one command: what the hook does is nothing that the call did.
    pub async fn run(
        &self,
        command: &CommandSpec,
        reach: HookReach,
        heard: OutputListener<'_>,
    ) -> Result<SettledCommand, ToolError> {
        let session = self.cx.session;
        let errand = Provenance {
            call: self.cx.id.clone(),
            tool: rule_of(self.hook),
            session: session.name.clone(),
            run: session.run.clone(),
            turn: self.cx.turn.number,
            purpose: haft_contract::doors::door::Purpose::default(),
            old_changes: haft_contract::doors::door::OldChanges::Stay,
        };
        let mut effects = vec![Effect::Run(CommandLine(command.line.clone()))];
        effects.extend((reach == HookReach::Network).then(|| connects(command)));
        let stop = self.cx.place.stop.child_token();
        let permit = permits::issue(errand, effects.into(), stop);
        let ground = &session.ground;
        let run = RunContext::new(&permit, &ground.doors, &session.name, &ground.limits).reporting(self.cx);
        run.settling(Disposition::Discard).run(command, heard).await
    }
}

fn connects(command: &CommandSpec) -> Effect {
    Effect::Step(CommandStep {
        command: command.line.as_str().into(),
        folder: "".into(),
        part: (0, command.line.len()),
        words: Arc::from(["sh".to_owned()]),
        does: StepEffect::Connect(None),
    })
}
