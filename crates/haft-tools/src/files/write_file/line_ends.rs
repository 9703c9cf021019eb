//! Gives a whole new content the line ends of the file that it replaces.
//!
//! A caller reads a file without its line ends and sends plain `\n`. So a kept line keeps its end, a changed line takes
//! the end of the line it replaces, and an added line takes that of the line before it. If the content has a `\r`
//! somewhere, haft writes it exactly as it was sent.
//!
//! Not here: edits, whose places are known without comparing (`edit/line_ends`).

use std::borrow::Cow;

use haft_contract::text::diff::counterparts;
use haft_contract::text::lines::{LineBreak, LineEnds};

/// New content with the line ends that belong to it.
pub(super) struct LineEndConversion<'c> {
    pub(super) text: Cow<'c, str>,
    /// What was done, when it is not what was sent.
    pub(super) note: Option<String>,
}

/// Returns a new content with the line ends of the old one.
pub(super) fn with_line_ends_of<'c>(old: &str, new: &'c str) -> LineEndConversion<'c> {
    let lines = ended_lines(old);
    let ends = lines.iter().fold(LineEnds::None, |ends, line| ends.and(LineEnds::of_line(line.end.as_bytes())));
    let is_plain = new.contains('\n') && !new.contains('\r');
    match ends {
        LineEnds::ReturnNewline | LineEnds::Return if is_plain => {
            let text = new.replace('\n', lines.first().map_or("\n", |line| line.end));
            LineEndConversion { text: text.into(), note: Some(format!("Its {ends} were kept.")) }
        }
        LineEnds::Mixed if is_plain => {
            let texts: Vec<&str> = lines.iter().map(|line| line.text).collect();
            let found = counterparts(&texts, &new.lines().collect::<Vec<_>>());
            match found {
                Some(counterparts) => one_by_one(&lines, new, &counterparts),
                None => all_alike(&lines, new),
            }
        }
        _ => LineEndConversion { text: new.into(), note: None },
    }
}

/// A line and its end, which the last one may lack.
struct LineWithEnd<'t> {
    text: &'t str,
    end: &'t str,
}

fn ended_lines(text: &str) -> Vec<LineWithEnd<'_>> {
    let line_break = char::from(LineBreak::of(&[text.as_bytes()]).byte());
    let split = |line| {
        let text = str::trim_end_matches(line, line_break);
        let text = text.strip_suffix('\r').unwrap_or(text);
        LineWithEnd { text, end: &line[text.len()..] }
    };
    text.split_inclusive(line_break).map(split).collect()
}

/// Gives each line the end of its counterpart in the old text.
fn one_by_one<'c>(lines: &[LineWithEnd<'_>], new: &str, counterparts: &[usize]) -> LineEndConversion<'c> {
    let mut text = String::with_capacity(new.len() + counterparts.len());
    for (line, counterpart) in new.split_inclusive('\n').zip(counterparts) {
        let Some(line) = line.strip_suffix('\n') else {
            text.push_str(line);
            break;
        };
        // The last line may have no end to give; it is never the first one, because then nothing would be mixed.
        let end = lines[..=*counterpart].iter().rev().map(|line| line.end).find(|end| !end.is_empty());
        text.push_str(line);
        text.push_str(end.unwrap_or("\n"));
    }
    let note = text.contains('\r').then(|| "Its mixed line ends were kept line by line.".to_owned());
    LineEndConversion { text: text.into(), note }
}

/// Gives all lines the end that most lines had: comparing took too long.
fn all_alike<'c>(lines: &[LineWithEnd<'_>], new: &str) -> LineEndConversion<'c> {
    let pairs = lines.iter().filter(|line| line.end == "\r\n").count();
    let (end, name) = if pairs * 2 > lines.len() { ("\r\n", "CRLF") } else { ("\n", "LF") };
    let note = format!("Its line ends were mixed and are all {name} now, because comparing took too long.");
    LineEndConversion { text: new.replace('\n', end).into(), note: Some(note) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: &str) {
        assert_eq!(with_line_ends_of(old, new).text, expected, "{new:?} in the place of {old:?}");
    }

    #[test]
    fn a_file_with_one_kind_of_line_ends_keeps_it() {
        check("a\r\nb\r\n", "a\nc\nd", "a\r\nc\r\nd");
        check("a\rb\r", "a\nc\n", "a\rc\r");
        check("a\nb", "a\nc\n", "a\nc\n");
        check("a", "b\nc\n", "b\nc\n");
        check("", "b\n", "b\n");
        assert_eq!(with_line_ends_of("a\rb\r", "c\n").note.as_deref(), Some("Its CR line ends were kept."));
        assert_eq!(with_line_ends_of("a\nb\n", "c\n").note, None);
    }

    #[test]
    fn a_content_with_returns_is_written_as_it_was_sent() {
        check("a\r\nb\r\n", "a\r\nb\n", "a\r\nb\n");
        check("a\nb\r\n", "a\rb\n", "a\rb\n");
    }

    #[test]
    fn mixed_line_ends_stay_with_their_lines() {
        check("a\r\nb\nc\r\n", "a\nb\nX\nc\n", "a\r\nb\nX\nc\r\n");
        check("a\r\nb\nc\r\n", "a\nb\nc\n", "a\r\nb\nc\r\n");
        check("a\r\nb\nc\r\n", "c\n", "c\r\n");
        check("a\r\nb\nc\r\n", "a\nB\nC\n", "a\r\nB\nC\r\n");
        check("a\r\nb\n", "x\ny\na\nb\nz", "x\r\ny\r\na\r\nb\nz");
        // A return in a line that ends in a newline is not a line end.
        check("a\r1\r\nb\n", "a\nb\n", "a\r\nb\n");
    }

    #[test]
    fn a_last_line_without_an_end_takes_that_of_the_line_before_it_when_it_needs_one() {
        check("a\nb\r\nc", "a\nb\nc\nd\n", "a\nb\r\nc\r\nd\r\n");
        check("a\nb\r\nc", "a\nb\nc", "a\nb\r\nc");
    }

    #[test]
    fn what_takes_too_long_to_compare_gets_the_end_of_most_lines() {
        let ended = all_alike(&ended_lines("a\r\nb\nc\r\n"), "x\ny\n");
        assert_eq!(ended.text, "x\r\ny\r\n");
        assert_eq!(all_alike(&ended_lines("a\r\nb\n"), "x\n").text, "x\n");
    }
}
