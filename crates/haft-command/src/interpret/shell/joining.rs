//! Joins two possible states of a shell into one, which has everything that either of them has.

use std::sync::Arc;

use crate::interpret::shell::variable::{ValueLimit, Variable};
use crate::interpret::shell::{HiddenVariable, Shell, ShellFunction, add_folders, add_new};
use crate::places::Folder;
use crate::value::ShellValue;

/// How many meanings of a function are followed.
const MOST_BODIES: usize = 8;

impl Shell {
    /// Takes what another state holds as well.
    pub(in crate::interpret) fn join(&mut self, other: &Shell) -> ValueLimit {
        add_folders(&mut self.folders.now, other.folders.now.clone());
        add_folders(&mut self.folders.before, other.folders.before.clone());
        self.join_stack(&other.folders.stack);
        let fit = self.join_variables(other).and(self.join_functions(other));
        for (name, targets) in &other.variables.references {
            let own = self.variables.references.entry(name.clone()).or_insert_with(|| vec![name.clone()]);
            add_new(own, targets);
        }
        for (name, own) in
            self.variables.references.iter_mut().filter(|(name, _)| !other.variables.references.contains_key(*name))
        {
            add_new(own, std::slice::from_ref(name));
        }
        match (&mut self.parameters, &other.parameters) {
            (Some(own), Some(others)) => add_new(own, others),
            (own, _) => *own = None,
        }
        if self.name != other.name {
            self.name = ShellValue::unknown();
        }
        add_new(&mut self.traps, &other.traps);
        self.options.join(&other.options);
        self.folders.made.retain(|folder| other.folders.made.contains(folder));
        self.reads.has_unset |= other.reads.has_unset;
        add_new(&mut self.reads.secrets, &other.reads.secrets);
        fit
    }

    pub(in crate::interpret) fn join_stack(&mut self, other: &[Vec<Folder>]) {
        if self.folders.stack != other {
            let mut all = Vec::new();
            self.folders.stack.iter().chain(other).for_each(|folders| add_folders(&mut all, folders.clone()));
            // What stands at a place of one may be missing in the other.
            if self.folders.stack.len() != other.len() {
                add_folders(&mut all, vec![Folder::Unknown]);
            }
            self.folders.stack = vec![all; self.folders.stack.len().max(other.len())];
        }
    }

    fn join_variables(&mut self, other: &Shell) -> ValueLimit {
        let mut fit = ValueLimit::Within;
        if !Arc::ptr_eq(&self.variables.named, &other.variables.named) {
            let own = Arc::make_mut(&mut self.variables.named);
            let missing: Vec<String> =
                own.keys().filter(|name| !other.variables.named.contains_key(*name)).cloned().collect();
            for name in other.variables.named.keys().chain(&missing) {
                if own.get(name) != other.variables.named.get(name) {
                    let (joined, its_fit) = Variable::joined(own.get(name), other.variables.named.get(name));
                    own.extend(joined.map(|joined| (name.clone(), joined)));
                    fit = fit.and(its_fit);
                }
            }
        }
        for (own, other) in self.variables.hidden.iter_mut().zip(&other.variables.hidden) {
            own.iter_mut().filter(|(name, _)| !other.contains_key(*name)).for_each(|(_, one)| one.may_be_seen = true);
            for (name, hidden) in other {
                own.entry(name.clone()).or_insert_with(|| HiddenVariable { may_be_seen: true, ..hidden.clone() });
            }
        }
        fit
    }

    fn join_functions(&mut self, other: &Shell) -> ValueLimit {
        if Arc::ptr_eq(&self.functions, &other.functions) {
            return ValueLimit::Within;
        }
        let own = Arc::make_mut(&mut self.functions);
        own.iter_mut().filter(|(name, _)| !other.functions.contains_key(*name)).for_each(|(_, one)| {
            one.may_be_missing = true;
        });
        let mut fit = ValueLimit::Within;
        for (name, function) in other.functions.iter() {
            let missing = ShellFunction { may_be_missing: true, ..ShellFunction::default() };
            let one = own.entry(name.clone()).or_insert(missing);
            add_new(&mut one.bodies, &function.bodies);
            one.may_be_missing |= function.may_be_missing;
            one.is_exported |= function.is_exported;
            if one.bodies.len() > MOST_BODIES {
                one.bodies.truncate(MOST_BODIES);
                fit = ValueLimit::Beyond;
            }
        }
        fit
    }
}
