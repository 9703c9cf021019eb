//! Recognizes secrets by shape: tokens of well-known kinds, values behind a telling name, passwords in addresses.
//!
//! There are three kinds, because each has its own cheap test whether a text can hold one at all. Most texts cannot, and
//! then haft does not even compile an expression.
//!
//! Not here: values that are known to be secret (`redact`). A short or plain word behind a name stays unchanged;
//! otherwise source code would not be readable.

mod private_keys;

use std::borrow::Cow;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind};
use regex::{Captures, Regex};

use super::{HIDDEN, SHORTEST};

/// A kind of token: how it begins, and what follows.
struct Token {
    beginnings: &'static [&'static str],
    rest: &'static str,
}

const fn token(beginnings: &'static [&'static str], rest: &'static str) -> Token {
    Token { beginnings, rest }
}

/// The kinds of tokens. Each begins with a text that hardly any other text has.
const TOKENS: &[Token] = &[
    token(&["sk-"], r"[A-Za-z0-9_-]{20,}"),
    token(&["sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "whsec_"], r"[A-Za-z0-9+/=]{10,}"),
    token(&["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"[A-Za-z0-9]{30,}"),
    token(&["github_pat_"], r"[A-Za-z0-9_]{30,}"),
    token(&["glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glsoat-", "glimt-", "glagent-"], r"[A-Za-z0-9_.-]{20,}"),
    token(&["xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-", "xoxe-", "xoxe.xoxp-", "xapp-"], r"[A-Za-z0-9-]{10,}"),
    token(&["hooks.slack.com/services/"], r"[A-Za-z0-9/]{20,}"),
    token(&["AKIA", "ASIA"], r"[0-9A-Z]{16}"),
    token(&["AIza"], r"[0-9A-Za-z_-]{35}"),
    token(&["GOCSPX-"], r"[A-Za-z0-9_-]{20,}"),
    token(&["ya29."], r"[A-Za-z0-9_-]{20,}"),
    token(&["npm_"], r"[A-Za-z0-9]{36}"),
    token(&["pypi-"], r"[A-Za-z0-9_-]{32,}"),
    token(&["rubygems_"], r"[0-9a-f]{40,}"),
    token(&["hf_", "api_org_"], r"[A-Za-z0-9]{30,}"),
    token(&["SG."], r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    token(&["dop_v1_", "doo_v1_", "dor_v1_"], r"[0-9a-f]{32,}"),
    token(&["gsk_", "xai-", "pplx-", "nvapi-", "tvly-", "fw_", "csk-"], r"[A-Za-z0-9_-]{24,}"),
    token(&["r8_"], r"[A-Za-z0-9]{30,}"),
    token(&["shpat_", "shpca_", "shppa_", "shpss_"], r"[0-9a-fA-F]{32}"),
    token(&["sq0atp-", "sq0csp-"], r"[A-Za-z0-9_-]{22,}"),
    token(&["dckr_pat_", "dckr_oat_"], r"[A-Za-z0-9_-]{20,}"),
    token(&["hvs.", "hvb.", "hvr."], r"[A-Za-z0-9_-]{20,}"),
    token(&["dp.pt.", "dp.st.", "dp.ct.", "dp.sa."], r"[A-Za-z0-9_.-]{20,}"),
    token(&["sntrys_", "sntryu_"], r"[A-Za-z0-9+/=_-]{30,}"),
    token(&["glsa_", "glc_"], r"[A-Za-z0-9+/=_]{30,}"),
    token(&["lin_api_", "lin_oauth_"], r"[A-Za-z0-9]{30,}"),
    token(&["ntn_"], r"[A-Za-z0-9]{40,}"),
    token(&["figd_"], r"[A-Za-z0-9_-]{30,}"),
    token(&["PMAK-"], r"[0-9a-f]{24}-[0-9a-f]{34}"),
    token(&["NRAK-"], r"[A-Z0-9]{27}"),
    token(&["sbp_", "sb_secret_"], r"[A-Za-z0-9_-]{20,}"),
    token(&["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], r"[A-Za-z0-9_.=-]{30,}"),
    token(&["tskey-"], r"[a-z]+-[A-Za-z0-9-]{16,}"),
    token(&["ATATT3x", "ATCTT3x"], r"[A-Za-z0-9_=-]{40,}"),
    token(&["AGE-SECRET-KEY-1"], r"[0-9A-Z]{50,}"),
    token(&["EAACEdEose0cBA"], r"[0-9A-Za-z]+"),
    token(&["eyJ"], r"[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
];

/// Values behind a telling name; the value is what was caught.
const NAMED: &[&str] = &[
    r#"(?i:secret_?access_?key)["']?\s*[=:]\s*["']?(?<aws>[A-Za-z0-9/+]{40})"#,
    r#"(?i:session_?token)["']?\s*[=:]\s*["']?(?<session>[A-Za-z0-9/+=]{80,})"#,
    r#"(?i:authorization)["']?\s*[:=]\s*["']?(?i:bearer|basic|token|apikey)\s+(?<header>[A-Za-z0-9._~+/-]{8,}=*)"#,
    r"\b(?i:bearer)\s+(?<bearer>[A-Za-z0-9._~+/-]{20,}=*)",
    r#"\b(?i:x-api-key|api-key|private-token|job-token|x-auth-token|x-vault-token|x-goog-api-key)["']?\s*:\s*["']?(?<key>[A-Za-z0-9._~+/-]{16,}=*)"#,
    r#"\b[A-Z0-9_]*(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|SECRET_KEY|ACCESS_KEY|PRIVATE_KEY|AUTH_KEY|SECRET_KEY_BASE|ACCOUNT_KEY)=["']?(?<assigned>[A-Za-z0-9+/_=-]{20,})"#,
    r"\b(?:AccountKey|SharedAccessKey)=(?<azure>[A-Za-z0-9+/]{40,}=*)",
];
/// Some part of each of them, in lower case.
const PARTS_OF_NAMED: &[&str] = &[
    "secret_access_key",
    "secretaccesskey",
    "session_token",
    "sessiontoken",
    "authorization",
    "bearer",
    "x-api-key",
    "api-key",
    "private-token",
    "job-token",
    "x-auth-token",
    "x-vault-token",
    "secret=",
    "token=",
    "password=",
    "passwd=",
    "key=",
    "key_base=",
];

/// The one behind which a value stands without `=` or `:`.
const BEARER_ALONE: &str = "bearer";

/// A password in an address: `scheme://user:password@host`.
const IN_ADDRESS: &str = r#"\b[A-Za-z][A-Za-z0-9+.-]*://(?<user>[^\s/:@"'`<>]*):(?<password>[^\s/@"'`<>]+)@"#;
/// Words that stand for a password in examples.
const PLACEHOLDERS: [&str; 7] = ["password", "passwd", "pass", "pwd", "pw", "secret", "token"];

static TOKEN_SHAPES: LazyLock<Regex> = LazyLock::new(|| {
    let kinds = TOKENS.iter().map(|kind| {
        let beginnings: Vec<String> = kind.beginnings.iter().map(|text| regex::escape(text)).collect();
        format!(r"\b(?:{})(?:{})", beginnings.join("|"), kind.rest)
    });
    let all: Vec<String> = kinds.collect();
    Regex::new(&all.join("|")).expect("the shapes are regular expressions")
});
static NAMED_SHAPES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&NAMED.join("|")).expect("the shapes are regular expressions"));
static ADDRESS_SHAPE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(IN_ADDRESS).expect("the shape is a regular expression"));

/// Returns the text without what looks like a secret.
pub(super) fn hide_shapes(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.len() < SHORTEST {
        return text;
    }
    let mut text = text;
    if begins_a_token(&text) {
        replace(&mut text, private_keys::hide);
        replace(&mut text, |text| TOKEN_SHAPES.replace_all(text, HIDDEN));
    }
    if has_a_telling_name(&text) {
        replace(&mut text, |text| NAMED_SHAPES.replace_all(text, hide_named));
    }
    if text.contains("://") && text.contains('@') {
        replace(&mut text, |text| ADDRESS_SHAPE.replace_all(text, hide_password));
    }
    text
}

fn replace(text: &mut Cow<'_, str>, by: impl Fn(&str) -> Cow<'_, str>) {
    let replaced = match by(text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(replaced) => Some(replaced),
    };
    if let Some(replaced) = replaced {
        *text = Cow::Owned(replaced);
    }
}

fn hide_named(found: &Captures<'_>) -> String {
    let whole = &found[0];
    let value = found.iter().skip(1).flatten().next().map_or("", |value| value.as_str());
    if is_plain(value) { whole.to_owned() } else { with_hidden_end(whole, value, "") }
}

/// Returns whether a value is a word or a name rather than a secret.
fn is_plain(value: &str) -> bool {
    let has = |is: fn(&char) -> bool| value.chars().any(|letter| is(&letter));
    let is_constant = !has(char::is_ascii_lowercase) && value.contains('_');
    let is_words = !has(char::is_ascii_digit) && value.len() < 16;
    let is_long_name = !has(char::is_ascii_digit) && value.contains(['_', '-', '.', '/']);
    is_constant || is_words || is_long_name || value.chars().all(|letter| letter.is_ascii_digit())
}

fn hide_password(found: &Captures<'_>) -> String {
    let (whole, user, password) = (&found[0], &found["user"], &found["password"]);
    let is_filled_in_later = password.starts_with(['$', '{', '%', '*', '[']) || password.starts_with("...");
    let is_example = PLACEHOLDERS.contains(&password.to_ascii_lowercase().as_str()) || password == user;
    if is_filled_in_later || is_example { whole.to_owned() } else { with_hidden_end(whole, password, "@") }
}

/// Returns a text with its end hidden, which is the secret and what follows it.
fn with_hidden_end(whole: &str, secret: &str, after: &str) -> String {
    let begin = whole.len().saturating_sub(secret.len() + after.len());
    format!("{}{HIDDEN}{after}", &whole[..begin])
}

/// Longest text that is looked through without an automaton, and how many of them: making one takes longer than that.
const SHORT_TEXT: usize = 2048;
const FIRST_TEXTS: usize = 32;

fn begins_a_token(text: &str) -> bool {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    static AUTOMATON: LazyLock<AhoCorasick> =
        LazyLock::new(|| fast().build(beginnings()).expect("short beginnings fit an automaton"));
    if is_one_of_few(text, &SEEN) {
        return beginnings().any(|beginning| text.contains(beginning));
    }
    AUTOMATON.is_match(text)
}

/// Builds an automaton that takes one step for each byte. Left alone, the crate saves memory where there are many texts.
fn fast() -> AhoCorasickBuilder {
    let mut builder = AhoCorasick::builder();
    builder.kind(Some(AhoCorasickKind::DFA));
    builder
}

fn beginnings() -> impl Iterator<Item = &'static str> {
    TOKENS.iter().flat_map(|kind| kind.beginnings.iter().copied()).chain(["-----BEGIN"])
}

/// Returns whether a text is short and one of the first: a process that says one thing and ends is the usual case, and
/// an automaton would take longer to build.
fn is_one_of_few(text: &str, seen: &AtomicUsize) -> bool {
    text.len() <= SHORT_TEXT && seen.load(Relaxed) < FIRST_TEXTS && seen.fetch_add(1, Relaxed) < FIRST_TEXTS
}

/// Returns whether a text has one of the signs that stand behind every telling name but one. Piece by piece, so that many
/// bytes are compared at a time.
fn has_a_sign(text: &str) -> bool {
    let has = |piece: &[u8]| piece.iter().fold(false, |found, &byte| found | (byte == b'=') | (byte == b':'));
    text.as_bytes().chunks(1024).any(has)
}

fn has_a_telling_name(text: &str) -> bool {
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    static AUTOMATON: LazyLock<AhoCorasick> = LazyLock::new(|| {
        let built = fast().ascii_case_insensitive(true).build(PARTS_OF_NAMED);
        built.expect("short names fit an automaton")
    });
    static BEARER: LazyLock<AhoCorasick> = LazyLock::new(|| {
        let built = AhoCorasick::builder().ascii_case_insensitive(true).build([BEARER_ALONE]);
        built.expect("one name fits an automaton")
    });
    if is_one_of_few(text, &SEEN) {
        let text = text.to_ascii_lowercase();
        return PARTS_OF_NAMED.iter().any(|part| text.contains(part));
    }
    (has_a_sign(text) || BEARER.is_match(text)) && AUTOMATON.is_match(text)
}

#[cfg(test)]
mod tests;
