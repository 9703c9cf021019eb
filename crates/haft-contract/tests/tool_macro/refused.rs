//! What the macro says of a function that cannot be a tool.
//!
//! Only sentences of the macro are compared, since those of rustc differ between its versions.
//! After a change, `TRYBUILD=overwrite cargo test -p haft --test tool_macro` writes them again.

#[test]
fn what_cannot_be_a_tool_is_refused_with_a_sentence_at_the_culprit() {
    trybuild::TestCases::new().compile_fail("tests/tool_macro/fails/*.rs");
}
