//! The program of the guide `docs/guide/first-tool.md`, which shows everything below these lines.
#![expect(clippy::print_stdout, reason = "an example shows what comes out")]

use std::sync::Arc;

use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::prelude::*;
use haft_runtime::approval::Nobody;
use haft_runtime::catalog::Catalog;
use haft_runtime::runtime::Runtime;
use haft_workspace::files::Workspace;
use haft_workspace::state::WorkspaceState;

/// Counts the words of a text.
#[haft_contract::tool]
async fn count(
    /// The text.
    text: String,
) -> Result<usize, ToolError> {
    Ok(text.split_whitespace().count())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Where tools work, and where haft keeps what it has to remember, such as what undo needs: never inside.
    let workspace = Workspace::open(".".as_ref())?;
    let state = WorkspaceState::new("../counter-state".as_ref(), workspace.path());

    let catalog = Catalog::default();
    catalog.register(Arc::new(Typed::new(Count)))?;
    let runtime = Runtime::new(catalog, workspace.doors(&state));
    // Whoever answers questions; here nobody does, and whatever would be asked is refused with these words.
    let session = runtime.session("mine", Nobody::there("run it where somebody can answer"));

    // Arguments as a model sent them: one comma too many is mended, and told.
    let sent = r#"{"text": "one two three",}"#;
    let result = runtime.call(&session, ToolCall::new("count", RawArguments::Text(sent.to_owned()))).await;
    println!("{}", result.text());
    Ok(())
}
