//! Reports what a call did, as the doors noted it under its permit.

use std::collections::HashSet;

use haft_contract::doors::door::{Receipt, RunFacts};
use haft_contract::doors::process::ConfinementLevel;
use haft_contract::effect::{Change, Effect};
use haft_contract::files::change_summary::KindCounts;
use haft_contract::files::path::Target;
use haft_contract::outcome::result::Did;

use super::CallContext;
use crate::pipeline::stage::CallStage;

impl CallContext<'_> {
    /// Returns how many files of each kind the doors changed; nothing where they changed none.
    pub(crate) fn changes(&self) -> Option<KindCounts> {
        let mut counts = KindCounts::default();
        let own = self.receipts().into_iter().filter_map(|receipt| match receipt {
            Receipt::Changed(_, change) => Some(change),
            Receipt::Read(..) | Receipt::Ran { .. } | Receipt::Exited(_) | Receipt::Sent(_) => None,
        });
        for change in own {
            match change {
                Change::Remove => counts.removed += 1,
                Change::Replace => counts.changed += 1,
                Change::Create => counts.created += 1,
            }
        }
        let counts = counts.and(self.changed_by_jobs().1);
        (counts != KindCounts::default()).then_some(counts)
    }

    /// Returns what the doors say was done; what was given up in the middle is not known.
    pub(crate) fn did(&self) -> Did {
        let (abandoned, effects) = self.note(|notes| (notes.abandoned, notes.effects.clone().unwrap_or_default()));
        let receipts = self.receipts();
        let is_unseen =
            |receipt: &Receipt| matches!(receipt, Receipt::Ran { uncovered: Some(_), .. } | Receipt::Sent(_));
        if abandoned && effects.iter().any(Effect::changes) || receipts.iter().any(is_unseen) {
            return Did::Unknown(effects);
        }
        let mut files = changed_in(&receipts);
        files.extend(self.changed_by_jobs().0.into_iter().map(|(target, _)| target));
        if files.is_empty() {
            return Did::Nothing;
        }
        let change_set = self.permit.get().and_then(|permit| permit.receipts().change_set());
        Did::Changed { change_set, files }
    }

    /// Returns what was done by a call that failed: what no door sees may have happened once it had begun.
    pub(crate) fn did_of_failure(&self) -> Did {
        let effects = self.note(|notes| notes.effects.clone().unwrap_or_default());
        let is_unseen = |effect: &Effect| effect.changes() && !effect.is_noted();
        match self.did() {
            Did::Nothing if self.stage() >= CallStage::Execute && effects.iter().any(is_unseen) => {
                Did::Unknown(effects)
            }
            did => did,
        }
    }

    /// Returns the exit status of the last command that was run.
    pub(crate) fn exit_code(&self) -> Option<i32> {
        self.receipts().iter().rev().find_map(|receipt| match receipt {
            Receipt::Exited(status) => Some(*status),
            Receipt::Read(..) | Receipt::Changed(..) | Receipt::Ran { .. } | Receipt::Sent(_) => None,
        })
    }

    /// Returns what is known of the commands that have ended.
    pub(crate) fn run_facts(&self) -> RunFacts {
        self.permit.get().map(|permit| permit.receipts().run_facts()).unwrap_or_default()
    }

    /// Returns how strongly commands were confined: the weakest counts.
    pub(crate) fn sandbox(&self) -> Option<ConfinementLevel> {
        let level = |receipt: &Receipt| match receipt {
            Receipt::Ran { level, .. } => Some(*level),
            Receipt::Read(..) | Receipt::Changed(..) | Receipt::Exited(_) | Receipt::Sent(_) => None,
        };
        self.receipts().iter().filter_map(level).min()
    }

    /// Returns what jobs changed whose end this call tells, and how many files of each kind.
    fn changed_by_jobs(&self) -> (Vec<(Target, Change)>, KindCounts) {
        self.permit.get().map(|permit| permit.receipts().changed_by_jobs()).unwrap_or_default()
    }

    /// Returns what the doors noted.
    pub(crate) fn receipts(&self) -> Vec<Receipt> {
        self.permit.get().map(|permit| permit.receipts().so_far()).unwrap_or_default()
    }
}

/// Returns the files that were changed, each once.
pub(super) fn changed_in(receipts: &[Receipt]) -> Vec<Target> {
    let changed = receipts.iter().filter_map(|receipt| match receipt {
        Receipt::Changed(target, _) => Some(target),
        Receipt::Read(..) | Receipt::Ran { .. } | Receipt::Exited(_) | Receipt::Sent(_) => None,
    });
    let mut changed = changed.peekable();
    if changed.peek().is_none() {
        return Vec::new();
    }
    let mut seen = HashSet::new();
    changed.filter(|target| seen.insert(*target)).cloned().collect()
}
