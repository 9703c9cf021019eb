//! The names of the tools that a model was offered: what it calls them, and what haft calls them.

use crate::lower::LoweredList;

/// The names of tools, in both directions.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfferedNames {
    pairs: Vec<(String, String)>,
}

impl OfferedNames {
    pub(crate) fn of(tools: &LoweredList) -> OfferedNames {
        let pair = |wire: &str| Some((wire.to_owned(), tools.native_name(wire)?.to_owned()));
        OfferedNames { pairs: tools.tools.iter().filter_map(|tool| pair(&tool.name)).collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Says whether the model may call something by this name.
    pub(crate) fn has(&self, wire: &str) -> bool {
        self.pairs.iter().any(|(offered, _)| offered == wire)
    }

    /// Returns haft's name for what the model wrote; what it wrote where there is no such tool.
    pub(crate) fn native<'a>(&'a self, wire: &'a str) -> &'a str {
        self.pairs.iter().find(|(offered, _)| offered == wire).map_or(wire, |(_, native)| native)
    }

    /// Returns the name that a model knows for a tool of haft; one that any provider takes where it is not offered now.
    pub(crate) fn wire(&self, native: &str) -> String {
        let offered = self.pairs.iter().find(|(_, own)| own == native);
        offered.map_or_else(|| crate::lower::names::safe_name(native), |(wire, _)| wire.clone())
    }
}
