//! Build agents and guarded tools with one crate.
//!
//! A tool says what it would touch. haft judges that, asks where a rule says so, confines it, records it, and can undo
//! it. It does this for every call, by a person, a program or a model.
//!
//! - [`tool`] makes a tool of an async function; [`prelude`] is the one import line of a tool file.
//! - [`Toolbox`] runs guarded tools without a model: open a workspace, call, listen, undo.
//! - [`Agent`] lets a model work with tools (feature `agent`).
//! - `haft::mcp` serves tools to MCP clients (feature `mcp`).
//!
//! A program that runs commands calls [`sandbox_launcher`] as the first line of `main`, before the async runtime starts:
//! haft starts the program again as the launcher of its sandbox, which must not have threads.
//!
//! ```
//! use haft::prelude::*;
//!
//! /// Adds two whole numbers.
//! #[haft::tool]
//! async fn add(
//!     /// First number.
//!     a: i64,
//!     /// Second number.
//!     b: i64,
//! ) -> Result<i64, ToolError> {
//!     Ok(a + b)
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("haft-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let toolbox = haft::Toolbox::builder().folder(&folder).state_folder(folder.join("state")).tool(Add).build()?;
//! let result = toolbox.call("add", "{\"a\": 1, \"b\": 2}").await;
//! assert_eq!(result.text(), "3");
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(()) })
//! # }
//! ```

pub use haft_contract as contract;
pub use haft_contract::call::{CallId, CallOrigin, RawArguments, ToolCall};
pub use haft_contract::description::dialect::Dialect;
pub use haft_contract::description::spec::Spec;
pub use haft_contract::outcome::error::{AdvanceYes, ToolError};
pub use haft_contract::outcome::result::{Did, Status, ToolResult};
pub use haft_host::notices::Notices;
pub use haft_host::toolbox::{OpenError, Toolbox, ToolboxBuilder};
pub use haft_macros::facade_tool as tool;
pub use haft_policy::policy::Mode;
pub use haft_runtime::asking::approval::{ApprovalRequest, Approver, Verdict};
pub use haft_runtime::events::{CallEvent, CallEventContent, EventKind, Subscription};
pub use haft_runtime::record;
pub use haft_workspace::history::{HistoryError, TakenBack, UndoSelection};
pub use tokio_util::sync::CancellationToken;

#[cfg(feature = "agent")]
pub use haft_agent::models::mock::{MockModel, MockRequest};
#[cfg(feature = "agent")]
pub use haft_host::agent::{Agent, AgentAnswer, AgentBuilder, AgentEvent, AgentEvents, UnfinishedRun};
#[cfg(feature = "agent")]
pub use haft_host::opening::model::Model;
#[cfg(feature = "model")]
pub use haft_host::opening::model::{FromEnv, ModelNotFound};
#[cfg(feature = "model")]
pub use haft_model::client::Endpoint;
#[cfg(feature = "sandbox")]
pub use haft_sandbox::launcher as sandbox_launcher;

/// The one import line of a tool file: `use haft::prelude::*;`.
pub mod prelude {
    pub use haft_contract::prelude::*;

    #[cfg(feature = "model")]
    pub use haft_host::opening::model::FromEnv;
}

/// The turn loop: conversations, limits, answers that fit a schema, replies that were recorded.
#[cfg(feature = "agent")]
pub mod agent {
    pub use haft_agent::instructions::{BasePrompt, Instructions, Words};
    pub use haft_agent::memory::record::Record;
    pub use haft_agent::models::recorded::RecordedModel;
    pub use haft_agent::outcome::AgentEndReason;
    pub use haft_agent::output::OutputSchema;
    pub use haft_agent::settings::AgentSettings;
    pub use haft_host::agent::Agent;
    pub use haft_model::conversation::{Message, Reply, ReplyPart, Usage};
    pub use haft_model::provider::LanguageModel;
}

/// Dialects: the built-in tools under the names and in the forms of another system.
pub mod dialect {
    pub use haft_contract::description::dialect::{CallOutcome, Dialect};
    pub use haft_tools::dialect::{CheckedDialect, check, named};
}

/// The parts of a toolbox, for programs that assemble their own.
pub mod host {
    pub use haft_config::profile::Profile;
    pub use haft_host::host::Host;
    pub use haft_host::options::{BuiltIn, Options};
    pub use haft_runtime::runtime::Runtime;
    pub use haft_runtime::state::session::Session;
}

/// Replays of recorded sessions.
#[cfg(feature = "model")]
pub mod replay {
    pub use haft_host::conversations::replay::compared::CallComparison;
    pub use haft_host::conversations::replay::session_replay::{ReplayCopy, ReplayEnd, ReplayOutput, SessionReplay};
    pub use haft_host::conversations::session_records::SessionRecorder;
}

/// A server of the Model Context Protocol.
#[cfg(feature = "mcp")]
pub mod mcp {
    pub use haft_mcp::http::{HttpServer, ServedWorkspace, Token, WithFixture};
    pub use haft_mcp::serve::PipeServer;
    pub use haft_mcp::server::asking::ClientApprover;
    pub use haft_mcp::server::listeners::Listeners;
    pub use haft_mcp::toolbox::{WorkspaceChoice, open};
}
