//! Finds the row of a program in the files of the table.
//!
//! The files have thousands of lines, and one command uses few programs. So only names and positions are noted, when haft is
//! built (`index`). haft parses a row when it first meets the program, and keeps the result.
//!
//! Not here: the contents of a row (`row`), and its use (`reading`).

pub mod examples;
mod files;
#[cfg(test)]
mod index;
pub(crate) mod parse;
pub(crate) mod role;
pub(crate) mod row;

use std::borrow::Cow;
use std::fmt;
use std::sync::{LazyLock, OnceLock};

use crate::programs::table::files::{FILES, RowPlace};
use crate::programs::table::row::ProgramRow;

/// The index of the files that haft comes with.
mod shipped {
    use super::RowPlace;

    include!(concat!(env!("OUT_DIR"), "/table_index.rs"));
}

/// The rows of all files by the names of their programs.
pub(crate) struct ProgramTable {
    files: Cow<'static, [(&'static str, &'static str)]>,
    /// The number of the row of each name, sorted by names.
    names: Cow<'static, [(&'static str, usize)]>,
    /// The programs whose subcommands have rows, sorted.
    parents: Cow<'static, [&'static str]>,
    places: Cow<'static, [RowPlace]>,
    /// The rows that were needed so far.
    rows: Vec<OnceLock<Box<Result<ProgramRow, TableFault>>>>,
    doubled: Vec<TableFault>,
}

/// The text of a row, and where it stands.
pub(crate) struct RowSource {
    /// The file.
    pub(crate) file: &'static str,
    /// The line of its names, from 1.
    pub(crate) line: usize,
    /// Its lines, the one with the names first.
    pub(crate) text: &'static str,
}

/// What is wrong with a line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableFault {
    /// The file.
    pub(crate) file: &'static str,
    /// The line, from 1.
    pub(crate) line: usize,
    /// What is wrong.
    pub(crate) what: String,
}

static TABLE: LazyLock<ProgramTable> = LazyLock::new(|| ProgramTable {
    files: FILES.into(),
    names: shipped::NAMES.into(),
    parents: shipped::PARENTS.into(),
    places: shipped::PLACES.into(),
    rows: shipped::PLACES.iter().map(|_| OnceLock::new()).collect(),
    doubled: Vec::new(),
});

impl ProgramTable {
    /// Returns the table that haft comes with.
    pub(crate) fn shipped() -> &'static Self {
        &TABLE
    }

    /// Notes where the rows of some files stand.
    #[cfg(test)]
    pub(crate) fn new(files: &[(&'static str, &'static str)]) -> Self {
        let index::TableIndex { names, parents, places, doubled } = index::TableIndex::of(files);
        let fault = |(place, name): (RowPlace, &str)| {
            let what = format!("\"{name}\" has a row already");
            TableFault { file: files[place.file].0, line: place.line, what }
        };
        Self {
            files: files.to_vec().into(),
            names: names.into_iter().collect(),
            parents: parents.into_iter().collect(),
            rows: places.iter().map(|_| OnceLock::new()).collect(),
            places: places.into(),
            doubled: doubled.into_iter().map(fault).collect(),
        }
    }

    /// Returns the row of a program; none when there is none.
    pub(crate) fn row(&self, name: &str) -> Option<Result<&ProgramRow, &TableFault>> {
        self.place_of(name).map(|at| self.parsed(at))
    }

    /// Returns whether there is a row.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.place_of(name).is_some()
    }

    /// Returns whether a program, or a subcommand, has rows of its own for its subcommands.
    pub(crate) fn has_subcommands(&self, name: &str) -> bool {
        self.parents.binary_search(&name).is_ok()
    }

    /// Returns the names of all programs, without subcommands.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &'static str> {
        self.names.iter().map(|(name, _)| *name).filter(|name| !name.contains('+') || name.starts_with('+'))
    }

    /// Returns all rows in the order of the files.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Result<&ProgramRow, &TableFault>> {
        self.doubled.iter().map(Err).chain((0..self.places.len()).map(|at| self.parsed(at)))
    }

    fn place_of(&self, name: &str) -> Option<usize> {
        let found = self.names.binary_search_by_key(&name, |(known, _)| *known).ok()?;
        Some(self.names[found].1)
    }

    fn parsed(&self, at: usize) -> Result<&ProgramRow, &TableFault> {
        let parse = || {
            let RowPlace { file, line, text: (from, to) } = self.places[at];
            let (file, text) = self.files[file];
            Box::new(ProgramRow::parse(&RowSource { file, line, text: &text[from..to] }))
        };
        let row: &Result<_, _> = self.rows[at].get_or_init(parse);
        row.as_ref()
    }
}

impl fmt::Display for TableFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}
