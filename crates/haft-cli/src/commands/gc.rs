//! `haft gc`: what haft keeps on the disk for each workspace, and freeing what a person chose.
//!
//! Without a flag that chooses something it only shows. What would be freed is shown before anything is: at a terminal
//! the user is asked, `--yes` answers, and otherwise nothing happens and the exit code says so.
//!
//! Not here: counting and removing (`haft_workspace::state`).

mod table;

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::Args;
use haft_workspace::state::{
    Selection, Standing, StateKind, WorkspaceState, WorkspaceUsage, real_path_of, remove_leftovers,
};
use serde_json::{Value, json};

use crate::arguments::Common;
use crate::exit::Exit;
use crate::prompt::{forget_what_was_typed, somebody_is_there, typed_line};
use crate::screen;
use haft_host::rescue::Rescue;
pub(super) use table::size;

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
    /// Choose workspaces that no longer exist; frees everything that haft keeps for them unless you choose a kind
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
    #[arg(long = "older-than", value_name = "AGE", value_parser = age)]
    pub(crate) older_than: Option<Duration>,
}

/// Runs the command.
pub(crate) fn run(common: &Common, arguments: &Gc) -> anyhow::Result<Exit> {
    let rescue = Rescue::open(&common.options())?;
    let all = WorkspaceUsage::of_all(&rescue.state_folder);
    let Some(wanted) = arguments.selection() else {
        let shown = if arguments.workspaces.is_empty() { all } else { arguments.chosen(all, &rescue) };
        show(common, &shown)?;
        return Ok(Exit::Ok);
    };
    let mut plan = Vec::new();
    for usage in arguments.chosen(all, &rescue) {
        let freed = usage.would_free(&wanted)?;
        plan.extend((!freed.is_empty()).then_some(Planned { usage, freed }));
    }
    if plan.is_empty() {
        show_nothing(common)?;
        return Ok(Exit::Ok);
    }
    if common.plan || !(common.yes().is_some() || agreed(common, &plan)?) {
        return refused(common, &plan);
    }
    free(common, &rescue.state_folder, (&plan, &wanted))
}

impl Gc {
    /// Returns what is to be freed; nothing where nothing was chosen.
    fn selection(&self) -> Option<Selection> {
        let named = [
            (self.journal, StateKind::Journal),
            // Without the journal nothing leads to them.
            (self.trees || self.journal, StateKind::Trees),
            (self.caches, StateKind::Caches),
            (self.spills, StateKind::Spills),
            (self.sessions, StateKind::Sessions),
            (self.tool_caches, StateKind::ToolCaches),
        ];
        let mut kinds: Vec<StateKind> = named.iter().filter(|(is_named, _)| *is_named).map(|(_, kind)| *kind).collect();
        if kinds.is_empty() && (self.gone || self.older_than.is_some()) {
            kinds = StateKind::ALL.into();
        }
        let before = self.older_than.map(|age| SystemTime::now().checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH));
        (!kinds.is_empty()).then_some(Selection { kinds, before })
    }

    /// Returns the workspaces that are meant: those that flags name, else the current one.
    fn chosen(&self, all: Vec<WorkspaceUsage>, rescue: &Rescue) -> Vec<WorkspaceUsage> {
        let named: Vec<WorkspaceUsage> = match self.workspaces.is_empty() {
            true => vec![rescue.state.usage()],
            false => self.workspaces.iter().map(|folder| usage_of(&rescue.state_folder, folder)).collect(),
        };
        let paths: Vec<PathBuf> = self.workspaces.iter().map(|folder| real_path_of(folder)).collect();
        let is_named = |usage: &WorkspaceUsage| {
            // One that no longer exists is found by the path that it had.
            let had = usage.standing == Standing::Gone && usage.path.as_ref().is_some_and(|path| paths.contains(path));
            had || named.iter().any(|named| named.is_same(usage))
        };
        let is_chosen = |usage: &WorkspaceUsage| match (self.all, self.gone) {
            (_, true) => usage.standing == Standing::Gone,
            (true, false) => true,
            (false, false) => is_named(usage),
        };
        all.into_iter().filter(is_chosen).collect()
    }
}

fn usage_of(state_folder: &Path, folder: &Path) -> WorkspaceUsage {
    WorkspaceState::new(state_folder, &real_path_of(folder)).usage()
}

/// What would be freed of one workspace.
struct Planned {
    usage: WorkspaceUsage,
    freed: Vec<(StateKind, u64)>,
}

impl Planned {
    fn bytes(&self) -> u64 {
        self.freed.iter().map(|(_, bytes)| bytes).sum()
    }

    fn in_words(&self) -> String {
        let kinds: Vec<String> =
            self.freed.iter().map(|(kind, bytes)| format!("{} {}", kind.name(), size(*bytes))).collect();
        format!("{}: {}", table::place(&self.usage), kinds.join(", "))
    }

    fn record(&self) -> Value {
        let kinds = self.freed.iter().map(|(kind, bytes)| (kind.name().to_owned(), (*bytes).into()));
        let mut record = Value::Object(kinds.collect());
        record["path"] = json!(self.usage.path);
        record["state"] = self.usage.name().into();
        record["total"] = self.bytes().into();
        record
    }
}

fn show(common: &Common, usages: &[WorkspaceUsage]) -> anyhow::Result<()> {
    if common.json {
        screen::record(&table::record(usages).to_string())?;
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
fn refused(common: &Common, plan: &[Planned]) -> anyhow::Result<Exit> {
    if common.json {
        let would: Vec<Value> = plan.iter().map(Planned::record).collect();
        screen::record(&json!({ "v": 1, "planned": true, "would_free": would, "total": total(plan) }).to_string())?;
    } else if !somebody_is_there() || common.plan {
        list(plan);
        screen::talk("Nothing was freed. To free it, run the same command with --yes.");
    } else {
        screen::talk("Nothing was freed.");
    }
    Ok(if common.plan { Exit::Ok } else { Exit::Refused })
}

fn list(plan: &[Planned]) {
    screen::talk(&format!("This would free {}:", size(total(plan))));
    plan.iter().for_each(|planned| screen::talk(&format!("  {}", planned.in_words())));
    if plan.iter().any(|planned| planned.freed.iter().any(|(kind, _)| *kind == StateKind::Journal)) {
        screen::talk("You can no longer undo the changes that the journal loses.");
    }
}

fn total(plan: &[Planned]) -> u64 {
    plan.iter().map(Planned::bytes).sum()
}

/// Asks at the terminal; without one the answer is no.
fn agreed(common: &Common, plan: &[Planned]) -> io::Result<bool> {
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

/// Frees everything that was planned. A workspace that is in use is reported, and the others are freed.
fn free(common: &Common, state_folder: &Path, (plan, wanted): (&[Planned], &Selection)) -> anyhow::Result<Exit> {
    let (mut freed, mut records, mut exit) = (0, Vec::new(), Exit::Ok);
    for planned in plan {
        let place = table::place(&planned.usage);
        match planned.usage.free(wanted) {
            Ok(bytes) => {
                freed += bytes;
                records.push(json!({ "path": planned.usage.path, "state": planned.usage.name(), "freed": bytes }));
            }
            Err(error) => {
                exit = Exit::Failed;
                records.push(
                    json!({ "path": planned.usage.path, "state": planned.usage.name(), "error": error.to_string() }),
                );
                screen::talk(&format!("haft: {place} was freed only in part: {error}"));
            }
        }
    }
    remove_leftovers(state_folder);
    if common.json {
        screen::record(&json!({ "v": 1, "freed": freed, "workspaces": records }).to_string())?;
    } else {
        screen::answer(&format!("Freed {}.", size(freed)))?;
    }
    Ok(exit)
}

/// Reads an age such as 30d.
fn age(text: &str) -> Result<Duration, String> {
    let usage = || "write a number and m, h, d or w, such as 30d".to_owned();
    let unit = text.chars().last().ok_or_else(usage)?;
    let seconds = match unit {
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return Err(usage()),
    };
    let count: u64 = text[..text.len() - 1].parse().map_err(|_| usage())?;
    count.checked_mul(seconds).map(Duration::from_secs).ok_or_else(usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_has_a_number_and_a_unit() {
        let hours = |text: &str| age(text).map(|age| age.as_secs() / 3_600);
        assert_eq!([hours("120m"), hours("12h"), hours("30d"), hours("1w")], [Ok(2), Ok(12), Ok(720), Ok(168)]);
        for text in ["", "d", "30", "30 d", "-1d", "1y", "ä", "99999999999999999999d", "99999999999999999d"] {
            assert!(age(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_a_plain_yes_frees() {
        let said = |input: &str| answered(&mut input.as_bytes(), &mut Vec::new()).expect("memory can be written");
        assert!(said("y\n") && said("\nmaybe\nYES\n"));
        assert!(!said("n\n") && !said("") && !said("all\n"));
    }
}
