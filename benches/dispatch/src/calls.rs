//! The tool that every contender has, and its calls.

/// Adds two whole numbers.
#[haft_contract::tool]
pub async fn add(
    /// First number.
    a: i64,
    /// Second number.
    b: i64,
) -> i64 {
    a.wrapping_add(b)
}

/// The arguments of one call as a model writes them. No two are the same, as in a conversation.
pub fn arguments(number: u64) -> String {
    format!(r#"{{"a": {number}, "b": 25}}"#)
}

/// The answer to [`arguments`] of the same number.
pub fn answer(number: u64) -> String {
    (number + 25).to_string()
}

/// A runtime of one thread: all contenders share it, and none pays for a second thread.
pub fn one_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime of one thread can be made")
}
