//! Finds values in XML: texts and attributes, with the names beside them.

use super::readings::without_entities;

/// A name and its value.
pub(super) type NamedValue = (String, String);

/// Returns the values of a text in XML, those of property lists and of settings too.
pub(super) fn values(text: &str) -> Vec<NamedValue> {
    let mut found = Vec::new();
    // The name that the last `<key>` has said, or an attribute of the element that is open.
    let (mut key, mut element) = (None, String::new());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        content(&rest[..at], (&element, &mut key), &mut found);
        rest = &rest[at..];
        if let Some(data) = rest.strip_prefix("<![CDATA[") {
            let (data, after) = data.split_once("]]>").unwrap_or((data, ""));
            found.push((key.clone().unwrap_or_else(|| element.clone()), data.to_owned()));
            rest = after;
        } else if let Some(comment) = rest.strip_prefix("<!--") {
            // What is commented out is still a value.
            let (comment, after) = comment.split_once("-->").unwrap_or((comment, ""));
            found.extend(values(comment));
            rest = after;
        } else {
            let (tag, after) = rest[1..].split_once('>').unwrap_or((&rest[1..], ""));
            rest = after;
            opened(tag, (&mut element, &mut key), &mut found);
        }
    }
    found
}

fn content(text: &str, (element, key): (&str, &mut Option<String>), found: &mut Vec<NamedValue>) {
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    if element.eq_ignore_ascii_case("key") || element.eq_ignore_ascii_case("name") {
        *key = Some(text.to_owned());
        return;
    }
    let name = key.clone().unwrap_or_else(|| element.to_owned());
    found.push((name.clone(), text.to_owned()));
    found.push((name, without_entities(text)));
}

fn opened(tag: &str, (element, key): (&mut String, &mut Option<String>), found: &mut Vec<NamedValue>) {
    if let Some(closed) = tag.strip_prefix('/') {
        if !closed.trim().eq_ignore_ascii_case("key") && !closed.trim().eq_ignore_ascii_case("name") {
            *key = None;
        }
        element.clear();
        return;
    }
    *element = tag.split(|letter: char| letter.is_whitespace() || letter == '/').next().unwrap_or_default().to_owned();
    let attributes = attributes(tag);
    let named = |name: &str| attributes.iter().find(|(attribute, _)| attribute.eq_ignore_ascii_case(name));
    let telling = named("key").or_else(|| named("name")).map(|(_, value)| value.clone());
    for (name, value) in &attributes {
        let is_value = name.eq_ignore_ascii_case("value");
        let name = telling.clone().filter(|_| is_value).unwrap_or_else(|| name.clone());
        found.push((name.clone(), value.clone()));
        found.push((name, without_entities(value)));
    }
    if telling.is_some() {
        *key = telling;
    }
}

fn attributes(tag: &str) -> Vec<NamedValue> {
    let mut found = Vec::new();
    let mut rest = tag;
    while let Some((before, after)) = rest.split_once('=') {
        let name = before.split_whitespace().last().unwrap_or_default();
        let after = after.trim_start();
        let Some(quote) = after.chars().next().filter(|letter| matches!(letter, '"' | '\'')) else {
            rest = after;
            continue;
        };
        let (value, after) = after[1..].split_once(quote).unwrap_or((&after[1..], ""));
        found.push((name.to_owned(), value.to_owned()));
        rest = after;
    }
    found
}
