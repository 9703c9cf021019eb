//! Shows or drops characters that no reader of a document sees, as the results of MCP servers do.
//!
//! Most of them only mark where a line may break, and haft drops them. Joiners between letters of scripts that need them
//! stay. haft shows all others by their numbers, because they can hide text.

use haft_contract::text::visible::{is_deceptive, visible};

/// Returns a text in which everything is visible.
pub(super) fn shown(text: &str) -> String {
    if !text.chars().any(is_deceptive) {
        return text.to_owned();
    }
    let mut all = String::with_capacity(text.len());
    let mut begun = String::new();
    let mut before = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let needs = |neighbour: Option<char>| neighbour.is_some_and(needs_joiners);
        match letter {
            // Soft hyphen, zero-width space, direction marks, word joiner, byte order mark.
            '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2060}' | '\u{feff}' => continue,
            '\u{200c}' | '\u{200d}' if needs(before) && needs(letters.peek().copied()) => {
                all.push_str(&visible(&begun));
                begun.clear();
                all.push(letter);
            }
            letter => begun.push(letter),
        }
        before = Some(letter);
    }
    all + &visible(&begun)
}

/// Returns whether a letter is of a script that is written with joiners: Arabic, Syriac, and those of India.
fn needs_joiners(letter: char) -> bool {
    letter.is_alphabetic() && matches!(letter, '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}')
        || matches!(
            letter,
            '\u{94d}'
                | '\u{9cd}'
                | '\u{a4d}'
                | '\u{acd}'
                | '\u{b4d}'
                | '\u{bcd}'
                | '\u{c4d}'
                | '\u{ccd}'
                | '\u{d4d}'
                | '\u{dca}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_hidden_in_characters_that_show_nothing() {
        for (text, expected) in [
            ("plain text\n", "plain text\n"),
            ("hy\u{ad}phen zero\u{200b}width \u{feff}mark \u{200e}left\u{2060}", "hyphen zerowidth mark left"),
            ("tag\u{e0041}\u{e0042}", "tag\\u{e0041}\\u{e0042}"),
            ("\u{202e}turned\u{202c} \u{2066}apart\u{2069}", "\\u{202e}turned\\u{202c} \\u{2066}apart\\u{2069}"),
            ("a\u{200c}b a\u{200d}b", "a\\u{200c}b a\\u{200d}b"),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            ("क्\u{200d}ष", "क्\u{200d}ष"),
            ("\u{1f468}\u{200d}\u{1f469} \u{2764}\u{fe0f}", "\u{1f468}\u{200d}\u{1f469} \u{2764}\u{fe0f}"),
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }
}
