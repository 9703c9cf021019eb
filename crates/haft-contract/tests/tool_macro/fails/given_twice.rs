/// Says things twice.
#[haft_contract::tool(name = "a", name = "b", session = "todo", session = "todo", reads = path, changes = path, runs = line, connects = line)]
async fn twice(
    /// A file.
    path: Target,
    /// A line.
    line: String,
) {
}

/// Has two titles.
#[haft_contract::tool(words = "twice.md", title = "Twice")]
async fn titles() {}

fn main() {}
