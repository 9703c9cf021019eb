//! Issues permits: the one place of the product that can.
//!
//! A permit opens the doors, so the callers in this crate are few: the stage that executes calls, hooks, the look for
//! secrets in git's history, pages of kept output, and inspections. The tidy test refuses the issuer's name elsewhere.

use std::sync::Arc;

use haft_contract::door::{Permit, PermitIssuer, Provenance};
use haft_contract::effect::Effect;
use tokio_util::sync::CancellationToken;

/// Issues a permit for these effects.
pub(crate) fn issue(errand: Provenance, effects: Arc<[Effect]>, stop: CancellationToken) -> Permit {
    Permit::issue(&PermitIssuer::of_the_runtime(), errand, effects, stop)
}
