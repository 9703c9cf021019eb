//! Stores a login: only the user can read it, and only one process at a time can change it.
//!
//! The identity of a client belongs to one authorization server. haft never sends it to another one.

use std::collections::{BTreeMap, BTreeSet};

use haft_host::opening::servers::records::ServerRecords;
use serde::{Deserialize, Serialize};

use super::challenge::Challenge;

/// The record of the login to one server.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct LoginRecord {
    /// The clients that haft has registered, by the authorization server.
    #[serde(default)]
    pub(super) registrations: BTreeMap<String, Registration>,
    /// The login.
    #[serde(default)]
    pub(super) grant: Option<Grant>,
    /// The authorization server that the client of the user's file was first used with.
    #[serde(default)]
    pub(super) issuer_of_client: Option<String>,
    /// The last refusal of the server: what the next login asks for.
    #[serde(default)]
    pub(super) challenge: Option<Challenge>,
    /// The rights that the logins asked for.
    #[serde(default)]
    pub(super) asked: BTreeSet<String>,
}

/// A client of an authorization server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Registration {
    pub(super) client_id: String,
    #[serde(default)]
    pub(super) secret: Option<String>,
    pub(super) method: ClientProof,
    /// The address to which the browser comes back.
    #[serde(default)]
    pub(super) redirect: Option<String>,
}

/// How a client shows that it is the one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ClientProof {
    /// It has no secret.
    None,
    /// By its secret in a header.
    ClientSecretBasic,
    /// By its secret in the form.
    ClientSecretPost,
}

/// What the authorization server gave.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Grant {
    pub(super) issuer: String,
    pub(super) token_endpoint: String,
    /// The server that it is for, exactly as the server writes it.
    pub(super) resource: String,
    pub(super) client: Registration,
    pub(super) access: String,
    #[serde(default)]
    pub(super) refresh: Option<String>,
    /// When it ends, in seconds since 1970.
    #[serde(default)]
    pub(super) ends_at: Option<u64>,
}

/// Where the record of one server is.
#[derive(Clone)]
pub(super) struct LoginPlace {
    records: ServerRecords,
    key: String,
}

impl LoginPlace {
    pub(super) fn new(records: ServerRecords, key: String) -> Self {
        Self { records, key }
    }

    /// Reads the record; the error is a sentence.
    pub(super) fn read(&self) -> Result<LoginRecord, String> {
        let text = self
            .records
            .read_login(&self.key)
            .map_err(|error| format!("haft does not use what it keeps of the login: {error}"))?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    /// Changes the record while no other process does.
    pub(super) fn change(&self, change: impl FnOnce(&mut LoginRecord)) -> Result<(), String> {
        let cannot = |error| format!("haft cannot write what it keeps of the login: {error}");
        let _held = self.records.lock_login(&self.key).map_err(cannot)?;
        let mut record = self.read()?;
        change(&mut record);
        self.write(&record)
    }

    /// Waits until no other process changes the record.
    pub(super) fn lock(&self) -> Result<impl Send + use<>, String> {
        let held = self.records.lock_login(&self.key);
        held.map_err(|error| format!("haft cannot lock what it keeps of the login: {error}"))
    }

    /// Writes the record. The caller holds the lock.
    pub(super) fn write(&self, record: &LoginRecord) -> Result<(), String> {
        let text = serde_json::to_string(record).map_err(|error| error.to_string())?;
        let written = self.records.write_login(&self.key, &text);
        written.map_err(|error| format!("haft cannot write what it keeps of the login: {error}"))
    }
}
