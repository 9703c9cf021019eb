//! Damages true edits the way models do, and counts the results of the edit engine.
//!
//! A case starts from a true edit of a real file, so its right result is known. The mutator then damages the call, or
//! the file under it, in one way. A wrong result is worse than any number of refusals, so the report counts the two
//! separately.
//!
//! Not here: the engine (`haft_tools::files::edit`), and cases written by hand (`tests/cases/edits.jsonl`).

pub mod block;
pub mod corpus;
mod damage;
pub mod dice;
pub mod report;

use std::ops::Range;
use std::sync::Arc;

use haft_tools::files::edit::{Count, Edit, fit};

use corpus::Corpus;
use dice::Dice;
use report::MutationReport;

/// Tries a number of cases on the edit engine, spread evenly over all classes, and reports what became of them.
pub fn report(corpus: &Corpus, seed: u64, cases: usize) -> MutationReport {
    report_on(corpus, (seed, cases), |case| {
        let sent = case.edits.iter();
        let edits: Vec<Edit<'_>> =
            sent.map(|sent| Edit { old: &sent.old, new: &sent.new, count: Count::Unique }).collect();
        let fitted = fit(&case.before, &edits, &case.file);
        fitted.map(|fitted| fitted.apply(&case.before)).map_err(|miss| format!("{}\nNext: {}", miss.what, miss.next))
    })
}

/// Tries cases on any engine: it returns the text after the edits, or why it refuses them.
pub fn report_on(
    corpus: &Corpus,
    (seed, cases): (u64, usize),
    engine: impl Fn(&Case) -> Result<String, String>,
) -> MutationReport {
    let mut dice = Dice::new(seed);
    let mut report = MutationReport::default();
    for class in Class::ALL.into_iter().cycle().take(cases) {
        let case = case(corpus, &mut dice, class);
        report.note(&case, &engine(&case));
    }
    report
}

/// Makes one case of a class.
pub fn case(corpus: &Corpus, dice: &mut Dice, class: Class) -> Case {
    loop {
        if let Some(case) = damage::damaged(corpus, dice, class) {
            return case;
        }
    }
}

/// What went wrong on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Nothing.
    Exact,
    /// Blanks at line ends differ.
    TrailingBlanks,
    /// The whole block is shifted, or tabs and spaces differ.
    Indentation,
    /// Tabs and spaces differ, outer levels are perhaps left out, and the new text has a line one level deeper.
    Nested,
    /// Typographic quotes, dashes or blanks on one side.
    Typography,
    /// Line numbers were copied in from a read result.
    LineNumbers,
    /// The line ends of file and call differ.
    LineEnds,
    /// A formatter changed the file after it was read.
    Stale,
    /// The block occurs several times.
    Repeated,
    /// A letter, a word or a line differs.
    NearMiss,
    /// Two places fit as soon as something may differ.
    TwoPlaces,
    /// The middle of the block was left out.
    Elided,
    /// Several edits in one call.
    Multi,
}

/// One damaged edit.
#[derive(Clone, Debug)]
pub struct Case {
    /// What went wrong.
    pub class: Class,
    /// The file it was made from.
    pub file: Arc<str>,
    /// The text of the file.
    pub before: String,
    /// Which of its lines are meant, counted from 0; of several edits, those of the first.
    pub lines: Range<usize>,
    /// What the model sends.
    pub edits: Vec<SentReplacement>,
    /// What is right.
    pub truth: Truth,
}

/// One replacement as the model sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentReplacement {
    /// The text to replace.
    pub old: String,
    /// The text that shall stand there.
    pub new: String,
}

/// What is right.
#[derive(Clone, Debug)]
pub enum Truth {
    /// There is exactly one sensible place, and this is the result.
    Becomes(String),
    /// Only a refusal is right.
    Refused,
    /// A refusal, or exactly this result.
    RefusedOr(String),
    /// A refusal, or this result with blanks and quotes aside.
    RefusedOrLike(String),
}

impl Class {
    /// All classes, in the order of the report.
    pub const ALL: [Class; 13] = [
        Class::Exact,
        Class::TrailingBlanks,
        Class::Indentation,
        Class::Nested,
        Class::Typography,
        Class::LineNumbers,
        Class::LineEnds,
        Class::Stale,
        Class::Repeated,
        Class::NearMiss,
        Class::TwoPlaces,
        Class::Elided,
        Class::Multi,
    ];

    /// Returns the name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Class::Exact => "exact",
            Class::TrailingBlanks => "trailing blanks",
            Class::Indentation => "indentation",
            Class::Nested => "a new depth",
            Class::Typography => "quotes/dashes",
            Class::LineNumbers => "copied line numbers",
            Class::LineEnds => "line ends",
            Class::Stale => "stale by a formatter",
            Class::Repeated => "repeated block",
            Class::NearMiss => "near miss",
            Class::TwoPlaces => "two places",
            Class::Elided => "elided middle",
            Class::Multi => "multi",
        }
    }
}
