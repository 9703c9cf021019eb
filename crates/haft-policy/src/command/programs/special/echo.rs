//! `echo` and `printf`: what they print is known, so that text that goes from them into a shell can be read.

use super::super::super::act::{Flow, Reading};
use super::super::super::value::{Piece, Value};
use super::super::reading::joined;

pub(super) fn read(words: &[Value]) -> Reading {
    let is_flag = |word: &&Value| {
        word.known()
            .and_then(|word| word.strip_prefix('-'))
            .is_some_and(|letters| !letters.is_empty() && letters.chars().all(|letter| "neE".contains(letter)))
    };
    let flags = words.iter().take_while(is_flag).count();
    let resolves = words[..flags].iter().any(|word| word.prefix().contains('e'));
    let text = joined(&words[flags..]);
    printed(if resolves { map_text(&text, escapes) } else { text })
}

pub(super) fn read_format(words: &[Value]) -> Reading {
    let words = if words.first().and_then(Value::known) == Some("--") { &words[1..] } else { words };
    let Some((format, arguments)) = words.split_first() else { return Reading::default() };
    // `printf -v name` prints nothing, but what the variable holds then is not known here.
    let known = if format.prefix().starts_with("-v") { None } else { format.known() };
    let Some(format) = known else { return printed(Value::unknown()) };
    let mut text = Value::default();
    let mut arguments = arguments.iter();
    loop {
        let before = arguments.len();
        formatted(format, &mut arguments, &mut text);
        // The format is used again while there are words for it.
        if arguments.len() == 0 || arguments.len() == before {
            return printed(text);
        }
    }
}

fn printed(text: Value) -> Reading {
    Reading { output: Flow::Text(text), ..Reading::default() }
}

fn formatted<'a>(format: &str, arguments: &mut impl Iterator<Item = &'a Value>, text: &mut Value) {
    let resolved = escapes(format);
    let mut parts = resolved.split('%');
    text.push(Piece::Text(parts.next().unwrap_or_default().to_owned()));
    let mut after_double = false;
    for part in parts {
        if after_double || part.is_empty() {
            // `%%`: the empty part before, and the text behind it.
            text.push(Piece::Text(if after_double { part.to_owned() } else { "%".to_owned() }));
            after_double = !after_double;
            continue;
        }
        let end = part.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(part.len());
        let mut argument = || arguments.next().cloned().unwrap_or_default();
        match (&part[..end], part[end..].chars().next()) {
            ("", Some('s' | 'd' | 'i' | 'u')) => text.append(&argument()),
            ("", Some('b')) => text.append(&map_text(&argument(), escapes)),
            _ => {
                argument();
                text.push(Piece::Unknown);
            }
        }
        text.push(Piece::Text(part.get(end + 1..).unwrap_or_default().to_owned()));
    }
}

fn map_text(value: &Value, change: impl Fn(&str) -> String) -> Value {
    let mut changed = Value::default();
    for piece in value.pieces() {
        changed.push(match piece {
            Piece::Text(text) => Piece::Text(change(text)),
            other => other.clone(),
        });
    }
    changed
}

/// Resolves `\n`, `\x72`, `\162`, `\0162` and their kin.
fn escapes(text: &str) -> String {
    let mut resolved = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        resolved.push_str(before);
        let mut letters = after.chars();
        let (letter, used) = match letters.next() {
            Some('x') => digits(&after[1..], 16, 2).map_or((Some('\\'), 0), |(code, used)| (code, used + 1)),
            Some('u') => digits(&after[1..], 16, 4).map_or((Some('\\'), 0), |(code, used)| (code, used + 1)),
            Some('0') => digits(after, 8, 4).unwrap_or((None, 1)),
            Some('1'..='7') => digits(after, 8, 3).unwrap_or((None, 1)),
            Some('n') => (Some('\n'), 1),
            Some('t') => (Some('\t'), 1),
            Some('r') => (Some('\r'), 1),
            Some('a' | 'b' | 'f' | 'v') => (None, 1),
            Some('c') => return resolved,
            Some(same @ ('\\' | '\'' | '"')) => (Some(same), 1),
            _ => (Some('\\'), 0),
        };
        resolved.extend(letter);
        rest = &after[used..];
    }
    resolved + rest
}

fn digits(text: &str, base: u32, most: usize) -> Option<(Option<char>, usize)> {
    let count = text.chars().take(most).take_while(|letter| letter.is_digit(base)).count();
    let code = u32::from_str_radix(text.get(..count)?, base).ok()?;
    Some((char::from_u32(code), count))
}
