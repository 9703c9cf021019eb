//! Reads the schema and a few rows of an SQLite database. It only reads, and takes no lock.
//!
//! Written from the published file format: pages, b-trees, records. Every visited page uses up one of a fixed number, so
//! the scan ends even if the pages of a file form a circle.

use haft_contract::prelude::*;

use super::source::{Deadline, FilePart};

/// How a database begins.
pub(super) const MAGIC: &[u8] = b"SQLite format 3\0";
/// Most pages that are visited.
const MOST_PAGES: usize = 50_000;
/// Most pages of one table that are visited to count its rows.
const MOST_PAGES_OF_TABLE: usize = 5_000;
/// Most pages that wait to be visited.
const MOST_WAITING: usize = 200_000;
/// Most tables that are listed, and rows that are shown of each.
const MOST_TABLES: usize = 300;
const MOST_ROWS: usize = 3;
/// Most bytes of one row.
const MOST_OF_ROW: usize = 16 * 1024;

/// What was found in a database.
#[derive(Debug, Default)]
pub(super) struct Database {
    pub(super) tables: Vec<SqliteTable>,
    /// Names of the other things: indexes, views, triggers.
    pub(super) others: Vec<String>,
    pub(super) page_size: u32,
    /// Whether recent changes may be in a file beside it.
    pub(super) has_log: bool,
    /// Whether there may be more tables.
    pub(super) is_whole: bool,
    pub(super) problems: Vec<String>,
}

/// A table of a database.
#[derive(Debug)]
pub(super) struct SqliteTable {
    pub(super) name: String,
    /// The statement that makes it.
    pub(super) sql: String,
    pub(super) rows: u64,
    /// Whether all rows were counted.
    pub(super) is_counted: bool,
    pub(super) first_rows: Vec<Vec<SqliteValue>>,
    /// Why there are no rows here, where that is so.
    pub(super) note: Option<&'static str>,
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SqliteValue {
    Null,
    Whole(i64),
    Real(f64),
    Text(String),
    Blob(u64),
}

/// Reads what a database holds.
pub(super) fn read(file: &mut FilePart, deadline: Deadline) -> Result<Database, ToolError> {
    let header = file.bytes_at(0, 100)?;
    let mut database = Database::default();
    let raw_size = u32::from(u16_at(&header, 16).unwrap_or(0));
    let page_size = if raw_size == 1 { 65_536 } else { raw_size };
    if header.len() < 100 || !(512..=65_536).contains(&page_size) || !page_size.is_power_of_two() {
        database.problems.push("the header is damaged".to_owned());
        return Ok(database);
    }
    (database.page_size, database.has_log) = (page_size, header[18] == 2);
    let usable = page_size as usize - usize::from(header[20]).min(page_size as usize - 480);
    let encoding = u32_at(&header, 56).unwrap_or(1);
    let mut pages = Pages { file, page_size, usable, encoding, left: MOST_PAGES, deadline };
    let mut schema = BTreeWalk::default();
    pages.walk(1, &mut schema, (MOST_TABLES * 20, MOST_PAGES))?;
    database.is_whole = schema.is_whole;
    database.problems.extend(schema.problem.map(|problem| format!("the schema: {problem}")));
    for (_, row) in schema.rows {
        let [kind, name, _, root, sql] = &row[..5.min(row.len())] else { continue };
        let (kind, name, sql) = (kind.text(), name.text(), sql.text());
        match kind.as_str() {
            "table" if database.tables.len() < MOST_TABLES => {
                let root = if let SqliteValue::Whole(root) = root { u32::try_from(*root).unwrap_or(0) } else { 0 };
                let (table, problem) = pages.table((name, sql), root)?;
                database.problems.extend(problem.map(|problem| format!("table {}: {problem}", table.name)));
                database.tables.push(table);
            }
            "table" => database.is_whole = false,
            kind => database.others.push(format!("{kind} {name}")),
        }
    }
    Ok(database)
}

/// A row with its number.
type NumberedRow = (i64, Vec<SqliteValue>);

/// The result of a walk through a b-tree.
#[derive(Debug, Default)]
struct BTreeWalk {
    rows: Vec<NumberedRow>,
    count: u64,
    is_whole: bool,
    /// Whether it is an index, whose rows have another form.
    is_index: bool,
    problem: Option<String>,
}

struct Pages<'f> {
    file: &'f mut FilePart,
    page_size: u32,
    usable: usize,
    encoding: u32,
    left: usize,
    deadline: Deadline,
}

impl Pages<'_> {
    fn table(&mut self, (name, sql): (String, String), root: u32) -> Result<(SqliteTable, Option<String>), ToolError> {
        let mut tree = BTreeWalk::default();
        if root > 0 {
            self.walk(root, &mut tree, (MOST_ROWS, MOST_PAGES_OF_TABLE))?;
        }
        let note = match (root, tree.is_index) {
            (0, _) => Some("a virtual table, whose rows are elsewhere"),
            (_, true) => Some("WITHOUT ROWID: its rows are not read"),
            _ => None,
        };
        // Such a column is not stored: the number of the row is its value.
        let is_key = first_column(&sql).contains("integer primary key");
        let shown = |(number, mut row): NumberedRow| {
            if let (true, Some(first @ SqliteValue::Null)) = (is_key, row.first_mut()) {
                *first = SqliteValue::Whole(number);
            }
            row
        };
        let first_rows = tree.rows.into_iter().map(shown).collect();
        Ok((SqliteTable { name, sql, rows: tree.count, is_counted: tree.is_whole, first_rows, note }, tree.problem))
    }

    fn page(&mut self, number: u32) -> Result<Vec<u8>, ToolError> {
        self.left = self.left.saturating_sub(1);
        let place = u64::from(number.saturating_sub(1)) * u64::from(self.page_size);
        self.file.bytes_at(place, self.page_size as usize)
    }

    /// Walks through a tree from its left end: keeps the first rows, and counts on so many pages.
    fn walk(&mut self, root: u32, tree: &mut BTreeWalk, (rows, most_pages): (usize, usize)) -> Result<(), ToolError> {
        let mut waiting = vec![root];
        let mut visited = 0;
        while let Some(number) = waiting.pop() {
            if self.left == 0 || visited >= most_pages || self.deadline.is_over() {
                return Ok(());
            }
            visited += 1;
            let page = self.page(number)?;
            let start = if number == 1 { 100 } else { 0 };
            let Some(kind) = page.get(start).copied().filter(|_| page.len() == self.page_size as usize) else {
                tree.problem = Some(format!("page {number} is missing"));
                return Ok(());
            };
            let cells = usize::from(u16_at(&page, start + 3).unwrap_or(0));
            match kind {
                5 => {
                    let first = start + 12;
                    let children = (0..cells).filter_map(|cell| u32_at(&page, cell_place(&page, first, cell)?));
                    let mut children: Vec<u32> = children.chain(u32_at(&page, start + 8)).collect();
                    children.reverse();
                    waiting.extend(children);
                    if waiting.len() > MOST_WAITING {
                        tree.problem = Some("its pages form a circle, or are very many".to_owned());
                        return Ok(());
                    }
                }
                13 => {
                    tree.count += cells as u64;
                    for cell in 0..cells.min(rows.saturating_sub(tree.rows.len())) {
                        let place = cell_place(&page, start + 8, cell);
                        match place.map(|place| self.row(&page, place)).transpose()?.flatten() {
                            Some(row) => tree.rows.push(row),
                            None => tree.problem = Some(format!("page {number} is damaged")),
                        }
                    }
                }
                2 | 10 => {
                    tree.is_index = true;
                    return Ok(());
                }
                _ => {
                    tree.problem = Some(format!("page {number} is damaged"));
                    return Ok(());
                }
            }
        }
        tree.is_whole = true;
        Ok(())
    }

    /// Reads a row; nothing where it is damaged.
    fn row(&mut self, page: &[u8], place: usize) -> Result<Option<NumberedRow>, ToolError> {
        let Some((length, at)) = varint(page, place) else { return Ok(None) };
        let Some((row_id, at)) = varint(page, at) else { return Ok(None) };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let payload = self.payload(page, at, length)?;
        let values = payload.and_then(|payload| values(&payload, self.encoding));
        Ok(values.map(|values| (row_id.cast_signed(), values)))
    }

    /// Returns the beginning of what belongs to a row, also where it goes on in pages of its own.
    fn payload(&mut self, page: &[u8], at: usize, length: usize) -> Result<Option<Vec<u8>>, ToolError> {
        let most_here = self.usable - 35;
        if length <= most_here {
            return Ok(page.get(at..at + length).map(<[u8]>::to_vec));
        }
        let least = (self.usable - 12) * 32 / 255 - 23;
        let rest = least + (length - least) % (self.usable - 4);
        let here = if rest <= most_here { rest } else { least };
        let Some(mut payload) = page.get(at..at + here).map(<[u8]>::to_vec) else { return Ok(None) };
        let mut next = u32_at(page, at + here).unwrap_or(0);
        while next != 0 && payload.len() < length.min(MOST_OF_ROW) && self.left > 0 {
            let page = self.page(next)?;
            next = u32_at(&page, 0).unwrap_or(0);
            let wanted = (length - payload.len()).min(self.usable - 4);
            payload.extend_from_slice(page.get(4..4 + wanted).unwrap_or_default());
        }
        Ok(Some(payload))
    }
}

/// Returns the definition of the first column, in small letters and with single blanks.
fn first_column(sql: &str) -> String {
    let columns = sql.split_once('(').map_or("", |(_, columns)| columns);
    let first = columns.split(',').next().unwrap_or_default().to_lowercase();
    first.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reads the values of a record, of which the end may be missing.
fn values(payload: &[u8], encoding: u32) -> Option<Vec<SqliteValue>> {
    let (header, mut at) = varint(payload, 0)?;
    let header = usize::try_from(header).ok()?;
    let mut body = header;
    let mut values = Vec::new();
    while at < header {
        let (kind, next) = varint(payload, at)?;
        at = next;
        let length = match kind {
            0 | 8 | 9 => 0,
            1..=4 => usize::try_from(kind).ok()?,
            5 => 6,
            6 | 7 => 8,
            10 | 11 => return None,
            kind => usize::try_from((kind - 12) / 2).ok()?,
        };
        let end = body.saturating_add(length);
        let bytes = payload.get(body..end.min(payload.len())).unwrap_or_default();
        body = end;
        values.push(match kind {
            0 => SqliteValue::Null,
            8 => SqliteValue::Whole(0),
            9 => SqliteValue::Whole(1),
            7 => SqliteValue::Real(f64::from_bits(whole(bytes).cast_unsigned())),
            1..=6 => SqliteValue::Whole(whole(bytes)),
            kind if kind % 2 == 1 => SqliteValue::Text(decoded(bytes, encoding)),
            _ => SqliteValue::Blob(length as u64),
        });
    }
    Some(values)
}

fn decoded(bytes: &[u8], encoding: u32) -> String {
    let unit = |pair: &[u8]| match encoding {
        3 => u16::from_be_bytes([pair[0], pair[1]]),
        _ => u16::from_le_bytes([pair[0], pair[1]]),
    };
    match encoding {
        2 | 3 => String::from_utf16_lossy(&bytes.chunks_exact(2).map(unit).collect::<Vec<_>>()),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

fn whole(bytes: &[u8]) -> i64 {
    let negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    bytes.iter().fold(if negative { -1 } else { 0 }, |value, byte| value << 8 | i64::from(*byte))
}

fn cell_place(page: &[u8], first: usize, cell: usize) -> Option<usize> {
    u16_at(page, first + 2 * cell).map(usize::from)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Reads a number of one to nine bytes, and says where it ends.
fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    for index in 0..8 {
        let byte = *bytes.get(at + index)?;
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, at + index + 1));
        }
    }
    Some((value << 8 | u64::from(*bytes.get(at + 8)?), at + 9))
}

impl SqliteValue {
    pub(super) fn text(&self) -> String {
        match self {
            SqliteValue::Text(text) => text.clone(),
            SqliteValue::Null => "NULL".to_owned(),
            SqliteValue::Whole(number) => number.to_string(),
            SqliteValue::Real(number) => number.to_string(),
            SqliteValue::Blob(length) => format!("blob of {length} bytes"),
        }
    }
}
