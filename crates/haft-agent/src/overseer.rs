//! The interface to a person or program that decides when a model makes no progress.

use haft_contract::BoxFuture;

/// Watches over an agent, such as the person at a terminal.
pub trait Overseer: Send + Sync {
    /// Says what shall happen with a model that calls the same tool in the same way again and again.
    ///
    /// Is dropped when the run is stopped meanwhile.
    fn goes_in_circles<'a>(&'a self, circle: &'a Circle) -> BoxFuture<'a, Advice>;
}

/// A call that was made often enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle {
    /// The tool.
    pub tool: String,
    /// How often the call came to the same, with nothing changed in between.
    pub times: u32,
}

/// What shall happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// The run ends.
    End,
    /// The model continues, and counting restarts.
    GoOn,
    /// The model is told this, and goes on.
    Say(String),
}

/// Ends the run, because no overseer is present.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Overseer for Nobody {
    fn goes_in_circles<'a>(&'a self, _circle: &'a Circle) -> BoxFuture<'a, Advice> {
        Box::pin(std::future::ready(Advice::End))
    }
}
