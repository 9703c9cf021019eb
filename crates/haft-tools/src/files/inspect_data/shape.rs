//! Records the shape of nested values: their fields, types and ranges.
//!
//! Values come one after the other and are forgotten. The recorded shape is bounded, however many values there are and
//! however deep they are nested.

use std::collections::HashMap;

/// Most places of values that are told apart.
const MOST_PLACES: usize = 3_000;
/// Most fields of one object that are told apart; more are counted together.
const MOST_FIELDS: usize = 150;
/// Most levels that are told apart.
const MOST_LEVELS: usize = 24;
/// Most examples of texts at one place.
const MOST_SAMPLES: usize = 5;
/// Most bytes of a text that are kept: more than is shown, so that a secret is seen as a whole.
pub(super) const KEPT_TEXT: usize = 600;

/// Where a value is among its like.
pub(super) type PlaceId = usize;

/// A value that holds no others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar<'t> {
    Null,
    Bool(bool),
    /// As it was written.
    Number(&'t str),
    /// Its beginning, and how many characters it has.
    Text(&'t str, u64),
}

/// The kind of a value that holds other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CompositeKind {
    Object,
    Array,
}

/// Everything that is known of the values at one place.
#[derive(Debug, Default)]
pub(super) struct ShapePlace {
    /// How often there was a value.
    pub(super) count: u64,
    pub(super) nulls: u64,
    pub(super) bools: u64,
    pub(super) numbers: Numbers,
    pub(super) texts: Texts,
    pub(super) objects: u64,
    pub(super) arrays: u64,
    /// The smallest and the largest number of items of an array.
    pub(super) items: Option<(u64, u64)>,
    /// The fields of objects, in the order in which they were met.
    pub(super) fields: Vec<(String, PlaceId)>,
    by_name: HashMap<String, PlaceId>,
    /// The values of all fields beyond those.
    pub(super) other_fields: Option<PlaceId>,
    /// The items of arrays.
    pub(super) item: Option<PlaceId>,
    /// Whether there are values below that are not told apart.
    pub(super) has_more_below: bool,
}

/// Numbers at one place.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub(super) count: u64,
    pub(super) fractions: u64,
    pub(super) range: Option<Range>,
}

/// The smallest and the largest number, with how they were written.
#[derive(Clone, Debug)]
pub(super) struct Range {
    pub(super) least: (f64, String),
    pub(super) most: (f64, String),
}

/// Texts at one place.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) count: u64,
    /// The shortest and the longest, in characters.
    pub(super) lengths: Option<(u64, u64)>,
    /// Different texts, the first ones.
    pub(super) samples: Vec<String>,
    /// Whether there were others than the samples.
    pub(super) has_others: bool,
}

impl Numbers {
    pub(super) fn add(&mut self, written: &str) {
        self.count += 1;
        if written.contains(['.', 'e', 'E']) {
            self.fractions += 1;
        }
        let Ok(value) = written.parse::<f64>() else { return };
        match &mut self.range {
            None => self.range = Some(Range { least: (value, written.to_owned()), most: (value, written.to_owned()) }),
            Some(range) if value < range.least.0 => range.least = (value, written.to_owned()),
            Some(range) if value > range.most.0 => range.most = (value, written.to_owned()),
            Some(_) => {}
        }
    }
}

impl Texts {
    pub(super) fn add(&mut self, text: &str, characters: u64) {
        self.count += 1;
        let (least, most) = self.lengths.unwrap_or((characters, characters));
        self.lengths = Some((least.min(characters), most.max(characters)));
        if self.has_others || self.samples.iter().any(|sample| sample == text) {
            return;
        }
        match self.samples.len() {
            MOST_SAMPLES => self.has_others = true,
            _ => self.samples.push(text.to_owned()),
        }
    }
}

/// The shape of all values that were seen.
#[derive(Debug)]
pub(super) struct ShapeSummary {
    places: Vec<ShapePlace>,
    open: Vec<ShapeLevel>,
    /// The deepest level of holders.
    pub(super) deepest: usize,
}

#[derive(Clone, Copy, Debug)]
struct ShapeLevel {
    holder: CompositeKind,
    /// Where the holder is; nothing where it is no longer told apart.
    at: Option<PlaceId>,
    /// Where the next value is.
    next: Option<PlaceId>,
    items: u64,
}

impl ShapeSummary {
    pub(super) fn new() -> Self {
        Self { places: vec![ShapePlace::default()], open: Vec::new(), deepest: 0 }
    }

    /// The place of all values at the top.
    pub(super) const TOP: PlaceId = 0;

    pub(super) fn place(&self, id: PlaceId) -> &ShapePlace {
        &self.places[id]
    }

    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Says of which field the next value is.
    pub(super) fn key(&mut self, name: &str) {
        let Some(level) = self.open.last().copied() else { return };
        let next = level.at.and_then(|at| self.field(at, name));
        if let Some(level) = self.open.last_mut() {
            level.next = next;
        }
    }

    pub(super) fn scalar(&mut self, scalar: Scalar<'_>) {
        let Some(at) = self.next_value() else { return };
        let place = &mut self.places[at];
        match scalar {
            Scalar::Null => place.nulls += 1,
            Scalar::Bool(_) => place.bools += 1,
            Scalar::Number(written) => place.numbers.add(written),
            Scalar::Text(text, characters) => place.texts.add(text, characters),
        }
    }

    pub(super) fn open(&mut self, holder: CompositeKind) {
        let at = self.next_value();
        if let Some(at) = at {
            let place = &mut self.places[at];
            match holder {
                CompositeKind::Object => place.objects += 1,
                CompositeKind::Array => place.arrays += 1,
            }
        }
        self.open.push(ShapeLevel { holder, at, next: None, items: 0 });
        self.deepest = self.deepest.max(self.open.len());
    }

    pub(super) fn close(&mut self) {
        let Some(level) = self.open.pop() else { return };
        if let (CompositeKind::Array, Some(at)) = (level.holder, level.at) {
            let (least, most) = self.places[at].items.unwrap_or((level.items, level.items));
            self.places[at].items = Some((least.min(level.items), most.max(level.items)));
        }
    }

    /// Leaves everything that is open: it was cut off.
    pub(super) fn close_all(&mut self) {
        while !self.open.is_empty() {
            self.close();
        }
    }

    /// Returns where the next value is, and counts it.
    fn next_value(&mut self) -> Option<PlaceId> {
        let at = match self.open.last().copied() {
            None => Some(Self::TOP),
            Some(ShapeLevel { holder: CompositeKind::Object, next, .. }) => next,
            Some(ShapeLevel { at, .. }) => {
                let item = at.and_then(|at| self.item(at));
                if let Some(level) = self.open.last_mut() {
                    level.items += 1;
                }
                item
            }
        };
        if let Some(at) = at {
            self.places[at].count += 1;
        }
        at
    }

    fn item(&mut self, at: PlaceId) -> Option<PlaceId> {
        if let Some(item) = self.places[at].item {
            return Some(item);
        }
        let item = self.new_place(at)?;
        self.places[at].item = Some(item);
        Some(item)
    }

    fn field(&mut self, at: PlaceId, name: &str) -> Option<PlaceId> {
        if let Some(field) = self.places[at].by_name.get(name) {
            return Some(*field);
        }
        if self.places[at].fields.len() >= MOST_FIELDS {
            if self.places[at].other_fields.is_none() {
                self.places[at].other_fields = self.new_place(at);
            }
            return self.places[at].other_fields;
        }
        let field = self.new_place(at)?;
        let place = &mut self.places[at];
        place.fields.push((name.to_owned(), field));
        place.by_name.insert(name.to_owned(), field);
        Some(field)
    }

    fn new_place(&mut self, above: PlaceId) -> Option<PlaceId> {
        if self.places.len() >= MOST_PLACES || self.open.len() > MOST_LEVELS {
            self.places[above].has_more_below = true;
            return None;
        }
        self.places.push(ShapePlace::default());
        Some(self.places.len() - 1)
    }
}
