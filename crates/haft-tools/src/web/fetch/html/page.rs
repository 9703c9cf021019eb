//! Holds the facts about a page while it is written: its tree, its address, and which parts are content.

use std::cell::Cell;

use super::join::join;
use super::tree::{HtmlTree, Id};

/// A page that is being written as Markdown.
pub(super) struct HtmlPage<'a> {
    pub(super) tree: &'a HtmlTree,
    /// The address that links are relative to.
    pub(super) base: String,
    /// Whether navigation and the like are written too.
    pub(super) keeps: Keeps,
    /// How many lists and quotations are open.
    depth: Cell<usize>,
}

/// What of a page is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeps {
    /// Everything that a person reads.
    All,
    /// Not what stands on every page: navigation, banners, forms.
    Content,
}

/// Elements without text for a reader.
const NEVER: &[&str] = &[
    "script", "style", "template", "noscript", "svg", "canvas", "head", "title", "meta", "link", "base", "object",
    "embed", "audio", "video", "iframe", "map", "noframes", "datalist", "select", "textarea", "button", "dialog",
    "colgroup",
];
/// Elements around the content.
const AROUND: &[&str] = &["nav", "footer", "aside", "search"];
const AROUND_ROLES: &[&str] =
    &["navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar", "dialog", "alert"];
/// Parts of the names of classes and ids of what stands around the content.
const AROUND_NAMES: &[&str] = &[
    "nav",
    "navbar",
    "navigation",
    "menu",
    "sidebar",
    "breadcrumb",
    "breadcrumbs",
    "footer",
    "cookie",
    "cookies",
    "consent",
    "banner",
    "share",
    "sharing",
    "social",
    "advert",
    "advertisement",
    "ads",
    "ad",
    "promo",
    "related",
    "newsletter",
    "subscribe",
    "skip",
    "pagination",
    "pager",
    "toolbar",
    "toc",
    "comments",
    "popup",
    "modal",
    "editsection",
    "headerlink",
    "masthead",
    "recommended",
    "sponsored",
];
/// Deepest list or quotation. What is deeper stands beside the last one.
const DEEPEST: usize = 12;
/// Longest text that a name alone makes a part of the surroundings.
const LITTLE: usize = 120;

impl<'a> HtmlPage<'a> {
    pub(super) fn new(tree: &'a HtmlTree, base: String, keeps: Keeps) -> Self {
        Self { tree, base, keeps, depth: Cell::new(0) }
    }

    /// Writes something one level deeper; nothing where it is too deep for that.
    pub(super) fn deeper<T>(&self, write: impl FnOnce() -> T) -> Option<T> {
        let depth = self.depth.get();
        if depth >= DEEPEST {
            return None;
        }
        self.depth.set(depth + 1);
        let written = write();
        self.depth.set(depth);
        Some(written)
    }

    /// Returns the whole address that a link or an image means; nothing for one that leads to no document.
    pub(super) fn target(&self, href: &str) -> Option<String> {
        join(&self.base, href)
    }

    /// Returns whether a node is not written.
    pub(super) fn is_left_out(&self, id: Id) -> bool {
        let tag = self.tree.tag(id);
        if tag.is_empty() {
            return false;
        }
        NEVER.contains(&tag) || self.keeps == Keeps::Content && self.is_around(id)
    }

    /// Returns whether an element stands around the content, as its tag, its role or its name say.
    pub(super) fn is_around(&self, id: Id) -> bool {
        let tree = self.tree;
        let tag = tree.tag(id);
        if matches!(tag, "main" | "article" | "body" | "#root" | "pre" | "code" | "table") {
            return false;
        }
        if tag == "footer" && tree.around(id).any(|around| tree.tag(around) == "blockquote") {
            return false;
        }
        let role = tree.attribute(id, "role").unwrap_or_default();
        if AROUND.contains(&tag) || AROUND_ROLES.contains(&role) {
            // A note in the margin belongs to the text; a list of links does not.
            return tag != "aside" || tree.is_mostly_links(id);
        }
        let names = ["class", "id"].into_iter().filter_map(|name| tree.attribute(id, name));
        let is_named = names.flat_map(parts_of_names).any(|part| AROUND_NAMES.contains(&part.as_str()));
        is_named && (tree.is_mostly_links(id) || tree.letters(id) < LITTLE)
    }
}

/// Takes names such as `site-nav mainMenu` apart into small words.
fn parts_of_names(names: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = ' ';
    for letter in names.chars() {
        let is_new = !letter.is_alphanumeric() || letter.is_uppercase() && before.is_lowercase();
        if is_new {
            parts.push(String::new());
        }
        if let (true, Some(part)) = (letter.is_alphanumeric(), parts.last_mut()) {
            part.extend(letter.to_lowercase());
        }
        before = letter;
    }
    parts
}
