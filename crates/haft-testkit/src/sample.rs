//! The sample workspace that the examples of all manuals run in.

/// The files of the sample workspace: path and content.
pub const FILES: [(&str, &str); 4] = [
    ("README.md", "# Sample\n\nA small workspace that the examples of the manuals run in.\n"),
    ("src/main.rs", "fn main() {\n    println!(\"hello\");\n}\n"),
    ("src/lib.rs", "pub fn add(a: i64, b: i64) -> i64 {\n    a + b\n}\n"),
    ("notes.txt", "one\ntwo\nthree\nfour\nfive\n"),
];
