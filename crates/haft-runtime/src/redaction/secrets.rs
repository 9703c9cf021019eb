//! Learns what is secret in the workspace before a call runs that could show it.
//!
//! Programs may read files that hold secrets, or tests would fail; the model may not. So haft learns the values before a
//! program can print them, and hides them wherever they appear. For a call that reads one file, it looks at the first
//! level of the workspace. For a call that runs code or reads a tree, it looks at all of it; only the first look is a walk.
//!
//! Git keeps older versions of these files, and any file may be a copy of what git once printed. So haft reads them before
//! the first call, whatever that call is, and again when git's data changed.
//!
//! Not here: which texts of a file are secret (`redact`), finding the files (`haft-workspace`).

mod git_history;

use std::ffi::OsStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use haft_contract::doors::door::{Breadth, Receipt, SecretLook};
use haft_contract::effect::Effect;
use haft_contract::files::guarded::secret_kind;
use haft_contract::files::path::Extent;

use crate::pipeline::call_context::CallContext;
use crate::pipeline::stage::{CallStage, Halt};
use crate::pipeline::stages::execute::ExecutedCall;
use crate::runtime::RuntimeCore;
use git_history::{GitHistory, LookTiming};

/// How long a look at all of the workspace serves the call that made it, from its beginning.
const RECENT: Duration = Duration::from_millis(100);

/// What a runtime knows of the secrets of its workspace, beside the values.
#[derive(Debug, Default)]
pub(crate) struct KnownSecrets {
    /// Whether it was told that not everything could be looked at.
    told: AtomicBool,
    /// Whether haft has looked at all of the workspace before.
    looked: AtomicBool,
    /// Whether haft has looked at the first level of the workspace before.
    looked_near: AtomicBool,
    /// Held from a look at files until their values are hidden: a second look finds nothing new in files that the first one
    /// has read.
    looking: Mutex<()>,
    history: GitHistory,
}

impl KnownSecrets {
    fn note_whole_look(&self) {
        self.looked.store(true, Ordering::Relaxed);
        self.looked_near.store(true, Ordering::Relaxed);
    }
}

/// Learns what a call with these effects could show.
pub(crate) async fn learn_before(cx: &CallContext<'_>, effects: &[Effect]) {
    // Who touches nothing has nothing to show. If haft has just looked, and has not asked the user since, that look is enough.
    let is_recent = |at: Instant| at.elapsed() < RECENT;
    if !effects.is_empty() && !cx.note(|notes| notes.looked.is_some_and(is_recent)) {
        Box::pin(look(cx, breadth(effects), LookTiming::Before)).await;
    }
}

/// Learns what a call could show before anybody is asked about it, where nothing is known yet.
pub(crate) async fn learn_first(cx: &CallContext<'_>, effects: &[Effect]) {
    let breadth = breadth(effects);
    if breadth == Breadth::Whole && !cx.session.ground.secrets.looked.load(Ordering::Relaxed) {
        let began = Instant::now();
        Box::pin(look(cx, breadth, LookTiming::Before)).await;
        cx.note(|notes| notes.looked = Some(began));
    }
}

/// Learns what is secret at the first level of the workspace, where nothing is known yet.
pub(crate) fn learn_nearest(ground: &RuntimeCore) {
    if !ground.secrets.looked_near.load(Ordering::Relaxed) {
        hide_files(ground, Breadth::FirstLevel);
        ground.secrets.looked_near.store(true, Ordering::Relaxed);
    }
}

/// Learns what is secret in all of the workspace.
pub(crate) fn learn_all(ground: &RuntimeCore) {
    hide_files(ground, Breadth::Whole);
    ground.secrets.note_whole_look();
}

/// Hides the values in the secret files; returns what was found, and whether all values are hidden.
fn hide_files(ground: &RuntimeCore, breadth: Breadth) -> (SecretLook, bool) {
    let _others_wait = ground.secrets.looking.lock().unwrap_or_else(PoisonError::into_inner);
    let found = ground.doors.look.secrets(breadth);
    let is_all = ground.redactor.also_hide_files(&found.changed);
    (found, is_all)
}

/// Learns what a call has just made secret, what it left in git, and what the reason may show why another one was not made.
pub(crate) async fn learn_after(cx: &CallContext<'_>, outcome: &Result<Box<ExecutedCall>, Halt>) {
    let is_secret = |receipt: &Receipt| match receipt {
        Receipt::Changed(target, _) => secret_kind(target.place().path()).is_some(),
        Receipt::Read(..) | Receipt::Ran { .. } | Receipt::Exited(_) | Receipt::Sent(_) => false,
    };
    let was_not_made = matches!(outcome, Err(halt) if halt.at < CallStage::Execute);
    let receipts = cx.receipts();
    let when = if receipts.iter().any(has_run) { LookTiming::After } else { LookTiming::Before };
    if was_not_made || receipts.iter().any(is_secret) || when == LookTiming::After && receipts.iter().any(may_be_of_git)
    {
        Box::pin(look(cx, Breadth::Whole, when)).await;
    }
}

/// Returns whether a command ran: before it, all of the workspace was looked at.
fn has_run(receipt: &Receipt) -> bool {
    matches!(receipt, Receipt::Ran { .. })
}

/// Returns whether a call may have changed what git keeps: a bare repository can have any name.
fn may_be_of_git(receipt: &Receipt) -> bool {
    const PARTS: [&str; 7] = ["HEAD", "index", "logs", "objects", "packed-refs", "refs", "reftable"];
    let is_of_git = |part: &OsStr| part.as_encoded_bytes().ends_with(b".git") || PARTS.iter().any(|name| part == *name);
    match receipt {
        Receipt::Changed(target, _) => {
            target.place().extent() == Extent::Tree || target.place().path().iter().any(is_of_git)
        }
        Receipt::Ran { uncovered, .. } => uncovered.is_some(),
        Receipt::Read(..) | Receipt::Exited(_) | Receipt::Sent(_) => false,
    }
}

/// Says how far a call could see: what runs code sees everything, and tools that search pass secret files by.
fn breadth(effects: &[Effect]) -> Breadth {
    let is_narrow = |effect: &Effect| match effect {
        // What reads a whole tree walks it anyway.
        Effect::Read(target) => {
            target.place().extent() == Extent::Entry && secret_kind(target.place().path()).is_none()
        }
        Effect::Change(..) | Effect::Session(_) => true,
        _ => false,
    };
    if effects.iter().all(is_narrow) { Breadth::FirstLevel } else { Breadth::Whole }
}

/// Looks at files, and at what git keeps. Its future is large and most calls need none, so callers box it.
async fn look(cx: &CallContext<'_>, breadth: Breadth, when: LookTiming) {
    let ground = &cx.session.ground;
    let (found, is_all) = match breadth {
        Breadth::FirstLevel => hide_files(ground, breadth),
        Breadth::Whole => {
            // A call that is stopped meanwhile leaves nothing half known: the thread goes on.
            let shared = Arc::clone(ground);
            let hidden = tokio::task::spawn_blocking(move || hide_files(&shared, breadth)).await;
            ground.secrets.note_whole_look();
            hidden.unwrap_or((SecretLook { changed: Vec::new(), stores: Vec::new(), is_whole: false }, false))
        }
    };
    let is_whole = found.is_whole && is_all;
    if !is_whole && !ground.secrets.told.swap(true, Ordering::Relaxed) {
        let words = "There are more secrets in files here than haft looks at; values from the rest are not hidden.";
        cx.note(|notes| notes.warnings.push(words.to_owned()));
    }
    ground.secrets.history.learn(cx, found.stores, when).await;
}
