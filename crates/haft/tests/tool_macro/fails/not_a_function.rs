/// A point.
#[haft::tool]
struct Point {
    x: i64,
}

fn main() {}
