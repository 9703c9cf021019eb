//! Reads a user's own dialects: files in the format of `dialects/` with the voice as data. Reports their errors.

use std::collections::BTreeSet;
use std::sync::Arc;

use haft_contract::description::dialect::{Dialect, ForeignTool};
use haft_contract::description::schema_rules::is_safe_name;
use haft_contract::description::spec::Spec;
use haft_contract::outcome::kinds::ErrorKind;
use haft_contract::text::closest::closest;
use serde_json::Value;

use super::voice::template::Template;
use super::voice::written::{CALL, COMMAND, ERROR, FAILED, WORKED, WrittenVoice};
use super::{DialectSpec, NAMES, OtherTool, SpokenDialect};
use crate::defined::definition::DefinitionProblem;

/// A file of a dialect that was looked through.
pub struct CheckedDialect {
    /// The dialect, where nothing but warnings was found.
    pub dialect: Option<Arc<dyn Dialect>>,
    /// Everything that was found, in the order of the text.
    pub problems: Vec<DefinitionProblem>,
}

/// Looks through the text of a file; `name` is how the dialect is called.
pub fn check(name: &str, text: &str) -> CheckedDialect {
    let mut reading = DialectFileReader { text, problems: Vec::new() };
    reading.name(name);
    let tongue = match toml::from_str::<DialectSpec>(text) {
        Ok(tongue) => Some(tongue),
        Err(error) => {
            reading.unreadable(&error);
            None
        }
    };
    if let Some(tongue) = &tongue {
        reading.tongue(tongue);
    }
    let DialectFileReader { mut problems, .. } = reading;
    problems.sort_by_key(|problem| problem.line);
    let is_good = problems.iter().all(|problem| problem.is_warning);
    let dialect = tongue.filter(|_| is_good).map(|mut tongue| {
        let voice = Arc::new(tongue.voice.take().unwrap_or_default());
        Arc::new(SpokenDialect { name: name.to_owned(), tongue: Arc::new(tongue), voice }) as Arc<dyn Dialect>
    });
    CheckedDialect { dialect, problems }
}

struct DialectFileReader<'t> {
    text: &'t str,
    problems: Vec<DefinitionProblem>,
}

impl DialectFileReader<'_> {
    fn name(&mut self, name: &str) {
        if NAMES.contains(&name) {
            let what = format!("haft already has a dialect \"{name}\"");
            self.error(None, what, "give the file another name");
        } else if !is_safe_name(name) {
            let what = format!("\"{name}\" cannot be the name of a dialect: 1 to 64 letters, digits, `_` or `-`");
            self.error(None, what, "give the file another name");
        }
    }

    fn unreadable(&mut self, error: &toml::de::Error) {
        let line = error.span().map(|span| self.text[..span.start.min(self.text.len())].matches('\n').count() + 1);
        let message = error.message().lines().collect::<Vec<_>>().join(" ");
        let fix = match message.contains("expected one of") || message.contains("missing field") {
            true => "write the keys that the guide on dialects lists",
            false => "fix it",
        };
        self.error(line, message, fix);
    }

    fn tongue(&mut self, tongue: &DialectSpec) {
        if tongue.tools.is_empty() {
            self.error(None, "it has no tools", "write [[tools]] with name, tool, words, example and arguments");
        }
        let natives: Vec<Spec> = crate::all().iter().map(|tool| tool.spec().clone()).collect();
        let mut names = BTreeSet::new();
        for tool in &tongue.tools {
            if !names.insert(tool.name()) {
                let line = self.line_of(tool.name(), None);
                self.error(line, format!("two tools are called \"{}\"", tool.name()), "rename one of them");
            }
            self.tool(tool, &natives);
        }
        let own = tongue.voice.as_ref().map(|voice| voice.kinds.keys()).into_iter().flatten();
        for kind in tongue.kinds.keys().chain(own) {
            if ErrorKind::from_code(kind).is_none() {
                let fix = near(kind, ErrorKind::all().map(ErrorKind::code));
                self.error(self.line_of(kind, None), format!("there is no kind of error \"{kind}\""), fix);
            }
        }
        if let Some(voice) = &tongue.voice {
            self.voice(voice);
        }
        if tongue.page.is_none() && tongue.tools.iter().any(|tool| tool.has_other_pages()) {
            let what = "pages of files say how to go on in haft's own names";
            self.warn(
                what,
                "write [page] with numbers and rest, such as rest = \"read(file=\\\"spill:{id}\\\", from={line})\"",
            );
        }
    }

    fn tool(&mut self, tool: &OtherTool, natives: &[Spec]) {
        let name = tool.name();
        let line = self.line_of(name, None);
        if !is_safe_name(name) {
            let what = format!("\"{name}\" cannot be the name of a tool: 1 to 64 letters, digits, `_` or `-`");
            self.error(line, what, "give it another name");
        }
        for native in tool.natives() {
            if !natives.iter().any(|spec| spec.name == native) {
                let fix = near(native, natives.iter().map(|spec| spec.name.as_str()));
                self.error(self.line_of(native, line), format!("haft has no tool \"{native}\""), fix);
                return;
            }
        }
        let spec_of = |name: &str| natives.iter().find(|spec| spec.name == name);
        let mut given = Vec::new();
        for (native, argument) in tool.leads_to() {
            given.push(argument);
            let fields =
                spec_of(native).and_then(|spec| spec.input_schema.get("properties")).and_then(Value::as_object);
            if fields.is_none_or(|fields| !fields.contains_key(argument)) {
                let fix = near(argument, fields.into_iter().flat_map(|fields| fields.keys().map(String::as_str)));
                let what = format!("haft's \"{native}\" has no argument \"{argument}\"");
                self.error(self.line_of(argument, line), what, fix);
            }
        }
        let Some(native) = tool.natives().first().and_then(|name| spec_of(name)) else { return };
        let required = native.input_schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for missing in required.filter_map(Value::as_str).filter(|name| !given.contains(name)) {
            let what = format!("haft's \"{}\" needs \"{missing}\", which nothing in \"{name}\" leads to", native.name);
            self.error(line, what, format!("add an argument with to = \"{missing}\", or fixed = {{ {missing} = … }}"));
        }
        self.shown(tool, &tool.spec(native), line);
    }

    /// Looks at what a model would see.
    fn shown(&mut self, tool: &OtherTool, spec: &Spec, line: Option<usize>) {
        let shown = spec.input_schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        let names = || shown.keys().map(String::as_str);
        let required = spec.input_schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let meant = tool.other_names().into_iter().map(|(_, meant)| meant);
        for name in required.filter_map(Value::as_str).map(str::to_owned).chain(meant) {
            if !shown.contains_key(&name) {
                let what = format!("\"{}\" has no argument \"{name}\"", tool.name());
                self.error(self.line_of(&name, line), what, near(&name, names()));
            }
        }
        if spec.manual.words.trim().is_empty() {
            self.error(line, format!("nothing tells the model what \"{}\" does", tool.name()), "write words = \"…\"");
        }
        let example = spec.manual.examples.first().map(|example| &example.arguments);
        let validator = jsonschema::validator_for(&spec.input_schema).ok();
        if let (Some(validator), Some(example)) = (validator, example)
            && let Some(error) = validator.iter_errors(example).next()
        {
            let what = format!("the example of \"{}\" does not fit its arguments: {error}", tool.name());
            self.error(line, what, "fix the example");
        }
    }

    fn voice(&mut self, voice: &WrittenVoice) {
        let templates = [
            ("call", &voice.call, CALL, 2),
            ("error", &voice.error, ERROR, 3),
            ("command", &voice.command, COMMAND, 4),
        ];
        for (key, template, known, needed) in templates {
            let Some(template) = template else { continue };
            self.template(key, template, known);
            for name in known.iter().take(needed).filter(|name| !template.names().any(|used| used == **name)) {
                let what = format!("\"{key}\" of [voice] has no {{{name}}}, so it would leave information out");
                self.error(self.key_line(key), what, format!("put {{{name}}} into it"));
            }
        }
        for (key, object, known) in [("worked", &voice.worked, WORKED), ("failed", &voice.failed, FAILED)] {
            let Some(object) = object else { continue };
            let mut names = BTreeSet::new();
            self.object(key, &Value::Object(object.clone()), known, &mut names);
            let tells = |name: &str| names.contains(name);
            if key == "failed" && !tells("content") && !(tells("what") && tells("next")) {
                let what = "[voice.failed] says neither {content} nor {what} and {next}, so the reason is lost";
                self.error(self.line_of_text("[voice.failed]"), what, "put them into it");
            }
            if key == "worked" && !tells("content") && !tells("data") {
                let what = "[voice.worked] says neither {content} nor {data}, so the result is lost";
                self.error(self.line_of_text("[voice.worked]"), what, "put one of them into it");
            }
        }
    }

    fn object(&mut self, key: &str, written: &Value, known: &[&str], names: &mut BTreeSet<String>) {
        match written {
            Value::String(text) => match Template::read(text) {
                Ok(template) => {
                    self.template(key, &template, known);
                    names.extend(template.names().map(str::to_owned));
                }
                Err(why) => self.error(self.line_of(text, None), why, "fix the text"),
            },
            Value::Array(items) => items.iter().for_each(|item| self.object(key, item, known, names)),
            Value::Object(fields) => fields.values().for_each(|value| self.object(key, value, known, names)),
            _ => {}
        }
    }

    fn template(&mut self, key: &str, template: &Template, known: &[&str]) {
        for name in template.names().filter(|name| !known.contains(name)) {
            let line = self.line_of_text(&format!("{{{name}}}"));
            self.error(line, format!("\"{key}\" of [voice] cannot say {{{name}}}"), near(name, known.iter().copied()));
        }
    }

    /// Returns the line where a name stands in quotes or as a key, from this line on.
    fn line_of(&self, name: &str, from: Option<usize>) -> Option<usize> {
        let skipped = from.map_or(0, |line| line - 1);
        let is_here = |line: &str| {
            line.contains(&format!("\"{name}\""))
                || line.contains(&format!("{name} ="))
                || line.contains(&format!(".{name}]"))
        };
        self.text.lines().skip(skipped).position(is_here).map(|index| index + skipped + 1).or(from)
    }

    fn key_line(&self, key: &str) -> Option<usize> {
        self.text.lines().position(|line| line.trim_start().starts_with(key)).map(|index| index + 1)
    }

    fn line_of_text(&self, text: &str) -> Option<usize> {
        self.text.lines().position(|line| line.contains(text)).map(|index| index + 1)
    }

    fn error(&mut self, line: Option<usize>, what: impl Into<String>, fix: impl Into<String>) {
        self.problems.push(DefinitionProblem { line, what: what.into(), fix: fix.into(), is_warning: false });
    }

    fn warn(&mut self, what: &str, fix: &str) {
        self.problems.push(DefinitionProblem { line: None, what: what.into(), fix: fix.into(), is_warning: true });
    }
}

fn near<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    let known: Vec<&str> = known.collect();
    match closest(name, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("there is: {}", known.join(", ")),
    }
}
