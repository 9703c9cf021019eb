//! Names of environment variables that mark their values as secrets.
//!
//! Two parts share this rule: the one that judges what a command shows, and the one that hides secrets in output. A name
//! is read in words, as people write it (`DB_PASS`, `SLACK_WEBHOOK_URL`), and without regard to case.
//!
//! Not here: what a secret looks like (the redactor of `haft-runtime`).

/// What says it anywhere in a name.
const PARTS: &[&str] = &[
    "SECRET",
    "TOKEN",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "APIKEY",
    "API_KEY",
    "PRIVATE_KEY",
    "ACCESS_KEY",
];
/// What says it as one of the words.
const WORDS: &[&str] = &["WEBHOOK", "COOKIE", "COOKIES", "JWT", "PGPASS", "SSHPASS"];
/// What says it at the end.
const ENDINGS: &[&str] = &["KEY", "PRIVATE", "COOKIE", "WEBHOOK"];
/// What says it as the last word.
const LAST_WORDS: &[&str] = &["PASS"];
/// What says it as the last word, unless there is no other.
const LAST_OF_SEVERAL: &[&str] = &["PAT", "AUTH", "SK", "DSN", "PWD", "CREDS", "KEYS"];

/// Services that one logs in to by an address with the password in it.
const SERVICES: &[&str] = &[
    "AMQP",
    "BROKER",
    "CASSANDRA",
    "CELERY",
    "CLICKHOUSE",
    "COCKROACH",
    "COUCHDB",
    "DATABASE",
    "DB",
    "ELASTICSEARCH",
    "JDBC",
    "KAFKA",
    "MARIADB",
    "MONGO",
    "MONGODB",
    "MYSQL",
    "NEO4J",
    "PG",
    "POSTGRES",
    "POSTGRESQL",
    "RABBITMQ",
    "REDIS",
    "SMTP",
    "SQLALCHEMY",
];
const ADDRESSES: &[&str] = &["URL", "URI"];

/// Returns whether a variable of this name holds a secret.
pub fn is_secret_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let words: Vec<&str> = words(&name);
    let last = words.last().copied().unwrap_or_default();
    PARTS.iter().any(|part| name.contains(part))
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || words.iter().any(|word| WORDS.contains(word))
        || LAST_WORDS.contains(&last)
        || (words.len() > 1 && LAST_OF_SEVERAL.contains(&last))
        || is_service_address(&name)
}

/// Returns whether a variable of this name holds the address of a service, in which there may be a password.
pub fn is_service_address(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let words = words(&name);
    let [before @ .., last] = words.as_slice() else { return false };
    let is_service = before.iter().any(|word| SERVICES.contains(word));
    (ADDRESSES.contains(last) && is_service) || name.ends_with("CONNECTION_STRING")
}

fn words(name: &str) -> Vec<&str> {
    name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_hold_secrets_are_known_by_the_words_of_their_names() {
        for name in [
            "OPENAI_API_KEY",
            "apikey",
            "AWS_SECRET_ACCESS_KEY",
            "GITHUB_TOKEN",
            "my_token",
            "npm_config__authToken",
            "DB_PASS",
            "PASS",
            "MYSQL_PWD",
            "PGPASSWORD",
            "PGPASS",
            "GH_PAT",
            "JWT",
            "CI_JOB_JWT",
            "NPM_AUTH",
            "STRIPE_SK",
            "DATABASE_URL",
            "REDIS_URL",
            "TEST_MONGODB_URI",
            "SLACK_WEBHOOK",
            "SLACK_WEBHOOK_URL",
            "SENTRY_DSN",
            "COOKIE",
            "SESSION_COOKIE",
            "AZURE_STORAGE_CONNECTION_STRING",
        ] {
            assert!(is_secret_variable(name), "{name}");
        }
    }

    #[test]
    fn variables_of_every_day_hold_no_secrets() {
        for name in [
            "PATH",
            "HOME",
            "PWD",
            "OLDPWD",
            "SSH_AUTH_SOCK",
            "SSH_ASKPASS",
            "GIT_ASKPASS",
            "KEYBOARD",
            "BYPASS",
            "COMPASS",
            "PATTERN",
            "PAT",
            "AUTH",
            "AUTHOR",
            "BASE_URL",
            "API_URL",
            "DB_HOST",
            "DBUS_SESSION_BUS_ADDRESS",
            "REDIS_PORT",
            "DATABASE",
            "URL",
            "",
        ] {
            assert!(!is_secret_variable(name), "{name}");
        }
    }
}
