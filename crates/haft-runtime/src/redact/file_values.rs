//! Finds the secret texts in a file whose name says that it is secret.
//!
//! Files of many kinds are read in one way: a line is a name and a value, or it is a value as a whole, as in a key.
//! A value that is plainly none (a number, `true`, `localhost`) is left alone; one that may well be an ordinary word is
//! hidden only together with its name, or no output could be read any more.
//!
//! Not here: finding the files (`haft-workspace`), tokens that are known by their shape (`shapes`).

use haft::guarded::is_secret_variable;
use serde_json::Value;

use super::{HIDDEN, SHORTEST};

/// Shortest secret whose name says that it is one, where it is no plain word.
const SHORTEST_NAMED: usize = 6;
/// Longest single word that may be an ordinary one.
const LONGEST_WORD: usize = 12;
/// Most texts of one file.
const MOST: usize = 5_000;

/// A text to be hidden, and what stands in its place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Secret {
    pub(super) text: String,
    pub(super) shown: String,
}

/// Returns what is secret in a file.
pub(super) fn secrets_in(text: &str) -> Vec<Secret> {
    let mut found = Found::default();
    match serde_json::from_str::<Value>(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => found.in_json("", &value),
        _ => found.in_lines(text),
    }
    found.secrets.sort_unstable();
    found.secrets.dedup();
    found.secrets.truncate(MOST);
    found.secrets
}

#[derive(Default)]
struct Found {
    secrets: Vec<Secret>,
}

impl Found {
    fn in_json(&mut self, name: &str, value: &Value) {
        match value {
            Value::String(text) => {
                for line in text.lines() {
                    self.value(name, line, None);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.in_json(name, item)),
            Value::Object(fields) => fields.iter().for_each(|(name, field)| self.in_json(name, field)),
            Value::Number(number) if is_secret_variable(name) => self.value(name, &number.to_string(), None),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn in_lines(&mut self, text: &str) {
        // The quote that a value of several lines waits for, with the name of the value.
        let mut open: Option<(char, String)> = None;
        for line in text.lines() {
            let line = line.trim();
            if let Some((quote, name)) = &open {
                let name = name.clone();
                let (value, ends) = match line.split_once(*quote) {
                    Some((value, _)) => (value, true),
                    None => (line, false),
                };
                self.value(&name, value, None);
                if ends {
                    open = None;
                }
                continue;
            }
            if line.is_empty() || line.starts_with(['#', ';']) && !line.contains('=') || line.starts_with("-----") {
                continue;
            }
            open = self.in_line(line);
        }
    }

    /// Takes a line; returns the quote that stays open at its end, and the name before it.
    fn in_line(&mut self, line: &str) -> Option<(char, String)> {
        for (before, word) in line.split_whitespace().zip(line.split_whitespace().skip(1)) {
            if matches!(before, "password" | "account" | "passwd") {
                self.value("password", word, None);
            }
        }
        let Some((name, value)) = split(line) else {
            // Not a name and a value: a line of a key, or a token by itself. Fields may still be separated.
            self.value("", line.trim_start_matches("- "), None);
            if let Some((_, last)) = line.rsplit_once(':').filter(|_| !line.contains(char::is_whitespace)) {
                self.value("password", last, None);
            }
            return None;
        };
        let short = name.trim_start_matches("export ").trim().trim_matches(['"', '\'']);
        let quote = value.chars().next().filter(|first| matches!(first, '"' | '\'' | '`'));
        let inner = match quote {
            Some(quote) => {
                let rest = &value[1..];
                match rest.find(quote) {
                    Some(end) => &rest[..end],
                    None => {
                        self.value(short, rest, None);
                        return Some((quote, short.to_owned()));
                    }
                }
            }
            None => value.split(" #").next().unwrap_or(value).trim().trim_end_matches([',', ';']),
        };
        let as_written = &line[..line.len() - value.len()];
        self.value(short, inner, Some((as_written, value)));
        None
    }

    /// Takes a value with its name, and the line as it was written where both stand in one.
    fn value(&mut self, name: &str, value: &str, line: Option<(&str, &str)>) {
        let value = value.trim();
        if is_plain(value) {
            return;
        }
        self.password_in_address(value);
        let is_named = is_secret_variable(name);
        let is_long = value.len() >= SHORTEST || is_named && value.len() >= SHORTEST_NAMED && !is_word(value);
        if is_long && (is_named || !may_be_ordinary(value)) {
            self.secrets.push(Secret { text: value.to_owned(), shown: HIDDEN.to_owned() });
        }
        if let Some((before, written)) = line.filter(|(before, written)| before.len() + written.len() >= SHORTEST) {
            let text = format!("{before}{written}");
            self.secrets.push(Secret { text, shown: format!("{before}{HIDDEN}") });
            // The same in the other ways in which people write it.
            let short = before.trim_start_matches("export ");
            self.secrets.push(Secret { text: format!("{short}{value}"), shown: format!("{short}{HIDDEN}") });
        }
    }

    fn password_in_address(&mut self, value: &str) {
        let user_info = value.split_once("://").and_then(|(_, rest)| rest.split(['/', '?']).next()?.rsplit_once('@'));
        let Some((_, password)) = user_info.and_then(|(user_info, _)| user_info.split_once(':')) else { return };
        if password.len() >= SHORTEST_NAMED {
            self.secrets.push(Secret { text: password.to_owned(), shown: HIDDEN.to_owned() });
        }
    }
}

/// Parts a line into a name and a value.
fn split(line: &str) -> Option<(&str, &str)> {
    let is_name = |name: &str| {
        let name = name.trim_start_matches("export ").trim().trim_start_matches(['#', ';', '-']).trim();
        let name = name.trim_matches(['"', '\'']);
        !name.is_empty() && name.len() <= 200 && !name.contains(char::is_whitespace)
    };
    let by = |at: Option<usize>, length: usize| {
        let (name, value) = at.map(|at| (&line[..at], line[at + length..].trim_start()))?;
        (is_name(name) && !value.is_empty()).then_some((name, value))
    };
    // The padding at the end of a key is not a separator.
    let equals = line.find('=').filter(|at| !line[*at..].chars().all(|letter| letter == '='));
    let colon = line.find(": ").or_else(|| line.find("\":").map(|at| at + 1));
    match (equals, colon) {
        (Some(equals), Some(colon)) if colon < equals => by(Some(colon), 1),
        (Some(_), _) => by(equals, 1),
        (None, _) => by(colon, 1),
    }
}

/// Values that are no secrets, whatever their name.
fn is_plain(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "true",
        "false",
        "yes",
        "no",
        "on",
        "off",
        "null",
        "none",
        "undefined",
        "localhost",
        "development",
        "production",
        "staging",
        "testing",
        "default",
        "disabled",
        "enabled",
        "changeme",
        "password",
        "{",
        "[",
        "|",
        ">",
        "{}",
        "[]",
    ];
    let value = value.to_ascii_lowercase();
    value.len() < 3
        || WORDS.contains(&value.as_str())
        || value.len() < SHORTEST && value.chars().all(|c| c.is_ascii_digit() || c == '.')
        || value.starts_with("${") && value.ends_with('}')
        || is_own_address(&value)
}

/// An address of this machine, with nothing secret in it.
fn is_own_address(value: &str) -> bool {
    let rest = value.split_once("://").map_or(value, |(_, rest)| rest);
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_own = matches!(name, "localhost" | "127.0.0.1" | "0.0.0.0" | "[::1]" | "::1");
    is_own && !rest.contains('?')
}

fn is_word(value: &str) -> bool {
    value.chars().all(|c| c.is_ascii_lowercase()) || value.chars().all(|c| c.is_ascii_uppercase())
}

/// Texts that are found in ordinary output too: a word, an address without anything secret in it, a path.
fn may_be_ordinary(value: &str) -> bool {
    let is_short_word = value.len() <= LONGEST_WORD && value.chars().all(|c| c.is_ascii_alphabetic());
    let is_address = (value.starts_with("https://") || value.starts_with("http://")) && !value.contains(['@', '?']);
    let is_path = value.starts_with('/') && value.matches('/').count() > 1 && !value.contains(['+', '=']);
    is_short_word || is_address && value.split('/').all(|part| part.len() < 20) || is_path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(file: &str) -> Vec<String> {
        let hidden = secrets_in(file).into_iter().filter(|secret| secret.shown == HIDDEN);
        hidden.map(|secret| secret.text).collect()
    }

    #[test]
    fn values_are_found_in_files_of_many_kinds() {
        for (file, values) in [
            ("API_KEY=canary-1234", &["canary-1234"][..]),
            ("export A='canary 1234' # why", &["canary 1234"]),
            ("A = \"canary-1234\"\n", &["canary-1234"]),
            ("A=\"first-line-1\nsecond-line-2\"\nB=canary-1234", &["canary-1234", "first-line-1", "second-line-2"]),
            ("a: canary-1234\nb:\n  - canary-5678\n", &["canary-1234", "canary-5678"]),
            ("{\"a\": {\"b\": [\"canary-1234\"]}}", &["canary-1234"]),
            (
                "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nAbCdEf12==\n-----END PRIVATE KEY-----",
                &["AbCdEf12==", "MIIEvQIBADANBg"],
            ),
            ("//host/:_authToken=canary-1234", &["canary-1234"]),
            ("DB_PASSWORD=hunter2", &["hunter2"]),
            ("DATABASE_URL=postgres://user:canary12@host/db", &["canary12", "postgres://user:canary12@host/db"]),
            ("# OLD_KEY=canary-1234", &["canary-1234"]),
        ] {
            assert_eq!(texts(file), values, "{file}");
        }
        assert!(texts("host:5432:db:user:canary-12").contains(&"canary-12".to_owned()));
        assert!(texts("machine h login u password canary-12").contains(&"canary-12".to_owned()));
    }

    #[test]
    fn ordinary_values_are_hidden_only_with_their_names() {
        for file in [
            "PORT=3000",
            "DEBUG=true",
            "NODE_ENV=development",
            "HOST=localhost",
            "URL=http://localhost:3000/a",
            "NAME=myproject",
            "BASE=https://api.example.com/v1",
            "DIR=/var/lib/data",
            "REF=${OTHER_VALUE}",
        ] {
            assert_eq!(texts(file), Vec::<String>::new(), "{file}");
        }
        let secrets = secrets_in("NAME=swordfish");
        assert_eq!(secrets.len(), 1);
        assert_eq!((&*secrets[0].text, &*secrets[0].shown), ("NAME=swordfish", "NAME=[secret]"));
        assert!(secrets_in("PORT=3000\nHOST=localhost").is_empty());
    }
}
