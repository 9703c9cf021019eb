//! Two states of a shell that are both possible become one, which holds everything that either of them holds.

use std::sync::Arc;

use super::super::super::places::Folder;
use super::super::super::value::Value;
use super::super::variable::{Fit, Variable};
use super::{Function, Hidden, Shell, add_folders, add_new};

/// How many meanings of a function are followed.
const MOST_BODIES: usize = 8;

impl Shell {
    /// Takes what another state holds as well.
    pub(in super::super) fn join(&mut self, other: &Shell) -> Fit {
        add_folders(&mut self.folders, other.folders.clone());
        add_folders(&mut self.folders_before, other.folders_before.clone());
        self.join_stack(&other.stack);
        let fit = self.join_variables(other).and(self.join_functions(other));
        for (name, targets) in &other.references {
            let own = self.references.entry(name.clone()).or_insert_with(|| vec![name.clone()]);
            add_new(own, targets);
        }
        for (name, own) in self.references.iter_mut().filter(|(name, _)| !other.references.contains_key(*name)) {
            add_new(own, std::slice::from_ref(name));
        }
        match (&mut self.parameters, &other.parameters) {
            (Some(own), Some(others)) => add_new(own, others),
            (own, _) => *own = None,
        }
        if self.name != other.name {
            self.name = Value::unknown();
        }
        add_new(&mut self.traps, &other.traps);
        self.exports_all |= other.exports_all;
        self.traces |= other.traces;
        self.finds_hidden |= other.finds_hidden;
        self.finds_deep |= other.finds_deep;
        self.stops_on_failure &= other.stops_on_failure;
        self.is_physical |= other.is_physical;
        self.merges_errors |= other.merges_errors;
        self.made.retain(|folder| other.made.contains(folder));
        self.reads_unset |= other.reads_unset;
        add_new(&mut self.reads_secrets, &other.reads_secrets);
        fit
    }

    pub(in super::super) fn join_stack(&mut self, other: &[Vec<Folder>]) {
        if self.stack != other {
            let mut all = Vec::new();
            self.stack.iter().chain(other).for_each(|folders| add_folders(&mut all, folders.clone()));
            // What stands at a place of one may be missing in the other.
            if self.stack.len() != other.len() {
                add_folders(&mut all, vec![Folder::Unknown]);
            }
            self.stack = vec![all; self.stack.len().max(other.len())];
        }
    }

    fn join_variables(&mut self, other: &Shell) -> Fit {
        let mut fit = Fit::Within;
        if !Arc::ptr_eq(&self.variables, &other.variables) {
            let own = Arc::make_mut(&mut self.variables);
            let missing: Vec<String> =
                own.keys().filter(|name| !other.variables.contains_key(*name)).cloned().collect();
            for name in other.variables.keys().chain(&missing) {
                if own.get(name) != other.variables.get(name) {
                    let (joined, its_fit) = Variable::joined(own.get(name), other.variables.get(name));
                    own.extend(joined.map(|joined| (name.clone(), joined)));
                    fit = fit.and(its_fit);
                }
            }
        }
        for (own, other) in self.hidden.iter_mut().zip(&other.hidden) {
            own.iter_mut().filter(|(name, _)| !other.contains_key(*name)).for_each(|(_, one)| one.may_be_seen = true);
            for (name, hidden) in other {
                own.entry(name.clone()).or_insert_with(|| Hidden { may_be_seen: true, ..hidden.clone() });
            }
        }
        fit
    }

    fn join_functions(&mut self, other: &Shell) -> Fit {
        if Arc::ptr_eq(&self.functions, &other.functions) {
            return Fit::Within;
        }
        let own = Arc::make_mut(&mut self.functions);
        own.iter_mut().filter(|(name, _)| !other.functions.contains_key(*name)).for_each(|(_, one)| {
            one.may_be_missing = true;
        });
        let mut fit = Fit::Within;
        for (name, function) in other.functions.iter() {
            let missing = Function { may_be_missing: true, ..Function::default() };
            let one = own.entry(name.clone()).or_insert(missing);
            add_new(&mut one.bodies, &function.bodies);
            one.may_be_missing |= function.may_be_missing;
            one.is_exported |= function.is_exported;
            if one.bodies.len() > MOST_BODIES {
                one.bodies.truncate(MOST_BODIES);
                fit = Fit::Beyond;
            }
        }
        fit
    }
}
