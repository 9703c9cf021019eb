//! Helps to tell a provider what another provider's model said.
//!
//! A conversation may continue with another model. That model then gets the earlier replies in its own format, from the
//! view that all formats share. Ids and arguments that another provider accepted may not fit.

use serde_json::{Map, Value};

use crate::conversation::ModelToolCall;

/// The longest id that everybody takes.
const LONGEST_ID: usize = 64;

/// Returns an id that has only letters, digits, `_` and `-`: this one where it fits.
pub(crate) fn safe_id(id: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    if !id.is_empty() && id.len() <= LONGEST_ID && id.chars().all(fits) {
        return id.to_owned();
    }
    // With a hash, because two ids may differ only in what does not fit.
    format!("call_{}", &blake3::hash(id.as_bytes()).to_hex()[..24])
}

/// Returns the arguments of a call as an object. What is none, or was cut, is an empty one: an answer that says so
/// follows it.
pub(crate) fn arguments_or_nothing(call: &ModelToolCall) -> Value {
    let arguments = serde_json::from_str::<Map<String, Value>>(&call.arguments).ok().filter(|_| !call.is_cut);
    Value::Object(arguments.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::safe_id;

    #[test]
    fn an_id_that_does_not_fit_is_replaced_by_one_of_its_own() {
        assert_eq!(safe_id("toolu_01-A"), "toolu_01-A");
        let made = [safe_id(""), safe_id("a.b"), safe_id("a:b"), safe_id(&"a".repeat(65))];
        assert!(made.iter().all(|id| id.len() <= 64 && safe_id(id) == *id), "{made:?}");
        assert_ne!(made[1], made[2]);
    }
}
