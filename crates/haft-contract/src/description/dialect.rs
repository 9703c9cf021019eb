//! Dialects: how another system shows tools and describes the result of a call.
//!
//! A dialect is an outer form and never decides anything. haft checks arguments against it, then translates them inward:
//! rules, hooks, memory and tools know one set of names. On the way out, haft describes the result in its words.
//!
//! Not here: the existing dialects (`haft-tools`), when haft applies them (`haft-runtime`).

use std::sync::Arc;

use serde_json::{Map, Value};

use super::page_style::PageStyle;
use super::spec::Spec;
use crate::call::CallId;
use crate::outcome::error::ToolError;

/// One system's tools and words.
pub trait Dialect: Send + Sync + 'static {
    /// Returns the name by which it is chosen.
    fn name(&self) -> &str;

    /// Returns its tools, in the order in which they are shown.
    fn tools(&self) -> Vec<Arc<dyn ForeignTool>>;

    /// Returns how pages of files look.
    fn page_style(&self) -> PageStyle;

    /// Returns how freely values are read as what a schema wants.
    fn coercion(&self) -> Coercion;

    /// Writes a call as an example.
    fn call(&self, tool: &str, arguments: &Value) -> String;

    /// Returns the message of a text with which a tool says that it failed, where that is a way to say so.
    fn failure_in<'t>(&self, text: &'t str) -> Option<&'t str>;

    /// Puts its own words in the place of those that are usual for an error.
    fn reword(&self, error: &mut ToolError, outcome: &CallOutcome<'_>);

    /// Writes what the model reads of the output; nothing where that stays as it is.
    fn output(&self, outcome: &CallOutcome<'_>) -> Option<String>;

    /// Returns whether lines in brackets and lines with a next step in the output are words of haft, and not of a file
    /// or a program: there its names are put in the place of native ones.
    fn has_own_lines(&self, outcome: &CallOutcome<'_>) -> bool;

    /// Writes what the model reads of an error; `happened` says whether anything was done.
    fn error(&self, error: &ToolError, happened: Option<&str>, outcome: &CallOutcome<'_>) -> String;

    /// Returns the result as an object, with what the model reads; nothing where the data stays as it is.
    fn object(&self, content: &str, outcome: &CallOutcome<'_>) -> Option<Value>;
}

/// A tool as another system shows it.
pub trait ForeignTool: Send + Sync + 'static {
    /// Returns its name there.
    fn name(&self) -> &str;

    /// Returns the native tools that its calls lead to; the first is the usual one.
    fn natives(&self) -> Vec<&str>;

    /// Returns whether it is shown, or only understood.
    fn is_shown(&self) -> bool;

    /// Returns other names of its arguments that are understood without a word: what is written, what is meant.
    fn other_names(&self) -> Vec<(String, String)>;

    /// Describes it; `native` is the usual native tool.
    fn spec(&self, native: &Spec) -> Spec;

    /// Turns a call into a native one, or says which argument has no counterpart.
    fn inward(&self, arguments: Map<String, Value>) -> Result<NativeCall, ToolError>;

    /// Returns what a native argument is called there.
    fn outward(&self, argument: &str) -> Option<&str>;

    /// Returns the argument there that leads to a native one, whatever it is called; nothing where none does.
    fn outward_name(&self, argument: &str) -> Option<&str>;

    /// Returns which argument and value there lead to this value of a native argument; nothing where none does.
    fn outward_value(&self, argument: &str, value: &Value) -> Option<(&str, Value)>;
}

/// A call of a native tool.
#[derive(Clone, Debug, PartialEq)]
pub struct NativeCall {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
}

/// How freely a value is read as what its schema wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coercion {
    /// Only where one loss-free reading exists.
    #[default]
    Careful,
    /// Also `Yes` as true, and `x, y` as a list of two.
    Wide,
}

/// The outcome of a call, without secrets and within bounds.
#[derive(Clone, Copy, Debug)]
pub struct CallOutcome<'a> {
    /// The call.
    pub call: &'a CallId,
    /// The tool, by the name it was called.
    pub tool: &'a str,
    /// The native tool; nothing when none was found.
    pub native: Option<&'a str>,
    /// The arguments as they were sent; null when they could not be read.
    pub arguments: &'a Value,
    /// What the tool printed for the model.
    pub text: &'a str,
    /// What haft says behind the output of a command, a line each, but for its exit code.
    pub said: &'a str,
    /// The native result as data.
    pub data: Option<&'a Value>,
    /// Why it was refused or failed.
    pub error: Option<&'a ToolError>,
    /// The exit status of the command that it ran.
    pub exit_code: Option<i32>,
}
