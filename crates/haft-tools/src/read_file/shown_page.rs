//! How a page of a text is shown to a model: numbered lines, and a last line that says what they are a part of.

use std::fmt::Write;

use haft::encoding::TextForm;
use haft::grouped::Grouped;
use haft::lines::LineEnds;
use haft::prelude::*;

/// A page as the model reads it.
pub(super) struct ShownPage {
    pub(super) text: String,
    /// About how many tokens the text has.
    pub(super) tokens: usize,
}

impl ShownPage {
    pub(super) fn of(page: &Page) -> Self {
        let mut text = String::new();
        for (line, number) in page.lines.iter().zip(page.first_line..) {
            let _infallible = write!(text, "{number:>6}\t{}", line.text);
            if line.cut > 0 {
                let _infallible = write!(text, " [… {} more characters in this line]", line.cut);
            }
            text.push('\n');
        }
        // What models count differs from one to the next; a quarter of the characters is near to all of them.
        let tokens = (text.chars().count() + 2) / 4;
        let _infallible = writeln!(text, "[{}]", last_line(page, tokens));
        Self { text, tokens }
    }
}

fn last_line(page: &Page, tokens: usize) -> String {
    let form = form(page).map_or_else(String::new, |form| format!("; {form}"));
    let count = page.lines.len() as u64;
    let next_line = page.first_line.saturating_add(count);
    match (page.more, page.total_lines) {
        (true, _) => {
            let lines = match count {
                1 => format!("line {}", page.first_line),
                _ => format!("lines {}-{}", page.first_line, next_line.saturating_sub(1)),
            };
            let tokens = match tokens {
                0 | 1 => "1 token".to_owned(),
                _ => format!("{} tokens", Grouped(tokens as u64)),
            };
            format!("{lines} of at least {next_line}, about {tokens}{form}; go on with offset={next_line}")
        }
        (false, Some(0)) => format!("the file is empty{form}"),
        (false, Some(total)) if page.lines.is_empty() => {
            format!("there is no line {}; the file has {total} lines", page.first_line)
        }
        (false, Some(1)) => format!("end of file: 1 line{form}"),
        (false, Some(total)) => format!("end of file: {total} lines{form}"),
        (false, None) => format!("end of file{form}"),
    }
}

/// Says what is unusual about a text; nothing for UTF-8 with `\n`.
fn form(page: &Page) -> Option<String> {
    let mut words = Vec::new();
    let name = page.form.name();
    if page.form.has_mark() {
        words.push(format!("{name} with BOM"));
    } else if page.form != TextForm::utf8() {
        words.push(name.to_owned());
    }
    match page.line_ends {
        LineEnds::None | LineEnds::Newline => {}
        ends @ (LineEnds::ReturnNewline | LineEnds::Return | LineEnds::Mixed) => words.push(ends.to_string()),
    }
    if page.lossy {
        words.push("bytes that are no text are shown as U+FFFD".to_owned());
    }
    (!words.is_empty()).then(|| words.join(", "))
}
