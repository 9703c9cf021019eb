//! Lists the ways in which a program may read a value in a file.
//!
//! A file does not say which program reads it, and programs differ: in the meaning of a backslash, in where a comment
//! begins, in the meaning of two quotes. All sensible readings count. A reading that no program uses matches nothing.

/// Most lines of one value.
const MOST_LINES: usize = 500;
/// Quotes of three, which stand around values of several lines.
const TRIPLE: [&str; 2] = ["\"\"\"", "'''"];

/// Returns what a value may mean that begins in the first of these lines and may go on in the next ones.
///
/// A reading of several lines has them all.
pub(super) fn readings(value: &str, next: &[&str]) -> Vec<String> {
    let mut readings = Vec::new();
    let triple = TRIPLE.into_iter().find(|quote| value.starts_with(quote));
    if let Some(quote) = triple {
        readings.extend(closed(&value[quote.len()..], next, &|text| text.find(quote)));
    } else if let Some(quote) = value.chars().next().filter(|first| matches!(first, '"' | '\'' | '`')) {
        let inner = &value[1..];
        let closes = |text: &str, inside| end_of(text, quote, inside);
        let is_closed = QuoteEscape::ALL.iter().any(|inside| closes(inner, *inside).is_some());
        let next = if is_closed { &[] } else { next };
        readings
            .extend(QuoteEscape::ALL.iter().filter_map(|inside| closed(inner, next, &|text| closes(text, *inside))));
        if readings.is_empty() {
            readings.push(inner.to_owned());
        }
    } else {
        readings.extend(unquoted(value));
    }
    readings.extend(continued(value, next));
    readings.extend(shell_word(value));
    let decoded: Vec<String> = readings.iter().flat_map(|reading| decoded(reading)).collect();
    readings.extend(decoded);
    let mut seen = std::collections::HashSet::new();
    readings.retain(|reading| !reading.trim().is_empty() && seen.insert(reading.clone()));
    readings
}

/// Returns a value up to its end, which may be some lines below.
fn closed(first: &str, next: &[&str], end: &dyn Fn(&str) -> Option<usize>) -> Option<String> {
    if let Some(end) = end(first) {
        return Some(first[..end].to_owned());
    }
    let mut text = first.to_owned();
    for line in next.iter().take(MOST_LINES) {
        text.push('\n');
        let from = text.len();
        text.push_str(line);
        if let Some(end) = end(line) {
            text.truncate(from + end);
            return Some(text);
        }
    }
    None
}

/// How a quote is written inside a quoted text so that it does not end the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum QuoteEscape {
    /// A quote behind a backslash.
    Backslash,
    /// Two quotes.
    Doubled,
    Nothing,
}

impl QuoteEscape {
    const ALL: [Self; 3] = [Self::Backslash, Self::Doubled, Self::Nothing];
}

fn end_of(text: &str, quote: char, inside: QuoteEscape) -> Option<usize> {
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let is_doubled = letter == quote && letters.peek().is_some_and(|(_, next)| *next == quote);
        if inside == QuoteEscape::Backslash && letter == '\\' || inside == QuoteEscape::Doubled && is_doubled {
            letters.next();
        } else if letter == quote {
            return Some(at);
        }
    }
    None
}

/// Returns a value without quotes with and without what may be a comment or a separator behind it.
fn unquoted(value: &str) -> Vec<String> {
    let bare = value.trim().trim_end_matches([',', ';']);
    let before = |marks: &[&str]| {
        let ends = marks.iter().filter_map(|mark| value.find(mark));
        ends.min().map(|end| value[..end].trim().trim_end_matches([',', ';']).to_owned())
    };
    let without_comment = before(&[" #", "\t#", " ;", " //"]).unwrap_or_else(|| bare.to_owned());
    let cut = before(&["#"]).filter(|_| !value.contains(" #"));
    [Some(without_comment), cut].into_iter().flatten().collect()
}

/// Returns a value whose lines end in a backslash as one.
fn continued(value: &str, next: &[&str]) -> Option<String> {
    let goes_on = |line: &str| (line.len() - line.trim_end_matches('\\').len()) % 2 == 1;
    if !goes_on(value) {
        return None;
    }
    let mut text = value[..value.len() - 1].to_owned();
    for line in next.iter().take(MOST_LINES) {
        let line = line.trim();
        text.push_str(line.strip_suffix('\\').filter(|_| goes_on(line)).unwrap_or(line));
        if !goes_on(line) {
            break;
        }
    }
    Some(text.trim_matches(['"', '\'']).to_owned())
}

/// Reads a value as a shell reads a word: parts in quotes and without stand together.
fn shell_word(value: &str) -> Option<String> {
    if !value.contains(['"', '\'', '\\']) {
        return None;
    }
    let mut word = String::new();
    let mut quote = None;
    let mut letters = value.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, '$') if letters.peek() == Some(&'\'') => {}
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), letter) if letter == open => quote = None,
            (None, '\\') => word.extend(letters.next()),
            (Some('"'), '\\') if letters.peek().is_some_and(|next| "$`\"\\".contains(*next)) => {
                word.extend(letters.next())
            }
            (None, letter) if letter.is_whitespace() || letter == ';' => break,
            (_, letter) => word.push(letter),
        }
    }
    quote.is_none().then_some(word)
}

/// Returns what a text means where letters of it are written otherwise.
pub(super) fn decoded(text: &str) -> Vec<String> {
    let mut decoded = Vec::new();
    if text.contains('\\') {
        decoded.push(unescaped(text));
    }
    for (doubled, single) in [("''", "'"), ("\"\"", "\""), ("$$", "$"), ("%%", "%")] {
        if text.contains(doubled) {
            decoded.push(text.replace(doubled, single));
        }
    }
    if text.contains('&') && text.contains(';') {
        decoded.push(without_entities(text));
    }
    decoded
}

/// Returns a text with its backslashes carried out, as JSON, YAML, TOML and programs do.
pub(super) fn unescaped(text: &str) -> String {
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        let Some(escape) = rest.chars().next().filter(|_| letter == '\\') else {
            units.extend_from_slice(letter.encode_utf16(&mut [0; 2]));
            continue;
        };
        rest = &rest[escape.len_utf8()..];
        if let Some((number, after)) = number_of(escape, rest) {
            rest = after;
            match char::from_u32(number) {
                Some(letter) => units.extend_from_slice(letter.encode_utf16(&mut [0; 2])),
                // Half of a letter, whose other half follows.
                None => units.push(u16::try_from(number).unwrap_or(0xfffd)),
            }
            continue;
        }
        let letter = match escape {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '\n' => {
                rest = rest.trim_start();
                continue;
            }
            other => other,
        };
        units.extend_from_slice(letter.encode_utf16(&mut [0; 2]));
    }
    String::from_utf16_lossy(&units)
}

/// Returns the number of the letter that an escape names, and what follows.
fn number_of(escape: char, rest: &str) -> Option<(u32, &str)> {
    let braced = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
    let (digits, after) = match escape {
        'u' if braced.is_some() => braced?,
        'x' => rest.split_at_checked(2)?,
        'u' => rest.split_at_checked(4)?,
        'U' => rest.split_at_checked(8)?,
        _ => return None,
    };
    Some((u32::from_str_radix(digits, 16).ok()?, after))
}

/// Returns a text with the entities of XML carried out.
pub(super) fn without_entities(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let entity = rest.find(';').filter(|end| *end <= 10).map(|end| &rest[1..end]);
        let letter = entity.and_then(|entity| match entity {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            number => {
                let number = number.strip_prefix('#')?;
                let hex = number.strip_prefix(['x', 'X']).map(|hex| u32::from_str_radix(hex, 16));
                char::from_u32(hex.unwrap_or_else(|| number.parse()).ok()?)
            }
        });
        match (letter, entity) {
            (Some(letter), Some(entity)) => {
                plain.push(letter);
                rest = &rest[entity.len() + 2..];
            }
            _ => {
                plain.push('&');
                rest = &rest[1..];
            }
        }
    }
    plain + rest
}
