//! The whole program of an awk call: its texts form one program, and words of the command set its variables.

use crate::act::{CodeLanguage, NestedRun};
use crate::programs::reading::assignment;
use crate::value::ShellValue;

/// Returns what is run, with the texts for awk as one text that begins with the assignments among the words.
pub(crate) fn whole(inner: Vec<NestedRun>, words: &[ShellValue]) -> Vec<NestedRun> {
    let is_program = |inner: &NestedRun| matches!(inner, NestedRun::Text(CodeLanguage::Awk, _));
    if !inner.iter().any(is_program) {
        return inner;
    }
    let (texts, mut others): (Vec<NestedRun>, Vec<NestedRun>) = inner.into_iter().partition(is_program);
    let mut program = ShellValue::text(words.iter().filter_map(assigned).collect::<String>());
    for text in texts {
        if let NestedRun::Text(_, text) = text {
            program.append(&text);
            program.append(&ShellValue::text("\n"));
        }
    }
    others.push(NestedRun::Text(CodeLanguage::Awk, program));
    others
}

/// Writes a word that sets a variable, `c=x` or `-vc=x`, as awk would. A value that is not known is some field.
fn assigned(word: &ShellValue) -> Option<String> {
    let attached = ["-v", "--assign="].iter().find_map(|flag| word.strip_prefix(flag));
    let (name, value) = assignment(&attached.unwrap_or_else(|| word.clone()))?;
    let value = match value.known() {
        Some(text) => format!("\"{}\"", text.replace('"', "\\\"").replace('\n', "\\n")),
        None if value.is_empty() => "\"\"".to_owned(),
        None => "$0".to_owned(),
    };
    Some(format!("BEGIN {{ {name} = {value} }}\n"))
}
