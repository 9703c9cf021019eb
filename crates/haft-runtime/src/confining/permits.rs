//! Issues permits; no other part of the product can.
//!
//! A permit opens the doors, so only a few callers in this crate use it: the stage that executes calls, hooks, the search
//! for secrets in git's history, pages of kept output, and inspections. The tidy test refuses the issuer's name elsewhere.

use std::sync::Arc;

use haft_contract::doors::door::{Permit, PermitIssuer, Provenance};
use haft_contract::effect::Effect;
use tokio_util::sync::CancellationToken;

/// Issues a permit for these effects.
pub(crate) fn issue(errand: Provenance, effects: Arc<[Effect]>, stop: CancellationToken) -> Permit {
    Permit::issue(&PermitIssuer::of_the_runtime(), errand, effects, stop)
}
