//! Shows what haft keeps for each workspace, as a table, or as lines for a narrow terminal.

use haft_workspace::state::{StateKind, WorkspaceUsage};

use super::{bytes_of, place, size};
use crate::changes::change_log::ago;
use crate::texts::bounded_text::columns_of;

/// The columns of a number.
const NUMBER: usize = 9;
/// The columns of how far undo reaches.
const REACH: usize = 14;
/// The columns of a workspace's name, at least.
const NAME: usize = 18;

/// Shows everything in at most so many columns where that is possible.
#[must_use]
pub fn lines(usages: &[WorkspaceUsage], columns: usize) -> Vec<String> {
    // A kind that takes nothing anywhere needs no column.
    let takes_some = |kind: &StateKind| usages.iter().any(|usage| bytes_of(usage, *kind) > 0);
    let kinds: Vec<StateKind> = StateKind::ALL.into_iter().filter(takes_some).collect();
    let table = NUMBER * (kinds.len() + 1) + REACH + 2;
    match columns.checked_sub(table).filter(|room| *room >= NAME) {
        Some(room) => side_by_side(usages, &kinds, room),
        None => below_each_other(usages, columns),
    }
}

fn side_by_side(usages: &[WorkspaceUsage], kinds: &[StateKind], room: usize) -> Vec<String> {
    let numbers = |numbers: Vec<String>| numbers.iter().map(|number| format!("{number:>NUMBER$}")).collect::<String>();
    let head: Vec<String> = kinds.iter().map(|kind| kind.name().to_owned()).chain(["total".into()]).collect();
    let reach = |reach: &str| format!("  {reach:<REACH$}");
    let mut lines = vec![format!("{}{}workspace", numbers(head), reach("undo reaches"))];
    for usage in usages {
        let row = kinds.iter().map(|kind| bytes_of(usage, *kind)).chain([usage.total()]).map(size).collect();
        let oldest = usage.reach.map_or("–".to_owned(), |reach| ago(reach.oldest_ms));
        lines.push(format!("{}{}{}", numbers(row), reach(&oldest), end_of(&place(usage), room)));
    }
    let totals = totals(usages, kinds).into_iter().map(size).collect();
    lines.push(format!("{}{}{}", numbers(totals), reach(""), "all"));
    lines
}

fn below_each_other(usages: &[WorkspaceUsage], columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for usage in usages {
        lines.push(end_of(&place(usage), columns));
        let kinds = StateKind::ALL.iter().filter(|kind| bytes_of(usage, **kind) > 0);
        lines.extend(kinds.map(|kind| format!("  {:<9}{:>10}", kind.name(), size(bytes_of(usage, *kind)))));
        lines.push(format!("  {:<9}{:>10}", "total", size(usage.total())));
        lines.extend(usage.reach.map(|reach| format!("  undo: {}", ago(reach.oldest_ms))));
    }
    let all: u64 = usages.iter().map(WorkspaceUsage::total).sum();
    lines.push(format!("{:<11}{:>10}", "all", size(all)));
    lines
}

fn totals(usages: &[WorkspaceUsage], kinds: &[StateKind]) -> Vec<u64> {
    let of_kind = |kind: &StateKind| usages.iter().map(|usage| bytes_of(usage, *kind)).sum();
    let all = usages.iter().map(WorkspaceUsage::total).sum();
    kinds.iter().map(of_kind).chain([all]).collect()
}

/// Shortens a path at its beginning.
fn end_of(text: &str, columns: usize) -> String {
    let columns = columns.max(8);
    let width: usize = text.chars().map(columns_of).sum();
    if width <= columns {
        return text.to_owned();
    }
    let mut dropped = 0;
    let rest = text.chars().skip_while(|c| {
        let is_dropped = width - dropped >= columns;
        dropped += columns_of(*c);
        is_dropped
    });
    format!("…{}", rest.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_and_long_paths_lose_their_beginning() {
        let sizes = [0, 1023, 1024, 5 << 20, 3 << 30, 2 << 40].map(size);
        assert_eq!(sizes, ["0 B", "1023 B", "1.0 KiB", "5.0 MiB", "3.0 GiB", "2.0 TiB"]);
        assert_eq!(
            (end_of("/a/b/c", 8), end_of("/home/me/project", 10)),
            ("/a/b/c".to_owned(), "…e/project".to_owned())
        );
    }
}
