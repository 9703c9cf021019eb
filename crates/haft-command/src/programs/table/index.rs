//! Notes where the rows of the table stand, in one pass over its files.
//!
//! The build script notes it for the files that haft comes with, because the pass would be half of what a short process
//! like `haft guard` does. At run time only tests make an index.

use std::collections::{BTreeMap, BTreeSet};

use super::files::RowPlace;

/// The places of all rows, and which names they have.
#[derive(Debug, Default)]
pub(crate) struct TableIndex<'t> {
    /// The number of the row of each name.
    pub(crate) names: BTreeMap<&'t str, usize>,
    /// The programs whose subcommands have rows.
    pub(crate) parents: BTreeSet<&'t str>,
    pub(crate) places: Vec<RowPlace>,
    /// Names that have a row already, with their places.
    pub(crate) doubled: Vec<(RowPlace, &'t str)>,
}

impl<'t> TableIndex<'t> {
    /// Notes where the rows of some files stand.
    pub(crate) fn of(files: &[(&str, &'t str)]) -> Self {
        let mut index = Self::default();
        for (file, (_, text)) in files.iter().enumerate() {
            index.note(file, text);
        }
        index
    }

    fn note(&mut self, file: usize, text: &'t str) {
        let mut begun: Option<(usize, usize)> = None;
        let mut start = 0;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let is_head = line.starts_with(|first: char| !first.is_whitespace() && first != '#');
            if is_head && let Some((line, from)) = begun.replace((number + 1, start)) {
                self.add(RowPlace { file, line, text: (from, start) }, text);
            }
            start += line.len();
        }
        if let Some((line, from)) = begun {
            self.add(RowPlace { file, line, text: (from, start) }, text);
        }
    }

    fn add(&mut self, place: RowPlace, text: &'t str) {
        let at = self.places.len();
        let row = &text[place.text.0..place.text.1];
        for name in row.lines().next().unwrap_or_default().split_whitespace() {
            self.parents.extend(name.rsplit_once('+').map(|(parent, _)| parent));
            if *self.names.entry(name).or_insert(at) != at {
                self.doubled.push((place, name));
            }
        }
        self.places.push(place);
    }
}
