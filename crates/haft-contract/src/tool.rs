//! The tool trait: typed for the author of a tool, erased for the catalogue.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

use crate::BoxFuture;
use crate::call::RawArguments;
use crate::context::{PlanContext, RunContext};
use crate::description::manual::Manual;
use crate::description::schema;
use crate::description::shape::{ArgumentShape, Shapes};
use crate::description::spec::{AtMost, Spec};
use crate::limits::Limits;
use crate::outcome::error::{Next, ToolError};
use crate::outcome::kinds::ErrorKind;
use crate::outcome::output::ToolOutput;
use crate::outcome::result::ToolResult;
use crate::plan::Plan;

/// The interface that a tool author implements. Put it into a catalogue with [`Typed`].
pub trait Tool: Send + Sync + 'static {
    /// The name that calls use.
    const NAME: &'static str;

    /// Other names of arguments that models use: what is meant, what they write. An argument may be listed several times.
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[];

    /// Arguments that are times in seconds, each with the name under which milliseconds are converted; what is no number
    /// is left out, and the default holds. Both is told.
    const TIMES: &'static [(&'static str, &'static str)] = &[];

    /// Other shapes in which models write arguments, in the order in which they are read.
    const SHAPES: &'static [ArgumentShape] = &[];

    /// Other names of the tool that models call. `name key=value` counts only for calls with that argument, which is
    /// taken out. `name key:=value` gives the call that argument where it has none. `name ms` is of an agent that counts
    /// the times in milliseconds; it may differ from the own name in capitals alone.
    const OTHER_NAMES: &'static [&'static str] = &[];

    /// Arguments that are paths: `path`, `paths[]` for a list, `files[].path` for one in each object of a list.
    const PATHS: &'static [&'static str] = &[];

    /// The most that calls can do.
    const DOES: AtMost = AtMost::Anything;

    /// Whether a model gets the tool in its list only when a dialect, a profile or a setting says so. A tool that few
    /// tasks need costs no tokens then, and calls by its name work all the same.
    const DEFERRED: bool = false;

    /// Arguments that a model is not shown, because few calls need them and each shown one costs tokens in every request.
    /// They work all the same, and dialects lead to them.
    const DEFERRED_ARGUMENTS: &'static [&'static str] = &[];

    /// The arguments. The schema that a model is shown comes from this type.
    type Args: DeserializeOwned + JsonSchema + Send + Sync + 'static;

    /// What planning found, so that running does not look twice.
    type Draft: Send + Sync + 'static;

    /// Returns the words of the tool, usually of its `name.md`.
    fn manual(&self) -> Manual;

    /// Finds out what the call would do. Looks, never changes; may be called again.
    fn plan(
        &self,
        args: &Self::Args,
        cx: &PlanContext<'_>,
    ) -> impl Future<Output = Result<(Plan, Self::Draft), ToolError>> + Send;

    /// Does it, once.
    fn run(
        &self,
        args: Self::Args,
        draft: Self::Draft,
        cx: &RunContext<'_>,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;

    /// Tells a person in a few lines how a call went.
    fn summary(&self, result: &ToolResult, max_lines: usize) -> Vec<String> {
        result.default_summary(max_lines)
    }
}

/// What the catalogue holds. Definition files and remote tools implement it directly.
pub trait AnyTool: Send + Sync + 'static {
    /// Describes the tool.
    fn spec(&self) -> &Spec;

    /// Binds validated arguments to the tool. Pure.
    fn bind(self: Arc<Self>, args: &Value) -> Result<Box<dyn ToolInvocation>, ToolError>;

    /// Returns the call of another tool that a call with these arguments stands for. haft then checks, judges, asks about
    /// and records that call, under the other tool's name. Pure.
    fn forwarded(&self, _args: &Value) -> Option<ForwardedCall> {
        None
    }

    /// Tells a person in a few lines how a call went.
    fn summary(&self, result: &ToolResult, max_lines: usize) -> Vec<String> {
        result.default_summary(max_lines)
    }
}

/// A call of another tool that a call stands for.
#[derive(Clone, Debug)]
pub struct ForwardedCall {
    /// The name of the other tool, as the caller wrote it.
    pub tool: String,
    /// Its arguments, not yet checked.
    pub arguments: RawArguments,
}

/// A tool with its arguments: one call that can be planned and then run.
pub trait ToolInvocation: Send + Sync {
    /// Finds out what the call would do. May be called again; the last plan counts.
    fn plan<'a>(&'a mut self, cx: &'a PlanContext<'a>) -> BoxFuture<'a, Result<Plan, ToolError>>;

    /// Does it, once.
    fn run<'a>(self: Box<Self>, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;
}

/// Makes a [`Tool`] fit for the catalogue.
pub struct Typed<T: Tool> {
    tool: T,
    spec: Spec,
}

impl<T: Tool> Typed<T> {
    /// Describes the tool once and for all, with the numbers of the usual limits.
    pub fn new(tool: T) -> Self {
        Self::under(tool, &Limits::default())
    }

    /// Describes the tool once and for all, with the numbers of these limits in its words.
    pub fn under(tool: T, limits: &Limits) -> Self {
        let mut input_schema = schema::of::<T::Args>();
        fill_descriptions(&mut input_schema, limits);
        let mut spec = Spec::new(T::NAME, tool.manual(), input_schema);
        let owned = |(one, other): &(&str, &str)| (one.to_string(), other.to_string());
        let written = |(meant, names): &(&str, &[&str])| {
            names.iter().map(|name| (name.to_string(), meant.to_string())).collect::<Vec<_>>()
        };
        spec.aliases = T::ALIASES.iter().flat_map(written).collect();
        spec.times = T::TIMES.iter().map(owned).collect();
        spec.shapes = Shapes(T::SHAPES);
        spec.other_names = T::OTHER_NAMES;
        spec.paths = T::PATHS;
        spec.does = T::DOES;
        spec.deferred = T::DEFERRED;
        spec.deferred_arguments = T::DEFERRED_ARGUMENTS;
        Self { tool, spec }
    }
}

/// Fills numbers into the words of a schema.
fn fill_descriptions(schema: &mut Value, limits: &Limits) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(words) if key == "description" => *words = limits.fill(words),
                    value => fill_descriptions(value, limits),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill_descriptions(item, limits)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

impl<T: Tool> AnyTool for Typed<T> {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn bind(self: Arc<Self>, args: &Value) -> Result<Box<dyn ToolInvocation>, ToolError> {
        // Keeping track of the place costs more than the reading, so only what fails is read with it.
        let args = T::Args::deserialize(args)
            .or_else(|_| serde_path_to_error::deserialize(args).map_err(|error| not_bound(T::NAME, args, &error)))?;
        Ok(Box::new(TypedCall { typed: self, args, draft: None }))
    }

    fn summary(&self, result: &ToolResult, max_lines: usize) -> Vec<String> {
        self.tool.summary(result, max_lines)
    }
}

/// Says what is wrong with arguments that fit the schema. It comes from the same type, so only what a schema cannot say
/// gets here: for a number, that it is too large for its type.
fn not_bound(tool: &str, args: &Value, error: &serde_path_to_error::Error<serde_json::Error>) -> ToolError {
    let path = match error.path().to_string() {
        path if path == "." => "$".to_owned(),
        path => format!("$.{path}"),
    };
    let what = match value_at(args, error.path()) {
        Some(Value::Number(number)) if is_large(number) => {
            format!("{path}: expected a whole number nearer to 0, received {number}")
        }
        _ => format!("{path} cannot be used: {}", error.inner()),
    };
    ToolError::new(ErrorKind::BadArguments, format!("{tool}: {what}."), Next::FixArguments(format!("change {path}")))
}

/// Whether a number does not fit the smaller types of whole numbers.
fn is_large(number: &serde_json::Number) -> bool {
    number.as_i64().is_none_or(|number| i32::try_from(number).is_err())
}

fn value_at<'v>(args: &'v Value, path: &serde_path_to_error::Path) -> Option<&'v Value> {
    path.iter().try_fold(args, |value, segment| match segment {
        Segment::Seq { index } => value.get(index),
        Segment::Map { key } => value.get(key),
        Segment::Enum { .. } | Segment::Unknown => Some(value),
    })
}

struct TypedCall<T: Tool> {
    typed: Arc<Typed<T>>,
    args: T::Args,
    draft: Option<T::Draft>,
}

impl<T: Tool> ToolInvocation for TypedCall<T> {
    fn plan<'a>(&'a mut self, cx: &'a PlanContext<'a>) -> BoxFuture<'a, Result<Plan, ToolError>> {
        Box::pin(async move {
            let (plan, draft) = self.typed.tool.plan(&self.args, cx).await?;
            self.draft = Some(draft);
            Ok(plan)
        })
    }

    fn run<'a>(self: Box<Self>, cx: &'a RunContext<'a>) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let Some(draft) = self.draft else {
                return Err(ToolError::of(ErrorKind::Bug, "The call was run before it was planned."));
            };
            self.typed.tool.run(self.args, draft, cx).await
        })
    }
}
