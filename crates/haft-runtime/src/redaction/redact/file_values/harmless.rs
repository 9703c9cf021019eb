//! Recognizes names and values in secret files that reveal nothing: public names, and placeholders for a future value.
//!
//! Not here: other ordinary words (`judged`).

use std::sync::LazyLock;

use super::judged::{may_be_ordinary, words};

/// Words that code and its output are full of; one to a line or several, in lower case.
static EVERYDAY: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut words: Vec<&str> = include_str!("everyday_words.txt").split_whitespace().collect();
    words.sort_unstable();
    words
});

/// Last words of names whose values are printed everywhere: what was built, from what, and for which model.
const PRINTED: &[&str] =
    &["BRANCH", "COMMIT", "DIGEST", "MODEL", "REF", "RELEASE", "REV", "REVISION", "SHA", "TAG", "VERSION"];
/// Whose `ID` is no secret: it names something, and opens nothing.
const IDENTIFIED: &[&str] = &[
    "ACCOUNT",
    "AMI",
    "APP",
    "APPLICATION",
    "BUILD",
    "BUNDLE",
    "CHANNEL",
    "CLIENT",
    "CLUSTER",
    "CONTAINER",
    "DEPLOYMENT",
    "DISTRIBUTION",
    "GUILD",
    "IMAGE",
    "INSTANCE",
    "JOB",
    "MEASUREMENT",
    "ORG",
    "ORGANISATION",
    "ORGANIZATION",
    "PACKAGE",
    "PIPELINE",
    "POOL",
    "PRICE",
    "PRODUCT",
    "PROJECT",
    "PROPERTY",
    "SITE",
    "SPACE",
    "SUBNET",
    "SUBSCRIPTION",
    "TEAM",
    "TENANT",
    "TRACKING",
    "VPC",
    "WORKSPACE",
    "ZONE",
];
/// Keys that are there to be seen.
const PUBLIC_KEYS: &[&str] = &["PUBLIC", "PUBLISHABLE", "SITE"];

/// Returns whether a name says that its value is public: `GIT_COMMIT`, `PROJECT_ID`, `PUBLIC_KEY`.
pub(super) fn is_public_name(name: &str) -> bool {
    let words = words(name);
    match words.as_slice() {
        [.., before, last] if last == "ID" => IDENTIFIED.contains(&before.as_str()),
        [.., before, last] if last == "KEY" => PUBLIC_KEYS.contains(&before.as_str()),
        [.., last] => last == "PUBKEY" || PRINTED.contains(&last.as_str()),
        [] => false,
    }
}

/// Returns whether a value is a word that code and its output are full of.
pub(super) fn is_everyday_word(value: &str) -> bool {
    EVERYDAY.binary_search(&value.to_ascii_lowercase().as_str()).is_ok()
}

/// Returns whether a value stands for one to come: `changeme`, `your-key-here`, `<token>`, `sk-xxxxxxxx`.
pub(super) fn is_placeholder(value: &str) -> bool {
    const FIRST: &[&str] = &["add", "change", "enter", "fill", "generate", "insert", "paste", "put", "replace", "set"];
    const THEN: &[&str] = &["here", "in", "it", "me", "my", "some", "the", "this", "with", "your"];
    const WHOLE: &[&str] = &["changeme", "changethis", "fixme", "placeholder", "redacted", "replaceme", "todo", "tbd"];
    const YOURS: &[&str] = &[
        "account",
        "apikey",
        "domain",
        "email",
        "here",
        "host",
        "id",
        "key",
        "name",
        "pass",
        "passphrase",
        "password",
        "project",
        "pwd",
        "region",
        "secret",
        "token",
        "url",
        "user",
        "username",
        "value",
    ];
    let value = value.trim().to_ascii_lowercase();
    let in_brackets = [("<", ">"), ("{{", "}}"), ("[", "]"), ("%", "%"), ("__", "__")]
        .iter()
        .any(|(open, close)| value.len() > 4 && value.starts_with(open) && value.ends_with(close));
    let is_blank = |word: &str| word.len() >= 3 && word.bytes().all(|letter| letter == b'x');
    let signs = value.len() >= 3 && value.bytes().all(|sign| b"*.-_?#0".contains(&sign));
    let words: Vec<&str> =
        value.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let (first, last) = (words.first().copied().unwrap_or_default(), words.last().copied().unwrap_or_default());
    let is_said = words.iter().any(|word| WHOLE.contains(word))
        || FIRST.contains(&first) && words.get(1).is_some_and(|then| THEN.contains(then))
        || first == "your" && (words.len() > 1 && YOURS.contains(&last))
        || words.len() > 1 && last == "here"
        || words.last().is_some_and(|word| is_blank(word))
            && words.iter().all(|word| is_blank(word) || word.len() <= 4);
    signs || (in_brackets || is_said) && may_be_ordinary(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_to_come_is_told_from_a_value() {
        for value in [
            "changeme",
            "CHANGE_ME",
            "change-this",
            "please-changeme",
            "replace-with-your-key",
            "your-key-here",
            "your_api_key",
            "YOUR-SECRET-TOKEN",
            "put-your-token-here",
            "insert your password",
            "<your token>",
            "<password>",
            "{{ token }}",
            "[password]",
            "xxx",
            "xxxxxxxxxxxx",
            "sk-xxxxxxxxxxxx",
            "xxxx-xxxx-xxxx",
            "********",
            "...",
            "placeholder",
            "TBD",
            "__TOKEN__",
        ] {
            assert!(is_placeholder(value), "{value}");
        }
        for value in [
            "swordfish",
            "correct-horse-battery",
            "your-8a7b6c5d4e-key",
            "<k-9f8e7d6c5b>",
            "xylophone",
            "changemaker",
            "sk-live-9f8e7d6c5b",
            "hereafter",
            "set-fire-to-rain",
        ] {
            assert!(!is_placeholder(value), "{value}");
        }
    }

    #[test]
    fn names_of_public_values_are_known() {
        for name in [
            "GIT_COMMIT",
            "commitSha",
            "OPENAI_MODEL",
            "GOOGLE_PROJECT_ID",
            "project_id",
            "clientId",
            "OAUTH_CLIENT_ID",
            "STRIPE_PUBLISHABLE_KEY",
            "VAPID_PUBLIC_KEY",
            "RECAPTCHA_SITE_KEY",
            "APP_VERSION",
            "IMAGE_DIGEST",
        ] {
            assert!(is_public_name(name), "{name}");
        }
        for name in
            ["AWS_ACCESS_KEY_ID", "SECRET_ID", "SESSION_ID", "PRIVATE_KEY", "API_KEY", "ID", "KEY", "DB_PASSWORD"]
        {
            assert!(!is_public_name(name), "{name}");
        }
    }
}
