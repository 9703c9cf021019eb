//! How haft and its dialects show the built-in tool that a prompt file is about.
//!
//! `read_file` has a `path` in haft and a `filepath` in TunaCode. A prompt file does not say in whose names it is
//! written, so haft compares it with every tool of its name.

use std::sync::Arc;

use haft_contract::description::dialect::Dialect;
use haft_contract::description::spec::Spec;
use haft_tools::dialect::{NAMES, named};

/// A built-in tool as haft or a dialect shows it.
pub struct ShownTool {
    /// The dialect; nothing for haft's own names.
    pub dialect: Option<String>,
    /// What a model sees of the tool.
    pub spec: Spec,
}

impl ShownTool {
    /// Says whose names these are.
    #[must_use]
    pub fn whose(&self) -> String {
        self.dialect.as_ref().map_or_else(|| "haft".to_owned(), |name| format!("the dialect \"{name}\""))
    }
}

/// Returns the built-in tools of this name, haft's own first.
#[must_use]
pub fn shown_tools(name: &str, dialects: &[Arc<dyn Dialect>]) -> Vec<ShownTool> {
    let natives: Vec<Spec> = haft_tools::all().iter().map(|tool| tool.spec().clone()).collect();
    let own = natives.iter().find(|spec| spec.name == name).cloned();
    let mut tools: Vec<ShownTool> = own.map(|spec| ShownTool { dialect: None, spec }).into_iter().collect();
    for dialect in dialects {
        for foreign in dialect.tools().iter().filter(|foreign| foreign.name() == name) {
            let usual = foreign.natives().first().and_then(|usual| natives.iter().find(|spec| spec.name == *usual));
            let spec = usual.map(|native| foreign.spec(native));
            tools.extend(spec.map(|spec| ShownTool { dialect: Some(dialect.name().to_owned()), spec }));
        }
    }
    tools
}

/// Returns the dialects that haft brings.
#[must_use]
pub fn built_in_dialects() -> Vec<Arc<dyn Dialect>> {
    NAMES.iter().filter_map(|name| named(name)).collect()
}
