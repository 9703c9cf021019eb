/// Is generic.
#[haft::tool]
async fn generic<T, const N: usize>(
    /// A value.
    value: T,
) where
    T: Send,
{
}

/// Has a lifetime.
#[haft::tool]
async fn borrowing<'a>(cx: &RunContext<'a>) {}

fn main() {}
