//! `haft trust`: makes haft load the settings, rules, tools and skills of a project from now on.
//!
//! Naming the folder is consent, so haft does not ask. It lists what becomes trusted, so the user sees all of it.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use haft_config::settings::Settings;
use haft_contract::text::diff::Diff;
use haft_workspace::project::{Project, TrustCheck};
use haft_workspace::state::trust::TrustStore;
use serde_json::{Value, json};

use crate::arguments::{Common, Trust};
use crate::exit::Exit;
use crate::screen::{self, StyledText};
use haft_host::opening::loaded_workspace::open_workspace;
use haft_host::opening::project_files;
use haft_host::opening::project_files::{MEANING, vouched_for};
use haft_host::reports::trust_listing::{lines, record};
use haft_host::texts::wrapped::wrapped;

/// Lines around a change that are shown.
const CONTEXT: usize = 3;
/// Most lines of a difference.
const MOST_LINES: usize = 2_000;

/// Runs the command.
pub(crate) fn run(common: &Common, trust: &Trust) -> anyhow::Result<Exit> {
    if common.plan && !trust.list && !trust.diff {
        return plan_mode(common);
    }
    let settings = Settings::read(common.profile)?;
    let store = TrustStore::new(&settings.environment.state_folder);
    if trust.list {
        return list(common, &store);
    }
    let named = trust.folder.as_deref().or(common.workspace.as_deref()).unwrap_or(Path::new("."));
    let workspace = open_workspace(&common.options(), named, &settings)?;
    match (trust.revoke, trust.diff) {
        (true, _) => revoke(&store, workspace.path()),
        (false, true) => diff(&store, workspace.path()),
        (false, false) => {
            let project = project_files::looked_at(&settings, workspace.path())?;
            put(common, &store, &project, workspace.path())
        }
    }
}

/// Refuses in plan mode, which changes nothing, not even what is trusted.
fn plan_mode(common: &Common) -> anyhow::Result<Exit> {
    let what = "plan mode trusts and revokes nothing; leave out --plan";
    match common.json {
        true => screen::record(&json!({ "v": 1, "error": { "kind": "denied", "what": what } }).to_string())?,
        false => screen::talk(&format!("haft: {what}.")),
    }
    Ok(Exit::Refused)
}

fn put(common: &Common, store: &TrustStore, project: &Project, folder: &Path) -> anyhow::Result<Exit> {
    let (trusted, refused) = vouched_for(project, store)?;
    for (name, why) in &refused {
        screen::talk(&format!("{name} is not trusted: {why}"));
    }
    if trusted.code.is_empty() && trusted.words.is_none() {
        if refused.is_empty() && store.revoke(folder).context("the record of trust cannot be written")? {
            say(&format!("The trusted files of {} are gone; haft trusts nothing there any more.", folder.display()))?;
            return Ok(Exit::Ok);
        }
        let folder = folder.display();
        screen::talk(&match refused.is_empty() {
            true => format!("There is nothing to trust in {folder}: haft looks for .haft and AGENTS.md."),
            false => format!("There is nothing else to trust in {folder}."),
        });
        return Ok(Exit::Failed);
    }
    store.put(folder, trusted.clone()).context("the record of trust cannot be written")?;
    if common.json {
        screen::record(&record(&folder.display().to_string(), &trusted).to_string())?;
        return Ok(if refused.is_empty() { Exit::Ok } else { Exit::Failed });
    }
    say(&format!("Trusted in {}:", folder.display()))?;
    lines(&trusted).iter().try_for_each(|line| say(line))?;
    wrapped(MEANING, screen::width(), 0).iter().try_for_each(|row| say(row))?;
    Ok(if refused.is_empty() { Exit::Ok } else { Exit::Failed })
}

fn looked_at(folder: &Path) -> anyhow::Result<Project> {
    Project::look(folder).with_context(|| format!("{} cannot be read", folder.display()))
}

/// Shows how the project's files differ from the copy that runs.
fn diff(store: &TrustStore, folder: &Path) -> anyhow::Result<Exit> {
    let (project, trusted) = (Arc::new(looked_at(folder)?), Arc::new(store.of(folder)?));
    let mut shown = BTreeSet::new();
    for name in trusted.code.keys() {
        for (helper, then, now) in TrustCheck::new(project.clone(), trusted.clone(), name).helper_texts() {
            if shown.insert(helper.clone()) {
                say(&format!("--- trusted/{helper}"))?;
                say(&format!("+++ {helper}"))?;
                Diff::between(&then, &now, CONTEXT).render(MOST_LINES).lines().try_for_each(say)?;
            }
        }
    }
    if shown.is_empty() {
        screen::talk("No file differs from the trusted copy.");
    }
    Ok(Exit::Ok)
}

fn revoke(store: &TrustStore, folder: &Path) -> anyhow::Result<Exit> {
    if store.revoke(folder).context("the record of trust cannot be written")? {
        say(&format!("Revoked: haft trusts nothing in {} any more.", folder.display()))?;
        return Ok(Exit::Ok);
    }
    screen::talk(&format!("Nothing was trusted in {}.", folder.display()));
    Ok(Exit::Failed)
}

fn list(common: &Common, store: &TrustStore) -> anyhow::Result<Exit> {
    let all = store
        .list()
        .with_context(|| format!("{} cannot be read; remove it and trust again", store.path().display()))?;
    if common.json {
        let records: Vec<Value> = all.iter().map(|(folder, trusted)| record(folder, trusted)).collect();
        screen::record(&Value::from(records).to_string())?;
        return Ok(Exit::Ok);
    }
    for (folder, trusted) in &all {
        say(folder)?;
        lines(trusted).iter().try_for_each(|line| say(line))?;
    }
    if all.is_empty() {
        screen::talk("Nothing is trusted.");
    }
    Ok(Exit::Ok)
}

/// Prints one of haft's own lines. Names in it come from outside, and may reach a terminal through a pipe too.
fn say(text: &str) -> io::Result<()> {
    screen::line(&[StyledText::Plain(text)])
}
