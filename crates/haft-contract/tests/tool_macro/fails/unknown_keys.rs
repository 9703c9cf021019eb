/// Has keys that there are not.
#[haft_contract::tool(read = path, writes = path, description = "Reads.", destructive, nane = "x")]
async fn keys(
    /// A file.
    path: RawPath,
) {
}

fn main() {}
