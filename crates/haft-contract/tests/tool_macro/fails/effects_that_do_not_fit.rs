/// Names what is not there.
#[haft_contract::tool(reads = file, changes = cx)]
async fn missing(
    /// A file.
    path: RawPath,
    /// A number.
    number: i64,
    cx: &RunContext<'_>,
) {
}

/// Has nothing to name.
#[haft_contract::tool(reads = file)]
async fn empty() {}

/// Names what is something else.
#[haft_contract::tool(reads = text, reads_tree = number, changes = many, runs = path, connects = port)]
async fn other(
    /// A text.
    text: String,
    /// A number.
    number: i64,
    /// Many files.
    many: Vec<Target>,
    /// A file.
    path: Option<RawPath>,
    /// A port.
    port: u16,
) {
}

/// Does not say why it wants a target.
#[haft_contract::tool]
async fn silent(
    /// A file.
    path: Target,
    /// Another file.
    also: Option<Target>,
) {
}

fn main() {}
