//! Shows a built-in or registered tool under the words and the schema of a definition.

use std::sync::Arc;

use haft_contract::BoxFuture;
use haft_contract::description::spec::Spec;
use haft_contract::outcome::result::ToolResult;
use haft_contract::prelude::*;
use haft_contract::tool::{AnyTool, ToolInvocation};
use serde_json::Value;

use super::{DefinitionOrigin, claims, error};
use crate::defined::definition::{Definition, DefinitionProblem};

/// Calls another tool; the arguments go by their names.
pub(super) struct Builtin {
    spec: Spec,
    definition: Definition,
    tool: Arc<dyn AnyTool>,
}

impl Builtin {
    pub(super) fn new(
        definition: Definition,
        tool: Arc<dyn AnyTool>,
        home: &DefinitionOrigin,
    ) -> Result<Self, DefinitionProblem> {
        check(&definition, tool.spec(), &home.preset)?;
        let mut spec = definition.spec();
        spec.does = tool.spec().does;
        if definition.description.is_none() {
            spec.manual.words.clone_from(&tool.spec().manual.words);
        }
        Ok(Self { spec, definition, tool })
    }
}

/// Refuses a definition whose calls the tool could never take.
fn check(definition: &Definition, native: &Spec, preset: &[String]) -> Result<(), DefinitionProblem> {
    let properties = |schema: &Value| -> Vec<String> {
        schema.get("properties").and_then(Value::as_object).into_iter().flat_map(|all| all.keys().cloned()).collect()
    };
    let (given, known) = (properties(&definition.input_schema), properties(&native.input_schema));
    let required = native.input_schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let is_given = |name: &str| given.iter().chain(preset).any(|given| given == name);
    let missing: Vec<String> = required.filter(|name| !is_given(name)).map(|name| format!("\"{name}\"")).collect();
    if !missing.is_empty() {
        let what =
            format!("the built-in tool \"{}\" needs {}, which nothing provides", native.name, missing.join(", "));
        return Err(error(what, "add it to \"input_schema\", or preset it with extra_kwargs"));
    }
    let is_closed = native.input_schema.get("additionalProperties") == Some(&Value::Bool(false));
    match given.iter().find(|name| is_closed && !known.contains(name)) {
        None => Ok(()),
        Some(odd) => {
            let what = format!("the built-in tool \"{}\" has no argument \"{odd}\"", native.name);
            Err(error(what, format!("remove it from \"input_schema\"; its arguments are: {}", known.join(", "))))
        }
    }
}

impl AnyTool for Builtin {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn bind(self: Arc<Self>, args: &Value) -> Result<Box<dyn ToolInvocation>, ToolError> {
        let bound = Arc::clone(&self.tool).bind(args)?;
        Ok(Box::new(BuiltinCall { builtin: self, bound }))
    }

    fn summary(&self, result: &ToolResult, max_lines: usize) -> Vec<String> {
        self.tool.summary(result, max_lines)
    }
}

struct BuiltinCall {
    builtin: Arc<Builtin>,
    bound: Box<dyn ToolInvocation>,
}

impl ToolInvocation for BuiltinCall {
    fn plan<'a>(&'a mut self, cx: &'a PlanContext<'a>) -> BoxFuture<'a, Result<Plan, ToolError>> {
        Box::pin(async move { Ok(claims::marked(self.bound.plan(cx).await?, &self.builtin.definition)) })
    }

    fn run<'a>(self: Box<Self>, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        self.bound.run(cx)
    }
}
