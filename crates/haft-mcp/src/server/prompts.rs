//! Offers the user's own commands as prompts.
//!
//! They are the same Markdown files that haft's terminal reads. If there are none, haft does not declare prompts to clients.

use std::sync::Arc;

use haft_contract::text::closest::closest;
use haft_host::conversations::user_commands::{UserCommand, UserCommands};
use haft_host::host::Host;
use rmcp::ErrorData;
use rmcp::model::{ContentBlock, GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};

/// The one argument of a prompt: what would be typed behind the command.
const ARGUMENTS: &str = "arguments";

/// Returns whether there are commands.
pub(crate) fn exist(host: &Host) -> bool {
    !UserCommands::of(host).list().is_empty()
}

/// Lists the commands.
pub(crate) async fn list(host: Arc<Host>) -> Result<Vec<Prompt>, ErrorData> {
    on_a_thread(move || UserCommands::of(&host).list().iter().map(prompt).collect()).await
}

/// Fills the arguments of a request into the prompt of a command.
pub(crate) async fn get(host: Arc<Host>, request: GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    on_a_thread(move || {
        let commands = UserCommands::of(&host);
        let Some(command) = commands.find(&request.name) else {
            let near = closest(&request.name, commands.list().iter().map(|command| command.name.as_str()));
            let near = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
            return Err(ErrorData::invalid_params(
                format!("there is no such prompt{near}; prompts/list lists them"),
                None,
            ));
        };
        let given = request.arguments.as_ref().and_then(|given| given.get(ARGUMENTS));
        let text = command.expand(given.and_then(|given| given.as_str()).unwrap_or_default()).text;
        let text = host.runtime.redactor().redact(&text).into_owned();
        let message = PromptMessage::new(Role::User, ContentBlock::text(text));
        Ok(GetPromptResult::new(vec![message]).with_description(command.description.clone()))
    })
    .await?
}

fn prompt(command: &UserCommand) -> Prompt {
    let hint = command.argument_hint.clone().unwrap_or_else(|| "what the prompt is about".to_owned());
    let arguments = PromptArgument::new(ARGUMENTS).with_description(hint).with_required(false);
    Prompt::new(command.name.clone(), Some(command.description.clone()), Some(vec![arguments]))
}

/// Files are read.
async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ErrorData> {
    tokio::task::spawn_blocking(work).await.map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
