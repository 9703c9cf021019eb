//! The tokens of an awk program.

use crate::languages::marks::{GAP, NUMBER};

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AwkToken {
    /// A string, its escapes resolved.
    String(String),
    /// `/…/`.
    Regex,
    /// A number, as it is written.
    Number(String),
    /// A name or a keyword.
    Word(String),
    /// An operator or a bracket.
    Sign(&'static str),
    /// The end of a line.
    Newline,
}

/// Words behind which a value begins.
pub(crate) const KEYWORDS: &[&str] = &[
    "print",
    "printf",
    "return",
    "if",
    "while",
    "else",
    "do",
    "in",
    "case",
    "getline",
    "BEGIN",
    "END",
    "BEGINFILE",
    "ENDFILE",
    "exit",
    "delete",
    "for",
    "switch",
    "function",
    "func",
];

/// The longer ones first.
const SIGNS: &[&str] = &[
    "**=", "|&", "||", "&&", ">>", ">=", "<=", "==", "!=", "!~", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "**",
    "{", "}", "(", ")", "[", "]", ";", ",", "<", ">", "|", "=", "+", "-", "*", "/", "%", "^", "!", "~", "?", ":", "$",
    "@", "&",
];

/// The most tokens that are read: finding ends of brackets and statements takes time that grows with their square.
const MOST: usize = 8000;

/// Cuts a program into tokens. Returns nothing where a string or a pattern does not end, a character has no place, or
/// there are too many.
pub(crate) fn tokens(text: &str) -> Option<Vec<AwkToken>> {
    let text: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = text.get(at) {
        let (token, length) = match c {
            '\n' => (AwkToken::Newline, 1),
            c if c.is_whitespace() => {
                at += 1;
                continue;
            }
            '\\' if matches!(text.get(at + 1), Some('\n' | '\r')) => {
                at += 2;
                continue;
            }
            '#' => {
                at += text[at..].iter().take_while(|c| **c != '\n').count();
                continue;
            }
            NUMBER => (AwkToken::Number(GAP.to_string()), 1),
            '"' => string(&text[at..])?,
            '/' if begins_value(tokens.last()) => (AwkToken::Regex, regex(&text[at..])?),
            c if c.is_ascii_digit() || (c == '.' && text.get(at + 1).is_some_and(char::is_ascii_digit)) => {
                let number: String =
                    text[at..].iter().take_while(|c| c.is_ascii_alphanumeric() || **c == '.').collect();
                let length = number.len();
                (AwkToken::Number(number), length)
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let is_part = |c: &&char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':');
                let word: String = text[at..].iter().take_while(is_part).collect();
                // Only a double colon belongs to a name, that of a namespace.
                let word = if word.contains("::") { word } else { word.split(':').next()?.to_owned() };
                let length = word.len();
                (AwkToken::Word(word), length)
            }
            _ => sign(&text[at..])?,
        };
        tokens.push(token);
        at += length;
        if tokens.len() > MOST {
            return None;
        }
    }
    Some(tokens)
}

fn sign(text: &[char]) -> Option<(AwkToken, usize)> {
    let fits = |sign: &&&str| sign.chars().enumerate().all(|(at, c)| text.get(at) == Some(&c));
    let sign = SIGNS.iter().find(fits)?;
    Some((AwkToken::Sign(sign), sign.len()))
}

/// Behind a value a slash divides, anywhere else it begins a pattern.
fn begins_value(before: Option<&AwkToken>) -> bool {
    match before {
        None | Some(AwkToken::Newline) => true,
        Some(AwkToken::String(_) | AwkToken::Number(_) | AwkToken::Regex) => false,
        Some(AwkToken::Word(word)) => KEYWORDS.contains(&word.as_str()),
        Some(AwkToken::Sign(sign)) => !matches!(*sign, ")" | "]" | "++" | "--" | "$"),
    }
}

fn string(text: &[char]) -> Option<(AwkToken, usize)> {
    let mut known = String::new();
    let mut at = 1;
    loop {
        match text.get(at)? {
            '"' => return Some((AwkToken::String(known), at + 1)),
            '\\' => {
                let (c, length) = escape(&text[at + 1..])?;
                known.extend(c);
                at += 1 + length;
            }
            '\n' => return None,
            c => {
                known.push(*c);
                at += 1;
            }
        }
    }
}

/// What stands behind a backslash, and how long it is.
fn escape(text: &[char]) -> Option<(Option<char>, usize)> {
    let digits = |radix: u32, from: usize, most: usize| {
        let digits: String = text[from..].iter().take(most).take_while(|c| c.is_digit(radix)).collect();
        let c = u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32);
        (c, from + digits.len())
    };
    Some(match text.first()? {
        'n' => (Some('\n'), 1),
        't' => (Some('\t'), 1),
        '\n' => (None, 1),
        &NUMBER => (Some(GAP), 1),
        'x' => digits(16, 1, 2),
        '0'..='7' => digits(8, 0, 3),
        c => (Some(*c), 1),
    })
}

fn regex(text: &[char]) -> Option<usize> {
    let mut at = 1;
    let mut in_brackets = false;
    loop {
        match text.get(at)? {
            '\\' => at += 1,
            '\n' => return None,
            '/' if !in_brackets => return Some(at + 1),
            '[' if !in_brackets => {
                in_brackets = true;
                at += usize::from(text.get(at + 1) == Some(&'^'));
                at += usize::from(text.get(at + 1) == Some(&']'));
            }
            ']' => in_brackets = false,
            _ => {}
        }
        at += 1;
    }
}
