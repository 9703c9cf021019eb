//! `haft log`: what was changed in this workspace, the newest first.

use haft_contract::history::Undone;
use haft_host::change_log::{INDENT, NOTHING, hide_in, record, rows};
use haft_host::rescue::Rescue;
use haft_workspace::history::ChangeSet;
use serde_json::{Value, json};

use crate::arguments::{Common, Log as Arguments};
use crate::exit::Exit;
use crate::screen::{self, Part};

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &Arguments) -> anyhow::Result<Exit> {
    let rescue = Rescue::open(&common.options())?;
    let mut log = rescue.history.newest(arguments.most)?;
    log.sets.iter_mut().for_each(|set| hide_in(set, rescue.redactor()));
    if common.json {
        let sets: Vec<Value> = log.sets.iter().map(record).collect();
        let record = json!({ "v": 1, "change_sets": sets, "older": log.older, "warnings": log.warnings });
        screen::record(&record.to_string())?;
        return Ok(Exit::Ok);
    }
    if log.sets.is_empty() && log.older == 0 {
        screen::talk(NOTHING);
    }
    for set in &log.sets {
        show(set)?;
    }
    match log.older {
        0 => {}
        more => screen::talk(&format!("[{more} older ones; show them with -n {}]", log.sets.len() as u64 + more)),
    }
    log.warnings.iter().for_each(|warning| screen::talk(warning));
    Ok(Exit::Ok)
}

/// Shows a change set: a line, and a second one below a command.
fn show(set: &ChangeSet) -> anyhow::Result<()> {
    let rows = rows(set, screen::width());
    for (index, row) in rows.iter().enumerate() {
        let (number, rest) = row.split_at(row.len().min(INDENT));
        let is_faint = set.undone == Undone::Yes;
        let number = if is_faint { Part::Faint(number) } else { Part::Strong(number) };
        let rest = if is_faint || index > 0 { Part::Faint(rest) } else { Part::Plain(rest) };
        screen::line(&[number, rest])?;
    }
    Ok(())
}
