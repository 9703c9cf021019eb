//! Tests every kind of token, every telling name, and texts that only look like a secret.

use super::*;

const LETTERS: &str = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0U1v2W3x4Y5z6a7B8c9D0e1F2g3H4i5J6k7L8m9N0";
const HEX: &str = "0123456789abcdef0123456789abcdef0123456789abcdef";

fn hidden(text: &str) -> String {
    hide_shapes(Cow::Borrowed(text)).into_owned()
}

/// Returns a text that fits the rest of a kind.
fn sample(kind: &Token) -> String {
    let shape = Regex::new(&format!("^(?:{})$", kind.rest)).expect("it is a regular expression");
    let upper = LETTERS.to_uppercase();
    let fixed = [
        format!("{}.{}", &LETTERS[..22], &LETTERS[..43]),
        format!("{}-{}", &HEX[..24], &HEX[..34]),
        format!("auth-{}", &LETTERS[..24]),
        format!("hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{LETTERS}"),
    ];
    let cut = |text: &str| (1..=text.len()).map(|end| text[..end].to_owned()).collect::<Vec<_>>();
    let all = [cut(LETTERS), cut(HEX), cut(&upper), fixed.to_vec()].concat();
    all.into_iter().rev().find(|text| shape.is_match(text)).unwrap_or_else(|| panic!("no sample fits {}", kind.rest))
}

#[test]
fn every_kind_of_token_is_hidden_with_every_beginning() {
    for kind in TOKENS {
        for beginning in kind.beginnings {
            let token = format!("{beginning}{}", sample(kind));
            for (before, after) in [("<", ">"), ("a: ", "\nb"), ("\"", "\","), ("KEY=", "")] {
                assert_eq!(hidden(&format!("{before}{token}{after}")), format!("{before}{HIDDEN}{after}"), "{token}");
            }
        }
    }
}

#[test]
fn a_value_behind_a_telling_name_is_hidden_and_the_name_stays() {
    let aws = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
    let token = &LETTERS[..32];
    for (text, secret) in [
        ("AWS_SECRET_ACCESS_KEY=", aws),
        ("export AWS_SECRET_ACCESS_KEY=\"", aws),
        ("aws_secret_access_key = ", aws),
        ("\"SecretAccessKey\": \"", aws),
        ("secretAccessKey: '", aws),
        ("AWS_SESSION_TOKEN=", LETTERS),
        ("\"SessionToken\": \"", LETTERS),
        ("Authorization: Bearer ", token),
        ("authorization: bearer ", token),
        ("\"Authorization\": \"Bearer ", token),
        ("Authorization: Basic ", "dXNlcjpodW50ZXIyaHVudGVyMg=="),
        ("Authorization: token ", token),
        ("Proxy-Authorization: Basic ", "dXNlcjpodW50ZXIy"),
        ("curl -H 'Authorization: Bearer ", token),
        ("Bearer ", token),
        ("Authorization: Bearer ", "abcdefghijklmnopqrstuvwx"),
        ("X-Api-Key: ", token),
        ("PRIVATE-TOKEN: ", token),
        ("x-vault-token: ", token),
        ("MY_API_KEY=", token),
        ("DB_PASSWORD=", token),
        ("SECRET_KEY_BASE=", HEX),
        ("SESSION_SECRET='", HEX),
        ("AccountKey=", &format!("{}==", &LETTERS[..60])),
    ] {
        assert_eq!(hidden(&format!("{text}{secret}")), format!("{text}{HIDDEN}"), "{text}{secret}");
        assert_eq!(hidden(&format!("{text}{secret}\nnext")), format!("{text}{HIDDEN}\nnext"), "{text}{secret}");
    }
}

#[test]
fn a_password_in_an_address_is_hidden_and_the_rest_stays() {
    for scheme in
        ["https", "http", "postgres", "postgresql+asyncpg", "mysql", "redis", "amqp", "mongodb+srv", "ftp", "ssh"]
    {
        for user in ["user", "", "o'neil@", "a%40b"] {
            let user = user.trim_end_matches('@').replace('\'', "");
            let text = format!("url: {scheme}://{user}:hunter2!x@db.example:5432/app?x=1");
            assert_eq!(hidden(&text), format!("url: {scheme}://{user}:{HIDDEN}@db.example:5432/app?x=1"));
        }
    }
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    for text in [
        "a risk-assessment-framework-version-two b",
        "task-1234 desk-lamp",
        "hf_hub_download(repo_id)",
        "pypi-server --port 80",
        "SG.com",
        "let token = bearer_token(request);",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer ${TOKEN}",
        "Authorization: Bearer <token>",
        "Authorization: Bearer YOUR_TOKEN_HERE",
        "\"Authorization: Bearer \" + token",
        "the bearer of this letter may pass",
        "Bearer authentication is described below",
        "AWS_SECRET_ACCESS_KEY=${{ secrets.AWS_SECRET_ACCESS_KEY }}",
        "AWS_SECRET_ACCESS_KEY=",
        "API_KEY=os.environ",
        "GITHUB_TOKEN=$GITHUB_TOKEN",
        "PASSWORD=changeme",
        "MAX_TOKEN=4096",
        "CACHE_KEY=linux-node20-npm-cache-v1-abcdef",
        "https://example.com/a:b@c",
        "https://user@host.example/path",
        "postgres://user:password@localhost/db",
        "postgres://postgres:postgres@localhost/db",
        "postgres://user:$PASSWORD@localhost/db",
        "postgres://{user}:{password}@{host}/db",
        "git@github.com:org/repo.git",
        "see http://a.example:8080/x and mail me@b.example",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----",
    ] {
        assert_eq!(hidden(text), text);
    }
}

#[test]
fn every_telling_name_has_a_part_that_is_looked_for() {
    for sample in
        ["AWS_SECRET_ACCESS_KEY=", "X-Goog-Api-Key: ", "SharedAccessKey=", "STORAGE_ACCOUNT_KEY=", "JOB-TOKEN: "]
    {
        let value = &LETTERS[..40];
        assert_eq!(hidden(&format!("{sample}{value}")), format!("{sample}{HIDDEN}"), "{sample}");
    }
}
