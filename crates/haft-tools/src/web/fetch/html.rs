//! Turns a page into Markdown: its main content, with links, code, lists and tables.
//!
//! haft reads the page as browsers do, but runs nothing and loads nothing from it. Decision 0037 says why haft uses no
//! crate for this.

mod blocks;
mod code;
mod concealed;
mod css;
mod inline;
mod join;
mod main_content;
mod page;
mod table;
mod tree;

use blocks::blocks;
use concealed::remove_concealed;
use main_content::main_content;
use page::{HtmlPage, Keeps};
use tree::HtmlTree;

/// Fewest characters of a page that says something.
const SAYS_SOMETHING: usize = 200;

/// A page as Markdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MarkdownPage {
    /// The text.
    pub(super) markdown: String,
    /// What is to be said of the page, a sentence each.
    pub(super) notes: Vec<String>,
}

/// Returns a text without its tags.
pub(crate) fn plain(html: &str) -> String {
    HtmlTree::of(html).text(0).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Turns a page at an address into Markdown.
pub(super) fn to_markdown(html: &str, address: &str) -> MarkdownPage {
    let mut tree = HtmlTree::of(html);
    let concealed = remove_concealed(&mut tree);
    let base = tree.first(0, &["base"]).and_then(|base| tree.attribute(base, "href"));
    let base = base.and_then(|href| join::join(address, href)).unwrap_or_else(|| address.to_owned());
    let mut page = HtmlPage::new(&tree, base, Keeps::Content);
    let mut markdown = blocks(&page, main_content(&page)).join("\n\n");
    if markdown.len() < SAYS_SOMETHING {
        // Perhaps what was taken for navigation is all there is.
        page.keeps = Keeps::All;
        let all = blocks(&page, 0).join("\n\n");
        if all.len() > markdown.len() * 2 {
            markdown = all;
        }
    }
    let mut notes = Vec::new();
    if tree.is_cut {
        notes.push("The page has too many elements; its end is missing.".to_owned());
    }
    if concealed > tree.letters(0) {
        notes.push(
            "The styles of the page hide most of its text, which is left out; a call with \"raw\" shows everything."
                .to_owned(),
        );
    }
    if markdown.len() < SAYS_SOMETHING && is_shell(&tree) {
        notes.push(
            "The page is made by scripts, which are not run, so most of it is missing. Look for an API or a feed of the site, \
             or ask the user for the content."
                .to_owned(),
        );
        markdown = shell(&page, markdown);
    }
    MarkdownPage { markdown: titled(&page, markdown), notes }
}

/// Ids of the empty elements that scripts fill.
const MOUNTS: [&str; 8] = ["root", "app", "__next", "__nuxt", "___gatsby", "svelte", "app-root", "application"];

/// Returns whether scripts would make the content: nothing is there, or an element waits for them, or the page says so.
fn is_shell(tree: &HtmlTree) -> bool {
    let waits = |id: usize| {
        let is_mount =
            tree.attribute(id, "id").is_some_and(|own| MOUNTS.contains(&own)) || MOUNTS.contains(&tree.tag(id));
        is_mount && tree.letters(id) == 0
    };
    let says_so = |id: usize| tree.tag(id) == "noscript" && tree.text(id).to_ascii_lowercase().contains("javascript");
    let has_script = tree.below(0).any(|id| tree.tag(id) == "script");
    has_script && (tree.below(0).any(|id| waits(id) || says_so(id)) || is_empty(tree))
}

/// Returns whether no text of a page is shown.
fn is_empty(tree: &HtmlTree) -> bool {
    blocks(&HtmlPage::new(tree, String::new(), Keeps::All), 0).is_empty()
}

/// What a page without content still says: its description, and what it says to readers without scripts.
fn shell(page: &HtmlPage<'_>, markdown: String) -> String {
    let tree = page.tree;
    let is_description = |id: &usize| {
        let name = tree.attribute(*id, "name").or_else(|| tree.attribute(*id, "property")).unwrap_or_default();
        tree.tag(*id) == "meta" && matches!(name, "description" | "og:description")
    };
    let description = tree.below(0).find(is_description).and_then(|id| tree.attribute(id, "content"));
    let without = tree.below(0).filter(|id| tree.tag(*id) == "noscript").map(|id| {
        let inner = HtmlTree::of(&tree.text(id));
        blocks(&HtmlPage::new(&inner, page.base.clone(), Keeps::Content), 0).join("\n\n")
    });
    let mut parts: Vec<String> = Vec::new();
    for part in description.map(|text| text.trim().to_owned()).into_iter().chain([markdown]).chain(without) {
        if !part.is_empty() && !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts.join("\n\n")
}

/// Puts the title of the page above its text, where the text has none.
fn titled(page: &HtmlPage<'_>, markdown: String) -> String {
    let title = page.tree.below(0).find(|id| page.tree.tag(*id) == "title").map(|id| page.tree.text(id));
    let title = title.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let has_heading = markdown.lines().any(|line| line.starts_with("# "));
    match (title.is_empty() || has_heading, markdown.is_empty()) {
        (true, _) => markdown,
        (false, true) => format!("# {title}"),
        (false, false) => format!("# {title}\n\n{markdown}"),
    }
}
