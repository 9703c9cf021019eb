//! Reads a definition key by key, and finds all errors in one pass.

use haft_contract::description::manual::Example;
use haft_contract::description::schema_rules::is_safe_name;
use jsonschema::Validator;
use serde_json::Value;

use super::function_form::unfolded;
use super::syntax::fields::{Fields, Problems};
use super::syntax::node::{DefinitionNode, DefinitionValue};
use super::{Binding, Definition, DefinitionProblem, binding, effects, schema};

/// Most seconds of one call.
const LONGEST_CALL: u64 = 24 * 60 * 60;
/// Most seconds that a result is kept.
const LONGEST_KEPT: u64 = 365 * 24 * 60 * 60;

const KEYS: [&str; 16] = [
    "type",
    "name",
    "title",
    "description",
    "skill_description",
    "use_cache",
    "disable_parallel",
    "lazy",
    "input_schema",
    "binding",
    "timeout",
    "cache_ttl",
    "effects",
    "output_schema",
    "overridable",
    "examples",
];

/// Keys that people look for in a definition, and what to write instead.
const MOVED: [(&str, &str); 5] = [
    ("builtin", "write binding: {builtin: NAME}"),
    ("command", "write binding: {command: [PROGRAM, ARGUMENT]}"),
    ("extra_kwargs", "presets belong in tools.yaml, beside the name of the tool"),
    ("parameters", "write input_schema"),
    ("properties", "write them below input_schema"),
];

/// The result of checking a definition.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedDefinition {
    /// The definition, where nothing but warnings was found.
    pub definition: Option<Definition>,
    /// Everything that was found, in the order of the text.
    pub problems: Vec<DefinitionProblem>,
}

impl CheckedDefinition {
    pub(super) fn into_result(self) -> Result<Definition, Vec<DefinitionProblem>> {
        self.definition.ok_or(self.problems)
    }
}

/// Looks through the text of a definition file, for warnings too.
pub fn check(text: &str) -> CheckedDefinition {
    let version = || blake3::hash(text.as_bytes()).to_hex().to_string();
    checked(DefinitionNode::from_yaml(text), version)
}

/// Looks through a definition that is a JSON value.
pub(super) fn check_value(value: Value) -> CheckedDefinition {
    let text = value.to_string();
    checked(DefinitionNode::from_value(value), || blake3::hash(text.as_bytes()).to_hex().to_string())
}

fn checked(node: Result<DefinitionNode, DefinitionProblem>, version: impl FnOnce() -> String) -> CheckedDefinition {
    let mut problems = Problems::default();
    let definition = match node.and_then(unfolded) {
        Ok(node) => read(&node, &mut problems).map(|definition| Definition { version: version(), ..definition }),
        Err(problem) => {
            problems.0.push(problem);
            None
        }
    };
    let definition = definition.filter(|_| !problems.has_errors());
    // What is found later in the checks may stand earlier in the text.
    problems.0.sort_by_key(|problem| problem.line);
    CheckedDefinition { definition, problems: problems.0 }
}

fn read(node: &DefinitionNode, problems: &mut Problems) -> Option<Definition> {
    if !matches!(node.value, DefinitionValue::Map(_)) {
        let what = match node.is_null() {
            true => "it is empty".to_owned(),
            false => format!("it is {}, but a definition is a map", node.sort()),
        };
        problems.error(node.line, what, "write name, description and input_schema, one key per line");
        return None;
    }
    let fields = Fields::of(node, &KEYS, &MOVED, problems);
    check_type(&fields, problems);
    let input_schema = schema::read_input(fields.entry("input_schema"), problems);
    let definition = Definition {
        name: name(&fields, node, problems),
        title: fields.text("title", problems),
        description: fields.text("description", problems),
        skill_description: fields.text("skill_description", problems),
        use_cache: fields.flag("use_cache", problems),
        disable_parallel: fields.flag("disable_parallel", problems),
        lazy: fields.flag("lazy", problems),
        binding: fields.entry("binding").and_then(|entry| binding::read(entry, problems)),
        timeout: fields.seconds("timeout", LONGEST_CALL, problems),
        cache_ttl: fields.seconds("cache_ttl", LONGEST_KEPT, problems),
        effects: effects::read(&fields, &input_schema, problems),
        output_schema: schema::read_output(fields.entry("output_schema"), problems),
        overridable: overridable(&fields, &input_schema, problems),
        examples: Vec::new(),
        version: String::new(),
        input_schema,
    };
    let validator = schema::usable(&definition.spec(), fields.entry("input_schema"), problems);
    let examples = examples(&fields, validator.as_ref(), problems);
    check_words(&definition, node, problems);
    check_request(&definition, &fields, problems);
    check_cache(&definition, &fields, problems);
    Some(Definition { examples, ..definition })
}

fn check_request(definition: &Definition, fields: &Fields<'_>, problems: &mut Problems) {
    let Some(Binding::Http(call)) = &definition.binding else { return };
    let line = |key: &str| fields.entry(key).and_then(|(key, _)| key.line);
    if let Some((what, fix)) = call.unknown_argument(&definition.input_schema) {
        problems.error(line("binding"), what, fix);
    }
    if definition.effects.is_some() {
        let what = "\"effects\" is ignored here: a request touches its host and nothing else";
        problems.warn(line("effects"), what, "remove it");
    }
}

fn check_type(fields: &Fields<'_>, problems: &mut Problems) {
    let Some((key, node)) = fields.entry("type") else { return };
    if node.text() != Some("tool") {
        problems.error(key.line, format!("\"type\" is {}, but this is a tool", node.to_value()), "write type: tool");
    }
}

fn name(fields: &Fields<'_>, node: &DefinitionNode, problems: &mut Problems) -> String {
    let found = problems.0.len();
    let Some(name) = fields.text("name", problems) else {
        if problems.0.len() == found {
            problems.error(node.line, "the tool has no name", "write name: NAME");
        }
        return String::new();
    };
    if !is_safe_name(&name) {
        let line = fields.entry("name").and_then(|(key, _)| key.line);
        let what =
            format!("{name:?} cannot be the name of a tool: 1 to 64 letters, digits, `_` or `-`, no digit first");
        problems.error(line, what, format!("write name: {}, and title: {name:?} for people", nearest_fit(&name)));
    }
    name
}

/// Returns the name nearest to one that no provider takes.
pub fn nearest_fit(name: &str) -> String {
    let fit = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    let fitted: String = name.trim().chars().map(fit).collect();
    let first = if fitted.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') { "" } else { "_" };
    first.chars().chain(fitted.chars()).take(64).collect()
}

fn overridable(fields: &Fields<'_>, input_schema: &Value, problems: &mut Problems) -> Vec<String> {
    let names = fields.texts("overridable", "names of arguments", problems).unwrap_or_default();
    for (name, line) in &names {
        if schema::property(input_schema, name).is_none() {
            problems.error(*line, format!("{name:?} in \"overridable\" is not an argument"), near(name, input_schema));
        }
    }
    names.into_iter().map(|(name, _)| name).collect()
}

/// Says which argument was probably meant.
pub(super) fn near(name: &str, input_schema: &Value) -> String {
    let names = schema::arguments(input_schema).into_iter().flat_map(|named| named.keys().map(String::as_str));
    match haft_contract::text::closest::closest(name, names) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => "name a property of \"input_schema\", or remove it".to_owned(),
    }
}

fn examples(fields: &Fields<'_>, validator: Option<&Validator>, problems: &mut Problems) -> Vec<Example> {
    let items = fields.list("examples", "maps with \"arguments\"", problems).unwrap_or_default();
    let mut examples = Vec::new();
    for item in items {
        let inner = Fields::of(item, &["arguments", "contains"], &[], problems);
        let arguments = inner.entry("arguments").map(|(_, node)| node);
        let Some(arguments) = arguments.filter(|node| matches!(node.value, DefinitionValue::Map(_))) else {
            let fix = "write {arguments: {NAME: VALUE}, contains: TEXT}";
            problems.error(item.line, "the example has no map of arguments", fix);
            continue;
        };
        let value = arguments.to_value();
        if let Some(misfit) = validator.and_then(|validator| schema::misfit(validator, &value)) {
            let what = format!("the example does not fit \"input_schema\": {misfit}");
            problems.error(arguments.line, what, "fix the example, or the schema");
        }
        examples.push(Example { arguments: value, contains: inner.text("contains", problems) });
    }
    examples
}

/// A function brings its own words along; nothing else does.
fn check_words(definition: &Definition, node: &DefinitionNode, problems: &mut Problems) {
    if definition.description.is_some() {
        return;
    }
    let what = "nothing tells the model what the tool does";
    let fix = "write description: what it does, and when to use it";
    match &definition.binding {
        Some(Binding::Command(_) | Binding::Http(_)) => problems.error(node.line, what, fix),
        Some(Binding::Builtin(_) | Binding::Python(_)) => {}
        None => problems.warn(node.line, what, format!("{fix}; else the words of a Python function are taken")),
    }
}

fn check_cache(definition: &Definition, fields: &Fields<'_>, problems: &mut Problems) {
    if let Some((key, _)) = fields.entry("cache_ttl").filter(|_| !definition.use_cache) {
        problems.warn(key.line, "\"cache_ttl\" is ignored without \"use_cache\"", "write use_cache: true");
    }
}
