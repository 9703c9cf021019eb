//! The Rust program that the guide shows is an example, which the tests build and run.

const GUIDE: &str = include_str!("../../../docs/guide/first-tool.md");
const EXAMPLE: &str = include_str!("../examples/custom_tool.rs");

#[test]
fn the_program_of_the_guide_is_the_example_word_for_word() {
    let shown = GUIDE.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).expect("it shows a program");
    // The lines before say what the example is and how to run it.
    let (_, program) = EXAMPLE.split_once("\n\n").expect("it has a head");
    assert_eq!(shown, program);
}
