//! `haft tools`: shows the tools as a model sees them.

use std::sync::Arc;

use haft_mcp::client::servers::Servers;
use haft_model::lower::{LoweredList, ProviderDialect};
use haft_runtime::catalogue::entry::CatalogEntry;
use haft_tools::defined::prompt_file::PromptFile;
use serde_json::Value;

use crate::arguments::{Common, ToolsCommandArguments};
use crate::exit::Exit;
use crate::screen::{self, StyledText};
use haft_host::host::Host;
use haft_host::texts::shown_tools::{find, lowered, mark_traits, traits_in_words};

/// Runs the command.
pub(crate) fn run(common: &Common, tools: &ToolsCommandArguments) -> anyhow::Result<Exit> {
    let host = Host::open(&Servers::added_to(common.options()))?;
    let catalog = host.runtime.catalog();
    let entries = match &tools.tool {
        None if tools.all => catalog.list_all(),
        None => catalog.list(),
        Some(name) => vec![find(catalog, name)?],
    };
    if tools.xml {
        entries.iter().try_for_each(|entry| screen::answer(&PromptFile::of(entry.shown()).to_xml()))?;
        return Ok(Exit::Ok);
    }
    if common.json || tools.provider.is_some() {
        let list = lowered(&entries, tools.provider.unwrap_or(ProviderDialect::Mcp));
        tell_losses(&list);
        let mut value = list.request_value();
        // A provider would refuse a field that it does not know.
        if tools.provider.is_none() {
            mark_traits(&mut value, &entries);
        }
        screen::record(&serde_json::to_string_pretty(&value)?)?;
        return Ok(Exit::Ok);
    }
    match &tools.tool {
        None => list_all(&entries).map(|()| host.note_deferral())?,
        Some(_) => entries.iter().try_for_each(|entry| show_one(entry))?,
    }
    Ok(Exit::Ok)
}

fn tell_losses(list: &LoweredList) {
    for tool in &list.tools {
        for loss in &tool.losses {
            screen::talk(&format!("{}: {loss}", tool.name));
        }
    }
    for quarantined in &list.quarantined {
        screen::talk(&quarantined.to_string());
    }
}

fn list_all(entries: &[Arc<CatalogEntry>]) -> anyhow::Result<()> {
    let longest = entries.iter().map(|entry| entry.shown().name.len()).max().unwrap_or(0);
    for entry in entries {
        let name = format!("{:longest$}", entry.shown().name);
        let first =
            entry.shown().manual.words.split_once(". ").map_or(&*entry.shown().manual.words, |(first, _)| first);
        let first = first.lines().next().unwrap_or_default().trim_end_matches('.');
        let deferred = if entry.shown().deferred { " (deferred)" } else { "" };
        screen::line(&[
            StyledText::Strong(&name),
            StyledText::Plain("  "),
            StyledText::Plain(first),
            StyledText::Faint(deferred),
        ])?;
    }
    screen::talk("Show one: haft tools NAME. Call one: haft call NAME key=value");
    Ok(())
}

fn show_one(entry: &CatalogEntry) -> anyhow::Result<()> {
    let spec = entry.shown();
    screen::line(&[StyledText::Strong(&spec.name), StyledText::Faint("  "), StyledText::Faint(&spec.manual.title)])?;
    screen::answer(&format!("\n{}\n\n", spec.manual.words))?;
    for (what, words) in traits_in_words(entry) {
        screen::line(&[StyledText::Faint(what), StyledText::Plain(" "), StyledText::Plain(words)])?;
    }
    if let Some(skill) = &spec.skill {
        let own = &entry.tool().spec().manual.words;
        let (head, words) = if *skill == spec.manual.words { ("In full", own) } else { ("As a skill", skill) };
        screen::line(&[StyledText::Strong(head)])?;
        screen::answer(&format!("{words}\n\n"))?;
    }
    screen::line(&[StyledText::Strong("Arguments")])?;
    let required = spec.input_schema.get("required").and_then(Value::as_array);
    let properties = spec.input_schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let needed = required.is_some_and(|required| required.iter().any(|required| required == name));
        let kind = property.get("type").and_then(Value::as_str).unwrap_or("any");
        let words = property.get("description").and_then(Value::as_str).unwrap_or_default();
        let kind = format!(" ({kind}{})  ", if needed { ", required" } else { "" });
        screen::line(&[
            StyledText::Plain("  "),
            StyledText::Strong(name),
            StyledText::Faint(&kind),
            StyledText::Plain(words),
        ])?;
    }
    if !spec.manual.examples.is_empty() {
        screen::line(&[StyledText::Strong("Examples")])?;
    }
    for example in &spec.manual.examples {
        screen::line(&[StyledText::Plain("  "), StyledText::Plain(&example.arguments.to_string())])?;
    }
    Ok(())
}
