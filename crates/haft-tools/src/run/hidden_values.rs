//! Restores hidden values where a new text has haft's placeholder for them, so no change loses one.
//!
//! A model sees `API_KEY=[secret]` and sends that line again, in a whole file or in an edit. It means the original line.
//! haft compares a line with the lines of the file as they were shown. If a line could mean several values, haft does
//! not guess.

use std::borrow::Cow;

use haft_contract::outcome::error::{FailedOperation, Next};
use haft_contract::prelude::*;
use haft_contract::text::hidden::{HIDDEN, Hides};

/// The lines of a file in which something is hidden.
pub(crate) struct HiddenValues<'t> {
    text: &'t str,
    lines: Vec<HiddenLine>,
    /// Whether something is hidden that goes over several lines, as a key does.
    is_over_lines: bool,
}

struct HiddenLine {
    shown: String,
    values: Vec<String>,
}

/// A text with its hidden values restored, and these values in order.
pub(crate) struct RestoredText<'n> {
    pub(crate) text: Cow<'n, str>,
    pub(crate) values: Vec<String>,
}

impl<'t> HiddenValues<'t> {
    /// Finds what is hidden in a file; nothing is looked for where no new text has the word.
    pub(crate) fn of(text: &'t str, hides: &dyn Hides, new: &[&str]) -> Self {
        let nothing = Self { text, lines: Vec::new(), is_over_lines: false };
        if !new.iter().any(|new| new.contains(HIDDEN)) {
            return nothing;
        }
        let Cow::Owned(shown) = hides.hide(text) else { return nothing };
        if shown.lines().count() != text.lines().count() {
            return Self { is_over_lines: true, ..nothing };
        }
        let pairs = text.lines().zip(shown.lines()).filter(|(real, shown)| real != shown);
        let lines = pairs.map(|(real, shown)| {
            let values = values_of(real, shown).unwrap_or_default();
            HiddenLine { shown: shown.to_owned(), values }
        });
        Self { text, lines: lines.collect(), is_over_lines: false }
    }

    /// Returns a text with the values that its placeholders stand for, or the line that could mean several or none.
    pub(crate) fn restored<'n>(&self, new: &'n str, before: &[String]) -> Result<RestoredText<'n>, usize> {
        let is_literal = self.lines.is_empty() && !self.is_over_lines;
        if is_literal || !new.contains(HIDDEN) {
            return Ok(RestoredText { text: Cow::Borrowed(new), values: Vec::new() });
        }
        let (mut text, mut values) = (String::new(), Vec::new());
        for (number, line) in (1..).zip(new.split_inclusive('\n')) {
            let core = line.trim_end_matches(['\n', '\r']);
            if !core.contains(HIDDEN) || self.text.lines().any(|real| real.contains(core)) {
                text.push_str(line);
                continue;
            }
            let Some(meant) = self.meant(core).or_else(|| self.in_order(core, (new, number))) else {
                return in_same_order(new, before).ok_or(number);
            };
            text.push_str(&filled(line, &meant));
            values.extend(meant);
        }
        Ok(RestoredText { text: Cow::Owned(text), values })
    }

    /// Returns the only values that the placeholders of a line can mean: the line was shown, or a name with its value.
    fn meant(&self, line: &str) -> Option<Vec<String>> {
        // A line may be copied with the number that it was shown with.
        let is_of_number = |letter: char| letter.is_ascii_digit() || letter.is_whitespace();
        let numbered = line.split_once('\t').filter(|(number, _)| number.chars().all(is_of_number));
        let unnumbered = numbered.and_then(|(_, line)| self.only(line));
        let beginning = line.find(HIDDEN).map(|at| line[..at + HIDDEN.len()].trim_start());
        let beginning =
            beginning.filter(|beginning| line.matches(HIDDEN).count() == 1 && beginning.len() > HIDDEN.len());
        let named = beginning.and_then(|beginning| beginning.rsplit(char::is_whitespace).next());
        let named = named.filter(|named| named.len() > HIDDEN.len());
        self.only(line).or(unnumbered).or_else(|| self.only(beginning?)).or_else(|| self.only(named?))
    }

    /// Returns the values in a part of a shown line, where all lines that have it have the same.
    fn only(&self, part: &str) -> Option<Vec<String>> {
        let count = part.matches(HIDDEN).count();
        let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
        let begins_name = part.starts_with(is_of_name);
        let mut found = self.lines.iter().flat_map(|line| {
            let is_whole = move |at: &usize| !begins_name || !line.shown[..*at].ends_with(is_of_name);
            line.shown.match_indices(part).map(|(at, _)| at).filter(is_whole).map(|at| {
                let first = line.shown[..at].matches(HIDDEN).count();
                // A part of the values of a line would lose the others.
                line.values.get(first..first + count).filter(|values| values.len() == line.values.len())
            })
        });
        let first = found.next()??;
        found.all(|values| values == Some(first)).then(|| first.to_vec())
    }

    /// Returns the values of a line of which a whole file has as many as before: the first means the first.
    fn in_order(&self, line: &str, (new, number): (&str, usize)) -> Option<Vec<String>> {
        let same: Vec<&HiddenLine> = self.lines.iter().filter(|known| known.shown == line).collect();
        let is_same = |other: &&str| *other == line;
        let before = new.lines().take(number - 1).filter(is_same).count();
        let all = new.lines().filter(is_same).count();
        let values = &same.get(before).filter(|_| same.len() == all)?.values;
        (!values.is_empty()).then(|| values.clone())
    }
}

/// Puts the values of the replaced text into the new one, where there are as many, or all are the same.
fn in_same_order<'n>(new: &'n str, before: &[String]) -> Option<RestoredText<'n>> {
    let count = new.matches(HIDDEN).count();
    let first = before.first()?;
    let values: Vec<String> = if before.len() == count {
        before.to_vec()
    } else {
        before.iter().all(|value| value == first).then(|| vec![first.clone(); count])?
    };
    Some(RestoredText { text: Cow::Owned(filled(new, &values)), values })
}

/// Puts values in the place of the placeholders, in order.
fn filled(text: &str, values: &[String]) -> String {
    let mut parts = text.split(HIDDEN);
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for (index, part) in parts.enumerate() {
        filled.push_str(values.get(index).map_or(HIDDEN, String::as_str));
        filled.push_str(part);
    }
    filled
}

/// Returns what was hidden in a line; nothing where that can be read in two ways.
fn values_of(real: &str, shown: &str) -> Option<Vec<String>> {
    let parts: Vec<&str> = shown.split(HIDDEN).collect();
    let (first, last) = (parts.first()?, parts.last()?);
    let mut rest = real.strip_prefix(first)?.strip_suffix(last)?;
    let mut values = Vec::new();
    for part in parts.get(1..parts.len() - 1).unwrap_or_default() {
        let (value, after) = rest.split_once(part).filter(|(value, _)| !part.is_empty() && !value.is_empty())?;
        values.push(value.to_owned());
        rest = after;
    }
    values.push(rest.to_owned());
    Some(values)
}

/// The error for a placeholder that could mean several values, or none.
pub(crate) fn unclear(target: &Target, argument: &str, line: usize) -> ToolError {
    let what = format!(
        "Line {line} of {argument} has {HIDDEN}, haft's word for a hidden value, and {target} has no such line or several. \
         Writing it would lose a value. The file was not touched."
    );
    let next = Next::FixArguments(format!(
        "keep each line with {HIDDEN} exactly as it was shown, together with the name before it, or edit only lines without it"
    ));
    ToolError::new(ErrorKind::BadArguments, what, next).about_file(target.to_string(), FailedOperation::Write)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Hiding;

    impl Hides for Hiding {
        fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
            let hidden = text.replace("k1-value", HIDDEN).replace("k2-value", HIDDEN);
            if hidden == text { Cow::Borrowed(text) } else { Cow::Owned(hidden) }
        }
    }

    const FILE: &str = "A=k1-value\nB=k2-value # why\nPORT=1\nURL=x://k1-value:k2-value@h\nk1-value\nk2-value\n";

    /// What is written, what is meant.
    const MEANT: &[(&str, &str)] = &[
        ("PORT=2\n", "PORT=2\n"),
        ("A=[secret]\nPORT=2\n", "A=k1-value\nPORT=2\n"),
        ("export A=[secret]\n", "export A=k1-value\n"),
        ("A=[secret] # new\r\nC=1", "A=k1-value # new\r\nC=1"),
        ("  B=[secret]", "  B=k2-value"),
        ("     2\tB=[secret] # why", "     2\tB=k2-value # why"),
        ("URL=x://[secret]:[secret]@h", "URL=x://k1-value:k2-value@h"),
        ("[secret]\nPORT=2\n[secret]\n", "k1-value\nPORT=2\nk2-value\n"),
    ];

    #[test]
    fn a_placeholder_is_the_value_that_it_was_shown_for() {
        for (written, meant) in MEANT {
            let values = HiddenValues::of(FILE, &Hiding, &[written]);
            let restored = values.restored(written, &[]).map(|restored| restored.text.into_owned());
            assert_eq!(restored.as_deref(), Ok(*meant), "{written}");
        }
        for unclear in ["C=[secret]", "RL=[secret]", "XA=[secret]", "[secret]", "x\n[secret]", "URL=x://[secret]@h"] {
            let values = HiddenValues::of(FILE, &Hiding, &[unclear]);
            assert!(values.restored(unclear, &[]).is_err(), "{unclear}");
        }
    }

    #[test]
    fn the_word_is_a_word_in_a_file_that_has_it_or_hides_nothing() {
        for (file, new) in [("a\n", "b=[secret]\n"), ("see [secret] here\nA=k1-value\n", "see [secret] here\n")] {
            let restored = HiddenValues::of(file, &Hiding, &[new]).restored(new, &[]).map(|new| new.text.into_owned());
            assert_eq!(restored.as_deref(), Ok(new));
        }
    }

    #[test]
    fn new_text_has_the_values_of_the_text_that_it_replaces() {
        let values = HiddenValues::of(FILE, &Hiding, &["[secret]"]);
        let old = values.restored("A=[secret]", &[]).expect("it is clear").values;
        let new = values.restored("RENAMED=[secret]", &old).map(|new| new.text.into_owned());
        assert_eq!(new.as_deref(), Ok("RENAMED=k1-value"));
    }
}
