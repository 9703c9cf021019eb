//! The manual of a tool, from its `name.md`.
//!
//! A manual has a title (`# Read file`), the words that the model reads, and examples in fenced
//! `json` blocks. The model reads the examples among the words with every request; those under
//! `## Examples` are for people. The conformance test runs every example in the sample workspace, so they
//! cannot drift from the code. haft shows the first one when a call does not fit.

use serde_json::Value;

/// What stands above examples that the model does not read.
const EXAMPLES: &str = "\n## Examples\n";

/// The words of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Manual {
    /// What people call the tool.
    pub title: String,
    /// What the model reads.
    pub words: String,
    /// Calls that work in the sample workspace.
    pub examples: Vec<Example>,
}

/// One example of a manual.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The arguments as written; not an object when the block is broken, which the conformance test tells.
    pub arguments: Value,
    /// Text that the result must contain, from the line `→ text` behind the block.
    pub contains: Option<String>,
}

impl Manual {
    /// Reads the text of a `name.md`.
    pub fn read(text: &str) -> Self {
        let (title, words) = match text.trim_start().strip_prefix("# ") {
            Some(rest) => {
                let (title, words) = rest.split_once('\n').unwrap_or((rest, ""));
                (title.trim(), words.trim())
            }
            None => ("", text.trim()),
        };
        let for_model = words.split_once(EXAMPLES).map_or(words, |(for_model, _)| for_model.trim_end());
        Self { title: title.to_owned(), words: for_model.to_owned(), examples: examples_in(words) }
    }

    /// Makes a manual from plain words, with a title made from the name.
    pub fn plain(name: &str, words: &str) -> Self {
        let mut title = name.replace(['_', '-'], " ");
        if let Some(first) = title.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        Self { title, words: words.trim().to_owned(), examples: examples_in(words) }
    }
}

fn examples_in(words: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut lines = words.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim() != "```json" {
            continue;
        }
        let block: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != "```").collect();
        let contains = lines.peek().and_then(|line| line.strip_prefix("→ ")).map(|text| text.trim().to_owned());
        let arguments = serde_json::from_str(&block.join("\n")).unwrap_or(Value::Null);
        examples.push(Example { arguments, contains });
    }
    examples
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_manual_has_a_title_words_and_examples() {
        let manual = Manual::read("# Read file\n\nReads.\n\n```json\n{\"path\": \"a\"}\n```\n→ 1\n\nMore.\n");
        assert_eq!(manual.title, "Read file");
        assert!(manual.words.starts_with("Reads.") && manual.words.ends_with("More."));
        assert_eq!(manual.examples, [Example { arguments: json!({ "path": "a" }), contains: Some("1".into()) }]);
    }

    #[test]
    fn examples_under_their_own_heading_are_not_for_the_model() {
        let manual = Manual::read("# T\n\nDoes.\n\n## Examples\n\nOne:\n\n```json\n{}\n```\n→ 1\n");
        assert_eq!(manual.words, "Does.");
        assert_eq!(manual.examples, [Example { arguments: json!({}), contains: Some("1".into()) }]);
    }

    #[test]
    fn a_plain_manual_makes_its_title_from_the_name() {
        assert_eq!(Manual::plain("add_two", "Adds.").title, "Add two");
    }
}
