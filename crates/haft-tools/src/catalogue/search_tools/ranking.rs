//! Ranks tools by the words of a query (BM25).
//!
//! Words of the name count most, then those of the description, then those of the parameters. Words that many tools have
//! count little.

use std::collections::{BTreeSet, HashMap};

use haft_contract::description::spec::Spec;
use serde_json::Value;

/// How fast further occurrences of a word count less.
const SATURATION: f64 = 1.2;
/// How much a long definition counts against its words.
const LENGTH: f64 = 0.75;
/// How often a word of a name and of a description counts as one of a parameter.
const OF_NAME: f64 = 5.0;
const OF_DESCRIPTION: f64 = 2.0;
/// Deepest level of a schema whose words count.
const DEEPEST: usize = 6;
/// Words that say nothing.
const EMPTY: [&str; 22] = [
    "a", "an", "and", "are", "as", "be", "by", "for", "from", "in", "is", "it", "of", "on", "or", "that", "the",
    "this", "to", "tool", "use", "with",
];

/// The words of tools.
pub(super) struct Ranking {
    /// The whole names, as one word each.
    names: Vec<String>,
    /// For each word, the tools that have it and how much it counts there.
    places: HashMap<String, Vec<(usize, f64)>>,
    lengths: Vec<f64>,
}

impl Ranking {
    pub(super) fn of<'s>(tools: impl Iterator<Item = &'s Spec>) -> Self {
        let mut ranking = Self { names: Vec::new(), places: HashMap::new(), lengths: Vec::new() };
        for (place, spec) in tools.enumerate() {
            let mut counts: HashMap<String, f64> = HashMap::new();
            let mut add = |text: &str, weight: f64| {
                words(text).for_each(|word| *counts.entry(word).or_default() += weight);
            };
            add(&spec.name, OF_NAME);
            add(&spec.manual.title, 1.0);
            add(&spec.manual.words, OF_DESCRIPTION);
            for_words_of(&spec.input_schema, 0, &mut |text| add(text, 1.0));
            ranking.lengths.push(counts.values().sum());
            ranking.names.push(spec.name.to_lowercase());
            for (word, count) in counts {
                ranking.places.entry(word).or_default().push((place, count));
            }
        }
        ranking
    }

    /// Returns the places of the tools that have a word of the query, the best first.
    pub(super) fn best(&self, query: &str) -> Vec<usize> {
        let all = self.names.len() as f64;
        let average = (self.lengths.iter().sum::<f64>() / all.max(1.0)).max(1.0);
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for word in words(query).collect::<BTreeSet<_>>() {
            let Some(places) = self.places.get(&word) else { continue };
            let rarity = (1.0 + (all - places.len() as f64 + 0.5) / (places.len() as f64 + 0.5)).ln();
            for (place, count) in places {
                let length = 1.0 - LENGTH + LENGTH * self.lengths[*place] / average;
                let score = rarity * count * (SATURATION + 1.0) / (count + SATURATION * length);
                *scores.entry(*place).or_default() += score;
            }
        }
        let meant = query.trim().to_lowercase();
        let mut best: Vec<usize> = scores.keys().copied().collect();
        let is_named = |place: usize| self.names[place] == meant;
        best.sort_by(|one, other| {
            let by_name = is_named(*other).cmp(&is_named(*one));
            by_name.then(scores[other].total_cmp(&scores[one])).then(one.cmp(other))
        });
        best
    }
}

/// Visits names, titles, descriptions and values of the parameters of a schema.
fn for_words_of(schema: &Value, depth: usize, visit: &mut impl FnMut(&str)) {
    let Some(fields) = schema.as_object().filter(|_| depth < DEEPEST) else { return };
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("description" | "title", Value::String(text)) => visit(text),
            ("enum", Value::Array(values)) => values.iter().filter_map(Value::as_str).for_each(&mut *visit),
            ("properties" | "$defs" | "definitions", Value::Object(parameters)) => {
                for (name, parameter) in parameters {
                    visit(name);
                    for_words_of(parameter, depth + 1, visit);
                }
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(forms)) => {
                forms.iter().for_each(|form| for_words_of(form, depth + 1, visit));
            }
            ("items" | "additionalProperties", inner) => for_words_of(inner, depth + 1, visit),
            _ => {}
        }
    }
}

/// Splits a text into words: also at `_`, and where a capital letter begins a word. Endings of plurals are left out.
fn words(text: &str) -> impl Iterator<Item = String> {
    let (mut words, mut word, mut was_small) = (Vec::new(), String::new(), false);
    for c in text.chars().chain([' ']) {
        if (!c.is_alphanumeric() || c.is_uppercase() && was_small) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        was_small = c.is_lowercase();
        word.extend(c.to_lowercase().filter(|c| c.is_alphanumeric()));
    }
    words.into_iter().map(singular).filter(|word| !EMPTY.contains(&word.as_str()))
}

fn singular(word: String) -> String {
    let stem = match word.strip_suffix("ies") {
        Some(stem) if stem.len() > 2 => return format!("{stem}y"),
        _ => word.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with('s')),
    };
    stem.map(str::to_owned).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_contract::description::manual::Manual;
    use serde_json::json;

    fn spec(name: &str, words: &str, parameters: Value) -> Spec {
        let schema = json!({ "type": "object", "properties": parameters });
        Spec::new(name, Manual::plain(name, words), schema)
    }

    fn tools() -> Vec<Spec> {
        vec![
            spec("tracker__createIssue", "Opens a new ticket.", json!({ "title": {} })),
            spec("tracker__list_issues", "Lists the tickets of a project.", json!({ "project": {} })),
            spec(
                "mail__send",
                "Sends a message.",
                json!({ "to": { "description": "The address of the recipient" }, "urgency": { "enum": ["low"] } }),
            ),
            spec("files__read", "Reads a file. An issue of permissions is an error.", json!({ "path": {} })),
        ]
    }

    fn best(query: &str) -> Vec<String> {
        let tools = tools();
        Ranking::of(tools.iter()).best(query).into_iter().map(|place| tools[place].name.clone()).collect()
    }

    #[test]
    fn words_of_names_count_more_than_those_of_descriptions_and_rare_words_more_than_common_ones() {
        assert_eq!(best("create issue")[0], "tracker__createIssue");
        assert_eq!(best("issue").last().map(String::as_str), Some("files__read"));
        assert_eq!(best("LIST tickets")[0], "tracker__list_issues");
    }

    #[test]
    fn words_and_values_of_parameters_are_found() {
        assert_eq!(best("recipients"), ["mail__send"]);
        assert_eq!(best("urgency low"), ["mail__send"]);
    }

    #[test]
    fn the_whole_name_comes_first_and_an_unknown_word_finds_nothing() {
        assert_eq!(best("files__read")[0], "files__read");
        assert_eq!(best("unheard"), Vec::<String>::new());
        assert_eq!(best("the of"), Vec::<String>::new());
    }
}
