//! Files of the workspace that trusted code names: programs, scripts and modules that tools and hooks run.
//!
//! haft protects them like the well-known names (`haft_contract::files::guarded`). Only the code that reads the trusted files
//! knows these names, so it passes them to the judge.
//!
//! Not here: which files those are (`haft_workspace::project`), and what a command turns out to change (`files/layer`).

use std::collections::BTreeSet;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_contract::effect::{Change, CommandStep, Effect, StepEffect};
use haft_contract::files::path::Target;

use crate::effect_kind::EffectKind;

/// Files of the workspace that trusted code names.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamedFiles(Arc<BTreeSet<PathBuf>>);

/// What is said of a change of one of them.
const WHY: &str =
    " Trusted tools or hooks run that file; haft would not run them again until a person trusts them again.";

impl NamedFiles {
    /// Takes more files in, by their paths from the root of the workspace.
    pub(crate) fn extend(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        Arc::make_mut(&mut self.0).extend(files);
    }

    /// Sorts an effect, with these files among the protected names.
    pub(crate) fn sort_of(&self, effect: &Effect) -> EffectKind {
        match EffectKind::of(effect) {
            sort if !self.is_changed_by(effect) => sort,
            EffectKind::ChangeInside => EffectKind::ChangeGuarded,
            EffectKind::CommandCreatesInside
            | EffectKind::CommandChangesInside
            | EffectKind::CommandRemovesInside
            | EffectKind::CommandChangesSecret => EffectKind::CommandChangesProtected,
            sort => sort,
        }
    }

    /// Says what is special about an effect, if it changes one of them.
    pub(crate) fn why(&self, effect: &Effect) -> Option<&'static str> {
        self.is_changed_by(effect).then_some(WHY)
    }

    /// Says whether an effect changes one of them, or removes a folder that holds one.
    fn is_changed_by(&self, effect: &Effect) -> bool {
        let (Effect::Change(Target::Inside(place), change)
        | Effect::Step(CommandStep { does: StepEffect::Change(Target::Inside(place), change), .. })) = effect
        else {
            return false;
        };
        let path = place.path();
        self.0.contains(path) || (*change == Change::Remove && self.has_one_in(path))
    }

    fn has_one_in(&self, folder: &Path) -> bool {
        let mut behind = self.0.range::<Path, _>((Bound::Excluded(folder), Bound::Unbounded));
        // The workspace itself is another matter.
        !folder.as_os_str().is_empty() && behind.next().is_some_and(|next| next.starts_with(folder))
    }
}
