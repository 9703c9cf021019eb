//! Sends requests: the arguments fill the address, headers and body, each encoded for its place; the answer is the result.

mod answered;
mod filled;

use std::sync::Arc;
use std::time::Duration;

use haft_contract::BoxFuture;
use haft_contract::description::spec::Spec;
use haft_contract::doors::net::HttpRequest;
use haft_contract::plan::Preview;
use haft_contract::prelude::*;
use haft_contract::tool::{AnyTool, ToolInvocation};
use serde_json::{Map, Value};

use super::answer::Promise;
use super::{claims, error};
use crate::defined::definition::{Definition, DefinitionProblem, HttpCall};

/// Most bytes of an answer that are read.
const MOST_ANSWER: usize = 4 * 1024 * 1024;
/// How long a request may take, where the definition says nothing.
const USUAL_TIME: Duration = Duration::from_secs(30);

/// A request that does the work of a tool.
pub(super) struct Fetching {
    spec: Spec,
    definition: Definition,
    call: HttpCall,
    promise: Promise,
}

impl Fetching {
    pub(super) fn new(definition: Definition, call: HttpCall) -> Result<Self, DefinitionProblem> {
        if let Some((what, fix)) = call.unknown_argument(&definition.input_schema) {
            return Err(error(what, fix));
        }
        let fix = "fix \"output_schema\"";
        let promise = Promise::of(&definition).map_err(|why| error(format!("output_schema: {why}"), fix))?;
        Ok(Self { spec: definition.spec(), definition, call, promise })
    }
}

impl AnyTool for Fetching {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn bind(self: Arc<Self>, args: &Value) -> Result<Box<dyn ToolInvocation>, ToolError> {
        let arguments = args.as_object().cloned().unwrap_or_default();
        Ok(Box::new(FetchingCall { tool: self, arguments, request: None }))
    }
}

struct FetchingCall {
    tool: Arc<Fetching>,
    arguments: Map<String, Value>,
    request: Option<HttpRequest>,
}

impl ToolInvocation for FetchingCall {
    fn plan<'a>(&'a mut self, cx: &'a PlanContext<'a>) -> BoxFuture<'a, Result<Plan, ToolError>> {
        Box::pin(async move {
            let Fetching { call, definition, .. } = &*self.tool;
            let limit = cx.limits().time_within_call();
            let time = definition.timeout.unwrap_or(USUAL_TIME).min(limit);
            let request = filled::request(call, &definition.input_schema, &self.arguments)?;
            let request = HttpRequest { time, most: MOST_ANSWER, ..request };
            let preview = Preview::Request(filled::shown(&request));
            self.request = Some(request);
            let plan = Plan::new([Effect::Connect(Host(call.host.clone()))]).preview(preview);
            Ok(claims::marked(plan, definition))
        })
    }

    fn run<'a>(self: Box<Self>, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let Some(request) = &self.request else {
                return Err(ToolError::of(ErrorKind::Bug, "The call was run before it was planned."));
            };
            let response = cx.request(request).await?;
            answered::result(&self.tool.spec.name, &self.tool.call.host, response, &self.tool.promise)
        })
    }
}
