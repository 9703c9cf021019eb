//! Scans tables in text: fields between delimiters, quoted as in CSV, a row a line.

use super::column::Column;
use super::shape::KEPT_TEXT;

/// Most columns that are told apart.
const MOST_COLUMNS: usize = 2_000;
/// Most bytes of one quoted field; what is longer was not closed.
const LONGEST_QUOTED: u64 = 1 << 20;
/// Most rows that are kept as examples from the beginning.
const FIRST_ROWS: usize = 5;
/// Most rows that are kept as examples from other parts.
const OTHER_ROWS: usize = 3;
/// Most problems that are kept in words.
const MOST_PROBLEMS: usize = 3;

/// A row of a table, as far as it is kept.
pub(super) type TableRow = Vec<String>;

/// A scan on its way.
pub(super) struct TableScan {
    delimiter: u8,
    state: TableScanState,
    field: Vec<u8>,
    field_length: u64,
    row: TableRow,
    /// How many fields the row has beyond those that are kept.
    beyond: usize,
    /// The first row, until it is known whether it names the columns.
    first: Option<TableRow>,
    pub(super) header: Option<TableRow>,
    pub(super) columns: Vec<Column>,
    pub(super) rows: u64,
    pub(super) first_rows: Vec<TableRow>,
    pub(super) other_rows: Vec<TableRow>,
    /// Rows with another number of fields than the first.
    pub(super) uneven_rows: u64,
    pub(super) problems: Vec<String>,
    line: u64,
    row_line: u64,
    part: TableScanPart,
    /// Rows of parts are whole only where their number of fields is right.
    width: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableScanState {
    FieldStart,
    Plain,
    Quoted,
    /// Behind a quote in a quoted field.
    Quote,
    /// In the rest of a line whose beginning was not seen.
    CutLine,
}

/// The part of the file that is scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableScanPart {
    Beginning,
    Later,
}

impl TableScan {
    pub(super) fn new(delimiter: u8) -> Self {
        Self {
            delimiter,
            state: TableScanState::FieldStart,
            field: Vec::new(),
            field_length: 0,
            row: Vec::new(),
            beyond: 0,
            first: None,
            header: None,
            columns: Vec::new(),
            rows: 0,
            first_rows: Vec::new(),
            other_rows: Vec::new(),
            uneven_rows: 0,
            problems: Vec::new(),
            line: 1,
            row_line: 1,
            part: TableScanPart::Beginning,
            width: 0,
        }
    }

    /// Goes on at another place of the file, behind the next line end.
    pub(super) fn skip_to_next_line(&mut self) {
        self.drop_row();
        self.part = TableScanPart::Later;
        self.state = TableScanState::CutLine;
    }

    fn drop_row(&mut self) {
        self.row.clear();
        self.field.clear();
        (self.field_length, self.beyond) = (0, 0);
        self.state = TableScanState::FieldStart;
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() {
            at += match self.state {
                TableScanState::Plain | TableScanState::FieldStart => self.take_plain(&bytes[at..]),
                TableScanState::Quoted => self.take_quoted(&bytes[at..]),
                TableScanState::Quote => self.take_behind_quote(bytes[at]),
                TableScanState::CutLine => {
                    let end = memchr::memchr(b'\n', &bytes[at..]);
                    if end.is_some() {
                        self.state = TableScanState::FieldStart;
                    }
                    end.map_or(bytes.len() - at, |end| end + 1)
                }
            };
        }
    }

    /// Says that nothing more comes, because the file ends here.
    pub(super) fn end(&mut self) {
        if self.state == TableScanState::Quoted {
            self.problem("a quoted field is not closed");
        }
        if self.field_length > 0 || !self.row.is_empty() || self.state == TableScanState::Quote {
            self.field_ended();
            self.row_ended();
        }
        self.settle_first(None);
    }

    /// Says that nothing more is scanned, although the file goes on.
    pub(super) fn stop(&mut self) {
        self.drop_row();
        self.settle_first(None);
    }

    fn take_plain(&mut self, bytes: &[u8]) -> usize {
        if self.state == TableScanState::FieldStart && bytes[0] == b'"' {
            self.state = TableScanState::Quoted;
            return 1;
        }
        let end = memchr::memchr2(self.delimiter, b'\n', bytes).unwrap_or(bytes.len());
        self.state = TableScanState::Plain;
        self.keep(&bytes[..end]);
        match bytes.get(end) {
            None => end,
            Some(sign) => {
                self.sign(*sign);
                end + 1
            }
        }
    }

    fn sign(&mut self, sign: u8) {
        self.field_ended();
        if sign == b'\n' {
            self.line += 1;
            self.row_ended();
        }
    }

    fn take_quoted(&mut self, bytes: &[u8]) -> usize {
        let end = memchr::memchr(b'"', bytes).unwrap_or(bytes.len());
        self.line += memchr::memchr_iter(b'\n', &bytes[..end]).count() as u64;
        self.keep(&bytes[..end]);
        if self.field_length > LONGEST_QUOTED {
            self.problem("a quoted field is longer than 1 MiB, so its quote was taken for a part of the text");
            self.drop_row();
            self.state = TableScanState::CutLine;
            return end;
        }
        if end < bytes.len() {
            self.state = TableScanState::Quote;
            return end + 1;
        }
        end
    }

    fn take_behind_quote(&mut self, byte: u8) -> usize {
        match byte {
            b'"' => {
                self.keep(b"\"");
                self.state = TableScanState::Quoted;
                1
            }
            // A quote inside an unquoted text, or a carriage return before the line end.
            _ => {
                self.state = TableScanState::Plain;
                0
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.field_length += bytes.len() as u64;
        let room = KEPT_TEXT.saturating_sub(self.field.len());
        self.field.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn field_ended(&mut self) {
        if self.row.len() < MOST_COLUMNS {
            self.row.push(String::from_utf8_lossy(&self.field).into_owned());
        } else {
            self.beyond += 1;
        }
        self.field.clear();
        self.field_length = 0;
        self.state = TableScanState::FieldStart;
    }

    fn row_ended(&mut self) {
        let mut row = std::mem::take(&mut self.row);
        if let Some(last) = row.last_mut()
            && last.ends_with('\r')
        {
            last.pop();
        }
        let line = std::mem::replace(&mut self.row_line, self.line);
        let fields = row.len() + std::mem::take(&mut self.beyond);
        if fields == 1 && row[0].is_empty() {
            return;
        }
        if self.width == 0 {
            self.width = fields;
            self.first = Some(row);
            return;
        }
        self.settle_first(Some(&row));
        if fields != self.width {
            // What follows a cut may begin inside a quoted field.
            if self.part == TableScanPart::Beginning {
                self.problem_at(line, &format!("{fields} fields instead of {}", self.width));
                self.uneven_rows += 1;
            }
            if self.part == TableScanPart::Later {
                return;
            }
        }
        self.count(row);
    }

    /// Decides whether the first row names the columns.
    fn settle_first(&mut self, second: Option<&TableRow>) {
        let Some(first) = self.first.take() else { return };
        self.columns = first.iter().map(|_| Column::default()).collect();
        if is_header(&first, second) {
            self.header = Some(first);
        } else {
            self.count(first);
        }
    }

    fn count(&mut self, row: TableRow) {
        self.rows += 1;
        for (column, value) in self.columns.iter_mut().zip(&row) {
            column.add(value);
        }
        let (kept, most) = match self.part {
            TableScanPart::Beginning => (&mut self.first_rows, FIRST_ROWS),
            TableScanPart::Later => (&mut self.other_rows, OTHER_ROWS),
        };
        if kept.len() < most {
            kept.push(row);
        }
    }

    pub(super) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Returns how many columns the first row has.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    fn problem(&mut self, what: &str) {
        self.problem_at(self.row_line, what);
    }

    fn problem_at(&mut self, line: u64, what: &str) {
        if self.part == TableScanPart::Beginning && self.problems.len() < MOST_PROBLEMS {
            self.problems.push(format!("line {line}: {what}"));
        }
    }
}

/// A header has a name for each column, all different, and none of them looks like a value.
fn is_header(first: &TableRow, second: Option<&TableRow>) -> bool {
    let mut names: Vec<&str> = first.iter().map(|name| name.trim()).collect();
    let looks_like_value = |name: &&str| !matches!(Column::kind_of(name), super::column::ColumnValueKind::Text);
    if names.iter().any(looks_like_value) {
        return false;
    }
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    let is_same = second.is_some_and(|second| second == first);
    names.len() == all && !is_same
}

/// Finds the delimiter of a table by its first lines; nothing where none fits.
pub(super) fn delimiter_of(text: &str) -> Option<u8> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).take(20).collect();
    let counts = |delimiter: char| -> Vec<usize> {
        lines.iter().map(|line| outside_quotes(line).filter(|c| *c == delimiter).count()).collect()
    };
    let score = |delimiter: char| {
        let counts = counts(delimiter);
        let first = *counts.first()?;
        let same = counts.iter().filter(|count| **count == first).count();
        (first > 0 && same * 10 >= counts.len() * 7).then_some((same, first))
    };
    let candidates = [',', '\t', ';', '|'];
    let best = candidates.into_iter().filter_map(|delimiter| Some((score(delimiter)?, delimiter)));
    best.max_by_key(|(score, _)| *score).and_then(|(_, delimiter)| u8::try_from(delimiter).ok())
}

fn outside_quotes(line: &str) -> impl Iterator<Item = char> {
    let mut quoted = false;
    line.chars().filter(move |c| {
        quoted ^= *c == '"';
        !quoted
    })
}
