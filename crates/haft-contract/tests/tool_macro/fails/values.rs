/// Has values of the wrong sort.
#[haft_contract::tool(name = add, title, reads = "path", reads(path), changes = a.b, "words.md")]
async fn values(
    /// A file.
    path: RawPath,
) {
}

/// Has the same, without the entry that is no entry.
#[haft_contract::tool(name = add, title, reads = "path", reads(path), changes = a.b, session = 1)]
async fn more_values(
    /// A file.
    path: RawPath,
) {
}

fn main() {}
