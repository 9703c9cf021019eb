/// Is not asynchronous.
#[haft::tool]
fn waits() {}

/// Is constant.
#[haft::tool]
const fn constant() {}

/// Is unsafe.
#[haft::tool]
async unsafe fn risky() {}

/// Is foreign.
#[haft::tool]
async extern "C" fn foreign() {}

fn main() {}
