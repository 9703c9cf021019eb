//! Keeps the receipt: which keyword was lost where, and what the description says instead.
//!
//! A lost `minLength` still matters to a model that wants its call to be accepted, so haft writes readable keywords
//! into the description. The receipt lists everything that did not arrive as a keyword.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::Loss;

/// Keywords that are worth words in the description; `{}` stands for their value.
const SAID: [(&str, &str); 17] = [
    ("default", "default {}"),
    ("pattern", "matches {}"),
    ("format", "format {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minimum", "at least {}"),
    ("maximum", "at most {}"),
    ("exclusiveMinimum", "more than {}"),
    ("exclusiveMaximum", "less than {}"),
    ("multipleOf", "a multiple of {}"),
    ("minItems", "at least {} items"),
    ("maxItems", "at most {} items"),
    ("uniqueItems", "no item twice"),
    ("minProperties", "at least {} properties"),
    ("maxProperties", "at most {} properties"),
    ("const", "always {}"),
    ("examples", "for example {}"),
];
/// Keywords that say nothing when they are false.
const SWITCHES: [&str; 4] = ["uniqueItems", "deprecated", "readOnly", "writeOnly"];
/// The longest value that is put into words.
const LONGEST_WORDS: usize = 160;
/// The longest list of values that is put into words, in characters.
const LONGEST_VALUES: usize = 600;

/// Collects losses while one schema is lowered.
#[derive(Clone, Debug, Default)]
pub(super) struct Receipt {
    losses: Vec<Loss>,
    noted: HashSet<Loss>,
}

impl Receipt {
    /// Notes that `keyword` at `at` was lost.
    pub(super) fn lose(&mut self, at: &str, keyword: &str, why: &str) {
        let loss = Loss { path: at.to_owned(), keyword: keyword.to_owned(), why: why.to_owned() };
        if self.noted.insert(loss.clone()) {
            self.losses.push(loss);
        }
    }

    /// Returns what was lost, in the order it was met.
    pub(super) fn into_losses(self) -> Vec<Loss> {
        self.losses
    }

    /// Removes every keyword that is not in `allowed`, with a note each.
    pub(super) fn keep(&mut self, schema: &mut Map<String, Value>, allowed: &[&str], at: &str) {
        let dropped: Vec<String> = schema.keys().filter(|key| !allowed.contains(&key.as_str())).cloned().collect();
        for keyword in dropped {
            self.drop_keyword(schema, &keyword, at);
        }
    }

    /// Removes a list of values that contradicts the type beside it, with a note, and says the values in the description.
    pub(super) fn say_values(&mut self, schema: &mut Map<String, Value>, keyword: &str, at: &str) {
        let values = match schema.shift_remove(keyword) {
            Some(Value::Array(values)) if keyword == "enum" => values,
            Some(value) => vec![value],
            None => return,
        };
        let mut words: String = values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        if let Some((end, _)) = words.char_indices().nth(LONGEST_VALUES) {
            words.truncate(end);
            words.push('…');
        }
        say(schema, &format!("(one of {words})"));
        self.lose(at, keyword, "contradicts the type; the description says it");
    }

    /// Removes a default that contradicts the type beside it, with a note, and says it in the description.
    pub(super) fn say_default(&mut self, schema: &mut Map<String, Value>, at: &str) {
        if let Some(value) = schema.shift_remove("default") {
            say(schema, &format!("(default: {value})"));
            self.lose(at, "default", "contradicts the type; the description says it");
        }
    }

    /// Removes one keyword, with a note, and says it in the description where that helps.
    pub(super) fn drop_keyword(&mut self, schema: &mut Map<String, Value>, keyword: &str, at: &str) {
        let Some(value) = schema.shift_remove(keyword) else {
            return;
        };
        if keyword == "title" || value == Value::Bool(false) && SWITCHES.contains(&keyword) {
            return;
        }
        let said = SAID.iter().find(|(name, _)| *name == keyword);
        let text = value.to_string();
        match said {
            Some((_, words)) if text.len() <= LONGEST_WORDS && !value.is_null() => {
                say(schema, &format!("({})", words.replace("{}", &text)));
                self.lose(at, keyword, "is not accepted here; the description says it");
            }
            _ => self.lose(at, keyword, "is not accepted here"),
        }
    }
}

/// Adds `words` to the description of a schema.
pub(super) fn say(schema: &mut Map<String, Value>, words: &str) {
    let text = match schema.get("description").and_then(Value::as_str) {
        Some(said) if !said.is_empty() => format!("{said} {words}"),
        _ => words.to_owned(),
    };
    schema.insert("description".to_owned(), Value::String(text));
}

/// Returns the JSON pointer of a member.
pub(super) fn inside(at: &str, key: &str) -> String {
    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Returns how a place is named in a sentence.
pub(super) fn place(at: &str) -> &str {
    if at.is_empty() { "the root" } else { at }
}
