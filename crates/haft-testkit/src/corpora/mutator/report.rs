//! Reports the results of the cases, per class, as a table.

use std::collections::BTreeMap;
use std::fmt;

use super::{Case, Class, Truth};

/// How many wrong or needlessly refused cases are kept in words.
const EXAMPLES: usize = 5;

/// The results of the cases of each class, with examples of failed cases.
#[derive(Clone, Debug, Default)]
pub struct MutationReport {
    /// One row per class.
    pub rows: BTreeMap<Class, MutationCounts>,
    /// The first cases that were wrong or refused without need, in words.
    pub examples: Vec<String>,
}

/// The number of cases of one class, by their result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MutationCounts {
    /// All cases.
    pub cases: usize,
    /// Cases with exactly one sensible place.
    pub sensible: usize,
    /// Sensible cases that were applied rightly.
    pub applied: usize,
    /// Other cases that were applied rightly.
    pub applied_anyway: usize,
    /// Cases that were refused.
    pub refused: usize,
    /// Cases that changed the file in another way than the right one.
    pub wrong: usize,
}

impl MutationReport {
    /// Counts what became of a case: the text after the edits, or why they were refused.
    pub fn note(&mut self, case: &Case, outcome: &Result<String, String>) {
        let row = self.rows.entry(case.class).or_default();
        row.cases += 1;
        row.sensible += usize::from(matches!(case.truth, Truth::Becomes(_)));
        let is_as_wished = match (outcome, &case.truth) {
            (Ok(after), Truth::Becomes(right)) if after == right => {
                row.applied += 1;
                true
            }
            (Ok(after), Truth::RefusedOrLike(right)) if squeezed(after) == squeezed(right) => {
                row.applied_anyway += 1;
                true
            }
            (Ok(after), Truth::RefusedOr(right)) if after == right => {
                row.applied_anyway += 1;
                true
            }
            (Ok(_), _) => {
                row.wrong += 1;
                false
            }
            (Err(_), truth) => {
                row.refused += 1;
                !matches!(truth, Truth::Becomes(_))
            }
        };
        if !is_as_wished && self.examples.len() < EXAMPLES {
            self.examples.push(format!("{} in {}: {:#?}\n{outcome:?}", case.class.name(), case.file, case.edits));
        }
    }

    /// Returns the sum over all classes.
    pub fn total(&self) -> MutationCounts {
        self.rows.values().fold(MutationCounts::default(), |sum, row| MutationCounts {
            cases: sum.cases + row.cases,
            sensible: sum.sensible + row.sensible,
            applied: sum.applied + row.applied,
            applied_anyway: sum.applied_anyway + row.applied_anyway,
            refused: sum.refused + row.refused,
            wrong: sum.wrong + row.wrong,
        })
    }
}

impl MutationCounts {
    /// Returns how many percent of the cases with one sensible place were applied; nothing where there are none.
    pub fn percent(&self) -> Option<f64> {
        (self.sensible > 0).then(|| 100.0 * self.applied as f64 / self.sensible as f64)
    }
}

/// Leaves blanks and the kind of quotes out, which a formatter may change without a change of meaning.
fn squeezed(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_whitespace())
        .map(|letter| if letter == '"' { '\'' } else { letter })
        .collect()
}

impl fmt::Display for MutationReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let titles = ["class", "cases", "sensible", "applied", "percent", "refused", "wrong"];
        let [class, cases, sensible, applied, percent, refused, wrong] = titles;
        writeln!(out, "{class:<22}{cases:>7}{sensible:>10}{applied:>9}{percent:>9}{refused:>9}{wrong:>7}")?;
        let rows = self.rows.iter().map(|(class, row)| (class.name(), *row));
        for (name, row) in rows.chain([("all", self.total())]) {
            let applied = row.applied + row.applied_anyway;
            let percent = row.percent().map_or("–".to_owned(), |percent| format!("{percent:.1}"));
            let MutationCounts { cases, sensible, refused, wrong, .. } = row;
            writeln!(out, "{name:<22}{cases:>7}{sensible:>10}{applied:>9}{percent:>9}{refused:>9}{wrong:>7}")?;
        }
        Ok(())
    }
}
