//! Tracks the place in a value that is being fitted, as a chain from the inside out.
//!
//! Most values need no change, so haft writes the path only for a report.

use super::super::fault::{push_index, push_key};

/// A place in the value.
pub(super) struct Site<'p, 's> {
    parent: Option<&'p Site<'p, 's>>,
    step: SiteStep<'p>,
    /// How many places, branches and trials lie around this one.
    pub(super) depth: usize,
    /// Names of properties that the schemas around a union know for the same object.
    pub(super) known: &'p [&'s str],
}

#[derive(Clone, Copy)]
enum SiteStep<'p> {
    /// The value itself.
    Same,
    Key(&'p str),
    Index(usize),
}

impl<'p, 's> Site<'p, 's> {
    /// The whole value.
    pub(super) const ROOT: Site<'static, 'static> = Site { parent: None, step: SiteStep::Same, depth: 0, known: &[] };

    pub(super) fn at_key(&'p self, key: &'p str) -> Self {
        self.inner(SiteStep::Key(key), &[])
    }

    pub(super) fn at_index(&'p self, index: usize) -> Self {
        self.inner(SiteStep::Index(index), &[])
    }

    /// The same value, looked at by one branch of a union or as another reading.
    pub(super) fn in_branch(&'p self, known: &'p [&'s str]) -> Self {
        self.inner(SiteStep::Same, known)
    }

    fn inner(&'p self, step: SiteStep<'p>, known: &'p [&'s str]) -> Self {
        Site { parent: Some(self), step, depth: self.depth + 1, known }
    }

    /// Whether the value is an item of a list.
    pub(super) fn is_item(&self) -> bool {
        match (self.step, self.parent) {
            (SiteStep::Index(_), _) => true,
            (SiteStep::Key(_), _) | (SiteStep::Same, None) => false,
            (SiteStep::Same, Some(around)) => around.is_item(),
        }
    }

    /// Writes the path: `$.edits[1].old_text`.
    pub(super) fn path(&self) -> String {
        let mut chain = vec![self.step];
        let mut site = self;
        while let Some(parent) = site.parent {
            chain.push(parent.step);
            site = parent;
        }
        let mut path = "$".to_owned();
        for step in chain.iter().rev() {
            match step {
                SiteStep::Same => {}
                SiteStep::Key(key) => push_key(&mut path, key),
                SiteStep::Index(index) => push_index(&mut path, *index),
            }
        }
        path
    }
}
