#[haft_contract::tool(reeds = path)]
fn all<T>(text: &str, (a, b): (T, T)) {}

fn main() {}
