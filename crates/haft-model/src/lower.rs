//! Lowers one JSON Schema per tool to what each provider accepts, with a receipt of what was lost.
//!
//! Tools come from Rust types, YAML files and arbitrary MCP servers, in two drafts of JSON Schema.
//! Every provider accepts a different part of it and refuses the *whole* request for one keyword it
//! does not know. So each tool is lowered by itself: what cannot be said is said in another form
//! (undone by the [`InverseLowering`] of the tool), moved into the description, or dropped with a [`Loss`];
//! a tool that cannot be offered at all is quarantined with the reason, and the others stay.
//!
//! Deliberately not here: validation of arguments. The tool's own schema judges them after the lift,
//! which is why a lowered schema may admit more than the original.

mod bounds;
mod cycles;
mod forms;
mod gemini;
mod merge;
mod modern;
pub(crate) mod names;
mod plain;
mod receipt;
mod root;
mod said_once;
mod simplify;
mod spot;
mod strict;
mod write;

use std::fmt;
use std::str::FromStr;

use haft_contract::description::lift::InverseLowering;
use haft_contract::description::spec::{AtMost, Spec};
use serde_json::Value;

/// A provider's dialect of tool declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProviderDialect {
    /// OpenAI, Chat Completions form, schema as a hint.
    OpenAi,
    /// OpenAI, Chat Completions form, schema enforced while decoding (`"strict": true`).
    OpenAiStrict,
    /// Anthropic Messages.
    Anthropic,
    /// The `tools/list` form of the Model Context Protocol.
    Mcp,
    /// Google Gemini function declarations.
    Gemini,
}

impl ProviderDialect {
    /// Every provider.
    pub const ALL: [ProviderDialect; 5] = [
        ProviderDialect::OpenAi,
        ProviderDialect::OpenAiStrict,
        ProviderDialect::Anthropic,
        ProviderDialect::Mcp,
        ProviderDialect::Gemini,
    ];

    /// Returns the name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ProviderDialect::OpenAi => "openai",
            ProviderDialect::OpenAiStrict => "openai-strict",
            ProviderDialect::Anthropic => "anthropic",
            ProviderDialect::Mcp => "mcp",
            ProviderDialect::Gemini => "gemini",
        }
    }
}

impl fmt::Display for ProviderDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ProviderDialect {
    type Err = UnknownProvider;

    fn from_str(name: &str) -> Result<ProviderDialect, UnknownProvider> {
        ProviderDialect::ALL
            .into_iter()
            .find(|provider| provider.name() == name)
            .ok_or_else(|| UnknownProvider(name.to_owned()))
    }
}

/// The name of a provider that haft does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no provider {0:?}. Next: use openai, openai-strict, anthropic, mcp or gemini")]
pub struct UnknownProvider(pub String);

/// A tool as the catalogue shows it.
#[derive(Clone, Copy, Debug)]
pub struct ToolOffer<'a> {
    /// Its own name, unique in the catalogue.
    pub name: &'a str,
    /// A name for people.
    pub title: Option<&'a str>,
    /// What the model reads.
    pub description: &'a str,
    /// Its arguments, as JSON Schema 2020-12 or draft-07.
    pub input_schema: &'a Value,
    /// Whether it changes nothing, where known.
    pub read_only: Option<bool>,
}

impl<'a> ToolOffer<'a> {
    /// Offers a tool as it is described.
    pub fn of(spec: &'a Spec) -> Self {
        Self {
            name: &spec.name,
            title: Some(&spec.manual.title),
            description: &spec.manual.words,
            input_schema: &spec.input_schema,
            read_only: Some(spec.does == AtMost::Looks),
        }
    }
}

/// A tool in a provider's form.
#[derive(Clone, Debug, PartialEq)]
pub struct LoweredTool {
    /// The name the model calls it by.
    pub name: String,
    /// One element of the tools list.
    pub value: Value,
    /// Turns the model's arguments back into arguments of the tool's own schema.
    pub lift: InverseLowering,
    /// What the provider could not be told, in the order of the schema.
    pub losses: Vec<Loss>,
}

/// One keyword that did not reach the provider.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Loss {
    /// Where it stood: a JSON pointer into the tool's schema.
    pub path: String,
    /// The keyword.
    pub keyword: String,
    /// What became of it.
    pub why: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "/" } else { &self.path };
        write!(f, "{path}: {} {}", self.keyword, self.why)
    }
}

/// A tool that is not offered to the provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is not offered: {reason}")]
pub struct QuarantinedTool {
    /// The tool's own name.
    pub name: String,
    /// What is wrong and what to do about it.
    pub reason: String,
}

/// The tools of a catalogue in a provider's form.
#[derive(Clone, Debug, PartialEq)]
pub struct LoweredList {
    /// The provider.
    pub provider: ProviderDialect,
    /// The tools that can be offered, in the order of the catalogue.
    pub tools: Vec<LoweredTool>,
    /// The tools that cannot.
    pub quarantined: Vec<QuarantinedTool>,
    native: Vec<String>,
}

impl LoweredList {
    /// Returns exactly the value of the request's `tools` field.
    pub fn request_value(&self) -> Value {
        let tools = self.tools.iter().map(|tool| tool.value.clone()).collect();
        forms::request(self.provider, tools)
    }

    /// Returns the tool's own name for the name the model used.
    pub fn native_name(&self, wire_name: &str) -> Option<&str> {
        let index = self.tools.iter().position(|tool| tool.name == wire_name)?;
        self.native.get(index).map(String::as_str)
    }
}

/// Lowers a list of tools. Names come out unique; a tool that cannot be offered does not stop the
/// others.
pub fn lower_all(tools: &[ToolOffer<'_>], provider: ProviderDialect) -> LoweredList {
    let native: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
    let mut list = LoweredList { provider, tools: Vec::new(), quarantined: Vec::new(), native: Vec::new() };
    for (tool, name) in tools.iter().zip(names::wire_names(&native)) {
        match lower_named(tool, provider, name) {
            Ok(lowered) => {
                list.tools.push(lowered);
                list.native.push(tool.name.to_owned());
            }
            Err(quarantined) => list.quarantined.push(quarantined),
        }
    }
    list
}

/// Lowers one tool by itself. Its name can still collide with another's: use [`lower_all`] for a
/// list.
pub fn lower(tool: &ToolOffer<'_>, provider: ProviderDialect) -> Result<LoweredTool, QuarantinedTool> {
    lower_named(tool, provider, names::safe_name(tool.name))
}

fn lower_named(tool: &ToolOffer<'_>, provider: ProviderDialect, name: String) -> Result<LoweredTool, QuarantinedTool> {
    let mut parameters = lower_schema(tool.input_schema, provider)
        .map_err(|refusal| QuarantinedTool { name: tool.name.to_owned(), reason: refusal.0 })?;
    if provider != ProviderDialect::Mcp {
        said_once::say_once(&mut parameters.schema);
    }
    Ok(LoweredTool {
        value: forms::tool(provider, tool, &name, &parameters),
        name,
        lift: parameters.lift,
        losses: parameters.losses,
    })
}

/// A schema in a provider's form.
struct Parameters {
    schema: Value,
    lift: InverseLowering,
    losses: Vec<Loss>,
    /// What the tool's description has to say because the schema cannot.
    words: Option<String>,
}

/// Why a schema cannot be offered, and what to do about it.
#[derive(Debug)]
struct SchemaRefusal(String);

fn lower_schema(schema: &Value, provider: ProviderDialect) -> Result<Parameters, SchemaRefusal> {
    bounds::check(schema)?;
    let document = modern::read(schema)?;
    cycles::refuse_loops(&document)?;
    match provider {
        ProviderDialect::OpenAi | ProviderDialect::Anthropic | ProviderDialect::Mcp => plain::lower(document, provider),
        ProviderDialect::OpenAiStrict => strict::lower(document),
        ProviderDialect::Gemini => gemini::lower(document),
    }
}
