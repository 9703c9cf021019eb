//! Shell patterns made of `*`, `?` and letters.

use crate::value::{ShellValue, ValuePiece};

/// Returns whether a pattern of `*`, `?` and letters fits the whole text.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    // Each variable of the environment is compared with lists of names, so what differs in its first letters costs nothing.
    let Some(letters) = pattern.find(['*', '?']) else { return pattern == text };
    if !text.starts_with(&pattern[..letters]) {
        return false;
    }
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut in_text, mut star) = (0, 0, None);
    while in_text < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_text));
                at += 1;
            }
            Some(letter) if *letter == '?' || *letter == text[in_text] => {
                at += 1;
                in_text += 1;
            }
            _ => {
                let Some((star_at, taken)) = star else { return false };
                star = Some((star_at, taken + 1));
                at = star_at + 1;
                in_text = taken + 1;
            }
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

/// Returns for every number of letters whether the pattern fits a beginning of that length.
pub(crate) fn beginnings(pattern: &[char], text: &[char]) -> Vec<bool> {
    let mut fitting = vec![false; text.len() + 1];
    fitting[0] = true;
    for letter in pattern {
        if *letter == '*' {
            let first = fitting.iter().position(|fits| *fits).unwrap_or(fitting.len());
            fitting[first..].fill(true);
            continue;
        }
        for at in (1..fitting.len()).rev() {
            fitting[at] = fitting[at - 1] && (*letter == '?' || *letter == text[at - 1]);
        }
        fitting[0] = false;
    }
    fitting
}

/// Returns a pattern as a value: what is not letters is a gap for a name.
pub(crate) fn as_value(pattern: &str) -> ShellValue {
    let mut value = ShellValue::default();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        value.push(match letter {
            '*' | '?' => ValuePiece::Glob,
            '[' if letters.as_str().contains(']') => {
                // A bracket that comes first is one of the letters.
                let inside = letters.as_str().trim_start_matches(['!', '^']);
                let rest = inside.get(1..).and_then(|inside| inside.split_once(']')).map_or("", |(_, rest)| rest);
                letters = rest.chars();
                ValuePiece::Glob
            }
            '\\' => ValuePiece::Text(letters.next().map(String::from).unwrap_or_default()),
            letter => ValuePiece::Text(letter.to_string()),
        });
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_becomes_a_value_with_gaps_for_names() {
        let check = |pattern: &str| as_value(pattern).shown();

        assert_eq!(check("*.o"), "*.o");
        assert_eq!(check("shado?"), "shado*");
        assert_eq!(check("[]a]b[!x-z]c"), "*b*c");
        assert_eq!(check("a[b"), "a[b");
        assert_eq!(check(r"\*a"), "*a");
        assert_eq!(as_value(r"\*a").known(), Some("*a"));
    }
}
