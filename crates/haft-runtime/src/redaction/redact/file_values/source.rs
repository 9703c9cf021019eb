//! Finds values in source code: texts that are assigned to names which mark them as secret.
//!
//! haft shows the rest of such a file unchanged.

use haft_contract::files::guarded::is_secret_variable;

use super::markup::NamedValue;
use super::readings::{decoded, readings};

/// Returns the values in a text of source code.
pub(super) fn values(text: &str) -> Vec<NamedValue> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let next = &lines[index + 1..];
        for (at, quote) in line.char_indices().filter(|(_, letter)| matches!(letter, '"' | '\'' | '`')) {
            let Some(name) = name_before(&line[..at]).filter(|name| is_secret_variable(name)) else { continue };
            let is_triple = line[at..].starts_with(&quote.to_string().repeat(3));
            let texts = readings(&line[at..], if is_triple { next } else { &[] });
            let texts = texts.into_iter().flat_map(|text| std::iter::once(text.clone()).chain(decoded(&text)));
            found.extend(texts.map(|text| (name.to_owned(), text)));
        }
    }
    found
}

/// Returns the name that a text is assigned to, by what stands before it: `name = `, `"name": `, `name => `,
/// `define("name", `, `#define name `.
fn name_before(before: &str) -> Option<&str> {
    let before = before.trim_end();
    // The text may have a mark of its kind: `b"…"`, `@"…"`.
    let before = before
        .strip_suffix(['b', 'r', 'f', 'u', 'L', '@', '$'])
        .filter(|before| before.ends_with(' '))
        .unwrap_or(before);
    let before = before.trim_end();
    let is_defined = before.trim_start().starts_with("#define ");
    let assigned =
        before.strip_suffix("=>").or_else(|| before.strip_suffix(":=")).or_else(|| before.strip_suffix(['=', ':']));
    let call = before.strip_suffix(',').filter(|before| before.contains("define(") || before.contains("putenv("));
    let before = assigned.or(call).or(is_defined.then_some(before))?;
    // No comparison, and no type between a name and its text.
    let before = before.strip_suffix(['=', '!', '<', '>']).map_or(before, |_| "");
    let before = match before.rsplit_once(": ") {
        Some((name, kind)) if kind.trim().chars().all(|letter| letter.is_alphanumeric() || "&'. ".contains(letter)) => {
            name
        }
        _ => before,
    };
    let quoted = before.trim_end().trim_end_matches(['"', '\'', '`', ']', ' ']);
    let start = quoted
        .rfind(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '-')))
        .map_or(0, |at| at + quoted[at..].chars().next().map_or(1, char::len_utf8));
    Some(&quoted[start..]).filter(|name| !name.is_empty())
}
