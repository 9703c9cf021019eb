//! A request that says how much to think is one of the published types, for every model and length.

use haft_model::client::ModelConnection;
use haft_model::provider::{LanguageModel, ModelRequest};
use haft_model::wire::Wire;
use haft_model::writing::effort::Effort;
use haft_net::HttpClient;
use tokio_util::sync::CancellationToken;

use crate::conversation::{endpoint, said, tools};
use crate::published;
use crate::server::{Answered, Server};

#[tokio::test]
async fn how_much_to_think_is_said_in_published_types() {
    let models = [
        (Wire::Anthropic, "claude-opus-5"),
        (Wire::Anthropic, "claude-haiku-4-5"),
        (Wire::Anthropic, "deepseek-flash"),
        (Wire::Responses, "gpt-5.2"),
    ];
    for (wire, model) in models {
        for effort in Effort::ALL {
            for most_tokens in [None, Some(1), Some(1_500), Some(100_000)] {
                let server = Server::start([Answered::with("400 Bad Request", &[], "{}")]).await;
                let mut endpoint = endpoint(wire, &server);
                endpoint.model = model.to_owned();
                let (tools, messages) = (tools(wire), [said("Begin.")]);
                let (instructions, effort) = ("Be brief.", Some(effort));
                let request = ModelRequest {
                    instructions,
                    tools: &tools,
                    messages: &messages,
                    most_tokens,
                    effort,
                    must_call: false,
                };
                let _ = ModelConnection::new(endpoint, HttpClient::new())
                    .reply(&request, &|_| {}, &CancellationToken::new())
                    .await;
                published::check(wire, &server.asked()[0].body);
            }
        }
    }
}
