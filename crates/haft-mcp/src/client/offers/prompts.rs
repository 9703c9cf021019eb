//! Lists the prompts of servers for a person, and reads one.
//!
//! A prompt is untrusted text. haft shows it to the person, who decides whether a model gets it.

use std::collections::BTreeMap;

use haft_contract::text::visible::visible;
use haft_host::host::block_on;
use rmcp::model::{
    ArgumentInfo, CompleteRequestParams, ContentBlock, GetPromptRequestParams, Prompt, Reference, Role, ServerResult,
};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::result::words_of;
use crate::client::calls::CallEars;
use crate::client::link::connection::ServerConnection;
use crate::client::management::{ChosenServer, InspectionFailure, TO_LIST, told};
use crate::client::requests::{NoResult, Patience, ServerRequest};

/// Most values that an argument is completed with.
const MOST_VALUES: usize = 20;
/// Longest text of a prompt, in characters.
const LONGEST_PROMPT: usize = 100_000;

/// A prompt, as a person sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedPrompt {
    /// Its name.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// The names of its arguments, and whether each must be given.
    pub arguments: Vec<(String, ArgumentRequirement)>,
}

/// Says whether an argument must be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentRequirement {
    /// It must.
    Yes,
    /// It may be left out.
    No,
}

impl ChosenServer {
    /// Lists the prompts of the server. It is started for that, and ends afterwards.
    ///
    /// # Errors
    ///
    /// Returns the reason, and the end of what the server wrote to its errors.
    pub fn prompts(&self) -> Result<Vec<ListedPrompt>, InspectionFailure> {
        let listed = self.with_connection(async |connection| prompts_of(connection).await)?;
        Ok(listed.iter().map(ListedPrompt::of).collect())
    }

    /// Returns the text of a prompt with these arguments. The server is started for that, and ends afterwards.
    ///
    /// # Errors
    ///
    /// Returns the reason; for an argument that is missing, also the values that the server suggests.
    pub fn prompt(&self, name: &str, arguments: &BTreeMap<String, String>) -> Result<String, InspectionFailure> {
        self.with_connection(async |connection| {
            let prompts = prompts_of(connection).await?;
            let prompt = prompts.iter().find(|prompt| prompt.name == name).ok_or_else(|| {
                let names = prompts.iter().map(|prompt| visible(&prompt.name).into_owned()).collect::<Vec<_>>();
                format!("there is no prompt \"{}\"; there are: {}", visible(name), names.join(", "))
            })?;
            check(connection, prompt, arguments).await?;
            text_of(connection, name, arguments).await
        })
    }

    fn with_connection<T>(
        &self,
        work: impl AsyncFnOnce(&ServerConnection) -> Result<T, String>,
    ) -> Result<T, InspectionFailure> {
        let (name, start) = (self.name().to_owned(), self.start());
        let done = block_on(async move {
            let connection = ServerConnection::open(start?).await.map_err(|why| told(&name, &why))?;
            let done = work(&connection).await;
            connection.close().await;
            done.map_err(|why| vec![format!("The MCP server \"{name}\" returned no prompt: {why}.")])
        });
        done.map_err(|error| vec![error.to_string()])?
    }
}

impl ListedPrompt {
    fn of(prompt: &Prompt) -> Self {
        let shown = |text: &str| visible(&text.replace(['\n', '\r'], " ")).into_owned();
        let arguments = prompt.arguments.iter().flatten().map(|argument| {
            let needed =
                if argument.required == Some(true) { ArgumentRequirement::Yes } else { ArgumentRequirement::No };
            (shown(&argument.name), needed)
        });
        Self {
            name: shown(&prompt.name),
            description: prompt.description.as_deref().map(shown).unwrap_or_default(),
            arguments: arguments.collect(),
        }
    }
}

async fn prompts_of(connection: &ServerConnection) -> Result<Vec<Prompt>, String> {
    let listing = connection.listing(patience(), nobody()).await.map_err(|why| why.words())?;
    Ok(listing.prompts)
}

/// Says which argument is missing, with what the server suggests for it.
async fn check(connection: &ServerConnection, prompt: &Prompt, given: &BTreeMap<String, String>) -> Result<(), String> {
    let known = prompt.arguments.as_deref().unwrap_or_default();
    if let Some(other) = given.keys().find(|name| !known.iter().any(|argument| argument.name == **name)) {
        let names = known.iter().map(|argument| visible(&argument.name).into_owned()).collect::<Vec<_>>();
        return Err(format!("it has no argument \"{}\"; it has: {}", visible(other), names.join(", ")));
    }
    let is_missing = |argument: &&rmcp::model::PromptArgument| {
        argument.required == Some(true) && !given.contains_key(&argument.name)
    };
    let Some(missing) = known.iter().find(is_missing) else { return Ok(()) };
    let values = completions(connection, (&prompt.name, &missing.name), "").await;
    let values =
        if values.is_empty() { String::new() } else { format!(" (the server suggests: {})", values.join(", ")) };
    Err(format!("the prompt needs \"{}\"{values}; add {0}=VALUE", visible(&missing.name)))
}

/// Returns the values that the server suggests for an argument of a prompt; none if it suggests nothing.
async fn completions(connection: &ServerConnection, (prompt, argument): (&str, &str), typed: &str) -> Vec<String> {
    if !connection.offers.completions {
        return Vec::new();
    }
    let argument = ArgumentInfo::new(argument, typed);
    let request = ServerRequest::Completion(CompleteRequestParams::new(Reference::for_prompt(prompt), argument));
    let stopped = CancellationToken::new();
    match connection.ask(request, patience(), (nobody(), stopped)).await {
        Ok(ServerResult::CompleteResult(result)) => {
            let values = result.completion.values.iter().take(MOST_VALUES);
            values.map(|value| visible(value).into_owned()).collect()
        }
        Ok(_) | Err(_) => Vec::new(),
    }
}

async fn text_of(
    connection: &ServerConnection,
    name: &str,
    arguments: &BTreeMap<String, String>,
) -> Result<String, String> {
    let arguments: Map<String, Value> =
        arguments.iter().map(|(name, value)| (name.clone(), Value::String(value.clone()))).collect();
    let mut params = GetPromptRequestParams::new(name);
    params.arguments = (!arguments.is_empty()).then_some(arguments);
    let request = ServerRequest::Prompt(params);
    let asked = connection.ask(request, patience(), (nobody(), CancellationToken::new())).await;
    let messages = match asked {
        Ok(ServerResult::GetPromptResult(result)) => result.messages,
        Ok(_) => return Err("its answer is not a prompt".to_owned()),
        Err(why) => return Err(NoResult::words(&why)),
    };
    let has_several = messages.len() > 1;
    let texts = messages.into_iter().map(|message| {
        let who = if message.role == Role::Assistant { "Assistant: " } else { "User: " };
        let text = match message.content {
            ContentBlock::Text(text) => text.text,
            other => words_of(other),
        };
        if has_several { format!("{who}{text}") } else { text }
    });
    let text = visible(&texts.collect::<Vec<_>>().join("\n\n")).into_owned();
    match text.chars().count() > LONGEST_PROMPT {
        true => Err(format!("its text has more than {LONGEST_PROMPT} characters")),
        false => Ok(text),
    }
}

fn patience() -> Patience {
    Patience { idle: TO_LIST, total: TO_LIST }
}

/// Returns channels without receivers: they drop the server's messages and questions.
fn nobody() -> CallEars {
    let ((progress, _), (questions, _)) = (mpsc::channel(1), mpsc::channel(1));
    CallEars { progress, questions }
}
