/// Has a bad name.
#[haft::tool(name = "add two")]
async fn add_two() {}

/// Has a name that providers do not accept.
#[haft::tool]
async fn größe() {}

/// Leaves no name for a type.
#[haft::tool]
async fn _1() {}

/// Leaves nothing at all.
#[haft::tool]
async fn __() {}

/// Leaves a keyword.
#[haft::tool]
async fn self_() {}

/// Has the name that its type would have.
#[haft::tool]
async fn Add() {}

fn main() {}
