//! Writes the findings, with as many details as fit.

mod outline;
mod tables;

use haft_contract::files::path::one_line;
use haft_contract::text::grouped::GroupedNumber;
use serde_json::{Value, json};

use super::archive::{ArchiveEntry, ArchiveListing, EntryKind};
use super::format::Format;
use super::sqlite::{Database, SqliteTable};
use super::survey::{Survey, SurveyContent};

/// How detailed a report is.
#[derive(Clone, Copy, Debug)]
struct Detail {
    /// Most examples of one value.
    samples: usize,
    /// Longest text of an example, in characters.
    text: usize,
    /// Most fields, columns, tables or entries.
    items: usize,
    /// Most levels.
    levels: usize,
}

/// From the most detailed to the least.
const DETAILS: [Detail; 6] = [
    Detail { samples: 5, text: 120, items: 500, levels: 16 },
    Detail { samples: 3, text: 80, items: 200, levels: 10 },
    Detail { samples: 2, text: 60, items: 100, levels: 8 },
    Detail { samples: 2, text: 40, items: 50, levels: 5 },
    Detail { samples: 1, text: 30, items: 25, levels: 4 },
    Detail { samples: 0, text: 20, items: 12, levels: 3 },
];

/// Hides secrets in a text.
pub(super) type Hide<'h> = &'h dyn Fn(&str) -> String;

/// Writes reports.
#[derive(Clone, Copy)]
struct Writer<'h> {
    detail: Detail,
    hide: Hide<'h>,
}

/// Returns the report on a file in at most so many characters.
pub(super) fn written(survey: &Survey, path: &str, (room, hide): (usize, Hide<'_>)) -> String {
    let head = headline(survey, path);
    let notes: String = survey.notes.iter().map(|note| format!("[{}]\n", hide(&one_line(note)))).collect();
    let left = room.saturating_sub(head.chars().count() + notes.chars().count());
    let bodies = DETAILS.iter().map(|detail| Writer { detail: *detail, hide }.body(&survey.content));
    let mut last = String::new();
    for body in bodies {
        if body.chars().count() <= left {
            return format!("{head}{body}{notes}");
        }
        last = body;
    }
    format!("{head}{}{notes}", fitting(&last, left))
}

/// Returns as many lines as fit.
fn fitting(body: &str, room: usize) -> String {
    let end = body.char_indices().nth(room.saturating_sub(100)).map_or(body.len(), |(end, _)| end);
    let end = body[..end].rfind('\n').map_or(0, |end| end + 1);
    let more = body[end..].lines().count();
    format!("{}[{} of the report do not fit; raise \"tokens\"]\n", &body[..end], GroupedNumber(more as u64).of("line"))
}

fn headline(survey: &Survey, path: &str) -> String {
    let mut parts = vec![format!("{path}: {}", kind(survey)), GroupedNumber(survey.size).of("byte")];
    if let Some(form) = survey.form
        && (form.name() != "UTF-8" || form.has_mark())
    {
        let mark = if form.has_mark() { " with a byte order mark" } else { "" };
        parts.push(format!("{}{mark}", form.name()));
    }
    parts.extend(how_much(survey));
    format!("{}\n", parts.join(", "))
}

fn kind(survey: &Survey) -> String {
    let packed = if survey.is_packed && survey.format != Format::Gzip { ", packed with gzip" } else { "" };
    let name = survey.format.name();
    format!("{name}{packed}")
}

/// Says how much was read, where that is not all.
fn how_much(survey: &Survey) -> Option<String> {
    let read = survey.read;
    if read.is_whole || survey.form.is_none() {
        return None;
    }
    let parts = match read.parts {
        0 => "from the beginning".to_owned(),
        parts => format!("the beginning and {parts} parts of the rest"),
    };
    let read = GroupedNumber(read.bytes).of("byte");
    Some(format!("of which {read} were read ({parts}): all numbers are \"at least\""))
}

impl Writer<'_> {
    fn body(&self, content: &SurveyContent) -> String {
        match content {
            SurveyContent::Values(scan) => self.values(scan),
            SurveyContent::Document(shape, documents) => self.document(shape, *documents),
            SurveyContent::Table(scan) => self.table(scan),
            SurveyContent::Archive(listed) => self.listed(listed),
            SurveyContent::Database(database) => self.database(database),
            SurveyContent::Lines(lines) => {
                let longest = GroupedNumber(lines.longest).of("byte");
                let mut body = format!("{}, the longest has {longest}\n", GroupedNumber(lines.lines()).of("line"));
                body.extend(lines.first.iter().map(|line| format!("  {}\n", self.cut(line))));
                body + "to read it, use read_file; to search in it, use grep\n"
            }
            SurveyContent::Nothing => String::new(),
        }
    }

    /// Returns a text on one line, without secrets and no longer than an example may be.
    fn cut(&self, text: &str) -> String {
        let hidden = (self.hide)(text);
        let line = one_line(&hidden);
        match line.char_indices().nth(self.detail.text.max(20)) {
            None => line.into_owned(),
            Some((end, _)) => format!("{}…", &line[..end]),
        }
    }

    fn quoted(&self, text: &str) -> String {
        format!("\"{}\"", self.cut(text).replace('"', "\\\""))
    }

    fn listed(&self, listed: &ArchiveListing) -> String {
        let at_least = if listed.is_whole { "" } else { "at least " };
        let (count, files) = (GroupedNumber(listed.count), GroupedNumber(listed.files).of("file"));
        let entries = if listed.count == 1 { "entry" } else { "entries" };
        let size = GroupedNumber(listed.size).of("byte");
        let mut body = format!("{at_least}{count} {entries}, {files}, {size} when unpacked (as declared)\n");
        let packed: u64 = listed.entries.iter().filter_map(|entry| entry.packed).sum();
        if packed > 0 && listed.size / packed.max(1) > 100 && listed.size > 100 << 20 {
            let times = GroupedNumber(listed.size / packed);
            body += &format!("[it unpacks to {times} times its size: it may be a zip bomb]\n");
        }
        if listed.outside > 0 {
            let names = GroupedNumber(listed.outside).of("name");
            body +=
                &format!("[{names} would leave the folder that it is unpacked into (\"..\" or an absolute path)]\n");
        }
        body.extend(listed.problems.iter().map(|problem| format!("[{problem}]\n")));
        body.extend(listed.entries.iter().take(self.detail.items).map(|entry| self.entry(entry)));
        let more = listed.count.saturating_sub(listed.entries.len().min(self.detail.items) as u64);
        if more > 0 {
            body += &format!("[{} more]\n", GroupedNumber(more));
        }
        body
    }

    fn entry(&self, entry: &ArchiveEntry) -> String {
        let name = Writer { detail: Detail { text: 200, ..self.detail }, ..*self }.cut(&entry.name);
        match entry.kind {
            EntryKind::Folder => format!("{name}\n"),
            EntryKind::File => format!("{name}  {}\n", GroupedNumber(entry.size)),
            EntryKind::Link => format!("{name}  link\n"),
            EntryKind::Special => format!("{name}  special file\n"),
            EntryKind::Encrypted => format!("{name}  {} encrypted\n", GroupedNumber(entry.size)),
        }
    }

    fn database(&self, database: &Database) -> String {
        let mut body = format!("{}\n", GroupedNumber(database.tables.len() as u64).of("table"));
        if database.has_log {
            body += "[it has a write-ahead log: recent changes may be in a file beside it, which is not read]\n";
        }
        if !database.is_whole {
            body += "[not all of the schema was read]\n";
        }
        body.extend(database.problems.iter().map(|problem| format!("[{problem}]\n")));
        body.extend(database.tables.iter().take(self.detail.items).map(|table| self.database_table(table)));
        let more = database.tables.len().saturating_sub(self.detail.items);
        if more > 0 {
            body += &format!("[{} more]\n", GroupedNumber(more as u64).of("table"));
        }
        if !database.others.is_empty() {
            let others: Vec<String> =
                database.others.iter().take(self.detail.items).map(|name| self.cut(name)).collect();
            body += &format!("others: {}\n", others.join(", "));
        }
        body
    }

    fn database_table(&self, table: &SqliteTable) -> String {
        let at_least = if table.is_counted { "" } else { "at least " };
        let rows = match table.note {
            Some(note) => note.to_owned(),
            None => format!("{at_least}{}", GroupedNumber(table.rows).of("row")),
        };
        let sql = Writer { detail: Detail { text: self.detail.text * 8, ..self.detail }, ..*self }.cut(&table.sql);
        let mut body = format!("{}: {rows}\n  {sql}\n", self.cut(&table.name));
        for row in table.first_rows.iter().take(self.detail.samples) {
            let values: Vec<String> = row.iter().take(self.detail.items).map(|value| self.cut(&value.text())).collect();
            body += &format!("  {}\n", values.join(" | "));
        }
        body
    }
}

/// Returns the same for programs.
pub(super) fn data(survey: &Survey, hide: Hide<'_>) -> Value {
    let mut data = json!({
        "format": survey.format.name(),
        "bytes": survey.size,
        "bytes_read": survey.read.bytes,
        "complete": survey.read.is_whole,
    });
    match &survey.content {
        SurveyContent::Values(scan) => data["values"] = scan.values.into(),
        SurveyContent::Document(_, documents) => data["documents"] = (*documents).into(),
        SurveyContent::Table(scan) => {
            data["rows"] = scan.rows.into();
            data["columns"] = tables::names(scan, hide).into();
        }
        SurveyContent::Archive(listed) => {
            data["entries"] = listed.count.into();
            data["unpacked_bytes"] = listed.size.into();
            data["complete"] = listed.is_whole.into();
        }
        SurveyContent::Database(database) => {
            let table = |table: &SqliteTable| json!({ "name": hide(&table.name), "rows": table.rows });
            data["tables"] = database.tables.iter().take(100).map(table).collect::<Vec<_>>().into();
            data["complete"] = database.is_whole.into();
        }
        SurveyContent::Lines(lines) => data["lines"] = lines.lines().into(),
        SurveyContent::Nothing => {}
    }
    data
}
