//! Pipes: the text that one program passes to the next.

use haft_contract::effect::Danger;

use crate::act::{RawEffect, StreamContent};
use crate::value::{ForeignOrigin, ShellValue, ValuePiece};

/// How many texts are followed where one of them is printed.
const MOST_TEXTS: usize = 8;

/// Returns what two commands print one after the other.
pub(crate) fn joined(before: StreamContent, after: StreamContent) -> StreamContent {
    match (before, after) {
        (StreamContent::Downloaded, _) | (_, StreamContent::Downloaded) => StreamContent::Downloaded,
        (StreamContent::Decoded, _) | (_, StreamContent::Decoded) => StreamContent::Decoded,
        (StreamContent::Text(text), other) | (other, StreamContent::Text(text)) if text.is_empty() => other,
        (StreamContent::Paths(mut paths), StreamContent::Paths(more)) => {
            paths.extend(more);
            StreamContent::Paths(paths)
        }
        (StreamContent::Content, StreamContent::Content) => StreamContent::Content,
        (before, after) => match (texts(&before), texts(&after)) {
            (Some(before), Some(after)) => one_of(before.iter().flat_map(|first| {
                after.iter().map(move |second| {
                    let mut text = first.clone();
                    text.append(second);
                    text
                })
            })),
            _ => StreamContent::Unknown,
        },
    }
}

/// Returns what is known when one of two things is printed.
pub(crate) fn either(one: StreamContent, other: StreamContent) -> StreamContent {
    match (one, other) {
        (one, other) if one == other => one,
        (StreamContent::Downloaded, _) | (_, StreamContent::Downloaded) => StreamContent::Downloaded,
        (StreamContent::Decoded, _) | (_, StreamContent::Decoded) => StreamContent::Decoded,
        (one, other) => match (texts(&one), texts(&other)) {
            (Some(one), Some(other)) => one_of(one.iter().chain(other).cloned()),
            _ => StreamContent::Unknown,
        },
    }
}

/// Returns what is known of a text that a program may have cut or changed, or have made itself out of nothing.
pub(crate) fn perhaps_changed(flow: StreamContent) -> StreamContent {
    match flow {
        StreamContent::Text(text) if text.is_empty() => StreamContent::Decoded,
        StreamContent::Text(text) => StreamContent::OneOf(vec![text, foreign(ForeignOrigin::Decoded)]),
        StreamContent::OneOf(mut texts) => {
            texts.push(foreign(ForeignOrigin::Decoded));
            one_of(texts.into_iter())
        }
        other => other,
    }
}

/// Returns the texts that may be printed, where that is known.
pub(crate) fn texts(flow: &StreamContent) -> Option<&[ShellValue]> {
    match flow {
        StreamContent::Text(text) => Some(std::slice::from_ref(text)),
        StreamContent::OneOf(texts) => Some(texts),
        StreamContent::Unknown
        | StreamContent::Paths(_)
        | StreamContent::Content
        | StreamContent::Downloaded
        | StreamContent::Decoded
        | StreamContent::Passed => None,
    }
}

pub(crate) fn one_of(texts: impl Iterator<Item = ShellValue>) -> StreamContent {
    let mut different: Vec<ShellValue> = Vec::new();
    for text in texts {
        if !different.contains(&text) {
            different.push(text);
        }
        if different.len() > MOST_TEXTS {
            return StreamContent::Unknown;
        }
    }
    match different.pop() {
        None => StreamContent::Unknown,
        Some(only) if different.is_empty() => StreamContent::Text(only),
        Some(last) => {
            different.push(last);
            StreamContent::OneOf(different)
        }
    }
}

/// Returns the value of a command substitution.
pub(crate) fn substituted(flow: StreamContent) -> Vec<ShellValue> {
    match flow {
        StreamContent::Text(text) => vec![without_line_ends(text)],
        StreamContent::OneOf(texts) => texts.into_iter().map(without_line_ends).collect(),
        StreamContent::Paths(paths) => paths,
        StreamContent::Downloaded => vec![foreign(ForeignOrigin::Network)],
        StreamContent::Decoded => vec![foreign(ForeignOrigin::Decoded)],
        StreamContent::Unknown | StreamContent::Content | StreamContent::Passed => vec![ShellValue::unknown()],
    }
}

pub(crate) fn foreign(origin: ForeignOrigin) -> ShellValue {
    let mut value = ShellValue::default();
    value.push(ValuePiece::Foreign(origin));
    value
}

fn without_line_ends(text: ShellValue) -> ShellValue {
    let mut result = ShellValue::default();
    let pieces = text.pieces();
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            ValuePiece::Text(text) if index + 1 == pieces.len() => {
                result.push(ValuePiece::Text(text.trim_end_matches('\n').to_owned()));
            }
            piece => result.push(piece.clone()),
        }
    }
    result
}

/// Returns what it means to run text that came from somewhere else.
pub(crate) fn danger_of(origin: ForeignOrigin) -> RawEffect {
    match origin {
        ForeignOrigin::Network => {
            RawEffect::Danger(Danger::DownloadedCode, "run text that comes from the network".to_owned())
        }
        ForeignOrigin::Decoded => {
            RawEffect::Danger(Danger::HiddenCode, "run text that is hidden by an encoding".to_owned())
        }
    }
}
