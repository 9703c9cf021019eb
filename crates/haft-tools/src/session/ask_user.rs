//! Asks the user what the model cannot know: what the user wants, not what is allowed.
//!
//! Not here: who is asked and how (`haft-cli`, `haft-mcp`), questions about permission (`haft-runtime`).

use haft_contract::description::shape::{ArgumentLookup, ArgumentShape, Meaning, MeantArguments};
use haft_contract::doors::user_questions::{
    AnswerForm, AnswerOption, Asker, MOST_OPTIONS, UserAnswer, UserQuestion, UserReply,
};
use haft_contract::prelude::*;
use serde_json::{Value, json};

/// Longest question, label or description, in characters.
const LONGEST_TEXT: usize = 1_000;

/// Asks the user.
pub struct AskUser;

/// The arguments of `ask_user`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// One to four questions.
    #[schemars(length(min = 1, max = 4))]
    questions: Vec<QuestionArgument>,
}

/// One question.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct QuestionArgument {
    /// The question, at most 1000 characters.
    question: String,
    /// A word or two above it, at most 32 characters.
    #[schemars(length(max = 32))]
    header: Option<String>,
    /// Default "choice" with options, else "text".
    #[serde(rename = "type")]
    kind: Option<QuestionKind>,
    /// Two to four answers to choose from.
    #[schemars(length(min = 2, max = 4))]
    options: Option<Vec<Choice>>,
    /// Whether several options can be chosen. Default false.
    multi_select: Option<bool>,
    /// An example answer, for "text".
    placeholder: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum QuestionKind {
    Choice,
    Text,
    #[serde(rename = "yesno")]
    YesNo,
}

/// One answer to choose from.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct Choice {
    /// The answer in a few words.
    label: String,
    /// What it means.
    description: Option<String>,
}

impl Tool for AskUser {
    const NAME: &'static str = "ask_user";
    const DEFERRED: bool = true;
    const DOES: AtMost = AtMost::Looks;
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[
        ("question", &["text", "prompt"]),
        ("options", &["choices"]),
        ("multi_select", &["multiple", "allow_multiple"]),
    ];
    const SHAPES: &'static [ArgumentShape] = &[ArgumentShape::new("question", Meaning::Code(only_question))];
    const OTHER_NAMES: &'static [&'static str] =
        &["ask_user_question", "ask_followup_question", "request_user_input", "ask_question"];
    type Args = Args;
    type Draft = Vec<UserQuestion>;

    fn manual(&self) -> Manual {
        Manual::read(include_str!("ask_user.md"))
    }

    async fn plan(&self, args: &Args, _cx: &PlanContext<'_>) -> Result<(Plan, Vec<UserQuestion>), ToolError> {
        let questions = args.questions.iter().enumerate().map(|(at, question)| asked(at, question));
        let questions = questions.collect::<Result<Vec<_>, _>>()?;
        Ok((Plan::new([Effect::Session(StateKey("questions to the user".to_owned()))]), questions))
    }

    async fn run(
        &self,
        args: Args,
        questions: Vec<UserQuestion>,
        cx: &RunContext<'_>,
    ) -> Result<ToolOutput, ToolError> {
        match cx.ask_user(&questions).await {
            UserReply::Answered(answers) => Ok(answered(&args.questions, &answers)),
            UserReply::Dismissed => {
                let text = "The user dismissed the questions without an answer. Choose what is sensible, and say what you chose.";
                Ok(ToolOutput::text(text).with_data(json!({ "answers": [], "dismissed": true })))
            }
            UserReply::Nobody(why) => {
                let what = format!("The user cannot be asked: {why}. Nothing was asked.");
                let next = "choose what is sensible, and say in your answer what you chose and why";
                Err(ToolError::new(ErrorKind::NeedsApproval, what, Next::DoNotRetry(next.to_owned())))
            }
        }
    }
}

/// Reads one question beside the list as the only one of it.
fn only_question(value: &Value, given: &ArgumentLookup<'_>) -> Option<MeantArguments> {
    let question = value.as_str().filter(|_| given.get("questions").is_none())?;
    let fields = ["header", "type", "options", "multi_select", "placeholder"];
    let mut only = json!({ "question": question });
    let mut meant = vec![("question", Value::Null)];
    for name in fields {
        if let Some(value) = given.get(name) {
            only[name] = value.clone();
            meant.push((name, Value::Null));
        }
    }
    meant.push(("questions", json!([only])));
    Some(meant)
}

/// Makes sure that a question can be answered.
fn asked(at: usize, question: &QuestionArgument) -> Result<UserQuestion, ToolError> {
    let bad = |what: &str, fix: &str| {
        let what = format!("$.questions[{at}]{what} Nothing was asked.");
        ToolError::new(ErrorKind::BadArguments, what, Next::FixArguments(fix.to_owned()))
    };
    let is_long = |text: &str| text.chars().count() > LONGEST_TEXT;
    let choices = question.options.as_deref().unwrap_or_default();
    let texts = choices.iter().flat_map(|choice| [Some(&choice.label), choice.description.as_ref()]);
    if texts.chain([Some(&question.question), question.placeholder.as_ref()]).flatten().any(|text| is_long(text)) {
        return Err(bad(" has a text of more than 1000 characters.", "say it shorter"));
    }
    if question.question.trim().is_empty() {
        return Err(bad(".question is empty.", "write the question"));
    }
    let kind = question.kind.unwrap_or(if choices.is_empty() { QuestionKind::Text } else { QuestionKind::Choice });
    let form = match kind {
        QuestionKind::Choice => {
            let options = options(choices).map_err(|(what, fix)| bad(what, fix))?;
            if question.multi_select == Some(true) { AnswerForm::Several(options) } else { AnswerForm::One(options) }
        }
        _ if !choices.is_empty() => {
            return Err(bad(" has options and is not of the type \"choice\".", "leave out \"type\", or the options"));
        }
        QuestionKind::Text => AnswerForm::Words(question.placeholder.clone()),
        QuestionKind::YesNo => AnswerForm::YesOrNo,
    };
    let header = question.header.clone().filter(|header| !header.trim().is_empty());
    Ok(UserQuestion { asker: Asker::Model, text: question.question.clone(), header, form })
}

/// Returns the options; fails with what is wrong with them and the fix.
fn options(choices: &[Choice]) -> Result<Vec<AnswerOption>, (&'static str, &'static str)> {
    if !(2..=MOST_OPTIONS).contains(&choices.len()) {
        return Err((" offers no choice.", "give two to four options, or \"type\": \"text\""));
    }
    let is_same = |one: &Choice, other: &Choice| one.label.trim().eq_ignore_ascii_case(other.label.trim());
    let is_repeated = |(at, choice): (usize, &Choice)| choices.iter().take(at).any(|other| is_same(choice, other));
    if choices.iter().enumerate().any(is_repeated) || choices.iter().any(|choice| choice.label.trim().is_empty()) {
        return Err((" has options that cannot be told apart.", "give each option a label of its own"));
    }
    let option = |choice: &Choice| AnswerOption {
        label: choice.label.trim().to_owned(),
        description: choice.description.clone().unwrap_or_default(),
    };
    Ok(choices.iter().map(option).collect())
}

/// Writes each question with its answer.
fn answered(questions: &[QuestionArgument], answers: &[UserAnswer]) -> ToolOutput {
    let words = |answer: &UserAnswer| match answer {
        UserAnswer::Chosen(labels) => labels.join(", "),
        UserAnswer::Words(words) => words.clone(),
        UserAnswer::Yes => "yes".to_owned(),
        UserAnswer::No => "no".to_owned(),
        UserAnswer::Skipped => "(no answer)".to_owned(),
    };
    let value = |answer: &UserAnswer| match answer {
        UserAnswer::Chosen(labels) => json!(labels),
        UserAnswer::Words(words) => json!(words),
        UserAnswer::Yes => json!(true),
        UserAnswer::No => json!(false),
        UserAnswer::Skipped => Value::Null,
    };
    let line = |(question, answer): (&QuestionArgument, &UserAnswer)| {
        format!("{}\n→ {}", question.question.trim(), words(answer).trim())
    };
    let text = questions.iter().zip(answers).map(line).collect::<Vec<_>>().join("\n");
    let answers = questions.iter().zip(answers).map(|(question, answer)| {
        json!({ "header": question.header, "question": question.question, "answer": value(answer) })
    });
    ToolOutput::text(text).with_data(json!({ "answers": answers.collect::<Vec<_>>(), "dismissed": false }))
}
