//! Reads `rules.toml`, the rules of the user or of a project, and reports the place of every mistake.
//!
//! Fails closed: if haft cannot read the file, or the file has one mistake, haft uses no rule and does not start. It
//! reports all mistakes together.
//!
//! Not here: what a rule may say and whether it can hold (`haft_policy::rules`).

use std::fmt;
use std::path::{Path, PathBuf};

use haft_policy::decision::Decision;
use haft_policy::rules::WrittenRule;
use haft_policy::rules::draft::{Patterns, RuleCheckContext, RuleDraft};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::edits::toml_words;
use crate::file::Mistake;

/// A rule, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiledRule {
    /// The rule with its examples.
    pub written: WrittenRule,
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

/// Everything that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes(pub Vec<Mistake>);

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Mistake::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Mistakes {}

/// Reads the rules of a file; there are none when there is no such file.
pub fn load(file: &Path, known: RuleCheckContext<'_>) -> Result<Vec<FiledRule>, Mistakes> {
    match haft_workspace::state::read_config_file(file) {
        Ok(None) => Ok(Vec::new()),
        Ok(Some(text)) => parse(file, &text, known),
        Err(error) => Err(Mistakes(vec![Mistake::unreadable(file, &error)])),
    }
}

/// Reads the rules out of the text of a file.
pub fn parse(file: &Path, text: &str, known: RuleCheckContext<'_>) -> Result<Vec<FiledRule>, Mistakes> {
    let mut reading = RulesParser { file, text, mistakes: Vec::new() };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let at = error.span().map_or(0, |span| span.start);
        let (problem, fix) = toml_words::explain(error.message());
        reading.mistake(at, problem, fix);
    }
    let mut rules: Vec<FiledRule> = Vec::new();
    if reading.mistakes.is_empty() {
        for (at, draft, places) in reading.drafts(table.get_ref()) {
            let checked = reading.check(at, &draft, &places, known);
            rules.extend(checked);
        }
        reading.find_twins(&rules);
    }
    if reading.mistakes.is_empty() {
        return Ok(rules);
    }
    reading.mistakes.sort_by_key(|mistake| mistake.line);
    Err(Mistakes(reading.mistakes))
}

/// Takes out of a project's rules what would loosen: a project only tightens.
pub fn of_project(rules: Vec<FiledRule>) -> (Vec<FiledRule>, Vec<Mistake>) {
    let (loosening, tightening): (Vec<_>, Vec<_>) =
        rules.into_iter().partition(|rule| rule.written.rule.decision == Decision::Allow);
    let told = |rule: FiledRule| Mistake {
        problem: format!(
            "\"{}\" allows something, and a project's rules only make things stricter",
            rule.written.rule.name
        ),
        fix: "move it to your own rules.toml".to_owned(),
        file: rule.file,
        line: rule.line,
    };
    (tightening, loosening.into_iter().map(told).collect())
}

/// The keys of a rule.
const KEYS: [&str; 15] = [
    "name",
    "decision",
    "reason",
    "instead",
    "tool",
    "effect",
    "program",
    "flags",
    "path",
    "host",
    "pattern",
    "arguments",
    "dangerous",
    "matches",
    "not_matches",
];

struct RulesParser<'t> {
    file: &'t Path,
    text: &'t str,
    mistakes: Vec<Mistake>,
}

/// The position of each key of a rule, in bytes.
type KeyPositions = Vec<(String, usize)>;

impl RulesParser<'_> {
    fn mistake(&mut self, at: usize, problem: impl Into<String>, fix: impl Into<String>) {
        let (line, file) = (self.line(at), self.file.into());
        self.mistakes.push(Mistake { file, line, problem: problem.into(), fix: fix.into() });
    }

    fn line(&self, at: usize) -> usize {
        self.text.get(..at).unwrap_or_default().matches('\n').count() + 1
    }

    /// Finds the tables of rules; what else stands in the file is a mistake.
    fn drafts(&mut self, table: &DeTable<'_>) -> Vec<(usize, RuleDraft, KeyPositions)> {
        let mut drafts = Vec::new();
        for (key, value) in table {
            let rules = match (key.get_ref().as_ref(), value.get_ref()) {
                ("rule", DeValue::Array(rules)) if rules.iter().all(|rule| rule.get_ref().is_table()) => rules,
                ("rule", _) => {
                    self.mistake(
                        key.span().start,
                        "\"rule\" is not a list of tables",
                        "write [[rule]] above each rule",
                    );
                    continue;
                }
                (other, _) => {
                    self.mistake(
                        key.span().start,
                        format!("there is no key \"{other}\" here"),
                        "write rules as [[rule]]",
                    );
                    continue;
                }
            };
            for rule in rules {
                let fields = rule.get_ref().as_table().map_or_else(Vec::new, |table| table.iter().collect());
                let (draft, places) = self.draft(&fields);
                drafts.push((rule.span().start, draft, places));
            }
        }
        drafts
    }

    fn draft(
        &mut self,
        fields: &[(&Spanned<toml::de::DeString<'_>>, &Spanned<DeValue<'_>>)],
    ) -> (RuleDraft, KeyPositions) {
        let (mut draft, mut places) = (RuleDraft::default(), KeyPositions::new());
        for (key, value) in fields {
            let name = key.get_ref().as_ref();
            places.push((name.to_owned(), key.span().start));
            match name {
                "name" => draft.name = self.text_of(name, value),
                "decision" => draft.decision = self.text_of(name, value),
                "reason" => draft.reason = self.text_of(name, value),
                "instead" => draft.instead = self.text_of(name, value),
                "tool" => draft.tool = self.patterns_of(name, value),
                "effect" => draft.effect = self.patterns_of(name, value),
                "program" => draft.program = self.patterns_of(name, value),
                "path" => draft.path = self.patterns_of(name, value),
                "host" => draft.host = self.patterns_of(name, value),
                "pattern" => draft.pattern = self.patterns_of(name, value),
                "flags" => draft.flags = self.list_of(name, value),
                "matches" => draft.matches = self.list_of(name, value),
                "not_matches" => draft.not_matches = self.list_of(name, value),
                "arguments" => draft.arguments = self.arguments_of(name, value),
                "dangerous" => draft.dangerous = self.truth_of(name, value),
                other => self.unknown(key.span().start, other),
            }
        }
        (draft, places)
    }

    fn unknown(&mut self, at: usize, key: &str) {
        let fix = match haft_contract::text::closest::closest(key, KEYS.into_iter()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("use {}", KEYS.join(", ")),
        };
        self.mistake(at, format!("a rule has no key \"{key}\""), fix);
    }

    fn text_of(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<String> {
        let text = value.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            self.wrong_type(key, value, "write it in quotes");
        }
        text
    }

    fn list_of(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
        let texts = |list: &toml::de::DeArray<'_>| -> Option<Vec<String>> {
            list.iter().map(|text| text.get_ref().as_str().map(str::to_owned)).collect()
        };
        let list = value.get_ref().as_array().and_then(texts);
        if list.is_none() {
            self.wrong_type(key, value, "write a list of texts: [\"…\", \"…\"]");
        }
        list
    }

    /// Reads a text, or a list of texts one of which must fit.
    fn patterns_of(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<Patterns> {
        match value.get_ref() {
            DeValue::Array(_) => self.list_of(key, value).map(Patterns),
            DeValue::String(text) => Some(Patterns::from(text.as_ref())),
            _ => {
                self.wrong_type(key, value, "write it in quotes, or a list: [\"…\", \"…\"]");
                None
            }
        }
    }

    fn arguments_of(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<Vec<(String, Patterns)>> {
        let DeValue::Table(table) = value.get_ref() else {
            self.wrong_type(key, value, "write { NAME = \"…\" }");
            return None;
        };
        let read = |(name, value): (&Spanned<toml::de::DeString<'_>>, &Spanned<DeValue<'_>>)| {
            let name = name.get_ref().to_string();
            Some((name.clone(), self.patterns_of(&name, value)?))
        };
        table.iter().map(read).collect()
    }

    fn truth_of(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<bool> {
        let truth = value.get_ref().as_bool();
        if truth.is_none() {
            self.wrong_type(key, value, "write true or false");
        }
        truth
    }

    fn wrong_type(&mut self, key: &str, value: &Spanned<DeValue<'_>>, fix: &str) {
        let problem = format!("\"{key}\" has the wrong type ({})", value.get_ref().type_str());
        self.mistake(value.span().start, problem, fix);
    }

    /// Checks one rule; its mistakes are told at the key that has them, else at its head.
    fn check(
        &mut self,
        at: usize,
        draft: &RuleDraft,
        places: &KeyPositions,
        known: RuleCheckContext<'_>,
    ) -> Option<FiledRule> {
        match draft.check(known) {
            Ok(written) => Some(FiledRule { written, file: self.file.into(), line: self.line(at) }),
            Err(problems) => {
                let told: Vec<usize> = self.mistakes.iter().map(|mistake| mistake.line).collect();
                for problem in problems {
                    let place = places.iter().find(|(key, _)| Some(key.as_str()) == problem.key);
                    let at = place.map_or(at, |(_, at)| *at);
                    // What is told of the type of a value says all that is to be said of it.
                    let is_told = place.is_some() && told.contains(&self.line(at));
                    if !is_told {
                        self.mistake(at, problem.problem, problem.fix);
                    }
                }
                None
            }
        }
    }

    fn find_twins(&mut self, rules: &[FiledRule]) {
        for (place, rule) in rules.iter().enumerate() {
            let name = &rule.written.rule.name;
            if let Some(first) = rules[..place].iter().find(|other| other.written.rule.name == *name) {
                let problem = format!("the rule of line {} is called \"{name}\" too", first.line);
                let (file, fix) = (self.file.into(), "give each rule a name of its own".to_owned());
                self.mistakes.push(Mistake { file, line: rule.line, problem, fix });
            }
        }
    }
}

#[cfg(test)]
mod tests;
