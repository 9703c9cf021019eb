//! The table of schema shapes that tests, and the example for the SDK check, lower.
//!
//! Each shape has sample arguments of the tool and, where the provider sees another form, that form
//! beside it. Shapes too long to read are made here.

use serde_json::{Map, Value, json};

/// One schema with sample arguments.
pub struct Shape {
    /// The tool's name.
    pub name: String,
    /// What it shows, used as the tool's description.
    pub about: String,
    /// The schema.
    pub schema: Value,
    /// Sample arguments: as the tool takes them, and as a provider's model writes them.
    pub samples: Vec<Sample>,
    /// What the reason says when no provider is offered this.
    pub quarantined: Option<String>,
    /// Whether the schema is of a draft that the validator of the tests does not read.
    pub unchecked_original: bool,
}

/// Arguments in the form of the tool and of the providers that differ.
pub struct Sample {
    pub args: Value,
    forms: Value,
}

impl Sample {
    /// Returns the arguments as the model of `provider` writes them.
    pub fn lowered(&self, provider: &str) -> &Value {
        let key = match provider {
            "openai-strict" => "strict",
            other => other,
        };
        self.forms.get(key).unwrap_or(&self.args)
    }
}

/// Returns every shape.
pub fn shapes() -> Vec<Shape> {
    let listed: Vec<Value> = serde_json::from_str(include_str!("shapes.json")).expect("shapes.json is a list");
    let made = [many_properties(), deep(), wide_references(), long_enum()];
    listed.into_iter().chain(made).map(read).collect()
}

fn read(shape: Value) -> Shape {
    let text = |key: &str| shape[key].as_str().map(str::to_owned);
    let samples = shape["samples"].as_array().cloned().unwrap_or_default();
    Shape {
        name: text("name").expect("a shape has a name"),
        about: text("about").expect("a shape says what it shows"),
        schema: shape["schema"].clone(),
        samples: samples.into_iter().map(|forms| Sample { args: forms["args"].clone(), forms }).collect(),
        quarantined: shape["quarantined"]["because"].as_str().map(str::to_owned),
        unchecked_original: shape["unchecked_original"] == true,
    }
}

fn many_properties() -> Value {
    let names: Vec<String> = (0..300).map(|i| format!("p{i}")).collect();
    let properties: Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({ "type": "integer" }))).collect();
    let args: Map<String, Value> = names.iter().map(|name| (name.clone(), json!(1))).collect();
    json!({
        "name": "many_properties",
        "about": "three hundred properties",
        "schema": { "type": "object", "properties": properties },
        "samples": [{ "args": args }],
    })
}

fn deep() -> Value {
    let mut schema = json!({ "type": "string" });
    let mut args = json!("leaf");
    for _ in 0..9 {
        schema = json!({ "type": "object", "properties": { "in": schema }, "required": ["in"] });
        args = json!({ "in": args });
    }
    json!({
        "name": "deep",
        "about": "objects nine levels deep",
        "schema": schema,
        "samples": [{ "args": args }],
    })
}

/// Definitions that double with every step would be huge if they were inlined.
fn wide_references() -> Value {
    let mut defs = Map::new();
    for i in 0..30 {
        let next = format!("#/$defs/d{}", i + 1);
        let schema = json!({
            "type": "object",
            "properties": { "a": { "$ref": next }, "b": { "$ref": next } },
        });
        defs.insert(format!("d{i}"), schema);
    }
    defs.insert("d30".to_owned(), json!({ "type": "string" }));
    json!({
        "name": "wide_references",
        "about": "thirty definitions, each referring twice to the next",
        "schema": {
            "type": "object",
            "properties": { "top": { "$ref": "#/$defs/d0" } },
            "required": ["top"],
            "$defs": defs,
        },
        "samples": [{ "args": { "top": {} }, "strict": { "top": { "a": null, "b": null } } }],
    })
}

fn long_enum() -> Value {
    let values: Vec<String> = (0..240).map(|i| format!("value-{i}")).collect();
    json!({
        "name": "long_enum",
        "about": "an enum of 240 values",
        "schema": {
            "type": "object",
            "properties": { "v": { "type": "string", "enum": values } },
            "required": ["v"],
        },
        "samples": [{ "args": { "v": "value-7" } }],
    })
}
