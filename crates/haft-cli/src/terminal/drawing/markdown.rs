//! The model's text, printed block by block while it is written.
//!
//! A block is printed when it is closed: a paragraph or a list by an empty line, code by its fence, a heading by its line
//! end. Until then its last rows are in the live region. Printed text has logical lines; only tables are laid out
//! for the current width.
//!
//! Not here: how a block looks (`render`, `table`), colours of code (`code`).

pub(in crate::terminal) mod code;
mod render;
mod table;

use crate::screen::safe;
use haft_host::texts::wrapped::wrapped;

/// The text of one reply, as far as it is written.
#[derive(Clone, Debug, Default)]
pub(in crate::terminal) struct Markdown {
    /// The text that is not printed yet: complete lines, then one without an end.
    open: String,
    /// How many bytes of it are whole lines that were looked at.
    looked_at: usize,
    fence: Option<Fence>,
    /// Whether anything was printed since the reply began.
    has_printed: bool,
}

/// The beginning of fenced code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
}

impl Markdown {
    /// Takes more text; returns the lines of the blocks that it closes.
    pub(in crate::terminal) fn push(&mut self, text: &str, columns: usize) -> Vec<String> {
        self.open.push_str(text);
        let mut lines = Vec::new();
        while let Some(end) = self.open[self.looked_at..].find('\n').map(|end| self.looked_at + end + 1) {
            let line = self.open[self.looked_at..end].to_owned();
            let start = self.looked_at;
            self.looked_at = end;
            match self.line_does(&line) {
                LineDoes::Continues => {}
                LineDoes::Closes => lines.extend(self.print(end, columns)),
                LineDoes::Begins => lines.extend(self.print(start, columns)),
                LineDoes::Is => {
                    lines.extend(self.print(start, columns));
                    lines.extend(self.print(line.len(), columns));
                }
            }
        }
        lines
    }

    /// Prints what is left: nothing more comes.
    pub(in crate::terminal) fn finish(&mut self, columns: usize) -> Vec<String> {
        let lines = self.print(self.open.len(), columns);
        *self = Self::default();
        lines
    }

    /// Returns the rows of what is not printed yet.
    pub(in crate::terminal) fn open_rows(&self, columns: usize) -> Vec<String> {
        // Only the last rows are shown, so only the end is broken.
        let skipped = self.open.char_indices().rev().nth(4_000).map_or(0, |(at, _)| at);
        let text = safe(self.open[skipped..].trim_end_matches('\n'));
        if text.trim().is_empty() {
            return Vec::new();
        }
        let text = text.replace('\t', "    ");
        text.lines().flat_map(|line| wrapped(line, columns.max(8), 0)).collect()
    }

    fn line_does(&mut self, line: &str) -> LineDoes {
        let text = line.trim();
        if let Some(fence) = self.fence {
            let marks = text.chars().take_while(|c| *c == fence.mark).count();
            let closes = marks >= fence.length && text.chars().all(|c| c == fence.mark);
            if closes {
                self.fence = None;
            }
            return if closes { LineDoes::Closes } else { LineDoes::Continues };
        }
        if let Some(fence) = fence(text) {
            self.fence = Some(fence);
            return LineDoes::Begins;
        }
        let hashes = text.chars().take_while(|c| *c == '#').count();
        match text {
            "" => LineDoes::Closes,
            text if (1..=6).contains(&hashes) && text[hashes..].starts_with(' ') => LineDoes::Is,
            _ => LineDoes::Continues,
        }
    }

    /// Prints the open text up to here.
    fn print(&mut self, end: usize, columns: usize) -> Vec<String> {
        let block: String = self.open.drain(..end).collect();
        self.looked_at = self.looked_at.saturating_sub(end);
        let block = block.trim_matches('\n');
        if block.trim().is_empty() {
            return Vec::new();
        }
        let mut lines = vec![String::new()];
        lines.extend(render::lines(block, columns));
        self.has_printed = true;
        lines
    }
}

/// What a line does to the block before it.
enum LineDoes {
    Continues,
    /// It is the last one of the block.
    Closes,
    /// It is the first one of another block.
    Begins,
    /// It is a block alone.
    Is,
}

fn fence(text: &str) -> Option<Fence> {
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = text.chars().take_while(|c| *c == mark).count();
    let is_fence = length >= 3 && (mark == '~' || !text[length..].contains('`'));
    is_fence.then_some(Fence { mark, length })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::drawing::painted::bare;

    const TEXT: &str = "# Plan\nFirst *this*, then\n**that**.\n\n- one\n- two `code`\n  - deep\n\n```rust\nfn a() {\n\n}\n```\n| a | b |\n|---|--:|\n| x | 1 |\n\n> quoted\n\n3. three\n";

    fn printed(pieces: &[&str]) -> String {
        let mut markdown = Markdown::default();
        let mut lines: Vec<String> = pieces.iter().flat_map(|piece| markdown.push(piece, 60)).collect();
        lines.extend(markdown.finish(60));
        lines.iter().map(|line| bare(line).into_owned()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn blocks_come_out_whole_however_the_text_is_cut() {
        let whole = printed(&[TEXT]);
        insta::assert_snapshot!(whole, @r"
        Plan

        First this, then that.

        • one
        • two code
          • deep

          fn a() {

          }

        a │ b
        ──┼──
        x │ 1

        │ quoted

        3. three
        ");
        for cut in (1..TEXT.len()).filter(|cut| TEXT.is_char_boundary(*cut)) {
            assert_eq!(printed(&[&TEXT[..cut], &TEXT[cut..]]), whole, "cut at {cut}");
        }
    }

    #[test]
    fn an_open_block_is_shown_until_it_is_printed() {
        let mut markdown = Markdown::default();
        assert!(markdown.push("one\ntwo", 40).is_empty());
        assert_eq!(markdown.open_rows(40), ["one", "two"]);
        assert_eq!(markdown.push(" three\n\nfour", 40).len(), 2);
        assert_eq!(markdown.open_rows(40), ["four"]);
        assert_eq!(markdown.finish(40).len(), 2);
        assert!(markdown.open_rows(40).is_empty() && markdown.finish(40).is_empty());
    }

    #[test]
    fn nothing_that_a_model_writes_commands_the_terminal() {
        let evil =
            "\u{1b}[2J **b\u{1b}]0;t\u{7}** `\u{9b}5A`\n\n```\n\u{1b}[31mred\u{202e}\n```\n\n[x](http://a\u{1b}[2J)\n";
        let shown = printed(&[evil]);
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{9b}') && !shown.contains('\u{202e}'), "{shown:?}");
    }
}
