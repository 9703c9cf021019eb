//! Shows a model's questions as a form: a field for each, in the types of the protocol.
//!
//! Clients up to 2025-06-18 cannot select several answers in a list, so each option is a separate field there.

use haft_contract::doors::user_questions::{AnswerForm, AnswerOption, Asker, UserAnswer, UserQuestion, UserReply};
use haft_runtime::asking::approval::Questionnaire;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Map, Value, json};

use super::form::{Titles, form, one_line};

/// Longest answer in words, in characters.
const LONGEST_ANSWER: usize = 4_000;

/// Puts the questions.
pub(super) fn params(questionnaire: &Questionnaire, titles: Titles) -> ElicitRequestParams {
    let questions = &questionnaire.questions;
    let message = match questions.as_slice() {
        [only] if only.asker == Asker::Model => one_line(&only.text).into_owned(),
        questions => {
            let line = |(number, question): (usize, &UserQuestion)| format!("{number}. {}", one_line(&question.text));
            let lines = (1..).zip(questions).map(line).collect::<Vec<_>>().join("\n");
            format!(
                "{} asks you:\n{lines}",
                questions.first().map(|question| question.asker.clone()).unwrap_or_default()
            )
        }
    };
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (number, question) in (1..).zip(questions) {
        let name = format!("answer_{number}");
        match (&question.form, titles) {
            (AnswerForm::Several(options), Titles::Apart) => {
                for (option, at) in options.iter().zip(1..) {
                    let title = titled(option);
                    properties.insert(format!("{name}_{at}"), json!({ "type": "boolean", "title": title }));
                }
            }
            _ => {
                properties.insert(name.clone(), field(question, titles));
                // Words and lists may be left out.
                if let AnswerForm::One(_) | AnswerForm::YesOrNo = question.form {
                    required.push(name);
                }
            }
        }
    }
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    form(message, schema.as_object().cloned().unwrap_or_default())
}

fn field(question: &UserQuestion, titles: Titles) -> Value {
    let mut field = match &question.form {
        AnswerForm::YesOrNo => json!({ "type": "boolean" }),
        AnswerForm::Words(_) => json!({ "type": "string", "maxLength": LONGEST_ANSWER }),
        AnswerForm::One(options) => match titles {
            Titles::Apart => {
                let (values, names) = (labels(options), options.iter().map(titled).collect::<Vec<_>>());
                json!({ "type": "string", "enum": values, "enumNames": names })
            }
            Titles::Beside => json!({ "type": "string", "oneOf": choices(options) }),
        },
        AnswerForm::Several(options) => json!({ "type": "array", "items": { "anyOf": choices(options) } }),
    };
    let header = question.header.as_ref().unwrap_or(&question.text);
    field["title"] = one_line(header).into_owned().into();
    let example = match &question.form {
        AnswerForm::Words(Some(example)) => format!(" Example: {}", one_line(example)),
        _ => String::new(),
    };
    field["description"] = format!("{}{example}", one_line(&question.text)).into();
    field
}

fn labels(options: &[AnswerOption]) -> Vec<&str> {
    options.iter().map(|option| option.label.as_str()).collect()
}

fn choices(options: &[AnswerOption]) -> Vec<Value> {
    options.iter().map(|option| json!({ "const": option.label, "title": titled(option) })).collect()
}

fn titled(option: &AnswerOption) -> String {
    let gap = if option.description.trim().is_empty() { "" } else { ": " };
    format!("{}{gap}{}", one_line(&option.label), one_line(&option.description))
}

/// Reads the answers. A field that is no answer counts as left out.
pub(super) fn reply(questionnaire: &Questionnaire, answer: &ElicitResult) -> UserReply {
    let content = answer.content.as_ref().and_then(Value::as_object);
    let Some(content) = content.filter(|_| answer.action == ElicitationAction::Accept) else {
        return UserReply::Dismissed;
    };
    let answers = (1..).zip(&questionnaire.questions);
    let answers: Vec<UserAnswer> = answers.map(|(number, question)| read(content, number, question)).collect();
    let is_answered = answers.iter().any(|answer| *answer != UserAnswer::Skipped);
    if is_answered { UserReply::Answered(answers) } else { UserReply::Dismissed }
}

fn read(content: &Map<String, Value>, number: usize, question: &UserQuestion) -> UserAnswer {
    let name = format!("answer_{number}");
    let given = content.get(&name);
    let chosen = |labels: Vec<String>| match labels.is_empty() {
        true => UserAnswer::Skipped,
        false => UserAnswer::Chosen(labels),
    };
    match &question.form {
        AnswerForm::YesOrNo => match given.and_then(Value::as_bool) {
            Some(true) => UserAnswer::Yes,
            Some(false) => UserAnswer::No,
            None => UserAnswer::Skipped,
        },
        AnswerForm::Words(_) => match given.and_then(Value::as_str).map(str::trim) {
            Some(words) if !words.is_empty() => UserAnswer::Words(words.chars().take(LONGEST_ANSWER).collect()),
            _ => UserAnswer::Skipped,
        },
        AnswerForm::One(options) => {
            let is_given = |option: &&AnswerOption| given.is_some_and(|given| *given == *option.label);
            chosen(options.iter().filter(is_given).map(|option| option.label.clone()).collect())
        }
        AnswerForm::Several(options) => {
            let is_listed = |option: &AnswerOption| {
                given.and_then(Value::as_array).is_some_and(|given| given.iter().any(|label| *label == *option.label))
            };
            let is_ticked = |at: usize| content.get(&format!("{name}_{at}")).and_then(Value::as_bool) == Some(true);
            let is_given = |(at, option): &(usize, &AnswerOption)| is_listed(option) || is_ticked(*at);
            chosen((1..).zip(options).filter(is_given).map(|(_, option)| option.label.clone()).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_contract::call::CallId;

    fn questionnaire() -> Questionnaire {
        let option = |label: &str| AnswerOption { label: label.to_owned(), description: format!("the {label} way") };
        let question =
            |text: &str, form| UserQuestion { asker: Asker::Model, text: text.to_owned(), header: None, form };
        let options = || vec![option("fast"), option("safe")];
        let questions = vec![
            question("How?", AnswerForm::One(options())),
            question("Where?", AnswerForm::Several(options())),
            question("Why?", AnswerForm::Words(None)),
            question("Sure?", AnswerForm::YesOrNo),
        ];
        Questionnaire { call: CallId::new("1"), questions }
    }

    fn answered(action: ElicitationAction, content: Value) -> UserReply {
        reply(&questionnaire(), &ElicitResult::new(action).with_content(content))
    }

    #[test]
    fn answers_are_read_in_both_forms_of_lists() {
        let fast = || UserAnswer::Chosen(vec!["fast".to_owned()]);
        let expected = UserReply::Answered(vec![fast(), fast(), UserAnswer::Words("so".to_owned()), UserAnswer::No]);
        let listed = json!({ "answer_1": "fast", "answer_2": ["fast"], "answer_3": " so ", "answer_4": false });
        assert_eq!(answered(ElicitationAction::Accept, listed), expected);
        let ticked =
            json!({ "answer_1": "fast", "answer_2_1": true, "answer_2_2": false, "answer_3": "so", "answer_4": false });
        assert_eq!(answered(ElicitationAction::Accept, ticked), expected);
    }

    #[test]
    fn what_is_no_answer_is_left_out_and_a_closed_form_is_dismissed() {
        let odd = json!({ "answer_1": "slow", "answer_2": "fast", "answer_3": 7, "answer_4": true });
        let skipped = || UserAnswer::Skipped;
        let expected = UserReply::Answered(vec![skipped(), skipped(), skipped(), UserAnswer::Yes]);
        assert_eq!(answered(ElicitationAction::Accept, odd.clone()), expected);
        assert_eq!(answered(ElicitationAction::Decline, odd.clone()), UserReply::Dismissed);
        assert_eq!(answered(ElicitationAction::Cancel, odd), UserReply::Dismissed);
        assert_eq!(answered(ElicitationAction::Accept, json!({})), UserReply::Dismissed);
    }

    #[test]
    fn the_form_is_one_that_the_protocol_allows() {
        for titles in [Titles::Apart, Titles::Beside] {
            let ElicitRequestParams::FormElicitationParams { requested_schema, .. } = params(&questionnaire(), titles)
            else {
                panic!("a form")
            };
            let schema = serde_json::to_value(requested_schema).expect("it is JSON");
            let fields = schema["properties"].as_object().expect("an object");
            assert_eq!(fields.len(), if titles == Titles::Apart { 5 } else { 4 }, "{schema}");
            assert_eq!(schema["required"], json!(["answer_1", "answer_4"]), "{schema}");
        }
    }
}
