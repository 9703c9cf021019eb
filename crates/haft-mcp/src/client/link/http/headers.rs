//! Builds the headers of a request to an address.
//!
//! They name the message that the request carries and, for a tool that wants it, some of the arguments.
//!
//! haft leaves out a tool that asks for headers in a wrong way, because it cannot call the tool as its server means it.

use std::collections::{BTreeMap, BTreeSet};

use base64::prelude::{BASE64_STANDARD, Engine};
use bytes::Bytes;
use serde_json::Value;

use crate::client::offers::manifest::Manifest;

/// Where a request of the new era says its revision.
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
/// The key by which a schema asks for a header.
const MIRRORED: &str = "x-mcp-header";
/// What such headers begin with.
const PREFIX: &str = "mcp-param-";
/// Deepest argument that is mirrored.
const DEEPEST: usize = 16;

/// A message that is about to be sent to a server.
pub(super) struct OutboundMessage {
    pub(super) id: Option<Value>,
    pub(super) method: String,
    /// The revision that it names itself, in the new era.
    pub(super) revision: Option<String>,
    /// What it is about, in the new era.
    pub(super) name: Option<String>,
    arguments: Value,
    pub(super) body: Bytes,
}

impl OutboundMessage {
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        let mut value: Value = serde_json::from_slice(line).ok()?;
        let params = &value["params"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Some(Self {
            id: value.get("id").filter(|_| value.get("method").is_some()).cloned(),
            method: text(&value["method"]).unwrap_or_default(),
            revision: text(&params["_meta"][REVISION]),
            name: text(&params["name"]).or_else(|| text(&params["uri"])),
            arguments: value["params"]["arguments"].take(),
            body: Bytes::copy_from_slice(line.trim_ascii_end()),
        })
    }
}

/// The arguments that the tools of a server want in headers.
#[derive(Clone, Debug, Default)]
pub(crate) struct MirroredArguments(BTreeMap<String, Vec<MirroredArgument>>);

/// An argument, and the header that repeats it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MirroredArgument {
    path: Vec<String>,
    header: String,
}

impl MirroredArguments {
    /// Reads the schemas of all tools. The code that lists tools leaves out those with mistakes.
    pub(crate) fn of(manifest: &Manifest) -> Self {
        let of_tool = |tool: &crate::client::offers::manifest::ListedTool| {
            let mirrored = mirrored(&tool.input_schema).ok().filter(|mirrored| !mirrored.is_empty())?;
            Some((tool.name.clone(), mirrored))
        };
        Self(manifest.tools.iter().filter_map(of_tool).collect())
    }

    /// Returns the headers of a call.
    pub(super) fn headers_of(&self, message: &OutboundMessage) -> Vec<(String, String)> {
        let is_call = message.method == "tools/call";
        let mirrored = message.name.as_ref().filter(|_| is_call).and_then(|name| self.0.get(name));
        let header = |mirrored: &MirroredArgument| {
            let value = mirrored.path.iter().try_fold(&message.arguments, |value, key| value.get(key))?;
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Bool(is) => is.to_string(),
                Value::Number(number) => number.to_string(),
                Value::Null | Value::Array(_) | Value::Object(_) => return None,
            };
            Some((format!("{PREFIX}{}", mirrored.header.to_ascii_lowercase()), in_header(&text)))
        };
        mirrored.into_iter().flatten().filter_map(header).collect()
    }
}

/// Says why the headers that a schema asks for cannot be sent.
pub(crate) fn check_mirrored(schema: &Value) -> Result<(), String> {
    mirrored(schema).map(drop)
}

fn mirrored(schema: &Value) -> Result<Vec<MirroredArgument>, String> {
    let mut found = Vec::new();
    below(schema, &mut Vec::new(), &mut found)?;
    let mut names = BTreeSet::new();
    match found.iter().find(|one| !names.insert(one.header.to_ascii_lowercase())) {
        Some(twice) => Err(format!("two of its arguments are to be the header \"{}\"", twice.header)),
        None if found.len() < annotations(schema) => {
            Err("it wants a header for a value that is not an argument by itself".to_owned())
        }
        None => Ok(found),
    }
}

/// Looks at the properties of a schema, and at theirs.
fn below(schema: &Value, path: &mut Vec<String>, found: &mut Vec<MirroredArgument>) -> Result<(), String> {
    if path.len() >= DEEPEST {
        return Ok(());
    }
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        path.push(name.clone());
        if let Some(header) = property.get(MIRRORED) {
            found.push(MirroredArgument { path: path.clone(), header: checked(header, property)? });
        }
        below(property, path, found)?;
        path.pop();
    }
    Ok(())
}

fn checked(header: &Value, property: &Value) -> Result<String, String> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let header = header.as_str().filter(|header| !header.is_empty() && header.bytes().all(is_token));
    let header = header.ok_or("it wants a header whose name no request can carry")?;
    let is_plain = matches!(property.get("type").and_then(Value::as_str), Some("string" | "integer" | "boolean"));
    match is_plain {
        true => Ok(header.to_owned()),
        false => Err(format!(
            "it wants the header \"{header}\" for an argument that is not a string, an integer or a boolean"
        )),
    }
}

/// Counts how often a schema asks for a header, wherever in it.
fn annotations(schema: &Value) -> usize {
    match schema {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| match (key.as_str(), value) {
                // What a property is called is no keyword.
                ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(inner)) => {
                    inner.values().map(annotations).sum()
                }
                ("enum" | "const" | "default" | "examples", _) => 0,
                (MIRRORED, _) => 1,
                (_, value) => annotations(value),
            })
            .sum(),
        Value::Array(list) => list.iter().map(annotations).sum(),
        _ => 0,
    }
}

/// Writes a value as a header can carry it.
pub(super) fn in_header(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && value.trim() == value;
    if is_plain && !value.starts_with("=?base64?") {
        value.to_owned()
    } else {
        format!("=?base64?{}?=", BASE64_STANDARD.encode(value))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_that_no_header_can_carry_is_encoded() {
        assert_eq!(in_header("echo"), "echo");
        assert_eq!(in_header("ü"), "=?base64?w7w=?=");
        assert_eq!(in_header(" a"), "=?base64?IGE=?=");
        assert_eq!(in_header("a\r\nX: y"), "=?base64?YQ0KWDogeQ==?=");
        assert_eq!(in_header("=?base64?x"), "=?base64?PT9iYXNlNjQ/eA==?=");
    }

    #[test]
    fn a_call_repeats_the_arguments_that_its_tool_wants_in_headers() {
        let schema = json!({ "properties": {
            "a": { "type": "string", "x-mcp-header": "Region" }, "b": { "type": "integer", "x-mcp-header": "N" },
            "c": { "properties": { "d": { "type": "boolean", "x-mcp-header": "D" } } }, "e": { "type": "string" },
        } });
        let mirrored =
            MirroredArguments(BTreeMap::from([("t".to_owned(), mirrored(&schema).expect("it is in order"))]));
        let headers = |arguments: Value| {
            let message = json!({ "id": 1, "method": "tools/call", "params": { "name": "t", "arguments": arguments } });
            mirrored.headers_of(&OutboundMessage::of(message.to_string().as_bytes()).expect("a message"))
        };
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            headers(json!({ "a": "x", "b": 7, "c": { "d": false }, "e": "y" })),
            [header("mcp-param-region", "x"), header("mcp-param-n", "7"), header("mcp-param-d", "false")]
        );
        assert_eq!(headers(json!({ "a": null, "b": [1] })), []);
    }

    #[test]
    fn a_tool_that_wants_headers_in_a_wrong_way_is_known() {
        let of = |property: Value| check_mirrored(&json!({ "properties": { "a": property } }));
        assert_eq!(of(json!({ "type": "string", "x-mcp-header": "A-1" })), Ok(()));
        assert_eq!(of(json!({ "properties": { "x-mcp-header": { "type": "string" } } })), Ok(()));
        for wrong in [
            json!({ "type": "string", "x-mcp-header": "" }),
            json!({ "type": "string", "x-mcp-header": "a b" }),
            json!({ "type": "string", "x-mcp-header": "ü" }),
            json!({ "type": "string", "x-mcp-header": 7 }),
            json!({ "type": "number", "x-mcp-header": "A" }),
            json!({ "x-mcp-header": "A" }),
            json!({ "type": "array", "items": { "type": "string", "x-mcp-header": "A" } }),
        ] {
            assert!(of(wrong.clone()).is_err(), "{wrong}");
        }
        let twice = json!({ "properties": {
            "a": { "type": "string", "x-mcp-header": "X" }, "b": { "type": "string", "x-mcp-header": "x" },
        } });
        assert!(check_mirrored(&twice).is_err_and(|why| why.contains("two of its arguments")));
    }
}
