//! What a macro tool says it would touch, and how it gets at it.

use haft_contract::prelude::*;
use insta::assert_snapshot;
use serde_json::json;

use super::scene::call;

const ONE_LINE: PageRequest = PageRequest { first_line: 1, lines: 1, column: 1, line_length: 100 };

/// Returns the first line of a file.
#[haft_contract::tool(reads = path)]
async fn first_line(
    /// The file.
    path: Target,
    cx: &RunContext<'_>,
) -> Result<String, ToolError> {
    Ok(format!("{path}: {}", cx.page(&path, ONE_LINE).await?.lines[0].text))
}

#[tokio::test]
async fn a_target_is_sent_as_a_path_and_arrives_located() {
    assert_snapshot!(call(FirstLine, json!({ "path": "./notes.txt" })).await, @"
    would read notes.txt
    notes.txt: hello
    ");
}

#[tokio::test]
async fn a_path_that_cannot_be_located_ends_the_call_while_planning() {
    assert_snapshot!(call(FirstLine, json!({ "path": "nowhere" })).await, @r#"
    "nowhere" cannot be located.
    Next: list the folder and use a path that exists
    "#);
}

/// Copies the first line of a file.
#[haft_contract::tool(reads = from, changes = to, changes = log)]
async fn copy_line(
    /// Where the line is.
    from: Target,
    /// Where to write it.
    to: Target,
    cx: &RunContext<'_>,
    /// A file to note the copy in. Default: none.
    log: Option<Target>,
) -> Result<String, ToolError> {
    let line = cx.page(&from, ONE_LINE).await?.lines.remove(0).text;
    cx.write(&to, line.as_bytes()).await?;
    if let Some(log) = &log {
        cx.write(log, b"copied").await?;
    }
    Ok(line)
}

#[tokio::test]
async fn changing_creates_what_is_missing_and_replaces_what_is_there() {
    let missing = json!({ "from": "notes.txt", "to": "copy.txt" });
    assert_snapshot!(call(CopyLine, missing).await, @"
    would read notes.txt
    would create copy.txt
    hello
    ");

    let there = json!({ "from": "copy.txt", "to": "notes.txt" });
    assert_snapshot!(call(CopyLine, there).await, @"
    would read copy.txt
    would change notes.txt
    hello
    ");
}

#[tokio::test]
async fn what_is_optional_has_an_effect_only_when_it_is_sent() {
    let args = json!({ "from": "notes.txt", "to": "copy.txt", "log": "log.txt" });
    assert_snapshot!(call(CopyLine, args).await, @"
    would read notes.txt
    would create copy.txt
    would create log.txt
    hello
    ");
}

/// Says how a folder was written.
#[haft_contract::tool(reads_tree = folder, reads = also)]
async fn name_folder(
    /// The folder.
    folder: Target,
    /// Another path.
    also: Option<RawPath>,
) -> String {
    format!("{:?} {:?}", folder.place().extent(), also.as_ref().map(RawPath::as_str))
}

#[tokio::test]
async fn a_tree_is_located_as_a_tree_and_a_raw_path_stays_as_it_was_written() {
    assert_snapshot!(call(NameFolder, json!({ "folder": "src", "also": "./a" })).await, @r#"
    would read src
    would read a
    Tree Some("./a")
    "#);
}

/// Pretends to deploy.
#[haft_contract::tool(runs = command, connects = host, connects = mirror, session = "deployments")]
async fn deploy(
    /// What to run.
    command: String,
    /// Where to connect to.
    host: String,
    /// Where else to connect to.
    mirror: Option<String>,
) {
    let _ = (command, host, mirror);
}

#[tokio::test]
async fn commands_hosts_and_session_state_are_declared_too() {
    assert_snapshot!(call(Deploy, json!({ "command": "make", "host": "example.org" })).await, @"
    would run make
    would connect to example.org
    would use the session's deployments
    Done.
    ");
}
