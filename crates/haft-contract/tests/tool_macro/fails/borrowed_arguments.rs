/// Borrows what it cannot.
#[haft_contract::tool]
async fn borrow(
    /// Text.
    text: &str,
    /// Numbers.
    numbers: &[i64],
    /// A path.
    path: &std::path::Path,
    /// Texts.
    texts: Vec<&'static str>,
    /// Perhaps borrowed.
    cow: std::borrow::Cow<'_, str>,
    /// Any text.
    any: impl Into<String>,
) {
}

fn main() {}
