//! Finds the part of a page that a reader came for.
//!
//! More and more pages mark it themselves: `<main>`, `<article>`, `role="main"`. haft takes such an element if it has a
//! good part of the text. Otherwise it takes the smallest element that has nearly all text outside navigation. So a wrong
//! guess costs some noise and loses nothing.

use super::page::HtmlPage;
use super::tree::{HtmlNodeKind, Id};

/// Classes and ids that generators of pages give to the content.
const NAMES: &[&str] = &[
    "markdown-body",
    "content",
    "main-content",
    "maincontent",
    "page-content",
    "post-content",
    "entry-content",
    "article-body",
    "article-content",
    "mw-content-text",
    "bodycontent",
    "documentation",
    "readme",
    "rst-content",
];

/// Returns the element with the content.
pub(super) fn main_content(page: &HtmlPage<'_>) -> Id {
    let lengths = lengths(page);
    let all = lengths[0];
    let is_much = |id: &Id, parts: usize| lengths[*id] * parts >= all && lengths[*id] > 0;
    let tree = page.tree;
    let is_main = |id: &Id| tree.tag(*id) == "main" || tree.attribute(*id, "role") == Some("main");
    if let Some(main) = tree.below(0).filter(is_main).find(|id| is_much(id, 4)) {
        return narrowed(page, main, &lengths);
    }
    let is_article = |id: &Id| tree.tag(*id) == "article" || tree.attribute(*id, "itemprop") == Some("articleBody");
    if let Some(article) = tree.below(0).filter(is_article).find(|id| lengths[*id] * 5 >= all * 2 && lengths[*id] > 0) {
        return article;
    }
    let has_name = |id: &Id| {
        let names = ["id", "class"].into_iter().filter_map(|name| tree.attribute(*id, name));
        names.flat_map(str::split_whitespace).any(|name| NAMES.contains(&name.to_ascii_lowercase().as_str()))
    };
    match tree.below(0).filter(has_name).find(|id| is_much(id, 2)) {
        Some(named) => narrowed(page, named, &lengths),
        None => narrowed(page, 0, &lengths),
    }
}

/// Goes down while one child has nearly all text.
fn narrowed(page: &HtmlPage<'_>, from: Id, lengths: &[usize]) -> Id {
    let mut found = from;
    loop {
        let children = page.tree.children(found);
        let is_most = |child: &&Id| lengths[**child] * 50 >= lengths[found] * 49 && lengths[**child] > 0;
        let is_container = |child: &&Id| {
            matches!(page.tree.tag(**child), "div" | "section" | "main" | "article" | "center" | "form" | "span")
        };
        match children.iter().filter(is_container).find(is_most) {
            Some(child) => found = *child,
            None => return found,
        }
    }
}

/// Returns how much text each node has that counts: text of links counts for little.
fn lengths(page: &HtmlPage<'_>) -> Vec<usize> {
    let mut order = vec![(0, false)];
    let mut lengths = vec![0; page.tree.len()];
    let mut parents = vec![0; lengths.len()];
    let mut at = 0;
    while let Some((id, is_linked)) = order.get(at).copied() {
        at += 1;
        if let HtmlNodeKind::Text(text) = &page.tree.node(id).what {
            let length: usize = text.split_whitespace().map(|word| word.len() + 1).sum();
            lengths[id] = if is_linked { length / 4 } else { length };
        }
        for child in page.tree.children(id) {
            parents[*child] = id;
            if !page.is_left_out(*child) {
                order.push((*child, is_linked || page.tree.tag(*child) == "a"));
            }
        }
    }
    for (id, _) in order.iter().skip(1).rev() {
        lengths[parents[*id]] += lengths[*id];
    }
    lengths
}
