//! Reads keys for model providers from the environment and from `keys.toml` beside the configuration.
//!
//! The file uses the names of the variables: `ANTHROPIC_API_KEY = "…"`. haft uses it only if no other user can read it.
//! Messages about a mistake in it never repeat its content.
//!
//! Not here: which key is for which provider (`haft-cli`).

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};

use crate::environment::{NotText, text_of_variable};
use crate::file::Mistake;

/// Finds API keys in the environment and in the file of keys.
#[derive(Clone, Debug)]
pub struct ApiKeys {
    file: PathBuf,
    of_file: BTreeMap<String, SecretString>,
}

/// An API key, and the place where it was found.
#[derive(Clone, Debug)]
pub struct ApiKey {
    /// The key.
    pub value: SecretString,
    /// Its place, for people.
    pub from: KeyPlace,
}

/// Where a key was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// In a variable of the environment.
    Variable(String),
    /// Under this name in a file.
    File(String, PathBuf),
}

impl ApiKey {
    /// Returns the key itself, for a request.
    pub fn text(&self) -> &str {
        self.value.expose_secret()
    }
}

impl fmt::Display for KeyPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyPlace::Variable(name) => f.write_str(name),
            KeyPlace::File(name, file) => write!(f, "{name} in {}", file.display()),
        }
    }
}

impl ApiKeys {
    /// Reads the file of keys, which may not be there.
    pub fn read(config_folder: &Path) -> Result<Self, Mistake> {
        let file = config_folder.join("keys.toml");
        let mistake = |line, problem: String, fix: String| Mistake { file: file.clone(), line, problem, fix };
        let text = haft_workspace::state::read_secret_file(&file).map_err(|error| {
            let fix = format!("make it yours alone: chmod 600 {}", file.display());
            mistake(1, format!("cannot be used: {error}"), fix)
        })?;
        let fix = || "write one NAME = \"key\" on each line, such as OPENAI_API_KEY = \"…\"".to_owned();
        let text = text.unwrap_or_default();
        let parsed: BTreeMap<String, String> = toml::from_str(&text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
            mistake(line, "this is not a key".to_owned(), fix())
        })?;
        // What surrounds a key comes from copying it, and no header could carry a line end.
        let keys = parsed.iter().map(|(name, value)| (name, value.trim())).filter(|(_, value)| !value.is_empty());
        let of_file = keys.map(|(name, value)| (name.clone(), SecretString::from(value))).collect();
        Ok(Self { file, of_file })
    }

    /// Finds a key by its name, in the environment and then in the file.
    pub fn find(&self, name: &str) -> Result<Option<ApiKey>, NotText> {
        let is_set = |value: &str| !value.trim().is_empty();
        if let Some(value) = text_of_variable(name)?.filter(|value| is_set(value)) {
            let value = SecretString::from(value.trim());
            return Ok(Some(ApiKey { value, from: KeyPlace::Variable(name.to_owned()) }));
        }
        let from = || KeyPlace::File(name.to_owned(), self.file.clone());
        Ok(self.of_file.get(name).map(|value| ApiKey { value: value.clone(), from: from() }))
    }

    /// Returns all values of the file, to be hidden wherever something is shown.
    pub fn secrets(&self) -> Vec<String> {
        self.of_file.values().map(|value| value.expose_secret().to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[expect(clippy::disallowed_methods, reason = "a test puts a file there as a person would")]
    fn read(text: &str, mode: u32) -> Result<ApiKeys, String> {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = folder.path().join("keys.toml");
        std::fs::write(&path, text).expect("a file can be written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("it is ours");
        let place = format!("{}/", folder.path().display());
        ApiKeys::read(folder.path()).map_err(|mistake| mistake.to_string().replace(&place, ""))
    }

    #[test]
    fn keys_of_the_file_are_found_by_name_and_never_shown() {
        let keys = read("HAFT_TEST_KEY = \" sk-1\\n\"\nEMPTY = \" \"", 0o600).expect("it is in order");
        let find = |name| keys.find(name).expect("what is set is text");
        let key = find("HAFT_TEST_KEY").expect("it is there");
        assert_eq!(key.value.expose_secret(), "sk-1");
        assert!(key.from.to_string().ends_with("keys.toml"), "{}", key.from);
        assert!(find("EMPTY").is_none() && find("OTHER_TEST_KEY").is_none());
        assert!(!format!("{keys:?}{key:?}").contains("sk-1"));
        assert_eq!(keys.secrets(), ["sk-1"], "what is hidden is what is sent");
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let told = read("A = \"sk-1\"", 0o640).expect_err("the group may read it");
        assert_eq!(
            told,
            "keys.toml:1: cannot be used: others may read it: its mode is 640; make it yours alone: chmod 600 keys.toml"
        );
    }

    #[test]
    fn a_mistake_is_told_without_what_is_in_the_file() {
        for text in ["A = \"b\"\nsk-secret", "A = \"b\"\nB = [\"sk-secret\"]"] {
            let told = read(text, 0o600).expect_err("there is a mistake");
            assert!(told.starts_with("keys.toml:2: this is not a key; ") && !told.contains("sk-secret"), "{told}");
        }
    }
}
