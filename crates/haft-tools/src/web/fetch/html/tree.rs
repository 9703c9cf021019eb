//! Builds a tree of the tags and texts of a page, even if its markup is broken.
//!
//! The tokens are those of browsers; the tree is simpler than theirs. It closes what a page leaves open and ignores what a
//! page closes twice. Depth and size are limited, so no page can exhaust the memory or the stack.

use std::collections::HashMap;

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};

/// Deepest element. What is deeper becomes a child of the last one that fits.
const DEEPEST: usize = 150;
/// Most nodes.
const MOST_NODES: usize = 1_000_000;

/// A page as a tree.
pub(super) struct HtmlTree {
    nodes: Vec<HtmlNode>,
    /// Whether nodes are left out, because there are too many.
    pub(super) is_cut: bool,
}

/// The number of a node in its tree.
pub(super) type Id = usize;

/// One element or text.
pub(super) struct HtmlNode {
    pub(super) what: HtmlNodeKind,
    children: Vec<Id>,
    parent: Id,
    /// Whether an element below is a block of its own.
    holds_block: bool,
    /// How many letters the texts below have, and how many of them are links.
    letters: usize,
    linked: usize,
}

/// The kind of a node: text or an element.
pub(super) enum HtmlNodeKind {
    Text(String),
    Element { tag: String, attributes: Vec<(String, String)> },
}

/// Elements that stand in blocks of their own.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "caption",
    "center",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "legend",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "pre",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "ul",
    "#root",
];
/// Elements that never have an end.
const VOID: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];
/// Elements that end an open paragraph.
const ENDS_PARAGRAPH: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "center",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dd",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "pre",
    "search",
    "section",
    "summary",
    "table",
    "ul",
];
/// Attributes of the outer elements that say how the whole page looks.
const OF_PAGE: &[&str] = &["bgcolor", "text", "style", "class", "id"];
/// Elements that an end tag from inside does not close.
const BOUNDARIES: &[&str] = &["td", "th", "caption", "table", "template", "svg", "math", "object"];
/// Parts of tables: their end tags cross the boundaries of cells.
const TABLE_PARTS: &[&str] = &["table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption"];

impl HtmlTree {
    /// Reads a page.
    pub(super) fn of(html: &str) -> Self {
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        let root = HtmlNode::new(HtmlNodeKind::Element { tag: "#root".into(), attributes: Vec::new() }, 0);
        let mut building = HtmlTreeBuilder {
            tree: HtmlTree { nodes: vec![root], is_cut: false },
            open: vec![0],
            counts: HashMap::new(),
        };
        for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
            match token {
                Token::StartTag(tag) => building.start(&tag),
                Token::EndTag(tag) => building.end(&text(&tag.name)),
                Token::String(string) => building.text(&text(&string)),
                Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
            }
        }
        building.tree.sum_up(|_| true);
        building.tree
    }

    /// Tells each element what is below it. Children have higher numbers than their parents.
    fn sum_up(&mut self, is_there: impl Fn(Id) -> bool) {
        for id in (1..self.nodes.len()).rev().filter(|id| is_there(*id)) {
            let is_block = self.is_block(id);
            let is_link = self.tag(id) == "a";
            let node = &mut self.nodes[id];
            if let HtmlNodeKind::Text(text) = &node.what {
                node.letters = text.split_whitespace().map(str::len).sum();
            }
            if is_link {
                node.linked = node.letters;
            }
            let HtmlNode { parent, holds_block, letters, linked, .. } = *node;
            let parent = &mut self.nodes[parent];
            parent.holds_block |= is_block || holds_block;
            parent.letters += letters;
            parent.linked += linked;
        }
    }

    /// Removes nodes, with all that is below them.
    pub(super) fn remove(&mut self, removed: &[bool]) {
        for id in 0..self.nodes.len() {
            let mut children = std::mem::take(&mut self.nodes[id].children);
            children.retain(|child| !removed[*child]);
            let node = &mut self.nodes[id];
            (node.children, node.letters, node.linked, node.holds_block) = (children, 0, 0, false);
        }
        self.sum_up(|id| !removed[id]);
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn parent(&self, id: Id) -> Id {
        self.nodes[id].parent
    }

    pub(super) fn is_block(&self, id: Id) -> bool {
        BLOCKS.contains(&self.tag(id))
    }

    pub(super) fn holds_block(&self, id: Id) -> bool {
        self.nodes[id].holds_block
    }

    /// Returns how many letters the texts below have.
    pub(super) fn letters(&self, id: Id) -> usize {
        self.nodes[id].letters
    }

    /// Returns whether most letters below are those of links.
    pub(super) fn is_mostly_links(&self, id: Id) -> bool {
        self.nodes[id].linked * 2 > self.nodes[id].letters
    }

    /// Returns what is around a node, the innermost first.
    pub(super) fn around(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        std::iter::successors(Some(id), |id| (*id != 0).then(|| self.nodes[*id].parent)).skip(1)
    }

    pub(super) fn node(&self, id: Id) -> &HtmlNode {
        &self.nodes[id]
    }

    pub(super) fn children(&self, id: Id) -> &[Id] {
        &self.nodes[id].children
    }

    /// Returns the tag of an element; empty for a text.
    pub(super) fn tag(&self, id: Id) -> &str {
        match &self.nodes[id].what {
            HtmlNodeKind::Element { tag, .. } => tag,
            HtmlNodeKind::Text(_) => "",
        }
    }

    pub(super) fn attribute(&self, id: Id, name: &str) -> Option<&str> {
        match &self.nodes[id].what {
            HtmlNodeKind::Element { attributes, .. } => {
                attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
            }
            HtmlNodeKind::Text(_) => None,
        }
    }

    /// Returns all nodes below one, in the order of the page.
    pub(super) fn below(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let mut waiting: Vec<Id> = self.children(id).iter().rev().copied().collect();
        std::iter::from_fn(move || {
            let next = waiting.pop()?;
            waiting.extend(self.children(next).iter().rev());
            Some(next)
        })
    }

    /// Returns the first element with one of these tags.
    pub(super) fn first(&self, id: Id, tags: &[&str]) -> Option<Id> {
        self.below(id).find(|below| tags.contains(&self.tag(*below)))
    }

    /// Returns the text below a node as it stands.
    pub(super) fn text(&self, id: Id) -> String {
        let mut all = String::new();
        for node in std::iter::once(id).chain(self.below(id)) {
            match &self.nodes[node].what {
                HtmlNodeKind::Text(text) => all.push_str(text),
                HtmlNodeKind::Element { tag, .. } if tag == "br" => all.push('\n'),
                HtmlNodeKind::Element { .. } => {}
            }
        }
        all
    }
}

impl HtmlNode {
    fn new(what: HtmlNodeKind, parent: Id) -> Self {
        Self { what, children: Vec::new(), parent, holds_block: false, letters: 0, linked: 0 }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A tree that is being built, with its open elements, the innermost last.
struct HtmlTreeBuilder {
    tree: HtmlTree,
    open: Vec<Id>,
    /// How many elements of each tag are open, so that nothing is looked for in vain.
    counts: HashMap<String, usize>,
}

impl HtmlTreeBuilder {
    fn start(&mut self, start: &StartTag<()>) {
        let (tag, is_closed) = (text(&start.name), start.self_closing);
        let attributes: Vec<(String, String)> =
            start.attributes.iter().map(|(name, value)| (text(name), text(value))).collect();
        if matches!(tag.as_str(), "html" | "head" | "body") {
            // The page as a whole has what they say.
            if let HtmlNodeKind::Element { attributes: all, .. } = &mut self.tree.nodes[0].what {
                all.extend(attributes.into_iter().filter(|(name, _)| OF_PAGE.contains(&name.as_str())));
            }
            return;
        }
        self.close_before(&tag);
        let is_foreign = self.open.iter().any(|id| matches!(self.tree.tag(*id), "svg" | "math"));
        let is_void = VOID.contains(&tag.as_str()) || is_closed && is_foreign;
        let Some(id) = self.add(HtmlNodeKind::Element { tag, attributes }) else { return };
        if !is_void && self.open.len() < DEEPEST {
            self.open.push(id);
            *self.counts.entry(self.tree.tag(id).to_owned()).or_default() += 1;
        }
    }

    fn is_open(&self, tag: &str) -> bool {
        self.counts.get(tag).is_some_and(|count| *count > 0)
    }

    /// Closes the elements behind so many.
    fn close(&mut self, depth: usize) {
        for id in self.open.drain(depth..) {
            if let Some(count) = self.counts.get_mut(self.tree.tag(id)) {
                *count -= 1;
            }
        }
    }

    fn add(&mut self, what: HtmlNodeKind) -> Option<Id> {
        if self.tree.nodes.len() >= MOST_NODES {
            self.tree.is_cut = true;
            return None;
        }
        let id = self.tree.nodes.len();
        let parent = self.open.last().copied().unwrap_or(0);
        self.tree.nodes.push(HtmlNode::new(what, parent));
        self.tree.nodes[parent].children.push(id);
        Some(id)
    }

    fn text(&mut self, text: &str) {
        let parent = self.open.last().copied().unwrap_or(0);
        let last = self.tree.nodes[parent].children.last().copied();
        match last.map(|last| &mut self.tree.nodes[last].what) {
            Some(HtmlNodeKind::Text(before)) => before.push_str(text),
            _ => drop(self.add(HtmlNodeKind::Text(text.to_owned()))),
        }
    }

    /// Closes what the start of this element ends.
    fn close_before(&mut self, tag: &str) {
        match tag {
            "li" => self.close_up_to(&["li"], &["ul", "ol", "menu", "dir"]),
            "dt" | "dd" => self.close_up_to(&["dt", "dd"], &["dl"]),
            "td" | "th" => self.close_up_to(&["td", "th", "caption"], &["tr", "table"]),
            "tr" => self.close_up_to(&["tr", "caption"], &["table"]),
            "thead" | "tbody" | "tfoot" => self.close_up_to(&["thead", "tbody", "tfoot", "tr", "caption"], &["table"]),
            "option" | "optgroup" => self.close_up_to(&["option"], &["select"]),
            "a" => self.close_up_to(&["a"], ENDS_PARAGRAPH),
            "rt" | "rp" => self.close_up_to(&["rt", "rp"], &["ruby"]),
            _ => {}
        }
        if ENDS_PARAGRAPH.contains(&tag) {
            self.close_up_to(&["p"], &["button"]);
        }
        let is_heading = |tag: &str| matches!(tag, "h1" | "h2" | "h3" | "h4" | "h5" | "h6");
        let current = self.open.last().map_or("", |id| self.tree.tag(*id));
        if is_heading(tag) && is_heading(current) {
            self.close(self.open.len() - 1);
        }
    }

    /// Closes the outermost open element of these, but looks no further than the innermost of those.
    fn close_up_to(&mut self, closed: &[&str], within: &[&str]) {
        if !closed.iter().any(|tag| self.is_open(tag)) {
            return;
        }
        let is_part = closed.iter().any(|tag| TABLE_PARTS.contains(tag));
        let mut found = None;
        for (depth, id) in self.open.iter().enumerate().skip(1).rev() {
            let tag = self.tree.tag(*id);
            if closed.contains(&tag) {
                found = Some(depth);
            } else if within.contains(&tag) || tag == "table" || BOUNDARIES.contains(&tag) && !is_part {
                break;
            }
        }
        if let Some(depth) = found {
            self.close(depth);
        }
    }

    fn end(&mut self, tag: &str) {
        match tag {
            "html" | "head" | "body" => return,
            "br" => {
                self.close_before(tag);
                self.add(HtmlNodeKind::Element { tag: tag.to_owned(), attributes: Vec::new() });
                return;
            }
            _ => {}
        }
        let is_heading = |tag: &str| matches!(tag, "h1" | "h2" | "h3" | "h4" | "h5" | "h6");
        if !self.is_open(tag) && !is_heading(tag) {
            return;
        }
        let is_part = TABLE_PARTS.contains(&tag);
        for (depth, id) in self.open.iter().enumerate().skip(1).rev() {
            let open = self.tree.tag(*id);
            if open == tag || is_heading(tag) && is_heading(open) {
                return self.close(depth);
            }
            let is_boundary = if is_part { open == "table" } else { BOUNDARIES.contains(&open) };
            if is_boundary {
                return;
            }
        }
    }
}
