//! How far a call reaches: whether all that it touches is the workspace, or something beyond it.
//!
//! For who lets calls run where the workspace is only a copy: what stays in it harms nobody. A command is taken by its
//! words here; that it stays where they say is the sandbox's work.

use haft_contract::effect::Effect;

use crate::rule::EffectSort;

/// How far something reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// The files of the workspace, and what only the session or a confined command has.
    Workspace,
    /// Other files, other machines, or what nobody can tell.
    Beyond,
}

impl Reach {
    /// Says how far an effect reaches. There is no rest: a new sort must be placed here.
    pub fn of(effect: &Effect) -> Self {
        match EffectSort::of(effect) {
            EffectSort::ReadInside
            | EffectSort::ReadSecret
            | EffectSort::ChangeInside
            | EffectSort::ChangeGuarded
            | EffectSort::Run
            | EffectSort::Session
            | EffectSort::CommandPrints
            | EffectSort::CommandReadsSystem
            | EffectSort::CommandReadsUnknown
            | EffectSort::CommandCreatesInside
            | EffectSort::CommandChangesInside
            | EffectSort::CommandRemovesInside
            | EffectSort::CommandRemovesWorkspace
            | EffectSort::CommandChangesUnknown
            | EffectSort::CommandChangesTemporary
            | EffectSort::CommandChangesSecret
            | EffectSort::CommandChangesProtected
            | EffectSort::CommandRunsCode
            | EffectSort::CommandRunsUnknownProgram
            | EffectSort::CommandNotUnderstood
            | EffectSort::CommandChangesSettings
            | EffectSort::CommandChangesShell
            | EffectSort::CommandChangesHistory
            | EffectSort::CommandActsOnProcesses => Reach::Workspace,
            EffectSort::ReadOutside
            | EffectSort::ChangeOutside
            | EffectSort::Expose
            | EffectSort::Connect
            | EffectSort::RemoteRead
            | EffectSort::RemoteChange
            | EffectSort::Delegate
            | EffectSort::CommandReadsElsewhere
            | EffectSort::CommandRevealsSecret
            | EffectSort::CommandChangesOutside
            | EffectSort::CommandConnects
            | EffectSort::CommandPublishes
            | EffectSort::Dangerous(_) => Reach::Beyond,
        }
    }
}
