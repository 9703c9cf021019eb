/// Takes a pair apart.
#[haft::tool]
async fn pair(
    /// Two numbers.
    (a, b): (i64, i64),
    /// Nothing.
    _: bool,
) {
}

fn main() {}
