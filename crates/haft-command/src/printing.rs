//! Computes what `echo` and `printf` print: this text often goes into another program.

use crate::value::{ShellValue, ValuePiece};

/// Returns what `echo` prints with these words.
pub(crate) fn echoed(words: &[ShellValue]) -> ShellValue {
    let is_flag = |word: &&ShellValue| {
        word.known().is_some_and(|text| {
            text.len() > 1 && text.starts_with('-') && text[1..].chars().all(|letter| "neE".contains(letter))
        })
    };
    let flags: Vec<&ShellValue> = words.iter().take_while(is_flag).collect();
    let escapes = flags.iter().any(|flag| flag.prefix().contains('e'));
    let has_end = !flags.iter().any(|flag| flag.prefix().contains('n'));
    let mut text = ShellValue::default();
    for (index, word) in words[flags.len()..].iter().enumerate() {
        if index > 0 {
            text.push(ValuePiece::Text(" ".to_owned()));
        }
        for piece in word.pieces() {
            text.push(match piece {
                ValuePiece::Text(known) if escapes => ValuePiece::Text(unescaped(known)),
                piece => piece.clone(),
            });
        }
    }
    if has_end {
        text.push(ValuePiece::Text("\n".to_owned()));
    }
    text
}

/// Returns what `echo` may print with these words: some shells resolve escapes without being told to.
pub(crate) fn echoed_somewhere(words: &[ShellValue]) -> Vec<ShellValue> {
    let plain = echoed(words);
    let has_escape = |piece: &ValuePiece| matches!(piece, ValuePiece::Text(text) if text.contains('\\'));
    if !plain.pieces().iter().any(has_escape) {
        return vec![plain];
    }
    let mut resolved = ShellValue::default();
    for piece in plain.pieces() {
        match piece {
            ValuePiece::Text(text) => {
                // What follows `\c` is not printed.
                let end = text.find("\\c").unwrap_or(text.len());
                resolved.push(ValuePiece::Text(unescaped(&text[..end])));
                if end < text.len() {
                    break;
                }
            }
            piece => resolved.push(piece.clone()),
        }
    }
    vec![plain, resolved]
}

/// Returns what `printf` prints with this format and these words.
pub(crate) fn formatted(format: &str, words: &[ShellValue]) -> ShellValue {
    let mut text = ShellValue::default();
    let mut left = words.iter();
    let has_fields = format.replace("%%", "").contains('%');
    loop {
        let before = left.len();
        fill(format, &mut left, &mut text);
        // The format is used again for the words that are left.
        if left.len() == 0 || left.len() == before || !has_fields {
            return text;
        }
    }
}

fn fill<'a>(format: &str, words: &mut impl Iterator<Item = &'a ShellValue>, text: &mut ShellValue) {
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        text.push(ValuePiece::Text(unescaped(&rest[..at])));
        rest = &rest[at + 1..];
        let end = rest.find(|letter: char| letter.is_ascii_alphabetic() || letter == '%').unwrap_or(rest.len());
        let letter = rest[end..].chars().next();
        let is_plain = end == 0;
        rest = &rest[(end + usize::from(letter.is_some())).min(rest.len())..];
        match letter {
            Some('%') => text.push(ValuePiece::Text("%".to_owned())),
            // A width or a length cuts and fills.
            Some(letter) if !is_plain && letter != '%' => {
                let _ = words.next();
                text.push(ValuePiece::Unknown);
            }
            Some('s') => text.append(&words.next().cloned().unwrap_or_default()),
            Some('b') => {
                let word = words.next().cloned().unwrap_or_default();
                match word.known() {
                    Some(known) => text.push(ValuePiece::Text(unescaped(known))),
                    None => text.append(&word),
                }
            }
            Some(letter @ ('o' | 'x' | 'X' | 'c')) => {
                let word = words.next().cloned().unwrap_or_default();
                text.push(
                    word.known().and_then(|word| converted(letter, word)).map_or(ValuePiece::Unknown, ValuePiece::Text),
                );
            }
            Some('d' | 'i' | 'u') => text.append(&words.next().cloned().unwrap_or_else(|| ShellValue::text("0"))),
            Some(_) | None => {
                let _ = words.next();
                text.push(ValuePiece::Unknown);
            }
        }
    }
    text.push(ValuePiece::Text(unescaped(rest)));
}

/// Returns a word as `%o`, `%x` or `%c` prints it.
fn converted(letter: char, word: &str) -> Option<String> {
    if letter == 'c' {
        return Some(word.chars().take(1).collect());
    }
    let number = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None if word.len() > 1 && word.starts_with('0') => u64::from_str_radix(word, 8).ok()?,
        // A letter behind a quote is its number.
        None => match word.strip_prefix(['\'', '"']) {
            Some(letters) => letters.chars().next()?.into(),
            None => word.parse().ok()?,
        },
    };
    Some(match letter {
        'o' => format!("{number:o}"),
        'x' => format!("{number:x}"),
        _ => format!("{number:X}"),
    })
}

/// Resolves the escapes of `echo -e` and `printf`.
fn unescaped(text: &str) -> String {
    let mut result: Vec<u8> = Vec::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut buffer = [0; 4];
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            result.extend(letter.encode_utf8(&mut buffer).bytes());
            continue;
        }
        let escaped = letters.next();
        let digits = |letters: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, most: usize, first: u32| {
            let mut number = first;
            for _ in 0..most {
                let Some(digit) = letters.peek().and_then(|letter| letter.to_digit(radix)) else { break };
                number = number.wrapping_mul(radix).wrapping_add(digit);
                letters.next();
            }
            number
        };
        let character = |number: u32, result: &mut Vec<u8>| {
            let letter = char::from_u32(number).unwrap_or('\u{fffd}');
            result.extend(letter.encode_utf8(&mut [0; 4]).bytes());
        };
        match escaped {
            Some('n') => result.push(b'\n'),
            Some('t') => result.push(b'\t'),
            Some('r') => result.push(b'\r'),
            Some('a') => result.push(7),
            Some('b') => result.push(8),
            Some('f') => result.push(12),
            Some('v') => result.push(11),
            Some('e' | 'E') => result.push(27),
            Some('\\') | None => result.push(b'\\'),
            Some('x') => result.push(digits(&mut letters, 16, 2, 0) as u8),
            Some('u') => character(digits(&mut letters, 16, 4, 0), &mut result),
            Some('U') => character(digits(&mut letters, 16, 8, 0), &mut result),
            Some(digit @ '0'..='7') => result.push(digits(&mut letters, 8, 3, digit as u32 - '0' as u32) as u8),
            Some(other) => {
                result.push(b'\\');
                result.extend(other.encode_utf8(&mut buffer).bytes());
            }
        }
    }
    String::from_utf8_lossy(&result).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<ShellValue> {
        words.iter().map(|word| ShellValue::text(*word)).collect()
    }

    #[test]
    fn echo_prints_its_words() {
        assert_eq!(echoed(&words(&["rm", "-rf", "~"])).shown(), "rm -rf ~\n");
        assert_eq!(echoed(&words(&["-n", "-e", r"\x72m\t\0101"])).shown(), "rm\tA");
        assert_eq!(echoed(&words(&["-x", r"\n"])).shown(), "-x \\n\n");
    }

    #[test]
    fn printf_fills_its_format_again_and_again() {
        assert_eq!(formatted(r"%s-%s\n", &words(&["a", "b", "c"])).shown(), "a-b\nc-\n");
        assert_eq!(formatted(r"\162\x6d %b", &words(&[r"-r\146"])).shown(), "rm -rf");
        assert_eq!(formatted("100%%", &[]).shown(), "100%");
        assert_eq!(formatted("%o %x %X %c", &words(&["114", "0x72", "'r", "rm"])).shown(), "162 72 72 r");
        assert_eq!(formatted("%q", &words(&["x"])).shown(), "…");
        assert_eq!(formatted("a%", &[]).shown(), "a…");
        assert_eq!(formatted("%.2s", &words(&["rmdir"])).shown(), "…");
    }
}
