//! Describes a tool's request: method, address, headers, query and body, with arguments of the call in braces.
//!
//! The definition writes out scheme, host and port, so no argument can lead a call, or a key, to another machine. The call
//! encodes each argument in the path, the query or a header for its place.

use std::net::IpAddr;

use haft_contract::doors::net::Method;
use haft_contract::text::closest::closest;
use serde_json::Value;

use super::syntax::fields::{Fields, Problems};
use super::syntax::node::{DefinitionKey, DefinitionNode, DefinitionValue};
use crate::files::in_braces::{ALONE, InBraces, TemplatePiece};

const KEYS: [&str; 5] = ["method", "url", "headers", "query", "body"];
const FORM: &str = "write http: {method: GET, url: \"https://api.example.com/items/{id}\"}";
/// Headers that belong to the connection, or would lead elsewhere.
const TAKEN: [&str; 8] =
    ["host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "proxy-authorization"];

/// A request with arguments in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpCall {
    /// What it does.
    pub method: Method,
    /// Scheme, host and port: `https://api.example.com:8443`.
    pub origin: String,
    /// The host alone, as it is judged.
    pub host: String,
    /// The path, from its first `/`.
    pub path: InBraces,
    /// Names and values of the query.
    pub query: Vec<(String, InBraces)>,
    /// Names and values of headers.
    pub headers: Vec<(String, InBraces)>,
    /// What is sent: texts in it may have arguments.
    pub body: Option<Value>,
}

impl HttpCall {
    /// Says which argument in it the tool does not have.
    pub(crate) fn unknown_argument(&self, schema: &Value) -> Option<(String, String)> {
        let known =
            || schema.get("properties").and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.as_str());
        let texts = self.query.iter().chain(&self.headers).map(|(_, text)| text).chain([&self.path]);
        let mut used: Vec<String> = texts.flat_map(|text| text.names().map(str::to_owned)).collect();
        if let Some(body) = &self.body {
            arguments_in(body, &mut used);
        }
        let unknown = used.into_iter().find(|name| !known().any(|known| known == name))?;
        let fix = match closest(&unknown, known()) {
            Some(near) => format!("did you mean {{{near}}}?"),
            None => "name a property of \"input_schema\"".to_owned(),
        };
        Some((format!("{{{unknown}}} is not an argument of the tool"), fix))
    }
}

fn arguments_in(body: &Value, used: &mut Vec<String>) {
    match body {
        Value::String(text) => {
            used.extend(InBraces::read(text).iter().flat_map(|text| text.names().map(str::to_owned)))
        }
        Value::Array(items) => items.iter().for_each(|item| arguments_in(item, used)),
        Value::Object(fields) => fields.values().for_each(|value| arguments_in(value, used)),
        _ => {}
    }
}

/// Reads what a request is, or notes what is wrong with it.
pub(super) fn read((kind, node): (&DefinitionKey, &DefinitionNode), problems: &mut Problems) -> Option<HttpCall> {
    if !matches!(node.value, DefinitionValue::Map(_)) {
        problems.error(kind.line, format!("\"http\" is {}, but it is a map", node.sort()), FORM);
        return None;
    }
    let before = problems.0.len();
    let fields = Fields::of(node, &KEYS, &[], problems);
    if let Some(at) = node.to_value().to_string().find("${env.").and(kind.line) {
        let fix = "give it to an argument in tools.yaml (extra_kwargs), and write that argument here";
        problems.error(Some(at), "a definition cannot contain a value of the environment", fix);
    }
    let method = method(&fields, problems);
    let Some((url, line)) =
        fields.entry("url").and_then(|(key, node)| Some((node.text()?.trim().to_owned(), key.line)))
    else {
        problems.error(kind.line, "\"http\" has no \"url\"", FORM);
        return None;
    };
    let place = address(&url).map_err(|(what, fix)| problems.error(line, what, fix)).ok();
    let mut query = place.as_ref().map(|place| place.query.clone()).unwrap_or_default();
    query.extend(texts(&fields, "query", problems));
    let headers = texts(&fields, "headers", problems);
    check_headers(&headers, fields.entry("headers").and_then(|(key, _)| key.line), problems);
    let body = fields.entry("body").map(|(key, node)| (key, node.to_value()));
    if let Some((key, _)) = body.as_ref().filter(|_| !method.is_some_and(Method::may_change)) {
        let what = "a request that only reads has no \"body\"";
        problems.error(key.line, what, "write method: POST, or put it into \"query\"");
    }
    if let Some((key, body)) = &body {
        check_body(body, key.line, problems);
    }
    let is_good = problems.0[before..].iter().all(|problem| problem.is_warning);
    let Address { origin, host, path, .. } = place.filter(|_| is_good)?;
    Some(HttpCall { method: method?, origin, host, path, query, headers, body: body.map(|(_, body)| body) })
}

fn method(fields: &Fields<'_>, problems: &mut Problems) -> Option<Method> {
    let Some(written) = fields.text("method", problems) else { return Some(Method::Get) };
    let found = Method::ALL.into_iter().find(|method| method.code() == written.to_ascii_uppercase());
    if found.is_none() {
        let line = fields.entry("method").and_then(|(key, _)| key.line);
        let all = Method::ALL.map(Method::code).join(", ");
        problems.error(line, format!("there is no method {written:?}"), format!("write one of {all}"));
    }
    found
}

/// An address, taken apart.
struct Address {
    origin: String,
    host: String,
    path: InBraces,
    query: Vec<(String, InBraces)>,
}

fn address(url: &str) -> Result<Address, (String, String)> {
    let bad = |what: String| (what, "write a whole address: \"https://api.example.com/items/{id}\"".to_owned());
    let scheme = ["https://", "http://"].into_iter().find(|scheme| url.starts_with(scheme));
    let Some(scheme) = scheme else { return Err(bad(format!("{url:?} does not begin with https:// or http://"))) };
    let rest = &url[scheme.len()..];
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    if authority.contains(['{', '}', '$']) {
        let what = "the host cannot contain an argument: a model could send the call, and its key, to another machine";
        return Err((what.to_owned(), "write the host out; for several hosts, write a definition for each".to_owned()));
    }
    let host = host(authority).ok_or_else(|| bad(format!("{authority:?} is not a host")))?;
    if rest.contains('#') {
        return Err((format!("{url:?} has a \"#\", which is never sent"), "remove that part".to_owned()));
    }
    if rest.chars().any(|c| c.is_control() || c == ' ' || c == '\\') {
        return Err((
            format!("{url:?} has a character that addresses do not have"),
            "encode it, such as %20".to_owned(),
        ));
    }
    let alone = |why: String| (why, ALONE.to_owned());
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path = InBraces::read(if path.is_empty() { "/" } else { path }).map_err(alone)?;
    let mut pairs = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        pairs.push((name.to_owned(), InBraces::read(value).map_err(alone)?));
    }
    Ok(Address { origin: format!("{scheme}{}", authority.to_ascii_lowercase()), host, path, query: pairs })
}

/// Returns the host of an authority that has a host and perhaps a port, and nothing else.
fn host(authority: &str) -> Option<String> {
    let authority = authority.to_ascii_lowercase();
    let (host, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) => (host.to_owned(), rest.strip_prefix(':').or(rest.is_empty().then_some("0"))?.to_owned()),
        None => {
            authority.split_once(':').map_or((authority.clone(), "0".to_owned()), |(h, p)| (h.to_owned(), p.to_owned()))
        }
    };
    port.parse::<u16>().ok()?;
    if let Ok(address) = host.parse::<IpAddr>() {
        // An address has one way to be written, so that what is judged is what is reached.
        return (address.to_string() == host && address.is_ipv6() == authority.starts_with('[')).then_some(host);
    }
    let is_label = |label: &str| {
        !label.is_empty()
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
            && !label.starts_with('-')
    };
    // A last part that is a number would be read as an address.
    let is_name = host.rsplit('.').next().is_some_and(|last| last.starts_with(|c: char| c.is_ascii_alphabetic()));
    (is_name && !authority.starts_with('[') && host.split('.').all(is_label)).then_some(host)
}

fn texts(fields: &Fields<'_>, name: &str, problems: &mut Problems) -> Vec<(String, InBraces)> {
    let Some((key, node)) = fields.entry(name) else { return Vec::new() };
    if !matches!(node.value, DefinitionValue::Map(_)) {
        problems.error(
            key.line,
            format!("\"{name}\" is {}, but it is a map", node.sort()),
            format!("write {name}: {{NAME: VALUE}}"),
        );
        return Vec::new();
    }
    let mut texts = Vec::new();
    for (entry, value) in node.entries() {
        let written = match &value.value {
            DefinitionValue::Text(text) => text.clone(),
            DefinitionValue::Number(number) => number.to_string(),
            DefinitionValue::Bool(flag) => flag.to_string(),
            _ => {
                let what = format!("{:?} of \"{name}\" is {}, but it is text", entry.name, value.sort());
                problems.error(entry.line, what, "put it in quotes");
                continue;
            }
        };
        match InBraces::read(&written) {
            Ok(text) => texts.push((entry.name.clone(), text)),
            Err(why) => problems.error(entry.line, why, ALONE),
        }
    }
    texts
}

fn check_headers(headers: &[(String, InBraces)], line: Option<usize>, problems: &mut Problems) {
    for (name, text) in headers {
        let is_token =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c));
        if !is_token {
            problems.error(line, format!("{name:?} cannot be the name of a header"), "use letters, digits and `-`");
        } else if TAKEN.contains(&name.to_ascii_lowercase().as_str()) {
            problems.error(line, format!("the header \"{name}\" belongs to the connection"), "remove it");
        }
        let is_plain = |piece: &TemplatePiece| !matches!(piece, TemplatePiece::Plain(text) if text.chars().any(|c| !(' '..='~').contains(&c)));
        if !text.0.iter().all(is_plain) {
            problems.error(
                line,
                format!("the header \"{name}\" has a character that headers do not have"),
                "use plain letters",
            );
        }
    }
}

fn check_body(body: &Value, line: Option<usize>, problems: &mut Problems) {
    match body {
        Value::String(text) => {
            if let Err(why) = InBraces::read(text) {
                problems.error(line, why, ALONE);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| check_body(item, line, problems)),
        Value::Object(fields) => fields.values().for_each(|value| check_body(value, line, problems)),
        _ => {}
    }
}
