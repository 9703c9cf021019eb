//! Whether `haft undo` can take back what a call would do, so that a yes beforehand (`--yes`) may answer for it.
//!
//! haft's own tools record what they change in the workspace. What a command changes is recorded where a layer takes it.
//! What has left the machine cannot be taken back.
//!
//! Not here: how much is at stake (`decision`). A dangerous question needs a person, whether undo covers it or not.

use haft_contract::effect::Effect;

use crate::containment::Containment;
use crate::rule::EffectSort;

/// Returns whether undo can take back an effect, or there is nothing to take back, where commands are contained like this.
/// There is no rest: a new sort must be placed here.
pub fn can_be_undone(effect: &Effect, contained: Containment) -> bool {
    match EffectSort::of(effect) {
        EffectSort::ReadInside
        | EffectSort::ReadSecret
        | EffectSort::ChangeInside
        | EffectSort::ChangeGuarded
        | EffectSort::Session
        // The calls of the other agent are judged themselves.
        | EffectSort::Delegate => true,
        EffectSort::Run
        | EffectSort::CommandPrints
        | EffectSort::CommandReadsSystem
        | EffectSort::CommandReadsElsewhere
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
        | EffectSort::CommandActsOnProcesses => contained < Containment::WithoutLayer,
        EffectSort::ReadOutside
        | EffectSort::ChangeOutside
        | EffectSort::Expose
        | EffectSort::Connect
        | EffectSort::RemoteRead
        | EffectSort::RemoteChange
        | EffectSort::CommandRevealsSecret
        | EffectSort::CommandChangesOutside
        | EffectSort::CommandConnects
        | EffectSort::CommandPublishes
        | EffectSort::Dangerous(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_contract::effect::{Change, CommandLine, Does, Exposure, Host, Step};
    use haft_contract::path::{Extent, Place, Target};

    fn step(does: Does) -> Effect {
        let words = std::sync::Arc::from(["x".to_owned()]);
        Effect::Step(Step { command: "x".into(), folder: "".into(), part: (0, 1), words, does })
    }

    fn inside(path: &str) -> Target {
        Target::Inside(Place::new(path, Extent::Entry))
    }

    #[test]
    fn undo_covers_tools_everywhere_commands_with_a_layer_and_nothing_that_leaves_the_machine() {
        use Containment::{Contained, WeakSandbox, WithNetwork, WithoutLayer, WithoutSandbox};
        let host = || Host("x.example".into());
        let by_tools = [Effect::Change(inside("a"), Change::Replace), Effect::Read(inside("a"))];
        let by_commands = [
            Effect::Run(CommandLine("make".into())),
            step(Does::Change(inside("a"), Change::Remove)),
            step(Does::Code("run the tests".into())),
            step(Does::History("commit".into())),
            step(Does::Unknown("it is odd".into())),
        ];
        let gone = [
            Effect::Connect(host()),
            step(Does::Connect(Some(host()))),
            step(Does::Connect(None)),
            step(Does::Publish("push commits to another repository".into())),
            step(Does::Serve("let other machines connect".into())),
            Effect::Expose(Exposure::WideWorkspace("/".into())),
        ];
        for contained in [Contained, WithNetwork, WeakSandbox, WithoutLayer, WithoutSandbox] {
            let has_layer = contained < WithoutLayer;
            assert!(by_tools.iter().all(|effect| can_be_undone(effect, contained)), "{contained:?}");
            assert!(by_commands.iter().all(|effect| can_be_undone(effect, contained) == has_layer), "{contained:?}");
            assert!(!gone.iter().any(|effect| can_be_undone(effect, contained)), "{contained:?}");
        }
    }
}
