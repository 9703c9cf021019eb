//! Answers questions in a replay as in the recorded session, as far as a call stays in the copy.
//!
//! haft allows again what the session allowed, because changes to a copy do no harm. An effect on other files or other
//! machines would be permanent, so haft refuses it unless a rule allows it.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use haft_contract::BoxFuture;
use haft_policy::decision::Class;
use haft_policy::effect_kind::EffectReach;
use haft_runtime::asking::approval::{ApprovalRequest, Approver, Verdict};

use super::recorded::RecordedSession;
use crate::host::nobody;
use crate::options::Options;

/// Answers as it was answered then.
#[derive(Clone)]
pub struct AsThen {
    recorded: Arc<RecordedSession>,
    /// Whether ordinary questions about the copy have a yes in any case.
    says_yes: bool,
    /// The calls that reach beyond the copy.
    beyond: Arc<Mutex<HashSet<String>>>,
}

impl AsThen {
    pub fn new(recorded: Arc<RecordedSession>, options: &Options) -> Self {
        Self { recorded, says_yes: options.yes.is_some(), beyond: Arc::default() }
    }

    /// Returns whether a call was refused only because it reaches beyond the copy.
    pub fn reaches_beyond(&self, call: &str) -> bool {
        self.beyond.lock().unwrap_or_else(PoisonError::into_inner).contains(call)
    }
}

impl Approver for AsThen {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Verdict> {
        let then = self.recorded.then(request.call.as_str());
        if let Some(note) = then.and_then(|then| then.no()) {
            return Box::pin(async { Verdict::Refuse { note } });
        }
        let was_allowed = then.and_then(|then| then.field("status")).is_some_and(|status| status != "refused");
        let is_wanted = was_allowed || self.says_yes && request.ruling.class == Class::Ordinary;
        match request.reach {
            EffectReach::Workspace if is_wanted => Box::pin(async { Verdict::AllowOnce }),
            EffectReach::Beyond if was_allowed => {
                let call = request.call.as_str().to_owned();
                self.beyond.lock().unwrap_or_else(PoisonError::into_inner).insert(call);
                let how = "run it in the workspace itself: a replay does nothing outside of its copy".to_owned();
                Box::pin(async { Verdict::NoAnswer { how } })
            }
            EffectReach::Workspace | EffectReach::Beyond => Box::pin(async move { nobody().ask(request).await }),
        }
    }
}
