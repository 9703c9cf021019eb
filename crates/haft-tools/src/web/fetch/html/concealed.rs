//! Removes parts of a page that its styles hide from a reader.
//!
//! These are parts that are not drawn, parts outside of the page, and text that is too small or has no colour of its own.
//! Only programs read such text: screen readers, or a model that is to do what no person reads.
//!
//! Not here: what scripts or external style sheets hide. haft loads neither.

use super::css::{Declarations, Sheet, classes, declarations};
use super::tree::{HtmlTree, Id};

/// Classes by which frameworks hide text from those who see.
const CLASSES: &[&str] = &[
    "sr-only",
    "visually-hidden",
    "visuallyhidden",
    "screen-reader-text",
    "screen-reader-only",
    "screenreader-only",
    "screenreader",
    "sr_only",
    "sronly",
    "a11y-hidden",
    "u-hidden-visually",
    "u-visually-hidden",
    "element-invisible",
    "is-sr-only",
    "cdk-visually-hidden",
    "govuk-visually-hidden",
    "usa-sr-only",
];
/// Farther than this from its place is outside of the page, in pixels.
const FAR: f64 = 500.0;
/// Text up to this size cannot be read, in pixels.
const TOO_SMALL: f64 = 2.0;
/// Less of an element than this cannot be seen: its opacity, or the part of its size.
const TOO_FAINT: f64 = 0.05;

/// How text looks in an element, unless an element inside says otherwise.
#[derive(Clone, Default)]
struct Look {
    is_invisible: bool,
    is_small: bool,
    is_shifted: bool,
    color: Option<String>,
    background: Option<String>,
}

impl Look {
    fn hides(&self) -> bool {
        let is_same = || self.color.is_some() && self.color == self.background;
        self.is_invisible || self.is_small || self.is_shifted || self.color.as_deref() == Some(NO_COLOR) || is_same()
    }
}

/// The colour of what is transparent.
const NO_COLOR: &str = "transparent";
const WHITE: &str = "#ffffff";

/// Removes what is concealed; returns how many letters that is.
pub(super) fn remove_concealed(tree: &mut HtmlTree) -> usize {
    let before = tree.letters(0);
    let mut sheet = Sheet::of(tree);
    // Without sheets of other addresses, a page is white until it says otherwise.
    let has_other_sheets = tree.below(0).any(|id| {
        tree.tag(id) == "link" && tree.attribute(id, "rel").is_some_and(|rel| rel.to_lowercase().contains("stylesheet"))
    });
    let white = Look { background: (!has_other_sheets).then(|| WHITE.to_owned()), ..Look::default() };
    // Scripts show a page that begins hidden as a whole.
    let page = look(&white, &styles_of(tree, 0, &mut sheet));
    let page = Look { is_invisible: false, is_small: false, is_shifted: false, ..page };
    let mut looks: Vec<Look> = vec![Look::default(); tree.len()];
    let mut removed = vec![false; tree.len()];
    looks[0] = page;
    for id in 1..tree.len() {
        let parent = tree.parent(id);
        if removed[parent] {
            removed[id] = true;
        } else if tree.tag(id).is_empty() {
            removed[id] = looks[parent].hides();
        } else {
            let styles = styles_of(tree, id, &mut sheet);
            removed[id] = is_taken_out(tree, id, &styles);
            looks[id] = look(&looks[parent], &styles);
        }
    }
    tree.remove(&removed);
    before.saturating_sub(tree.letters(0))
}

fn styles_of(tree: &HtmlTree, id: Id, sheet: &mut Sheet) -> Declarations {
    let mut styles = sheet.of_element(tree, id);
    // What old pages say of the colours of a page or of text.
    let colors = [("bgcolor", "background-color"), ("color", "color"), ("text", "color")];
    for (attribute, name) in colors {
        if let Some(value) = tree.attribute(id, attribute).filter(|value| !value.contains(';')) {
            styles.extend(declarations(&format!("{name}:{value}")));
        }
    }
    if let Some(own) = tree.attribute(id, "style") {
        styles.extend(declarations(own));
    }
    styles
}

/// Returns whether nothing in an element is drawn where a reader could see it.
fn is_taken_out(tree: &HtmlTree, id: Id, styles: &Declarations) -> bool {
    let tag = tree.tag(id);
    let is = |name: &str, fits: &dyn Fn(&str) -> bool| styles.value(name).is_some_and(fits);
    let is_none = |name: &str, wanted: &str| is(name, &|value| value == wanted);
    let is_zero = |name: &str| is(name, &|value| pixels(value).is_some_and(|size| size.abs() <= 1.0));
    let hides_rest = ["overflow", "overflow-x", "overflow-y"]
        .iter()
        .any(|name| is(name, &|value| value.split(' ').any(|word| matches!(word, "hidden" | "clip"))));
    // A box without a height that has padding holds a picture; a cell is as wide as its column.
    let is_padded = ["padding", "padding-bottom", "padding-top"]
        .iter()
        .any(|name| is(name, &|value| value.split(' ').filter_map(pixels).any(|size| size > 1.0)));
    let sizes: &[&str] = if matches!(tag, "td" | "th") { &[] } else { &["height", "max-height", "width"] };
    let is_apart = is("position", &|value| matches!(value, "absolute" | "fixed"));
    let is_moved = is_apart || is_none("position", "relative");
    let moves = |name: &str, most: f64| is(name, &|value| pixels(value).is_some_and(|far| far <= -FAR || far >= most));
    let is_pushed =
        |name: &str| is(name, &|value| !value.contains('%') && pixels(value).is_some_and(|far| far <= -2_000.0));
    is_hidden_by_attribute(tree, id)
        || is_hidden_by_class(tree, id)
        || is_none("display", "none")
        || is_none("content-visibility", "hidden")
        || is("opacity", &|value| number(value).is_some_and(|opacity| opacity <= TOO_FAINT))
        || is("filter", &|value| value.replace(' ', "").contains("opacity(0"))
        || is("clip-path", &clips_all)
        || is_apart && is("clip", &clips_all)
        || hides_rest && !is_padded && sizes.iter().any(|name| is_zero(name))
        || is_moved && ["left", "top", "right", "bottom", "inset"].iter().any(|name| moves(name, 5_000.0))
        || ["margin-left", "margin-top"].iter().any(|name| is_pushed(name))
        || is("transform", &moves_away)
        || is("scale", &|value| number(value).is_some_and(|scale| scale <= TOO_FAINT))
}

fn is_hidden_by_attribute(tree: &HtmlTree, id: Id) -> bool {
    tree.attribute(id, "hidden").is_some_and(|value| value != "until-found")
        || tree.attribute(id, "aria-hidden") == Some("true") && !matches!(tree.tag(id), "main" | "article")
}

fn is_hidden_by_class(tree: &HtmlTree, id: Id) -> bool {
    let is_shown = || classes(tree, id).any(|class| class.ends_with("not-sr-only"));
    classes(tree, id).any(|class| CLASSES.contains(&class.to_ascii_lowercase().as_str())) && !is_shown()
}

/// Returns how text looks in an element inside of another.
fn look(around: &Look, styles: &Declarations) -> Look {
    let mut look = around.clone();
    for (name, value) in styles.iter() {
        match name {
            "visibility" => look.is_invisible = matches!(value, "hidden" | "collapse"),
            "font-size" => look.is_small = is_small(value, around),
            "font" => {
                // The size is the first length; a weight has no unit.
                let is_length =
                    |word: &&str| *word == "0" || word.ends_with(|c: char| c.is_ascii_alphabetic() || c == '%');
                let size = value.split([' ', '/']).filter(is_length).find_map(pixels);
                look.is_small = size.is_some_and(|size| size <= TOO_SMALL);
            }
            "text-indent" => look.is_shifted = pixels(value).is_some_and(|far| far.abs() >= FAR),
            "color" | "-webkit-text-fill-color" => look.color = color(value, around.color.clone()),
            name => {
                if let Some(background) = background(name, value) {
                    // What is behind a transparent element is what shows.
                    if background != NO_COLOR {
                        look.background = Some(background).filter(|color| color != OTHER);
                    }
                }
            }
        }
    }
    look
}

fn is_small(value: &str, around: &Look) -> bool {
    let is_relative = value.ends_with("em") && !value.ends_with("rem") || value.ends_with('%') || value == "inherit";
    match pixels(value) {
        Some(size) if size <= TOO_SMALL => true,
        _ => is_relative && around.is_small,
    }
}

/// A background that is no plain colour, such as an image.
const OTHER: &str = "other";

fn background(name: &str, value: &str) -> Option<String> {
    match name {
        "background-color" => Some(color(value, None).unwrap_or_else(|| OTHER.to_owned())),
        "background" | "background-image" if value.contains("url(") || value.contains("gradient") => {
            Some(OTHER.to_owned())
        }
        "background" => Some(color(value, None).unwrap_or_else(|| OTHER.to_owned())),
        _ => None,
    }
}

/// Returns a colour in one form; nothing for one that is not known.
fn color(value: &str, around: Option<String>) -> Option<String> {
    let value = value.trim();
    if let Some(digits) = value.strip_prefix('#') {
        let each = |twice: bool| digits.chars().flat_map(move |c| std::iter::repeat_n(c, if twice { 2 } else { 1 }));
        return match digits.len() {
            4 if digits.ends_with('0') => Some(NO_COLOR.to_owned()),
            8 if digits.ends_with("00") => Some(NO_COLOR.to_owned()),
            3 | 4 => Some(format!("#{}", each(true).take(6).collect::<String>())),
            6 | 8 => Some(format!("#{}", each(false).take(6).collect::<String>())),
            _ => None,
        };
    }
    if let Some(inside) = value.strip_prefix("rgb").and_then(|rest| rest.split_once('(')).map(|(_, inside)| inside) {
        let parts: Vec<f64> = inside.split([',', ' ', '/', ')']).filter_map(number).collect();
        let [red, green, blue, rest @ ..] = parts.as_slice() else { return None };
        if rest.first().is_some_and(|opacity| *opacity <= TOO_FAINT) {
            return Some(NO_COLOR.to_owned());
        }
        return Some(format!("#{:02x}{:02x}{:02x}", byte(*red), byte(*green), byte(*blue)));
    }
    if let Some(inside) = value.strip_prefix("hsla(") {
        let opacity = inside.trim_end_matches(')').rsplit([',', '/']).next().and_then(number);
        return opacity.filter(|opacity| *opacity <= TOO_FAINT).map(|_| NO_COLOR.to_owned());
    }
    match value {
        "transparent" => Some(NO_COLOR.to_owned()),
        "white" => Some(WHITE.to_owned()),
        "black" => Some("#000000".to_owned()),
        "inherit" | "currentcolor" => around,
        name if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic()) => Some(name.to_owned()),
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it lies between 0 and 255")]
fn byte(part: f64) -> u8 {
    part.clamp(0.0, 255.0) as u8
}

/// Reads a number, also one in percent.
fn number(value: &str) -> Option<f64> {
    let value = value.trim();
    match value.strip_suffix('%') {
        Some(percent) => Some(percent.trim().parse::<f64>().ok()? / 100.0),
        None => value.parse().ok(),
    }
}

/// Reads a length in pixels; about, for units that depend on the font or the window.
fn pixels(value: &str) -> Option<f64> {
    let value = value.trim();
    let end = value.find(|c: char| c.is_ascii_alphabetic() || c == '%').unwrap_or(value.len());
    let (size, unit) = value.split_at(end);
    let size: f64 = size.trim().parse().ok()?;
    Some(match unit {
        "" | "px" => size,
        "em" | "rem" | "ex" | "ch" | "pc" => size * 16.0,
        "pt" => size * 1.33,
        "cm" => size * 38.0,
        "mm" => size * 3.8,
        "in" => size * 96.0,
        "vw" | "vh" | "%" | "vmin" | "vmax" => size * 6.0,
        _ => return None,
    })
}

/// Returns whether a clip leaves nothing: `rect(0 0 0 0)`, `inset(50%)`, `circle(0)`.
fn clips_all(value: &str) -> bool {
    let Some((shape, inside)) = value.split_once('(') else { return false };
    let inside = inside.trim_end_matches(')');
    let words: Vec<&str> = inside.split([',', ' ']).filter(|word| !word.is_empty()).collect();
    match shape.trim() {
        "rect" => words.iter().all(|word| pixels(word).is_some_and(|size| size.abs() <= 1.0)),
        "inset" => {
            words.first().and_then(|word| word.strip_suffix('%')).and_then(number).is_some_and(|part| part >= 50.0)
        }
        "circle" | "ellipse" => words.first().and_then(|word| pixels(word)).is_some_and(|size| size <= 1.0),
        "polygon" => words.iter().all(|word| pixels(word).is_some_and(|size| size.abs() <= 1.0)),
        _ => false,
    }
}

/// Returns whether a transformation makes an element a point, or moves it out of the page.
fn moves_away(value: &str) -> bool {
    value.split(')').filter_map(|step| step.split_once('(')).any(|(name, inside)| {
        let mut words = inside.split([',', ' ']).filter(|word| !word.is_empty());
        match name.trim() {
            "scale" | "scalex" | "scaley" | "scale3d" => {
                words.any(|word| number(word).is_some_and(|scale| scale.abs() <= TOO_FAINT))
            }
            // In percent it is of the element's own size, as in menus that slide in.
            "translate" | "translatex" | "translatey" | "translate3d" => {
                words.any(|word| !word.ends_with('%') && pixels(word).is_some_and(|far| far.abs() >= 1_000.0))
            }
            _ => false,
        }
    })
}
