//! Hides private keys: from their first line to their last, and nothing behind them.
//!
//! A key may be cut, and its lines may have numbers or names in front of them. So haft hides the lines after the first
//! one as long as they look like a key. A text that only mentions such a line stays whole.

use std::borrow::Cow;

use super::super::HIDDEN;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const KIND: &str = "PRIVATE KEY";
/// Shortest run of letters that a line in the middle of a key has.
const SHORTEST_RUN: usize = 20;

/// Returns a text without private keys.
pub(super) fn hide(text: &str) -> Cow<'_, str> {
    let mut hidden = String::new();
    let mut done = 0;
    let mut from = 0;
    while let Some(begin) = text[from..].find(BEGIN).map(|at| from + at) {
        from = begin + BEGIN.len();
        let Some(end) = end_of_key(text, begin) else { continue };
        hidden.push_str(&text[done..begin]);
        hidden.push_str(HIDDEN);
        (done, from) = (end, end);
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    hidden.push_str(&text[done..]);
    Cow::Owned(hidden)
}

/// Returns where the key ends that begins here; nothing where none does.
fn end_of_key(text: &str, begin: usize) -> Option<usize> {
    let head_end = text[begin + BEGIN.len()..].find("-----").map(|at| begin + BEGIN.len() + at + 5)?;
    let head = &text[begin..head_end];
    if head.len() > 60 || !head.contains(KIND) {
        return None;
    }
    let mut end = None;
    let mut at = head_end;
    let mut lines = 0;
    for line in text[head_end..].split_inclusive('\n') {
        let (start, next) = (at, at + line.len());
        at = next;
        let content = line.trim_end_matches(['\n', '\r']);
        if let Some(found) = content.find(END) {
            // Behind the last line of a key other text may follow.
            let after = start + found + END.len();
            let close = content[found + END.len()..].find("-----").map(|close| after + close + 5);
            let is_key =
                lines > 0 || longest_run(&content[..found]) >= SHORTEST_RUN || content[..found].contains("MII");
            return is_key.then(|| close.unwrap_or(start + content.len())).or(end);
        }
        let is_first = lines == 0;
        match content.trim() {
            // The rest of the first line, or an empty one.
            "" => {}
            line if longest_run(line) >= SHORTEST_RUN || line.contains("MII") => {
                lines += 1;
                end = Some(start + content.len());
            }
            line if is_header(line) => {}
            // The last line of a key may be short.
            line if !is_first && line.len() < 80 && is_short_end(line) => end = Some(start + content.len()),
            _ => return end,
        }
    }
    end
}

/// Lines such as `Proc-Type: 4,ENCRYPTED`.
fn is_header(line: &str) -> bool {
    ["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:"].iter().any(|name| line.contains(name))
}

/// Letters of a key, and perhaps a number in front of them.
fn is_short_end(line: &str) -> bool {
    let last = line.rsplit([' ', '\t', ':', '-', '|', '+', '>']).next().unwrap_or(line);
    line.ends_with('=') || !last.is_empty() && last.len() >= 4 && last.bytes().all(is_letter) && looks_like_key(last)
}

fn looks_like_key(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit() || byte == b'/' || byte == b'+')
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn longest_run(line: &str) -> usize {
    line.as_bytes().split(|byte| !is_letter(*byte)).map(<[u8]>::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_hidden_to_its_end_and_nothing_behind_it() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
        let key = format!("-----BEGIN PRIVATE KEY-----\n{body}\nAb3=\n-----END PRIVATE KEY-----");
        for (text, shown) in [
            (format!("a\n{key}\nb\n"), "a\n[secret]\nb\n"),
            (format!("a {} b", key.replace('\n', "\\n")), "a [secret] b"),
            (
                format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\nrest of the output\n"),
                "[secret]\nrest of the output\n",
            ),
            (format!("1\t-----BEGIN RSA PRIVATE KEY-----\n2\t{body}\n3\tAb3=\n4\tfine\n"), "1\t[secret]\n4\tfine\n"),
            (
                "const h = '-----BEGIN PRIVATE KEY-----';\nconst b = 2;\n".to_owned(),
                "const h = '-----BEGIN PRIVATE KEY-----';\nconst b = 2;\n",
            ),
            ("-----BEGIN PRIVATE KEY-----\nAFTER\n1\n2\n".to_owned(), "-----BEGIN PRIVATE KEY-----\nAFTER\n1\n2\n"),
            (
                "H = \"-----BEGIN PRIVATE KEY-----\"\nx = 1\nF = \"-----END PRIVATE KEY-----\"".to_owned(),
                "H = \"-----BEGIN PRIVATE KEY-----\"\nx = 1\nF = \"-----END PRIVATE KEY-----\"",
            ),
        ] {
            assert_eq!(hide(&text), shown, "{text}");
        }
    }
}
