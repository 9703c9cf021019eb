//! Counts allocations per thread and without locks, so counting hardly affects the times.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Allocations of this thread since it began.
#[derive(Clone, Copy, Default)]
pub struct Allocations {
    /// How many, each growth of a buffer counted as one.
    pub count: u64,
    /// How many bytes they asked for.
    pub bytes: u64,
}

impl Allocations {
    /// Returns what was counted so far.
    pub fn so_far() -> Self {
        COUNTED.get()
    }

    /// Returns what was counted since then, for each of so many calls.
    pub fn per_call(since: Self, calls: u64) -> Self {
        let now = Self::so_far();
        Self { count: (now.count - since.count) / calls, bytes: (now.bytes - since.bytes) / calls }
    }
}

thread_local! {
    static COUNTED: Cell<Allocations> = const { Cell::new(Allocations { count: 0, bytes: 0 }) };
}

#[global_allocator]
static COUNTING: Counting = Counting;

struct Counting;

impl Counting {
    fn note(size: usize) {
        let Allocations { count, bytes } = COUNTED.get();
        COUNTED.set(Allocations { count: count + 1, bytes: bytes + size as u64 });
    }
}

// SAFETY: everything is passed to the system's allocator as it came. The counter is a constant cell
// without a destructor, so touching it neither allocates nor fails while a thread ends.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::note(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::note(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::note(size);
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { System.dealloc(block, layout) }
    }
}
