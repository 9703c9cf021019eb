//! Finds `~` and `~user` in words: at the beginning, and in values after `=` and `:`.
//!
//! The shell does this after it expands braces: `{~,x}/y` contains a home. A quote or a substitution anywhere before the
//! next slash makes the tilde plain text.

use crate::syntax::{ParameterExpansion, Quoting, WordPart};

/// Finds the tildes of a word, which may look like an assignment.
pub(crate) fn find(parts: Vec<WordPart>) -> Vec<WordPart> {
    match parts.first() {
        Some(WordPart::Text(text, Quoting::Bare)) if text.starts_with('~') => replace(parts, |index, _| match index {
            0 => vec![0],
            _ => Vec::new(),
        }),
        Some(WordPart::Text(text, Quoting::Bare)) => match value_start(text) {
            Some(start) => {
                replace(parts, |index, text| value_starts(text, if index == 0 { Some(start) } else { None }))
            }
            None => parts,
        },
        _ => parts,
    }
}

/// Finds the tildes of the value of an assignment.
pub(crate) fn find_in_value(parts: Vec<WordPart>) -> Vec<WordPart> {
    replace(parts, |index, text| value_starts(text, if index == 0 { Some(0) } else { None }))
}

/// Returns where the value begins in a word that looks like an assignment.
fn value_start(text: &str) -> Option<usize> {
    let (name, _) = text.split_once('=')?;
    let bare = name.strip_suffix('+').unwrap_or(name);
    let is_name = !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (is_name && !bare.starts_with(|first: char| first.is_ascii_digit())).then_some(name.len() + 1)
}

/// Returns where tildes count in a value: at its beginning and behind colons.
fn value_starts(text: &str, beginning: Option<usize>) -> Vec<usize> {
    let from = beginning.unwrap_or_default();
    let behind_colons = text.match_indices(':').map(|(at, _)| at + 1).filter(|at| *at > from);
    beginning.into_iter().chain(behind_colons).collect()
}

/// Puts homes in the place of the tildes that stand at the places which are named for each bare text.
fn replace(parts: Vec<WordPart>, starts: impl Fn(usize, &str) -> Vec<usize>) -> Vec<WordPart> {
    let last = parts.len().saturating_sub(1);
    let mut found = Vec::new();
    for (index, part) in parts.into_iter().enumerate() {
        let WordPart::Text(text, Quoting::Bare) = &part else {
            found.push(part);
            continue;
        };
        let mut done = 0;
        for start in starts(index, text) {
            let Some((home, end)) = home_at(text, start) else { continue };
            if end == text.len() && index != last {
                continue;
            }
            found.extend(bare(text.get(done..start)));
            found.push(home);
            done = end;
        }
        if done == 0 {
            found.push(part);
        } else {
            found.extend(bare(text.get(done..)));
        }
    }
    found
}

fn bare(text: Option<&str>) -> Option<WordPart> {
    text.filter(|text| !text.is_empty()).map(|text| WordPart::Text(text.to_owned(), Quoting::Bare))
}

/// `~1`, `~+1`, `~-0`.
fn is_place_on_stack(name: &str) -> bool {
    let number = name.strip_prefix(['+', '-']).unwrap_or(name);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the home that a tilde stands for, and where its name ends.
fn home_at(text: &str, start: usize) -> Option<(WordPart, usize)> {
    let rest = text.get(start..)?.strip_prefix('~')?;
    let name = rest.split(['/', ':']).next().unwrap_or_default();
    let end = start + 1 + name.len();
    let folder = |name: &str| {
        let parameter = ParameterExpansion::plain(name);
        WordPart::Parameter(parameter, Quoting::Quoted)
    };
    let home = match name {
        "+" => folder("PWD"),
        "-" => folder("OLDPWD"),
        _ if is_place_on_stack(name) => WordPart::Stacked(name.to_owned()),
        _ if name.chars().all(|next| next.is_alphanumeric() || "_.-".contains(next)) => WordPart::Home(name.to_owned()),
        _ => return None,
    };
    Some((home, end))
}
