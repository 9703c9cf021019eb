//! Lowers for Gemini's `parametersJsonSchema`.
//!
//! The field takes JSON Schema, of which Google documents a list of supported keywords. Others are
//! moved into the description or dropped: which of them are ignored and which refuse the request
//! differs between endpoints. References may stand only alone, `enum` holds texts and numbers only,
//! and a recursive property must not be required.
//!
//! Not here: the older `parameters` field with its subset of OpenAPI.

use std::collections::{BTreeSet, HashMap, HashSet};

use haft_contract::description::lift::InverseLowering;
use serde_json::{Map, Value, json};

use super::cycles::{Follow, recursive, references};
use super::modern::SchemaDocument;
use super::receipt::{place, say};
use super::root::{RootSchema, Unions, settle};
use super::simplify::{SchemaType, Simple, Simplifier};
use super::spot::SchemaPosition;
use super::write::{typed, with_notes};
use super::{Parameters, SchemaRefusal};

/// Formats the guide names; the numeric ones come from OpenAPI.
const FORMATS: [&str; 7] = ["date-time", "date", "time", "int32", "int64", "float", "double"];

/// Lowers a document for Gemini.
pub(super) fn lower(document: SchemaDocument) -> Result<Parameters, SchemaRefusal> {
    let mut simplifier = Simplifier::new(&document, document.receipt.clone());
    let RootSchema { schema, words } = settle(&mut simplifier, Unions::Merged)?;
    let mut gemini =
        GeminiLowering { simplifier, referred: BTreeSet::new(), recursive: recursive(&document), in_recursion: false };
    let schema = gemini.whole(schema)?;
    Ok(Parameters {
        schema: Value::Object(schema),
        lift: InverseLowering::none(),
        losses: gemini.simplifier.receipt.into_losses(),
        words,
    })
}

struct GeminiLowering<'d> {
    simplifier: Simplifier<'d>,
    referred: BTreeSet<usize>,
    recursive: HashSet<usize>,
    /// Whether the definition at hand is recursive.
    in_recursion: bool,
}

impl GeminiLowering<'_> {
    fn whole(&mut self, root: Map<String, Value>) -> Result<Map<String, Value>, SchemaRefusal> {
        let mut schema = root;
        schema.shift_remove("type");
        let mut lowered = self.object(schema, &SchemaPosition::start(""))?;
        lowered.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        let document = self.simplifier.document;
        let mut defs = HashMap::new();
        while let Some(index) = self.referred.iter().find(|i| !defs.contains_key(*i)).copied() {
            let def = &document.defs[index];
            self.in_recursion = self.recursive.contains(&index);
            let lowered = self.schema(&def.schema, &SchemaPosition::start(&def.origin))?;
            defs.insert(index, Value::Object(lowered));
        }
        if !defs.is_empty() {
            let ordered: Map<String, Value> = self
                .referred
                .iter()
                .filter_map(|index| Some((document.defs[*index].name.clone(), defs.remove(index)?)))
                .collect();
            lowered.insert("$defs".to_owned(), Value::Object(ordered));
        }
        Ok(lowered)
    }

    fn schema(&mut self, schema: &Value, spot: &SchemaPosition) -> Result<Map<String, Value>, SchemaRefusal> {
        spot.refuse_abyss()?;
        let at = spot.at.as_str();
        match self.simplifier.simple(schema, at)? {
            Simple::Anything(mut notes) => {
                self.keep(&mut notes, &[], at);
                Ok(notes)
            }
            Simple::Nothing => {
                Err(SchemaRefusal(format!("nothing is valid at {}. Next: correct the schema there", place(at))))
            }
            Simple::Reference(target, notes) => Ok(self.reference(target, notes, at)),
            Simple::Union(branches, notes) => self.union(&branches, notes, spot),
            Simple::Constants(values, mut notes) => {
                self.keep(&mut notes, &[], at);
                say(&mut notes, &format!("(one of {})", json!(values)));
                let why = "holds lists or objects; the description says it";
                self.simplifier.receipt.lose(at, "enum", why);
                Ok(notes)
            }
            Simple::Typed(SchemaType::Object, schema) => self.object(schema, spot),
            Simple::Typed(SchemaType::List, schema) => self.list(schema, spot),
            Simple::Typed(kind, schema) => Ok(self.scalar(kind, schema, at)),
        }
    }

    /// Drops every keyword but the description and `allowed`.
    fn keep(&mut self, schema: &mut Map<String, Value>, allowed: &[&str], at: &str) {
        let mut all = vec!["description"];
        all.extend(allowed);
        self.simplifier.receipt.keep(schema, &all, at);
    }

    fn reference(&mut self, target: usize, mut notes: Map<String, Value>, at: &str) -> Map<String, Value> {
        self.referred.insert(target);
        self.keep(&mut notes, &[], at);
        let name = &self.simplifier.document.defs[target].name;
        let reference = json!({ "$ref": format!("#/$defs/{name}") });
        match reference {
            Value::Object(reference) if notes.is_empty() => reference,
            reference => with_notes(vec![reference], notes),
        }
    }

    fn union(
        &mut self,
        branches: &[Value],
        mut notes: Map<String, Value>,
        spot: &SchemaPosition,
    ) -> Result<Map<String, Value>, SchemaRefusal> {
        self.keep(&mut notes, &[], &spot.at);
        let mut lowered: Vec<Value> = Vec::new();
        for (i, branch) in branches.iter().enumerate() {
            let here = spot.member("anyOf", &i.to_string());
            let branch = Value::Object(self.schema(branch, &here)?);
            if !lowered.contains(&branch) {
                lowered.push(branch);
            }
        }
        let null = json!({ "type": "null" });
        match lowered.as_slice() {
            [Value::Object(only)] => {
                let mut only = only.clone();
                only.extend(notes);
                Ok(only)
            }
            [Value::Object(value), other] | [other, Value::Object(value)]
                if *other == null && is_plain_scalar(value) =>
            {
                let mut value = value.clone();
                value.insert("type".to_owned(), json!([value["type"], "null"]));
                value.extend(notes);
                Ok(value)
            }
            _ => Ok(with_notes(lowered, notes)),
        }
    }

    fn scalar(&mut self, kind: SchemaType, mut schema: Map<String, Value>, at: &str) -> Map<String, Value> {
        if let Some(value) = schema.get("const").cloned()
            && matches!(kind, SchemaType::Text | SchemaType::Integer | SchemaType::Number)
        {
            schema.shift_remove("const");
            schema.insert("enum".to_owned(), json!([value]));
        }
        match kind {
            SchemaType::Integer | SchemaType::Number => {
                self.inclusive(&mut schema, kind, at);
                if let Some(format) = schema.get("format").and_then(Value::as_str)
                    && !FORMATS.contains(&format)
                {
                    schema.shift_remove("format");
                    self.simplifier.receipt.lose(at, "format", "is not accepted here");
                }
                self.keep(&mut schema, &["enum", "minimum", "maximum", "format"], at);
            }
            SchemaType::Text => {
                if let Some(format) = schema.get("format").and_then(Value::as_str)
                    && !FORMATS.contains(&format)
                {
                    self.simplifier.receipt.drop_keyword(&mut schema, "format", at);
                }
                self.keep(&mut schema, &["enum", "format"], at);
            }
            SchemaType::Boolean | SchemaType::Null | SchemaType::List | SchemaType::Object => {
                // Both truth values are what the type says anyway.
                if schema.get("enum").and_then(Value::as_array).map(Vec::len) == Some(2) {
                    schema.shift_remove("enum");
                }
                self.keep(&mut schema, &[], at);
            }
        }
        typed(kind, schema)
    }

    /// Turns exclusive bounds into inclusive ones: exactly for whole numbers, wider for others.
    fn inclusive(&mut self, schema: &mut Map<String, Value>, kind: SchemaType, at: &str) {
        for (exclusive, bound, step) in [("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)] {
            let limit = schema.get(exclusive).and_then(Value::as_i64);
            let next = limit.and_then(|limit| limit.checked_add(step));
            if let (SchemaType::Integer, Some(next), false) = (kind, next, schema.contains_key(bound)) {
                schema.shift_remove(exclusive);
                schema.insert(bound.to_owned(), json!(next));
            } else {
                self.simplifier.receipt.drop_keyword(schema, exclusive, at);
            }
        }
    }

    fn list(
        &mut self,
        mut schema: Map<String, Value>,
        spot: &SchemaPosition,
    ) -> Result<Map<String, Value>, SchemaRefusal> {
        let rest = schema.shift_remove("items");
        let mut positions = Vec::new();
        if let Some(Value::Array(first)) = schema.shift_remove("prefixItems") {
            for (i, position) in first.iter().enumerate() {
                let here = spot.member("prefixItems", &i.to_string());
                positions.push(Value::Object(self.schema(position, &here)?));
            }
        }
        let items = match rest {
            Some(Value::Bool(false)) => {
                let most = schema.get("maxItems").and_then(Value::as_u64);
                let most = most.unwrap_or(u64::MAX).min(positions.len() as u64);
                schema.insert("maxItems".to_owned(), json!(most));
                positions.is_empty().then(Map::new)
            }
            Some(rest) => Some(self.schema(&rest, &spot.under("items"))?),
            None => positions.is_empty().then(Map::new),
        };
        self.keep(&mut schema, &["minItems", "maxItems"], &spot.at);
        let mut list = typed(SchemaType::List, schema);
        if !positions.is_empty() {
            list.insert("prefixItems".to_owned(), Value::Array(positions));
        }
        if let Some(items) = items {
            list.insert("items".to_owned(), Value::Object(items));
        }
        Ok(list)
    }

    fn object(
        &mut self,
        mut schema: Map<String, Value>,
        spot: &SchemaPosition,
    ) -> Result<Map<String, Value>, SchemaRefusal> {
        let properties = match schema.shift_remove("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Map::new(),
        };
        self.patterns(&mut schema, &spot.at);
        let mut lowered = Map::new();
        for (name, property) in &properties {
            let property = self.schema(property, &spot.member("properties", name))?;
            lowered.insert(name.clone(), Value::Object(property));
        }
        if let Some(more) = schema.get("additionalProperties").filter(|more| more.is_object()) {
            let more = self.schema(&more.clone(), &spot.under("additionalProperties"))?;
            schema.insert("additionalProperties".to_owned(), Value::Object(more));
        }
        self.required(&mut schema, &properties, spot);
        self.keep(&mut schema, &["required", "additionalProperties"], &spot.at);
        let mut object = typed(SchemaType::Object, Map::new());
        if let Some(description) = schema.shift_remove("description") {
            object.insert("description".to_owned(), description);
        }
        if !lowered.is_empty() {
            object.insert("properties".to_owned(), Value::Object(lowered));
        }
        object.extend(schema);
        Ok(object)
    }

    /// Makes pattern properties a plain map.
    fn patterns(&mut self, schema: &mut Map<String, Value>, at: &str) {
        let Some(Value::Object(patterns)) = schema.shift_remove("patternProperties") else {
            return;
        };
        let mut values: Vec<Value> = patterns.values().cloned().collect();
        match schema.shift_remove("additionalProperties") {
            Some(more @ Value::Object(_)) => values.push(more),
            Some(Value::Bool(true)) => values.push(json!({})),
            _ => {}
        }
        let names: Vec<&String> = patterns.keys().collect();
        say(schema, &format!("(names match {})", json!(names)));
        let why = "became additionalProperties; the description says the patterns";
        self.simplifier.receipt.lose(at, "patternProperties", why);
        let value = match values.len() {
            1 => values.remove(0),
            _ => json!({ "anyOf": values }),
        };
        schema.insert("additionalProperties".to_owned(), value);
    }

    /// Requires only what is declared and does not lead back to the same definition.
    fn required(&mut self, schema: &mut Map<String, Value>, properties: &Map<String, Value>, spot: &SchemaPosition) {
        let Some(Value::Array(names)) = schema.shift_remove("required") else {
            return;
        };
        let document = self.simplifier.document;
        let mut kept = Vec::new();
        for name in names {
            let key = name.as_str().unwrap_or_default();
            let Some(property) = properties.get(key) else {
                let why = "names a property that is not declared; the description says it";
                self.simplifier.receipt.lose(&spot.at, "required", why);
                say(schema, &format!("({key} is required)"));
                continue;
            };
            let loops =
                self.in_recursion && !references(document, property, Follow::Everything).is_disjoint(&self.recursive);
            if loops {
                let here = spot.member("properties", key);
                let why = "is not said of this property, because it is recursive; the description says it";
                self.simplifier.receipt.lose(&here.at, "required", why);
                say(schema, &format!("({key} is required)"));
            } else {
                kept.push(name);
            }
        }
        if !kept.is_empty() {
            schema.insert("required".to_owned(), Value::Array(kept));
        }
    }
}

/// Returns whether `type` can become a list of itself and null without an `enum` ruling null out.
fn is_plain_scalar(schema: &Map<String, Value>) -> bool {
    let scalar = ["string", "integer", "number", "boolean"];
    schema.get("type").and_then(Value::as_str).is_some_and(|name| scalar.contains(&name))
        && !schema.contains_key("enum")
}
