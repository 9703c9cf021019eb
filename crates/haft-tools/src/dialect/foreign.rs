//! Describes one tool of another system: how it is shown, and how its calls become native ones.

use std::collections::BTreeMap;

use haft_contract::description::dialect::{ForeignTool, NativeCall};
use haft_contract::description::manual::{Example, Manual};
use haft_contract::description::spec::Spec;
use haft_contract::outcome::error::ToolError;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::argument::{ForeignArgument, NativePlace, NativeValue, bad};

/// A tool of another system.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherTool {
    name: String,
    /// The usual native tool.
    tool: String,
    /// What the model reads.
    words: String,
    #[serde(default)]
    understood_only: bool,
    #[serde(default)]
    required: Vec<String>,
    example: Value,
    arguments: Vec<ForeignArgument>,
    /// Other names of its arguments.
    #[serde(default)]
    accepts: BTreeMap<String, String>,
    /// Lists of objects.
    #[serde(default)]
    each: Vec<Each>,
    /// Objects whose fields are arguments too.
    #[serde(default)]
    unfold: Vec<Unfold>,
    #[serde(default)]
    defaults: Map<String, Value>,
    #[serde(default)]
    fixed: Map<String, Value>,
    instead: Option<Instead>,
    #[serde(default)]
    needs: Vec<Needs>,
}

/// What becomes of each object of a list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Each {
    name: String,
    /// The native list.
    to: String,
    says: String,
    #[serde(default)]
    required: Vec<String>,
    arguments: Vec<ForeignArgument>,
    #[serde(default)]
    defaults: Map<String, Value>,
    /// Whether a list without objects means something.
    #[serde(default)]
    may_be_empty: bool,
}

/// Arguments that are needed where another one has a certain value.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Needs {
    argument: String,
    value: Value,
    others: Vec<String>,
}

/// An object whose fields are arguments too.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unfold {
    name: String,
    says: String,
    arguments: Vec<ForeignArgument>,
}

/// Another native tool, for calls that mean something else than the others of their name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Instead {
    /// It is meant when this text is empty; a JSON pointer.
    when_empty: String,
    /// What it cannot do besides.
    cannot: Option<Cannot>,
    tool: String,
    /// Native arguments, and where in the call their values stand.
    arguments: BTreeMap<String, String>,
    #[serde(default)]
    fixed: Map<String, Value>,
}

/// Something that is refused when it is there.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cannot {
    /// A JSON pointer.
    at: String,
    what: String,
    next: String,
}

impl OtherTool {
    /// Returns the native tools and arguments that calls may lead to, for checking against schemas.
    pub fn leads_to(&self) -> impl Iterator<Item = (&str, &str)> {
        let led_to = self.arguments().filter_map(ForeignArgument::native_argument);
        let lists = self.each.iter().map(|each| each.to.as_str());
        let set = self.defaults.keys().chain(self.fixed.keys()).map(String::as_str);
        let own = led_to.chain(lists).chain(set).map(|argument| (self.tool.as_str(), argument));
        let instead = self.instead.iter().flat_map(|instead| {
            let arguments = instead.arguments.keys().chain(instead.fixed.keys());
            arguments.map(|argument| (instead.tool.as_str(), argument.as_str()))
        });
        own.chain(instead)
    }

    /// Returns whether it reads files, and says from where to go on in other names than haft.
    pub(super) fn has_other_pages(&self) -> bool {
        let is_called = |native: &str| {
            self.arguments().any(|argument| argument.name == native && argument.same_as() == Some(native))
        };
        self.tool == "read_file" && !(is_called("path") && is_called("offset"))
    }

    /// Returns the arguments that lead to a native one, also those in lists.
    fn leading_to(&self, native: &str) -> impl Iterator<Item = &ForeignArgument> {
        let items = self.each.iter().flat_map(|each| &each.arguments);
        self.arguments().chain(items).filter(move |own| own.native_name() == Some(native))
    }

    /// Returns its arguments, also those of objects that are unfolded.
    fn arguments(&self) -> impl Iterator<Item = &ForeignArgument> {
        self.arguments.iter().chain(self.unfold.iter().flat_map(|unfold| &unfold.arguments))
    }

    fn unfolded(&self, arguments: Map<String, Value>) -> Map<String, Value> {
        let mut unfolded = Map::new();
        for (name, value) in arguments {
            match value {
                Value::Object(fields) if self.unfold.iter().any(|unfold| unfold.name == name) => {
                    unfolded.extend(fields);
                }
                value => _ = unfolded.insert(name, value),
            }
        }
        unfolded
    }

    fn schema(&self, native: &Spec) -> Value {
        let fields = native.input_schema.get("properties").unwrap_or(&Value::Null);
        let mut properties = schemas(&self.arguments, fields);
        for each in &self.each {
            let item_fields = fields.get(&each.to).and_then(|list| list.pointer("/items/properties"));
            let items = object(schemas(&each.arguments, item_fields.unwrap_or(&Value::Null)), &each.required);
            let mut list = json!({ "type": "array", "items": items, "minItems": 1, "description": each.says });
            if each.may_be_empty {
                list.as_object_mut().map(|list| list.shift_remove("minItems"));
            }
            properties.insert(each.name.clone(), list);
        }
        for unfold in &self.unfold {
            let mut schema = object(schemas(&unfold.arguments, fields), &[]);
            schema["description"] = unfold.says.as_str().into();
            properties.insert(unfold.name.clone(), schema);
        }
        object(properties, &self.required)
    }

    /// Returns other names that models use, in the names of this tool.
    fn aliases(&self, native: &Spec) -> Vec<(String, String)> {
        let called = |native: &str| self.arguments.iter().find(|argument| argument.same_as() == Some(native));
        let is_own = |name: &str| self.arguments.iter().any(|argument| argument.name == name);
        let known = native.aliases.iter().filter_map(|(alias, name)| Some((alias.clone(), called(name)?.name.clone())));
        let native_names = self.arguments.iter().filter_map(|argument| {
            let native = argument.same_as()?;
            Some((native.to_owned(), called(native)?.name.clone()))
        });
        known.chain(native_names).filter(|(alias, name)| alias != name && !is_own(alias)).collect()
    }

    fn times(&self, native: &Spec) -> Vec<(String, String)> {
        let same = |time: &str| self.arguments.iter().find(|argument| argument.same_as() == Some(time));
        let times = native.times.iter();
        times.filter_map(|(seconds, milliseconds)| Some((same(seconds)?.name.clone(), milliseconds.clone()))).collect()
    }
}

impl ForeignTool for OtherTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn natives(&self) -> Vec<&str> {
        let instead = self.instead.as_ref().map(|instead| instead.tool.as_str());
        std::iter::once(self.tool.as_str()).chain(instead).collect()
    }

    fn is_shown(&self) -> bool {
        !self.understood_only
    }

    fn other_names(&self) -> Vec<(String, String)> {
        self.accepts.iter().map(|(written, meant)| (written.clone(), meant.clone())).collect()
    }

    fn spec(&self, native: &Spec) -> Spec {
        let mut manual = Manual::plain(&self.name, &self.words);
        manual.examples = vec![Example { arguments: self.example.clone(), contains: None }];
        let mut spec = Spec::new(&self.name, manual, self.schema(native));
        spec.aliases = self.aliases(native);
        spec.times = self.times(native);
        spec.version.clone_from(&native.version);
        spec
    }

    /// What is not known at all stays as it is, so that the schema of the native tool names it.
    fn inward(&self, arguments: Map<String, Value>) -> Result<NativeCall, ToolError> {
        let mut arguments = self.unfolded(arguments);
        let is_given = |name: &str| arguments.get(name).is_some_and(|value| !value.is_null() && value != "");
        let beside = |own: &&ForeignArgument| own.unless.as_deref().is_some_and(is_given);
        let beside: Vec<String> = self.arguments().filter(beside).map(|own| own.name.clone()).collect();
        beside.iter().for_each(|name| _ = arguments.shift_remove(name));
        if let Some(instead) = &self.instead
            && let Some(call) = instead.call(&Value::Object(arguments.clone()))?
        {
            return Ok(call);
        }
        self.needs.iter().try_for_each(|needs| needs.check(&arguments))?;
        let mut native = NativeArguments::default();
        for (name, value) in arguments {
            if let Some(each) = self.each.iter().find(|each| each.name == name) {
                native.put(&each.to, each.inward(value)?, &name)?;
            } else {
                native.lead(self.arguments(), name, value)?;
            }
        }
        let mut arguments = self.defaults.clone();
        arguments.extend(native.into_arguments());
        arguments.extend(self.fixed.clone());
        Ok(NativeCall { tool: self.tool.clone(), arguments })
    }

    fn outward(&self, argument: &str) -> Option<&str> {
        let items = self.each.iter().flat_map(|each| &each.arguments);
        let all: Vec<&ForeignArgument> = self.arguments().chain(items).collect();
        // What was told in the names of this system is not told again.
        if all.iter().any(|own| own.name == argument) {
            return None;
        }
        let leading_to = |native: &str| all.iter().find(|own| own.native_name() == Some(native));
        let own = leading_to(argument).or_else(|| leading_to("paths").filter(|_| argument == "path"));
        let list = self.each.iter().find(|each| each.to == argument && each.name != argument);
        own.map(|own| own.name.as_str()).or_else(|| list.map(|each| each.name.as_str()))
    }

    fn outward_name(&self, argument: &str) -> Option<&str> {
        self.leading_to(argument).next().map(|own| own.name.as_str())
    }

    fn outward_value(&self, argument: &str, value: &Value) -> Option<(&str, Value)> {
        self.leading_to(argument).find_map(|own| Some((own.name.as_str(), own.outward(value)?)))
    }
}

fn schemas(arguments: &[ForeignArgument], native: &Value) -> Map<String, Value> {
    arguments.iter().map(|argument| (argument.name.clone(), argument.schema(native))).collect()
}

fn object(properties: Map<String, Value>, required: &[String]) -> Value {
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema["additionalProperties"] = false.into();
    schema
}

impl Each {
    fn inward(&self, list: Value) -> Result<Value, ToolError> {
        let Value::Array(list) = list else { return Ok(list) };
        let one = |one: Value| {
            let Value::Object(fields) = one else { return Ok(one) };
            let mut native = NativeArguments::default();
            for (name, value) in fields {
                native.lead(self.arguments.iter(), name, value)?;
            }
            let mut fields = self.defaults.clone();
            fields.extend(native.into_arguments());
            Ok(Value::Object(fields))
        };
        list.into_iter().map(one).collect::<Result<Vec<_>, _>>().map(Value::Array)
    }
}

impl Needs {
    fn check(&self, arguments: &Map<String, Value>) -> Result<(), ToolError> {
        let Self { argument, value, others } = self;
        let is_missing = |name: &&String| {
            arguments
                .get(*name)
                .is_none_or(|given| given.is_null() || given.as_str().is_some_and(|text| text.trim().is_empty()))
        };
        if arguments.get(argument) != Some(value) {
            return Ok(());
        }
        match others.iter().find(is_missing) {
            None => Ok(()),
            Some(name) => {
                // Without quotes: a word in quotes may be the name of a tool, and would become its name in the dialect.
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let what = format!("\"{argument}\" {value} needs \"{name}\", which is missing. Nothing was done.");
                Err(bad(what, format!("add \"{name}\"")))
            }
        }
    }
}

impl Instead {
    /// Returns the other call, if it is the one that is meant.
    fn call(&self, arguments: &Value) -> Result<Option<NativeCall>, ToolError> {
        if arguments.pointer(&self.when_empty) != Some(&json!("")) {
            return Ok(None);
        }
        if let Some(cannot) = self.cannot.as_ref().filter(|cannot| arguments.pointer(&cannot.at).is_some()) {
            return Err(bad(cannot.what.clone(), cannot.next.clone()));
        }
        let taken = self.arguments.iter().filter_map(|(to, from)| Some((to.clone(), arguments.pointer(from)?.clone())));
        let arguments = taken.chain(self.fixed.clone()).collect();
        Ok(Some(NativeCall { tool: self.tool.clone(), arguments }))
    }
}

/// The native arguments of a call, as far as the call gave them.
#[derive(Default)]
struct NativeArguments {
    arguments: Map<String, Value>,
    edit: Map<String, Value>,
    /// From which argument each of them came.
    origins: BTreeMap<NativePlace, String>,
}

impl NativeArguments {
    /// Takes a value to where its argument leads; one that is not known stays as it is.
    fn lead<'a>(
        &mut self,
        mut arguments: impl Iterator<Item = &'a ForeignArgument>,
        name: String,
        value: Value,
    ) -> Result<(), ToolError> {
        match arguments.find(|argument| argument.name == name) {
            Some(argument) => self.take(argument.inward(value)?, &name),
            None => self.put(&name, value, &name),
        }
    }

    fn put(&mut self, to: &str, value: Value, from: &str) -> Result<(), ToolError> {
        self.take(Some(NativeValue { to: NativePlace::Argument(to.to_owned()), value }), from)
    }

    /// Takes a value over. Two names of one thing in the same call have no meaning.
    fn take(&mut self, taken: Option<NativeValue>, from: &str) -> Result<(), ToolError> {
        let Some(NativeValue { to, value }) = taken else { return Ok(()) };
        match &to {
            NativePlace::Argument(to) => _ = self.arguments.insert(to.clone(), value),
            NativePlace::FirstEdit(to) => _ = self.edit.insert(to.clone(), value),
        }
        match self.origins.insert(to, from.to_owned()) {
            Some(other) => {
                Err(bad(format!("\"{other}\" and \"{from}\" mean the same here."), format!("leave out \"{from}\"")))
            }
            None => Ok(()),
        }
    }

    fn into_arguments(mut self) -> Map<String, Value> {
        if !self.edit.is_empty() {
            self.arguments.insert("edits".to_owned(), json!([self.edit]));
        }
        self.arguments
    }
}
