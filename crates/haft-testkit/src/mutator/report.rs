//! What became of the cases, per class, as a table.

use std::collections::BTreeMap;
use std::fmt;

use haft_tools::edit::{Count, Edit, fit};

use super::{Case, Class, Truth};

/// What became of the cases of each class.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// One row per class.
    pub rows: BTreeMap<Class, Row>,
    /// The first wrong results, in words.
    pub examples: Vec<String>,
}

/// What became of the cases of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
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

impl Report {
    /// Tries a case and counts what became of it.
    pub fn note(&mut self, case: &Case) {
        let edits: Vec<Edit<'_>> =
            case.edits.iter().map(|sent| Edit { old: &sent.old, new: &sent.new, count: Count::Unique }).collect();
        let outcome = fit(&case.before, &edits, case.file).map(|fitted| fitted.apply(&case.before));
        let row = self.rows.entry(case.class).or_default();
        row.cases += 1;
        row.sensible += usize::from(matches!(case.truth, Truth::Becomes(_)));
        match (&outcome, &case.truth) {
            (Ok(after), Truth::Becomes(right)) if after == right => row.applied += 1,
            (Ok(after), Truth::RefusedOrLike(right)) if squeezed(after) == squeezed(right) => row.applied_anyway += 1,
            (Err(_), _) => row.refused += 1,
            (Ok(_), _) => row.wrong += 1,
        }
        let is_wrong = match (&outcome, &case.truth) {
            (Ok(after), Truth::Becomes(right)) => after != right,
            (Ok(after), Truth::RefusedOrLike(right)) => squeezed(after) != squeezed(right),
            (Ok(_), Truth::Refused) | (Err(_), Truth::Becomes(_)) => true,
            (Err(_), Truth::Refused | Truth::RefusedOrLike(_)) => false,
        };
        if is_wrong && self.examples.len() < 5 {
            let told = outcome.map_err(|miss| format!("{}\nNext: {}", miss.what, miss.next));
            self.examples.push(format!("{} in {}: {:#?}\n{told:?}", case.class.name(), case.file, case.edits));
        }
    }

    /// Returns the sum over all classes.
    pub fn total(&self) -> Row {
        self.rows.values().fold(Row::default(), |sum, row| Row {
            cases: sum.cases + row.cases,
            sensible: sum.sensible + row.sensible,
            applied: sum.applied + row.applied,
            applied_anyway: sum.applied_anyway + row.applied_anyway,
            refused: sum.refused + row.refused,
            wrong: sum.wrong + row.wrong,
        })
    }
}

impl Row {
    /// Returns how many percent of the cases with one sensible place were applied.
    pub fn percent(&self) -> f64 {
        if self.sensible == 0 { 100.0 } else { 100.0 * self.applied as f64 / self.sensible as f64 }
    }
}

/// Leaves blanks and the kind of quotes out, which a formatter may change without a change of meaning.
fn squeezed(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_whitespace())
        .map(|letter| if letter == '"' { '\'' } else { letter })
        .collect()
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let titles = ["class", "cases", "sensible", "applied", "percent", "refused", "wrong"];
        let [class, cases, sensible, applied, percent, refused, wrong] = titles;
        writeln!(out, "{class:<22}{cases:>7}{sensible:>10}{applied:>9}{percent:>9}{refused:>9}{wrong:>7}")?;
        let rows = self.rows.iter().map(|(class, row)| (class.name(), *row));
        for (name, row) in rows.chain([("all", self.total())]) {
            let (applied, percent) = (row.applied + row.applied_anyway, row.percent());
            let Row { cases, sensible, refused, wrong, .. } = row;
            writeln!(out, "{name:<22}{cases:>7}{sensible:>10}{applied:>9}{percent:>9.1}{refused:>9}{wrong:>7}")?;
        }
        Ok(())
    }
}
