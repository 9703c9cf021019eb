//! Your own tools for any MCP client: judged, asked about through the client, recorded.
//!
//! `cargo run -p haft --features mcp --example mcp_server`; a client starts it and talks to its stdin and stdout.

use std::os::fd::AsFd;
use std::sync::Arc;

use haft::CancellationToken;
use haft::host::{BuiltIn, Options};
use haft::mcp::{ClientApprover, Listeners, PipeServer, WorkspaceChoice, open};
use haft::prelude::*;

/// Rolls dice and adds them up.
#[haft::tool]
async fn roll(
    /// How many dice.
    #[schemars(range(min = 1, max = 10))]
    dice: u32,
) -> Result<u32, ToolError> {
    // Fair enough for an example.
    Ok((1..=dice).map(|die| die * 7 % 6 + 1).sum())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // haft starts this program again as the launcher of its sandbox: this line comes first.
    haft::sandbox_launcher();
    let options = Options { tools: vec![Arc::new(Typed::new(Roll))], built_in: BuiltIn::LeftOut, ..Options::default() };
    let asking = ClientApprover::or_nobody_there("use a client that can ask its user");
    let toolbox = open(&options, &asking, None)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let input = std::io::stdin().as_fd().try_clone_to_owned()?;
    let output = std::io::stdout().as_fd().try_clone_to_owned()?;
    let (workspace, listeners) = (WorkspaceChoice::User(Box::new(toolbox)), Listeners::default());
    let server = PipeServer { options, workspace, asking, listeners };
    runtime.block_on(server.serve(input, output, CancellationToken::new()))?;
    Ok(())
}
