//! A table that fits the terminal: wide columns become narrower, and their cells take several rows.

use anstyle::Style;
use pulldown_cmark::Alignment;

use super::render::is_right;
use crate::terminal::drawing::painted::{bare, painted, width};
use haft_host::texts::wrapped::wrapped;

/// The narrowest column.
const NARROWEST: usize = 4;

/// A table of Markdown while it is read.
pub(super) struct MarkdownTable {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<String>>,
}

impl MarkdownTable {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new() }
    }

    pub(super) fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn add(&mut self, cell: String) {
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    /// Returns the lines of the table, at most so many columns wide where that is possible.
    pub(super) fn lines(&self, columns: usize) -> Vec<String> {
        let widths = self.widths(columns);
        let mut lines = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            lines.extend(self.row_lines(row, &widths, if index == 0 { broken_head } else { broken }));
            if index == 0 {
                let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(painted(Style::new().dimmed(), &rule.join("─┼─")));
            }
        }
        lines
    }

    /// Takes room from the widest column until all fit.
    fn widths(&self, columns: usize) -> Vec<usize> {
        let count = self.alignments.len();
        let of = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max();
        let mut widths: Vec<usize> = (0..count).map(|column| of(column).unwrap_or(0).max(1)).collect();
        let room = columns.saturating_sub(3 * count.saturating_sub(1));
        while widths.iter().sum::<usize>() > room {
            let Some(widest) = widths.iter_mut().max() else { break };
            if *widest <= NARROWEST {
                break;
            }
            *widest -= 1;
        }
        widths
    }

    fn row_lines(&self, row: &[String], widths: &[usize], broken: fn(&str, usize) -> Vec<String>) -> Vec<String> {
        let cells: Vec<Vec<String>> = widths
            .iter()
            .enumerate()
            .map(|(column, room)| broken(row.get(column).map_or("", String::as_str), *room))
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |number: usize| {
            let parts = cells.iter().zip(widths).zip(&self.alignments).map(|((cell, room), alignment)| {
                let text = cell.get(number).map_or("", String::as_str);
                let gap = " ".repeat(room.saturating_sub(width(text)));
                if is_right(*alignment) { format!("{gap}{text}") } else { format!("{text}{gap}") }
            });
            let line = parts.collect::<Vec<_>>().join(" │ ");
            line.trim_end().to_owned()
        };
        (0..height).map(line).collect()
    }
}

/// Breaks a cell into rows. One that fits keeps its colours.
fn broken(cell: &str, room: usize) -> Vec<String> {
    if width(cell) <= room { vec![cell.to_owned()] } else { wrapped(&bare(cell), room, 0) }
}

/// Breaks a cell of the head into bold rows.
fn broken_head(cell: &str, room: usize) -> Vec<String> {
    broken(cell, room).iter().map(|row| painted(Style::new().bold(), &bare(row))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> MarkdownTable {
        let mut table = MarkdownTable::new(vec![Alignment::None, Alignment::Right, Alignment::None]);
        for row in [["name", "count", "what it is"], ["漢字", "12", "a cell with many words that is much too long"]] {
            table.begin_row();
            row.into_iter().for_each(|cell| table.add(cell.to_owned()));
        }
        table
    }

    #[test]
    fn a_wide_table_is_made_to_fit() {
        for columns in [30, 40, 80, 200] {
            let lines: Vec<String> = table().lines(columns).iter().map(|line| bare(line).into_owned()).collect();
            assert!(lines.iter().all(|line| width(line) <= columns), "{columns}: {lines:#?}");
            let text = lines.join(" ");
            assert!(["many", "much", "too", "long", "漢字"].iter().all(|word| text.contains(word)), "{text}");
        }
        let lines: Vec<String> = table().lines(80).iter().map(|line| bare(line).into_owned()).collect();
        assert_eq!(lines[2], "漢字 │    12 │ a cell with many words that is much too long");
    }
}
