//! Expands values as a shell or a reader of `.env` files would, where a dollar sign begins the name of a variable.
//!
//! `PASSWORD="k93$hq7dana81"` becomes `k93` if no variable of that name exists. Programs know other variables than haft.
//! So haft tries two cases: the variables that the file itself has set before, and no variables.
//!
//! Not here: `$$` as an escaped dollar sign (`readings`).

use std::collections::HashMap;

/// Longest value that is read so, in bytes.
const LONGEST: usize = 8 * 1024;

/// A value with references to variables: the texts before, between and behind them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Expansion {
    pub(super) texts: Vec<String>,
    references: Vec<Reference>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Reference {
    name: String,
    /// What stands for a variable that is not set.
    default: String,
}

impl Expansion {
    /// Reads a value; nothing if it has no references.
    pub(super) fn of(value: &str) -> Option<Self> {
        if !value.contains(['$', '`']) || value.len() > LONGEST {
            return None;
        }
        let mut expansion = Self::default();
        let (mut text, mut rest) = (String::new(), value);
        while let Some(letter) = rest.chars().next() {
            let after = &rest[letter.len_utf8()..];
            let found = match letter {
                '\\' => {
                    let escaped = after.chars().next().map_or(0, char::len_utf8);
                    text.push_str(&rest[..1 + escaped]);
                    rest = &after[escaped..];
                    continue;
                }
                '$' => reference(after),
                '`' => after.split_once('`').map(|(_, rest)| (Reference::default(), rest)),
                _ => None,
            };
            match found {
                Some((reference, behind)) => {
                    expansion.references.push(reference);
                    expansion.texts.push(std::mem::take(&mut text));
                    rest = behind;
                }
                None => {
                    text.push(letter);
                    rest = after;
                }
            }
        }
        expansion.texts.push(text);
        (!expansion.references.is_empty()).then_some(expansion)
    }

    /// Returns the value where no variable is set, and where those of the file are.
    pub(super) fn values(&self, known: &HashMap<String, String>) -> [String; 2] {
        let of_file = |reference: &Reference| known.get(&reference.name).unwrap_or(&reference.default).clone();
        [self.filled(|reference| reference.default.clone()), self.filled(of_file)]
    }

    fn filled(&self, value: impl Fn(&Reference) -> String) -> String {
        let mut values = self.references.iter().map(value);
        let filled = self.texts.iter().map(|text| format!("{text}{}", values.next().unwrap_or_default()));
        filled.collect()
    }
}

/// Reads what stands behind a dollar sign; returns the rest too.
fn reference(after: &str) -> Option<(Reference, &str)> {
    let named = |name: &str, default: &str| Reference { name: name.to_owned(), default: default.to_owned() };
    if let Some(inner) = after.strip_prefix('{') {
        let (inner, rest) = inner.split_once('}')?;
        let (name, operation) = inner.split_at(length_of_name(inner));
        let default = operation.trim_start_matches(':').strip_prefix(['-', '=']);
        return Some((named(name, default.unwrap_or_default()), rest));
    }
    if let Some(inner) = after.strip_prefix('(') {
        let mut depth = 1_usize;
        let end = inner.char_indices().find(|(_, letter)| {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        return end.map(|(end, _)| (Reference::default(), &inner[end + 1..]));
    }
    let length = length_of_name(after);
    // One digit or sign is a name too: `$1`, `$$`.
    let is_single = after.starts_with(|first: char| first.is_ascii_digit() || "@*#?$!-".contains(first));
    let length = if length == 0 && is_single { 1 } else { length };
    (length > 0).then(|| (named(&after[..length], ""), &after[length..]))
}

fn length_of_name(text: &str) -> usize {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let starts = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    if starts { text.find(|letter| !is_letter(letter)).unwrap_or(text.len()) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(value: &str) -> Option<[String; 2]> {
        let known = HashMap::from([("HOST".to_owned(), "db.example".to_owned())]);
        Expansion::of(value).map(|expansion| expansion.values(&known))
    }

    #[test]
    fn a_reference_becomes_nothing_or_what_the_file_says() {
        for (value, unset, known) in [
            ("k93$hq7dana81", "k93", "k93"),
            ("a${HOST}b", "ab", "adb.exampleb"),
            ("a$HOST:5432", "a:5432", "adb.example:5432"),
            ("x${MISSING:-fallback}y", "xfallbacky", "xfallbacky"),
            ("x${HOST-other}y", "xothery", "xdb.exampley"),
            ("a$1b$?c$$d", "abcd", "abcd"),
            ("a$(date +%s $(id))b`id`c", "abc", "abc"),
            ("a\\$b$c", "a\\$b", "a\\$b"),
        ] {
            assert_eq!(values(value), Some([unset.to_owned(), known.to_owned()]), "{value}");
        }
    }

    #[test]
    fn a_dollar_sign_alone_is_no_reference() {
        for value in ["5$", "a$ b", "a$.b", "${open", "$(open", "a\\$b", "`open", "plain"] {
            assert_eq!(values(value), None, "{value}");
        }
    }
}
