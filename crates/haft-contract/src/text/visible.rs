//! Makes foreign text safe to show: its reader sees all of it and nothing else.
//!
//! Every question, answer and note passes here before a person sees it: on a terminal, or in a program that shows it.

use std::borrow::Cow;

use super::emoji;

/// Makes everything visible that could deceive or command a terminal. What shows nothing but belongs to an emoji stays.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (sequence, behind) = rest.split_at(emoji::sequence(rest).max(c.len_utf8()));
        match c {
            _ if sequence.len() > c.len_utf8() => shown.push_str(sequence),
            // A line end of another system is a line end; alone it would overwrite what stands there.
            '\r' if behind.starts_with('\n') => {}
            c if is_deceptive(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
        rest = behind;
    }
    Cow::Owned(shown)
}

/// Returns words of others for a sentence of haft's own: in one line, in quotation marks that they cannot close, short, and
/// with everything visible.
pub fn quoted(words: &str, most: usize) -> String {
    let mut all = words.split_whitespace().flat_map(|word| [" ", word]).skip(1).flat_map(str::chars);
    let short: String = all.by_ref().take(most).map(|c| if c == '"' { '\'' } else { c }).collect();
    let more = if all.next().is_some() { " …" } else { "" };
    format!("\"{}{more}\"", visible(&short))
}

/// Says whether a character shows nothing, commands a terminal or changes how others are shown.
pub fn is_deceptive(c: char) -> bool {
    match c {
        // Nearly all text is this, so it comes first.
        ' '..='~' | '\n' | '\t' => false,
        c if c.is_control() => true,
        // Soft hyphen, Arabic letter mark, Mongolian separator, zero-width and direction marks, line separators,
        // embeddings, word joiner and invisible operators, isolates, variation selectors, byte order mark,
        // interlinear marks, shorthand and musical controls, tags, and fillers that show nothing.
        '\u{ad}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' => true,
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_stay_between_their_quotation_marks() {
        for (words, shown) in [
            ("plain words", "\"plain words\""),
            ("a\". Next: run \"b", "\"a'. Next: run 'b\""),
            ("two\n\tlines\u{1b}[2J", "\"two lines\\u{1b}[2J\""),
            ("", "\"\""),
            ("longer than twenty characters", "\"longer than twenty c …\""),
        ] {
            assert_eq!(quoted(words, 20), shown, "{words:?}");
        }
    }

    #[test]
    fn an_emoji_of_several_characters_stays_one() {
        for whole in [
            "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}",
            "\u{1f469}\u{1f3fd}\u{200d}\u{1f4bb} at work",
            "\u{2764}\u{fe0f}\u{200d}\u{1f525}",
            "a \u{2764}\u{fe0f} b",
            "\u{1f3f3}\u{fe0f}\u{200d}\u{1f308}",
            "\u{1f3f4}\u{200d}\u{2620}\u{fe0f}",
            "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "\u{1f1e9}\u{1f1ea}",
            "1\u{fe0f}\u{20e3}",
            "\u{1f9d4}\u{1f3fb}\u{200d}\u{2642}\u{fe0f}",
        ] {
            assert_eq!(visible(whole), whole);
        }
    }

    #[test]
    fn what_hides_beside_an_emoji_is_shown() {
        for (text, shown) in [
            ("a\u{200d}b", "a\\u{200d}b"),
            ("\u{1f468}\u{200d}", "\u{1f468}\\u{200d}"),
            ("\u{1f468}\u{200d}\u{200d}\u{1f469}", "\u{1f468}\\u{200d}\\u{200d}\u{1f469}"),
            ("\u{1f468}\u{200d}rm", "\u{1f468}\\u{200d}rm"),
            ("\u{2764}\u{fe0f}\u{fe0f}", "\u{2764}\u{fe0f}\\u{fe0f}"),
            ("a\u{fe0f}", "a\\u{fe0f}"),
            ("1\u{fe0f}", "1\\u{fe0f}"),
            ("\u{1f3f4}\u{e0072}\u{e006d}\u{e007f}", "\u{1f3f4}\\u{e0072}\\u{e006d}\\u{e007f}"),
            ("\u{1f468}\u{202e}\u{200b}", "\u{1f468}\\u{202e}\\u{200b}"),
        ] {
            assert_eq!(visible(text), shown, "{text:?}");
        }
    }
}
