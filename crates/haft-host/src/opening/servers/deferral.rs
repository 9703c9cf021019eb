//! Defers the tools of servers whose definitions would take much of a model's window in every request.
//!
//! The measured size decides, whatever the server and the model are. The largest servers are deferred until the rest fits;
//! their tools are found by `search_tools` and called by `call_tool`. A person can still list single ones (`[tools] show`).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use haft_config::settings::Settings;
use haft_contract::description::spec::Spec;
use haft_contract::text::grouped::GroupedNumber;
use haft_contract::tool::{AnyTool, Typed};
use haft_runtime::catalogue::catalog::Catalog;
use haft_runtime::catalogue::entry::CatalogEntry;
use haft_runtime::catalogue::toolset::ToolList;
use haft_tools::catalogue::call_tool::CallOther;
use haft_tools::catalogue::search_tools::{SearchTools, SearchableTool};

use crate::host::BUILT_IN_TOOLS;
use crate::notices::Notices;

/// How the toolset of a server is called, before the name of the server.
pub(crate) const OF_SERVER: &str = "the MCP server ";
/// The share of the window that the definitions of servers may take, in percent.
const SHARE: u64 = 3;
/// The window of a model whose window is not known, in tokens.
const USUAL_WINDOW: u64 = 128_000;
/// Characters of a definition that are about one token.
const CHARACTERS_OF_TOKEN: usize = 4;

/// Returns the server that a tool of the catalogue belongs to.
#[must_use]
pub fn server_of(entry: &CatalogEntry) -> Option<&str> {
    entry.toolset().strip_prefix(OF_SERVER)
}

/// What the definitions of a server's tools take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionSize {
    /// The server.
    pub server: String,
    /// How many tools it has.
    pub tools: usize,
    /// About how many tokens they take in each request.
    pub tokens: usize,
}

/// Returns how many tokens the definitions of all servers may take together.
#[must_use]
pub fn room(settings: &Settings) -> usize {
    let window = settings.model.window.map_or(USUAL_WINDOW, |window| window.0);
    usize::try_from(window * SHARE / 100).unwrap_or(usize::MAX)
}

/// Returns the servers that are deferred: the largest ones, until the rest has room.
#[must_use]
pub fn beyond(mut sizes: Vec<DefinitionSize>, room: usize) -> Vec<DefinitionSize> {
    sizes.sort_by(|one, other| other.tokens.cmp(&one.tokens).then_with(|| one.server.cmp(&other.server)));
    let mut total: usize = sizes.iter().map(|size| size.tokens).sum();
    let is_deferred = |size: &DefinitionSize| {
        let is_too_much = total > room;
        total -= size.tokens;
        is_too_much
    };
    let count = sizes.iter().map(is_deferred).take_while(|is_deferred| *is_deferred).count();
    sizes.truncate(count);
    sizes
}

/// The servers that are deferred, for a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deferral {
    /// What is deferred, the largest first.
    pub servers: Vec<DefinitionSize>,
    /// How many tokens there is room for.
    pub room: usize,
}

impl fmt::Display for Deferral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = |size: &DefinitionSize| {
            format!("{} ({} tools, about {} tokens)", size.server, size.tools, GroupedNumber(size.tokens as u64))
        };
        let servers: Vec<String> = self.servers.iter().map(server).collect();
        write!(
            f,
            "the tools of these MCP servers are deferred, because definitions may take about {} tokens, {SHARE} % of the \
             window: {}. A model finds them with \"search_tools\"",
            GroupedNumber(self.room as u64),
            servers.join(", ")
        )
    }
}

/// Defers what has no room in a catalogue, and adds the two tools that reach it. Returns what is deferred.
pub(crate) fn defer_large(catalog: &Catalog, settings: &Settings, notices: &dyn Notices) -> Deferral {
    let room = room(settings);
    let of_servers: Vec<(String, Arc<CatalogEntry>)> =
        catalog.list().into_iter().filter_map(|entry| Some((server_of(&entry)?.to_owned(), entry))).collect();
    let servers = beyond(sizes_of(&of_servers), room);
    if servers.is_empty() {
        return Deferral::default();
    }
    let is_deferred = |server: &str| servers.iter().any(|size| size.server == server);
    let searched = of_servers.iter().filter(|(server, _)| is_deferred(server));
    let searched: Vec<SearchableTool> = searched
        .map(|(server, entry)| SearchableTool { source: server.clone(), spec: entry.shown().clone() })
        .collect();
    let names: Vec<String> = searched.iter().map(|tool| tool.spec.name.clone()).collect();
    let search: Arc<dyn AnyTool> = Arc::new(Typed::new(SearchTools::over(searched)));
    let call: Arc<dyn AnyTool> = Arc::new(CallOther::default());
    if let Err(error) = catalog.add_list(ToolList::new(BUILT_IN_TOOLS, [search, call])) {
        notices.note(&format!("note: no tools are deferred: {error}"));
        return Deferral::default();
    }
    for name in names {
        // They were in the list a moment ago.
        let _ = catalog.defer(&name);
    }
    Deferral { servers, room }
}

fn sizes_of(tools: &[(String, Arc<CatalogEntry>)]) -> Vec<DefinitionSize> {
    let mut sizes: BTreeMap<&str, DefinitionSize> = BTreeMap::new();
    for (server, entry) in tools {
        let empty = || DefinitionSize { server: server.clone(), tools: 0, tokens: 0 };
        let size = sizes.entry(server).or_insert_with(empty);
        size.tools += 1;
        size.tokens += tokens_of(entry.shown());
    }
    sizes.into_values().collect()
}

/// Estimates how many tokens a definition takes in each request.
#[must_use]
pub fn tokens_of(spec: &Spec) -> usize {
    let characters = spec.name.len() + spec.manual.words.len() + spec.input_schema.to_string().len();
    characters.div_ceil(CHARACTERS_OF_TOKEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(server: &str, tokens: usize) -> DefinitionSize {
        DefinitionSize { server: server.to_owned(), tools: 1, tokens }
    }

    fn deferred(sizes: &[(&str, usize)], room: usize) -> Vec<String> {
        let sizes = sizes.iter().map(|(server, tokens)| size(server, *tokens)).collect();
        beyond(sizes, room).into_iter().map(|size| size.server).collect()
    }

    #[test]
    fn the_largest_servers_are_deferred_until_the_rest_has_room() {
        let sizes = [("small", 500), ("large", 9_000), ("medium", 3_000)];
        assert_eq!(deferred(&sizes, 12_500), Vec::<String>::new());
        assert_eq!(deferred(&sizes, 12_499), ["large"]);
        assert_eq!(deferred(&sizes, 3_499), ["large", "medium"]);
        assert_eq!(deferred(&sizes, 0), ["large", "medium", "small"]);
        assert_eq!(deferred(&[("b", 10), ("a", 10)], 10), ["a"]);
    }

    #[test]
    fn what_is_deferred_is_told_with_its_size() {
        let servers = vec![DefinitionSize { tools: 92, ..size("tracker", 31_000) }];
        let told = Deferral { servers, room: 3_840 }.to_string();
        assert_eq!(
            told,
            "the tools of these MCP servers are deferred, because definitions may take about 3,840 tokens, 3 % of the window: \
             tracker (92 tools, about 31,000 tokens). A model finds them with \"search_tools\""
        );
    }
}
