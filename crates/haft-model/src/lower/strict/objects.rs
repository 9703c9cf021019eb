//! Lowers objects, maps and lists for strict mode.

use std::collections::BTreeMap;

use haft_contract::description::lift::{Field, LiftRule, Null, PropertyPlace};
use serde_json::{Map, Value, json};

use super::super::SchemaRefusal;
use super::super::receipt::say;
use super::super::simplify::{SchemaType, Simple};
use super::super::spot::SchemaPosition;
use super::{Strict, StrictSchema, nullable, shapes, typed};

/// The position of an object in the arguments.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ObjectRole {
    /// It is the arguments themselves and has to stay an object.
    Arguments,
    /// It is a part of them.
    Part,
}

/// What an object admits besides its declared properties.
struct Extra {
    /// Schema of the keys.
    key: Map<String, Value>,
    /// Schema of the values.
    value: Value,
    spot: SchemaPosition,
}

impl Strict<'_> {
    /// Lowers an object schema: a closed object, a list of entries, or JSON as text.
    pub(super) fn object(
        &mut self,
        mut schema: Map<String, Value>,
        spot: &SchemaPosition,
        role: ObjectRole,
    ) -> Result<StrictSchema, SchemaRefusal> {
        let properties = match schema.shift_remove("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Map::new(),
        };
        let open = is_open(&schema);
        if properties.is_empty() && open && role == ObjectRole::Part && !requires(&schema) {
            for keyword in ["additionalProperties", "unevaluatedProperties"] {
                schema.shift_remove(keyword);
            }
            return Ok(self.text(schema, &spot.at, "a JSON object as text"));
        }
        let extra = self.extra(&mut schema, &properties, spot)?;
        match (extra, role) {
            (Some(extra), ObjectRole::Part) if properties.is_empty() && !requires(&schema) => {
                self.entries(extra, schema)
            }
            (extra, _) => self.record(properties, extra, schema, spot),
        }
    }

    /// A closed object with every property required.
    fn record(
        &mut self,
        mut properties: Map<String, Value>,
        extra: Option<Extra>,
        mut schema: Map<String, Value>,
        spot: &SchemaPosition,
    ) -> Result<StrictSchema, SchemaRefusal> {
        let required = schema.shift_remove("required").unwrap_or_default();
        let required: Vec<&str> = required.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for name in &required {
            properties.entry(*name).or_insert_with(|| json!({}));
        }
        schema.shift_remove("type");
        self.simplifier.receipt.keep(&mut schema, &["description"], &spot.at);
        let mut lowered = Map::new();
        let mut fields = BTreeMap::new();
        for (name, property) in &properties {
            let here = spot.member("properties", name);
            let mut piece = self.schema(property, &here)?;
            let mut null = Null::Value;
            if !required.contains(&name.as_str()) {
                if self.admits_null(&piece.schema)? {
                    let why = "cannot say that this may be left out; null stands for both";
                    self.simplifier.receipt.lose(&here.at, "required", why);
                } else {
                    piece.schema = nullable(piece.schema);
                    null = Null::Absent;
                }
            }
            lowered.insert(name.clone(), Value::Object(piece.schema));
            let place = PropertyPlace::Property(name.clone());
            fields.insert(name.clone(), Field { place, null, rule: piece.rule });
        }
        if let Some(extra) = extra {
            let mut name = "additional_properties".to_owned();
            while properties.contains_key(&name) {
                name.push('_');
            }
            let words = "Further properties, one entry each; an empty list for none.";
            let notes = Map::from_iter([("description".to_owned(), json!(words))]);
            let piece = self.entries(extra, notes)?;
            lowered.insert(name.clone(), Value::Object(piece.schema));
            let place = PropertyPlace::Spread;
            fields.insert(name, Field { place, null: Null::Absent, rule: piece.rule });
        }
        let mut object = typed(SchemaType::Object, schema);
        let names: Vec<String> = lowered.keys().cloned().collect();
        object.insert("properties".to_owned(), Value::Object(lowered));
        object.insert("required".to_owned(), json!(names));
        object.insert("additionalProperties".to_owned(), json!(false));
        let rule = simplified(LiftRule::Fields(fields));
        Ok(StrictSchema { schema: object, rule })
    }

    /// A map as a list of `{"key", "value"}`.
    fn entries(&mut self, extra: Extra, mut schema: Map<String, Value>) -> Result<StrictSchema, SchemaRefusal> {
        for (from, to) in [("minProperties", "minItems"), ("maxProperties", "maxItems")] {
            if let Some(count) = schema.shift_remove(from) {
                schema.insert(to.to_owned(), count);
            }
        }
        schema.shift_remove("type");
        self.simplifier.receipt.keep(&mut schema, &["description", "minItems", "maxItems"], &extra.spot.at);
        let mut value = self.schema(&extra.value, &extra.spot)?;
        if !value.schema.contains_key("$ref") && !value.schema.contains_key("description") {
            say(&mut value.schema, "The value of this entry.");
        }
        let mut key = typed(SchemaType::Text, extra.key);
        if !key.contains_key("description") {
            say(&mut key, "The name of this entry.");
        }
        let mut list = typed(SchemaType::List, schema);
        list.insert(
            "items".to_owned(),
            json!({
                "type": "object",
                "properties": { "key": key, "value": value.schema },
                "required": ["key", "value"],
                "additionalProperties": false,
            }),
        );
        Ok(StrictSchema { schema: list, rule: LiftRule::Entries(Box::new(value.rule)) })
    }

    /// Takes what says which further properties an object has.
    fn extra(
        &mut self,
        schema: &mut Map<String, Value>,
        properties: &Map<String, Value>,
        spot: &SchemaPosition,
    ) -> Result<Option<Extra>, SchemaRefusal> {
        let unevaluated = schema.shift_remove("unevaluatedProperties");
        let additional = schema.shift_remove("additionalProperties").or(unevaluated);
        let patterns = match schema.shift_remove("patternProperties") {
            Some(Value::Object(patterns)) => patterns,
            _ => Map::new(),
        };
        let names = schema.shift_remove("propertyNames");
        let mut values: Vec<Value> = patterns.values().cloned().collect();
        let mut from = spot.under("patternProperties");
        match additional {
            None if patterns.is_empty() && !properties.is_empty() => return Ok(None),
            None if patterns.is_empty() && names.is_none() => return Ok(None),
            Some(Value::Bool(false)) if patterns.is_empty() => return Ok(None),
            None if !patterns.is_empty() => {}
            None => values.push(Value::Bool(true)),
            Some(Value::Bool(false)) => {}
            Some(more) => {
                from = spot.under("additionalProperties");
                values.push(more);
            }
        }
        let mut key = match names {
            Some(names) => self.key(&names, spot)?,
            None => Map::new(),
        };
        if let [pattern] = patterns.keys().collect::<Vec<_>>().as_slice()
            && values.len() == 1
            && !key.contains_key("pattern")
            && !super::looks_around(pattern)
        {
            key.insert("pattern".to_owned(), json!(pattern));
        } else if !patterns.is_empty() {
            let why = "became a list of entries; which value goes with which name is checked when the tool is called";
            self.simplifier.receipt.lose(&spot.at, "patternProperties", why);
        }
        let value = match values.len() {
            1 => values.remove(0),
            _ => json!({ "anyOf": values }),
        };
        Ok(Some(Extra { key, value, spot: from }))
    }

    /// Lowers the schema of property names.
    fn key(&mut self, names: &Value, spot: &SchemaPosition) -> Result<Map<String, Value>, SchemaRefusal> {
        let here = spot.under("propertyNames");
        match self.simplifier.simple(names, &here.at)? {
            Simple::Typed(SchemaType::Text, schema) => {
                let mut piece = self.scalar(SchemaType::Text, schema, &here.at);
                piece.schema.shift_remove("type");
                Ok(piece.schema)
            }
            Simple::Anything(_) => Ok(Map::new()),
            Simple::Nothing | Simple::Reference(..) | Simple::Union(..) | Simple::Constants(..) | Simple::Typed(..) => {
                self.simplifier.receipt.lose(&spot.at, "propertyNames", "is not accepted here");
                Ok(Map::new())
            }
        }
    }

    /// Lowers a list; positions of a tuple keep their rules and lose their order in the schema.
    pub(super) fn list(
        &mut self,
        mut schema: Map<String, Value>,
        spot: &SchemaPosition,
    ) -> Result<StrictSchema, SchemaRefusal> {
        let rest = schema.shift_remove("items");
        let positions = match schema.shift_remove("prefixItems") {
            Some(Value::Array(positions)) => positions,
            _ => Vec::new(),
        };
        if rest == Some(Value::Bool(false)) {
            let most = schema.get("maxItems").and_then(Value::as_u64);
            let most = most.unwrap_or(u64::MAX).min(positions.len() as u64);
            schema.insert("maxItems".to_owned(), json!(most));
        }
        self.simplifier.receipt.keep(&mut schema, &["description", "minItems", "maxItems"], &spot.at);
        let mut first = Vec::new();
        for (i, position) in positions.iter().enumerate() {
            first.push(self.schema(position, &spot.member("prefixItems", &i.to_string()))?);
        }
        if !first.is_empty() {
            let why = "became items of any of these schemas; the description says their order";
            self.simplifier.receipt.lose(&spot.at, "prefixItems", why);
            say(&mut schema, &ordered(&first));
        }
        let full = schema.get("maxItems").and_then(Value::as_u64) == Some(first.len() as u64);
        let rest = match rest {
            Some(Value::Bool(false)) if !first.is_empty() => None,
            None | Some(Value::Bool(_)) if !first.is_empty() && full => None,
            Some(Value::Bool(false)) | None => Some(json!({})),
            Some(rest) => Some(rest),
        };
        let rest = match rest {
            Some(rest) => Some(self.schema(&rest, &spot.under("items"))?),
            None => None,
        };
        let mut items: Vec<Value> = Vec::new();
        for piece in first.iter().chain(&rest) {
            let item = Value::Object(piece.schema.clone());
            if !items.contains(&item) {
                items.push(item);
            }
        }
        let items = match items.len() {
            1 => items.remove(0),
            _ => json!({ "anyOf": items }),
        };
        let mut list = typed(SchemaType::List, schema);
        list.insert("items".to_owned(), items);
        let rule = LiftRule::Items {
            first: first.into_iter().map(|piece| piece.rule).collect(),
            rest: Box::new(rest.map(|piece| piece.rule).unwrap_or_default()),
        };
        Ok(StrictSchema { schema: list, rule: simplified(rule) })
    }

    /// Returns whether a lowered schema admits null, also behind a reference.
    fn admits_null(&mut self, schema: &Map<String, Value>) -> Result<bool, SchemaRefusal> {
        if shapes::admits_null(schema) {
            return Ok(true);
        }
        if let Some(target) = self.simplifier.document.target(schema) {
            return self.definition_admits_null(target);
        }
        let branches = schema.get("anyOf").and_then(Value::as_array);
        for branch in branches.into_iter().flatten().filter_map(Value::as_object) {
            if self.admits_null(branch)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn definition_admits_null(&mut self, target: usize) -> Result<bool, SchemaRefusal> {
        if let Some(known) = self.nullable.get(&target) {
            return Ok(*known);
        }
        let def = &self.simplifier.document.defs[target];
        let admits = self.source_admits_null(&def.schema, &SchemaPosition::start(&def.origin))?;
        self.nullable.insert(target, admits);
        Ok(admits)
    }

    /// Returns whether a schema will admit null once it is lowered.
    fn source_admits_null(&mut self, schema: &Value, spot: &SchemaPosition) -> Result<bool, SchemaRefusal> {
        spot.refuse_abyss()?;
        if self.as_text.contains(&spot.at) {
            return Ok(false);
        }
        match self.simplifier.simple(schema, &spot.at)? {
            Simple::Typed(kind, _) => Ok(kind == SchemaType::Null),
            Simple::Reference(target, _) => self.definition_admits_null(target),
            Simple::Union(branches, _) => {
                for (i, branch) in branches.iter().enumerate() {
                    if self.source_admits_null(branch, &spot.member("anyOf", &i.to_string()))? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Simple::Anything(_) | Simple::Nothing | Simple::Constants(..) => Ok(false),
        }
    }
}

/// Returns whether an object says nothing about its properties.
fn is_open(schema: &Map<String, Value>) -> bool {
    let anything = |value: &Value| *value == Value::Bool(true) || value.as_object().is_some_and(Map::is_empty);
    !schema.contains_key("patternProperties")
        && !schema.contains_key("propertyNames")
        && ["additionalProperties", "unevaluatedProperties"]
            .iter()
            .all(|keyword| schema.get(*keyword).is_none_or(anything))
}

fn requires(schema: &Map<String, Value>) -> bool {
    schema.get("required").and_then(Value::as_array).is_some_and(|names| !names.is_empty())
}

/// Returns a rule without the parts that change nothing.
fn simplified(rule: LiftRule) -> LiftRule {
    match rule {
        LiftRule::Fields(mut fields) => {
            fields.retain(|wire, field| {
                field.rule != LiftRule::Same
                    || field.null == Null::Absent
                    || field.place != PropertyPlace::Property(wire.clone())
            });
            if fields.is_empty() { LiftRule::Same } else { LiftRule::Fields(fields) }
        }
        LiftRule::Items { first, rest }
            if *rest == LiftRule::Same && first.iter().all(|rule| *rule == LiftRule::Same) =>
        {
            LiftRule::Same
        }
        rule => rule,
    }
}

/// Says what stands at which position of a tuple.
fn ordered(positions: &[StrictSchema]) -> String {
    let words: Vec<String> = positions
        .iter()
        .enumerate()
        .map(|(i, piece)| {
            let name = match piece.schema.get("type") {
                Some(Value::String(name)) => name.as_str(),
                _ => "value",
            };
            let text = piece.schema.get("description").and_then(Value::as_str);
            match text {
                Some(text) => format!("{}. {name}: {text}", i + 1),
                None => format!("{}. {name}", i + 1),
            }
        })
        .collect();
    format!("(items in this order: {})", words.join("; "))
}
