//! What goes from one program of a pipe to the next.

use haft_contract::effect::Danger;

use super::super::act::{Act, Flow};
use super::super::value::{Origin, Piece, Value};

/// How many texts are followed where one of them is printed.
const MOST_TEXTS: usize = 8;

/// Returns what two commands print one after the other.
pub(super) fn joined(before: Flow, after: Flow) -> Flow {
    match (before, after) {
        (Flow::Downloaded, _) | (_, Flow::Downloaded) => Flow::Downloaded,
        (Flow::Decoded, _) | (_, Flow::Decoded) => Flow::Decoded,
        (Flow::Text(text), other) | (other, Flow::Text(text)) if text.is_empty() => other,
        (Flow::Paths(mut paths), Flow::Paths(more)) => {
            paths.extend(more);
            Flow::Paths(paths)
        }
        (Flow::Content, Flow::Content) => Flow::Content,
        (before, after) => match (texts(&before), texts(&after)) {
            (Some(before), Some(after)) => one_of(before.iter().flat_map(|first| {
                after.iter().map(move |second| {
                    let mut text = first.clone();
                    text.append(second);
                    text
                })
            })),
            _ => Flow::Unknown,
        },
    }
}

/// Returns what is known when one of two things is printed.
pub(super) fn either(one: Flow, other: Flow) -> Flow {
    match (one, other) {
        (one, other) if one == other => one,
        (Flow::Downloaded, _) | (_, Flow::Downloaded) => Flow::Downloaded,
        (Flow::Decoded, _) | (_, Flow::Decoded) => Flow::Decoded,
        (one, other) => match (texts(&one), texts(&other)) {
            (Some(one), Some(other)) => one_of(one.iter().chain(other).cloned()),
            _ => Flow::Unknown,
        },
    }
}

/// Returns what is known of a text that a program may have cut or changed, or have made itself out of nothing.
pub(super) fn perhaps_changed(flow: Flow) -> Flow {
    match flow {
        Flow::Text(text) if text.is_empty() => Flow::Decoded,
        Flow::Text(text) => Flow::OneOf(vec![text, foreign(Origin::Decoded)]),
        Flow::OneOf(mut texts) => {
            texts.push(foreign(Origin::Decoded));
            one_of(texts.into_iter())
        }
        other => other,
    }
}

/// Returns the texts that may be printed, where that is known.
pub(super) fn texts(flow: &Flow) -> Option<&[Value]> {
    match flow {
        Flow::Text(text) => Some(std::slice::from_ref(text)),
        Flow::OneOf(texts) => Some(texts),
        Flow::Unknown | Flow::Paths(_) | Flow::Content | Flow::Downloaded | Flow::Decoded | Flow::Passed => None,
    }
}

pub(super) fn one_of(texts: impl Iterator<Item = Value>) -> Flow {
    let mut different: Vec<Value> = Vec::new();
    for text in texts {
        if !different.contains(&text) {
            different.push(text);
        }
        if different.len() > MOST_TEXTS {
            return Flow::Unknown;
        }
    }
    match different.pop() {
        None => Flow::Unknown,
        Some(only) if different.is_empty() => Flow::Text(only),
        Some(last) => {
            different.push(last);
            Flow::OneOf(different)
        }
    }
}

/// Returns the value of a command substitution.
pub(super) fn substituted(flow: Flow) -> Vec<Value> {
    match flow {
        Flow::Text(text) => vec![without_line_ends(text)],
        Flow::OneOf(texts) => texts.into_iter().map(without_line_ends).collect(),
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
