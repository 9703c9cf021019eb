//! Matches the line that a model waits for: a text or, if the text is written like one, a regular expression.

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

    /// Returns what a line does that is waited for.
    pub(super) fn verb(&self) -> &'static str {
        if self.pattern.is_some() { "matches" } else { "contains" }
    }

    /// Returns whether an output has the line.
    pub(super) fn is_in(&self, output: &str) -> bool {
        let is_match = |pattern: &Regex| output.lines().any(|line| pattern.is_match(line));
        output.contains(self.text) || self.pattern.as_ref().is_some_and(is_match)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_as_it_is_and_a_pattern_by_its_meaning() {
        let output = "RERUN a.test.ts x1\n     Tests  3 passed (3)\nready (a.b) on [::1]:80\r\n";
        for (line, verb, is_in) in [
            ("Tests  3 passed (3)", "contains", true),
            ("Tests  \\d+ passed", "matches", true),
            ("^ready.*:80$", "matches", true),
            ("failed|RERUN", "matches", true),
            ("never|nowhere", "matches", false),
            ("(a.b)", "contains", true),
            // A dot alone is a dot.
            ("a.test.tx", "contains", false),
            ("3.passed", "contains", false),
            ("Tests.*ready", "matches", false),
            ("(\\d", "contains", false),
        ] {
            let awaited = AwaitedLine::new(line);
            assert_eq!((awaited.verb(), awaited.is_in(output)), (verb, is_in), "{line}");
        }
    }
}
