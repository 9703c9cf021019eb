//! Local variables of functions, which hide those of the shell, and the effect of `unset`.

use std::collections::HashMap;
use std::sync::Arc;

use crate::interpret::shell::kept_variables::is_kept;
use crate::interpret::shell::variable::{AssignmentValue, Variable};
use crate::interpret::shell::{HiddenVariable, Shell};
use crate::value::ShellValue;

impl Shell {
    /// Begins a function: variables that it declares are its own.
    pub(in crate::interpret) fn enter(&mut self) {
        self.variables.hidden.push(HashMap::new());
    }

    /// Returns whether a function runs just now.
    pub(in crate::interpret) fn is_in_function(&self) -> bool {
        !self.variables.hidden.is_empty()
    }

    /// Ends a function: what its variables hid is seen again.
    pub(in crate::interpret) fn leave(&mut self) {
        for (name, hidden) in self.variables.hidden.pop().unwrap_or_default() {
            let variable = match hidden.may_be_seen {
                true => Variable::joined(hidden.variable.as_ref(), self.variables.named.get(&name)).0,
                false => hidden.variable,
            };
            self.restore(&name, variable);
        }
    }

    /// Returns whether a function that runs just now has a variable of its own by this name, which hides that of the
    /// shell. From then on either may be meant.
    pub(in crate::interpret) fn reveal(&mut self, name: &str) -> bool {
        let hidden: Vec<&mut HiddenVariable> =
            self.variables.hidden.iter_mut().filter_map(|hidden| hidden.get_mut(name)).collect();
        let is_hidden = !hidden.is_empty();
        hidden.into_iter().for_each(|hidden| hidden.may_be_seen = true);
        is_hidden
    }

    /// Returns whether a variable may refuse what is assigned to it.
    pub(in crate::interpret) fn is_readonly(&self, name: &str) -> bool {
        self.variables.named.get(name).is_some_and(|variable| variable.kind.is_readonly)
    }

    /// Makes a variable local to the function that runs just now; returns whether there is one.
    pub(in crate::interpret) fn hide(&mut self, name: &str) -> bool {
        let variable = self.variables.named.get(name).cloned();
        let Some(hidden) = self.variables.hidden.last_mut() else { return false };
        hidden.entry(name.to_owned()).or_insert(HiddenVariable { variable, may_be_seen: false });
        true
    }

    /// Takes a variable away. One that is kept stays, and where a function has hidden another one, that one may be seen.
    pub(in crate::interpret) fn forget(&mut self, name: &str) {
        for target in self.targets(name) {
            self.doubt_stack(&target, &[]);
            let is_hiding = self.variables.hidden.iter().any(|hidden| hidden.contains_key(&target));
            let variables = Arc::make_mut(&mut self.variables.named);
            match variables.remove(&target) {
                _ if is_hiding || is_kept(&target) => {
                    let (unknown, _) = Variable::new(AssignmentValue::one(ShellValue::unknown()));
                    variables.insert(target, unknown);
                }
                Some(variable) if variable.kind.is_readonly => {
                    variables.extend(Variable::joined(Some(&variable), None).0.map(|variable| (target, variable)));
                }
                _ => {}
            }
        }
    }

    /// Takes a function away.
    pub(in crate::interpret) fn forget_function(&mut self, name: &str) {
        Arc::make_mut(&mut self.functions).remove(name);
    }

    /// Takes a function away, or not: `unset` without a flag prefers the variable of that name.
    pub(in crate::interpret) fn perhaps_forget_function(&mut self, name: &str) {
        if let Some(function) = Arc::make_mut(&mut self.functions).get_mut(name) {
            function.may_be_missing = true;
        }
    }
}
