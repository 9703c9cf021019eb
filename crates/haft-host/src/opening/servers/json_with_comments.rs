//! Reads JSON as people write it in settings: with comments and trailing commas.

use serde_json::Value;

/// Reads a text; comments and commas before a closing bracket are no mistakes. The error names line and column.
pub(super) fn read(text: &str) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str(&without_comments(text)).map_err(|error| error.to_string())
}

/// Puts blanks in the place of comments and trailing commas, so that places in the text stay.
fn without_comments(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let (mut at, mut comma) = (0, None);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at = end_of_text(&bytes, at);
                comma = None;
                continue;
            }
            b'/' if matches!(bytes.get(at + 1), Some(b'/' | b'*')) => {
                let end = end_of_comment(&bytes, at);
                bytes[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
                at = end;
                continue;
            }
            b',' => comma = Some(at),
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        at += 1;
    }
    // Whole characters became blanks, so it is still text.
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the place behind the text that begins here.
fn end_of_text(bytes: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the place behind the comment that begins here.
fn end_of_comment(bytes: &[u8], begin: usize) -> usize {
    let rest = &bytes[begin + 2..];
    let length = match bytes[begin + 1] {
        b'/' => rest.iter().position(|byte| *byte == b'\n'),
        _ => rest.windows(2).position(|pair| pair == b"*/").map(|place| place + 2),
    };
    length.map_or(bytes.len(), |length| begin + 2 + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn comments_and_trailing_commas_are_no_mistakes_and_texts_stay() {
        let text = "\u{feff}// ü\n{ /* a,\n */ \"a//b\": [1, 2, /* x */ ], \"c\": \"d /* e */ \\\" , ]\", }\n";
        assert_eq!(read(text), Ok(json!({ "a//b": [1, 2], "c": "d /* e */ \" , ]" })));
        for broken in ["{", "{\"a\": \"", "/*", "//", "{\"a\" 1}", "[1,,]"] {
            assert!(read(broken).is_err(), "{broken}");
        }
    }
}
