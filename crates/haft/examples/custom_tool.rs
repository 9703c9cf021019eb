//! A tool of your own, without a model: it says what it reads, and everything else follows from that.
//!
//! `cargo run -p haft --example custom_tool -- FOLDER`; the folder needs a file `notes.txt`.

use haft::Toolbox;
use haft::prelude::*;

/// Counts the lines of a text file that contain a word.
#[haft::tool(reads = path)]
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

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let toolbox = Toolbox::builder().folder(folder).tool(CountWord).without_built_in_tools().build()?;
    for sent in [
        "{'path': 'notes.txt', word: 'fish',}",     // repaired, and the result says so
        "{\"path\": \"notes.txt\", \"word\": \"fi", // cut off inside a string: never completed
        "{\"path\": \"/etc/passwd\", \"word\": \"root\"}", // a rule refuses it
    ] {
        println!("{sent}\n{}\n", toolbox.call("count_word", sent).await.text());
    }
    Ok(())
}
