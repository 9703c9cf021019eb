//! Code that only computes with numbers and prints the result; haft need not ask about it in any language.
//!
//! It contains no name but that of the print function, so it calls nothing else. Powers and shifts do not count as such
//! code: a few characters of them fill the memory.

/// Longer texts are read as code.
const LONGEST: usize = 200;
/// Functions that print what they get, in Python and JavaScript.
const PRINTING: [&str; 2] = ["print", "console.log"];

/// Returns whether a text prints what it computes from numbers, and nothing else.
pub(crate) fn only_prints(text: &str) -> bool {
    let text = text.trim().trim_end_matches(';');
    PRINTING.iter().filter_map(|name| text.strip_prefix(name)).any(|rest| rest.starts_with('(') && only_computes(rest))
}

/// Returns whether a text is an expression of numbers.
pub(crate) fn only_computes(text: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_digit() || " +-*/%().,<>=".contains(letter);
    let grows = ["**", "<<"].iter().any(|operator| text.contains(operator));
    !text.is_empty() && text.len() <= LONGEST && text.chars().all(is_part) && !grows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_computed_with_and_nothing_else_is() {
        for text in ["print(1+1)", "print( (7 // 2) % 3, 1.5 )", "console.log(1 + 1);", " print(2 >= 1) "] {
            assert!(only_prints(text), "{text}");
        }
        for text in [
            "print(x)",
            "print('a')",
            "print(9**9**9)",
            "print(1 << 99999)",
            "print(1); import os",
            "print(1)\nprint(2)",
            "print",
            "print(open(1))",
            "print(0x1f)",
            "print(1)`ls`",
            "print(1) # x",
            "print[1](1)",
            "eval(1)",
            "console.log(process)",
            "",
        ] {
            assert!(!only_prints(text), "{text}");
        }
        assert!(only_computes("1+1") && !only_computes("a") && !only_computes(&"1+".repeat(200)));
    }
}
