//! The floor: a call without haft. It reads the arguments and calls the function.

use serde::Deserialize;

use crate::calls::add;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    a: i64,
    b: i64,
}

/// Makes one call.
pub async fn call(arguments: &str) -> String {
    let Arguments { a, b } = serde_json::from_str(arguments).expect("the arguments are valid");
    serde_json::to_string(&add(a, b).await).expect("a number can be written")
}
