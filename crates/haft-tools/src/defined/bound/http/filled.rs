//! Puts the arguments of a call into a request and encodes each for its place, so none can reach beyond it.

use std::time::Duration;

use haft_contract::doors::net::HttpRequest;
use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use serde_json::{Map, Value};

use crate::defined::definition::HttpCall;
use crate::files::in_braces::{InBraces, TemplatePiece};

/// Longest body that a person is shown, in characters.
const LONGEST_SHOWN: usize = 2_000;
/// Longest address.
const LONGEST_URL: usize = 16 * 1024;

/// Makes the request of a call; how long it may take is for others to say.
pub(super) fn request(
    call: &HttpCall,
    schema: &Value,
    arguments: &Map<String, Value>,
) -> Result<HttpRequest, ToolError> {
    let filling = Filling { schema, arguments };
    let url = filling.url(call)?;
    let mut headers = Vec::new();
    for (name, text) in &call.headers {
        if let Some(value) = filling.header(name, text)? {
            headers.push((name.clone(), value));
        }
    }
    let body = match &call.body {
        None => Vec::new(),
        Some(body) => filling.body(body, &mut headers)?,
    };
    Ok(HttpRequest { method: call.method, url, headers, body: body.into(), time: Duration::ZERO, most: 0 })
}

/// Shows a request to a person: what is sent, and where.
pub(super) fn shown(request: &HttpRequest) -> String {
    let mut shown = format!("{} {}", request.method, request.url);
    for (name, value) in &request.headers {
        shown.push_str(&format!("\n{name}: {value}"));
    }
    let body = String::from_utf8_lossy(&request.body);
    if !body.is_empty() {
        let cut = body.char_indices().nth(LONGEST_SHOWN).map_or(body.len(), |(end, _)| end);
        let more = if cut < body.len() { "…" } else { "" };
        shown.push_str(&format!("\n\n{}{more}", &body[..cut]));
    }
    shown
}

struct Filling<'a> {
    schema: &'a Value,
    arguments: &'a Map<String, Value>,
}

impl Filling<'_> {
    /// Returns the value of an argument, or what the schema says that stands there when the call says nothing.
    fn value(&self, name: &str) -> Option<&Value> {
        let default = || self.schema.get("properties")?.get(name)?.get("default");
        self.arguments.get(name).filter(|value| !value.is_null()).or_else(default)
    }

    fn url(&self, call: &HttpCall) -> Result<String, ToolError> {
        let mut url = format!("{}{}", call.origin, self.path(&call.path)?);
        let mut gap = '?';
        for (name, text) in &call.query {
            for value in self.query(text)? {
                url.push_str(&format!("{gap}{}={value}", encoded(name)));
                gap = '&';
            }
        }
        if url.len() > LONGEST_URL {
            return Err(bad("The address would be longer than 16 KiB.", "ask for less in one call"));
        }
        Ok(url)
    }

    /// An argument is a part of one name in the path: it can neither add one nor leave the folder.
    fn path(&self, text: &InBraces) -> Result<String, ToolError> {
        let mut path = String::new();
        for piece in &text.0 {
            match piece {
                TemplatePiece::Plain(plain) => path.push_str(plain),
                TemplatePiece::Name(name) => {
                    let value = self.value(name).map(|value| plain(name, value)).transpose()?.unwrap_or_default();
                    if value.is_empty() {
                        let what = format!("\"{name}\" is a part of the address and is empty.");
                        return Err(bad(what, format!("give \"{name}\"")));
                    }
                    path.push_str(&encoded(&value));
                }
            }
        }
        let is_step = |name: &str| matches!(name.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
        match path.split('/').any(is_step) {
            true => Err(bad(
                "An argument would lead to another place of the host: \".\" and \"..\" are not names.",
                "give a name",
            )),
            false => Ok(path),
        }
    }

    /// One value; several where the text is an argument that is a list; none where an argument is left out.
    fn query(&self, text: &InBraces) -> Result<Vec<String>, ToolError> {
        if let Some(Value::Array(items)) = text.only_name().and_then(|name| self.value(name)) {
            let name = text.only_name().unwrap_or_default();
            return items.iter().map(|item| plain(name, item).map(|value| encoded(&value))).collect();
        }
        let mut filled = String::new();
        for piece in &text.0 {
            match piece {
                // The definition's own text is encoded where it is not already.
                TemplatePiece::Plain(plain) => filled.push_str(&kept(plain)),
                TemplatePiece::Name(name) => match self.value(name) {
                    Some(value) => filled.push_str(&encoded(&plain(name, value)?)),
                    None => return Ok(Vec::new()),
                },
            }
        }
        Ok(vec![filled])
    }

    fn header(&self, header: &str, text: &InBraces) -> Result<Option<String>, ToolError> {
        let mut filled = String::new();
        for piece in &text.0 {
            match piece {
                TemplatePiece::Plain(plain) => filled.push_str(plain),
                TemplatePiece::Name(name) => match self.value(name) {
                    Some(value) => filled.push_str(&plain(name, value)?),
                    None => return Ok(None),
                },
            }
        }
        // The value itself is not said: it may be a key.
        match filled.chars().all(|c| (' '..='~').contains(&c)) {
            true => Ok(Some(filled)),
            false => {
                let what = format!(
                    "The header \"{header}\" would have a line end or another character that headers do not have."
                );
                Err(bad(what, "give plain letters of one line"))
            }
        }
    }

    fn body(&self, body: &Value, headers: &mut Vec<(String, String)>) -> Result<Vec<u8>, ToolError> {
        let read = |text: &str| InBraces::read(text).unwrap_or_default();
        let (bytes, kind) = match body {
            Value::String(text) if read(text).only_name().is_none() => {
                (self.text(&read(text))?.into_bytes(), "text/plain; charset=utf-8")
            }
            body => (self.json(body)?.unwrap_or_default().to_string().into_bytes(), "application/json"),
        };
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            headers.push(("Content-Type".to_owned(), kind.to_owned()));
        }
        Ok(bytes)
    }

    /// A text that is one argument becomes its value; a field whose argument is left out is left out.
    fn json(&self, body: &Value) -> Result<Option<Value>, ToolError> {
        Ok(Some(match body {
            Value::String(text) => {
                let text = InBraces::read(text).unwrap_or_default();
                match text.only_name() {
                    Some(name) => return Ok(self.value(name).cloned()),
                    None => Value::String(self.text(&text)?),
                }
            }
            Value::Array(items) => {
                let items: Result<Vec<_>, _> = items.iter().map(|item| self.json(item)).collect();
                Value::Array(items?.into_iter().flatten().collect())
            }
            Value::Object(fields) => {
                let mut filled = Map::new();
                for (name, value) in fields {
                    if let Some(value) = self.json(value)? {
                        filled.insert(name.clone(), value);
                    }
                }
                Value::Object(filled)
            }
            other => other.clone(),
        }))
    }

    fn text(&self, text: &InBraces) -> Result<String, ToolError> {
        let mut filled = String::new();
        for piece in &text.0 {
            match piece {
                TemplatePiece::Plain(plain) => filled.push_str(plain),
                TemplatePiece::Name(name) => {
                    if let Some(value) = self.value(name) {
                        filled.push_str(&value.as_str().map_or_else(|| value.to_string(), str::to_owned));
                    }
                }
            }
        }
        Ok(filled)
    }
}

fn plain(name: &str, value: &Value) -> Result<String, ToolError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            let what = format!("\"{name}\" is a part of the request that takes only text or a number.");
            Err(bad(what, format!("give \"{name}\" as text")))
        }
    }
}

/// Encodes everything but letters, digits and four marks that mean nothing anywhere in an address.
fn encoded(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

/// Encodes what would end a value, and keeps what the author of a definition has encoded.
fn kept(text: &str) -> String {
    let one = |c: char| match c {
        '&' | '#' | '+' | ' ' => encoded(&c.to_string()),
        c if c.is_ascii_graphic() => c.to_string(),
        c => encoded(&c.to_string()),
    };
    text.chars().map(one).collect()
}

fn bad(what: impl Into<String>, next: impl Into<String>) -> ToolError {
    ToolError::new(
        ErrorKind::BadArguments,
        format!("{} Nothing was sent.", what.into()),
        Next::FixArguments(next.into()),
    )
}
