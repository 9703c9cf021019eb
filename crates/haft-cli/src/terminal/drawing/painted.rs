//! Text with colours: measures it, cuts it, and removes its colours.
//!
//! Colours are the sequences that `anstyle` writes into a text; they take no room. haft makes foreign text safe before it
//! paints it, so no other sequence is ever in it. It uses only the sixteen colours of the terminal's own palette, which are
//! readable on light and on dark backgrounds.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::screen::safe;

/// The meaning of painted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum Ink {
    Plain,
    Strong,
    Faint,
    Good,
    Bad,
    Warn,
    /// A name that can be typed: a command, a key, a path.
    Name,
}

impl Ink {
    pub(in crate::terminal) fn style(self) -> Style {
        match self {
            Ink::Plain => Style::new(),
            Ink::Strong => Style::new().bold(),
            Ink::Faint => Style::new().dimmed(),
            Ink::Good => AnsiColor::Green.on_default(),
            Ink::Bad => AnsiColor::Red.on_default(),
            Ink::Warn => AnsiColor::Yellow.on_default(),
            Ink::Name => AnsiColor::Cyan.on_default(),
        }
    }
}

/// Paints a text of others on one line: it is made safe, and its line ends are shown.
pub(in crate::terminal) fn paint(ink: Ink, text: &str) -> String {
    painted(ink.style(), &safe(text).replace('\n', "\\n").replace('\t', "    "))
}

/// Paints a text that is safe already.
pub(in crate::terminal) fn painted(style: Style, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
}

/// Returns how many columns a text takes, as most terminals count.
pub(in crate::terminal) fn width(text: &str) -> usize {
    pieces(text).map(|piece| if piece.is_colour { 0 } else { piece.text.width() }).sum()
}

/// Returns the most columns that a text takes on any terminal: some show the parts of an emoji side by side.
pub(in crate::terminal) fn widest(text: &str) -> usize {
    let of = |text: &str| text.chars().map(|c| c.width().unwrap_or(1)).sum::<usize>().max(text.width());
    pieces(text).map(|piece| if piece.is_colour { 0 } else { of(piece.text) }).sum()
}

/// Cuts a text so that it takes at most so many columns on any terminal.
pub(in crate::terminal) fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if widest(text) <= columns {
        return Cow::Borrowed(text);
    }
    let room = columns.saturating_sub(1);
    let (mut kept, mut used, mut has_colour) = (String::new(), 0, false);
    for piece in pieces(text) {
        if piece.is_colour {
            kept.push_str(piece.text);
            has_colour = true;
            continue;
        }
        for c in piece.text.chars() {
            used += c.width().unwrap_or(1);
            if used > room {
                kept.push_str(if columns == 0 { "" } else { "…" });
                kept.push_str(if has_colour { "\u{1b}[0m" } else { "" });
                return Cow::Owned(kept);
            }
            kept.push(c);
        }
    }
    Cow::Owned(kept)
}

/// Removes the colours from a text.
pub(in crate::terminal) fn bare(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(pieces(text).filter(|piece| !piece.is_colour).map(|piece| piece.text).collect())
}

/// A piece of a text: a colour, or the text between two colours.
struct PaintedSegment<'t> {
    text: &'t str,
    is_colour: bool,
}

fn pieces(text: &str) -> impl Iterator<Item = PaintedSegment<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (end, is_colour) = match rest.find('\u{1b}') {
            Some(0) => (rest.find('m').map_or(rest.len(), |end| end + 1), true),
            Some(next) => (next, false),
            None => (rest.len(), false),
        };
        let (text, behind) = rest.split_at(end);
        rest = behind;
        Some(PaintedSegment { text, is_colour })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_take_no_room_and_wide_characters_take_two_columns() {
        let text = format!("{}漢{}", paint(Ink::Bad, "ab"), paint(Ink::Strong, "c\td"));
        assert_eq!((width(&text), bare(&text).as_ref()), (10, "ab漢c    d"));
        assert_eq!(bare(&cut(&text, 4)), "ab…");
        assert_eq!(bare(&cut(&text, 5)), "ab漢…");
        assert_eq!(cut(&text, 10), text);
        assert!(cut(&text, 5).ends_with("\u{1b}[0m"));
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn an_emoji_of_several_characters_is_cut_for_the_terminal_that_shows_its_parts() {
        let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
        assert_eq!((width(family), widest(family)), (2, 6));
        assert!(widest(&cut(&format!("{family}{family}"), 7)) <= 7);
    }

    #[test]
    fn text_of_others_cannot_command_the_terminal() {
        assert_eq!(bare(&paint(Ink::Plain, "a\u{1b}[2J\nb\u{202e}")), "a\\u{1b}[2J\\nb\\u{202e}");
    }
}
