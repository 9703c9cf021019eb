//! The one import line of a tool file: `use haft_contract::prelude::*;`.

pub use crate::context::{PlanContext, RunContext};
pub use crate::description::manual::Manual;
pub use crate::description::spec::AtMost;
pub use crate::doors::door::{FileKind, Page, PageRequest};
pub use crate::effect::{Change, CommandLine, Effect, Host, StateKey};
pub use crate::files::path::{Extent, RawPath, Target};
pub use crate::files::search::{
    Case, DotfilePolicy, FindOrder, FindRequest, FindResult, FolderListing, IgnorePolicy, LineKind, ListRequest,
    SearchOutputMode, SearchRequest, SearchResult, Span, Syntax, WalkCoverage, WalkOmissions,
};
pub use crate::outcome::error::{Next, ToolError};
pub use crate::outcome::kinds::ErrorKind;
pub use crate::outcome::output::{Json, ToolOutput};
pub use crate::plan::{CachePolicy, Plan, Preview};
pub use crate::tool::{Tool, Typed};
pub use schemars::JsonSchema;
pub use serde::Deserialize;
