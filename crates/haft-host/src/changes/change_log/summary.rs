//! Summarises a change set in one line that fits a terminal: counts, then the most important paths.
//!
//! Not here: how haft chooses these paths (`haft_contract::files::change_summary`).

use haft_contract::files::change_summary::{ChangeSummary, EntryKind, FolderChange, KindCounts, SummaryEntry};
use haft_workspace::history::ChangeSet;

use crate::texts::bounded_text::columns_of;

/// Columns that names need at least beside the count of files inside `.git`.
const LEAST: usize = 16;

/// Says what was done to files, in so many columns where that is possible.
pub(super) fn line(set: &ChangeSet, columns: usize) -> String {
    let summary = ChangeSummary::of(&set.files);
    let counts = signs(summary.counts);
    let names: Vec<String> = summary.entries.iter().map(signed).collect();
    let git = match summary.in_git.total() {
        0 => String::new(),
        1 => "  git: 1 file".to_owned(),
        count => format!("  git: {count} files"),
    };
    let room = columns.saturating_sub(width(&counts));
    match room.checked_sub(width(&git)) {
        Some(room) if room >= LEAST || names.is_empty() => format!("{counts}{}{git}", fitting(&names, room)),
        _ => format!("{counts}{}", fitting(&names, room)),
    }
}

fn signs(counts: KindCounts) -> String {
    let all = [("−", counts.removed), ("⇄", counts.replaced), ("~", counts.changed), ("+", counts.created)];
    let some = all.iter().filter(|(_, count)| *count > 0);
    some.map(|(sign, count)| format!("{sign}{count}")).collect::<Vec<_>>().join(" ")
}

fn signed(entry: &SummaryEntry) -> String {
    let sign = match entry.kind {
        EntryKind::Removed => "−",
        EntryKind::Replaced => "⇄",
        EntryKind::Changed | EntryKind::Moved => "~",
        EntryKind::Created => "+",
    };
    let count = match entry.inside {
        None => String::new(),
        Some(FolderChange::Whole(files) | FolderChange::Some(files)) => format!(" ({files})"),
        Some(FolderChange::Mixed(counts)) => format!(" ({})", signs(counts)),
    };
    format!("{sign}{}{count}", entry.name)
}

/// Joins the names that fit, and counts the others. The first one is shown in any case.
fn fitting(names: &[String], room: usize) -> String {
    let mut shown = String::new();
    for (index, name) in names.iter().enumerate() {
        let left = names.len() - index - 1;
        let more = if left > 0 { format!("  and {left} more") } else { String::new() };
        let needed = width(&shown) + width(name) + width(&more) + 2;
        if needed > room && index > 0 {
            let left = left + 1;
            return format!("{shown}  and {left} more");
        }
        let space = if index == 0 { "  " } else { " " };
        shown.push_str(space);
        shown.push_str(&end_of(name, room.saturating_sub(width(&more) + 2)));
    }
    shown
}

/// Shortens a name at its beginning: its end tells more.
fn end_of(name: &str, columns: usize) -> String {
    let columns = columns.max(8);
    if width(name) <= columns {
        return name.to_owned();
    }
    let sign: String = name.chars().take(1).collect();
    let mut kept: Vec<char> = Vec::new();
    let mut used = 2;
    for c in name.chars().rev() {
        used += columns_of(c);
        if used > columns {
            break;
        }
        kept.push(c);
    }
    format!("{sign}…{}", kept.iter().rev().collect::<String>())
}

/// Returns how many columns a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_contract::doors::history::Undone;
    use haft_contract::effect::Change;
    use haft_contract::files::change_summary::ChangedPath;
    use haft_workspace::history::ChangeSetKind;

    fn set(files: &[&str]) -> ChangeSet {
        let files = files.iter().map(|words| {
            let (sign, path) = words.split_at(1);
            let change = match sign {
                "-" => Change::Remove,
                "+" => Change::Create,
                _ => Change::Replace,
            };
            let (path, is_folder) = path.strip_suffix('/').map_or((path, false), |path| (path, true));
            ChangedPath { path: path.to_owned(), change, is_folder, is_replaced: sign == "!", inside: None, from: None }
        });
        ChangeSet {
            number: 1,
            at: 0,
            tool: "bash".into(),
            call: "1".into(),
            session: "s".into(),
            turn: 1,
            agent: None,
            command: None,
            description: None,
            hosts: Vec::new(),
            kind: ChangeSetKind::Change,
            files: files.collect(),
            undone: Undone::No,
        }
    }

    #[test]
    fn signs_and_counts_stand_for_words() {
        let shown = set(&["~Cargo.lock", "+a.rs", "-old/", "-old/x", "!src/", "~.git/index"]);
        assert_eq!(line(&shown, 200), "−2 ⇄1 ~2 +1  −old/ (1) ⇄src +a.rs ~Cargo.lock  git: 1 file");
    }

    #[test]
    fn a_narrow_terminal_shows_what_fits() {
        let set = set(&["~a/very/long/path/to/some/file.rs", "~b", "~c"]);
        for columns in [20, 30, 33, 40, 60] {
            let line = line(&set, columns);
            assert!(width(&line) <= columns.max(30), "{columns}: {line}");
        }
        assert_eq!(line(&set, 34), "~3  ~…/to/some/file.rs  and 2 more");
    }
}
