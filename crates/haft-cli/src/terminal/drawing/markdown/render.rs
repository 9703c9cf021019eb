//! One block of Markdown as painted lines.

use anstyle::{AnsiColor, Style};
use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::code;
use super::table::MarkdownTable;
use crate::screen::safe;
use crate::terminal::drawing::painted::painted;

/// Returns the lines of a block.
pub(super) fn lines(block: &str, columns: usize) -> Vec<String> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut renderer = Renderer { columns, ..Renderer::default() };
    for event in Parser::new_ext(block, options) {
        renderer.take(event);
    }
    renderer.end_line();
    renderer.lines
}

#[derive(Default)]
struct Renderer {
    lines: Vec<String>,
    /// The line that is being made.
    line: String,
    columns: usize,
    style: Style,
    /// For each open list the number of its next item; none for one without numbers.
    lists: Vec<Option<u64>>,
    quotes: usize,
    /// The sign before the first line of an item.
    bullet: Option<String>,
    code: Option<(String, String)>,
    table: Option<MarkdownTable>,
    link: Option<(String, usize)>,
}

impl Renderer {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.add(&text, self.style),
            },
            Event::Code(text) => self.add(&text, AnsiColor::Cyan.on_default()),
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::Html(text) | Event::InlineHtml(text) => {
                self.add(&text, self.style);
            }
            Event::FootnoteReference(text) => self.add(&format!("[{text}]"), self.style),
            // A paragraph is one logical line: the terminal breaks it.
            Event::SoftBreak => self.add(" ", self.style),
            Event::HardBreak => self.end_line(),
            Event::Rule => {
                self.add(&"─".repeat(self.columns.clamp(4, 40)), Style::new().dimmed());
                self.end_line();
            }
            Event::TaskListMarker(is_done) => self.add(if is_done { "☑ " } else { "☐ " }, self.style),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                let strong = Style::new().bold();
                self.style = if level == HeadingLevel::H1 { strong.underline() } else { strong };
            }
            Tag::BlockQuote(_) => self.quotes += 1,
            Tag::CodeBlock(kind) => {
                self.end_line();
                let language = match kind {
                    CodeBlockKind::Fenced(words) => words.split_whitespace().next().unwrap_or_default().to_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(first) => {
                self.end_line();
                self.lists.push(first);
            }
            Tag::Item => {
                self.end_line();
                let bullet = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "• ".to_owned(),
                };
                self.bullet = Some(bullet);
            }
            Tag::Emphasis => self.style = self.style.italic(),
            Tag::Strong => self.style = self.style.bold(),
            Tag::Strikethrough => self.style = self.style.strikethrough(),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some((dest_url.into_string(), self.line.len()));
            }
            Tag::Table(alignments) => self.table = Some(MarkdownTable::new(alignments)),
            Tag::TableHead | Tag::TableRow => self.table.iter_mut().for_each(MarkdownTable::begin_row),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.end_line(),
            TagEnd::Heading(_) => {
                self.end_line();
                self.style = Style::new();
            }
            TagEnd::BlockQuote(_) => {
                self.end_line();
                self.quotes = self.quotes.saturating_sub(1);
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.end_line();
                self.lists.pop();
            }
            TagEnd::Item => {
                self.end_line();
                self.bullet = None;
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.style = Style::new(),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.line);
                self.table.iter_mut().for_each(|table| table.add(cell.clone()));
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    let margin = self.margin();
                    let room = self.columns.saturating_sub(margin.chars().count() + 1);
                    self.lines.extend(table.lines(room).into_iter().map(|line| format!("{margin}{line}")));
                }
            }
            _ => {}
        }
    }

    fn end_code(&mut self) {
        let Some((language, code)) = self.code.take() else { return };
        let margin = self.margin();
        for line in code::lines(&code, &language) {
            let line = if line.is_empty() { String::new() } else { format!("{margin}  {line}") };
            self.lines.push(line);
        }
    }

    fn end_link(&mut self) {
        let Some((address, start)) = self.link.take() else { return };
        // An address that is its own text is not said twice.
        if !self.line[start.min(self.line.len())..].contains(safe(&address).as_ref()) {
            self.add(&format!(" ({address})"), Style::new().dimmed());
        }
    }

    fn add(&mut self, text: &str, style: Style) {
        let mut parts = text.split('\n');
        self.line.push_str(&painted(style, &safe(parts.next().unwrap_or_default())));
        for part in parts {
            if self.table.is_none() {
                self.end_line();
            }
            self.line.push_str(&painted(style, &safe(part)));
        }
    }

    fn end_line(&mut self) {
        if self.line.is_empty() {
            return;
        }
        let line = std::mem::take(&mut self.line);
        let bullet = self.bullet.take();
        let margin = self.margin();
        let line = match bullet {
            Some(bullet) => {
                let outer = margin.len().saturating_sub(2);
                format!("{}{bullet}{line}", &margin[..outer])
            }
            None => format!("{margin}{line}"),
        };
        self.lines.push(line);
    }

    fn margin(&self) -> String {
        let quote = painted(Style::new().dimmed(), "│");
        format!("{}{}", format!("{quote} ").repeat(self.quotes), "  ".repeat(self.lists.len()))
    }
}

/// How the text of a cell is aligned.
pub(super) fn is_right(alignment: Alignment) -> bool {
    alignment == Alignment::Right
}
