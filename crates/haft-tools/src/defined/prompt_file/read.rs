//! Reads a prompt file from its tree, and finds all errors in one pass.

use haft_contract::text::closest::closest;

use super::tree::{self, Element, XmlNode};
use super::{KINDS, PromptFile, PromptParameter};
use crate::defined::definition::DefinitionProblem;

/// Most problems that are told of one file.
const MOST_PROBLEMS: usize = 100;

/// What others call the types of JSON Schema.
const OTHER_KINDS: [(&str, &str); 9] = [
    ("str", "string"),
    ("text", "string"),
    ("int", "integer"),
    ("float", "number"),
    ("bool", "boolean"),
    ("list", "array"),
    ("dict", "object"),
    ("map", "object"),
    ("none", "null"),
];

/// A prompt file that was looked through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedPrompt {
    /// The file, where nothing but warnings was found.
    pub prompt: Option<PromptFile>,
    /// Everything that was found, in the order of the text.
    pub problems: Vec<DefinitionProblem>,
}

/// Looks through the text of a prompt file, for warnings too.
pub fn check(text: &str) -> CheckedPrompt {
    let mut reading = PromptFileReader::default();
    let prompt = match tree::parse(text) {
        Ok(root) => reading.file(&root),
        Err(problem) => {
            reading.problems.push(problem);
            None
        }
    };
    let mut problems = reading.problems;
    let prompt = prompt.filter(|_| problems.iter().all(|problem| problem.is_warning));
    // What is missing in an element is found when all of it was read.
    problems.sort_by_key(|problem| problem.line);
    if problems.len() > MOST_PROBLEMS {
        let more = problems.len() - MOST_PROBLEMS;
        // The file cannot be used because of one that is not told any more.
        let is_warning = problems.iter().skip(MOST_PROBLEMS).all(|problem| problem.is_warning);
        problems.truncate(MOST_PROBLEMS);
        let what = format!("{more} more problems are not shown");
        problems.push(DefinitionProblem { line: None, what, fix: "fix these first".to_owned(), is_warning });
    }
    CheckedPrompt { prompt, problems }
}

#[derive(Default)]
struct PromptFileReader {
    problems: Vec<DefinitionProblem>,
}

impl PromptFileReader {
    fn error(&mut self, line: usize, what: impl Into<String>, fix: impl Into<String>) {
        self.problems.push(DefinitionProblem::error(Some(line), what, fix));
    }

    fn warn(&mut self, line: usize, what: impl Into<String>, fix: impl Into<String>) {
        self.problems.push(DefinitionProblem::warning(Some(line), what, fix));
    }

    fn file(&mut self, root: &Element) -> Option<PromptFile> {
        if root.name != "tool_prompt" {
            let what = format!("the file begins with <{}>", root.name);
            self.error(root.line, what, "write <tool_prompt> around everything");
            return None;
        }
        self.known(root, &[], &["description", "parameters"]);
        let description = self.words(root, "the tool");
        if description.is_none() {
            let fix = "write <description>…</description>, or leave the file out";
            self.warn(root.line, "there is no description, so the tool keeps its own", fix);
        }
        let mut parameters: Vec<PromptParameter> = Vec::new();
        for list in root.children().filter(|child| child.name == "parameters") {
            self.known(list, &[], &["parameter"]);
            for element in list.children().filter(|child| child.name == "parameter") {
                let Some(parameter) = self.parameter(element) else { continue };
                match parameters.iter().find(|other| other.name == parameter.name) {
                    Some(first) => {
                        let at = first.line.unwrap_or_default();
                        let what = format!("\"{}\" occurs twice, first in line {at}", parameter.name);
                        self.error(element.line, what, "leave one of them out");
                    }
                    None => parameters.push(parameter),
                }
            }
        }
        Some(PromptFile { description, parameters })
    }

    fn parameter(&mut self, element: &Element) -> Option<PromptParameter> {
        self.known(element, &["name", "required"], &["description", "type", "enum"]);
        let attribute = |name: &str| element.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let Some(name) = attribute("name").map(|name| name.trim()).filter(|name| !name.is_empty()) else {
            self.error(element.line, "a parameter has no name", "write <parameter name=\"NAME\">");
            return None;
        };
        let required = attribute("required").and_then(|text| self.flag(text, element.line));
        Some(PromptParameter {
            name: name.to_owned(),
            required,
            description: self.words(element, &format!("\"{name}\"")),
            kind: self.kind(element, name),
            enums: self.enums(element, name),
            line: Some(element.line),
        })
    }

    fn flag(&mut self, text: &str, line: usize) -> Option<bool> {
        match text.trim().to_ascii_lowercase().as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => {
                self.error(line, format!("\"required\" is {text:?}"), "write required=\"true\" or required=\"false\"");
                None
            }
        }
    }

    /// Reads the one description in an element.
    fn words(&mut self, element: &Element, of: &str) -> Option<String> {
        let description = self.only(element, "description", of)?;
        self.known(description, &[], &[]);
        let words = flush_left(&description.text());
        if words.is_empty() && element.name == "parameter" {
            let what = format!("the description of {of} is empty, so its own stays");
            self.warn(description.line, what, "say what it is, or leave the element out");
        }
        Some(words).filter(|words| !words.is_empty())
    }

    fn kind(&mut self, element: &Element, name: &str) -> Option<String> {
        let kind = self.only(element, "type", &format!("\"{name}\""))?;
        self.known(kind, &[], &[]);
        let text = kind.text().trim().to_ascii_lowercase();
        let other = OTHER_KINDS.iter().find(|(other, _)| *other == text).map(|(_, kind)| *kind);
        if let Some(kind) = other.or_else(|| KINDS.into_iter().find(|known| *known == text)) {
            return Some(kind.to_owned());
        }
        let fix = match closest(&text, KINDS.into_iter()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("the types are {}", KINDS.join(", ")),
        };
        self.error(kind.line, format!("there is no type {text:?}"), fix);
        None
    }

    fn enums(&mut self, element: &Element, name: &str) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        for child in element.children().filter(|child| child.name == "enum") {
            self.known(child, &[], &[]);
            let value = child.text().trim().to_owned();
            if values.contains(&value) {
                self.warn(child.line, format!("the value {value:?} of \"{name}\" occurs twice"), "leave one out");
            } else {
                values.push(value);
            }
        }
        values
    }

    /// Returns the element of this name; a second one is an error.
    fn only<'e>(&mut self, element: &'e Element, name: &str, of: &str) -> Option<&'e Element> {
        let mut all = element.children().filter(|child| child.name == name);
        let first = all.next();
        for second in all {
            self.error(second.line, format!("{of} has two <{name}>"), "make one of them");
        }
        first
    }

    /// Tells what counts for nothing in an element: attributes, elements and text that it does not have.
    fn known(&mut self, element: &Element, attributes: &[&str], children: &[&str]) {
        let name = &element.name;
        for (key, _) in &element.attributes {
            // Attributes that XML itself reserves for namespaces, blanks and languages do no harm.
            if !attributes.contains(&key.as_str()) && !key.starts_with("xml") {
                let fix = near(key, attributes, "remove it");
                self.warn(element.line, format!("<{name}> has no attribute \"{key}\""), fix);
            }
        }
        for inside in &element.inside {
            match inside {
                XmlNode::Element(child) if children.is_empty() => {
                    let what = format!("<{}> in <{name}> is not markup; only its text counts", child.name);
                    self.warn(child.line, what, "write &lt; for the character <, or remove the tags");
                }
                XmlNode::Element(child) if !children.contains(&child.name.as_str()) => {
                    let fix = near(&child.name, children, "remove it");
                    self.warn(child.line, format!("<{}> in <{name}> is ignored", child.name), fix);
                }
                XmlNode::Text { text, line } if !children.is_empty() && !text.trim().is_empty() => {
                    let blank = text.chars().take_while(|letter| letter.is_whitespace());
                    let line = line + blank.filter(|letter| *letter == '\n').count();
                    self.warn(line, format!("text directly in <{name}> is ignored"), "put it into <description>");
                }
                XmlNode::Element(_) | XmlNode::Text { .. } => {}
            }
        }
    }
}

fn near(name: &str, known: &[&str], otherwise: &str) -> String {
    match closest(name, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => otherwise.to_owned(),
    }
}

/// Takes away what indents a text in its file: as much as all of its lines have. The first line counts only where it is
/// a line of its own.
fn flush_left(text: &str) -> String {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let blank = |line: &&str| line.trim().is_empty();
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let lines = || rest.split('\n');
    let common = lines().filter(|line| !blank(line)).map(|line| &line[..indent(line)]).reduce(shared).unwrap_or("");
    let flushed = lines().map(|line| line.strip_prefix(common).unwrap_or(""));
    let all: Vec<&str> = std::iter::once(first).chain(flushed).collect();
    all.join("\n").trim().to_owned()
}

fn shared<'t>(one: &'t str, other: &str) -> &'t str {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    &one[..same]
}
