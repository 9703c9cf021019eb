//! Text of others, so that whoever looks at it sees all of it and nothing else.
//!
//! Every question, answer and note passes here before a person sees it: on a terminal, or in a program that shows it.

use std::borrow::Cow;

/// Makes everything visible that could deceive or command a terminal.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            // A line end of another system is a line end; alone it would overwrite what stands there.
            '\r' if rest.peek() == Some(&'\n') => {}
            c if is_deceptive(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Says whether a character shows nothing, commands a terminal or changes how others are shown.
pub fn is_deceptive(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
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
