//! The keys of the attribute, and the advice for one that does not exist.

use syn::Ident;

/// All keys, in the order of the documentation.
const KEYS: [&str; 9] = ["name", "title", "words", "reads", "reads_tree", "changes", "runs", "connects", "session"];

/// A key that says what happens with a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EffectKey {
    /// Reads the file at a path.
    Reads,
    /// Reads a folder and all below it.
    ReadsTree,
    /// Creates or replaces the file at a path.
    Changes,
    /// Runs a command line.
    Runs,
    /// Connects to a host.
    Connects,
}

impl EffectKey {
    /// Finds the key with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let all = [Self::Reads, Self::ReadsTree, Self::Changes, Self::Runs, Self::Connects];
        all.into_iter().find(|key| key.name() == name)
    }

    /// Returns the key as it is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::ReadsTree => "reads_tree",
            Self::Changes => "changes",
            Self::Runs => "runs",
            Self::Connects => "connects",
        }
    }
}

/// Says that there is no such key, which one was probably meant, and which there are.
pub(crate) fn unknown(key: &Ident) -> syn::Error {
    let written = key.to_string();
    let meant = match nearest(&written) {
        Some(known) => format!("; did you mean `{known}`?"),
        None if written == "description" => "; write the doc comment of the function instead.".to_owned(),
        None => ".".to_owned(),
    };
    let keys = KEYS.map(|key| format!("`{key}`")).join(", ");
    syn::Error::new(key.span(), format!("there is no key `{written}`{meant} The keys are {keys}"))
}

fn nearest(written: &str) -> Option<&'static str> {
    // What other libraries call it, which no distance of letters would find.
    if matches!(written, "write" | "writes") {
        return Some("changes");
    }
    let (known, edits) = KEYS.map(|key| (key, distance(written, key))).into_iter().min_by_key(|(_, edits)| *edits)?;
    (edits <= 2).then_some(known)
}

/// Counts the letters to add, drop or replace.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_with_a_slip_is_recognised() {
        assert_eq!(nearest("read"), Some("reads"));
        assert_eq!(nearest("chages"), Some("changes"));
        assert_eq!(nearest("readstree"), Some("reads_tree"));
        assert_eq!(nearest("writes"), Some("changes"));
    }

    #[test]
    fn a_key_that_resembles_none_gets_no_guess() {
        assert_eq!(nearest("destructive"), None);
    }
}
