/// Has an argument on some systems only.
#[haft_contract::tool]
async fn conditional(
    /// A name.
    #[cfg(unix)]
    name: String,
) {
}

fn main() {}
