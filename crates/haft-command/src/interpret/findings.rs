//! Findings: what the parts of a command do, each thing once.
//!
//! Not here: where paths lead, and what follows from an act (`emit`).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use haft_contract::effect::{Change, Danger, StepEffect};

use crate::path_class::PathClass;
use crate::value::ShellValue;

/// One thing that a part of the command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) part: (usize, usize),
    pub(crate) words: Arc<[String]>,
    pub(crate) does: StepEffect,
}

impl Finding {
    /// Returns the finding for a command whose reading has failed: it is unknown what it does.
    pub(crate) fn not_read(text: &str) -> Self {
        let words = "make haft fail to read it, which is a bug in haft".to_owned();
        Self { part: (0, text.len()), words: Arc::from([]), does: StepEffect::Danger(Danger::HiddenCode, words) }
    }
}

/// The command whose doings are found just now.
#[derive(Clone, Debug, Default)]
pub(crate) struct CurrentCommand {
    /// Which bytes of the whole command it is.
    pub(crate) part: (usize, usize),
    /// Its words as rules see them.
    pub(crate) words: Arc<[String]>,
    /// The same words, with their gaps.
    pub(crate) line: Arc<[ShellValue]>,
    /// Which of the lists of words it is.
    word_list: usize,
}

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    list: Vec<Finding>,
    /// What was found already, so that nothing is told twice.
    seen: HashSet<(usize, usize, StepEffect)>,
    /// The lists of words that were met, by number.
    word_lists: HashMap<Arc<[String]>, usize>,
    pub(crate) current: CurrentCommand,
    /// Whether the whole environment is shown.
    pub(crate) shows_environment: bool,
    /// How many connections were told.
    pub(crate) connects: usize,
    /// How many interpreters were started that run what they read.
    pub(crate) interpreters: usize,
    /// How many names this command has made so far.
    pub(crate) names_made: usize,
    /// Whether only removals and changes are told: the second look, in which unset variables are empty.
    pub(crate) second_look: bool,
    /// Whether what is known only when it runs is not reported: in a function that was not called yet.
    pub(crate) only_known: bool,
}

/// What a search for refused steps puts back, because it only supposes that something runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Supposition {
    length: usize,
    connects: usize,
    interpreters: usize,
    shows_environment: bool,
}

impl Findings {
    /// Begins a command with these words; returns the one that was current.
    pub(crate) fn begin(&mut self, words: Arc<[String]>, line: &[ShellValue]) -> CurrentCommand {
        let next = self.word_lists.len() + 1;
        let word_list = *self.word_lists.entry(words.clone()).or_insert(next);
        let begun = CurrentCommand { part: self.current.part, words, line: Arc::from(line), word_list };
        std::mem::replace(&mut self.current, begun)
    }

    /// Returns to the command that was current before.
    pub(crate) fn end(&mut self, before: CurrentCommand) {
        self.current = CurrentCommand { part: self.current.part, ..before };
    }

    /// Returns whether the current command is of this program.
    pub(crate) fn are_of(&self, program: &str) -> bool {
        self.current.words.first().is_some_and(|name| name == program)
    }

    /// Returns whether something is told just now.
    pub(crate) fn takes(&self, does: &StepEffect) -> bool {
        // The second look is for what is grave; the rest was told in the first one.
        let is_grave = match does {
            StepEffect::Danger(..) | StepEffect::Change(_, Change::Remove | Change::Replace) => true,
            StepEffect::Read(target) => PathClass::of(target) == PathClass::Secret,
            _ => false,
        };
        // A program that is not in the table may be a function that is defined further on.
        let depends = matches!(
            does,
            StepEffect::Unknown(_) | StepEffect::ReadUnknown | StepEffect::ChangeUnknown(_) | StepEffect::Program(_)
        );
        (!self.second_look || is_grave) && !(self.only_known && depends)
    }

    /// Returns whether another look may tell more than this one.
    pub(crate) fn are_partial(&self) -> bool {
        self.second_look || self.only_known
    }

    /// Adds what the current command does, once.
    pub(crate) fn add(&mut self, does: StepEffect) {
        self.connects += usize::from(matches!(does, StepEffect::Connect(_)));
        let CurrentCommand { part, words, word_list, .. } = &self.current;
        if self.seen.insert((part.0, *word_list, does.clone())) {
            self.names_made += usize::from(matches!(does, StepEffect::Change(_, Change::Create | Change::Replace)));
            self.list.push(Finding { part: *part, words: words.clone(), does });
        }
    }

    /// Begins to suppose that something runs.
    pub(crate) fn suppose(&self) -> Supposition {
        let Self { connects, interpreters, shows_environment, .. } = *self;
        Supposition { length: self.list.len(), connects, interpreters, shows_environment }
    }

    /// Keeps of what was found since then what is refused, and forgets the rest.
    pub(crate) fn keep_refused(&mut self, since: Supposition, is_refused: fn(&StepEffect) -> bool) {
        let Supposition { length, connects, interpreters, shows_environment } = since;
        (self.connects, self.interpreters, self.shows_environment) = (connects, interpreters, shows_environment);
        for finding in self.list.split_off(length) {
            if is_refused(&finding.does) {
                self.list.push(finding);
            } else {
                let word_list = self.word_lists.get(&finding.words).copied().unwrap_or_default();
                self.seen.remove(&(finding.part.0, word_list, finding.does));
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Finding> {
        self.list.iter()
    }

    pub(crate) fn into_list(self) -> Vec<Finding> {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown() -> StepEffect {
        StepEffect::Unknown("it is odd".to_owned())
    }

    fn danger() -> StepEffect {
        StepEffect::Danger(Danger::Rights, "get other rights".to_owned())
    }

    fn all(findings: &Findings) -> Vec<&StepEffect> {
        findings.iter().map(|finding| &finding.does).collect()
    }

    #[test]
    fn the_same_words_do_a_thing_once_and_other_words_again() {
        let mut findings = Findings::default();
        for words in ["ls", "ls", "cat"] {
            let before = findings.begin(Arc::from([words.to_owned()]), &[ShellValue::text(words)]);
            findings.add(StepEffect::Nothing);
            findings.end(before);
        }

        assert_eq!(all(&findings), [&StepEffect::Nothing, &StepEffect::Nothing]);
    }

    #[test]
    fn of_a_supposition_only_what_is_refused_is_kept_and_the_rest_can_be_found_later() {
        let mut findings = Findings::default();
        let since = findings.suppose();
        findings.add(StepEffect::Connect(None));
        findings.add(danger());
        findings.keep_refused(since, |does| matches!(does, StepEffect::Danger(..)));

        assert_eq!((all(&findings), findings.connects), (vec![&danger()], 0));
        findings.add(StepEffect::Connect(None));
        assert_eq!((findings.len(), findings.connects), (2, 1));
    }

    #[test]
    fn the_second_look_takes_what_is_grave_and_a_function_that_nobody_calls_what_is_known() {
        let second_look = Findings { second_look: true, ..Findings::default() };
        assert!(
            second_look.takes(&danger()) && !second_look.takes(&unknown()) && !second_look.takes(&StepEffect::Nothing)
        );
        let only_known = Findings { only_known: true, ..Findings::default() };
        assert!(only_known.takes(&danger()) && only_known.takes(&StepEffect::Nothing) && !only_known.takes(&unknown()));
    }
}
