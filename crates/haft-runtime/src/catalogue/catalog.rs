//! Lists the tools, each under one visible name.
//!
//! Not here: how a tool runs (`runtime`), what a provider sees (`haft-model`).

mod names;

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use haft_contract::call::RawArguments;
use haft_contract::description::schema_rules::{BrokenRule, check};
use haft_contract::text::closest::closest;
use haft_contract::tool::AnyTool;
use indexmap::IndexMap;

use super::entry::CatalogEntry;
use super::toolset::{ToolList, Toolset, ToolsetError};
pub use names::IntendedTool;

/// All tools, in the order of their registration.
#[derive(Default)]
pub struct Catalog {
    entries: RwLock<IndexMap<String, Arc<CatalogEntry>>>,
}

/// Why a tool cannot be registered or removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// Two tools would have the same name.
    #[error(
        "two tools are called \"{name}\": one from {first}, one from {second}; show one of them under another name \
         (`renamed`, `prefixed`), leave one out (`without`), or replace the first (`replace`)"
    )]
    Clash {
        /// The name.
        name: String,
        /// Where the registered one is from.
        first: String,
        /// Where the new one is from.
        second: String,
    },
    /// The description breaks a rule.
    #[error(transparent)]
    Rule(#[from] BrokenRule),
    /// There is no such tool.
    #[error("there is no tool \"{name}\" to {act}{}", near.as_ref().map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default())]
    NotThere {
        /// The name.
        name: String,
        /// What was to be done.
        act: &'static str,
        /// The nearest name there is.
        near: Option<String>,
    },
    /// A toolset cannot be listed.
    #[error(transparent)]
    Toolset(#[from] ToolsetError),
}

impl Catalog {
    /// Registers all tools of a toolset, or none.
    pub async fn add(&self, toolset: &dyn Toolset) -> Result<(), CatalogError> {
        let listed = toolset.list().await?;
        self.insert_all(listed.into_iter().map(|entry| entry.in_toolset(toolset.name())).collect())
    }

    /// Registers all tools of a list, or none.
    pub fn add_list(&self, list: ToolList) -> Result<(), CatalogError> {
        self.insert_all(list.into_entries())
    }

    fn insert_all(&self, listed: Vec<CatalogEntry>) -> Result<(), CatalogError> {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let mut grown = entries.clone();
        for entry in listed {
            insert_new(&mut grown, entry)?;
        }
        *entries = grown;
        Ok(())
    }

    /// Registers one tool.
    pub fn register(&self, tool: Arc<dyn AnyTool>) -> Result<(), CatalogError> {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        insert_new(&mut entries, CatalogEntry::of(tool).in_toolset("the program"))
    }

    /// Puts a tool in the place of the one with the same name.
    pub fn replace(&self, tool: Arc<dyn AnyTool>) -> Result<(), CatalogError> {
        let entry = checked(CatalogEntry::of(tool).in_toolset("the program"))?;
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        match entries.get_mut(&entry.shown.name) {
            Some(place) => {
                *place = Arc::new(entry);
                Ok(())
            }
            None => Err(not_there(&entries, &entry.shown.name, "replace")),
        }
    }

    /// Removes a tool. Calls that have found it already go on.
    pub fn unregister(&self, name: &str) -> Result<(), CatalogError> {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        match entries.shift_remove(name) {
            Some(_) => Ok(()),
            None => Err(not_there(&entries, name, "remove")),
        }
    }

    /// Replaces all tools of this catalogue with those of another one in a single step. Calls that already found their
    /// tools continue.
    pub fn renew(&self, by: Catalog) {
        let renewed = by.entries.into_inner().unwrap_or_else(PoisonError::into_inner);
        *self.entries.write().unwrap_or_else(PoisonError::into_inner) = renewed;
    }

    /// Finds a tool by the name it is shown under.
    pub fn find(&self, name: &str) -> Option<Arc<CatalogEntry>> {
        self.read().get(name).cloned()
    }

    /// Finds the tool that is meant by another name: in another case or spelling, or what other agents call it. Where the
    /// name stands for several tools, the arguments say which.
    pub fn meant(&self, name: &str, arguments: &RawArguments) -> Option<IntendedTool> {
        names::meant(&self.read(), name, arguments)
    }

    /// Returns the tools that a model gets, in order: without deferred ones and those that are only understood.
    pub fn list(&self) -> Vec<Arc<CatalogEntry>> {
        self.read().values().filter(|entry| entry.is_listed()).cloned().collect()
    }

    /// Returns all tools in order, with deferred ones, without those that are only understood.
    pub fn list_all(&self) -> Vec<Arc<CatalogEntry>> {
        self.read().values().filter(|entry| entry.is_shown).cloned().collect()
    }

    /// Lists a deferred tool from now on. A tool that is listed already stays so.
    pub fn show(&self, name: &str) -> Result<(), CatalogError> {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        match entries.get_mut(name) {
            Some(entry) => {
                Arc::make_mut(entry).shown.deferred = false;
                Ok(())
            }
            None => Err(not_there(&entries, name, "show")),
        }
    }

    /// Takes a tool out of the list; it is still called by its name.
    pub fn defer(&self, name: &str) -> Result<(), CatalogError> {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        match entries.get_mut(name) {
            Some(entry) => {
                Arc::make_mut(entry).shown.deferred = true;
                Ok(())
            }
            None => Err(not_there(&entries, name, "defer")),
        }
    }

    /// Returns the name nearest to one that is not there.
    pub fn nearest(&self, name: &str) -> Option<String> {
        let entries = self.read();
        // A model knows the listed ones; a deferred one is only meant if none of them is.
        let near = closest(name, listed(&entries)).or_else(|| closest(name, shown(&entries)));
        near.map(str::to_owned)
    }

    /// Returns how many tools are listed.
    pub fn len(&self) -> usize {
        listed(&self.read()).count()
    }

    /// Returns whether no tool is listed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts the shown names in the place of native ones that a text quotes; nothing when all are shown as they are.
    pub(crate) fn outward(&self, text: &str) -> Option<String> {
        let entries = self.read();
        if entries.values().all(|entry| entry.shown.name == entry.native_name()) {
            return None;
        }
        // In one pass, so that two tools that swapped their names do not swap back.
        let shown = |name: &str| shown_name(&entries, name);
        let parts = text.split('"').map(|part| shown(part).unwrap_or(part));
        Some(parts.collect::<Vec<_>>().join("\""))
    }

    /// Returns the name under which a native tool is shown.
    pub(crate) fn shown_name(&self, native: &str) -> Option<String> {
        shown_name(&self.read(), native).map(str::to_owned)
    }

    fn read(&self) -> RwLockReadGuard<'_, IndexMap<String, Arc<CatalogEntry>>> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The names of the tools that a model gets.
fn listed(entries: &IndexMap<String, Arc<CatalogEntry>>) -> impl Iterator<Item = &str> {
    entries.values().filter(|entry| entry.is_listed()).map(|entry| &*entry.shown.name)
}

/// The names of all tools but those that are only understood.
fn shown(entries: &IndexMap<String, Arc<CatalogEntry>>) -> impl Iterator<Item = &str> {
    entries.values().filter(|entry| entry.is_shown).map(|entry| &*entry.shown.name)
}

fn shown_name<'e>(entries: &'e IndexMap<String, Arc<CatalogEntry>>, native: &str) -> Option<&'e str> {
    let mut listed = entries.values().filter(|entry| entry.is_shown);
    listed.find(|entry| entry.native_name() == native).map(|entry| &*entry.shown.name)
}

fn insert_new(entries: &mut IndexMap<String, Arc<CatalogEntry>>, entry: CatalogEntry) -> Result<(), CatalogError> {
    let entry = checked(entry)?;
    // A tool that is wanted takes the name of one that is only there in case.
    let is_in_case = entries.get(&entry.shown.name).is_some_and(|first| first.shown.deferred);
    if is_in_case && !entry.shown.deferred {
        entries.shift_remove(&entry.shown.name);
    }
    if let Some(first) = entries.get(&entry.shown.name) {
        return Err(CatalogError::Clash {
            name: entry.shown.name.clone(),
            first: first.toolset.clone(),
            second: entry.toolset,
        });
    }
    entries.insert(entry.shown.name.clone(), Arc::new(entry));
    Ok(())
}

fn checked(entry: CatalogEntry) -> Result<CatalogEntry, CatalogError> {
    match check(&entry.shown).into_iter().find(|broken| !broken.is_advice) {
        Some(broken) => Err(CatalogError::Rule(broken)),
        None => Ok(entry),
    }
}

fn not_there(entries: &IndexMap<String, Arc<CatalogEntry>>, name: &str, act: &'static str) -> CatalogError {
    let near = closest(name, entries.keys().map(String::as_str)).map(str::to_owned);
    CatalogError::NotThere { name: name.to_owned(), act, near }
}
