//! Shows the tools as a model sees them: by name, and in the form that a provider needs.

use std::sync::Arc;

use anyhow::bail;
use haft_config::settings::Settings;
use haft_model::lower::{LoweredList, ProviderDialect, ToolOffer, lower_all};
use haft_runtime::catalogue::catalog::{Catalog, CatalogError};
use haft_runtime::catalogue::entry::CatalogEntry;
use haft_runtime::catalogue::toolset::ToolList;
use serde_json::Value;

use crate::opening::described_tools::Assembly;

/// Finds a tool or says which one is near.
///
/// # Errors
///
/// Fails if there is no such tool.
pub fn find(catalog: &Catalog, name: &str) -> anyhow::Result<Arc<CatalogEntry>> {
    match (catalog.find(name), catalog.nearest(name)) {
        (Some(entry), _) => Ok(entry),
        (None, Some(near)) => bail!("there is no tool \"{name}\"; did you mean \"{near}\"?"),
        (None, None) => bail!("there is no tool \"{name}\"; \"haft tools\" lists all tools"),
    }
}

/// Lowers tools for a provider.
pub fn lowered(entries: &[Arc<CatalogEntry>], provider: ProviderDialect) -> LoweredList {
    let offered: Vec<ToolOffer<'_>> = entries.iter().map(|entry| ToolOffer::of(entry.shown())).collect();
    lower_all(&offered, provider)
}

/// Marks the tools of a list that are deferred, load nothing before their first call, or run one call at a time.
pub fn mark_traits(list: &mut Value, entries: &[Arc<CatalogEntry>]) {
    for tool in list.as_array_mut().into_iter().flatten() {
        let entry = entries.iter().find(|entry| tool.get("name").is_some_and(|name| *name == *entry.shown().name));
        let (Some(fields), Some(entry)) = (tool.as_object_mut(), entry) else { continue };
        for (name, holds) in traits_of(entry).into_iter().filter(|(_, holds)| *holds) {
            fields.insert(name.to_owned(), holds.into());
        }
    }
}

/// Returns what is known of how a tool is loaded and run, by the names of records.
fn traits_of(entry: &CatalogEntry) -> [(&'static str, bool); 3] {
    let own = entry.tool().spec();
    [("deferred", entry.shown().deferred), ("lazy", own.lazy), ("exclusive", own.exclusive)]
}

/// Says how a tool is loaded and run, where that is not as usual: what is said, and the words.
pub fn traits_in_words(entry: &CatalogEntry) -> Vec<(&'static str, &'static str)> {
    let words = |(name, holds): (&str, bool)| match name {
        "lazy" if holds => Some(("loaded", "at its first call, and nothing of it before (lazy)")),
        "exclusive" if holds => Some(("runs", "one call at a time (disable_parallel)")),
        _ => None,
    };
    traits_of(entry).into_iter().filter_map(words).collect()
}

/// Lists the deferred tools that the profile, the caller and the settings name. Where a dialect has no form of one, it is listed under
/// its own name.
pub(crate) fn show_deferred(catalog: &Catalog, (settings, of_caller): (&Settings, &[String]), assembly: Assembly<'_>) {
    for name in settings.profile.shown_tools().iter().chain(of_caller) {
        // A program may have left haft's own tools out.
        let _is_there = show(catalog, name, assembly);
    }
    for name in &settings.tools.show {
        if let Err(why) = show(catalog, name, assembly) {
            assembly.notices.note(&format!("note: \"show\" below [tools] in the settings: {why}"));
        }
    }
}

fn show(catalog: &Catalog, name: &str, assembly: Assembly<'_>) -> Result<(), CatalogError> {
    let is_in_dialect = catalog.list_all().iter().any(|entry| entry.native_name() == name);
    let missing = assembly.runtime.dialect().is_some() && !is_in_dialect && catalog.find(name).is_none();
    let native = || haft_tools::all_under(assembly.runtime.limits()).into_iter().find(|tool| tool.spec().name == name);
    if missing && let Some(tool) = native() {
        catalog.add_list(ToolList::new("the built-in tools", [tool]))?;
    }
    if is_in_dialect && catalog.find(name).is_none() { Ok(()) } else { catalog.show(name) }
}
