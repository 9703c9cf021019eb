//! Fills the arguments of a command into its prompt.

use crate::calling::typed_words::words;

/// Returns the prompt with its arguments: `$ARGUMENTS` is all of them as they were typed, `$1` to `$9` are single ones, quoted
/// as in a shell. A prompt that has no place for them gets them at its end. Arguments are never expanded themselves.
pub(super) fn expanded(prompt: &str, arguments: &str) -> String {
    let (words, _) = words(arguments);
    let word = |number: usize| words.get(number.saturating_sub(1)).map_or("", |word| word.text.as_str());
    let (mut text, mut rest, mut is_filled) = (String::with_capacity(prompt.len()), prompt, false);
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let (value, length) = match placeholder(behind) {
            Some(Placeholder::All) => (arguments, ALL.len()),
            Some(Placeholder::Number(number)) => (word(number), 1),
            None => ("$", 0),
        };
        is_filled |= length > 0;
        text.push_str(value);
        rest = &behind[length..];
    }
    text.push_str(rest);
    if !is_filled && !arguments.is_empty() {
        text.push_str(&format!("\n\nArguments: {arguments}"));
    }
    text
}

/// A place in a prompt that takes arguments.
enum Placeholder {
    All,
    Number(usize),
}

const ALL: &str = "ARGUMENTS";

/// Reads what stands behind a dollar sign. `$100` is a price.
fn placeholder(behind: &str) -> Option<Placeholder> {
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if let Some(rest) = behind.strip_prefix(ALL) {
        return (!goes_on(rest)).then_some(Placeholder::All);
    }
    let digit = behind.chars().next()?.to_digit(10).filter(|digit| *digit > 0)?;
    (!goes_on(&behind[1..])).then_some(Placeholder::Number(digit as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_filled_in_once_and_prices_stay() {
        for (prompt, arguments, expected) in [
            ("Fix $1 for $2.", "a 'b c'", "Fix a for b c."),
            ("All: $ARGUMENTS!", "a 'b c'", "All: a 'b c'!"),
            ("$1 costs $100, $0 or $ARGUMENTSX", "x", "x costs $100, $0 or $ARGUMENTSX"),
            ("$1", "$2 $ARGUMENTS", "$2"),
            ("[$3]", "one", "[]"),
            ("No place.", "one two", "No place.\n\nArguments: one two"),
            ("No place.", "", "No place."),
            ("ends with $", "", "ends with $"),
        ] {
            assert_eq!(expanded(prompt, arguments), expected, "{prompt}");
        }
    }
}
