/// A point.
#[haft_contract::tool]
struct Point {
    x: i64,
}

fn main() {}
