//! Finds the row of a program in the files of the table.
//!
//! The files have thousands of lines, and one command uses few programs. So haft first notes only names and positions, in
//! one pass. It parses a row when it first meets the program, and keeps the result.
//!
//! Not here: the contents of a row (`row`), and its use (`reading`).

pub mod examples;
pub(crate) mod parse;
pub(crate) mod role;
pub(crate) mod row;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{LazyLock, OnceLock};

use crate::programs::table::row::ProgramRow;

/// The rows of all files by the names of their programs.
pub(crate) struct ProgramTable {
    names: HashMap<&'static str, usize>,
    /// The programs whose subcommands have rows.
    parents: HashSet<&'static str>,
    places: Vec<RowSource>,
    doubled: Vec<TableFault>,
}

/// Where a row stands.
pub(crate) struct RowSource {
    /// The file.
    pub(crate) file: &'static str,
    /// The line of its names, from 1.
    pub(crate) line: usize,
    /// Its lines, the one with the names first.
    pub(crate) text: &'static str,
    row: OnceLock<Result<ProgramRow, TableFault>>,
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

const FILES: &[(&str, &str)] = &[
    ("files.txt", include_str!("table/files.txt")),
    ("text.txt", include_str!("table/text.txt")),
    ("system.txt", include_str!("table/system.txt")),
    ("network.txt", include_str!("table/network.txt")),
    ("archives.txt", include_str!("table/archives.txt")),
    ("wrappers.txt", include_str!("table/wrappers.txt")),
    ("interpreters.txt", include_str!("table/interpreters.txt")),
    ("git.txt", include_str!("table/git.txt")),
    ("build.txt", include_str!("table/build.txt")),
    ("packages.txt", include_str!("table/packages.txt")),
    ("containers.txt", include_str!("table/containers.txt")),
    ("services.txt", include_str!("table/services.txt")),
];

static TABLE: LazyLock<ProgramTable> = LazyLock::new(|| ProgramTable::new(FILES));

impl ProgramTable {
    /// Returns the table that haft comes with.
    pub(crate) fn shipped() -> &'static Self {
        &TABLE
    }

    /// Notes where the rows of some files stand.
    pub(crate) fn new(files: &[(&'static str, &'static str)]) -> Self {
        // Rows have short lines and few names each; growing step by step would cost more than the rest.
        let size = files.iter().map(|(_, text)| text.len()).sum::<usize>() / 64;
        let (names, parents) = (HashMap::with_capacity(size), HashSet::new());
        let mut table = Self { names, parents, places: Vec::new(), doubled: Vec::new() };
        for (file, text) in files {
            table.note(file, text);
        }
        table
    }

    fn note(&mut self, file: &'static str, text: &'static str) {
        let mut begun: Option<(usize, usize)> = None;
        let mut start = 0;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let is_head = line.starts_with(|first: char| !first.is_whitespace() && first != '#');
            if is_head && let Some((line, from)) = begun.replace((number + 1, start)) {
                self.add(file, line, &text[from..start]);
            }
            start += line.len();
        }
        if let Some((line, from)) = begun {
            self.add(file, line, &text[from..]);
        }
    }

    fn add(&mut self, file: &'static str, line: usize, text: &'static str) {
        let at = self.places.len();
        for name in text.lines().next().unwrap_or_default().split_whitespace() {
            self.parents.extend(name.rsplit_once('+').map(|(parent, _)| parent));
            if *self.names.entry(name).or_insert(at) != at {
                self.doubled.push(TableFault { file, line, what: format!("\"{name}\" has a row already") });
            }
        }
        self.places.push(RowSource { file, line, text, row: OnceLock::new() });
    }

    /// Returns the row of a program; none when there is none.
    pub(crate) fn row(&self, name: &str) -> Option<Result<&ProgramRow, &TableFault>> {
        self.names.get(name).map(|&at| self.places[at].row())
    }

    /// Returns whether there is a row.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// Returns whether a program, or a subcommand, has rows of its own for its subcommands.
    pub(crate) fn has_subcommands(&self, name: &str) -> bool {
        self.parents.contains(name)
    }

    /// Returns the names of all programs, without subcommands.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &'static str> {
        self.names.keys().copied().filter(|name| !name.contains('+') || name.starts_with('+'))
    }

    /// Returns all rows in the order of the files.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Result<&ProgramRow, &TableFault>> {
        self.doubled.iter().map(Err).chain(self.places.iter().map(RowSource::row))
    }
}

impl RowSource {
    fn row(&self) -> Result<&ProgramRow, &TableFault> {
        self.row.get_or_init(|| ProgramRow::parse(self)).as_ref()
    }
}

impl fmt::Display for TableFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}
