//! Other shapes in which models write a call, and their meanings.
//!
//! Models have learned the tools of other agents: `-A` for lines after a match, `view_range` for a part of a file, one
//! edit beside the path. A tool lists the shapes that have one meaning here. haft reads them only if a call does not fit
//! otherwise, and reports each reading. A shape without a counterpart in the call says what to do instead.
//!
//! Not here: other names of arguments with the same values (`Tool::ALIASES`), when shapes are read (`haft-runtime`).

use std::fmt;

use serde_json::{Map, Value};

use crate::text::closest::folded;

/// One argument in another shape.
pub struct ArgumentShape {
    /// The name of the argument as models write it, in any case and spelling; one that begins with `-` exactly so.
    pub written: &'static str,
    /// What it means.
    pub meaning: Meaning,
}

/// What an argument in another shape means.
pub enum Meaning {
    /// Another argument, with a native value for each written one; both are JSON.
    Words(&'static str, &'static [(&'static str, &'static str)]),
    /// What happens anyway, if it has one of these values (JSON); any value if there are none.
    Anyway(&'static [&'static str]),
    /// MeantArguments that code makes of it.
    Code(Convert),
    /// MeantArguments that code makes of a text that names nothing in the workspace: of a glob, from the root of the workspace,
    /// or of the list that was written as text.
    Glob(Convert),
    /// MeantArguments that code makes of a path that names nothing, but does without the lines behind it: `["a.rs", 10, 20]`
    /// for `a.rs:10-20`. The last line is missing where one is named.
    Lines(Convert),
    /// The whole text of a call that is no JSON, where it looks like this argument.
    Raw(fn(&str) -> bool),
    /// Nothing in this call: what to do instead, for the model.
    Instead(&'static str),
    /// Nothing here, so that the same call without it is the one to make; why, for the model.
    Without(&'static str),
}

/// Makes arguments of a value; the other arguments are given too. Nothing where it has no single meaning.
pub type Convert = fn(&Value, &ArgumentLookup<'_>) -> Option<MeantArguments>;

/// MeantArguments to be set; null takes one out.
pub type MeantArguments = Vec<(&'static str, Value)>;

impl ArgumentShape {
    /// Makes a shape.
    pub const fn new(written: &'static str, meaning: Meaning) -> Self {
        Self { written, meaning }
    }

    /// Returns whether a key is this argument.
    pub fn is(&self, key: &str) -> bool {
        is_spelled(key, self.written)
    }
}

/// The arguments of a call, found by name in any case and spelling.
pub struct ArgumentLookup<'a>(pub &'a Map<String, Value>);

impl<'a> ArgumentLookup<'a> {
    /// Returns an argument, unless it is null.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        let found = self.0.iter().find(|(key, _)| is_spelled(key, name));
        found.map(|(_, value)| value).filter(|value| !value.is_null())
    }

    /// Returns the first of these arguments that is given.
    pub fn first_of(&self, names: &[&'static str]) -> Option<(&'static str, &'a Value)> {
        names.iter().find_map(|name| Some((*name, self.get(name)?)))
    }
}

fn is_spelled(key: &str, name: &str) -> bool {
    // A key may be megabytes long; a dash at the beginning is part of an option's name.
    key == name || !name.starts_with('-') && key.len() <= 4 * name.len() && folded(key) == folded(name)
}

/// Reads a whole number that may be written as text.
pub fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(_) => value.as_i64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Splits a path with the letters of a glob into the folder before them and the glob.
pub fn folder_and_glob(path: &str) -> (&str, &str) {
    let first = path.find(['*', '?', '[', '{']).unwrap_or(path.len());
    match path[..first].rfind('/') {
        Some(0) => ("/", &path[1..]),
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (".", path),
    }
}

/// All shapes of a tool.
#[derive(Clone, Copy, Default)]
pub struct Shapes(pub &'static [ArgumentShape]);

impl PartialEq for Shapes {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl fmt::Debug for Shapes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|shape| shape.written)).finish()
    }
}
