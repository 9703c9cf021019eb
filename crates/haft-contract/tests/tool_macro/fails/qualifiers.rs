/// Is not asynchronous.
#[haft_contract::tool]
fn waits() {}

/// Is constant.
#[haft_contract::tool]
const fn constant() {}

/// Is unsafe.
#[haft_contract::tool]
async unsafe fn risky() {}

/// Is foreign.
#[haft_contract::tool]
async extern "C" fn foreign() {}

fn main() {}
