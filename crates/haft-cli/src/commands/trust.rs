//! `haft trust`: what a project brings along is loaded from now on.
//!
//! Naming the folder is the word: nothing is asked. What is trusted is listed, so that it is known what was said.

use std::io;
use std::path::Path;

use anyhow::Context;
use haft_config::settings::Settings;
use haft_workspace::project::{Kind, Project};
use haft_workspace::state::trust::{TrustStore, Trusted};
use serde_json::{Value, json};

use crate::arguments::{Common, Trust};
use crate::brought::{MEANING, name_of};
use crate::exit::Exit;
use crate::ground::open_workspace;
use crate::screen::{self, Part};
use crate::wrapped::wrapped;

/// Runs the command.
pub(crate) fn run(common: &Common, trust: &Trust) -> anyhow::Result<Exit> {
    if common.plan && !trust.list {
        return plan_mode(common);
    }
    let settings = Settings::read(common.profile)?;
    let store = TrustStore::new(&settings.environment.state_folder);
    if trust.list {
        return list(common, &store);
    }
    let named = trust.folder.as_deref().or(common.workspace.as_deref()).unwrap_or(Path::new("."));
    let workspace = open_workspace(common, named, &settings)?;
    if trust.revoke { revoke(&store, workspace.path()) } else { put(&store, workspace.path()) }
}

/// Whoever plans changes nothing, not even what is trusted.
fn plan_mode(common: &Common) -> anyhow::Result<Exit> {
    let what = "nothing is trusted or taken back in plan mode; leave --plan out";
    match common.json {
        true => screen::record(&json!({ "v": 1, "error": { "kind": "denied", "what": what } }).to_string())?,
        false => screen::talk(&format!("haft: {what}.")),
    }
    Ok(Exit::Refused)
}

fn put(store: &TrustStore, folder: &Path) -> anyhow::Result<Exit> {
    let project = Project::look(folder).with_context(|| format!("{} cannot be looked at", folder.display()))?;
    let (trusted, refused) = project.vouch();
    for (name, why) in &refused {
        screen::talk(&format!("{name} is not trusted: {why}"));
    }
    if trusted == Trusted::default() {
        if refused.is_empty() && store.revoke(folder).context("it cannot be remembered that nothing is left")? {
            say(&format!("What was trusted in {} is gone; nothing is trusted there any more.", folder.display()))?;
            return Ok(Exit::Ok);
        }
        let folder = folder.display();
        screen::talk(&match refused.is_empty() {
            true => format!("There is nothing to trust in {folder}: haft looks for .haft and AGENTS.md."),
            false => format!("Nothing else is there to trust in {folder}."),
        });
        return Ok(Exit::Failed);
    }
    store.put(folder, trusted.clone()).context("it cannot be remembered what is trusted")?;
    say(&format!("Trusted in {}:", folder.display()))?;
    lines(&trusted).iter().try_for_each(|line| say(line))?;
    wrapped(MEANING, screen::width(), 0).iter().try_for_each(|row| say(row))?;
    Ok(if refused.is_empty() { Exit::Ok } else { Exit::Failed })
}

fn revoke(store: &TrustStore, folder: &Path) -> anyhow::Result<Exit> {
    if store.revoke(folder).context("it cannot be remembered that this is not trusted any more")? {
        say(&format!("Nothing is trusted in {} any more.", folder.display()))?;
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

/// A line of our own: the names in it are somebody else's, and end on a terminal also behind a pipe.
fn say(text: &str) -> io::Result<()> {
    screen::line(&[Part::Plain(text)])
}

fn lines(trusted: &Trusted) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, fingerprint) in &trusted.code {
        lines.push(format!("  {:<5}  {name}", name_of(Kind::Code)));
        let named = fingerprint.keys().filter(|other| *other != name);
        lines.extend(named.map(|other| format!("         and {other}, which it names")));
    }
    let words = trusted.words.iter().flat_map(|words| words.keys());
    lines.extend(words.map(|name| format!("  {:<5}  {name}", name_of(Kind::Words))));
    lines
}

fn record(folder: &str, trusted: &Trusted) -> Value {
    let words: Vec<&String> = trusted.words.iter().flat_map(|words| words.keys()).collect();
    json!({ "folder": folder, "code": trusted.code, "words": words })
}
