//! Reads the other shapes in which models write a command.

use haft_contract::description::shape::{ArgumentLookup, ArgumentShape, Meaning, MeantArguments};
use serde_json::{Value, json};

use crate::catalogue::shapes::texts;

const VARIABLES: &str = "write variables before the command: NAME=value command";
const NEW_SHELL: &str = "each call is a new shell already: send the \"command\"";

/// What models write instead of `command`, and what commands cannot do here.
pub(super) const SHAPES: &[ArgumentShape] = &[
    ArgumentShape::new("args", Meaning::Code(with_arguments)),
    ArgumentShape::new("argv", Meaning::Code(words)),
    ArgumentShape::new("command", Meaning::Code(words)),
    ArgumentShape::new("command", Meaning::Glob(words)),
    ArgumentShape::new("cmd", Meaning::Code(words)),
    ArgumentShape::new("restart", Meaning::Anyway(&["false"])),
    ArgumentShape::new("restart", Meaning::Without(NEW_SHELL)),
    ArgumentShape::new("env", Meaning::Anyway(&["{}"])),
    ArgumentShape::new("env", Meaning::Instead(VARIABLES)),
];

/// Words that mean something to a shell, and nothing to a program.
const OPERATORS: [&str; 12] = ["|", "||", "&&", "&", ";", ">", ">>", "<", "<<", "2>&1", "2>", "|&"];

/// Reads the words of a command as a command line.
fn words(value: &Value, _: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    let words = texts(value)?;
    let line = match words[..] {
        [line] => line.to_owned(),
        // A first word with blanks is already a command line, and it is unclear how the other words belong to it.
        [program, ..] if program.contains(char::is_whitespace) => return None,
        _ if words.iter().any(|word| OPERATORS.contains(word)) => return None,
        _ => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    };
    Some(vec![("command", json!(line))])
}

/// Reads a program and the list of its arguments as a command line.
fn with_arguments(value: &Value, given: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    let (name, program) = given.first_of(&["command", "cmd"])?;
    let program = program.as_str().filter(|program| !program.contains(char::is_whitespace))?;
    let mut list = vec![program];
    match value {
        Value::Array(items) if items.is_empty() => {}
        _ => list.extend(texts(value)?),
    }
    let line = list.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    // The program goes first: it is given otherwise.
    Some(vec![(name, Value::Null), ("command", json!(line))])
}

/// Writes a word as a shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,@%+".contains(c);
    match word {
        "" => "''".to_owned(),
        word if word.chars().all(is_plain) => word.to_owned(),
        word => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_a_line_that_a_shell_reads_back() {
        let read = |value: Value| words(&value, &ArgumentLookup(&serde_json::Map::new())).map(|set| set[0].1.clone());
        assert_eq!(read(json!(["ls", "-la"])), Some(json!("ls -la")));
        assert_eq!(read(json!(["grep", "it's", "*.rs", ""])), Some(json!(r"grep 'it'\''s' '*.rs' ''")));
        assert_eq!(read(json!(["bash", "-lc", "ls | wc"])), Some(json!("bash -lc 'ls | wc'")));
        assert_eq!(read(json!(["ls -la | wc"])), Some(json!("ls -la | wc")));
        for two_meanings in [json!(["cd src", "ls"]), json!(["ls", "|", "wc"]), json!([]), json!([1]), json!("ls")] {
            assert_eq!(read(two_meanings.clone()), None, "{two_meanings}");
        }
    }
}
