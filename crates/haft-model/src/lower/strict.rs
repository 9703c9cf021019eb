//! Lowers for OpenAI's strict mode, where decoding follows the schema.
//!
//! Strict mode wants every object closed and every property required, and knows neither maps nor
//! open objects. What it cannot say is said in another form that a [`LiftRule`] undoes:
//!
//! - an optional property may be null, and that null is taken out again;
//! - a map is a list of `{"key", "value"}`;
//! - an open object, or any value, is JSON as text;
//! - a union whose alternatives could no longer be told apart is JSON as text as a whole.
//!
//! Not here: the numbers OpenAI limits schemas by (`limits`), telling alternatives apart (`shapes`).

mod limits;
mod objects;
mod shapes;

use std::collections::{BTreeSet, HashMap, HashSet};

use haft_contract::description::lift::{InverseLowering, LiftRule, NamedRule, ValueShape};
use serde_json::{Map, Value, json};

use super::modern::SchemaDocument;
use super::receipt::{place, say};
use super::root::{RootSchema, Unions, settle};
use super::simplify::{SchemaType, Simple, Simplifier};
use super::spot::SchemaPosition;
use super::write::{typed, with_notes};
use super::{Parameters, SchemaRefusal};

/// How often a schema is lowered again because a union had to become text.
const MOST_ROUNDS: usize = 16;
/// The longest schema that is quoted in a description.
const LONGEST_QUOTE: usize = 400;
/// Formats strict mode enforces.
const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Lowers a document for strict mode.
pub(super) fn lower(document: SchemaDocument) -> Result<Parameters, SchemaRefusal> {
    let mut as_text = HashSet::new();
    for _ in 0..MOST_ROUNDS {
        let mut simplifier = Simplifier::new(&document, document.receipt.clone());
        let RootSchema { schema, words } = settle(&mut simplifier, Unions::Merged)?;
        let mut strict = Strict {
            simplifier,
            as_text: &as_text,
            unions: Vec::new(),
            referred: BTreeSet::new(),
            nullable: HashMap::new(),
        };
        let (whole, named) = strict.whole(schema)?;
        let clashes = shapes::clashes(&strict.unions, &named);
        if clashes.is_empty() {
            limits::check(&whole.schema)?;
            return Ok(Parameters {
                schema: Value::Object(whole.schema),
                lift: InverseLowering::new(whole.rule, named),
                losses: strict.simplifier.receipt.into_losses(),
                words,
            });
        }
        as_text.extend(clashes);
    }
    Err(SchemaRefusal(
        "too many unions of this schema cannot be told apart in strict mode. Next: give their alternatives a constant tag property"
            .to_owned(),
    ))
}

/// A lowered schema and the rule that undoes the lowering.
#[derive(PartialEq)]
struct StrictSchema {
    schema: Map<String, Value>,
    rule: LiftRule,
}

/// A union as lowered: where it stands and its alternatives.
struct Alternatives {
    at: String,
    branches: Vec<(ValueShape, LiftRule)>,
}

struct Strict<'d> {
    simplifier: Simplifier<'d>,
    as_text: &'d HashSet<String>,
    unions: Vec<Alternatives>,
    referred: BTreeSet<usize>,
    nullable: HashMap<usize, bool>,
}

impl Strict<'_> {
    /// Lowers the root and every definition it leads to.
    fn whole(&mut self, root: Map<String, Value>) -> Result<(StrictSchema, Vec<NamedRule>), SchemaRefusal> {
        let mut piece = self.object(root, &SchemaPosition::start(""), objects::ObjectRole::Arguments)?;
        let document = self.simplifier.document;
        let mut named: Vec<NamedRule> =
            document.defs.iter().map(|_| NamedRule { rule: LiftRule::Same, shape: ValueShape::Anything }).collect();
        let mut defs = HashMap::new();
        while let Some(index) = self.referred.iter().find(|i| !defs.contains_key(*i)).copied() {
            let def = &document.defs[index];
            let lowered = self.schema(&def.schema, &SchemaPosition::start(&def.origin))?;
            named[index] = NamedRule { shape: shapes::shape(&lowered.schema, document), rule: lowered.rule };
            defs.insert(index, Value::Object(lowered.schema));
        }
        if !defs.is_empty() {
            let ordered: Map<String, Value> = self
                .referred
                .iter()
                .filter_map(|index| Some((document.defs[*index].name.clone(), defs.remove(index)?)))
                .collect();
            piece.schema.insert("$defs".to_owned(), Value::Object(ordered));
        }
        Ok((piece, named))
    }

    fn schema(&mut self, schema: &Value, spot: &SchemaPosition) -> Result<StrictSchema, SchemaRefusal> {
        spot.refuse_abyss()?;
        let at = spot.at.as_str();
        if self.as_text.contains(at) {
            return Ok(self.ambiguous(schema, at));
        }
        match self.simplifier.simple(schema, at)? {
            Simple::Anything(notes) => Ok(self.text(notes, at, "any JSON value as text")),
            Simple::Nothing => {
                Err(SchemaRefusal(format!("nothing is valid at {}. Next: correct the schema there", place(at))))
            }
            Simple::Reference(target, notes) => Ok(self.reference(target, notes, at)),
            Simple::Union(branches, notes) => self.union(&branches, notes, spot),
            Simple::Constants(values, notes) => {
                let words = format!("one of these as JSON text: {}", json!(values));
                let why = "holds lists or objects; it became JSON as text";
                self.simplifier.receipt.lose(at, "enum", why);
                Ok(self.text(notes, at, &words))
            }
            Simple::Typed(SchemaType::Object, schema) => self.object(schema, spot, objects::ObjectRole::Part),
            Simple::Typed(SchemaType::List, schema) => self.list(schema, spot),
            Simple::Typed(kind, schema) => Ok(self.scalar(kind, schema, at)),
        }
    }

    /// JSON as text, with `words` in the description.
    fn text(&mut self, mut notes: Map<String, Value>, at: &str, words: &str) -> StrictSchema {
        self.simplifier.receipt.keep(&mut notes, &["description"], at);
        say(&mut notes, &format!("({words})"));
        StrictSchema { schema: typed(SchemaType::Text, notes), rule: LiftRule::Text }
    }

    /// A union whose alternatives would look the same once lowered.
    fn ambiguous(&mut self, schema: &Value, at: &str) -> StrictSchema {
        self.simplifier.receipt.lose(
            at,
            "anyOf",
            "has alternatives that strict mode cannot tell apart; it became JSON as text",
        );
        let mut notes = Map::new();
        if let Some(description) = schema.get("description") {
            notes.insert("description".to_owned(), description.clone());
        }
        let quote = schema.to_string();
        let words = if quote.len() <= LONGEST_QUOTE {
            format!("JSON as text, of this schema: {quote}")
        } else {
            "a JSON value as text".to_owned()
        };
        self.text(notes, at, &words)
    }

    fn reference(&mut self, target: usize, mut notes: Map<String, Value>, at: &str) -> StrictSchema {
        self.referred.insert(target);
        self.simplifier.receipt.keep(&mut notes, &["description"], at);
        let name = &self.simplifier.document.defs[target].name;
        let reference = json!({ "$ref": format!("#/$defs/{name}") });
        let schema = if notes.is_empty() {
            Map::from_iter([("$ref".to_owned(), reference["$ref"].clone())])
        } else {
            // Nothing may stand beside `$ref`, so the description stands beside an `anyOf` of it.
            with_notes(vec![reference], notes)
        };
        StrictSchema { schema, rule: LiftRule::Named(target) }
    }

    fn union(
        &mut self,
        branches: &[Value],
        mut notes: Map<String, Value>,
        spot: &SchemaPosition,
    ) -> Result<StrictSchema, SchemaRefusal> {
        self.simplifier.receipt.keep(&mut notes, &["description"], &spot.at);
        let mut pieces: Vec<StrictSchema> = Vec::new();
        let mut null = false;
        for (i, branch) in branches.iter().enumerate() {
            let piece = self.schema(branch, &spot.member("anyOf", &i.to_string()))?;
            if piece.schema.get("type") == Some(&json!("null")) {
                null = true;
            } else if !pieces.contains(&piece) {
                pieces.push(piece);
            }
        }
        let mut piece = match pieces.len() {
            0 => return Ok(StrictSchema { schema: typed(SchemaType::Null, notes), rule: LiftRule::Same }),
            1 => {
                let only = pieces.remove(0);
                StrictSchema { schema: described(only.schema, notes), rule: only.rule }
            }
            _ => self.choice(pieces, notes, &spot.at),
        };
        if null && !shapes::admits_null(&piece.schema) {
            piece.schema = nullable(piece.schema);
        }
        Ok(piece)
    }

    fn choice(&mut self, pieces: Vec<StrictSchema>, notes: Map<String, Value>, at: &str) -> StrictSchema {
        let document = self.simplifier.document;
        let branches: Vec<(ValueShape, LiftRule)> =
            pieces.iter().map(|piece| (shapes::shape(&piece.schema, document), piece.rule.clone())).collect();
        let schemas = pieces.into_iter().map(|piece| Value::Object(piece.schema)).collect();
        let rule = if branches.iter().all(|(_, rule)| *rule == LiftRule::Same) {
            LiftRule::Same
        } else {
            self.unions.push(Alternatives { at: at.to_owned(), branches: branches.clone() });
            LiftRule::Choice(branches)
        };
        StrictSchema { schema: with_notes(schemas, notes), rule }
    }

    fn scalar(&mut self, kind: SchemaType, mut schema: Map<String, Value>, at: &str) -> StrictSchema {
        let receipt = &mut self.simplifier.receipt;
        let allowed: &[&str] = match kind {
            SchemaType::Text => &["description", "enum", "const", "pattern", "format"],
            SchemaType::Integer | SchemaType::Number => &[
                "description",
                "enum",
                "const",
                "minimum",
                "maximum",
                "exclusiveMinimum",
                "exclusiveMaximum",
                "multipleOf",
            ],
            SchemaType::Boolean => &["description", "enum", "const"],
            SchemaType::Null | SchemaType::List | SchemaType::Object => &["description"],
        };
        if kind != SchemaType::Text && schema.shift_remove("format").is_some() {
            receipt.lose(at, "format", "is not accepted here");
        }
        receipt.keep(&mut schema, allowed, at);
        if let Some(format) = schema.get("format").and_then(Value::as_str)
            && !FORMATS.contains(&format)
        {
            receipt.drop_keyword(&mut schema, "format", at);
        }
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
            && looks_around(pattern)
        {
            receipt.drop_keyword(&mut schema, "pattern", at);
        }
        StrictSchema { schema: typed(kind, schema), rule: LiftRule::Same }
    }
}

/// Puts the description of a union with one alternative into that alternative.
fn described(mut schema: Map<String, Value>, notes: Map<String, Value>) -> Map<String, Value> {
    if notes.is_empty() {
        return schema;
    }
    if schema.contains_key("$ref") {
        return with_notes(vec![Value::Object(schema)], notes);
    }
    for (keyword, note) in notes {
        let text = match (note.as_str(), schema.get(&keyword).and_then(Value::as_str)) {
            (Some(outer), Some(inner)) if outer != inner => json!(format!("{outer} {inner}")),
            _ => note,
        };
        schema.insert(keyword, text);
    }
    schema
}

/// Lets a schema admit null too.
fn nullable(mut schema: Map<String, Value>) -> Map<String, Value> {
    let scalar = schema.get("type").filter(|name| *name != "object" && *name != "array").cloned();
    if let Some(name) = scalar {
        schema.insert("type".to_owned(), json!([name, "null"]));
        if let Some(value) = schema.get("const").cloned() {
            let values = json!([value, null]);
            schema.shift_remove("const");
            schema.insert("enum".to_owned(), values);
        } else if let Some(Value::Array(values)) = schema.get_mut("enum") {
            values.push(Value::Null);
        }
        return schema;
    }
    if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
        branches.push(json!({ "type": "null" }));
        return schema;
    }
    let description = schema.shift_remove("description");
    let notes = description.map(|text| ("description".to_owned(), text));
    with_notes(vec![Value::Object(schema), json!({ "type": "null" })], notes.into_iter().collect())
}

/// Strict mode compiles patterns to a grammar, which cannot look around or back.
fn looks_around(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|part| pattern.contains(part))
        || pattern.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && matches!(pair[1], b'1'..=b'9' | b'k'))
}
