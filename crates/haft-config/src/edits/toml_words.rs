//! Translates the messages of the TOML parser into haft's words.
//!
//! The parser names its grammar ("invalid basic string"); a person needs the problem and the fix.

/// How the parser's messages begin, what is wrong then, and what to do.
const MESSAGES: [(&str, &str, &str); 13] = [
    ("unclosed array table", "this section name is not closed", "add `]]`"),
    ("unclosed array", "this list is not closed", "add `]`"),
    ("unclosed table", "this section name is not closed", "add `]`"),
    ("unclosed inline table", "this table is not closed", "add `}`"),
    ("string values must be quoted", "this value is missing, or is text without quotes", "write key = \"value\""),
    ("key with no value", "this key has no value", "write key = value"),
    ("invalid basic string", "this text in quotes is not valid", "close it with `\"`, and write `\\` as `\\\\`"),
    ("invalid literal string", "this text in quotes is not valid", "close it with `'`"),
    ("duplicate key", "this key is set twice", "remove one of the two"),
    ("unquoted keys cannot be empty", "this line has no key", "write key = value"),
    ("invalid key-value pair", "this line does not set a key", "write key = value, or remove the line"),
    ("wanted string or table", "this value has the wrong type", "write text in quotes"),
    ("invalid type: map", "this section is not a single value", "write key = value"),
];

/// Splits the parser's message into what is wrong and what to do.
pub(crate) fn explain(message: &str) -> (String, String) {
    let message = message.trim().replace('\n', " ");
    if let Some((_, problem, fix)) = MESSAGES.iter().find(|(begin, ..)| message.starts_with(begin)) {
        return ((*problem).to_owned(), (*fix).to_owned());
    }
    if let Some(missing) = message.strip_prefix("missing field ") {
        return (format!("{missing} is missing"), "add it".to_owned());
    }
    let Some((problem, expected)) = message.split_once(", expected ") else {
        return (message, "fix or remove this line".to_owned());
    };
    if let Some(value) = problem.strip_prefix("invalid type: ") {
        return (format!("this value has the wrong type: {value}"), format!("use {}", in_words(expected)));
    }
    let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let wrong = problem.split('`').nth(1).unwrap_or_default();
    match haft_contract::text::closest::closest(wrong, known.iter().copied()) {
        Some(near) => (problem.to_owned(), format!("did you mean `{near}`?")),
        None => (problem.to_owned(), format!("use {}", in_words(expected))),
    }
}

/// Says which type is meant, for people.
fn in_words(expected: &str) -> &str {
    match expected {
        "f64" | "f32" => "a number",
        "u64" | "u32" | "u16" | "u8" | "usize" | "i64" | "i32" => "a whole number",
        "a boolean" => "true or false",
        "a string" => "text in quotes",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_of_grammar_is_said_in_words_with_a_fix() {
        let told = |text: &str| {
            let error = toml::from_str::<toml::Table>(text).expect_err("there is a mistake");
            let (problem, fix) = explain(error.message());
            format!("{problem}; {fix}")
        };
        for (text, expected) in [
            ("a = [", "this list is not closed; add `]`"),
            ("[a", "this section name is not closed; add `]`"),
            ("a =", "this value is missing, or is text without quotes; write key = \"value\""),
            ("a = b", "this value is missing, or is text without quotes; write key = \"value\""),
            ("a", "this key has no value; write key = value"),
            ("a = \"b", "this text in quotes is not valid; close it with `\"`, and write `\\` as `\\\\`"),
            ("a = 1\na = 2", "this key is set twice; remove one of the two"),
            ("= 1", "this line has no key; write key = value"),
            ("}", "this line does not set a key; write key = value, or remove the line"),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
        let typed = toml::from_str::<std::collections::BTreeMap<String, bool>>("a = 1").expect_err("it is a number");
        let told = explain(typed.message());
        assert_eq!(told, ("this value has the wrong type: integer `1`".to_owned(), "use true or false".to_owned()));
    }
}
