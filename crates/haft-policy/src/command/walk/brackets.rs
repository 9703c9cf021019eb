//! Patterns of file names in bare text: each becomes a gap.

use super::super::value::Piece;

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

/// Returns bare text as pieces, in which patterns are gaps.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['*', '?', '[']) {
        let is_class = rest[at..].starts_with('[');
        let class_end = class_end(&rest[at..]).filter(|_| is_class);
        if is_class && class_end.is_none() {
            pieces.push(Piece::Text(rest[..=at].to_owned()));
            rest = &rest[at + 1..];
            continue;
        }
        pieces.push(Piece::Text(rest[..at].to_owned()));
        pieces.push(Piece::Glob);
        rest = &rest[at + class_end.unwrap_or(0) + 1..];
    }
    pieces.push(Piece::Text(rest.to_owned()));
    pieces
}
