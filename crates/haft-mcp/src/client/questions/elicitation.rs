//! Shows a server's form as questions for the user, and converts the answers to the form that the server expects.
//!
//! Each field is one question. The last question asks whether to send the answers: haft sends nothing without that yes. An
//! empty answer uses the default of the field.

use haft_contract::doors::user_questions::{AnswerForm, AnswerOption, Asker, MOST_OPTIONS, UserAnswer, UserQuestion};
use haft_contract::text::visible::visible;
use serde_json::{Map, Value, json};

/// Most fields of a form.
const MOST_FIELDS: usize = 20;
/// Most choices of a field.
const MOST_CHOICES: usize = 100;
/// Longest text of a server that a question shows.
const LONGEST_TEXT: usize = 2_000;
/// Longest answer.
const LONGEST_ANSWER: usize = 10_000;

/// A form.
#[derive(Debug)]
pub(crate) struct ElicitationForm {
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Field {
    name: String,
    /// What the user reads.
    words: String,
    kind: FieldKind,
    is_required: bool,
    default: Option<Value>,
}

#[derive(Debug)]
enum FieldKind {
    Text { shortest: usize, longest: usize },
    Number { is_whole: bool, least: Option<f64>, most: Option<f64> },
    YesOrNo,
    One(Vec<FieldChoice>),
    Several { choices: Vec<FieldChoice>, least: usize, most: usize },
}

#[derive(Clone, Debug)]
struct FieldChoice {
    value: String,
    title: String,
}

/// What came of the answers.
#[derive(Debug, PartialEq)]
pub(crate) enum FilledIn {
    /// The content that is sent.
    Content(Value),
    /// The user said no.
    Declined,
    /// Answers that do not fit, a sentence.
    Wrong(String),
}

impl ElicitationForm {
    /// Reads the schema of a form; the error says why it cannot be asked.
    pub(crate) fn of(schema: &Value) -> Result<Self, String> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let fields = properties.into_iter().flatten();
        let fields = fields.map(|(name, field)| Field::of(name, field, &required));
        let fields = fields.collect::<Result<Vec<_>, _>>()?;
        match fields.len() > MOST_FIELDS {
            true => Err(format!("its form has more than {MOST_FIELDS} fields")),
            false => Ok(Self { fields }),
        }
    }

    /// Returns the questions: one for each field, and whether to send the answers.
    pub(crate) fn questions(&self, server: &str, message: &str) -> Vec<UserQuestion> {
        let asker = Asker::Server(server.to_owned());
        let mut questions: Vec<UserQuestion> = self.fields.iter().map(|field| field.question(&asker)).collect();
        let last = "Send these answers to the server? It is a program of others: send it no password and no key.";
        questions.push(UserQuestion { asker, text: last.to_owned(), header: None, form: AnswerForm::YesOrNo });
        if let Some(first) = questions.first_mut() {
            first.text = format!("{}\n{}", cut(message), first.text);
        }
        questions
    }

    /// Makes the content of the answers.
    pub(crate) fn filled_in(&self, answers: &[UserAnswer]) -> FilledIn {
        let mut content = Map::new();
        if answers.len() != self.fields.len() + 1 || answers.last() != Some(&UserAnswer::Yes) {
            return FilledIn::Declined;
        }
        for (field, answer) in self.fields.iter().zip(answers) {
            match field.value(answer) {
                Ok(Some(value)) => drop(content.insert(field.name.clone(), value)),
                Ok(None) if field.is_required => {
                    return FilledIn::Wrong(format!("\"{}\" needs an answer.", visible(&field.name)));
                }
                Ok(None) => {}
                Err(why) => return FilledIn::Wrong(format!("\"{}\" {why}.", visible(&field.name))),
            }
        }
        FilledIn::Content(Value::Object(content))
    }
}

impl Field {
    fn of(name: &str, schema: &Value, required: &[&str]) -> Result<Self, String> {
        let is_required = required.contains(&name);
        let text = |key: &str| schema.get(key).and_then(Value::as_str);
        let kind = FieldKind::of(schema)
            .ok_or_else(|| format!("its form has a field \"{}\" of a kind that haft cannot ask", visible(name)))?;
        let title = text("title").unwrap_or(name);
        let about = text("description").map(|about| format!(": {}", cut(about))).unwrap_or_default();
        let default = schema.get("default").filter(|default| !default.is_null()).cloned();
        let preset = default.as_ref().map(|default| format!(" (default: {})", shown(default))).unwrap_or_default();
        let optional = if is_required || default.is_some() { "" } else { " (may be left out)" };
        let words = format!("{}{about}{}{preset}{optional}", cut(title), kind.words());
        Ok(Self { name: name.to_owned(), words, kind, is_required, default })
    }

    fn question(&self, asker: &Asker) -> UserQuestion {
        let options = |choices: &[FieldChoice]| {
            let option =
                |choice: &FieldChoice| AnswerOption { label: choice.title.clone(), description: String::new() };
            choices.iter().map(option).collect()
        };
        let form = match &self.kind {
            FieldKind::YesOrNo => AnswerForm::YesOrNo,
            FieldKind::One(choices) if choices.len() <= MOST_OPTIONS => AnswerForm::One(options(choices)),
            FieldKind::Several { choices, .. } if choices.len() <= MOST_OPTIONS => {
                AnswerForm::Several(options(choices))
            }
            FieldKind::Text { .. } | FieldKind::Number { .. } | FieldKind::One(_) | FieldKind::Several { .. } => {
                AnswerForm::Words(None)
            }
        };
        UserQuestion { asker: asker.clone(), text: self.words.clone(), header: Some(self.name.clone()), form }
    }

    /// Returns the value of an answer; nothing if there is none.
    fn value(&self, answer: &UserAnswer) -> Result<Option<Value>, String> {
        let words = match answer {
            UserAnswer::Skipped => return Ok(self.default.clone()),
            UserAnswer::Yes => return Ok(Some(Value::Bool(true))),
            UserAnswer::No => return Ok(Some(Value::Bool(false))),
            UserAnswer::Chosen(labels) => labels.clone(),
            UserAnswer::Words(words) => vec![words.clone()],
        };
        self.kind.read(&words).map(Some)
    }
}

impl FieldKind {
    fn of(schema: &Value) -> Option<Self> {
        let number = |key: &str| schema.get(key).and_then(Value::as_f64);
        let count = |key: &str, other: usize| {
            schema.get(key).and_then(Value::as_u64).map_or(other, |count| usize::try_from(count).unwrap_or(usize::MAX))
        };
        match schema.get("type").and_then(Value::as_str)? {
            "string" => Some(match choices(schema)? {
                choices if !choices.is_empty() => FieldKind::One(choices),
                _ => FieldKind::Text {
                    shortest: count("minLength", 0),
                    longest: count("maxLength", LONGEST_ANSWER).min(LONGEST_ANSWER),
                },
            }),
            kind @ ("number" | "integer") => Some(FieldKind::Number {
                is_whole: kind == "integer",
                least: number("minimum"),
                most: number("maximum"),
            }),
            "boolean" => Some(FieldKind::YesOrNo),
            "array" => {
                let choices = choices(schema.get("items")?)?;
                let most = count("maxItems", choices.len());
                (!choices.is_empty()).then_some(FieldKind::Several { choices, least: count("minItems", 0), most })
            }
            _ => None,
        }
    }

    /// Says what can be answered, where the question itself does not.
    fn words(&self) -> String {
        let listed = |choices: &[FieldChoice]| {
            let titles = choices.iter().map(|choice| choice.title.as_str()).collect::<Vec<_>>().join(", ");
            if choices.len() > MOST_OPTIONS { format!("; one of: {titles}") } else { String::new() }
        };
        match self {
            FieldKind::Number { is_whole, least, most } => {
                let kind = if *is_whole { "; a whole number" } else { "; a number" };
                let from = least.map(|least| format!(" from {least}")).unwrap_or_default();
                let to = most.map(|most| format!(" to {most}")).unwrap_or_default();
                format!("{kind}{from}{to}")
            }
            FieldKind::One(choices) => listed(choices),
            FieldKind::Several { choices, .. } if choices.len() > MOST_OPTIONS => {
                format!("{}; several with commas between", listed(choices))
            }
            FieldKind::Several { .. } | FieldKind::Text { .. } | FieldKind::YesOrNo => String::new(),
        }
    }

    /// Reads an answer; the error says how it does not fit.
    fn read(&self, words: &[String]) -> Result<Value, String> {
        let first = words.first().map(|words| words.trim()).unwrap_or_default();
        match self {
            FieldKind::Text { shortest, longest } => match first.chars().count() {
                length if (*shortest..=*longest).contains(&length) => Ok(json!(first)),
                _ => Err(format!("takes {shortest} to {longest} characters")),
            },
            FieldKind::Number { is_whole, least, most } => {
                let number = if *is_whole {
                    first.parse::<i64>().ok().map(|number| json!(number))
                } else {
                    first.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| json!(number))
                };
                let is_within = |number: &Value| {
                    let number = number.as_f64().unwrap_or_default();
                    least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most)
                };
                number.filter(is_within).ok_or_else(|| format!("takes{}", self.words().trim_start_matches(';')))
            }
            FieldKind::YesOrNo => Err("takes yes or no".to_owned()),
            FieldKind::One(choices) => chosen(choices, first).map(Value::from),
            FieldKind::Several { choices, least, most } => {
                let parts =
                    words.iter().flat_map(|words| words.split(',')).map(str::trim).filter(|part| !part.is_empty());
                let values = parts.map(|part| chosen(choices, part)).collect::<Result<Vec<_>, _>>()?;
                match (*least..=*most).contains(&values.len()) {
                    true => Ok(json!(values)),
                    false => Err(format!("takes {least} to {most} of its choices")),
                }
            }
        }
    }
}

fn chosen(choices: &[FieldChoice], words: &str) -> Result<String, String> {
    let is_it = |choice: &&FieldChoice| choice.title.eq_ignore_ascii_case(words) || choice.value == words;
    let found = choices.iter().find(is_it).map(|choice| choice.value.clone());
    found.ok_or_else(|| "takes only one of its choices".to_owned())
}

/// Reads the choices of a field in any of the forms that the protocol has had; nothing if one of them is no text.
fn choices(schema: &Value) -> Option<Vec<FieldChoice>> {
    let titled = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array);
    let plain = schema.get("enum").and_then(Value::as_array);
    let names = schema.get("enumNames").and_then(Value::as_array);
    let choices: Vec<FieldChoice> = match (titled, plain) {
        (Some(titled), _) => titled
            .iter()
            .map(|choice| {
                let value = choice.get("const")?.as_str()?;
                Some(choice_of(value, choice.get("title").and_then(Value::as_str)))
            })
            .collect::<Option<_>>()?,
        (None, Some(plain)) => plain
            .iter()
            .enumerate()
            .map(|(at, value)| Some(choice_of(value.as_str()?, names.and_then(|names| names.get(at)?.as_str()))))
            .collect::<Option<_>>()?,
        (None, None) => Vec::new(),
    };
    (choices.len() <= MOST_CHOICES).then_some(choices)
}

fn choice_of(value: &str, title: Option<&str>) -> FieldChoice {
    FieldChoice { value: value.to_owned(), title: cut(title.unwrap_or(value)) }
}

/// Returns a text of a server that can be shown.
pub(crate) fn cut(text: &str) -> String {
    let shown = visible(text);
    let short: String = shown.chars().take(LONGEST_TEXT).collect();
    if short.len() < shown.len() { format!("{short} […]") } else { short }
}

fn shown(default: &Value) -> String {
    cut(&default.as_str().map_or_else(|| default.to_string(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> ElicitationForm {
        let schema = json!({ "type": "object", "required": ["name"], "properties": {
            "name": { "type": "string", "title": "Your name", "maxLength": 5 },
            "age": { "type": "integer", "default": 30, "minimum": 0 },
            "score": { "type": "number", "default": 95.5 },
            "state": { "type": "string", "enum": ["a", "b", "c", "d", "e"], "default": "a" },
            "size": { "type": "string", "oneOf": [{ "const": "s", "title": "Small" }, { "const": "l", "title": "Large" }] },
            "tags": { "type": "array", "items": { "anyOf": [{ "const": "x", "title": "X" }, { "const": "y", "title": "Why" }] } },
            "sure": { "type": "boolean", "default": true },
        } });
        ElicitationForm::of(&schema).expect("it can be asked")
    }

    fn filled(answers: [UserAnswer; 7], last: UserAnswer) -> FilledIn {
        let mut answers = answers.to_vec();
        answers.push(last);
        form().filled_in(&answers)
    }

    fn words(words: &str) -> UserAnswer {
        UserAnswer::Words(words.to_owned())
    }

    fn skipped() -> [UserAnswer; 7] {
        std::array::from_fn(|_| UserAnswer::Skipped)
    }

    #[test]
    fn each_field_is_a_question_and_the_last_asks_whether_to_send() {
        let questions = form().questions("s", "Who are\u{1b}[2J you?");
        assert_eq!(questions.len(), 8);
        assert_eq!(questions[0].text, "Who are\\u{1b}[2J you?\nYour name");
        assert_eq!(questions[1].text, "age; a whole number from 0 (default: 30)");
        assert!(questions[3].text.contains("one of: a, b, c, d, e"), "{}", questions[3].text);
        assert!(matches!(&questions[4].form, AnswerForm::One(options) if options[1].label == "Large"));
        assert!(questions[7].text.starts_with("Send these answers") && questions[7].form == AnswerForm::YesOrNo);
        assert!(questions.iter().all(|question| question.asker == Asker::Server("s".into())));
    }

    #[test]
    fn an_empty_answer_takes_the_default_and_nothing_is_sent_without_a_yes() {
        let mut answers = skipped();
        answers[0] = words("Ada");
        let expected = json!({ "name": "Ada", "age": 30, "score": 95.5, "state": "a", "sure": true });
        assert_eq!(filled(answers.clone(), UserAnswer::Yes), FilledIn::Content(expected));
        assert_eq!(filled(answers.clone(), UserAnswer::No), FilledIn::Declined);
        assert_eq!(filled(answers, UserAnswer::Skipped), FilledIn::Declined);
        assert!(matches!(filled(skipped(), UserAnswer::Yes), FilledIn::Wrong(why) if why.contains("\"name\" needs")));
    }

    #[test]
    fn answers_become_values_of_the_kind_of_their_field() {
        let chosen = |labels: &[&str]| UserAnswer::Chosen(labels.iter().map(|label| (*label).to_owned()).collect());
        let answers = [
            words("Ada"),
            words("41"),
            words("1.5"),
            words("D"),
            chosen(&["Large"]),
            chosen(&["X", "Why"]),
            UserAnswer::No,
        ];
        let expected = json!({ "name": "Ada", "age": 41, "score": 1.5, "state": "d", "size": "l", "tags": ["x", "y"], "sure": false });
        assert_eq!(filled(answers, UserAnswer::Yes), FilledIn::Content(expected));
        for (at, wrong) in [(0, "Charlotte"), (1, "-1"), (1, "x"), (2, "NaN"), (3, "z"), (4, "medium"), (5, "X, z")] {
            let mut answers = skipped();
            answers[0] = words("Ada");
            answers[at] = words(wrong);
            assert!(matches!(filled(answers, UserAnswer::Yes), FilledIn::Wrong(_)), "{wrong}");
        }
    }

    #[test]
    fn a_form_that_cannot_be_asked_is_refused_and_not_shortened() {
        for schema in [
            json!({ "properties": { "a": { "type": "object" } } }),
            json!({ "properties": { "a": { "type": "array", "items": { "type": "object" } } } }),
            json!({ "properties": { "a": { "type": "string", "enum": [1] } } }),
            json!({ "properties": { "a": {} } }),
            json!({ "properties": (0..21).map(|n| (n.to_string(), json!({ "type": "string" }))).collect::<Map<_, _>>() }),
        ] {
            assert!(ElicitationForm::of(&schema).is_err(), "{schema}");
        }
        assert_eq!(ElicitationForm::of(&json!({})).map(|form| form.fields.len()), Ok(0));
    }
}
