//! Selects the change sets that a person asks `haft log` for: by agent, by time, by file, or by a word.
//!
//! It reads the journal from its end until it has found enough, and does not parse a record that cannot match.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use memchr::memmem;

use super::sets::Sets;
use super::{A_MINUTE, ChangeLog, HistoryError, WorkspaceHistory};
use crate::state::journal::{ChangeAuthor, Choosing, Intent, IntentStep};

/// Which change sets are asked for: those that fit everything that is named here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFilter {
    /// A part of their author's name, in any case.
    pub agent: Option<String>,
    /// The moment since which they were made, in milliseconds since the epoch.
    pub since: Option<u64>,
    /// A file that they changed, or a folder in which they changed something.
    pub below: Option<PathBuf>,
    /// Words in the command, the description, the tool or the name of a file, in any case.
    pub words: Option<String>,
}

impl LogFilter {
    fn fits(&self, intent: &Intent) -> bool {
        let has = |text: &str, words: &str| text.to_lowercase().contains(&words.to_lowercase());
        let ChangeAuthor { agent, tool, command, description, .. } = &intent.by;
        let by_agent = |name: &String| agent.as_ref().is_some_and(|agent| has(agent, name));
        let below = |path: &PathBuf| intent.steps.iter().any(|step| is_below(step, path));
        let with_words = |words: &String| {
            let texts = [Some(tool), command.as_ref(), description.as_ref()];
            texts.into_iter().flatten().any(|text| has(text, words))
                || intent
                    .steps
                    .iter()
                    .flat_map(IntentStep::paths)
                    .any(|path| has(&path.as_path().to_string_lossy(), words))
        };
        self.since.is_none_or(|since| intent.at >= since)
            && self.agent.as_ref().is_none_or(by_agent)
            && self.below.as_ref().is_none_or(below)
            && self.words.as_ref().is_none_or(with_words)
    }
}

fn is_below(step: &IntentStep, path: &Path) -> bool {
    // A build folder is known only as a whole.
    let is_tree = matches!(step, IntentStep::Tree { .. });
    step.paths().any(|changed| changed.as_path().starts_with(path) || is_tree && path.starts_with(changed.as_path()))
}

impl WorkspaceHistory {
    /// Returns the newest change sets that fit, at most so many. How many older ones fit is not found out: `older` is 1 where
    /// there are any.
    ///
    /// # Errors
    ///
    /// Fails if the journal cannot be read.
    pub fn newest_of(&self, filter: &LogFilter, most: usize) -> Result<ChangeLog, HistoryError> {
        // This also recovers after a killed process.
        let ChangeLog { warnings, .. } = self.newest(1)?;
        let mut fitting = Fitting::new(filter, most);
        let sets = Sets::of(self.journal.read_chosen(&mut fitting)?);
        let mut shown: Vec<_> = sets.shown().into_iter().filter(|set| fitting.found.contains(&set.number)).collect();
        let older = u64::from(shown.len() > most);
        shown.truncate(most);
        Ok(ChangeLog { sets: shown, older, warnings })
    }
}

/// Finds the change sets that fit.
struct Fitting<'f> {
    filter: &'f LogFilter,
    most: usize,
    /// What the text of a record has that can be about the path; nothing where the path is no text, or none is named.
    needles: Option<Vec<String>>,
    found: BTreeSet<u64>,
    /// Change sets that were met, but not their first records.
    open: BTreeSet<u64>,
    is_past: Cell<bool>,
}

impl<'f> Fitting<'f> {
    fn new(filter: &'f LogFilter, most: usize) -> Self {
        let text = |path: &Path| serde_json::to_string(path.to_str()?).ok();
        // Files in the folder begin as it does; build folders above it are named alone.
        let needles = |path: &PathBuf| {
            let above = path.ancestors().skip(1).map(text);
            let own = text(path).map(|text| text.trim_end_matches('"').to_owned());
            std::iter::once(own).chain(above).collect::<Option<Vec<String>>>()
        };
        let (found, open) = (BTreeSet::new(), BTreeSet::new());
        Self { filter, most, needles: filter.below.as_ref().and_then(needles), found, open, is_past: Cell::new(false) }
    }
}

impl Choosing for Fitting<'_> {
    fn may_concern(&self, text: &[u8]) -> bool {
        if let (Some(since), Some(at)) = (self.filter.since, moment_in(text))
            // Clocks are set back a little from time to time.
            && at.saturating_add(A_MINUTE) < since
        {
            self.is_past.set(true);
        }
        let has = |needle: &str| memmem::find(text, needle.as_bytes()).is_some();
        // Undos say which others are undone, and a change set is shown with all its parts.
        let matters = || !has("\"part\":0,") || has("\"takes_back\":") || !self.open.is_empty();
        self.needles.as_ref().is_none_or(|needles| needles.iter().any(|needle| has(needle))) || matters()
    }

    fn takes(&mut self, intent: &Intent) -> bool {
        let fits = self.filter.fits(intent);
        if fits {
            self.found.insert(intent.set);
        }
        match intent.part {
            0 => _ = self.open.remove(&intent.set),
            _ => _ = self.open.insert(intent.set),
        }
        fits || intent.part > 0 || intent.takes_back.is_some() || self.found.contains(&intent.set)
    }

    fn is_enough(&self) -> bool {
        self.open.is_empty() && (self.is_past.get() || self.found.len() > self.most)
    }
}

/// Returns when an intent was made, from its text.
fn moment_in(text: &[u8]) -> Option<u64> {
    let at = memmem::find(text, b"\"at\":")? + b"\"at\":".len();
    let digits = text[at..].iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(None, |number: Option<u64>, digit| {
        number.unwrap_or_default().checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    })
}
