//! Writes a run of text with its links, emphasis and code as one piece of Markdown.

use super::page::HtmlPage;
use super::tree::{HtmlNodeKind, Id};

/// A piece of Markdown that grows. Blanks are one blank, and never stand at its ends.
#[derive(Default)]
pub(super) struct Inline {
    out: String,
    /// Whether a blank is due before the next text.
    is_blank_due: bool,
    /// Whether a blank stood before everything.
    begins_with_blank: bool,
    /// How many elements of each emphasis are open.
    bold: usize,
    italic: usize,
    is_linked: bool,
}

/// The text of an element, and whether blanks stood before and behind it.
struct InnerText {
    words: String,
    blank_before: bool,
    blank_behind: bool,
}

impl Inline {
    /// Writes these nodes.
    pub(super) fn of(page: &HtmlPage<'_>, nodes: &[Id]) -> String {
        let mut inline = Inline::default();
        nodes.iter().for_each(|node| inline.node(page, *node));
        inline.finish()
    }

    pub(super) fn finish(self) -> String {
        let lines: Vec<&str> = self.out.split('\n').collect();
        let last = lines.len() - 1;
        let ended = lines.iter().enumerate().map(|(at, line)| if at == last { line.trim_end() } else { *line });
        ended.map(at_line_start).collect::<Vec<_>>().join("\n")
    }

    fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if std::mem::take(&mut self.is_blank_due) {
            if self.out.is_empty() {
                self.begins_with_blank = true;
            } else if !self.out.ends_with('\n') {
                self.out.push(' ');
            }
        }
        self.out.push_str(text);
    }

    fn text(&mut self, text: &str) {
        let mut words = text.split([' ', '\t', '\n', '\r', '\u{c}']);
        if let Some(first) = words.next() {
            self.push(&escaped(first));
        }
        for word in words {
            self.is_blank_due = true;
            self.push(&escaped(word));
        }
    }

    pub(super) fn node(&mut self, page: &HtmlPage<'_>, id: Id) {
        if page.is_left_out(id) {
            return;
        }
        let node = page.tree.node(id);
        let tag = match &node.what {
            HtmlNodeKind::Text(text) => return self.text(text),
            HtmlNodeKind::Element { tag, .. } => tag.as_str(),
        };
        match tag {
            "br" => self.line_break(),
            "wbr" => {}
            "strong" | "b" => self.emphasis(page, id, "**"),
            "em" | "i" | "cite" | "dfn" | "var" => self.emphasis(page, id, "*"),
            "del" | "s" | "strike" => self.emphasis(page, id, "~~"),
            "code" | "kbd" | "samp" | "tt" => self.push(&code(&page.tree.text(id))),
            "a" => self.link(page, id),
            "img" => self.image(page, id),
            "sup" | "sub" => self.raised(page, id, tag),
            "q" => {
                self.push("“");
                self.children(page, id);
                self.push("”");
            }
            "rp" => {}
            "rt" => {
                self.push("(");
                self.children(page, id);
                self.push(")");
            }
            "math" => self.push(&math(page, id)),
            "input" => match page.tree.attribute(id, "type") {
                Some("checkbox") if page.tree.attribute(id, "checked").is_some() => self.push("[x]"),
                Some("checkbox") => self.push("[ ]"),
                _ => {}
            },
            _ => {
                let is_block = page.tree.is_block(id);
                self.is_blank_due |= is_block;
                self.children(page, id);
                self.is_blank_due |= is_block;
            }
        }
    }

    fn children(&mut self, page: &HtmlPage<'_>, id: Id) {
        for child in page.tree.children(id) {
            self.node(page, *child);
        }
    }

    fn line_break(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push_str("  \n");
        }
        self.is_blank_due = false;
    }

    /// Writes the children apart.
    fn apart(&self, page: &HtmlPage<'_>, id: Id) -> InnerText {
        let mut inner = Inline { bold: self.bold, italic: self.italic, is_linked: self.is_linked, ..Inline::default() };
        inner.children(page, id);
        let (blank_before, blank_behind) = (inner.begins_with_blank, inner.is_blank_due);
        InnerText { words: inner.out.trim().to_owned(), blank_before, blank_behind }
    }

    /// Writes a text between signs. Blanks go outside, where Markdown wants them.
    fn between(&mut self, inner: &InnerText, open: &str, close: &str) {
        self.is_blank_due |= inner.blank_before;
        if !inner.words.is_empty() {
            self.push(&format!("{open}{}{close}", inner.words));
        }
        self.is_blank_due |= inner.blank_behind;
    }

    fn emphasis(&mut self, page: &HtmlPage<'_>, id: Id, sign: &str) {
        let depth = match sign {
            "**" => &mut self.bold,
            "*" => &mut self.italic,
            _ => &mut 0,
        };
        *depth += 1;
        let is_first = *depth == 1;
        let inner = self.apart(page, id);
        match sign {
            "**" => self.bold -= 1,
            "*" => self.italic -= 1,
            _ => {}
        }
        // Across lines the sign would end nothing.
        let sign = if is_first && !inner.words.contains('\n') { sign } else { "" };
        self.between(&inner, sign, sign);
    }

    fn link(&mut self, page: &HtmlPage<'_>, id: Id) {
        let target = page.tree.attribute(id, "href").and_then(|href| page.target(href));
        let was_linked = std::mem::replace(&mut self.is_linked, target.is_some());
        let mut inner = self.apart(page, id);
        self.is_linked = was_linked;
        if inner.words.is_empty() {
            let label = page.tree.attribute(id, "aria-label").or_else(|| page.tree.attribute(id, "title"));
            inner.words = label.map(|label| escaped(label.trim()).replace('\n', " ")).unwrap_or_default();
        }
        let is_mark = matches!(inner.words.as_str(), "" | "#" | "¶" | "§" | "🔗" | "\\#");
        match target.filter(|_| !was_linked) {
            Some(_) if is_mark => self.is_blank_due |= inner.blank_before || inner.blank_behind,
            Some(target) => {
                inner.words = inner.words.replace("  \n", " ").replace('\n', " ");
                self.between(&inner, "[", &format!("]({target})"));
            }
            None => self.between(&inner, "", ""),
        }
    }

    fn image(&mut self, page: &HtmlPage<'_>, id: Id) {
        let words = page.tree.attribute(id, "alt").unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        let source = page.tree.attribute(id, "src").and_then(|source| page.target(source));
        match (words.is_empty(), source) {
            (true, _) => {}
            (false, Some(source)) if !self.is_linked => self.push(&format!("![{}]({source})", escaped(&words))),
            (false, _) => self.push(&escaped(&words)),
        }
    }

    fn raised(&mut self, page: &HtmlPage<'_>, id: Id, tag: &str) {
        let inner = self.apart(page, id);
        if inner.words.contains("](") || inner.words.is_empty() {
            return self.between(&inner, "", "");
        }
        self.between(&inner, &format!("<{tag}>"), &format!("</{tag}>"));
    }
}

/// Returns the source of a formula, which pages carry beside its drawing.
pub(super) fn math(page: &HtmlPage<'_>, id: Id) -> String {
    let is_source =
        |below: &Id| page.tree.attribute(*below, "encoding").is_some_and(|encoding| encoding.contains("tex"));
    let source = page.tree.attribute(id, "alttext").map(str::to_owned);
    let source = source.or_else(|| page.tree.below(id).find(is_source).map(|source| page.tree.text(source)));
    let source = source.unwrap_or_else(|| page.tree.text(id));
    format!("${}$", source.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Writes code between as many backticks as it needs.
pub(super) fn code(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        return text;
    }
    let signs = "`".repeat(longest_run(&text) + 1);
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{signs}{blank}{text}{blank}{signs}")
}

/// Returns the length of the longest run of backticks.
pub(super) fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}

/// Marks signs that would be read as Markdown.
fn escaped(text: &str) -> String {
    if !text.contains(['*', '_', '`', '[', '<', '\\', '&']) {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len() + 8);
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| letters.get(at));
        let next = letters.get(at + 1);
        let is_word = |letter: Option<&char>| letter.is_some_and(|letter| letter.is_alphanumeric() || *letter == '_');
        let needs = match letter {
            '*' | '`' | '[' => true,
            '_' => !(is_word(before) && is_word(next)),
            '<' => next.is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?')),
            '\\' => next.is_some_and(char::is_ascii_punctuation),
            '&' => next.is_some_and(|next| next.is_ascii_alphabetic() || *next == '#') && text.contains(';'),
            _ => false,
        };
        if needs {
            out.push('\\');
        }
        out.push(*letter);
    }
    out
}

/// Marks the beginning of a line that would be read as a heading, a list or a quotation.
fn at_line_start(line: &str) -> String {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let (before, rest) = line.split_at(digits);
    let is_numbered = (1..=9).contains(&digits) && (rest.starts_with(". ") || rest.starts_with(") "));
    let hashes = line.bytes().take_while(|byte| *byte == b'#').count();
    let is_heading = (1..=6).contains(&hashes) && line[hashes..].starts_with(' ');
    let is_list = line.starts_with("- ") || line.starts_with("+ ") || line == "-" || line == "+";
    let is_rule = line.len() >= 3 && (line.bytes().all(|byte| byte == b'-') || line.bytes().all(|byte| byte == b'='));
    match () {
        () if is_numbered => format!("{before}\\{rest}"),
        () if is_heading || is_list || is_rule || line.starts_with('>') => format!("\\{line}"),
        () => line.to_owned(),
    }
}
