//! Reads the header `WWW-Authenticate` of a server that refuses a request because it needs a login.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Longest value that is looked at.
const LONGEST: usize = 8 * 1024;
/// Most rights of one list.
const MOST_SCOPES: usize = 100;

/// A refusal, as far as a login needs it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Challenge {
    /// Where the server describes how to log in.
    #[serde(default)]
    pub(crate) resource_metadata: Option<String>,
    /// The rights that the request needs.
    #[serde(default)]
    pub(crate) scopes: BTreeSet<String>,
    /// The code of the error, if the server names one.
    #[serde(default)]
    pub(crate) error: Option<String>,
}

impl Challenge {
    /// Reads the header; one that cannot be read says nothing.
    pub(crate) fn read(header: Option<&str>) -> Self {
        let text = header.filter(|text| text.len() <= LONGEST).unwrap_or_default();
        let mut challenge = Self::default();
        for (name, value) in parameters(text) {
            match name.to_ascii_lowercase().as_str() {
                "resource_metadata" => challenge.resource_metadata = Some(value),
                "scope" => challenge.scopes = scopes_of(&value),
                "error" => challenge.error = Some(value),
                _ => {}
            }
        }
        challenge
    }

    /// Returns whether the login is good and lacks rights.
    pub(crate) fn wants_more_rights(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

/// Reads a list of rights. A right has only characters that a request can carry.
pub(super) fn scopes_of(text: &str) -> BTreeSet<String> {
    let is_right = |scope: &&str| scope.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
    text.split(' ').filter(|scope| !scope.is_empty()).filter(is_right).take(MOST_SCOPES).map(str::to_owned).collect()
}

/// Finds `name=value` and `name="value"` of the first challenge of the scheme `Bearer`.
fn parameters(text: &str) -> Vec<(String, String)> {
    let Some(start) = text.to_ascii_lowercase().find("bearer") else { return Vec::new() };
    let mut rest = text[start + "bearer".len()..].trim_start();
    let mut found = Vec::new();
    while let Some((name, behind)) = rest.split_once('=') {
        let name = name.trim_matches([' ', ',', '\t']);
        if name.is_empty() || name.contains(' ') {
            // Another scheme begins here.
            break;
        }
        let (value, left) = value_of(behind.trim_start());
        found.push((name.to_owned(), value));
        rest = left.trim_start_matches([' ', ',', '\t']);
    }
    found
}

fn value_of(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let (mut value, mut is_escaped) = (String::new(), false);
    for (at, letter) in quoted.char_indices() {
        match (is_escaped, letter) {
            (false, '\\') => is_escaped = true,
            (false, '"') => return (value, &quoted[at + 1..]),
            (_, letter) => {
                value.push(letter);
                is_escaped = false;
            }
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_of_the_scheme_are_read_whatever_stands_around_them() {
        let read = |text: &str| Challenge::read(Some(text));
        let challenge = read(
            r#"Basic realm="x", Bearer error="insufficient_scope", scope="a b", resource_metadata="https://h/x", error_description="say \"please\", now""#,
        );
        assert_eq!(challenge.resource_metadata.as_deref(), Some("https://h/x"));
        assert_eq!(challenge.scopes.iter().map(String::as_str).collect::<Vec<_>>(), ["a", "b"]);
        assert!(challenge.wants_more_rights());
        assert_eq!(read("bearer scope=a,error=invalid_token").error.as_deref(), Some("invalid_token"));
        assert_eq!(read("Bearer"), Challenge::default());
        assert_eq!(read(r#"Bearer scope="a", Digest realm="x""#).scopes.len(), 1);
    }

    #[test]
    fn what_is_no_right_is_no_right() {
        assert_eq!(scopes_of("a  b\u{1b} \"c\" d").into_iter().collect::<Vec<_>>(), ["a", "d"]);
        assert_eq!(Challenge::read(Some(&"x".repeat(9_000))), Challenge::default());
    }
}
