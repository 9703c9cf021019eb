/// Takes a pair apart.
#[haft_contract::tool]
async fn pair(
    /// Two numbers.
    (a, b): (i64, i64),
    /// Nothing.
    _: bool,
) {
}

fn main() {}
