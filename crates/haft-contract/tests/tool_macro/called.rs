//! How a call of a macro tool goes from arguments to output.

use haft_contract::prelude::*;
use insta::assert_snapshot;
use serde_json::json;

use super::scene::call;

/// Adds two whole numbers.
#[haft_contract::tool]
async fn add(
    /// First number.
    a: i64,
    /// Second number.
    b: i64,
) -> Result<i64, ToolError> {
    a.checked_add(b)
        .ok_or_else(|| ToolError::failed("The sum is too large.", Next::FixArguments("use smaller numbers".into())))
}

#[tokio::test]
async fn a_call_returns_what_the_function_returns() {
    assert_snapshot!(call(Add, json!({ "a": 1, "b": 2 })).await, @"
    3
    data 3
    ");
}

#[tokio::test]
async fn an_error_of_the_function_is_the_error_of_the_call() {
    assert_snapshot!(call(Add, json!({ "a": i64::MAX, "b": 1 })).await, @"
    The sum is too large.
    Next: use smaller numbers
    ");
}

#[tokio::test]
async fn an_argument_that_is_no_parameter_is_refused() {
    assert_snapshot!(call(Add, json!({ "a": 1, "b": 2, "c": 3 })).await, @"
    add: $.c cannot be used: unknown field `c`, expected `a` or `b`.
    Next: change $.c
    ");
}

/// Has bounds.
#[haft_contract::tool]
async fn bounded(
    /// How many.
    limit: usize,
    /// How few.
    least: Option<u32>,
) -> String {
    format!("{limit} {least:?}")
}

#[tokio::test]
async fn a_number_that_is_too_large_for_its_type_is_refused_in_plain_words() {
    for (arguments, said) in [
        (json!({ "limit": 1e30 }), "$.limit: expected a whole number nearer to 0, received 1e+30"),
        (json!({ "limit": 18_446_744_073_709_551_616.0 }), "$.limit: expected a whole number nearer to 0, received"),
        (json!({ "limit": -1e30 }), "$.limit: expected a whole number nearer to 0, received -1e+30"),
        (json!({ "limit": 1, "least": 4_294_967_296_u64 }), "$.least: expected a whole number nearer to 0, received"),
    ] {
        let answer = call(Bounded, arguments).await;
        assert!(answer.contains(said), "{answer}");
        assert!(!["floating point", "usize", "u32", "i64"].iter().any(|word| answer.contains(word)), "{answer}");
    }
}

#[tokio::test]
async fn the_function_is_still_there() {
    assert_eq!(add(1, 2).await.expect("the sum is small"), 3);
}

/// Greets a person.
#[haft_contract::tool]
async fn greet(
    /// Who. Default: the world.
    mut name: Option<String>,
) -> String {
    format!("Hello, {}.", name.take().unwrap_or_else(|| "world".to_owned()))
}

#[tokio::test]
async fn an_option_may_be_left_out() {
    assert_snapshot!(call(Greet, json!({})).await, @"Hello, world.");
    assert_snapshot!(call(Greet, json!({ "name": "Ada" })).await, @"Hello, Ada.");
}

/// Does nothing.
#[haft_contract::tool]
async fn take_a_rest() {}

#[tokio::test]
async fn a_function_may_return_nothing() {
    assert_snapshot!(call(TakeARest, json!({})).await, @"Done.");
}

/// Says how many lines a read returns.
#[haft_contract::tool]
async fn read_limit(
    /// How many reads.
    reads: usize,
    cx: &haft_contract::context::RunContext<'_>,
) -> Result<Json<Vec<usize>>, ToolError> {
    cx.go_on()?;
    Ok(Json(vec![cx.limits().read_lines; reads]))
}

#[tokio::test]
async fn the_context_is_no_argument() {
    assert_snapshot!(call(ReadLimit, json!({ "reads": 2 })).await, @"
    [2000,2000]
    data [2000,2000]
    ");
}

/// Fails in its own way.
#[haft_contract::tool]
async fn parse(
    /// A number as text.
    text: String,
) -> Result<u32, NotANumber> {
    text.parse().map_err(|_| NotANumber(text))
}

struct NotANumber(String);

impl From<NotANumber> for ToolError {
    fn from(error: NotANumber) -> Self {
        ToolError::failed(format!("{:?} is no number.", error.0), Next::FixArguments("send digits".into()))
    }
}

#[tokio::test]
async fn an_error_that_becomes_a_tool_error_will_do() {
    assert_snapshot!(call(Parse, json!({ "text": "x" })).await, @r#"
    "x" is no number.
    Next: send digits
    "#);
}

/// Counts down.
#[haft_contract::tool]
async fn count(
    /// Where to begin.
    count: u32,
) -> Counted {
    Ok(Json((0..=count).rev().collect()))
}

type Counted = Result<Json<Vec<u32>>, ToolError>;

#[tokio::test]
async fn the_result_may_have_another_name_and_an_argument_that_of_the_function() {
    assert_snapshot!(call(Count, json!({ "count": 2 })).await, @"
    [2,1,0]
    data [2,1,0]
    ");
}
