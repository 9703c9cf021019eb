//! A tool of your own through the whole pipeline: the smallest program that uses haft as a library.
//!
//! `cargo run -p haft-runtime --example one_call`
#![expect(clippy::print_stdout, reason = "an example shows what comes out")]

use std::sync::Arc;

use haft_contract::call::{RawArguments, ToolCall};
use haft_contract::prelude::*;
use haft_runtime::approval::Nobody;
use haft_runtime::catalog::Catalog;
use haft_runtime::record;
use haft_runtime::runtime::Runtime;
use haft_workspace::files::Workspace;
use haft_workspace::state::{ScratchFolder, WorkspaceState};

/// Counts the lines of a text file that hold a word.
#[haft_contract::tool(reads = path)]
async fn count_word(
    /// The file, relative to the workspace.
    path: Target,
    /// The word.
    word: String,
    cx: &RunContext<'_>,
) -> Result<usize, ToolError> {
    let page = cx.page(&path, PageRequest { first_line: 1, lines: 2_000, column: 1, line_length: 2_000 }).await?;
    Ok(page.lines.iter().filter(|line| line.text.contains(&word)).count())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A folder to work in, and one for what haft keeps; in a real program the user's own.
    let folder = ScratchFolder::beneath("target".as_ref())?;
    folder.put("ws/notes.txt", "one fish\ntwo fish\nred\n")?;
    let workspace = Workspace::open(&folder.path().join("ws"))?;
    let state = WorkspaceState::new(&folder.path().join("state"), workspace.path());

    let catalog = Catalog::default();
    catalog.register(Arc::new(Typed::new(CountWord)))?;
    let runtime = Runtime::new(catalog, workspace.doors(&state));
    let mut events = runtime.events().subscribe();
    // Who answers questions; here nobody, so whatever a rule asks about is refused with these words.
    let session = runtime.session("example", Nobody::there("run it where somebody can answer"));

    for sent in [
        "{'path': 'notes.txt', word: 'fish',}",            // mended, and told
        "{\"path\": \"notes.txt\", \"word\": \"fi",        // cut off inside a string: never completed
        "{\"path\": \"/etc/passwd\", \"word\": \"root\"}", // refused by a rule
    ] {
        let call = ToolCall::new("count_word", RawArguments::Text(sent.to_owned()));
        let result = runtime.call(&session, call).await;
        println!("{sent}\n{}\n", record::of_result(&result));
    }
    while let Some(event) = events.try_next() {
        println!("{}", record::of_event(&event));
    }
    Ok(())
}
