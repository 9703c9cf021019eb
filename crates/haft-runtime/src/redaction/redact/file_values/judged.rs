//! Decides which values of a secret file are secrets, and which are words that any output may contain.
//!
//! Not here: where the values are in a file (`file_values`).

use haft_contract::files::guarded::is_secret_variable;

use super::super::SHORTEST;
use super::harmless::{is_everyday_word, is_placeholder};

/// Last words of names that say something about a secret.
const ABOUT: &[&str] = &[
    "AGE",
    "ALG",
    "ALGORITHM",
    "AUDIENCE",
    "BACKEND",
    "COUNT",
    "DAYS",
    "DIR",
    "DIRECTORY",
    "DOMAIN",
    "ENABLED",
    "ENDPOINT",
    "EXPIRATION",
    "EXPIRES",
    "EXPIRY",
    "FILE",
    "FORMAT",
    "HASHER",
    "HEADER",
    "HOST",
    "HOURS",
    "HTTPONLY",
    "IN",
    "ISSUER",
    "LENGTH",
    "LIFETIME",
    "LIMIT",
    "METHOD",
    "MINUTES",
    "MODE",
    "NAME",
    "PATH",
    "POLICY",
    "PORT",
    "PREFIX",
    "PROVIDER",
    "REGION",
    "ROUNDS",
    "SAMESITE",
    "SCOPE",
    "SCOPES",
    "SECONDS",
    "SECURE",
    "SIZE",
    "STORE",
    "SUFFIX",
    "TTL",
    "TYPE",
    "URI",
    "URL",
];
/// Settings of git that hold passwords.
const OF_GIT: &[&str] = &["extraheader", "smtppass"];
/// Keys that open nothing.
const OTHER_KEYS: &[&str] = &[
    "PUBLIC",
    "PUBLISHABLE",
    "SITE",
    "CACHE",
    "PRIMARY",
    "FOREIGN",
    "SORT",
    "PARTITION",
    "HASH",
    "ROUTING",
    "IDEMPOTENCY",
];
/// Values that settings of every day have.
const COMMON: &[&str] = &[
    "access",
    "account",
    "admin",
    "alpine",
    "always",
    "anonymous",
    "auto",
    "basic",
    "bearer",
    "beta",
    "body",
    "client",
    "console",
    "cookie",
    "cookies",
    "critical",
    "database",
    "debug",
    "demo",
    "docker",
    "email",
    "english",
    "error",
    "example",
    "expires",
    "fatal",
    "file",
    "global",
    "google",
    "guest",
    "header",
    "hello",
    "hidden",
    "host",
    "http",
    "https",
    "info",
    "invalid",
    "json",
    "latest",
    "linux",
    "live",
    "local",
    "login",
    "logs",
    "main",
    "master",
    "memory",
    "mongo",
    "mysql",
    "name",
    "never",
    "node",
    "notice",
    "optional",
    "postgres",
    "postgresql",
    "private",
    "prod",
    "public",
    "python",
    "query",
    "rabbitmq",
    "redis",
    "release",
    "required",
    "root",
    "sandbox",
    "secret",
    "server",
    "service",
    "session",
    "silent",
    "smtp",
    "sqlite",
    "sqlite3",
    "stage",
    "stdout",
    "stderr",
    "strict",
    "test",
    "tests",
    "text",
    "token",
    "trace",
    "user",
    "username",
    "utf-8",
    "utf8",
    "value",
    "verbose",
    "warn",
    "warning",
    "web",
    "yaml",
];

/// Values that are no secrets, whatever their name.
pub(super) fn is_plain(value: &str) -> bool {
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
        || is_placeholder(&value)
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

/// Returns whether a name says that its value is a secret, and not only something about one, as `COOKIE_DOMAIN` does.
pub(super) fn names_secret(name: &str) -> bool {
    if OF_GIT.iter().any(|of_git| name.eq_ignore_ascii_case(of_git)) {
        return true;
    }
    if !is_secret_variable(name) {
        return false;
    }
    let words = words(name);
    let (last, before) = match words.as_slice() {
        [.., before, last] => (last.as_str(), before.as_str()),
        [last] => (last.as_str(), ""),
        [] => return false,
    };
    let is_address_with_secret = words.iter().any(|word| word == "WEBHOOK");
    let is_about = ABOUT.contains(&last) && !before.is_empty() && !is_address_with_secret;
    let is_other_key = last == "KEY" && OTHER_KEYS.contains(&before);
    !is_about && !is_other_key && !words.iter().any(|word| word.starts_with("TOKENIZ"))
}

/// Returns the words of a name, in capitals: `cookieDomain` and `cookie_domain` have two.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() && was_lower {
            words.push(String::new());
        }
        was_lower = letter.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_uppercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns whether a value says where something is: an address or a path, with nothing random in it.
pub(super) fn is_harmless_place(value: &str) -> bool {
    let is_path =
        ["/", "./", "../", "~/"].iter().any(|begin| value.starts_with(begin)) && value.matches('/').count() > 1;
    let is_address = value.contains("://") || value.starts_with("file:") || value.starts_with("sqlite:");
    (is_path || is_address) && !value.contains(char::is_whitespace) && may_be_ordinary(value)
}

/// Values that settings of every day have: not even their names make them worth hiding, unless those say `password`.
pub(super) fn is_common(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_number = {
        let digits = lower.trim_start_matches('v').trim_end_matches(|letter: char| letter.is_ascii_lowercase());
        !digits.is_empty() && digits.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | '_' | '-'))
    };
    // A number with its unit, or a version.
    value.len() <= 3 || COMMON.contains(&lower.as_str()) || is_number && value.len() < 12 || is_harmless_place(value)
}

pub(super) fn is_word(value: &str) -> bool {
    value.chars().all(|c| c.is_ascii_lowercase()) || value.chars().all(|c| c.is_ascii_uppercase())
}

/// Passwords that are ordinary words elsewhere: each is hidden only with its name.
pub(super) fn is_default(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "postgres",
        "postgresql",
        "mysqlroot",
        "changeit",
        "rootroot",
        "adminadmin",
        "rabbitmq",
        "minioadmin",
        "guestguest",
        "example",
        "password123",
        "testtest",
        "test-key",
        "test_key",
        "dummy-key",
        "x-oauth-basic",
    ];
    WORDS.contains(&value.to_ascii_lowercase().as_str())
        || COMMON.contains(&value.to_ascii_lowercase().as_str())
        || is_everyday_word(value)
        || value.len() < 12 && value.chars().all(|c| c.is_ascii_digit())
}

/// Texts that are found in ordinary output too: words, a path, a date, an address without anything secret in it.
pub(in crate::redaction::redact) fn may_be_ordinary(value: &str) -> bool {
    let has_password = value.contains("://") && value.contains('@');
    let value = without_inner_signs(value);
    let parts = || value.split(|c: char| !c.is_alphanumeric());
    // A long number behind words is no port or year.
    let is_numbered = !value.contains(['/', '.', ':', '@'])
        && parts().any(|part| part.len() >= 5 && part.bytes().all(|byte| byte.is_ascii_digit()))
        && parts().count() > 1;
    !has_password && !is_numbered && parts().all(|part| !looks_random(part))
}

/// Returns a text without quotes and other signs that stand between two letters or digits: they part passwords, not words.
fn without_inner_signs(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let is_letter = |at: usize| letters.get(at).is_some_and(|letter| letter.is_alphanumeric());
    let is_inner =
        |at: usize| "\"'`!$^*#~+\\".contains(letters[at]) && at > 0 && is_letter(at - 1) && is_letter(at + 1);
    (0..letters.len()).filter(|at| !is_inner(*at)).map(|at| letters[at]).collect()
}

/// Returns whether a text looks generated: long, and not one word or number.
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
