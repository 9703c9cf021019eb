//! One variable of a shell, with all the values that it may have.

use std::collections::HashSet;

use crate::value::ShellValue;

/// How many values of a variable are followed.
const MOST_VALUES: usize = 200;
/// How many numbers among them, where there are more: `{1..1000}` is counted through, and names nothing.
const MOST_NUMBERS: usize = 20;

/// A variable that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    /// The values that it may have, each a list: one for a plain variable, several for an array.
    pub(crate) values: Vec<Vec<ShellValue>>,
    pub(crate) is_array: bool,
    /// Whether its values have other names than their numbers in the list.
    pub(crate) is_map: bool,
    /// Whether programs get it.
    pub(crate) is_exported: bool,
    pub(crate) kind: VariableKind,
}

/// What `declare` says of a variable, whatever is assigned to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct VariableKind {
    /// Whether it may compute with what is assigned to it (`declare -i`).
    pub(crate) is_integer: bool,
    /// Whether its values certainly have names (`declare -A`).
    pub(crate) is_associative: bool,
    /// Whether it may refuse what is assigned to it (`readonly`).
    pub(crate) is_readonly: bool,
    /// Whether it may change the letters of what is assigned to it (`declare -l`).
    pub(crate) changes_letters: bool,
}

impl VariableKind {
    fn or(self, other: VariableKind) -> VariableKind {
        VariableKind {
            is_integer: self.is_integer || other.is_integer,
            is_associative: self.is_associative && other.is_associative,
            is_readonly: self.is_readonly || other.is_readonly,
            changes_letters: self.changes_letters || other.changes_letters,
        }
    }
}

/// The value that an assignment gives to a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AssignmentValue {
    values: Vec<Vec<ShellValue>>,
    is_array: bool,
    is_map: bool,
}

/// Whether all values that a variable may have are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum ValueLimit {
    Within,
    Beyond,
}

impl ValueLimit {
    pub(crate) fn and(self, other: ValueLimit) -> ValueLimit {
        if self == ValueLimit::Within { other } else { self }
    }
}

impl AssignmentValue {
    /// This value.
    pub(crate) fn one(value: ShellValue) -> Self {
        Self { values: vec![vec![value]], is_array: false, is_map: false }
    }

    /// One of these values.
    pub(crate) fn any(values: Vec<ShellValue>) -> Self {
        Self { values: values.into_iter().map(|value| vec![value]).collect(), is_array: false, is_map: false }
    }

    /// An array of these values.
    pub(crate) fn list(values: Vec<ShellValue>) -> Self {
        Self { values: vec![values], is_array: true, is_map: false }
    }

    /// An array that is one of these.
    pub(crate) fn any_list(values: Vec<Vec<ShellValue>>) -> Self {
        Self { values, is_array: true, is_map: false }
    }

    /// One of these lists, which may be arrays or not.
    pub(crate) fn any_of(values: Vec<Vec<ShellValue>>) -> Self {
        Self { values, is_array: false, is_map: false }
    }

    /// The same, where the values have other names than their numbers in the list.
    pub(crate) fn into_map(self) -> Self {
        Self { is_map: true, ..self }
    }

    /// The same, with each value changed.
    pub(crate) fn map(mut self, change: impl Fn(ShellValue) -> ShellValue) -> Self {
        self.values.iter_mut().flatten().for_each(|value| *value = change(std::mem::take(value)));
        self
    }

    pub(crate) fn is_map(&self) -> bool {
        self.is_map
    }

    pub(crate) fn lists(&self) -> &[Vec<ShellValue>] {
        &self.values
    }

    pub(crate) fn is_array(&self) -> bool {
        self.is_array
    }

    /// Returns what it may be where no field is named.
    pub(crate) fn first_values(&self) -> impl Iterator<Item = &ShellValue> {
        self.values.iter().filter_map(|list| list.first())
    }

    /// Returns all values in it.
    pub(crate) fn all_values(&self) -> Vec<ShellValue> {
        self.values.iter().flatten().cloned().collect()
    }
}

impl Variable {
    pub(crate) fn new(assigned: AssignmentValue) -> (Self, ValueLimit) {
        let (values, fit) = bounded(assigned.values);
        (
            Self {
                values,
                is_array: assigned.is_array,
                is_map: assigned.is_map,
                is_exported: false,
                kind: VariableKind::default(),
            },
            fit,
        )
    }

    /// Returns a variable that is one of two; one that is not set is empty.
    pub(crate) fn joined(one: Option<&Variable>, other: Option<&Variable>) -> (Option<Self>, ValueLimit) {
        let (mut joined, other) = match (one, other) {
            (None, None) => return (None, ValueLimit::Within),
            (Some(one), other) => (one.clone(), other),
            (None, Some(other)) => {
                let kind = VariableKind { is_associative: false, ..other.kind };
                (Self { values: vec![vec![ShellValue::default()]], kind, ..other.clone() }, Some(other))
            }
        };
        let empty = [vec![ShellValue::default()]];
        for list in other.map_or(&empty[..], |other| &other.values) {
            if !joined.values.contains(list) {
                joined.values.push(list.clone());
            }
        }
        joined.is_exported |= other.is_some_and(|other| other.is_exported);
        joined.is_array &= other.is_none_or(|other| other.is_array);
        joined.is_map |= other.is_some_and(|other| other.is_map);
        joined.kind = joined.kind.or(other.map_or(VariableKind::default(), |other| other.kind));
        let (values, fit) = bounded(joined.values);
        (Some(Self { values, ..joined }), fit)
    }
}

fn bounded(mut values: Vec<Vec<ShellValue>>) -> (Vec<Vec<ShellValue>>, ValueLimit) {
    if values.len() > 1 {
        let mut seen = HashSet::new();
        values.retain(|list| seen.insert(list.clone()));
    }
    if values.len() <= MOST_VALUES {
        return (values, ValueLimit::Within);
    }
    let mut numbers = 0;
    values.retain(|list| {
        numbers += usize::from(is_number(list));
        !is_number(list) || numbers <= MOST_NUMBERS
    });
    let number = vec![ShellValue::number()];
    if numbers > MOST_NUMBERS && !values.contains(&number) {
        values.push(number);
    }
    let fit = if values.len() > MOST_VALUES { ValueLimit::Beyond } else { ValueLimit::Within };
    values.truncate(MOST_VALUES);
    (values, fit)
}

fn is_number(list: &[ShellValue]) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    matches!(list, [value] if value.known().is_some_and(is_number))
}
