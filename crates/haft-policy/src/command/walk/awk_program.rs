//! The program of awk as a whole: its texts are one program, and words of the command set its variables.

use super::super::act::{Inner, Language};
use super::super::programs::reading::assignment;
use super::super::value::Value;

/// Returns what is run, with the texts for awk as one text that begins with the assignments among the words.
pub(super) fn whole(inner: Vec<Inner>, words: &[Value]) -> Vec<Inner> {
    let is_program = |inner: &Inner| matches!(inner, Inner::Text(Language::Awk, _));
    if !inner.iter().any(is_program) {
        return inner;
    }
    let (texts, mut others): (Vec<Inner>, Vec<Inner>) = inner.into_iter().partition(is_program);
    let mut program = Value::text(words.iter().filter_map(assigned).collect::<String>());
    for text in texts {
        if let Inner::Text(_, text) = text {
            program.append(&text);
            program.append(&Value::text("\n"));
        }
    }
    others.push(Inner::Text(Language::Awk, program));
    others
}

/// Writes a word that sets a variable, `c=x` or `-vc=x`, as awk would. A value that is not known is some field.
fn assigned(word: &Value) -> Option<String> {
    let attached = ["-v", "--assign="].iter().find_map(|flag| word.strip_prefix(flag));
    let (name, value) = assignment(&attached.unwrap_or_else(|| word.clone()))?;
    let value = match value.known() {
        Some(text) => format!("\"{}\"", text.replace('"', "\\\"").replace('\n', "\\n")),
        None if value.is_empty() => "\"\"".to_owned(),
        None => "$0".to_owned(),
    };
    Some(format!("BEGIN {{ {name} = {value} }}\n"))
}
