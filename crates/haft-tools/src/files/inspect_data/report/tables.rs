//! Writes the columns of a table and a few of its rows.

use haft_contract::text::grouped::GroupedNumber;

use super::super::column::Column;
use super::super::table_scan::{TableRow, TableScan};
use super::{Hide, Writer};

/// Most columns that are named for programs.
const MOST_NAMED: usize = 200;

impl Writer<'_> {
    pub(super) fn table(&self, scan: &TableScan) -> String {
        let delimiter = match scan.delimiter() {
            b'\t' => "tabs".to_owned(),
            sign => format!("\"{}\"", sign as char),
        };
        let header = if scan.header.is_some() { "the first line names them" } else { "no line names them" };
        let (rows, columns) = (GroupedNumber(scan.rows).of("row"), GroupedNumber(scan.width() as u64).of("column"));
        let mut body = format!("{rows}, {columns} between {delimiter} ({header})\n");
        if scan.uneven_rows > 0 {
            let uneven = GroupedNumber(scan.uneven_rows).of("row");
            body += &format!("[{uneven} with another number of fields]\n");
        }
        body.extend(scan.problems.iter().map(|problem| format!("[{problem}]\n")));
        for (index, column) in scan.columns.iter().enumerate().take(self.detail.items) {
            let name = scan.header.as_ref().and_then(|header| header.get(index)).map_or("", |name| name.trim());
            body += &format!("{} {}: {}\n", index + 1, self.cut(name), self.column(column, scan.rows));
        }
        let more = scan.width().saturating_sub(self.detail.items.min(scan.columns.len()));
        if more > 0 {
            body += &format!("[{} more]\n", GroupedNumber(more as u64).of("column"));
        }
        body += &self.rows("first rows", &scan.first_rows);
        body + &self.rows("rows of later parts", &scan.other_rows)
    }

    fn rows(&self, title: &str, rows: &[TableRow]) -> String {
        let mut shown = String::new();
        for row in rows.iter().take(self.detail.samples) {
            let values: Vec<String> = row.iter().take(self.detail.items).map(|value| self.cut(value)).collect();
            shown += &format!("  {}\n", values.join(" | "));
        }
        if shown.is_empty() { shown } else { format!("{title}:\n{shown}") }
    }

    fn column(&self, column: &Column, rows: u64) -> String {
        let mut kinds = Vec::new();
        if column.numbers.count > 0 {
            kinds.push(self.column_numbers(column));
        }
        if column.dates.count > 0 {
            let kind = if column.dates.with_time > 0 { "date and time" } else { "date" };
            let range = column.dates.range.as_ref().map(|(least, most)| match least == most {
                true => format!(" {least}"),
                false => format!(" {least} to {most}"),
            });
            kinds.push(format!("{kind}{}", range.unwrap_or_default()));
        }
        if column.bools > 0 {
            kinds.push("boolean".to_owned());
        }
        if column.texts.count > 0 {
            kinds.push(self.texts(&column.texts));
        }
        if kinds.is_empty() {
            return "always empty".to_owned();
        }
        let mut said = kinds.join(" or ");
        match column.different() {
            Some(different) if different as u64 == rows && rows > 1 => said += ", all different",
            Some(different) if different > 1 => said += &format!(", {different} different"),
            _ => {}
        }
        if column.missing > 0 {
            said += &format!(", {} missing", GroupedNumber(column.missing));
        }
        said
    }

    fn column_numbers(&self, column: &Column) -> String {
        let kind = if column.numbers.fractions > 0 { "number" } else { "integer" };
        match column.range() {
            Some(range) if range.least.0 < range.most.0 => format!("{kind} {} to {}", range.least.1, range.most.1),
            Some(range) => format!("{kind} {}", range.least.1),
            None => kind.to_owned(),
        }
    }
}

/// Returns the names of the columns, as far as there are names.
pub(super) fn names(scan: &TableScan, hide: Hide<'_>) -> Vec<String> {
    let names = scan.header.iter().flatten().take(MOST_NAMED);
    names.map(|name| hide(name.trim())).collect()
}
