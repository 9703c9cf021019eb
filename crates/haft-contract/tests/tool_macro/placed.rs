//! Where a macro tool may stand, and what it leaves in its place.

use haft_contract::tool::Typed;
use serde_json::json;

use super::scene::call;

/// Has strict lints, imports nothing, and uses names that the macro could have used.
mod strict {
    #![deny(missing_docs, unused, unreachable_pub, private_interfaces, clippy::all, clippy::pedantic)]

    /// Is seen in the parent module only.
    #[haft_contract::tool]
    pub(super) async fn restricted(
        /// Says which.
        mode: Mode,
    ) -> ::std::string::String {
        ::std::string::String::from(match mode {
            Mode::Quiet => "quiet",
        })
    }

    /// Is private to the module's parent, so it may stand in the tool's arguments.
    #[derive(haft_contract::prelude::Deserialize, haft_contract::prelude::JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub(super) enum Mode {
        /// Says nothing.
        Quiet,
    }

    /// Shadows what the macro writes, were it to write short paths.
    #[allow(dead_code)]
    struct Result;
    #[allow(dead_code)]
    struct Option;
    #[allow(dead_code)]
    struct Plan;

    /// Is called as an argument of a generated function.
    #[haft_contract::tool]
    pub(super) async fn __args() {}

    /// Is called as another one, and has the variables of a plan for its own.
    #[haft_contract::tool(reads = path, changes = __effects)]
    pub(super) async fn __cx(
        /// The file.
        path: haft_contract::files::path::Target,
        /// Another file.
        __effects: haft_contract::files::path::RawPath,
    ) -> ::std::string::String {
        ::std::string::ToString::to_string(&path)
    }

    /// Is called as a variable in what schemars derives.
    #[haft_contract::tool]
    pub(super) async fn schema() {}

    /// Adds a method to everything that has the name of one that the macro could have called.
    trait Clone {
        #[allow(dead_code)]
        fn clone(&self) {}
    }

    impl<T> Clone for T {}
}

#[tokio::test]
async fn tools_share_a_module_with_each_other_and_with_any_names() {
    assert_eq!(call(strict::Restricted, json!({ "mode": "quiet" })).await, "quiet");
    assert_eq!(call(strict::Args, json!({})).await, "Done.");
    assert_eq!(call(strict::Schema, json!({})).await, "Done.");
    let paths = json!({ "path": "a", "__effects": "b" });
    assert_eq!(call(strict::Cx, paths).await, "would read a\nwould create b\na");
}

#[tokio::test]
async fn a_tool_may_stand_in_a_function() {
    /// Doubles a number.
    #[haft_contract::tool]
    async fn double(
        /// The number.
        number: i64,
    ) -> i64 {
        number * 2
    }

    assert_eq!(call(Double, json!({ "number": 4 })).await, "8\ndata 8");
}

/// Does not exist.
#[haft_contract::tool]
#[cfg(not(test))]
async fn left_out() -> ThisTypeDoesNotExist {}

/// Takes the place of the other.
#[haft_contract::tool]
#[cfg(test)]
#[allow(unused_mut)]
async fn left_out() {
    let mut _unchanged = 1;
}

#[test]
fn cfg_and_other_attributes_of_the_function_are_kept() {
    let _ = (Typed::new(LeftOut), left_out());
}

macro_rules! constant {
    ($name:ident, $kind:ty, $value:expr) => {
        /// Returns the same value every time.
        #[haft_contract::tool]
        async fn $name(
            /// Ignored.
            ignored: Option<$kind>,
        ) -> $kind {
            ignored.unwrap_or($value)
        }
    };
}

constant!(seven, i64, 7);

#[tokio::test]
async fn a_tool_may_be_written_by_another_macro() {
    assert_eq!(call(Seven, json!({})).await, "7\ndata 7");
}
