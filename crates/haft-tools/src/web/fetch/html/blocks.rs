//! Writes the blocks of a page: paragraphs, headings, lists, quotations, code.

use super::code::{code_of_rows, code_of_text, language};
use super::inline::{Inline, math};
use super::page::HtmlPage;
use super::table::{is_data, table};
use super::tree::Id;

/// Writes the children of an element as blocks.
pub(super) fn blocks(page: &HtmlPage<'_>, id: Id) -> Vec<String> {
    let mut writing = BlockWriter { page, blocks: Vec::new(), run: Inline::default() };
    writing.children(id);
    writing.end_run();
    writing.blocks
}

struct BlockWriter<'a, 'p> {
    page: &'a HtmlPage<'p>,
    blocks: Vec<String>,
    /// Text that is not inside of a block of its own.
    run: Inline,
}

impl BlockWriter<'_, '_> {
    fn children(&mut self, id: Id) {
        for child in self.page.tree.children(id) {
            self.node(*child);
        }
    }

    fn end_run(&mut self) {
        let text = std::mem::take(&mut self.run).finish();
        self.put(text);
    }

    fn put(&mut self, block: String) {
        if block.trim().is_empty() {
            return;
        }
        // Another sign begins another list.
        let is_next_list = block.starts_with("- ") && self.blocks.last().is_some_and(|last| last.starts_with("- "));
        self.blocks.push(if is_next_list { with_other_sign(&block) } else { block });
    }

    fn node(&mut self, id: Id) {
        let page = self.page;
        if page.is_left_out(id) {
            return;
        }
        let is_container = !page.tree.is_block(id) && page.tree.tag(id) != "a" && page.tree.holds_block(id);
        if !page.tree.is_block(id) && !is_container {
            return match page.tree.tag(id) {
                "a" if page.tree.holds_block(id) => self.linked_blocks(id),
                _ => self.run.node(page, id),
            };
        }
        self.end_run();
        match page.tree.tag(id) {
            tag @ ("h1" | "h2" | "h3" | "h4" | "h5" | "h6") => self.heading(id, &tag[1..]),
            "hr" => self.put("---".to_owned()),
            "pre" => self.put(code_of_text(&page.tree.text(id), language(page, id).as_deref())),
            "blockquote" => self.quotation(id),
            "ul" | "menu" | "ol" => self.list(id),
            "dl" => self.definitions(id),
            "table" => self.table(id),
            "summary" | "caption" | "legend" => {
                let words = Inline::of(page, page.tree.children(id)).replace("**", "");
                self.put(if words.is_empty() { words } else { format!("**{words}**") });
            }
            "math" => self.put(math(page, id)),
            _ => {
                self.children(id);
                self.end_run();
            }
        }
    }

    /// A card that is a link as a whole: its first block is the link.
    fn linked_blocks(&mut self, id: Id) {
        self.end_run();
        let page = self.page;
        let target = page.tree.attribute(id, "href").and_then(|href| page.target(href));
        let mut inner = blocks(page, id);
        if let (Some(first), Some(target)) = (inner.first_mut(), target) {
            let (signs, words) = match first.split_once(' ') {
                Some((signs, words)) if signs.bytes().all(|byte| byte == b'#') => {
                    (format!("{signs} "), words.to_owned())
                }
                _ => (String::new(), first.clone()),
            };
            if !words.contains(['\n', ']']) {
                *first = format!("{signs}[{words}]({target})");
            } else {
                inner.push(format!("<{target}>"));
            }
        }
        self.blocks.extend(inner);
    }

    fn heading(&mut self, id: Id, level: &str) {
        let page = self.page;
        let children = page.tree.children(id);
        let is_block = |child: &Id| page.tree.is_block(*child) || page.tree.holds_block(*child);
        // A heading that is never closed ends where the next block begins, unless its words are in that block.
        let end = children.iter().position(is_block).filter(|end| !Inline::of(page, &children[..*end]).is_empty());
        let (own, rest) = children.split_at(end.unwrap_or(children.len()));
        self.heading_of(own, level);
        rest.iter().for_each(|child| self.node(*child));
        self.end_run();
    }

    fn heading_of(&mut self, nodes: &[Id], level: &str) {
        let words = Inline::of(self.page, nodes).replace("  \n", " ").replace('\n', " ");
        let words = words.trim_end_matches(['#', '¶']).trim().to_owned();
        if !words.is_empty() {
            self.put(format!("{} {words}", "#".repeat(level.parse().unwrap_or(1))));
        }
    }

    fn quotation(&mut self, id: Id) {
        let page = self.page;
        let Some(inner) = page.deeper(|| blocks(page, id).join("\n\n")) else { return self.beside(id) };
        let lines: Vec<String> =
            inner.lines().map(|line| if line.is_empty() { ">".to_owned() } else { format!("> {line}") }).collect();
        self.put(lines.join("\n"));
    }

    /// Writes what is too deep for another level.
    fn beside(&mut self, id: Id) {
        self.children(id);
        self.end_run();
    }

    fn list(&mut self, id: Id) {
        let page = self.page;
        match page.deeper(|| list(page, id)) {
            Some(list) => self.put(list),
            None => self.beside(id),
        }
    }

    fn definitions(&mut self, id: Id) {
        let page = self.page;
        let mut items: Vec<(String, Vec<String>)> = Vec::new();
        let parts = page.tree.below(id).filter(|below| matches!(page.tree.tag(*below), "dt" | "dd"));
        let is_own = |part: &Id| page.tree.around(*part).find(|around| page.tree.tag(*around) == "dl") == Some(id);
        for part in parts.filter(is_own) {
            if page.is_left_out(part) {
                continue;
            }
            match (page.tree.tag(part), items.last_mut()) {
                ("dt", _) => {
                    let words = Inline::of(page, page.tree.children(part)).replace("  \n", " ");
                    items.push((if words.contains(['*', '`']) { words } else { format!("**{words}**") }, Vec::new()));
                }
                (_, Some((_, described))) => described.extend(blocks(page, part)),
                (_, None) => items.push((String::new(), blocks(page, part))),
            }
        }
        let written = items.into_iter().map(|(term, described)| match described.split_first() {
            None => item("- ", &term),
            Some((first, rest)) if !first.starts_with(['#', '-', '>', '|', '`']) && !term.is_empty() => {
                let first = format!("{term}: {first}");
                item("- ", &std::iter::once(first).chain(rest.iter().cloned()).collect::<Vec<_>>().join("\n\n"))
            }
            Some(_) => {
                let all = std::iter::once(term).filter(|term| !term.is_empty()).chain(described.iter().cloned());
                item("- ", &all.collect::<Vec<_>>().join("\n\n"))
            }
        });
        self.put(written.collect::<Vec<_>>().join("\n"));
    }

    fn table(&mut self, id: Id) {
        let page = self.page;
        if let Some(code) = code_of_rows(page, id) {
            return self.put(code);
        }
        if is_data(page, id) {
            if let Some(caption) = page.tree.below(id).find(|below| page.tree.tag(*below) == "caption") {
                self.node(caption);
            }
            return self.put(table(page, id));
        }
        // Only for the look: the cells are read one after the other.
        self.children(id);
        self.end_run();
    }
}

/// Writes a list.
fn list(page: &HtmlPage<'_>, id: Id) -> String {
    let is_ordered = page.tree.tag(id) == "ol";
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let mut next = page.tree.attribute(id, "start").and_then(number).unwrap_or(1);
    let mut items: Vec<(String, Vec<String>)> = Vec::new();
    for child in page.tree.children(id) {
        if page.is_left_out(*child) {
            continue;
        }
        if page.tree.tag(*child) == "li" {
            next = page.tree.attribute(*child, "value").and_then(number).unwrap_or(next);
            let marker = if is_ordered { format!("{next}. ") } else { "- ".to_owned() };
            next = next.saturating_add(1);
            items.push((marker, blocks(page, *child)));
            continue;
        }
        // A list directly in a list belongs to the item before it.
        let mut apart = BlockWriter { page, blocks: Vec::new(), run: Inline::default() };
        apart.node(*child);
        apart.end_run();
        match items.last_mut() {
            Some((_, last)) => last.append(&mut apart.blocks),
            None if !apart.blocks.is_empty() => items.push(("- ".to_owned(), apart.blocks)),
            None => {}
        }
    }
    items.retain(|(_, blocks)| !blocks.is_empty());
    let is_list = |block: &String| block.starts_with("- ") || block.starts_with(|first: char| first.is_ascii_digit());
    let is_tight = items.iter().all(|(_, blocks)| blocks.iter().skip(1).all(is_list));
    let apart = if is_tight { "\n" } else { "\n\n" };
    let written = items.into_iter().map(|(marker, blocks)| item(&marker, &blocks.join(apart)));
    written.collect::<Vec<_>>().join(apart)
}

/// Begins the items of a list with the other sign.
fn with_other_sign(list: &str) -> String {
    let line = |line: &str| line.strip_prefix("- ").map_or_else(|| line.to_owned(), |rest| format!("* {rest}"));
    list.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Writes an item of a list: its lines stand behind the width of the marker.
fn item(marker: &str, text: &str) -> String {
    let indent = " ".repeat(marker.len());
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let rest = lines.map(|line| if line.is_empty() { "\n".to_owned() } else { format!("\n{indent}{line}") });
    format!("{marker}{first}{}", rest.collect::<String>())
}
