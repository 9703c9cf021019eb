/// Has an argument on some systems only.
#[haft::tool]
async fn conditional(
    /// A name.
    #[cfg(unix)]
    name: String,
) {
}

fn main() {}
