//! Patterns of file names in bare text: each becomes a gap.

use crate::syntax::{Quoting, WordPart};
use crate::value::ValuePiece;

/// Signs behind which a group in parentheses is a pattern, with `extglob`.
const GROUPING: [char; 5] = ['?', '*', '+', '@', '!'];

/// A part of a word, as patterns take it.
pub(crate) enum PatternPart<'a> {
    /// Bare text.
    Text(&'a str),
    /// A bracket expression or a group in which something is quoted or expanded: `.[e"x"]nv`.
    Class(&'a [WordPart]),
    /// Anything else.
    Other(&'a WordPart),
}

/// How many names are spelled out of one text.
const MOST_NAMES: usize = 64;

/// Returns where the bracket expression ends that a text begins with: `[]x]`, `[!]]` and `[[:alpha:]]` hold a bracket.
fn class_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1 + usize::from(matches!(bytes.get(1), Some(b'!' | b'^')));
    let first = at;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b']', _) if at > first => return Some(at),
            (b'[', Some(kind @ (b':' | b'=' | b'.'))) => {
                let end = format!("{}]", char::from(*kind));
                at = text[at + 2..].find(&end).map_or(at + 1, |inside| at + 2 + inside + end.len());
            }
            (b'\\', Some(_)) => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// Returns the parts of a word, in which brackets that begin in one part and end in another are whole.
pub(crate) fn whole(parts: &[WordPart]) -> Vec<PatternPart<'_>> {
    let mut all = Vec::new();
    let mut at = 0;
    let mut rest_of_part = 0;
    while let Some(part) = parts.get(at) {
        let WordPart::Text(text, Quoting::Bare) = part else {
            all.push(PatternPart::Other(part));
            at += 1;
            continue;
        };
        let text = &text[rest_of_part..];
        rest_of_part = 0;
        let closed = unclosed(text).and_then(|(open, close)| {
            let closing = |(index, part): (usize, &WordPart)| match part {
                WordPart::Text(text, Quoting::Bare) => text.find(close).map(|end| (at + 1 + index, end + 1)),
                _ => None,
            };
            Some((open, parts[at + 1..].iter().enumerate().find_map(closing)?))
        });
        match closed {
            Some((open, (last, end))) => {
                all.push(PatternPart::Text(&text[..open]));
                all.push(PatternPart::Class(&parts[at + 1..last]));
                at = last;
                rest_of_part = end;
            }
            None => {
                all.push(PatternPart::Text(text));
                at += 1;
            }
        }
    }
    all
}

/// Returns where a bracket or a group begins that a text does not close, and what would close it.
fn unclosed(text: &str) -> Option<(usize, char)> {
    let mut at = 0;
    while let Some(found) = text[at..].find(['[', '(']).map(|found| at + found) {
        let is_group = text[found..].starts_with('(');
        let end = if is_group { group_end(&text[found..]) } else { class_end(&text[found..]) };
        match end {
            Some(end) => at = found + end + 1,
            None if !is_group => return Some((found, ']')),
            None if text[..found].ends_with(GROUPING) => return Some((found - 1, ')')),
            None => at = found + 1,
        }
    }
    None
}

/// Returns where the group ends that a text begins with.
fn group_end(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => open += 1,
            ')' if open == 1 => return Some(at),
            ')' => open -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the names that a bare text may find, if brackets with plain letters are its only patterns, and few.
pub(crate) fn spelled_out(text: &str) -> Option<Vec<String>> {
    let mut names = vec![String::new()];
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open);
        let class = &from[1..class_end(from)?];
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, ',' | '_' | '.');
        if !class.chars().all(is_plain) || names.len() * class.len() > MOST_NAMES {
            return None;
        }
        names = names.iter().flat_map(|name| class.chars().map(move |one| format!("{name}{before}{one}"))).collect();
        rest = &from[class.len() + 2..];
    }
    names.iter_mut().for_each(|name| name.push_str(rest));
    (!text.contains(['*', '?', '\\', '('])).then_some(names)
}

/// Returns bare text as pieces, in which patterns are gaps.
pub(crate) fn pieces(text: &str) -> Vec<ValuePiece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut literal = String::new();
    while let Some(at) = rest.find(['*', '?', '[', '+', '@', '!']) {
        let from = &rest[at..];
        let length = match from.strip_prefix(GROUPING).filter(|group| group.starts_with('(')).and_then(group_end) {
            Some(end) => Some(end + 2),
            None if from.starts_with(['*', '?']) => Some(1),
            None if from.starts_with('[') => class_end(from).map(|end| end + 1),
            None => None,
        };
        literal.push_str(&rest[..at]);
        match length {
            Some(length) => {
                pieces.push(ValuePiece::Text(std::mem::take(&mut literal)));
                // A group may say the dot of a hidden name.
                let is_hidden = from[1..length].starts_with('(') && from[..length].contains('.');
                pieces.push(if is_hidden { ValuePiece::Unknown } else { ValuePiece::Glob });
                rest = &from[length..];
            }
            None => {
                literal.push_str(&from[..1]);
                rest = &from[1..];
            }
        }
    }
    literal.push_str(rest);
    pieces.push(ValuePiece::Text(literal));
    pieces
}
