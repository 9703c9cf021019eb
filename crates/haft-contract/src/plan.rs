//! Plans: what a call would do, found by looking and never by changing.

use std::sync::Arc;
use std::time::Duration;

use crate::effect::Effect;
use crate::text::diff::Diff;

/// What a call would do: judged, shown, enforced and recorded.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Everything the call would touch. A door refuses what is not in here.
    pub effects: Arc<[Effect]>,
    /// What a person is shown before saying yes.
    pub preview: Preview,
    /// Whether the result may be kept for an identical call.
    pub cache: CachePolicy,
    /// What a kept result depends on beside tool, arguments and the files that are read: a text each, such as the version
    /// of a program that the tool is bound to.
    pub depends_on: Vec<String>,
}

impl Plan {
    /// Plans a call with these effects, previewed as its arguments, never cached.
    pub fn new(effects: impl IntoIterator<Item = Effect>) -> Self {
        let effects = effects.into_iter().collect();
        Self { effects, preview: Preview::Arguments, cache: CachePolicy::No, depends_on: Vec::new() }
    }

    /// Plans a call that touches nothing.
    pub fn nothing() -> Self {
        Self::new([])
    }

    /// Shows this to the person who is asked.
    pub fn preview(mut self, preview: Preview) -> Self {
        self.preview = preview;
        self
    }

    /// Lets an identical call in the workspace have this call's result for some time, also in a later session.
    pub fn cached_for(mut self, time: Duration) -> Self {
        self.cache = CachePolicy::For(time);
        self
    }

    /// Lets no kept result serve once one of these is another.
    pub fn depending_on(mut self, versions: impl IntoIterator<Item = String>) -> Self {
        self.depends_on.extend(versions);
        self
    }
}

/// Data that a person sees before saying yes; the code that asks renders it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Preview {
    /// The arguments of the call are all there is to show.
    Arguments,
    /// How files would differ.
    Diff(Vec<FileDiff>),
    /// A command line.
    Command(String),
    /// A request to another machine: method and address.
    Request(String),
    /// Plain words.
    Text(String),
}

/// How one file would differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// The file, as shown.
    pub path: String,
    /// The difference.
    pub diff: Diff,
    /// What else is worth knowing, a sentence each.
    pub notes: Vec<String>,
}

/// Says whether a result may serve an identical call. Failures are never kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePolicy {
    /// Every call runs.
    No,
    /// An identical call within this time has the same result.
    For(Duration),
}
