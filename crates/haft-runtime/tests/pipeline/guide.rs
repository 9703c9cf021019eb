//! What the guide shows in Rust is a program that is built with the tests.

const GUIDE: &str = include_str!("../../../../docs/guide/first-tool.md");
const EXAMPLE: &str = include_str!("../../examples/first_tool.rs");

#[test]
fn the_program_of_the_guide_is_the_example_word_for_word() {
    let shown = GUIDE.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).expect("it shows a program");
    // The lines before say what it is, and that it may print.
    let (_, program) = EXAMPLE.split_once("\n\n").expect("it has a head");
    assert_eq!(shown, program);
}
