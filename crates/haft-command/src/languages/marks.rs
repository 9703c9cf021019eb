//! Text with marks in it: the form in which haft reads programs in other languages.
//!
//! A mark is one character that no program contains: an unknown gap, the user's home, or names that a pattern finds. So
//! haft can cut and join strings as text, and turn them into a [`ShellValue`] only at the end.

use crate::act::{NestedRun, PathEffect, RawEffect};
use crate::value::{ShellValue, ValuePiece};

/// Anything can be here.
pub(crate) const GAP: char = '\u{10FFFF}';
/// The path of the user's home is here.
pub(crate) const HOME: char = '\u{10FFFE}';
/// Names that a pattern finds are here.
pub(crate) const GLOB: char = '\u{10FFFD}';
/// Some number is here.
pub(crate) const NUMBER: char = '\u{10FFFC}';

const MARKS: [char; 4] = [GAP, HOME, GLOB, NUMBER];

/// Returns the text of a program. A pattern in it finds nothing, as a rule, and is what it looks like.
pub(crate) fn from_value(value: &ShellValue) -> String {
    let mut text = String::new();
    for piece in value.pieces() {
        match piece {
            ValuePiece::Text(known) => text.extend(known.chars().map(|c| if MARKS.contains(&c) { GAP } else { c })),
            ValuePiece::Glob => text.push('*'),
            ValuePiece::Number => text.push(NUMBER),
            ValuePiece::Unknown | ValuePiece::Foreign(_) => text.push(GAP),
        }
    }
    text
}

/// Returns the text of a program in which a number may spell anything, as in `chr(114)`.
pub(crate) fn without_numbers(value: &ShellValue) -> String {
    from_value(value).replace(NUMBER, &GAP.to_string())
}

/// Returns whether nothing is known of it.
pub(crate) fn is_open(text: &str) -> bool {
    text.contains(GAP) && text.chars().all(|c| c == GAP || c.is_whitespace())
}

/// Makes a script for a shell of it, where the home is `$HOME`.
pub(crate) fn script(text: &str) -> NestedRun {
    let mut value = ShellValue::default();
    let mut is_quoted = false;
    for c in text.chars() {
        is_quoted ^= c == '\'';
        match c {
            GAP => value.push(ValuePiece::Unknown),
            GLOB => value.push(ValuePiece::Text("*".to_owned())),
            NUMBER => value.push(ValuePiece::Number),
            // Between single quotes the shell would not put it in.
            HOME if is_quoted => value.push(ValuePiece::Text("'\"$HOME\"'".to_owned())),
            HOME => value.push(ValuePiece::Text("$HOME".to_owned())),
            c => value.push(ValuePiece::Text(c.to_string())),
        }
    }
    NestedRun::Script(value, Vec::new())
}

/// Makes a path of it, where the home is a tilde.
pub(crate) fn path(text: &str) -> ShellValue {
    let mut value = ShellValue::default();
    for (position, c) in text.chars().enumerate() {
        value.push(match c {
            HOME if position == 0 => ValuePiece::Text("~".to_owned()),
            GAP | HOME => ValuePiece::Unknown,
            GLOB => ValuePiece::Glob,
            NUMBER => ValuePiece::Number,
            c => ValuePiece::Text(c.to_string()),
        });
    }
    value
}

/// Says that something is done with a path.
pub(crate) fn act(deed: PathEffect, text: &str) -> RawEffect {
    RawEffect::Path(deed, path(text))
}

/// Returns it as one word of a script.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
