//! Finds the values inside a value: items of a one-line list, defaults in a template, a token behind its scheme.
//!
//! Not here: names and values inside a value (`named_parts`).

/// Schemes that stand before a token.
const SCHEMES: &[&str] = &["Bearer ", "bearer ", "Basic ", "Token "];
/// Tags that stand before a value.
const TAGS: &[&str] = &["!!str ", "!!binary "];

/// Returns the token behind the scheme of a header.
pub(super) fn behind_scheme(value: &str) -> Option<&str> {
    let token = SCHEMES.iter().find_map(|scheme| value.strip_prefix(scheme))?.trim();
    (!token.contains(char::is_whitespace)).then_some(token)
}

/// Returns the values inside of a value.
pub(super) fn of(value: &str) -> Vec<&str> {
    if let Some(rest) = TAGS.iter().find_map(|tag| value.strip_prefix(tag)) {
        return vec![rest.trim()];
    }
    match value {
        _ if value.starts_with('[') => items(value),
        _ if value.starts_with("<%") || value.starts_with("{{") => quoted(value),
        _ => Vec::new(),
    }
}

/// Returns the items of a list in one line.
fn items(list: &str) -> Vec<&str> {
    let inner = list.trim_start_matches('[').trim_end().trim_end_matches(']');
    // An item may have commas of its own.
    let mut items = quoted(list);
    items.extend(inner.split(',').map(|item| item.trim().trim_matches(['"', '\''])));
    items.retain(|item| !item.is_empty() && item.len() < list.len());
    items
}

/// Returns the texts in quotes.
fn quoted(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'']) {
        let (quote, inner) = (&rest[at..=at], &rest[at + 1..]);
        let Some(end) = inner.find(quote) else { break };
        found.push(&inner[..end]);
        rest = &inner[end + 1..];
    }
    found
}

/// Returns the value that stands for a variable which is not set: `${NAME:-value}` of shells, `${NAME:value}` of frameworks.
pub(super) fn default_of_variable(value: &str) -> Option<&str> {
    let inner = value.strip_prefix("${")?.strip_suffix('}')?;
    let name = inner.find(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '_' | '.')))?;
    let default = inner[name..].trim_start_matches(':').trim_start_matches(['-', '=', '+', '?']);
    let default = default.trim().trim_matches(['"', '\'']);
    (!default.is_empty()).then_some(default)
}

/// Returns a text with `%40` and the like carried out.
pub(super) fn without_percents(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
