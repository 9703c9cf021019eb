//! Words the outcome of a call in a dialect: its names, its texts, its result object.
//!
//! The outcome itself is already decided: a dialect words it differently and changes nothing, with one exception. A
//! dialect may read a tool's text such as "Error: …" as the failure that it is.

use std::sync::Arc;

use haft_contract::description::dialect::{CallOutcome, Dialect};
use haft_contract::outcome::error::{CallFix, Next, Recovery, ToolError, WayArgument, any_of};
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::outcome::output::{Content, ToolOutput};
use haft_contract::outcome::result::ToolResult;
use serde_json::{Map, Value};

use crate::catalogue::catalog::Catalog;
use crate::catalogue::entry::CatalogEntry;
use crate::pipeline::call_context::CallContext;

/// One call in the words of its dialect.
pub(super) struct DialectCall<'a> {
    dialect: &'a dyn Dialect,
    catalog: &'a Catalog,
    cx: &'a CallContext<'a>,
    tool: String,
    native: Option<String>,
    entry: Option<Arc<CatalogEntry>>,
    arguments: Value,
    said: String,
}

impl<'a> DialectCall<'a> {
    /// Returns how the call is told; nothing where no dialect is spoken.
    pub(super) fn of(cx: &'a CallContext<'_>, catalog: &'a Catalog) -> Option<Self> {
        let dialect = cx.dialect()?;
        let (tool, led_to, entry, mut arguments) = cx.note(|notes| {
            (notes.tool.clone(), notes.led_to.clone(), notes.entry.clone(), std::mem::take(&mut notes.arguments))
        });
        let native = led_to.or_else(|| entry.clone()).map(|entry| entry.native_name().to_owned());
        cx.session.ground.redactor.redact_value(&mut arguments);
        Some(Self { dialect, catalog, cx, tool, native, entry, arguments, said: String::new() })
    }

    /// Adds what haft says behind the output of a command.
    pub(super) fn saying(self, said: Option<String>) -> Self {
        let said = said.map(|said| self.outward(&said));
        Self { said: said.unwrap_or_default(), ..self }
    }

    /// Finds the failure that a foreign tool reports in its text.
    pub(super) fn failure_in(&self, output: &ToolOutput) -> Option<ToolError> {
        // The tools of the dialect itself say how it went; their text may be anybody's.
        if self.entry.as_ref().is_none_or(|entry| entry.way_in().is_some()) {
            return None;
        }
        let text = output.for_model.iter().find_map(Content::text)?;
        let message = self.dialect.failure_in(text)?.trim();
        let next = Next::FixArguments("read the message and change the call".into());
        Some(ToolError::failed(if message.is_empty() { text.trim() } else { message }, next))
    }

    /// Puts the names and words of the dialect into an error.
    pub(super) fn reword(&self, error: &mut ToolError) {
        error.what = self.outward(&error.what);
        error.next = self.shown_ways(std::mem::replace(&mut error.next, Next::AnyOf(Vec::new())), error.kind);
        error.next.reword(|words| self.outward(words));
        error.about.recovery.iter_mut().for_each(|recovery| self.reword_recovery(recovery));
        self.dialect.reword(error, &self.nothing_yet());
    }

    /// Keeps those ways out of an error that the dialect has, with its arguments.
    fn shown_ways(&self, next: Next, kind: ErrorKind) -> Next {
        let (Next::AnyOf(ways), Some(way_in)) = (&next, self.entry.as_ref().and_then(|entry| entry.way_in())) else {
            return next;
        };
        let shown = |way: &CallFix| match way.argument() {
            None => Some(way.to_string()),
            Some(WayArgument { name, values }) if values.is_empty() => {
                way_in.foreign.outward_name(name).map(|name| way.told_with(name))
            }
            Some(WayArgument { name, values }) => values.iter().find_map(|value| {
                let (name, value) = way_in.foreign.outward_value(name, value)?;
                Some(way.told_with_value(name, &value))
            }),
        };
        let shown: Vec<String> = ways.iter().filter_map(shown).collect();
        if shown.is_empty() { ToolError::of(kind, "").next.clone() } else { Next::FixArguments(any_of(&shown)) }
    }

    /// Writes a call that may help as it is made in the dialect.
    fn reword_recovery(&self, recovery: &mut Recovery) {
        let Recovery::Call { tool, arguments } = recovery else { return };
        // The name is the shown one already.
        let Some(entry) = self.catalog.find(tool) else { return };
        let shown = |name: String| {
            let outer = entry.way_in().and_then(|way| way.foreign.outward(&name)).map(str::to_owned);
            outer.unwrap_or(name)
        };
        let arguments: Map<String, Value> =
            std::mem::take(arguments).into_iter().map(|(name, value)| (shown(name), value)).collect();
        *recovery = Recovery::Text(self.dialect.call(&entry.shown.name, &Value::Object(arguments)));
    }

    /// Writes what the model reads of the output.
    pub(super) fn output(&self, text: String, result: &ToolResult) -> String {
        let outcome = self.outcome(&text, result);
        match self.dialect.output(&outcome) {
            Some(told) => told,
            None if self.dialect.has_own_lines(&outcome) => {
                let is_own = |line: &str| {
                    (line.starts_with('[') && line.trim_end().ends_with(']')) || line.starts_with("Next: ")
                };
                let line = |line: &str| if is_own(line) { self.outward(line) } else { line.to_owned() };
                text.split_inclusive('\n').map(line).collect()
            }
            None => text,
        }
    }

    /// Writes what the model reads of an error.
    pub(super) fn error(&self, error: &ToolError, happened: Option<&str>, result: &ToolResult) -> String {
        self.dialect.error(error, happened, &self.outcome("", result))
    }

    /// Returns the result object.
    pub(super) fn object(&self, content: &str, text: &str, result: &ToolResult) -> Option<Value> {
        self.dialect.object(content, &self.outcome(text, result))
    }

    fn outcome<'o>(&'o self, text: &'o str, result: &'o ToolResult) -> CallOutcome<'o> {
        let (data, error, exit_code) = (result.data.as_ref(), result.error.as_ref(), result.exit_code);
        CallOutcome { text, said: &self.said, data, error, exit_code, ..self.nothing_yet() }
    }

    fn nothing_yet(&self) -> CallOutcome<'_> {
        CallOutcome {
            call: &self.cx.id,
            tool: &self.tool,
            native: self.native.as_deref(),
            arguments: &self.arguments,
            text: "",
            said: "",
            data: None,
            error: None,
            exit_code: None,
        }
    }

    /// Puts shown names in the place of native ones: tools and arguments that a text quotes, and those that cannot be
    /// anything else because of their `_`.
    pub(super) fn outward(&self, text: &str) -> String {
        let mut told = String::with_capacity(text.len());
        let mut rest = text;
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        while let Some(start) = rest.find(is_letter) {
            let (before, from) = rest.split_at(start);
            let (word, behind) = from.split_at(from.find(|c| !is_letter(c)).unwrap_or(from.len()));
            told.push_str(before);
            let is_meant = is_quoted(&told, behind) || (word.contains('_') && !is_part_of_path(&told, behind));
            if told.ends_with("$.") || is_in_argument(&told) {
                told.push_str(self.shown_argument(word).as_deref().unwrap_or(word));
                rest = behind;
                continue;
            }
            told.push_str(is_meant.then(|| self.shown(word)).flatten().as_deref().unwrap_or(word));
            rest = behind;
        }
        told + rest
    }

    fn shown_argument(&self, native: &str) -> Option<String> {
        let way = self.entry.as_ref().and_then(|entry| entry.way_in());
        way.and_then(|way| way.foreign.outward(native)).map(str::to_owned)
    }

    fn shown(&self, native: &str) -> Option<String> {
        self.shown_argument(native).or_else(|| self.catalog.shown_name(native))
    }
}

/// Tells whether a text ends with the place of an item of an argument: `$.items[0].`.
fn is_in_argument(before: &str) -> bool {
    let place = before.rfind("$.").map(|start| &before[start..]);
    place.is_some_and(|place| place.ends_with("].") && !place.contains(char::is_whitespace))
}

fn is_quoted(before: &str, behind: &str) -> bool {
    before.ends_with('"') && behind.starts_with('"')
}

/// `src/files/read_file.rs` is a file, whatever tools there are.
fn is_part_of_path(before: &str, behind: &str) -> bool {
    let mut next = behind.chars();
    let goes_on = match next.next() {
        Some('/' | '-') => true,
        Some('.') => next.next().is_some_and(char::is_alphanumeric),
        _ => false,
    };
    goes_on || before.ends_with(['/', '.', '-', '$'])
}
