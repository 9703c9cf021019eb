//! What goes from one program of a pipe to the next.

use haft::effect::Danger;

use super::super::act::{Act, Flow};
use super::super::value::{Origin, Piece, Value};

/// Returns what two commands print one after the other.
pub(super) fn joined(before: Flow, after: Flow) -> Flow {
    match (before, after) {
        (Flow::Downloaded, _) | (_, Flow::Downloaded) => Flow::Downloaded,
        (Flow::Decoded, _) | (_, Flow::Decoded) => Flow::Decoded,
        (Flow::Text(mut text), Flow::Text(more)) => {
            text.append(&more);
            Flow::Text(text)
        }
        (Flow::Text(text), other) | (other, Flow::Text(text)) if text.is_empty() => other,
        (Flow::Paths(mut paths), Flow::Paths(more)) => {
            paths.extend(more);
            Flow::Paths(paths)
        }
        (Flow::Content, Flow::Content) => Flow::Content,
        _ => Flow::Unknown,
    }
}

/// Returns what is known when one of two things is printed.
pub(super) fn either(one: Flow, other: Flow) -> Flow {
    if one == other { one } else { joined(one, other) }
}

/// Returns the value of a command substitution.
pub(super) fn substituted(flow: Flow) -> Vec<Value> {
    match flow {
        Flow::Text(text) => vec![without_line_ends(text)],
        Flow::Paths(paths) => paths,
        Flow::Downloaded => vec![foreign(Origin::Network)],
        Flow::Decoded => vec![foreign(Origin::Decoded)],
        Flow::Unknown | Flow::Content | Flow::Passed => vec![Value::unknown()],
    }
}

pub(super) fn foreign(origin: Origin) -> Value {
    let mut value = Value::default();
    value.push(Piece::Foreign(origin));
    value
}

fn without_line_ends(text: Value) -> Value {
    let mut result = Value::default();
    let pieces = text.pieces();
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text(text) if index + 1 == pieces.len() => {
                result.push(Piece::Text(text.trim_end_matches('\n').to_owned()));
            }
            piece => result.push(piece.clone()),
        }
    }
    result
}

/// Returns what it means to run text that came from somewhere else.
pub(super) fn danger_of(origin: Origin) -> Act {
    match origin {
        Origin::Network => Act::Danger(Danger::DownloadedCode, "run text that comes from the network".to_owned()),
        Origin::Decoded => Act::Danger(Danger::HiddenCode, "run text that is hidden by an encoding".to_owned()),
    }
}
