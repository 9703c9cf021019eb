//! Shows the change of one file in a question: a difference with the changed words marked, or a new file as code.
//!
//! Each line begins with `-` or `+`, so nothing depends on colours; the marks are underlines.

use anstyle::{AnsiColor, Style};
use haft_contract::plan::FileDiff;
use haft_contract::text::diff::{Diff, DiffLine};

use super::markdown::code;
use super::painted::painted;
use crate::screen::safe;
use crate::shown_diff::{self, DiffDisplayLine};

/// Returns the lines of a change, at most so many, painted.
pub(crate) fn lines(file: &FileDiff, most_lines: usize) -> Vec<String> {
    let shown = shown_diff::lines(&file.diff, most_lines);
    if is_new(&file.diff) { as_code(&shown, &file.path) } else { with_marks(&shown) }
}

/// Says whether all of it is new.
fn is_new(diff: &Diff) -> bool {
    let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines);
    diff.removed == 0 && diff.added > 0 && lines.into_iter().all(|line| matches!(line, DiffLine::Insert(_)))
}

fn as_code(shown: &[DiffDisplayLine], path: &str) -> Vec<String> {
    let inserted = |line: &DiffDisplayLine| match line {
        DiffDisplayLine::Insert(text) => Some(text.get(2..).unwrap_or_default().to_owned()),
        DiffDisplayLine::Header(_) | DiffDisplayLine::Equal(_) | DiffDisplayLine::Delete(_) => None,
    };
    let text: Vec<String> = shown.iter().filter_map(inserted).collect();
    let mut code = code::lines(&text.join("\n"), language_of(path)).into_iter();
    let plus = painted(AnsiColor::Green.on_default(), "+");
    let line = |line: &DiffDisplayLine| match line {
        DiffDisplayLine::Insert(_) => format!("{plus} {}", code.next().unwrap_or_default()),
        other => other.part().rendered(),
    };
    shown.iter().map(line).collect()
}

/// Returns the language of a file by its name.
fn language_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name {
        "Dockerfile" | "Makefile" => "make",
        _ => name.rsplit_once('.').map_or("", |(_, extension)| extension),
    }
}

/// Marks in lines that replace others which words differ.
fn with_marks(shown: &[DiffDisplayLine]) -> Vec<String> {
    let mut lines: Vec<String> = shown.iter().map(|line| line.part().rendered()).collect();
    let is_deleted = |line: &&DiffDisplayLine| matches!(line, DiffDisplayLine::Delete(_));
    let is_inserted = |line: &&DiffDisplayLine| matches!(line, DiffDisplayLine::Insert(_));
    let mut at = 0;
    while at < shown.len() {
        let deleted = shown[at..].iter().take_while(is_deleted).count();
        let inserted = shown[at + deleted..].iter().take_while(is_inserted).count();
        // Only lines that stand for each other are compared.
        for pair in (0..deleted).filter(|_| deleted == inserted) {
            let (old, new) = (at + pair, at + deleted + pair);
            if let (DiffDisplayLine::Delete(before), DiffDisplayLine::Insert(after)) = (&shown[old], &shown[new])
                && let Some((start, old_end, new_end)) = differing(before, after)
            {
                lines[old] = marked(before, start..old_end, AnsiColor::Red);
                lines[new] = marked(after, start..new_end, AnsiColor::Green);
            }
        }
        at += (deleted + inserted).max(1);
    }
    lines
}

/// Returns where two lines begin to differ and where they end to, at the edges of words; nothing where hardly anything is
/// the same.
fn differing(before: &str, after: &str) -> Option<(usize, usize, usize)> {
    let (old, new) = (words(before), words(after));
    // The sign in front is no word of the line.
    let same = 1 + old.iter().skip(1).zip(new.iter().skip(1)).take_while(|(one, other)| one == other).count();
    let room = old.len().min(new.len()).saturating_sub(same);
    let behind = old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count().min(room);
    let length = |words: &[&str]| words.iter().map(|word| word.len()).sum::<usize>();
    let (start, sign_length) = (length(old.get(..same)?), length(&old[..1]));
    let ends = (length(&old[..old.len() - behind]), length(&new[..new.len() - behind]));
    let length = before.len().saturating_sub(sign_length);
    let kept = length.saturating_sub(ends.0 - start);
    (kept * 3 > length).then_some((start, ends.0, ends.1))
}

/// Splits a line into its sign, and then words and what is between them.
fn words(line: &str) -> Vec<&str> {
    let (sign, mut rest) = line.split_at(line.len().min(2));
    let mut words = vec![sign];
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, behind) = rest.split_at(end);
        words.push(word);
        rest = behind;
    }
    words
}

fn marked(line: &str, bytes: std::ops::Range<usize>, colour: AnsiColor) -> String {
    let style = |style: Style, text: &str| painted(style, &safe(text));
    let plain = colour.on_default();
    let (before, rest) = line.split_at(bytes.start);
    let (middle, behind) = rest.split_at(bytes.end - bytes.start);
    format!("{}{}{}", style(plain, before), style(plain.bold().underline(), middle), style(plain, behind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::drawing::painted::bare;

    fn change(path: &str, before: &str, after: &str) -> Vec<String> {
        let diff = Diff::between(before, after, 3);
        lines(&FileDiff { path: path.into(), notes: Vec::new(), diff }, 100)
    }

    #[test]
    fn the_words_that_differ_are_marked_and_the_text_stays() {
        let shown = change("a.rs", "x\nlet total = count + 1;\ny\n", "x\nlet total = count + 22;\ny\n");
        let text: Vec<String> = shown.iter().skip(1).map(|line| bare(line).into_owned()).collect();
        assert_eq!(text, ["  x", "- let total = count + 1;", "+ let total = count + 22;", "  y"]);
        assert!(shown[2].contains("\u{1b}[4m\u{1b}[31m1\u{1b}[0m"), "{shown:?}");
        assert!(shown[3].contains("\u{1b}[4m\u{1b}[32m22\u{1b}[0m"), "{shown:?}");
        let other = change("a.txt", "one\n", "two\n");
        assert!(!other.concat().contains("\u{1b}[4m"), "lines that share nothing have no marks: {other:?}");
    }

    #[test]
    fn a_new_file_is_code_with_a_plus_in_front() {
        let shown = change("src/a.rs", "", "fn a() {}\n// \u{1b}[2J\n");
        let text: Vec<String> = shown.iter().skip(1).map(|line| bare(line).into_owned()).collect();
        assert_eq!(text, ["+ fn a() {}", "+ // \\u{1b}[2J"]);
        assert!(shown[1].contains("\u{1b}[35mfn"), "{shown:?}");
    }
}
