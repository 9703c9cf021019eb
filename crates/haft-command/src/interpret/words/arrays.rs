//! Arrays: the value at an index, and elements that a command sets or removes one by one.
//!
//! If every value of a list is known and is at its own number, a known index gives exactly one value. Otherwise it may
//! give any of them.

use crate::interpret::Interpreter;
use crate::interpret::shell::variable::AssignmentValue;
use crate::syntax::{Quoting, Word, WordPart};
use crate::value::ShellValue;

/// How many lists come of setting one value before they are taken for unknown.
const MOST_LISTS: usize = 64;

/// Where in an array something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ArrayIndex {
    /// At this number; a negative one is counted from the end.
    At(i64),
    /// At some number, or at a name.
    Somewhere,
}

impl ArrayIndex {
    /// Returns what stands between brackets.
    pub(crate) fn of(text: &str) -> Self {
        text.trim().parse().map_or(ArrayIndex::Somewhere, ArrayIndex::At)
    }

    /// Returns its place in a list.
    fn place(self, length: usize) -> Option<usize> {
        let ArrayIndex::At(number) = self else { return None };
        let length = i64::try_from(length).ok()?;
        usize::try_from(if number < 0 { length.checked_add(number)? } else { number }).ok()
    }
}

impl Interpreter<'_> {
    /// Returns the array of these words, some of which may be `[index]=value`.
    pub(crate) fn array(&mut self, name: &str, words: &[Word]) -> AssignmentValue {
        if !words.iter().any(|word| keyed(word).is_some()) {
            return AssignmentValue::any_list(self.command_lines(words));
        }
        let mut values: Vec<(ArrayIndex, Vec<Vec<ShellValue>>)> = Vec::new();
        for word in words {
            values.push(match keyed(word) {
                Some((key, value)) => {
                    let index = self.index(name, &key);
                    (index, self.unsplit(&value).into_iter().map(|value| vec![value]).collect())
                }
                None => (ArrayIndex::Somewhere, self.fields(word)),
            });
        }
        // They come out in the order of their numbers.
        if values.iter().all(|(index, _)| *index != ArrayIndex::Somewhere) {
            values.sort_by_key(|(index, _)| *index);
        }
        let values: Vec<Vec<Vec<ShellValue>>> = values.into_iter().map(|(_, values)| values).collect();
        AssignmentValue::any_list(self.combined(&values)).into_map()
    }

    /// Returns what stands at an index of an array.
    pub(crate) fn element(&mut self, name: &str, lists: &[Vec<ShellValue>], index: &Word) -> Vec<Vec<ShellValue>> {
        let index = self.index(name, index);
        let is_exact = self.shell.is_array(name) && !self.shell.is_map(name);
        let is_known = |list: &Vec<ShellValue>| list.iter().all(|value| value.known().is_some());
        if is_exact && index != ArrayIndex::Somewhere && lists.iter().all(is_known) {
            let at = |list: &Vec<ShellValue>| index.place(list.len()).and_then(|place| list.get(place)).cloned();
            return lists.iter().map(|list| vec![at(list).unwrap_or_default()]).collect();
        }
        let mut all: Vec<Vec<ShellValue>> = lists.iter().flatten().map(|value| vec![value.clone()]).collect();
        if all.is_empty() || self.shell.is_array(name) {
            all.push(vec![ShellValue::default()]);
        }
        all
    }

    /// Returns what stands for the indexes of an array: numbers, unless its values have names.
    pub(crate) fn keys(&self, name: &str) -> ShellValue {
        let is_numbered = self.shell.is_array(name) && !self.shell.is_map(name);
        if is_numbered { ShellValue::number() } else { ShellValue::unknown() }
    }

    /// Returns where an index leads. bash takes it for arithmetic, in which text can run something, unless the values
    /// have names.
    pub(crate) fn index(&mut self, name: &str, index: &Word) -> ArrayIndex {
        let values = self.unsplit(index);
        if !self.shell.is_associative(name) {
            values.iter().for_each(|value| self.compute(value));
        }
        match values.as_slice() {
            [only] => ArrayIndex::of(only.known().unwrap_or_default().trim_matches(['[', ']'])),
            _ => ArrayIndex::Somewhere,
        }
    }

    /// `a[1]=x`: one value takes the place of another, or is a new one.
    pub(crate) fn assign_at(&mut self, name: &str, index: ArrayIndex, assigned: &AssignmentValue) {
        let before = self.lists_of(name).unwrap_or_else(|| vec![Vec::new()]);
        let is_exact = !self.shell.is_map(name) && (self.shell.is_array(name) || self.shell.values(name).is_none());
        let mut lists: Vec<Vec<ShellValue>> = Vec::new();
        let mut has_gaps = !is_exact;
        for list in &before {
            let place =
                index.place(list.len()).filter(|_| is_exact && list.iter().all(|value| value.known().is_some()));
            let places = match place {
                Some(place) => place.min(list.len())..place.min(list.len()) + 1,
                None => 0..list.len() + 1,
            };
            has_gaps |= place.is_none_or(|place| place > list.len());
            // More than are followed make it unknown, so there is no need to write them all.
            for place in places.take(MOST_LISTS + 1) {
                lists.extend(assigned.all_values().into_iter().map(|value| with(list, place, value)));
            }
        }
        if !self.has_time_for(&lists) {
            return;
        }
        let assigned = one_of(lists);
        self.put(name, if has_gaps { assigned.into_map() } else { assigned });
    }

    /// Returns the lists that an array may be, and counts the work of copying them.
    fn lists_of(&mut self, name: &str) -> Option<Vec<Vec<ShellValue>>> {
        let lists = self.shell.values(name)?;
        self.has_time_for(&lists).then_some(lists)
    }

    /// Counts the work of copying lists, and returns whether it may be done.
    pub(crate) fn has_time_for(&mut self, lists: &[Vec<ShellValue>]) -> bool {
        self.has_time(lists.iter().map(Vec::len).sum())
    }

    /// `unset 'a[1]'`: one value is gone, and those behind it keep their numbers.
    pub(crate) fn unset_at(&mut self, name: &str) {
        let Some(before) = self.lists_of(name) else { return };
        let without = |list: &Vec<ShellValue>, place: usize| -> Vec<ShellValue> {
            list.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, value)| value.clone()).collect()
        };
        let shorter = before.iter().flat_map(|list| (0..list.len()).map(move |place| without(list, place)));
        let lists: Vec<Vec<ShellValue>> = before.iter().cloned().chain(shorter).take(MOST_LISTS + 1).collect();
        if self.has_time_for(&lists) {
            self.put(name, one_of(lists).into_map());
        }
    }
}

/// Returns an array that is one of these lists.
fn one_of(lists: Vec<Vec<ShellValue>>) -> AssignmentValue {
    let mut once: Vec<Vec<ShellValue>> = Vec::new();
    for list in lists {
        if !once.contains(&list) {
            once.push(list);
        }
    }
    AssignmentValue::any_list(if once.len() > MOST_LISTS { vec![ShellValue::any_words()] } else { once })
}

/// Takes `[index]=value` apart; the brackets stay with the index.
fn keyed(word: &Word) -> Option<(Word, Word)> {
    let begins = matches!(word.parts.first(), Some(WordPart::Text(text, Quoting::Bare)) if text.starts_with('['));
    let closing = |part: &WordPart| match part {
        WordPart::Text(text, Quoting::Bare) => {
            text.split_once("]=").map(|(key, value)| (format!("{key}]"), value.to_owned()))
        }
        _ => None,
    };
    let (at, (key_end, value_start)) =
        word.parts.iter().enumerate().filter(|_| begins).find_map(|(at, part)| Some((at, closing(part)?)))?;
    let part = |text: String| WordPart::Text(text, Quoting::Bare);
    let key = word.parts.iter().take(at).cloned().chain([part(key_end)]).collect();
    let value = std::iter::once(part(value_start)).chain(word.parts.iter().skip(at + 1).cloned()).collect();
    let word = |parts| Word { parts, span: word.span.clone() };
    Some((word(key), word(value)))
}

/// Returns a list with a value at a place, or behind its end.
fn with(list: &[ShellValue], place: usize, value: ShellValue) -> Vec<ShellValue> {
    let mut list = list.to_vec();
    match list.get_mut(place) {
        Some(old) => *old = value,
        None => list.push(value),
    }
    list
}
