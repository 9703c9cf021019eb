//! Passes a server's requests during a call to the user: forms, addresses to visit, questions for the user's model.
//!
//! The user sees which server asks, and haft sends nothing without a yes. If haft cannot ask a user, the answer is no, and
//! the result of the call says so. haft declines further requests of a server that asks too often, without asking the user.

#![expect(deprecated, reason = "sampling goes away with the servers that ask for it")]

use haft_contract::context::RunContext;
use haft_contract::doors::user_questions::{AnswerForm, Asker, UserAnswer, UserQuestion, UserReply};
use haft_contract::text::visible::visible;
use haft_host::opening::servers::ServerScope;
use haft_host::opening::servers::sampling::{AskedTurn, Speaker, answer_of_model};
use haft_net::Address;
use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult, ElicitationAction, Role,
    SamplingMessage,
};
use serde_json::Value;
use tokio::sync::oneshot;

use super::elicitation::{ElicitationForm, FilledIn, cut};
use super::sampling::SamplingBudget;
use crate::client::calls::ServerQuestion;

/// Most questions of a server to the user during one call.
const MOST_QUESTIONS: usize = 10;
/// How often the user may correct a form.
const MOST_CORRECTIONS: usize = 3;
/// Most tokens of an answer of the user's model.
const MOST_TOKENS: u32 = 4_096;
/// Most characters that the user's model is asked.
const LONGEST_PROMPT: usize = 50_000;
/// Most characters of it that the user is shown.
const LONGEST_SHOWN: usize = 6_000;

/// Answers the questions that one server asks during one call.
pub(crate) struct InputResponder<'a> {
    pub(crate) server: &'a str,
    pub(crate) scope: &'a ServerScope,
    pub(crate) budget: &'a SamplingBudget,
    asked: usize,
    notes: Vec<String>,
}

impl<'a> InputResponder<'a> {
    pub(crate) fn new(server: &'a str, scope: &'a ServerScope, budget: &'a SamplingBudget) -> Self {
        Self { server, scope, budget, asked: 0, notes: Vec::new() }
    }

    /// Answers a question.
    pub(crate) async fn answer(&mut self, question: ServerQuestion, cx: &RunContext<'_>) {
        self.asked += 1;
        match question {
            ServerQuestion::Elicit(params, reply) => {
                let answer = match self.asked > MOST_QUESTIONS {
                    true => self.declined(&format!("it asked more than {MOST_QUESTIONS} times in one call")),
                    false => self.elicited(*params, cx).await,
                };
                // The server may have stopped waiting for the answer.
                let _ = reply.send(answer);
            }
            ServerQuestion::Sample(params, reply) => self.sample(&params, reply, cx).await,
        }
    }

    /// Returns what the caller should know of the questions, a line each.
    pub(crate) fn into_notes(self) -> Vec<String> {
        self.notes
    }

    async fn elicited(&mut self, params: ElicitRequestParams, cx: &RunContext<'_>) -> ElicitResult {
        match params {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                let schema = serde_json::to_value(&requested_schema).unwrap_or_default();
                self.form(&message, &schema, cx).await
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => self.visit(&message, &url, cx).await,
            _ => self.declined("it asked in a way that haft does not know"),
        }
    }

    async fn form(&mut self, message: &str, schema: &Value, cx: &RunContext<'_>) -> ElicitResult {
        let form = match ElicitationForm::of(schema) {
            Ok(form) => form,
            Err(why) => return self.declined(&why),
        };
        let mut shown = message.to_owned();
        for _ in 0..=MOST_CORRECTIONS {
            let answers = match cx.ask_user(&form.questions(self.server, &shown)).await {
                UserReply::Answered(answers) => answers,
                UserReply::Dismissed => return ElicitResult::new(ElicitationAction::Cancel),
                UserReply::Nobody(why) => return self.declined(&why),
            };
            match form.filled_in(&answers) {
                FilledIn::Content(content) => {
                    return ElicitResult::new(ElicitationAction::Accept).with_content(content);
                }
                FilledIn::Declined => return ElicitResult::new(ElicitationAction::Decline),
                FilledIn::Wrong(why) => shown = format!("{why} Please answer again.\n{message}"),
            }
        }
        ElicitResult::new(ElicitationAction::Cancel)
    }

    /// Shows an address. haft opens nothing: the user sees all of it first, and goes there or not.
    async fn visit(&mut self, message: &str, url: &str, cx: &RunContext<'_>) -> ElicitResult {
        let address = Address::parse(url).ok().filter(|address| matches!(address.scheme(), "http" | "https"));
        let Some(address) = address.filter(|address| !address.has_more_than_a_place()) else {
            return self.declined("it named an address that haft does not show");
        };
        let text = format!(
            "{}\nIt wants you to open an address of {}:\n{}\nhaft does not open it. Open it yourself if you trust the server and the \
             host, and then answer yes.",
            cut(message),
            visible(&address.place()),
            visible(address.as_str()),
        );
        match cx.ask_user(&[self.question(text)]).await {
            UserReply::Answered(answers) if answers == [UserAnswer::Yes] => {
                ElicitResult::new(ElicitationAction::Accept)
            }
            UserReply::Answered(_) => ElicitResult::new(ElicitationAction::Decline),
            UserReply::Dismissed => ElicitResult::new(ElicitationAction::Cancel),
            UserReply::Nobody(why) => self.declined(&why),
        }
    }

    fn question(&self, text: String) -> UserQuestion {
        let asker = Asker::Server(self.server.to_owned());
        UserQuestion { asker, text, header: None, form: AnswerForm::YesOrNo }
    }

    fn declined(&mut self, why: &str) -> ElicitResult {
        self.note(&format!("asked the user something, and haft declined: {why}"));
        ElicitResult::new(ElicitationAction::Decline)
    }

    fn note(&mut self, what: &str) {
        let note = format!("[The MCP server \"{}\" {}.]", visible(self.server), what.trim_end_matches('.'));
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Asks the user's model for a server: within the budget, and only what the user has seen.
    async fn sample(
        &mut self,
        params: &CreateMessageRequestParams,
        reply: oneshot::Sender<Result<CreateMessageResult, String>>,
        cx: &RunContext<'_>,
    ) {
        let answer = self.sampled(params, cx).await;
        if let Err(why) = &answer {
            self.note(&format!("asked for your model, and haft refused: {why}"));
        }
        let _ = reply.send(answer);
    }

    async fn sampled(
        &mut self,
        params: &CreateMessageRequestParams,
        cx: &RunContext<'_>,
    ) -> Result<CreateMessageResult, String> {
        let turns = turns_of(params)?;
        self.budget.take()?;
        let instructions = params.system_prompt.clone().unwrap_or_default();
        let prompt = shown_prompt(&instructions, &turns);
        let most_tokens = params.max_tokens.min(MOST_TOKENS);
        let question = format!(
            "It wants your model to answer this, in at most {most_tokens} tokens:\n{prompt}\nAsk your model? (question {} of this session)",
            self.budget.used()
        );
        self.agreed(question, cx).await?;
        let answer = answer_of_model(self.scope, (&instructions, &turns), most_tokens).await?;
        let question = format!("Your model answered:\n{}\nSend this to the server?", shortened(&answer.text));
        self.agreed(question, cx).await?;
        let mut result = CreateMessageResult::new(SamplingMessage::assistant_text(answer.text), answer.model);
        let reason = if answer.is_cut {
            CreateMessageResult::STOP_REASON_END_MAX_TOKEN
        } else {
            CreateMessageResult::STOP_REASON_END_TURN
        };
        result.stop_reason = Some(reason.to_owned());
        Ok(result)
    }

    async fn agreed(&self, question: String, cx: &RunContext<'_>) -> Result<(), String> {
        match cx.ask_user(&[self.question(question)]).await {
            UserReply::Answered(answers) if answers == [UserAnswer::Yes] => Ok(()),
            UserReply::Answered(_) | UserReply::Dismissed => Err("the user said no".to_owned()),
            UserReply::Nobody(why) => Err(why),
        }
    }
}

/// Reads what the model is asked; only words.
fn turns_of(params: &CreateMessageRequestParams) -> Result<Vec<AskedTurn>, String> {
    if params.tools.as_ref().is_some_and(|tools| !tools.is_empty()) {
        return Err("it wants the model to call tools of its own".to_owned());
    }
    let turn = |message: &SamplingMessage| {
        let speaker = if message.role == Role::Assistant { Speaker::Model } else { Speaker::User };
        let content = serde_json::to_value(&message.content).unwrap_or_default();
        let blocks = if let Value::Array(blocks) = content { blocks } else { vec![content] };
        let texts = blocks.iter().map(|block| block["text"].as_str().map(str::to_owned));
        let texts = texts.collect::<Option<Vec<_>>>().ok_or("its question is more than words")?;
        Ok::<_, String>(AskedTurn { speaker, text: texts.join("\n") })
    };
    let turns = params.messages.iter().map(turn).collect::<Result<Vec<_>, _>>()?;
    let length = turns.iter().map(|turn| turn.text.len()).sum::<usize>();
    match (turns.is_empty(), length > LONGEST_PROMPT) {
        (true, _) => Err("it asked nothing".to_owned()),
        (false, true) => Err(format!("its question has more than {LONGEST_PROMPT} characters")),
        (false, false) => Ok(turns),
    }
}

fn shown_prompt(instructions: &str, turns: &[AskedTurn]) -> String {
    let mut shown = String::new();
    if !instructions.is_empty() {
        shown.push_str(&format!("instructions: {instructions}\n"));
    }
    for turn in turns {
        let who = if turn.speaker == Speaker::Model { "model" } else { "user" };
        shown.push_str(&format!("{who}: {}\n", turn.text));
    }
    shortened(&shown)
}

fn shortened(text: &str) -> String {
    let shown = visible(text);
    let count = shown.chars().count();
    let short: String = shown.chars().take(LONGEST_SHOWN).collect();
    if count > LONGEST_SHOWN { format!("{short}\n[{} more characters]", count - LONGEST_SHOWN) } else { short }
}
