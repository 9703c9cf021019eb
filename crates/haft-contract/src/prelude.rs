//! The one import line of a tool file: `use haft_contract::prelude::*;`.

pub use crate::context::{PlanContext, RunContext};
pub use crate::door::{FileKind, Page, PageRequest};
pub use crate::effect::{Change, CommandLine, Effect, Host, StateKey};
pub use crate::error::{Next, ToolError};
pub use crate::kinds::ErrorKind;
pub use crate::manual::Manual;
pub use crate::output::{Json, ToolOutput};
pub use crate::path::{Extent, RawPath, Target};
pub use crate::plan::{CachePolicy, Plan, Preview};
pub use crate::search::{
    Case, DotfilePolicy, FindOrder, FindRequest, FindResult, FolderListing, IgnorePolicy, LineKind, ListRequest,
    SearchOutputMode, SearchRequest, SearchResult, Span, Syntax, WalkCoverage, WalkOmissions,
};
pub use crate::spec::AtMost;
pub use crate::tool::{Tool, Typed};
pub use schemars::JsonSchema;
pub use serde::Deserialize;
