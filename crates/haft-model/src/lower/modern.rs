//! Reads a schema of any common draft into one form: 2020-12, local references, definitions apart.
//!
//! The rest of lowering then knows one dialect. Draft-07 tuples, `definitions`, `dependencies` and boolean
//! `exclusiveMinimum` are rewritten; every reference becomes `#/$defs/NAME`, wherever it pointed; unused definitions
//! are removed. A value that is not a schema is refused here, with the place and the reason.
//!
//! Not here: merging, inlining, any provider's wish.

mod keywords;
mod pointer;

use std::collections::HashMap;

use haft_contract::description::schema_rules::{contradicting_values, has_contradicting_default};
use serde_json::{Map, Value};

use super::SchemaRefusal;
use super::receipt::{Receipt, inside, place};

/// Most values a schema may have once every reference has its definition.
const MOST_VALUES: usize = 100_000;

/// A schema in one normalized form, whatever its draft.
#[derive(Debug)]
pub(super) struct SchemaDocument {
    /// The schema of the arguments.
    pub(super) root: Map<String, Value>,
    /// What references lead to, in the order they were met.
    pub(super) defs: Vec<Def>,
    index: HashMap<String, usize>,
    /// What no provider is told.
    pub(super) receipt: Receipt,
}

/// A schema that others refer to.
#[derive(Debug)]
pub(super) struct Def {
    pub(super) name: String,
    /// Where it stands in the tool's schema.
    pub(super) origin: String,
    pub(super) schema: Value,
}

impl SchemaDocument {
    /// Returns the number of the definition a schema refers to.
    pub(super) fn target(&self, schema: &Map<String, Value>) -> Option<usize> {
        let name = schema.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
        self.index.get(name).copied()
    }
}

/// Reads `schema`, or says why it is not one.
pub(super) fn read(schema: &Value) -> Result<SchemaDocument, SchemaRefusal> {
    let mut reader = SchemaReader {
        raw: schema,
        base: schema.get("$id").and_then(Value::as_str).unwrap_or(""),
        anchors: pointer::anchors(schema),
        targets: Vec::new(),
        known: HashMap::new(),
        taken: HashMap::new(),
        values: 0,
        receipt: Receipt::default(),
    };
    let root = match reader.schema(schema, "")? {
        Value::Object(root) => root,
        Value::Bool(true) => Map::new(),
        _ => {
            return Err(SchemaRefusal(
                "the schema is `false`, so no arguments are valid. Next: give an object schema".to_owned(),
            ));
        }
    };
    let defs = reader.definitions()?;
    let index = defs.iter().enumerate().map(|(i, def)| (def.name.clone(), i)).collect();
    Ok(SchemaDocument { root, defs, index, receipt: reader.receipt })
}

struct SchemaReader<'a> {
    raw: &'a Value,
    base: &'a str,
    anchors: HashMap<String, String>,
    /// Pointer and name of every definition met so far.
    targets: Vec<(String, String)>,
    /// Number of the definition at a pointer.
    known: HashMap<String, usize>,
    taken: HashMap<String, usize>,
    values: usize,
    receipt: Receipt,
}

impl SchemaReader<'_> {
    fn definitions(&mut self) -> Result<Vec<Def>, SchemaRefusal> {
        let mut defs = Vec::new();
        while let Some((origin, name)) = self.targets.get(defs.len()).cloned() {
            let raw = self.raw;
            let found = raw.pointer(&origin).ok_or_else(|| unresolved(&origin))?;
            let schema = self.schema(found, &origin)?;
            defs.push(Def { name, origin, schema });
        }
        Ok(defs)
    }

    fn schema(&mut self, value: &Value, at: &str) -> Result<Value, SchemaRefusal> {
        self.values += 1;
        if self.values > MOST_VALUES {
            return Err(SchemaRefusal(format!(
                "the schema has more than {MOST_VALUES} values once references are followed. Next: refer to whole definitions only"
            )));
        }
        let map = match value {
            Value::Bool(_) => return Ok(value.clone()),
            Value::Object(map) => map,
            _ => return Err(wrong(at, "a schema has to be an object or a boolean", value)),
        };
        let mut read = Map::new();
        for (keyword, value) in map {
            self.keyword(&mut read, keyword, value, at)?;
        }
        keywords::modernise(&mut read);
        if let Some(keyword) = contradicting_values(&read) {
            self.receipt.say_values(&mut read, keyword, at);
        }
        if has_contradicting_default(&read) {
            self.receipt.say_default(&mut read, at);
        }
        Ok(Value::Object(read))
    }

    fn keyword(
        &mut self,
        read: &mut Map<String, Value>,
        keyword: &str,
        value: &Value,
        at: &str,
    ) -> Result<(), SchemaRefusal> {
        let here = inside(at, keyword);
        let value = match keyword {
            "$schema" | "$id" | "$comment" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor" | "$vocabulary" => {
                return Ok(());
            }
            "$defs" | "definitions" if value.is_object() => return Ok(()),
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                let target = self.reference(value, &here)?;
                read.insert("$ref".to_owned(), target);
                return Ok(());
            }
            "properties" | "patternProperties" | "dependentSchemas" => self.schemas_by_name(keyword, value, &here)?,
            "dependencies" => return self.dependencies(read, value, &here),
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => self.schema_list(value, &here)?,
            "items" if value.is_array() => {
                let items = self.schema_list(value, &here)?;
                read.insert("prefixItems".to_owned(), items);
                return Ok(());
            }
            "items"
            | "additionalItems"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "unevaluatedItems"
            | "contains"
            | "propertyNames"
            | "not"
            | "if"
            | "then"
            | "else" => self.schema(value, &here)?,
            _ => keywords::checked(keyword, value, &here)?,
        };
        read.insert(keyword.to_owned(), value);
        Ok(())
    }

    fn schemas_by_name(&mut self, keyword: &str, value: &Value, at: &str) -> Result<Value, SchemaRefusal> {
        let Some(map) = value.as_object() else {
            return Err(wrong(at, "it has to be an object of schemas", value));
        };
        let mut read = Map::new();
        for (name, schema) in map {
            match self.schema(schema, &inside(at, name))? {
                // A property that admits nothing can only be left out.
                Value::Bool(false) if keyword == "properties" => {}
                Value::Bool(true) => {
                    read.insert(name.clone(), Value::Object(Map::new()));
                }
                schema => {
                    read.insert(name.clone(), schema);
                }
            }
        }
        Ok(Value::Object(read))
    }

    fn schema_list(&mut self, value: &Value, at: &str) -> Result<Value, SchemaRefusal> {
        let Some(list) = value.as_array().filter(|list| !list.is_empty()) else {
            return Err(wrong(at, "it has to be a list of at least one schema", value));
        };
        list.iter().enumerate().map(|(i, schema)| self.schema(schema, &inside(at, &i.to_string()))).collect()
    }

    /// Splits draft-07 `dependencies` into the two keywords that replaced it.
    fn dependencies(&mut self, read: &mut Map<String, Value>, value: &Value, at: &str) -> Result<(), SchemaRefusal> {
        let Some(map) = value.as_object() else {
            return Err(wrong(at, "it has to be an object", value));
        };
        for (name, dependency) in map {
            let (keyword, dependency) = match dependency {
                Value::Array(_) => ("dependentRequired", keywords::checked("required", dependency, &inside(at, name))?),
                _ => ("dependentSchemas", self.schema(dependency, &inside(at, name))?),
            };
            let entry = read.entry(keyword).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(entries) = entry {
                entries.insert(name.clone(), dependency);
            }
        }
        Ok(())
    }

    /// Returns `#/$defs/NAME` for a reference, wherever it points.
    fn reference(&mut self, value: &Value, at: &str) -> Result<Value, SchemaRefusal> {
        let Some(text) = value.as_str() else {
            return Err(wrong(at, "it has to be a string", value));
        };
        let pointer = pointer::local(text, self.base, &self.anchors).ok_or_else(|| {
            SchemaRefusal(format!(
                "{at} refers to {text:?}, which is outside this schema. Next: copy that definition into $defs and refer to it there"
            ))
        })?;
        if self.raw.pointer(&pointer).is_none() {
            return Err(unresolved(&pointer));
        }
        let index = match self.known.get(&pointer) {
            Some(index) => *index,
            None => {
                let name = pointer::free_name(&pointer, &mut self.taken);
                self.targets.push((pointer.clone(), name));
                self.known.insert(pointer, self.targets.len() - 1);
                self.targets.len() - 1
            }
        };
        Ok(Value::String(format!("#/$defs/{}", self.targets[index].1)))
    }
}

fn unresolved(pointer: &str) -> SchemaRefusal {
    SchemaRefusal(format!("the reference #{pointer} leads nowhere. Next: add that definition or correct the reference"))
}

/// Returns the refusal for a keyword that does not have the form JSON Schema gives it.
fn wrong(at: &str, rule: &str, value: &Value) -> SchemaRefusal {
    let mut found: String = value.to_string().chars().take(60).collect();
    if found.len() < value.to_string().len() {
        found.push('…');
    }
    SchemaRefusal(format!("{} is {found}, but {rule}. Next: correct the schema there", place(at)))
}
