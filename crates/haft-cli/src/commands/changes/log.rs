//! `haft log`: lists the changes in this workspace, the newest first.

use haft_contract::doors::history::Undone;
use haft_host::changes::change_log::{INDENT, NOTHING, hide_in, record, rows};
use haft_host::opening::rescue::Rescue;
use haft_workspace::history::{ChangeSet, LogFilter};
use serde_json::{Value, json};

use crate::arguments::{Common, LogCommandArguments as Arguments};
use crate::exit::Exit;
use crate::screen::{self, StyledText};

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &Arguments) -> anyhow::Result<Exit> {
    let rescue = Rescue::open(&common.options())?;
    let below = arguments.file.as_deref().map(|path| rescue.locate(path)).transpose()?;
    let filter = LogFilter {
        agent: arguments.agent.clone(),
        since: arguments.since,
        below: below.map(|target| target.place().path().to_owned()),
        words: arguments.grep.clone(),
    };
    let is_filtered = filter != LogFilter::default();
    let mut log = match is_filtered {
        true => rescue.history.newest_of(&filter, arguments.most)?,
        false => rescue.history.newest(arguments.most)?,
    };
    log.sets.iter_mut().for_each(|set| hide_in(set, rescue.redactor()));
    if common.json {
        let sets: Vec<Value> = log.sets.iter().map(record).collect();
        let mut record = json!({ "v": 1, "change_sets": sets, "older": log.older, "warnings": log.warnings });
        if is_filtered {
            // How many older ones fit is not counted.
            (record["older"], record["more"]) = (Value::Null, (log.older > 0).into());
        }
        screen::record(&record.to_string())?;
        return Ok(Exit::Ok);
    }
    if log.sets.is_empty() && log.older == 0 {
        screen::talk(if is_filtered { "No change set fits." } else { NOTHING });
    }
    for set in &log.sets {
        show(set)?;
    }
    match log.older {
        0 => {}
        _ if is_filtered => screen::talk(&format!("[there are older ones; show them with -n {}]", 2 * log.sets.len())),
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
        let number = if is_faint { StyledText::Faint(number) } else { StyledText::Strong(number) };
        let rest = if is_faint || index > 0 { StyledText::Faint(rest) } else { StyledText::Plain(rest) };
        screen::line(&[number, rest])?;
    }
    Ok(())
}
