//! What a model and a catalogue are told of a macro tool.

use haft_contract::description::spec::Spec;
use haft_contract::prelude::*;
use haft_contract::tool::{AnyTool, Typed};
use insta::{assert_json_snapshot, assert_snapshot};

fn spec(tool: impl Tool) -> Spec {
    Typed::new(tool).spec().clone()
}

/// Finds words in a text.
///
/// Returns the places:
///   - first to last
///
/// ```json
/// {"words": ["a"], "in": "abc"}
/// ```
/// → 0
#[haft_contract::tool]
async fn find_words(
    /// The words to find,
    /// at least one.
    words: Vec<String>,
    /// The text to search.
    #[serde(rename = "in")]
    text: String,
    /// How letters are compared. Default: exactly.
    compare: Option<Compare>,
    /// Most places to return, 1–100.
    #[schemars(range(min = 1, max = 100))]
    #[serde(default = "ten")]
    limit: u32,
) -> String {
    format!("{words:?} {text} {compare:?} {limit}")
}

/// How letters are compared.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Compare {
    Exactly,
    AnyCase,
}

fn ten() -> u32 {
    10
}

#[test]
fn the_schema_comes_from_the_parameters_and_their_comments() {
    assert_json_snapshot!(*spec(FindWords).input_schema, @r#"
    {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "words": {
          "type": "array",
          "items": {
            "type": "string"
          },
          "description": "The words to find,\nat least one."
        },
        "in": {
          "type": "string",
          "description": "The text to search."
        },
        "compare": {
          "type": "string",
          "enum": [
            "exactly",
            "any_case"
          ],
          "description": "How letters are compared. Default: exactly."
        },
        "limit": {
          "type": "integer",
          "minimum": 1,
          "description": "Most places to return, 1–100.",
          "maximum": 100,
          "default": 10
        }
      },
      "required": [
        "words",
        "in"
      ]
    }
    "#);
}

#[test]
fn the_words_and_examples_come_from_the_comment_of_the_function() {
    let manual = spec(FindWords).manual;
    assert_snapshot!(manual.words, @r#"
    Finds words in a text.

    Returns the places:
      - first to last

    ```json
    {"words": ["a"], "in": "abc"}
    ```
    → 0
    "#);
    assert_eq!(manual.title, "Find words");
    assert_eq!(manual.examples.len(), 1);
    assert_eq!(manual.examples[0].contains.as_deref(), Some("0"));
}

/// Tells the time.
#[haft_contract::tool(name = "what-time", title = "Tell the time")]
async fn time() -> &'static str {
    "noon"
}

#[test]
fn name_and_title_can_be_given() {
    let spec = spec(Time);
    assert_eq!((spec.name.as_str(), spec.manual.title.as_str()), ("what-time", "Tell the time"));
}

#[test]
fn a_tool_without_parameters_takes_an_empty_object() {
    assert_json_snapshot!(*spec(Time).input_schema, @r#"
    {
      "type": "object",
      "additionalProperties": false,
      "properties": {}
    }
    "#);
}

#[haft_contract::tool(words = "area.md")]
async fn area(
    /// Width in metres.
    width: f64,
    /// Height in metres.
    height: f64,
) -> f64 {
    width * height
}

#[test]
fn the_words_can_come_from_a_file_beside_the_source() {
    let manual = spec(Area).manual;
    assert_eq!(manual.title, "Area of a rectangle");
    assert_eq!(manual.words, "Multiplies width and height.");
}

/// Is called what Rust calls a keyword.
#[haft_contract::tool]
async fn r#match(
    /// What to match.
    r#type: String,
) -> String {
    r#type
}

#[test]
fn raw_identifiers_lose_their_prefix() {
    let spec = spec(Match);
    assert_eq!(spec.name, "match");
    assert!(spec.input_schema["properties"]["type"].is_object());
}
