//! Writes tables of data. A table that only arranges the layout of a page does not count as one.

use super::blocks::blocks;
use super::inline::Inline;
use super::page::HtmlPage;
use super::tree::Id;

/// Most columns that one cell may span.
const MOST_SPANNED: usize = 100;
/// Most cells that spans may add to a table.
const MOST_CELLS: usize = 200_000;

/// Returns whether a table has data in rows and columns.
pub(super) fn is_data(page: &HtmlPage<'_>, id: Id) -> bool {
    let tree = page.tree;
    if matches!(tree.attribute(id, "role"), Some("presentation" | "none")) {
        return false;
    }
    let rows = rows(page, id);
    let widest = rows.iter().map(Vec::len).max().unwrap_or(0);
    let has_table = tree.below(id).any(|below| tree.tag(below) == "table");
    let has_header = rows.iter().flatten().any(|cell| tree.tag(*cell) == "th");
    if has_table || widest < 2 {
        return has_header && !has_table && widest > 0;
    }
    // Cells of data are short; a cell with headings or several paragraphs is a part of a layout.
    let is_large = |cell: &&Id| tree.first(**cell, &["h1", "h2", "h3", "pre", "form"]).is_some();
    has_header || rows.len() > 1 && rows.iter().flatten().filter(is_large).count() == 0
}

/// Writes the table.
pub(super) fn table(page: &HtmlPage<'_>, id: Id) -> String {
    let rows = rows(page, id);
    let is_header = |row: &Vec<Id>| {
        let in_head = |cell: &Id| {
            page.tree.tag(*cell) == "th"
                || page.tree.around(*cell).take_while(|around| *around != id).any(|id| page.tree.tag(id) == "thead")
        };
        !row.is_empty() && row.iter().all(in_head)
    };
    let has_header = rows.first().is_some_and(is_header);
    let mut lines = grid(page, &rows);
    let width = lines.iter().map(Vec::len).max().unwrap_or(0);
    if width == 0 {
        return String::new();
    }
    if !has_header {
        lines.insert(0, Vec::new());
    }
    if lines.len() * width <= MOST_CELLS {
        lines.iter_mut().for_each(|line| line.resize(width, String::new()));
    }
    let row = |cells: &Vec<String>| format!("| {} |", cells.join(" | "));
    let mut written: Vec<String> = lines.iter().map(row).collect();
    written.insert(1, format!("|{}", " --- |".repeat(width)));
    written.join("\n")
}

/// Fills the rows, with empty cells where a cell spans columns, and its text again where it spans rows.
fn grid(page: &HtmlPage<'_>, rows: &[Vec<Id>]) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    // For each column, the text that comes from above, and for how many rows.
    let mut above: Vec<Option<(String, usize)>> = Vec::new();
    let mut added = 0;
    for row in rows {
        let mut line: Vec<String> = Vec::new();
        let take_above = |line: &mut Vec<String>, above: &mut Vec<Option<(String, usize)>>| {
            while let Some(Some((text, left))) = above.get_mut(line.len()) {
                line.push(text.clone());
                *left -= 1;
                if *left == 0 {
                    above[line.len() - 1] = None;
                }
            }
        };
        for cell in row {
            take_above(&mut line, &mut above);
            let span = |name: &str| {
                let told = page.tree.attribute(*cell, name).and_then(|text| text.trim().parse::<usize>().ok());
                if added < MOST_CELLS { told.unwrap_or(1).clamp(1, MOST_SPANNED) } else { 1 }
            };
            let (columns, down) = (span("colspan"), span("rowspan"));
            added += columns * down;
            let text = words(page, *cell);
            for column in 0..columns {
                let text = if column == 0 { text.clone() } else { String::new() };
                if down > 1 {
                    above.resize(above.len().max(line.len() + 1), None);
                    above[line.len()] = Some((text.clone(), down - 1));
                }
                line.push(text);
            }
        }
        take_above(&mut line, &mut above);
        lines.push(line);
    }
    lines
}

/// Returns the rows with their cells, without those of tables inside.
fn rows(page: &HtmlPage<'_>, id: Id) -> Vec<Vec<Id>> {
    let tree = page.tree;
    let mut rows = Vec::new();
    let mut waiting: Vec<Id> = tree.children(id).iter().rev().copied().collect();
    while let Some(next) = waiting.pop() {
        match tree.tag(next) {
            _ if page.is_left_out(next) => {}
            "tr" => {
                let is_cell = |cell: &Id| matches!(tree.tag(*cell), "td" | "th") && !page.is_left_out(*cell);
                rows.push(tree.children(next).iter().copied().filter(is_cell).collect());
            }
            "thead" | "tbody" | "tfoot" | "form" => waiting.extend(tree.children(next).iter().rev()),
            _ => {}
        }
    }
    rows
}

/// Writes a cell in one line.
fn words(page: &HtmlPage<'_>, cell: Id) -> String {
    let text = match page.tree.holds_block(cell) {
        true => blocks(page, cell).join("<br>"),
        false => Inline::of(page, page.tree.children(cell)),
    };
    text.replace("  \n", "<br>").replace('\n', "<br>").replace('|', "\\|")
}
