//! Reads a path that contains arguments of a call.

use std::fmt;

use haft_contract::outcome::error::{Next, ToolError};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::text::closest::closest;
use serde_json::{Map, Value};

use crate::files::in_braces::{ALONE, InBraces, TemplatePiece};

/// Most paths that one template may stand for in one call.
const MOST_PATHS: usize = 1_000;

/// Text in which `{name}` stands for an argument; `{{` and `}}` are braces.
#[derive(Clone, Debug, PartialEq)]
pub struct PathTemplate(Vec<PathTemplatePart>);

#[derive(Clone, Debug, PartialEq)]
enum PathTemplatePart {
    Text(String),
    Argument {
        name: String,
        /// What the schema says that stands there when the call says nothing.
        default: Option<Value>,
    },
}

impl PathTemplate {
    /// Reads the text, or says what is wrong with it and how to fix it.
    pub(in crate::defined::definition) fn read(text: &str, schema: &Value) -> Result<Self, (String, String)> {
        if text.trim().is_empty() || text.contains('\0') {
            return Err((
                format!("{text:?} is not a path"),
                "write a path from the workspace, such as \"{path}\"".into(),
            ));
        }
        let read = InBraces::read(text).map_err(|why| (why, ALONE.to_owned()))?;
        let part = |piece: TemplatePiece| match piece {
            TemplatePiece::Plain(text) => Ok(PathTemplatePart::Text(text)),
            TemplatePiece::Name(name) => argument(&name, schema),
        };
        read.0.into_iter().map(part).collect::<Result<_, _>>().map(Self)
    }

    /// Puts the arguments of a call in: one path, several where an argument is a list, none where one is left out.
    ///
    /// # Errors
    ///
    /// Returns an error when an argument is neither text nor a number nor a list of those, or stands for more than 1,000 paths.
    pub fn fill(&self, arguments: &Map<String, Value>) -> Result<Vec<String>, ToolError> {
        let mut paths = vec![String::new()];
        for part in &self.0 {
            let pieces = match part {
                PathTemplatePart::Text(text) => vec![text.clone()],
                PathTemplatePart::Argument { name, default } => {
                    let given = arguments.get(name).filter(|value| !value.is_null()).or(default.as_ref());
                    pieces_of(name, given)?
                }
            };
            if paths.len().saturating_mul(pieces.len()) > MOST_PATHS {
                let what = format!("The call would touch more than {MOST_PATHS} paths. Nothing was done.");
                return Err(bad(what, "name fewer paths in one call".into()));
            }
            paths = paths.iter().flat_map(|path| pieces.iter().map(move |piece| format!("{path}{piece}"))).collect();
        }
        Ok(paths)
    }
}

/// Shows the path with its arguments in braces.
impl fmt::Display for PathTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            PathTemplatePart::Text(text) => f.write_str(text),
            PathTemplatePart::Argument { name, .. } => write!(f, "{{{name}}}"),
        })
    }
}

fn pieces_of(name: &str, given: Option<&Value>) -> Result<Vec<String>, ToolError> {
    let piece = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            let what = format!("The argument \"{name}\" is part of a path, but {value} is not text. Nothing was done.");
            Err(bad(what, format!("give \"{name}\" as text")))
        }
    };
    match given {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => items.iter().map(piece).collect(),
        Some(value) => Ok(vec![piece(value)?]),
    }
}

fn bad(what: String, next: String) -> ToolError {
    ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(next))
}

fn argument(name: &str, schema: &Value) -> Result<PathTemplatePart, (String, String)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let Some(property) = properties.and_then(|properties| properties.get(name)) else {
        let names = properties.into_iter().flat_map(|properties| properties.keys().map(String::as_str));
        let fix = match closest(name, names) {
            Some(near) => format!("did you mean {{{near}}}?"),
            None => "name a property of \"input_schema\"".to_owned(),
        };
        return Err((format!("{{{name}}} is not an argument of the tool"), fix));
    };
    let kind = property.get("type").and_then(Value::as_str);
    if matches!(kind, Some("boolean" | "object" | "null")) {
        let what = format!("{{{name}}} is part of a path, but its type is {}", kind.unwrap_or_default());
        return Err((what, "name an argument that is text or a list of texts".into()));
    }
    Ok(PathTemplatePart::Argument { name: name.to_owned(), default: property.get("default").cloned() })
}
