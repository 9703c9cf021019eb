//! Says in words what a walk left out, and how to get at it.
//!
//! A model that does not see a file concludes that it is not there. So every answer about a tree ends with what was
//! not looked at; the three tools that walk say it in the same words.

use haft::grouped::Grouped;
use haft::search::LeftOut;

/// Returns what was left out as parts of a sentence, the most surprising first; none when nothing was.
pub(crate) fn words(left_out: &LeftOut) -> Vec<String> {
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
        let how = if left_out.ignored + left_out.hidden > 0 { " (to look there, name it as \"path\")" } else { "" };
        parts.push(format!("left out: {}{how}", passed.join(", ")));
    }
    if left_out.unreadable > 0 {
        let paths: Vec<String> = left_out.unreadable_paths.iter().map(|path| one_line(path)).collect();
        let more = left_out.unreadable.saturating_sub(paths.len() as u64);
        let more = if more > 0 { format!(" and {} more", Grouped(more)) } else { String::new() };
        parts.push(format!("could not open {}{more}", paths.join(", ")));
    }
    parts
}

/// Returns a name on one line: it may hold line ends, and one entry stays one line.
pub(crate) fn one_line(name: &str) -> String {
    if name.contains(char::is_control) { name.escape_debug().to_string() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_left_out_needs_no_words() {
        assert!(words(&LeftOut::default()).is_empty());
    }
}
