//! Plans a defined tool as its definition declares, then lets an external worker do the call.

use std::sync::Arc;

use haft_contract::BoxFuture;
use haft_contract::description::spec::Spec;
use haft_contract::prelude::*;
use haft_contract::tool::{AnyTool, ToolInvocation};
use serde_json::{Map, Value};

use super::claims::{self, Draft};
use crate::defined::definition::Definition;

/// What does the work of a tool.
pub(super) trait Works: Send + Sync + 'static {
    /// Describes the tool.
    fn spec(&self) -> &Spec;

    /// Returns the definition that declares what a call touches.
    fn definition(&self) -> &Definition;

    /// Returns a call in words, the tool first.
    fn words(&self, arguments: &Map<String, Value>) -> Vec<String> {
        claims::words(&self.definition().name, arguments)
    }

    /// Does a call that was planned.
    fn work<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
        draft: Draft,
        cx: &'a RunContext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;
}

/// A tool that is planned by its definition.
pub(super) struct DefinedTool<T>(pub(super) T);

impl<T: Works> AnyTool for DefinedTool<T> {
    fn spec(&self) -> &Spec {
        self.0.spec()
    }

    fn bind(self: Arc<Self>, args: &Value) -> Result<Box<dyn ToolInvocation>, ToolError> {
        let arguments = args.as_object().cloned().unwrap_or_default();
        Ok(Box::new(PlannedCall { tool: self, arguments, draft: None }))
    }
}

struct PlannedCall<T> {
    tool: Arc<DefinedTool<T>>,
    arguments: Map<String, Value>,
    draft: Option<Draft>,
}

impl<T: Works> ToolInvocation for PlannedCall<T> {
    fn plan<'a>(&'a mut self, cx: &'a PlanContext<'a>) -> BoxFuture<'a, Result<Plan, ToolError>> {
        Box::pin(async move {
            let works = &self.tool.0;
            let (plan, draft) = claims::plan(works.definition(), &self.arguments, works.words(&self.arguments), cx)?;
            self.draft = Some(draft);
            Ok(plan)
        })
    }

    fn run<'a>(self: Box<Self>, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let Some(draft) = self.draft else {
                return Err(ToolError::of(ErrorKind::Bug, "The call was run before it was planned."));
            };
            self.tool.0.work(&self.arguments, draft, cx).await
        })
    }
}
