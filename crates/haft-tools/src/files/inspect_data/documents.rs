//! Reads YAML, TOML and XML. They have to be parsed as a whole, so haft reads them only up to a size limit.

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use serde_json::Value;

use super::shape::{CompositeKind, KEPT_TEXT, Scalar, ShapeSummary};

/// Most bytes of a YAML or TOML file that are read.
pub(super) const MOST_OF_CONFIG: usize = 2 << 20;
/// Most bytes of an XML file that are read.
pub(super) const MOST_OF_XML: usize = 8 << 20;
/// Deepest nesting of XML that is followed.
const DEEPEST_XML: usize = 10_000;
/// Deepest nesting of YAML that is followed.
const DEEPEST_YAML: usize = 100;

/// The result of reading a text: its shape, how many documents it has, and what is wrong.
pub(super) struct DocumentScan {
    pub(super) shape: ShapeSummary,
    pub(super) documents: u64,
    pub(super) problem: Option<String>,
}

/// Whether a text was cut before the end of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextTruncation {
    Yes,
    No,
}

/// Reads YAML.
pub(super) fn yaml(text: &str, cut: TextTruncation) -> DocumentScan {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEEPEST_YAML,
            flow_nesting_limit: DEEPEST_YAML,
            max_nodes: 400_000,
            max_events: 1_000_000,
            max_recorded_anchor_events: 100_000,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 100_000,
            max_replay_stack_depth: 16,
        },
        strict_booleans: true,
        with_snippet: false,
    };
    let mut shape = ShapeSummary::new();
    match serde_saphyr::from_multiple_with_options::<Value>(until_last_entry(text, cut), options) {
        Ok(values) => {
            values.iter().for_each(|value| add(value, &mut shape));
            DocumentScan { shape, documents: values.len() as u64, problem: None }
        }
        Err(error) => {
            let line = error.location().map(|location| format!("line {}: ", location.line()));
            let problem = format!("{}{}", line.unwrap_or_default(), first_line(&error.without_snippet().to_string()));
            DocumentScan { shape, documents: 0, problem: Some(problem) }
        }
    }
}

/// Reads TOML.
pub(super) fn toml(text: &str, cut: TextTruncation) -> DocumentScan {
    let mut shape = ShapeSummary::new();
    match toml::from_str::<toml::Table>(until_last_entry(text, cut)) {
        Ok(table) => {
            add_toml(&toml::Value::Table(table), &mut shape);
            DocumentScan { shape, documents: 1, problem: None }
        }
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            let line = text.get(..at).map_or(1, |before| before.matches('\n').count() + 1);
            let problem = format!("line {line}: {}", first_line(error.message()));
            DocumentScan { shape, documents: 0, problem: Some(problem) }
        }
    }
}

/// Cuts a text that goes on before the last entry that begins at the margin.
fn until_last_entry(text: &str, cut: TextTruncation) -> &str {
    let begins_entry = |at: usize| text[at + 1..].starts_with(|c: char| !c.is_whitespace() && c != '}' && c != ']');
    match cut {
        TextTruncation::No => text,
        TextTruncation::Yes => {
            let mut ends = text.match_indices('\n').map(|(at, _)| at).rev();
            ends.find(|at| begins_entry(*at)).map_or("", |at| &text[..=at])
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn add(value: &Value, shape: &mut ShapeSummary) {
    match value {
        Value::Null => shape.scalar(Scalar::Null),
        Value::Bool(value) => shape.scalar(Scalar::Bool(*value)),
        Value::Number(number) => shape.scalar(Scalar::Number(&number.to_string())),
        Value::String(text) => add_text(text, shape),
        Value::Array(items) => {
            shape.open(CompositeKind::Array);
            items.iter().for_each(|item| add(item, shape));
            shape.close();
        }
        Value::Object(fields) => {
            shape.open(CompositeKind::Object);
            for (name, value) in fields {
                shape.key(name);
                add(value, shape);
            }
            shape.close();
        }
    }
}

fn add_toml(value: &toml::Value, shape: &mut ShapeSummary) {
    match value {
        toml::Value::Boolean(value) => shape.scalar(Scalar::Bool(*value)),
        toml::Value::Integer(number) => shape.scalar(Scalar::Number(&number.to_string())),
        toml::Value::Float(number) => shape.scalar(Scalar::Number(&format!("{number:?}"))),
        toml::Value::String(text) => add_text(text, shape),
        toml::Value::Datetime(moment) => add_text(&moment.to_string(), shape),
        toml::Value::Array(items) => {
            shape.open(CompositeKind::Array);
            items.iter().for_each(|item| add_toml(item, shape));
            shape.close();
        }
        toml::Value::Table(fields) => {
            shape.open(CompositeKind::Object);
            for (name, value) in fields {
                shape.key(name);
                add_toml(value, shape);
            }
            shape.close();
        }
    }
}

fn add_text(text: &str, shape: &mut ShapeSummary) {
    let kept = &text[..text.floor_char_boundary(KEPT_TEXT)];
    shape.scalar(Scalar::Text(kept, text.chars().count() as u64));
}

/// Reads XML: an element is an object with its attributes, its elements and its text. No entity is expanded.
pub(super) fn xml(text: &str, cut: TextTruncation) -> DocumentScan {
    let mut document = DocumentScan { shape: ShapeSummary::new(), documents: 1, problem: None };
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    document.shape.open(CompositeKind::Object);
    let mut content = String::new();
    loop {
        let position = usize::try_from(reader.buffer_position()).unwrap_or(0);
        let event = match reader.read_event() {
            Ok(Event::Eof) => break,
            Ok(event) => event,
            // What is cut ends in the middle of something.
            Err(_) if cut == TextTruncation::Yes && text.len().saturating_sub(position) < text.len() / 2 => break,
            Err(error) => {
                document.problem = Some(format!("line {}: {error}", line_at(text, position)));
                break;
            }
        };
        if document.shape.depth() > DEEPEST_XML {
            document.problem = Some("it is nested deeper than 10,000 levels".to_owned());
            break;
        }
        add_event(&event, &mut content, &mut document.shape);
    }
    flush(&mut content, &mut document.shape);
    if document.shape.depth() > 1 && cut == TextTruncation::No && document.problem.is_none() {
        document.problem = Some("it ends before all elements are closed".to_owned());
    }
    document.shape.close_all();
    document
}

fn line_at(text: &str, position: usize) -> usize {
    text.as_bytes().get(..position).map_or(1, |read| memchr::memchr_iter(b'\n', read).count() + 1)
}

/// Adds an event. References, comments and CDATA do not end a text: a secret with `&` in it is one value.
fn add_event(event: &Event<'_>, content: &mut String, shape: &mut ShapeSummary) {
    match event {
        Event::Text(text) => content.push_str(text),
        Event::CData(text) => content.push_str(text),
        Event::GeneralRef(reference) => match reference.resolve_char_ref() {
            Ok(Some(letter)) => content.push(letter),
            _ => match resolve_predefined_entity(reference) {
                Some(text) => content.push_str(text),
                None => content.extend(["&", reference, ";"]),
            },
        },
        Event::Start(start) => {
            flush(content, shape);
            open_element(start, shape);
        }
        Event::Empty(start) => {
            flush(content, shape);
            open_element(start, shape);
            shape.close();
        }
        Event::End(_) => {
            flush(content, shape);
            if shape.depth() > 1 {
                shape.close();
            }
        }
        _ => {}
    }
}

fn open_element(start: &BytesStart<'_>, shape: &mut ShapeSummary) {
    shape.key(start.name().as_ref());
    shape.open(CompositeKind::Object);
    for attribute in start.attributes().with_checks(false).flatten() {
        shape.key(&format!("@{}", attribute.key.as_ref()));
        add_text(&attribute.value, shape);
    }
}

/// Adds the text that was collected since the last element began or ended.
fn flush(content: &mut String, shape: &mut ShapeSummary) {
    let text = content.trim();
    if !text.is_empty() {
        shape.key("text");
        add_text(text, shape);
    }
    content.clear();
}
