//! Reads the declarations and rules of a page's own style sheets, as far as they decide what a reader sees.
//!
//! It resolves comments and escapes first, because both can stand inside of a word that hides something.
//!
//! Not here: which values hide an element (`concealed`); external style sheets, which haft does not load.

use std::collections::HashMap;

use super::tree::{HtmlTree, Id};

/// Most bytes of the sheets of a page that are read.
const MOST_BYTES: usize = 512 * 1024;
/// Most rules of a page that are looked at.
const MOST_RULES: usize = 20_000;
/// Most comparisons of a part of a selector with an element, for a whole page.
const MOST_COMPARISONS: usize = 1_500_000;
/// What a rule that fits costs beside its comparisons.
const TO_APPLY: usize = 10;
/// How much of the list of classes of an element is looked at, in bytes.
const OF_CLASSES: usize = 300;
/// What decides whether a reader sees an element.
const RELEVANT: &[&str] = &[
    "background",
    "background-color",
    "background-image",
    "bottom",
    "clip",
    "clip-path",
    "color",
    "content-visibility",
    "display",
    "filter",
    "font",
    "font-size",
    "height",
    "inset",
    "left",
    "margin-left",
    "margin-top",
    "max-height",
    "opacity",
    "overflow",
    "overflow-x",
    "overflow-y",
    "padding",
    "padding-bottom",
    "padding-top",
    "position",
    "right",
    "scale",
    "text-indent",
    "top",
    "transform",
    "visibility",
    "-webkit-text-fill-color",
    "width",
];

/// Declarations of a style that matter: names and values, in small letters.
#[derive(Clone, Debug, Default)]
pub(super) struct Declarations {
    usual: Vec<(String, String)>,
    important: Vec<(String, String)>,
}

impl Declarations {
    /// Adds declarations that are stronger than those before, except for important ones.
    pub(super) fn extend(&mut self, stronger: Self) {
        self.usual.extend(stronger.usual);
        self.important.extend(stronger.important);
    }

    /// Returns them, the strongest last.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &str)> {
        self.usual.iter().chain(&self.important).map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the value that counts.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.iter().rev().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    fn is_empty(&self) -> bool {
        self.usual.is_empty() && self.important.is_empty()
    }
}

/// The rules of a page.
#[derive(Default)]
pub(super) struct Sheet {
    rules: Vec<CssRule>,
    /// The rules whose last part names this id (`#x`), class (`.x`) or tag (`x`), or anything (`*`).
    by_key: HashMap<String, Vec<usize>>,
    comparisons: usize,
}

struct CssRule {
    /// The parts of the selector, the last one first; each fits an element or one around it.
    parts: Vec<Compound>,
    weight: (usize, usize),
    declarations: Declarations,
}

/// A tag, classes and ids that one element has together.
#[derive(Clone, Default)]
struct Compound {
    tag: Option<String>,
    classes: Vec<String>,
    ids: Vec<String>,
}

impl Sheet {
    /// Reads the sheets of a page.
    pub(super) fn of(tree: &HtmlTree) -> Self {
        let mut sheet = Self::default();
        let mut text = String::new();
        for id in tree.below(0).filter(|id| tree.tag(*id) == "style") {
            text.push_str(&tree.text(id));
            text.push('\n');
            if text.len() > MOST_BYTES {
                break;
            }
        }
        let end = text.floor_char_boundary(MOST_BYTES);
        sheet.read(&without_comments(&text[..end]));
        sheet
    }

    /// Reads rules; those of other media, and at-rules without rules, are passed over.
    fn read(&mut self, text: &str) {
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let head = rest[..open].rsplit(['}', ';']).next().unwrap_or_default().trim();
            let inside = &rest[open + 1..];
            if let Some(at_rule) = head.strip_prefix('@') {
                // The rules of a block for readers follow as if they stood alone.
                rest = match is_for_readers(at_rule) {
                    true => inside,
                    false => inside.get(end_of_block(inside) + 1..).unwrap_or_default(),
                };
                continue;
            }
            let end = inside.find('}').unwrap_or(inside.len());
            if self.rules.len() >= MOST_RULES {
                return;
            }
            self.add(head, declarations(&inside[..end]));
            rest = inside.get(end + 1..).unwrap_or_default();
        }
    }

    fn add(&mut self, selectors: &str, declarations: Declarations) {
        if declarations.is_empty() {
            return;
        }
        for parts in selectors.split(',').filter_map(selector) {
            let Some(key) = parts.first().map(Compound::key) else { continue };
            let count = |of: fn(&Compound) -> usize| parts.iter().map(of).sum::<usize>();
            let names = count(|part| part.classes.len()) * 100 + count(|part| usize::from(part.tag.is_some()));
            let weight = (count(|part| part.ids.len()), names);
            self.by_key.entry(key).or_default().push(self.rules.len());
            self.rules.push(CssRule { parts, weight, declarations: declarations.clone() });
        }
    }

    /// Returns what the rules say of an element.
    pub(super) fn of_element(&mut self, tree: &HtmlTree, id: Id) -> Declarations {
        let mut all = Declarations::default();
        if self.rules.is_empty() || self.comparisons > MOST_COMPARISONS {
            return all;
        }
        let ids = tree.attribute(id, "id").map(|own| format!("#{own}"));
        let keys = classes(tree, id).map(|class| format!(".{class}")).chain(ids);
        let keys = keys.chain([tree.tag(id).to_owned(), "*".to_owned()]);
        let mut fitting: Vec<usize> = Vec::new();
        for key in keys {
            for number in self.by_key.get(&key).into_iter().flatten() {
                if self.comparisons > MOST_COMPARISONS {
                    break;
                }
                if self.rules[*number].fits(tree, id, &mut self.comparisons) {
                    self.comparisons += TO_APPLY;
                    fitting.push(*number);
                }
            }
        }
        fitting.sort_by_key(|number| (self.rules[*number].weight, *number));
        fitting.dedup();
        fitting.into_iter().for_each(|number| all.extend(self.rules[number].declarations.clone()));
        all
    }
}

/// Returns the classes of an element.
pub(super) fn classes(tree: &HtmlTree, id: Id) -> impl Iterator<Item = &str> {
    let all = tree.attribute(id, "class").unwrap_or_default();
    all[..all.floor_char_boundary(OF_CLASSES)].split_whitespace()
}

impl CssRule {
    fn fits(&self, tree: &HtmlTree, id: Id, comparisons: &mut usize) -> bool {
        let mut fits = |part: &Compound, id: Id| {
            *comparisons += 1;
            part.fits(tree, id)
        };
        let Some((last, before)) = self.parts.split_first() else { return false };
        let mut around = tree.around(id);
        fits(last, id) && before.iter().all(|part| around.any(|around| fits(part, around)))
    }
}

impl Compound {
    fn key(&self) -> String {
        let id = self.ids.first().map(|id| format!("#{id}"));
        let class = || self.classes.first().map(|class| format!(".{class}"));
        id.or_else(class).or_else(|| self.tag.clone()).unwrap_or_else(|| "*".to_owned())
    }

    fn fits(&self, tree: &HtmlTree, id: Id) -> bool {
        let has_class = |wanted: &String| classes(tree, id).any(|class| class == wanted);
        self.tag.as_ref().is_none_or(|tag| tree.tag(id) == tag)
            && self.ids.iter().all(|wanted| tree.attribute(id, "id") == Some(wanted))
            && self.classes.iter().all(has_class)
    }
}

/// Reads a selector of tags, classes, ids and what is around them. Nothing for one with states, attributes or neighbours.
fn selector(text: &str) -> Option<Vec<Compound>> {
    let text = resolved(text.trim());
    if text.is_empty() || text.contains([':', '[', '+', '~', '(', '@']) {
        return None;
    }
    let parts = text.split([' ', '\t', '\n', '>']).filter(|part| !part.is_empty());
    let mut parts: Vec<Compound> = parts.map(compound).collect();
    let last = parts.len().saturating_sub(1);
    let mut at = 0;
    // The page as a whole is one element of the tree.
    parts.retain(|part| {
        at += 1;
        at > last || part.tag.as_deref() != Some("html")
    });
    for part in &mut parts {
        if matches!(part.tag.as_deref(), Some("html" | "body")) {
            part.tag = Some("#root".to_owned());
        }
    }
    parts.reverse();
    (!parts.is_empty()).then_some(parts)
}

fn compound(text: &str) -> Compound {
    let mut compound = Compound::default();
    let mut rest = text;
    while !rest.is_empty() {
        let signs = rest.chars().next().filter(|first| matches!(first, '.' | '#'));
        let name = &rest[signs.map_or(0, char::len_utf8)..];
        let end = name.find(['.', '#']).unwrap_or(name.len());
        match signs {
            Some('.') => compound.classes.push(name[..end].to_owned()),
            Some(_) => compound.ids.push(name[..end].to_owned()),
            None => compound.tag = Some(name[..end].to_ascii_lowercase()).filter(|tag| tag != "*"),
        }
        rest = &name[end..];
        if signs.is_none() && end == 0 {
            break;
        }
    }
    compound
}

/// Returns whether the rules of an at-rule are those of a screen of any size.
fn is_for_readers(at_rule: &str) -> bool {
    let words: Vec<String> = at_rule.split_whitespace().map(str::to_ascii_lowercase).collect();
    match words.first().map(String::as_str) {
        Some("media") => matches!(words.get(1).map(String::as_str), Some("all" | "screen")) && words.len() == 2,
        Some("layer" | "supports") => true,
        _ => false,
    }
}

/// Returns where the block ends that begins here.
fn end_of_block(text: &str) -> usize {
    let mut depth = 1_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Reads declarations.
pub(super) fn declarations(text: &str) -> Declarations {
    let text = without_comments(text);
    let mut all = Declarations::default();
    for (name, value) in text.split(';').filter_map(|part| part.split_once(':')) {
        let name = resolved(name.trim()).to_lowercase();
        if !RELEVANT.contains(&name.as_str()) {
            continue;
        }
        let value = resolved(value.trim()).to_lowercase();
        match value.split_once('!') {
            Some((value, _)) => all.important.push((name, value.trim().to_owned())),
            None => all.usual.push((name, value)),
        }
    }
    all
}

fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once("/*") {
        kept.push_str(before);
        rest = inside.split_once("*/").map_or("", |(_, behind)| behind);
    }
    kept + rest
}

/// Resolves escapes: `\70 ` is `p`.
fn resolved(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('\\') {
        shown.push_str(before);
        let digits = behind.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits == 0 {
            let next = behind.chars().next();
            shown.extend(next);
            rest = &behind[next.map_or(0, char::len_utf8)..];
            continue;
        }
        let number = u32::from_str_radix(&behind[..digits], 16).ok().and_then(char::from_u32);
        shown.push(number.unwrap_or('\u{fffd}'));
        rest = &behind[digits..];
        rest = rest.strip_prefix([' ', '\t', '\n']).unwrap_or(rest);
    }
    shown + rest
}
