/// Has a receiver.
#[haft_contract::tool]
async fn method(&self) {}

fn main() {}
