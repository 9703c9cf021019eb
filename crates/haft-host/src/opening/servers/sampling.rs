//! Asks the user's model for a server of tools, once, with words alone.
//!
//! Not here: whether it may ask, and who sees question and answer (`haft-mcp`).

use haft_model::conversation::{Message, StopReason};
use haft_model::lower::{ProviderDialect, lower_all};
use haft_model::provider::{LanguageModel, ModelRequest};
use tokio_util::sync::CancellationToken;

use super::ServerScope;
use crate::opening::model::choice::Choice;

/// What was said before the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedTurn {
    /// Who said it.
    pub speaker: Speaker,
    /// The words.
    pub text: String,
}

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The user of the server.
    User,
    /// The model.
    Model,
}

/// What the model answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelAnswer {
    /// Its name.
    pub model: String,
    /// The words.
    pub text: String,
    /// It was as long as it may be.
    pub is_cut: bool,
}

/// Asks the model that the user's settings choose; the error is a sentence without its end.
///
/// # Errors
///
/// Fails if no model is set up, or it does not answer.
pub async fn answer_of_model(
    scope: &ServerScope,
    (instructions, turns): (&str, &[AskedTurn]),
    most_tokens: u32,
) -> Result<ModelAnswer, String> {
    let choice = Choice::new(Default::default(), &scope.settings, Default::default());
    let chosen = choice.map_err(|error| format!("{error:#}"))?.made().await.map_err(|error| format!("{error:#}"))?;
    let model = chosen.connection();
    let messages = [Message::User { text: said(turns), images: Vec::new() }];
    // No tools, which every provider writes in the same way: not at all.
    let tools = lower_all(&[], ProviderDialect::OpenAi);
    let request = ModelRequest {
        instructions,
        tools: &tools,
        messages: &messages,
        most_tokens: Some(most_tokens),
        effort: None,
        must_call: false,
    };
    let reply = model.reply(&request, &|_| {}, &CancellationToken::new()).await.map_err(|error| error.what)?;
    Ok(ModelAnswer {
        model: model.name().to_owned(),
        text: reply.text(),
        is_cut: matches!(reply.stop, StopReason::Length | StopReason::Cut),
    })
}

/// Writes a conversation as one text: only its last answer is asked for.
fn said(turns: &[AskedTurn]) -> String {
    if let [only] = turns {
        return only.text.clone();
    }
    let line = |turn: &AskedTurn| match turn.speaker {
        Speaker::User => format!("User: {}", turn.text),
        Speaker::Model => format!("Assistant: {}", turn.text),
    };
    turns.iter().map(line).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_question_is_asked_as_it_is_and_a_conversation_with_its_speakers() {
        let turn = |speaker, text: &str| AskedTurn { speaker, text: text.to_owned() };
        assert_eq!(said(&[turn(Speaker::User, "Why?")]), "Why?");
        let both = [turn(Speaker::User, "Why?"), turn(Speaker::Model, "Because.")];
        assert_eq!(said(&both), "User: Why?\n\nAssistant: Because.");
    }
}
