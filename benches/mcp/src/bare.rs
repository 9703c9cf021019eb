//! A server with only the protocol's crate and one tool: no server that uses the crate can be faster.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::{ServiceExt, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Clone)]
struct Bare;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The file to read.
    path: String,
}

#[tool_router(server_handler)]
impl Bare {
    #[tool(name = "read_text_file", description = "Reads a file.")]
    async fn read_text_file(&self, Parameters(Arguments { path }): Parameters<Arguments>) -> String {
        std::fs::read_to_string(path).unwrap_or_else(|error| error.to_string())
    }
}

/// Serves standard input until it ends.
pub fn serve() -> Result<(), String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let pipes = (tokio::io::stdin(), tokio::io::stdout());
        let server = Bare.serve(pipes).await.map_err(|error| error.to_string())?;
        server.waiting().await.map(drop).map_err(|error| error.to_string())
    })
}
