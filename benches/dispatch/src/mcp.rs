//! The same tool through rmcp: a server and a client in this process, connected by bytes in memory.
//!
//! Both sides share one thread, which is the fastest setup. rmcp does other work than haft: two rounds of JSON-RPC, but
//! no schema check, rules, events or memory.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::calls::add;

const ROOM_IN_TRANSIT: usize = 64 * 1024;

#[derive(Clone)]
struct Server;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// First number.
    a: i64,
    /// Second number.
    b: i64,
}

#[tool_router(server_handler)]
impl Server {
    #[tool(name = "add", description = "Adds two whole numbers.")]
    async fn add(&self, Parameters(Arguments { a, b }): Parameters<Arguments>) -> String {
        add(a, b).await.to_string()
    }
}

/// A client whose server runs in a task beside it.
pub struct Client(RunningService<RoleClient, ()>);

impl Client {
    /// Starts both sides and lets them shake hands.
    pub async fn connect() -> Self {
        let (server_side, client_side) = tokio::io::duplex(ROOM_IN_TRANSIT);
        tokio::spawn(async move {
            let server = Server.serve(server_side).await.expect("the server starts");
            server.waiting().await.expect("the server goes on until the client leaves");
        });
        Self(().serve(client_side).await.expect("the client starts"))
    }

    /// Makes one call.
    pub async fn call(&self, arguments: &str) -> CallToolResult {
        let arguments = serde_json::from_str(arguments).expect("the arguments are valid");
        let request = CallToolRequestParams::new("add").with_arguments(arguments);
        self.0.call_tool(request).await.expect("the call works")
    }
}
