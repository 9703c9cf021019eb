//! The tools as a model is shown them: by name, and lowered for a provider.

use std::sync::Arc;

use anyhow::bail;
use haft_config::settings::Settings;
use haft_model::lower::{LoweredList, Offered, Provider, lower_all};
use haft_runtime::catalog::{Catalog, CatalogError};
use haft_runtime::entry::Entry;
use haft_runtime::toolset::ToolList;
use serde_json::Value;

use crate::described_tools::Assembly;

/// Finds a tool or says which one is near.
///
/// # Errors
///
/// Fails if there is no such tool.
pub fn find(catalog: &Catalog, name: &str) -> anyhow::Result<Arc<Entry>> {
    match (catalog.find(name), catalog.nearest(name)) {
        (Some(entry), _) => Ok(entry),
        (None, Some(near)) => bail!("there is no tool \"{name}\"; did you mean \"{near}\"?"),
        (None, None) => bail!("there is no tool \"{name}\"; \"haft tools\" lists all tools"),
    }
}

/// Lowers tools for a provider.
pub fn lowered(entries: &[Arc<Entry>], provider: Provider) -> LoweredList {
    let offered: Vec<Offered<'_>> = entries.iter().map(|entry| Offered::of(entry.shown())).collect();
    lower_all(&offered, provider)
}

/// Marks the deferred tools of a list.
pub fn mark_deferred(list: &mut Value, entries: &[Arc<Entry>]) {
    let is_deferred = |name: &Value| entries.iter().any(|entry| *name == *entry.shown().name && entry.shown().deferred);
    for tool in list.as_array_mut().into_iter().flatten() {
        if let Some(fields) = tool.as_object_mut()
            && fields.get("name").is_some_and(is_deferred)
        {
            fields.insert("deferred".to_owned(), true.into());
        }
    }
}

/// Lists the deferred tools that the profile and the settings name. Where a dialect has no form of one, it is listed under
/// its own name.
pub(crate) fn show_deferred(catalog: &Catalog, settings: &Settings, assembly: Assembly<'_>) {
    for name in settings.profile.shown_tools() {
        // A program may have left haft's own tools out.
        let _is_there = show(catalog, &name, assembly);
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
