//! Lets a test end a change between two system calls, like a kill: nothing is cleaned up.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    static UNTIL_FAULT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Fails as on a full disk when its time has come.
pub(in crate::files) fn fault() -> std::io::Result<()> {
    let left = UNTIL_FAULT.get();
    UNTIL_FAULT.set(left.and_then(|left| left.checked_sub(1)));
    match left {
        Some(0) => Err(std::io::ErrorKind::StorageFull.into()),
        Some(_) | None => Ok(()),
    }
}

/// Does some work in which the nth operation finds the disk full.
pub(in crate::files) fn failing_at<T>(fault: usize, work: impl FnOnce() -> T) -> T {
    UNTIL_FAULT.set(Some(fault));
    let outcome = work();
    UNTIL_FAULT.set(None);
    outcome
}

/// Ends the work here when its time has come.
pub(in crate::files) fn point() {
    let left = LEFT.get();
    LEFT.set(left.map(|left| left.saturating_sub(1)));
    assert!(left != Some(0), "its time has come");
}

/// Does some work that ends at the point with this number; returns nothing if it ended there.
pub(in crate::files) fn ending_at<T>(point: usize, work: impl FnOnce() -> T) -> Option<T> {
    LEFT.set(Some(point));
    let outcome = catch_unwind(AssertUnwindSafe(work));
    LEFT.set(None);
    outcome.ok()
}
