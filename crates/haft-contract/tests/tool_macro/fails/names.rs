/// Has a bad name.
#[haft_contract::tool(name = "add two")]
async fn add_two() {}

/// Has a name that providers do not accept.
#[haft_contract::tool]
async fn größe() {}

/// Leaves no name for a type.
#[haft_contract::tool]
async fn _1() {}

/// Leaves nothing at all.
#[haft_contract::tool]
async fn __() {}

/// Leaves a keyword.
#[haft_contract::tool]
async fn self_() {}

/// Has the name that its type would have.
#[haft_contract::tool]
async fn Add() {}

fn main() {}
