//! The line that a model waits for: a text or, where the text is written like one, a regular expression.

use regex::{Regex, RegexBuilder};

/// What a text has that is meant as a regular expression. A dot or a bracket alone may be meant as it is.
const OF_PATTERNS: &[&str] = &["\\d", "\\s", "\\w", "\\b", "\\.", ".*", ".+", "|"];
/// Largest compiled expression, in bytes.
const LARGEST: usize = 1 << 20;

/// A line to wait for.
pub(super) struct AwaitedLine<'a> {
    text: &'a str,
    pattern: Option<Regex>,
}

impl<'a> AwaitedLine<'a> {
    /// Reads what a model wrote.
    pub(super) fn new(text: &'a str) -> Self {
        let is_pattern =
            OF_PATTERNS.iter().any(|part| text.contains(part)) || text.starts_with('^') || text.ends_with('$');
        let compiled = || RegexBuilder::new(text).multi_line(true).crlf(true).size_limit(LARGEST).build().ok();
        Self { text, pattern: if is_pattern { compiled() } else { None } }
    }

    /// Says how an output has the line, if it does.
    pub(super) fn found_in(&self, output: &str) -> Option<&'static str> {
        if output.contains(self.text) {
            return Some("contains");
        }
        let is_match = self.pattern.as_ref().is_some_and(|pattern| output.lines().any(|line| pattern.is_match(line)));
        is_match.then_some("matches")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_as_it_is_and_a_pattern_by_its_meaning() {
        let output = "RERUN a.test.ts x1\n     Tests  3 passed (3)\nready (a.b) on [::1]:80\r\n";
        for (line, found) in [
            ("Tests  3 passed (3)", Some("contains")),
            ("Tests  \\d+ passed", Some("matches")),
            ("^ready.*:80$", Some("matches")),
            ("failed|RERUN", Some("matches")),
            ("(a.b)", Some("contains")),
            // A dot alone is a dot.
            ("a.test.tx", None),
            ("3.passed", None),
            ("Tests.*ready", None),
            ("(\\d", None),
        ] {
            assert_eq!(AwaitedLine::new(line).found_in(output), found, "{line}");
        }
    }
}
