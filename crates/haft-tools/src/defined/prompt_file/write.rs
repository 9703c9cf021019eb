//! Writes the words of a tool as a prompt file.

use haft_contract::description::spec::Spec;
use serde_json::{Map, Value};

use super::apply::{Property, required};
use super::{PromptFile, PromptParameter, is_of_xml};

/// Returns what a file can say of a tool.
pub(super) fn of(spec: &Spec) -> PromptFile {
    let schema = &*spec.input_schema;
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let parameters = properties.iter().filter(|(name, _)| is_writable(name)).map(|(name, property)| {
        let property = Property::of(schema, property);
        PromptParameter {
            name: name.clone(),
            required: Some(required(schema, name)),
            description: property.description().and_then(written),
            kind: property.only_kind().map(str::to_owned),
            enums: property.values().and_then(told).unwrap_or_default(),
            line: None,
        }
    });
    PromptFile { parameters: parameters.collect(), description: written(&spec.manual.words) }
}

/// Returns words as they are read back; nothing where XML cannot say them.
fn written(words: &str) -> Option<String> {
    let words = words.trim();
    (!words.is_empty() && words.chars().all(is_of_xml)).then(|| words.to_owned())
}

fn is_writable(name: &str) -> bool {
    !name.is_empty() && name.trim() == name && name.chars().all(is_of_xml)
}

/// Returns values as texts, where each can be told from the others.
fn told(values: &[Value]) -> Option<Vec<String>> {
    let texts: Vec<String> = values.iter().filter(|value| !value.is_null()).map(super::apply::told).collect();
    let is_plain = |text: &String| text.trim() == text && text.chars().all(is_of_xml);
    let is_new = |(at, text): (usize, &String)| !texts[..at].contains(text);
    (texts.iter().all(is_plain) && texts.iter().enumerate().all(is_new)).then_some(texts)
}

/// Writes a file.
pub(super) fn to_xml(file: &PromptFile) -> String {
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tool_prompt>\n".to_owned();
    if let Some(description) = &file.description {
        text_element(&mut xml, ("description", 1), description);
    }
    if !file.parameters.is_empty() {
        xml.push_str("\n    <parameters>\n");
        file.parameters.iter().for_each(|parameter| write_parameter(&mut xml, parameter));
        xml.push_str("    </parameters>\n");
    }
    xml.push_str("</tool_prompt>\n");
    xml
}

fn write_parameter(xml: &mut String, parameter: &PromptParameter) {
    let required = parameter.required.map(|required| format!(" required=\"{required}\"")).unwrap_or_default();
    xml.push_str(&format!("        <parameter name=\"{}\"{required}>\n", escaped_value(&parameter.name)));
    let elements = [("description", &parameter.description), ("type", &parameter.kind)];
    for (name, text) in elements.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?))) {
        text_element(xml, (name, 3), text);
    }
    for value in &parameter.enums {
        text_element(xml, ("enum", 3), value);
    }
    xml.push_str("        </parameter>\n");
}

/// Writes an element with its text: in one line, or indented where it has several.
fn text_element(xml: &mut String, (name, level): (&str, usize), text: &str) {
    let indent = "    ".repeat(level);
    let text = escaped(text);
    if !text.contains('\n') {
        xml.push_str(&format!("{indent}<{name}>{text}</{name}>\n"));
        return;
    }
    xml.push_str(&format!("{indent}<{name}>\n"));
    for line in text.split('\n') {
        let before = if line.is_empty() { "" } else { indent.as_str() };
        let step = if line.is_empty() { "" } else { "    " };
        xml.push_str(&format!("{before}{step}{line}\n"));
    }
    xml.push_str(&format!("{indent}</{name}>\n"));
}

/// Writes text so that it is read as it is. A carriage return would be read as a line end.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\r', "&#13;")
}

fn escaped_value(text: &str) -> String {
    escaped(text).replace('"', "&quot;").replace('\n', "&#10;").replace('\t', "&#9;")
}
