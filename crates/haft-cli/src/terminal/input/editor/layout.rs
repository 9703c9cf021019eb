//! Breaks the typed text into rows, and finds the row and column of the cursor.

use unicode_width::UnicodeWidthChar;

use super::Editor;
use crate::screen::safe;
use crate::terminal::drawing::painted::width;

/// The typed text in rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::terminal) struct Laid {
    pub(in crate::terminal) rows: Vec<String>,
    /// The row and the column of the cursor.
    pub(in crate::terminal) cursor: (usize, usize),
}

/// Breaks the text into rows of at most so many columns, between words where that is possible.
pub(super) fn laid_out(editor: &Editor, columns: usize) -> Laid {
    let columns = columns.max(4);
    let mut laid = Laid { rows: vec![String::new()], cursor: (0, 0) };
    let mut column = 0;
    let mut rest = editor.text();
    while !rest.is_empty() {
        let at = editor.text().len() - rest.len();
        let end = rest.find([' ', '\n']).map_or(rest.len(), |end| end + 1);
        let (word, behind) = rest.split_at(end);
        let room: usize = word.chars().map(|c| shown(editor, c).1).sum();
        if column > 0 && column + room > columns && room <= columns {
            laid.rows.push(String::new());
            column = 0;
        }
        for (place, c) in word.char_indices() {
            let (text, wide) = shown(editor, c);
            if column + wide > columns && column > 0 {
                laid.rows.push(String::new());
                column = 0;
            }
            if at + place == editor.cursor() {
                laid.cursor = (laid.rows.len() - 1, width(laid.rows.last().map_or("", String::as_str)));
            }
            if c == '\n' {
                laid.rows.push(String::new());
                column = 0;
                continue;
            }
            column += wide;
            laid.rows.last_mut().expect("there is always a row").push_str(&text);
        }
        rest = behind;
    }
    if editor.cursor() == editor.text().len() {
        if column >= columns {
            laid.rows.push(String::new());
        }
        laid.cursor = (laid.rows.len() - 1, width(laid.rows.last().map_or("", String::as_str)));
    }
    laid
}

/// Returns how a character is shown, and the most columns that it takes.
fn shown(editor: &Editor, c: char) -> (String, usize) {
    if c == '\n' {
        return (String::new(), 0);
    }
    let text = match editor.folded(c) {
        Some(folded) => folded,
        // Joiners belong to what is typed around them.
        None if c.width() == Some(0) && (c == '\u{200d}' || c == '\u{fe0f}') => return (c.to_string(), 0),
        None => safe(c.encode_utf8(&mut [0; 4])).into_owned(),
    };
    let wide = text.chars().map(|c| c.width().unwrap_or(1)).sum();
    (text, wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_break_between_words_and_the_cursor_is_where_it_types() {
        let mut editor = Editor::default();
        editor.insert("one two three");
        assert_eq!(laid_out(&editor, 9), Laid { rows: vec!["one two ".into(), "three".into()], cursor: (1, 5) });
        editor.set("漢字漢字");
        assert_eq!(laid_out(&editor, 5), Laid { rows: vec!["漢字".into(), "漢字".into()], cursor: (1, 4) });
        editor.set("a\n\nb");
        assert_eq!(laid_out(&editor, 40), Laid { rows: vec!["a".into(), String::new(), "b".into()], cursor: (2, 1) });
        editor.set("abcd");
        assert_eq!(laid_out(&editor, 4).cursor, (1, 0), "the cursor never stands beyond the edge");
    }

    #[test]
    fn no_row_is_too_wide_and_nothing_is_lost() {
        let text = "some words, averyveryverylongwordthatfitsnowhere, \u{1f468}\u{200d}\u{1f469} 漢字漢字漢字 end";
        let mut editor = Editor::default();
        editor.insert(text);
        for columns in 4..60 {
            let laid = laid_out(&editor, columns);
            assert!(
                laid.rows.iter().all(|row| crate::terminal::drawing::painted::widest(row) <= columns),
                "{columns}: {laid:?}"
            );
            assert_eq!(laid.rows.concat(), text, "{columns}");
        }
    }
}
