//! Collects facts about all values in one column of a table.

use std::collections::HashSet;

use super::shape::{Numbers, Range, Texts};

/// Most different values that are told apart, and the longest of them, in bytes.
const MOST_DIFFERENT: usize = 100;
const LONGEST_DIFFERENT: usize = 64;
/// What people write where there is no value.
const MISSING: [&str; 8] = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"];

/// All values of one column.
#[derive(Debug, Default)]
pub(super) struct Column {
    pub(super) missing: u64,
    pub(super) bools: u64,
    pub(super) dates: Dates,
    pub(super) numbers: Numbers,
    pub(super) texts: Texts,
    different: HashSet<Box<str>>,
    has_more_different: bool,
}

/// Dates, and dates with a time, as they are written in ISO 8601.
#[derive(Debug, Default)]
pub(super) struct Dates {
    pub(super) count: u64,
    pub(super) with_time: u64,
    pub(super) range: Option<(String, String)>,
}

/// The kind of value that a text in a column looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnValueKind {
    Missing,
    Bool,
    Number,
    Date,
    Text,
}

impl Column {
    pub(super) fn kind_of(value: &str) -> ColumnValueKind {
        let value = value.trim();
        match value.as_bytes().first() {
            None => ColumnValueKind::Missing,
            Some(b'0'..=b'9' | b'-' | b'+' | b'.') if is_number(value) => ColumnValueKind::Number,
            Some(b'0'..=b'9') if is_date(value) => ColumnValueKind::Date,
            Some(b'N' | b'n') if MISSING.contains(&value) => ColumnValueKind::Missing,
            Some(b't' | b'f' | b'T' | b'F')
                if value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false") =>
            {
                ColumnValueKind::Bool
            }
            Some(_) => ColumnValueKind::Text,
        }
    }

    pub(super) fn add(&mut self, value: &str) {
        let value = value.trim();
        match Self::kind_of(value) {
            ColumnValueKind::Missing => {
                self.missing += 1;
                return;
            }
            ColumnValueKind::Bool => self.bools += 1,
            ColumnValueKind::Number => self.numbers.add(value),
            ColumnValueKind::Date => self.dates.add(value),
            ColumnValueKind::Text => self.texts.add(value, value.chars().count() as u64),
        }
        if self.has_more_different {
            return;
        }
        if self.different.len() >= MOST_DIFFERENT || value.len() > LONGEST_DIFFERENT {
            self.has_more_different = true;
            self.different = HashSet::new();
        } else if !self.different.contains(value) {
            self.different.insert(value.into());
        }
    }

    /// Returns how many different values there are, where they are few.
    pub(super) fn different(&self) -> Option<usize> {
        (!self.has_more_different).then_some(self.different.len())
    }

    pub(super) fn range(&self) -> Option<&Range> {
        self.numbers.range.as_ref()
    }
}

impl Dates {
    fn add(&mut self, date: &str) {
        self.count += 1;
        self.with_time += u64::from(date.len() > 10);
        match &mut self.range {
            None => self.range = Some((date.to_owned(), date.to_owned())),
            Some((least, _)) if date < least.as_str() => date.clone_into(least),
            Some((_, most)) if date > most.as_str() => date.clone_into(most),
            Some(_) => {}
        }
    }
}

/// Numbers as tables have them; a code such as "007" is a text.
fn is_number(value: &str) -> bool {
    let digits = value.trim_start_matches(['-', '+']);
    let is_code = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    value.len() <= 40
        && value.len() <= digits.len() + 1
        && !is_code
        && digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte))
        && value.parse::<f64>().is_ok()
}

/// Returns whether a value is written YYYY-MM-DD, perhaps with a time behind it.
fn is_date(value: &str) -> bool {
    let bytes = value.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_day = bytes.len() >= 10
        && bytes.len() <= 40
        && [0, 1, 2, 3, 5, 6, 8, 9].into_iter().all(is_digit)
        && bytes[4] == b'-'
        && bytes[7] == b'-';
    let is_time = || matches!(bytes[10], b'T' | b' ') && is_digit(11) && is_digit(12) && bytes.get(13) == Some(&b':');
    is_day && (bytes.len() == 10 || is_time())
}
