//! Remembers a server between runs: the command line that the user agreed to, and its tools at that time.

use std::path::Path;

use haft_host::opening::servers::local_code::LocalCode;
use haft_host::opening::servers::records::ServerRecords;
use haft_host::opening::servers::{ConfiguredServer, ServerScope, ServerSpec, ServerTransport};
use serde::{Deserialize, Serialize};

use super::link::connection::Era;
use super::offers::manifest::{Manifest, Offers};

/// Most characters of the last error that are kept.
const LONGEST_ERROR: usize = 2_000;

/// The record of one server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ServerRecord {
    /// The hash of what the user agreed to start.
    #[serde(default)]
    pub(crate) agreed: Option<String>,
    /// Hosts that the user granted beside those of the file.
    #[serde(default)]
    pub(crate) hosts: Vec<String>,
    /// The tools that the user agreed to.
    #[serde(default)]
    pub(crate) manifest: Option<Manifest>,
    /// What the server has beside tools.
    #[serde(default)]
    pub(crate) offers: Offers,
    /// The era that the server belongs to.
    #[serde(default)]
    pub(crate) era: Option<Era>,
    /// What went wrong the last time.
    #[serde(default)]
    pub(crate) last_error: Option<String>,
}

/// Where the record of one server is.
#[derive(Clone, Debug)]
pub(crate) struct RecordPlace {
    records: ServerRecords,
    pub(crate) key: String,
}

impl RecordPlace {
    /// Names the record of a server: of this name, in this file. Two servers never share one.
    pub(crate) fn of(server: &ConfiguredServer, scope: &ServerScope) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(server.file.as_os_str().as_encoded_bytes());
        hasher.update(&[0]);
        hasher.update(server.name.as_bytes());
        let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
        let name: String = server.name.chars().take(40).map(safe).collect();
        let key = format!("{name}-{}", &hasher.finalize().to_hex()[..16]);
        Self { records: ServerRecords::of(scope), key }
    }

    /// Reads the record. One that cannot be read counts as none: the user is asked again.
    pub(crate) fn read(&self) -> ServerRecord {
        self.records.read(&self.key).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// Writes the record; the error says why that is not possible.
    pub(crate) fn write(&self, record: &ServerRecord) -> Result<(), String> {
        let text = serde_json::to_string(record).map_err(|error| error.to_string())?;
        self.records
            .write(&self.key, &text)
            .map_err(|error| format!("haft cannot write its record of the server: {error}"))
    }

    /// Forgets the server.
    pub(crate) fn forget(&self) -> Result<(), String> {
        self.records.forget(&self.key).map_err(|error| format!("haft cannot write its record of the server: {error}"))
    }

    /// Notes what went wrong, or that nothing did. A call does not fail because that could not be noted.
    pub(crate) fn note_error(&self, error: Option<&str>) {
        let mut record = self.read();
        let error = error.map(|error| error.chars().take(LONGEST_ERROR).collect::<String>());
        if record.last_error != error {
            record.last_error = error;
            let _ = self.write(&record);
        }
    }
}

/// Returns the hash of what the user agrees to: the command line or the address, the folder and the variables as the file
/// has them, and the files of the workspace that the command line runs. A variable of the user's may have another value
/// the next day; which one is passed on stays the same.
pub(crate) fn consent_hash(spec: &ServerSpec, workspace: &Path) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &str| {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    };
    match &spec.reach {
        ServerTransport::Command { words, folder } => {
            add("command");
            add(&folder.as_ref().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default());
            words.iter().for_each(|word| add(word));
        }
        ServerTransport::Url(url) => {
            add("url");
            add(url);
        }
    }
    add("variables");
    spec.written_environment.iter().for_each(|(name, value)| {
        add(name);
        add(value);
    });
    add("hosts");
    spec.hosts.iter().for_each(|host| add(host));
    let code = LocalCode::of(spec, workspace);
    for (path, sign) in code.files() {
        add(&path.to_string_lossy());
        add(sign);
    }
    code.not_covered().iter().for_each(|part| add(part));
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_word_variable_or_host_is_another_consent() {
        let spec = |words: &[&str]| ServerSpec::of_words(words.iter().map(|word| (*word).to_owned()).collect());
        let consent_hash = |spec: &ServerSpec| consent_hash(spec, Path::new("/nowhere"));
        let plain = consent_hash(&spec(&["npx", "-y", "x"]));
        assert_eq!(plain, consent_hash(&spec(&["npx", "-y", "x"])));
        let mut with_variable = spec(&["npx", "-y", "x"]);
        with_variable.written_environment.insert("K".into(), "v".into());
        let mut with_host = spec(&["npx", "-y", "x"]);
        with_host.hosts.push("a.example".into());
        for other in
            [spec(&["npx", "-y", "x@2"]), spec(&["npx", "-yx"]), spec(&["npx", "-y x"]), with_variable, with_host]
        {
            assert_ne!(plain, consent_hash(&other), "{other:?}");
        }
    }
}
