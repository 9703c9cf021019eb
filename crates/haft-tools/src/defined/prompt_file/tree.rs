//! Reads XML into a small tree, and refuses everything that a prompt file does not need.
//!
//! It supports no document type and only XML's own five entities, so it never fetches or multiplies anything. Size, depth
//! and attributes are bounded.

use quick_xml::XmlVersion;
use quick_xml::errors::{Error, IllFormedError, SyntaxError};
use quick_xml::escape::{EscapeError, resolve_xml_entity};
use quick_xml::events::attributes::AttrError;
use quick_xml::events::{BytesDecl, BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;

use super::is_of_xml;
use crate::defined::definition::DefinitionProblem;

/// Most bytes of a file.
const LARGEST: usize = 1 << 20;
/// Most levels of elements.
const DEEPEST: usize = 32;
/// Most attributes of one element.
const MOST_ATTRIBUTES: usize = 16;

/// One element.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) inside: Vec<XmlNode>,
}

/// A node inside an XML element: another element, or text.
#[derive(Debug)]
pub(super) enum XmlNode {
    Element(Element),
    Text { text: String, line: usize },
}

impl Element {
    /// Returns the elements right in this one.
    pub(super) fn children(&self) -> impl Iterator<Item = &Element> {
        self.inside.iter().filter_map(|inside| match inside {
            XmlNode::Element(element) => Some(element),
            XmlNode::Text { .. } => None,
        })
    }

    /// Returns all text in this element, that of the elements in it too.
    pub(super) fn text(&self) -> String {
        let parts = self.inside.iter().map(|inside| match inside {
            XmlNode::Element(element) => element.text(),
            XmlNode::Text { text, .. } => text.clone(),
        });
        parts.collect()
    }
}

/// Reads the root of a text.
pub(super) fn parse(text: &str) -> Result<Element, DefinitionProblem> {
    if text.len() > LARGEST {
        return Err(DefinitionProblem::error(None, "it is larger than 1 MiB", "say it in fewer words"));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if let Some(at) = text.find(|letter| !is_of_xml(letter)) {
        let what = "it has a control character, which XML does not allow";
        return Err(DefinitionProblem::error(Some(line_at(text, at)), what, "remove it"));
    }
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    let mut growing = Growing { line: 1, open: Vec::new(), root: None };
    let mut counted = 0;
    loop {
        let event = reader.read_event().map_err(|error| {
            let at = usize::try_from(reader.error_position()).unwrap_or(0);
            unreadable(&error, line_at(text, at))
        })?;
        if matches!(event, Event::Eof) {
            return growing.finish();
        }
        growing.take(event)?;
        let read = usize::try_from(reader.buffer_position()).unwrap_or(text.len());
        growing.line += newlines(text, counted, read);
        counted = read;
    }
}

fn newlines(text: &str, from: usize, to: usize) -> usize {
    text.as_bytes().get(from..to).map_or(0, |read| memchr::memchr_iter(b'\n', read).count())
}

fn line_at(text: &str, at: usize) -> usize {
    newlines(text, 0, at.min(text.len())) + 1
}

/// The tree as far as it was read.
struct Growing {
    /// The line on which the next event begins.
    line: usize,
    open: Vec<Element>,
    root: Option<Element>,
}

impl Growing {
    fn take(&mut self, event: Event<'_>) -> Result<(), DefinitionProblem> {
        match event {
            Event::Start(start) => self.start(&start),
            Event::Empty(start) => self.start(&start).and_then(|()| self.end()),
            Event::End(_) => self.end(),
            Event::Text(text) => self.text(&text.xml10_content()),
            // Two kinds of line ends are left to a CDATA section too.
            Event::CData(text) => self.text(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                let text = self.resolved(&reference)?;
                self.text(&text)
            }
            Event::Decl(declaration) => self.declaration(&declaration),
            Event::DocType(_) => {
                Err(self.error("a document type (<!DOCTYPE …>) is not read", "remove it; a prompt file needs none"))
            }
            Event::Comment(_) | Event::PI(_) | Event::Eof => Ok(()),
        }
    }

    fn error(&self, what: impl Into<String>, fix: impl Into<String>) -> DefinitionProblem {
        DefinitionProblem::error(Some(self.line), what, fix)
    }

    fn start(&mut self, start: &BytesStart<'_>) -> Result<(), DefinitionProblem> {
        let name = start.name().as_ref().to_owned();
        if self.open.is_empty() && self.root.is_some() {
            return Err(self.error(format!("<{name}> comes after the end"), "a file has one <tool_prompt>"));
        }
        if self.open.len() == DEEPEST {
            return Err(self.error("elements nest more than 32 levels deep", "use fewer levels"));
        }
        let mut attributes = Vec::new();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|error| unreadable(&Error::InvalidAttr(error), self.line))?;
            if attributes.len() == MOST_ATTRIBUTES {
                return Err(self.error(format!("<{name}> has more than 16 attributes"), "leave some out"));
            }
            let value = attribute.normalized_value(XmlVersion::Explicit1_0);
            let value = value.map_err(|error| unreadable(&error, self.line))?;
            attributes.push((attribute.key.as_ref().to_owned(), value.into_owned()));
        }
        self.open.push(Element { name, line: self.line, attributes, inside: Vec::new() });
        Ok(())
    }

    fn end(&mut self) -> Result<(), DefinitionProblem> {
        let Some(element) = self.open.pop() else {
            return Err(self.error("an end tag has no start tag", "remove the end tag"));
        };
        match self.open.last_mut() {
            Some(parent) => parent.inside.push(XmlNode::Element(element)),
            None => self.root = Some(element),
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), DefinitionProblem> {
        let line = self.line;
        let Some(element) = self.open.last_mut() else {
            let words = text.trim_start();
            if words.is_empty() {
                return Ok(());
            }
            let line = line + newlines(text, 0, text.len() - words.len());
            let what = "text is outside of <tool_prompt>";
            return Err(DefinitionProblem::error(Some(line), what, "put it inside, or remove it"));
        };
        // A reference splits a text in parts.
        match element.inside.last_mut() {
            Some(XmlNode::Text { text: before, .. }) => before.push_str(text),
            _ => element.inside.push(XmlNode::Text { text: text.to_owned(), line }),
        }
        Ok(())
    }

    fn resolved(&self, reference: &BytesRef<'_>) -> Result<String, DefinitionProblem> {
        let name: &str = reference;
        match reference.resolve_char_ref() {
            Ok(Some(letter)) if is_of_xml(letter) => Ok(letter.to_string()),
            Ok(Some(_)) | Err(_) => Err(self.error(format!("&{name}; is not a character of XML"), "remove it")),
            Ok(None) => match resolve_xml_entity(name) {
                Some(text) => Ok(text.to_owned()),
                None => Err(no_entity(name, self.line)),
            },
        }
    }

    fn declaration(&self, declaration: &BytesDecl<'_>) -> Result<(), DefinitionProblem> {
        match declaration.encoding() {
            Some(Ok(encoding)) if !["utf-8", "utf8", "us-ascii"].contains(&&*encoding.to_ascii_lowercase()) => {
                let what = format!("it declares the encoding {encoding}, but prompt files are UTF-8");
                Err(self.error(what, "save it as UTF-8 and write encoding=\"UTF-8\""))
            }
            _ => Ok(()),
        }
    }

    fn finish(self) -> Result<Element, DefinitionProblem> {
        match (self.open.last(), self.root) {
            (Some(open), _) => {
                let what = format!("<{}> is not closed", open.name);
                Err(DefinitionProblem::error(Some(open.line), what, format!("write </{}> where it ends", open.name)))
            }
            (None, Some(root)) => Ok(root),
            (None, None) => Err(DefinitionProblem::error(
                None,
                "there is no <tool_prompt> in it",
                "write <tool_prompt><description>…</description></tool_prompt>",
            )),
        }
    }
}

fn no_entity(name: &str, line: usize) -> DefinitionProblem {
    let what = format!("there is no entity &{name}; in a prompt file");
    DefinitionProblem::error(Some(line), what, "write the character itself; an ampersand is &amp;")
}

/// Says why a text is no XML.
fn unreadable(error: &Error, line: usize) -> DefinitionProblem {
    let (what, fix) = match error {
        Error::IllFormed(IllFormedError::MismatchedEndTag { expected, found }) => {
            (format!("</{found}> is where </{expected}> belongs"), format!("write </{expected}>"))
        }
        Error::IllFormed(IllFormedError::UnmatchedEndTag(name)) => {
            (format!("</{name}> has no start tag"), "remove it".to_owned())
        }
        Error::IllFormed(IllFormedError::UnclosedReference) | Error::Escape(EscapeError::UnterminatedEntity(_)) => {
            ("an & stands alone".to_owned(), "write &amp; for the character".to_owned())
        }
        Error::Escape(EscapeError::UnrecognizedEntity(_, name)) => return no_entity(name, line),
        Error::Syntax(SyntaxError::UnclosedTag | SyntaxError::InvalidBangMarkup) => {
            ("a tag is not closed".to_owned(), "write > where it ends, or &lt; for the character <".to_owned())
        }
        Error::Syntax(error) => (error.to_string(), "close it".to_owned()),
        Error::InvalidAttr(AttrError::Duplicated(..)) => {
            ("an attribute occurs twice".to_owned(), "leave one of them out".to_owned())
        }
        Error::InvalidAttr(_) => {
            let fix = "write NAME=\"VALUE\", or &lt; for the character <";
            ("an attribute cannot be read".to_owned(), fix.to_owned())
        }
        other => (format!("it is not XML: {other}"), "fix it".to_owned()),
    };
    DefinitionProblem::error(Some(line), what, fix)
}
