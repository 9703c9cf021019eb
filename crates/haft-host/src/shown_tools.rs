//! The tools as a model is shown them: by name, and lowered for a provider.

use std::sync::Arc;

use anyhow::bail;
use haft_model::lower::{LoweredList, Offered, Provider, lower_all};
use haft_runtime::catalog::Catalog;
use haft_runtime::entry::Entry;

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
