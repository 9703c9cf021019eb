//! `haft gc`: shows what haft keeps on the disk for each workspace, and frees what a person chose.
//!
//! Without a flag that chooses something, it only shows. It shows what it would free before it frees anything. At a
//! terminal it asks the user, and `--yes` answers; otherwise nothing happens and the exit code says so.
//!
//! Not here: what is kept, and what would be freed (`haft_host::changes::gc`).

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use haft_host::changes::gc;
use haft_host::changes::gc::{ChosenWorkspaces, Cleanup, PlannedCleanup, size, table};
use haft_host::opening::rescue::Rescue;
use haft_workspace::state::{StateKind, WorkspaceUsage};
use serde_json::{Value, json};

use crate::arguments::Common;
use crate::exit::Exit;
use crate::prompt::{forget_what_was_typed, somebody_is_there};
use crate::screen;
use haft_host::calling::user_questions::typed_line;

/// Arguments of `haft gc`.
#[derive(Args)]
#[command(after_help = "haft frees nothing unless a flag chooses something. \
                  A workspace on a disk that is not mounted looks like one that no longer exists.

Examples:
  haft gc                         # show what haft keeps, and where
  haft gc --caches --spills       # free these of this workspace
  haft gc --all --older-than 30d  # of all workspaces; undo then reaches 30 days
  haft gc --gone --yes            # all of workspaces that no longer exist")]
pub(crate) struct Gc {
    /// Choose this workspace; repeatable
    #[arg(long = "workspace", value_name = "DIR", conflicts_with_all = ["all", "gone"])]
    pub(crate) workspaces: Vec<PathBuf>,
    /// Choose all workspaces
    #[arg(long)]
    pub(crate) all: bool,
    /// Choose workspaces that no longer exist; free everything that haft keeps for them, unless you choose a kind
    #[arg(long)]
    pub(crate) gone: bool,
    /// Free the journal; you can no longer undo the changes in it
    #[arg(long)]
    pub(crate) journal: bool,
    /// Free the contents that build folders had before commands changed them; undo then leaves these folders unchanged
    #[arg(long)]
    pub(crate) trees: bool,
    /// Free results that haft keeps for identical calls
    #[arg(long)]
    pub(crate) caches: bool,
    /// Free outputs that were too long to show
    #[arg(long)]
    pub(crate) spills: bool,
    /// Free sessions; you can no longer resume or replay them
    #[arg(long)]
    pub(crate) sessions: bool,
    /// Free packages that tools such as cargo and npm downloaded inside the sandbox; the tools download them again
    #[arg(long = "tool-caches")]
    pub(crate) tool_caches: bool,
    /// Free only data older than AGE, such as 90m, 12h, 30d or 8w; of every kind unless you choose one
    #[arg(long = "older-than", value_name = "AGE", value_parser = gc::age)]
    pub(crate) older_than: Option<Duration>,
}

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &Gc) -> anyhow::Result<Exit> {
    let rescue = Rescue::open(&common.options())?;
    let cleanup = arguments.cleanup();
    let Some(wanted) = cleanup.selection() else {
        show(common, &cleanup.shown(&rescue))?;
        return Ok(Exit::Ok);
    };
    let plan = cleanup.plan(&rescue, &wanted)?;
    if plan.is_empty() {
        show_nothing(common)?;
        return Ok(Exit::Ok);
    }
    if common.plan || !(common.yes().is_some() || agreed(common, &plan)?) {
        return refused(common, &plan);
    }
    let freed = gc::free(&rescue.state_folder, &plan, &wanted);
    freed.problems.iter().for_each(|problem| screen::talk(&format!("haft: {problem}")));
    if common.json {
        screen::record(&json!({ "v": 1, "freed": freed.bytes, "workspaces": freed.records }).to_string())?;
    } else {
        screen::answer(&format!("Freed {}.", size(freed.bytes)))?;
    }
    Ok(if freed.problems.is_empty() { Exit::Ok } else { Exit::Failed })
}

impl Gc {
    fn cleanup(&self) -> Cleanup {
        let workspaces = match (self.gone, self.all) {
            (true, _) => ChosenWorkspaces::Gone,
            (false, true) => ChosenWorkspaces::All,
            (false, false) if self.workspaces.is_empty() => ChosenWorkspaces::Current,
            (false, false) => ChosenWorkspaces::Named(self.workspaces.clone()),
        };
        let named = [
            (self.journal, StateKind::Journal),
            (self.trees, StateKind::Trees),
            (self.caches, StateKind::Caches),
            (self.spills, StateKind::Spills),
            (self.sessions, StateKind::Sessions),
            (self.tool_caches, StateKind::ToolCaches),
        ];
        let kinds = named.iter().filter(|(is_named, _)| *is_named).map(|(_, kind)| *kind).collect();
        Cleanup { workspaces, kinds, older_than: self.older_than }
    }
}

fn show(common: &Common, usages: &[WorkspaceUsage]) -> anyhow::Result<()> {
    if common.json {
        screen::record(&gc::record(usages).to_string())?;
        return Ok(());
    }
    if usages.is_empty() {
        screen::talk("haft keeps nothing yet.");
        return Ok(());
    }
    for line in table::lines(usages, screen::width()) {
        screen::answer(&line)?;
    }
    Ok(())
}

fn show_nothing(common: &Common) -> anyhow::Result<()> {
    match common.json {
        true => screen::record(&json!({ "v": 1, "freed": 0, "workspaces": [] }).to_string())?,
        false => screen::talk("There is nothing to free."),
    }
    Ok(())
}

/// Says what would be freed; the record of it goes to stdout.
fn refused(common: &Common, plan: &[PlannedCleanup]) -> anyhow::Result<Exit> {
    if common.json {
        let would: Vec<Value> = plan.iter().map(PlannedCleanup::record).collect();
        screen::record(&json!({ "v": 1, "planned": true, "would_free": would, "total": total(plan) }).to_string())?;
    } else if !somebody_is_there() || common.plan {
        list(plan);
        screen::talk("Nothing was freed. To free it, run the same command with --yes.");
    } else {
        screen::talk("Nothing was freed.");
    }
    Ok(if common.plan { Exit::Ok } else { Exit::Refused })
}

fn list(plan: &[PlannedCleanup]) {
    screen::talk(&format!("This would free {}:", size(total(plan))));
    plan.iter().for_each(|planned| screen::talk(&format!("  {}", planned.in_words())));
    if plan.iter().any(PlannedCleanup::loses_journal) {
        screen::talk("You can no longer undo the changes that the journal loses.");
    }
}

fn total(plan: &[PlannedCleanup]) -> u64 {
    plan.iter().map(PlannedCleanup::bytes).sum()
}

/// Asks at the terminal; without one the answer is no.
fn agreed(common: &Common, plan: &[PlannedCleanup]) -> io::Result<bool> {
    if common.json || !somebody_is_there() {
        return Ok(false);
    }
    list(plan);
    forget_what_was_typed();
    answered(&mut io::stdin().lock(), &mut anstream::stderr())
}

/// Reads the answer. The end of input means no.
fn answered(input: &mut impl BufRead, output: &mut impl Write) -> io::Result<bool> {
    loop {
        write!(output, "Free it? y/n > ")?;
        output.flush()?;
        let Some(answer) = typed_line(input)? else { return Ok(false) };
        match answer.to_ascii_lowercase().as_str() {
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => writeln!(output, "Answer y or n.")?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_frees() {
        let said = |input: &str| answered(&mut input.as_bytes(), &mut Vec::new()).expect("memory can be written");
        assert!(said("y\n") && said("\nmaybe\nYES\n"));
        assert!(!said("n\n") && !said("") && !said("all\n"));
    }
}
