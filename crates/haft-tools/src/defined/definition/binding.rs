//! Defines what a tool is bound to: a built-in tool, a program, a Python function, or a request.
//!
//! Not here: whether the target exists, and how it is called.

use super::http::{self, HttpCall};
use super::syntax::fields::Problems;
use super::syntax::node::{DefinitionKey, DefinitionNode, DefinitionValue};

const FORMS: &str =
    "write \"package.module:function\", {command: [PROGRAM, ARGUMENT]}, {http: {method, url}} or {builtin: NAME}";

/// What does the work of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// A built-in or registered tool, by its name.
    Builtin(String),
    /// A program and its arguments.
    Command(Vec<String>),
    /// A Python function.
    Python(FunctionName),
    /// A request to another machine.
    Http(Box<HttpCall>),
}

/// The name of a Python function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionName {
    /// The module, with its packages: `package.module`.
    pub module: String,
    /// The function in it.
    pub function: String,
}

/// Reads a binding, or notes what is wrong with it.
pub(super) fn read(entry: (&DefinitionKey, &DefinitionNode), problems: &mut Problems) -> Option<Binding> {
    let (key, node) = entry;
    match &node.value {
        DefinitionValue::Text(text) => python(text, key.line, problems),
        DefinitionValue::Map(entries) => match entries.as_slice() {
            [(kind, inner)] => of_kind(kind, inner, problems),
            _ => {
                problems.error(key.line, format!("\"binding\" has {} keys, but it has one", entries.len()), FORMS);
                None
            }
        },
        _ => {
            problems.error(key.line, format!("\"binding\" is {}", node.sort()), FORMS);
            None
        }
    }
}

fn of_kind(kind: &DefinitionKey, inner: &DefinitionNode, problems: &mut Problems) -> Option<Binding> {
    match (kind.name.as_str(), &inner.value) {
        ("python", DefinitionValue::Text(text)) => python(text, kind.line, problems),
        ("builtin", DefinitionValue::Text(name)) if !name.trim().is_empty() => {
            Some(Binding::Builtin(name.trim().to_owned()))
        }
        ("command", DefinitionValue::List(words)) => command(kind, words, problems),
        ("command", DefinitionValue::Text(line)) => {
            let words: Vec<String> = line.split_whitespace().map(|word| format!("{word:?}")).collect();
            let what = "\"command\" is text, but it is a list: no shell splits it";
            problems.error(kind.line, what, format!("write command: [{}]", words.join(", ")));
            None
        }
        ("python", _) => {
            problems.error(kind.line, "\"python\" is not text", "write python: \"package.module:function\"");
            None
        }
        ("builtin", _) => {
            problems.error(kind.line, "\"builtin\" is not a name", "write builtin: NAME; `haft tools` lists the names");
            None
        }
        ("command", _) => {
            problems.error(kind.line, "\"command\" is not a list", "write command: [PROGRAM, ARGUMENT]");
            None
        }
        ("http", _) => http::read((kind, inner), problems).map(|call| Binding::Http(Box::new(call))),
        ("mcp", _) => {
            let what = format!("a tool cannot be bound to {} yet", kind.name);
            problems.error(kind.line, what, "bind it to a command or a Python function that does it");
            None
        }
        (other, _) => {
            problems.error(kind.line, format!("there is no binding {other:?}"), FORMS);
            None
        }
    }
}

fn command(kind: &DefinitionKey, words: &[DefinitionNode], problems: &mut Problems) -> Option<Binding> {
    let texts: Option<Vec<String>> = words.iter().map(|word| word.text().map(str::to_owned)).collect();
    match texts {
        Some(texts) if texts.iter().any(|text| text.contains('\0')) => {
            problems.error(kind.line, "\"command\" holds a NUL character", "remove it");
            None
        }
        Some(texts) if texts.first().is_some_and(|program| !program.trim().is_empty()) => Some(Binding::Command(texts)),
        Some(_) => {
            problems.error(kind.line, "\"command\" names no program", "write command: [PROGRAM, ARGUMENT]");
            None
        }
        None => {
            let odd = words.iter().find(|word| word.text().is_none());
            let (line, sort) = odd.map_or((kind.line, "nothing"), |word| (word.line, word.sort()));
            problems.error(line, format!("\"command\" holds {sort}, but it is a list of texts"), "put it in quotes");
            None
        }
    }
}

fn python(text: &str, line: Option<usize>, problems: &mut Problems) -> Option<Binding> {
    let text = text.trim();
    let is_name = |name: &str| {
        let mut letters = name.chars();
        letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
            && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
    };
    let parts = text.split_once(':').filter(|(module, function)| module.split('.').all(is_name) && is_name(function));
    let Some((module, function)) = parts else {
        let fix = match text.rsplit_once('.').filter(|(module, name)| module.split('.').all(is_name) && is_name(name)) {
            Some((module, function)) => format!("did you mean \"{module}:{function}\"?"),
            None if is_name(text) => format!("write {{builtin: {text}}}, or \"package.module:function\" for Python"),
            None => FORMS.to_owned(),
        };
        problems.error(line, format!("{text:?} names no Python function"), fix);
        return None;
    };
    Some(Binding::Python(FunctionName { module: module.to_owned(), function: function.to_owned() }))
}
