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
/// Longest text that is hidden in one piece, in bytes, and how long the pieces of a longer one are.
const LONGEST: usize = 256;
const PIECE: usize = 128;
/// What stands between a name and its value, in the ways in which programs write them.
const BETWEEN: &[&str] = &[
    "=",
    "=\"",
    "='",
    ": ",
    ": \"",
    ": '",
    ":\"",
    " = ",
    " = \"",
    " = '",
    "\":\"",
    "\": \"",
    "': '",
    "\\\":\\\"",
    " ",
];
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
        let mut is_in_key = false;
        // Some old files end their lines otherwise.
        let lines: Vec<&str> = text.split(['\n', '\r']).map(str::trim).collect();
        let is_token = lines.iter().filter(|line| !line.is_empty()).count() == 1;
        for line in lines {
            if line.starts_with("-----") {
                is_in_key = line.starts_with("-----BEGIN");
            } else if line.len() >= SHORTEST
                && (is_in_key || is_token && !line.contains([':', ' ']) && split(line).is_none())
            {
                self.hide(line);
                continue;
            }
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
        if line.ends_with(':') && !line.contains(char::is_whitespace) {
            return None;
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
        self.parts_that_look_random(value);
        let is_named = is_secret_variable(name);
        let is_long = value.len() >= SHORTEST || is_named && value.len() >= SHORTEST_NAMED && !is_word(value);
        let is_secret = if is_named { !is_default(value) } else { !may_be_ordinary(value) };
        if is_long && is_secret {
            self.hide(value);
            return self.as_written(line);
        }
        // It is hidden together with its name, however that is written.
        if !name.is_empty() && name.len() + value.len() >= SHORTEST {
            for between in BETWEEN {
                let shown = format!("{name}{between}{HIDDEN}");
                self.secrets.push(Secret { text: format!("{name}{between}{value}"), shown });
            }
        }
        self.as_written(line);
    }

    fn as_written(&mut self, line: Option<(&str, &str)>) {
        let Some((before, written)) = line else { return };
        let length = before.len() + written.len();
        if (SHORTEST..=LONGEST).contains(&length) {
            self.secrets.push(Secret { text: format!("{before}{written}"), shown: format!("{before}{HIDDEN}") });
        }
    }

    /// Hides a text wherever it is. A very long one is hidden piece by piece.
    fn hide(&mut self, text: &str) {
        let mut rest = text;
        while rest.len() > LONGEST {
            let end = (PIECE..rest.len()).find(|end| rest.is_char_boundary(*end)).unwrap_or(rest.len());
            self.secrets.push(Secret { text: rest[..end].to_owned(), shown: HIDDEN.to_owned() });
            rest = &rest[end..];
        }
        if rest.len() >= SHORTEST_NAMED {
            self.secrets.push(Secret { text: rest.to_owned(), shown: HIDDEN.to_owned() });
        }
    }

    /// Hides what looks random in a value that has parts: a list, a connection string, JSON.
    fn parts_that_look_random(&mut self, value: &str) {
        let is_between = |c: char| c.is_whitespace() || "\"'`,;{}[]()<>=:&|@/!*\\".contains(c);
        let parts: Vec<&str> = value.split(is_between).filter(|part| part.len() < value.len()).collect();
        for part in parts.into_iter().filter(|part| part.len() >= SHORTEST && !may_be_ordinary(part)) {
            self.hide(part);
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

/// Passwords that everybody has, which are ordinary words elsewhere.
fn is_default(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "postgres",
        "postgresql",
        "mysqlroot",
        "changeit",
        "changethis",
        "change-me",
        "change_me",
        "rootroot",
        "adminadmin",
        "rabbitmq",
        "minioadmin",
        "guestguest",
        "your-key-here",
        "example",
        "password123",
        "testtest",
        "test-key",
        "test_key",
        "dummy-key",
    ];
    WORDS.contains(&value.to_ascii_lowercase().as_str())
        || value.len() < 12 && value.chars().all(|c| c.is_ascii_digit())
}

/// Texts that are found in ordinary output too: words, a path, a date, an address without anything secret in it.
fn may_be_ordinary(value: &str) -> bool {
    let has_password = value.contains("://") && value.contains('@');
    let parts = || value.split(|c: char| !c.is_alphanumeric());
    // A long number behind words is no port or year.
    let is_numbered = !value.contains(['/', '.', ':', '@'])
        && parts().any(|part| part.len() >= 5 && part.bytes().all(|byte| byte.is_ascii_digit()))
        && parts().count() > 1;
    !has_password && !is_numbered && parts().all(|part| !looks_random(part))
}

/// Returns whether a text looks as if nobody had written it: long, and not one word or number.
fn looks_random(text: &str) -> bool {
    let count = |is: fn(&char) -> bool| text.chars().filter(&is).count();
    let (digits, letters) = (count(char::is_ascii_digit), count(|letter| letter.is_alphabetic()));
    let upper = count(char::is_ascii_uppercase);
    let lower = count(char::is_ascii_lowercase);
    // Changes between capitals and others: two for a name such as `myProject`, many in a random text.
    let kinds: Vec<bool> = text.chars().map(|letter| letter.is_ascii_uppercase()).collect();
    let changes = kinds.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let turns = text.as_bytes().windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    let is_mixed = digits > 0 && letters > 0 && (text.len() >= 8 || text.len() >= 5 && turns >= 3);
    let is_shaken = upper > 1 && lower > 1 && text.len() >= 12 && changes * 3 > text.len();
    is_mixed && !is_word_with_number(text) || is_shaken || text.len() > 40 || digits >= 16
}

/// A word and a number, as in `node20` or `production2024`.
fn is_word_with_number(text: &str) -> bool {
    let word = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_word = word.chars().all(char::is_lowercase)
        || word.chars().all(char::is_alphabetic) && word.chars().skip(1).all(char::is_lowercase);
    is_word && !word.is_empty() && text.len() - word.len() <= 4
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
            ("API_KEY=canary-12ab34cd", &["canary-12ab34cd"][..]),
            ("export A='canary 12ab34cd' # why", &["12ab34cd", "canary 12ab34cd"]),
            ("A = \"canary-12ab34cd\"\n", &["canary-12ab34cd"]),
            (
                "A=\"first-1a2b3c4d\nsecond-5e6f7a8b\"\nB=canary-12ab34cd",
                &["canary-12ab34cd", "first-1a2b3c4d", "second-5e6f7a8b"],
            ),
            ("a: canary-12ab34cd\nb:\n  - canary-56ef78ab\n", &["canary-12ab34cd", "canary-56ef78ab"]),
            ("{\"a\": {\"b\": [\"canary-12ab34cd\"]}}", &["canary-12ab34cd"]),
            (
                "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nAbCdEf12==\n-----END PRIVATE KEY-----",
                &["AbCdEf12==", "MIIEvQIBADANBg"],
            ),
            ("//host/:_authToken=canary-12ab34cd", &["canary-12ab34cd"]),
            ("DB_PASSWORD=hunter2", &["hunter2"]),
            ("DATABASE_URL=postgres://user:canary12@host/db", &["canary12", "postgres://user:canary12@host/db"]),
            (
                "CONN=\"Server=db;Password=Hunter2Hunter9x;\"",
                &["Hunter2Hunter9x", "Server=db;Password=Hunter2Hunter9x;"],
            ),
            ("KEYS=tok-99aa88bb,tok-77cc66dd", &["tok-77cc66dd", "tok-99aa88bb", "tok-99aa88bb,tok-77cc66dd"]),
            ("x = [\"tok-99aa88bb\"]", &["[\"tok-99aa88bb\"]", "tok-99aa88bb"]),
            ("a-token-of-words", &["a-token-of-words"]),
            ("# OLD_KEY=canary-12ab34cd", &["canary-12ab34cd"]),
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
            "TZ=Europe/Berlin",
            "AWS_REGION=eu-central-1",
            "ADMIN_EMAIL=a@example.com",
            "SINCE=2024-01-01",
            "VERSION=1.2.3-beta.4",
            "SOURCES=src/components",
            "IMAGE=node:20-alpine",
            "MODEL=gpt-4o-mini",
            "NODE_OPTIONS=--max-old-space-size=4096",
            "ADDRESS=192.168.1.10",
            "GREETING=\"Hello World\"",
            "REDIS=redis://redis:6379/0",
            "FEATURES=search,payments",
            "DB_PASSWORD=postgres",
            "metadata:",
        ] {
            assert_eq!(texts(file), Vec::<String>::new(), "{file}");
        }
        let secrets = secrets_in("NAME=swordfish");
        for written in ["NAME=swordfish", "NAME: swordfish", "NAME\": \"swordfish", "NAME=\"swordfish"] {
            let secret = secrets.iter().find(|secret| secret.text == written).expect("it is hidden with its name");
            assert_eq!(secret.shown, written.replace("swordfish", HIDDEN));
        }
        assert!(secrets_in("PORT=3000\nHOST=localhost").is_empty());
    }
}
