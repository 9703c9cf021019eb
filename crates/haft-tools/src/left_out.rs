//! Says in words what a walk left out, and how to get at it.
//!
//! A model that does not see a file concludes that it is not there. So every answer about a tree ends with what was
//! not looked at; the three tools that walk say it in the same words, each with its own way to get at it.

use haft::grouped::Grouped;
use haft::path::one_line;
use haft::search::LeftOut;

/// How a tool gets at what it left out, in words that name its arguments.
pub(crate) struct Ways {
    /// At what ignore files name.
    pub(crate) ignored: &'static str,
    /// At names that begin with a dot.
    pub(crate) hidden: &'static str,
}

/// Returns what was left out as parts of a sentence, the most surprising first; none when nothing was.
pub(crate) fn words(left_out: &LeftOut, ways: &Ways) -> Vec<String> {
    let mut parts = Vec::new();
    if left_out.secret > 0 {
        let files = Grouped(left_out.secret).of("secret-class file");
        let were = if left_out.secret == 1 { "was" } else { "were" };
        parts.push(format!("{files} {were} not searched: name one as \"path\" to ask for it"));
    }
    let passed: Vec<String> = [
        (left_out.ignored, "ignored"),
        (left_out.hidden, "hidden"),
        (left_out.binary, "binary"),
        (left_out.too_long, "with lines too long to search"),
        (left_out.beyond, "too deep or too many in one folder"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{} {what}", Grouped(count)))
    .collect();
    if !passed.is_empty() {
        parts.push(format!("left out: {}{}", passed.join(", "), how(left_out, ways)));
    }
    if left_out.unreadable > 0 {
        let paths: Vec<_> = left_out.unreadable_paths.iter().map(|path| one_line(path)).collect();
        let more = left_out.unreadable.saturating_sub(paths.len() as u64);
        let more = if more > 0 { format!(" and {} more", Grouped(more)) } else { String::new() };
        parts.push(format!("could not open {}{more}", paths.join(", ")));
    }
    parts
}

/// Returns the ways that are needed, in brackets.
fn how(left_out: &LeftOut, ways: &Ways) -> String {
    let mut how: Vec<&str> = [(left_out.ignored, ways.ignored), (left_out.hidden, ways.hidden)]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(_, way)| way)
        .collect();
    how.dedup();
    if how.is_empty() { String::new() } else { format!(" ({})", how.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_left_out_needs_no_words() {
        assert!(words(&LeftOut::default(), &Ways { ignored: "a", hidden: "b" }).is_empty());
    }

    #[test]
    fn only_the_ways_that_help_are_told_and_each_once() {
        let check = |ignored, hidden, ways: [&'static str; 2], expected: &str| {
            let left_out = LeftOut { ignored, hidden, binary: 1, ..LeftOut::default() };
            let [of_ignored, of_hidden] = ways;
            assert_eq!(words(&left_out, &Ways { ignored: of_ignored, hidden: of_hidden }), [expected]);
        };
        check(2, 3, ["one", "other"], "left out: 2 ignored, 3 hidden, 1 binary (one; other)");
        check(2, 3, ["same", "same"], "left out: 2 ignored, 3 hidden, 1 binary (same)");
        check(0, 3, ["one", "other"], "left out: 3 hidden, 1 binary (other)");
        check(0, 0, ["one", "other"], "left out: 1 binary");
    }
}
