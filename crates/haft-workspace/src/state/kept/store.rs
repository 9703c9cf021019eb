//! The store of a workspace: holds long outputs, and results that may serve again.

use std::time::Duration;

use bytes::Bytes;
use haft_contract::BoxFuture;
use haft_contract::doors::door::{Page, PageRequest, Permit, RecalledEntry, SessionName, Spill, Spilling, Store};
use haft_contract::outcome::error::ToolError;

use crate::files::blocking;
use crate::state::{Results, Spills};

/// Everything that is kept for the calls of one workspace.
#[derive(Clone, Debug)]
pub struct StateStore {
    spills: Spills,
    results: Results,
}

impl StateStore {
    pub(in crate::state) fn new(spills: Spills, results: Results) -> Self {
        Self { spills, results }
    }
}

impl Store for StateStore {
    fn spill<'a>(&'a self, session: &'a SessionName, text: &'a str) -> BoxFuture<'a, Result<String, ToolError>> {
        self.spills.spill(session, text)
    }

    fn spilling(&self, session: &SessionName, most: u64) -> Result<Box<dyn Spilling>, ToolError> {
        self.spills.spilling(session, most)
    }

    fn spilled<'a>(
        &'a self,
        permit: &'a Permit,
        spill: Spill<'a>,
        request: PageRequest,
    ) -> BoxFuture<'a, Result<Page, ToolError>> {
        self.spills.spilled(permit, spill, request)
    }

    fn recall<'a>(&'a self, key: &'a [u8], no_older: Duration) -> BoxFuture<'a, Option<RecalledEntry>> {
        let (results, key) = (self.results.clone(), key.to_vec());
        Box::pin(async move { blocking(move || Ok(results.recall(&key, no_older))).await.ok().flatten() })
    }

    fn remember<'a>(&'a self, key: &'a [u8], kept: Bytes) -> BoxFuture<'a, ()> {
        let (results, key) = (self.results.clone(), key.to_vec());
        let keep = move || {
            results.remember(&key, &kept);
            Ok(())
        };
        // A call does not fail because its result could not be kept.
        Box::pin(async move { drop(blocking(keep).await) })
    }
}
