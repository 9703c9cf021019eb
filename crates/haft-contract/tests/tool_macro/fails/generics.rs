/// Is generic.
#[haft_contract::tool]
async fn generic<T, const N: usize>(
    /// A value.
    value: T,
) where
    T: Send,
{
}

/// Has a lifetime.
#[haft_contract::tool]
async fn borrowing<'a>(cx: &RunContext<'a>) {}

fn main() {}
