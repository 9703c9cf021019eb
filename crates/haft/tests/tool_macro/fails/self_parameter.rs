/// Has a receiver.
#[haft::tool]
async fn method(&self) {}

fn main() {}
