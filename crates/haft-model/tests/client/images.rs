//! Images in results: how each form sends them, and what happens when a model cannot see them.

use haft_model::client::{Endpoint, ModelConnection};
use haft_model::conversation::{
    Image, Message, ModelToolCall, Native, Reply, ReplyPart, StopReason, ToolAnswer, Usage,
};
use haft_model::provider::LanguageModel;
use haft_model::quirks::{ChatServer as Known, Quirks};
use haft_model::wire::Wire;
use haft_net::HttpClient;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::conversation::{Outcome, ask_until, endpoint, said};
use crate::published;
use crate::server::{Answered, Server};

fn image(data: &str) -> Image {
    Image { media_type: "image/png".to_owned(), base64: data.to_owned() }
}

fn answer(id: &str, text: &str, images: &[&str]) -> ToolAnswer {
    let images = images.iter().map(|data| image(data)).collect();
    ToolAnswer { call: id.to_owned(), name: "read_file".to_owned(), text: text.to_owned(), is_error: false, images }
}

/// A reply of another model that reads files, and what came of it.
fn reads(answers: Vec<ToolAnswer>) -> [Message; 2] {
    let call = |answer: &ToolAnswer| {
        let arguments = r#"{"path":"a"}"#.to_owned();
        ReplyPart::Call(ModelToolCall { id: answer.call.clone(), name: answer.name.clone(), arguments, is_cut: false })
    };
    let json = RawValue::from_string("null".to_owned()).expect("it is JSON");
    let native = Native { wire: Wire::Chat, model: "yet another".to_owned(), json };
    let parts = answers.iter().map(call).collect();
    let reply = Reply { parts, native, stop: StopReason::Calls, usage: Usage::default(), why_cut: None };
    [Message::Model(reply), Message::Tools { answers }]
}

/// Results with images in the middle, before words of the user, and at the end.
fn conversation() -> Vec<Message> {
    let failed = ToolAnswer { is_error: true, ..answer("call_5", "It broke off.", &["RmFpbA=="]) };
    let mut messages = vec![said("Look.")];
    messages.extend(reads(vec![
        answer("call_1", "a.png is an image.", &["QQ=="]),
        answer("call_2", "plain", &[]),
        answer("call_3", "two", &["Qg==", "Qw=="]),
    ]));
    messages.extend(reads(vec![answer("call_4", "d.png is an image.", &["RA=="])]));
    messages.push(said("What do you see?"));
    messages.extend(reads(vec![failed]));
    messages
}

async fn ask_over(connection: &ModelConnection, messages: &[Message]) -> Outcome {
    ask_until(connection, messages, &CancellationToken::new(), |_| {}).await
}

fn refusal(status: &str, words: &str) -> Answered {
    Answered::with(status, &[], json!({ "error": { "message": words } }).to_string())
}

#[tokio::test]
async fn each_form_sends_images_in_its_own_way() {
    let of = |wire, model: &str, known: Known| (wire, model.to_owned(), Quirks::of_server(known));
    let cases = [
        of(Wire::Anthropic, "claude-sonnet-4-5", Known::Other),
        of(Wire::Responses, "gpt-5.2", Known::Other),
        of(Wire::Chat, "another", Known::OpenAi),
        of(Wire::Chat, "pixtral", Known::Mistral),
        of(Wire::Gemini, "gemini-2.5-flash", Known::Other),
        of(Wire::Gemini, "gemini-3-pro", Known::Other),
    ];
    for (wire, model, quirks) in cases {
        let server = Server::start([Answered::with("404 Not Found", &[], "")]).await;
        let name = format!("images_{}_{model}", wire.name());
        let endpoint = Endpoint { model, quirks, ..endpoint(wire, &server) };
        ask_over(&ModelConnection::new(endpoint, HttpClient::new()), &conversation()).await;
        let asked = server.asked().remove(0);
        if matches!(wire, Wire::Anthropic | Wire::Responses) {
            published::check(wire, &asked.body);
        }
        let list = match wire {
            Wire::Anthropic | Wire::Chat => "messages",
            Wire::Responses => "input",
            Wire::Gemini => "contents",
        };
        let lines: Vec<String> = asked.list(list).iter().map(ToString::to_string).collect();
        insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, lines.join("\n"));
        });
    }
}

/// Returns how many images a request has, whatever its form.
fn shown(body: &Value) -> usize {
    let text = body.to_string();
    ["QQ==", "Qg==", "Qw==", "RA==", "RmFpbA=="].iter().filter(|data| text.contains(*data)).count()
}

#[tokio::test]
async fn who_sees_nothing_is_asked_again_without_and_never_shown_an_image_again() {
    let refusals = [
        ("500 Internal Server Error", "image input is not supported - hint: you may need to provide the mmproj"),
        ("400 Bad Request", "At most 0 image(s) may be provided in one prompt."),
        ("400 Bad Request", "m is not a multimodal model"),
        ("404 Not Found", "No endpoints found that support image input"),
        (
            "422 Unprocessable Entity",
            "Failed to deserialize the JSON body: messages[2]: unknown variant `image_url`, expected `text`",
        ),
        ("400 Bad Request", "'messages.3.content' : value must be a string"),
        ("400 Bad Request", "Invalid content type. image_url is only supported by certain models."),
        ("415 Unsupported Media Type", "This content type is not accepted"),
    ];
    for wire in Wire::ALL {
        for (status, words) in refusals {
            let server = Server::start([refusal(status, words), refusal("404 Not Found", "No such model.")]).await;
            let connection = ModelConnection::new(endpoint(wire, &server), HttpClient::new());
            assert_eq!(connection.why_no_images(), None);
            let outcome = ask_over(&connection, &conversation()).await;
            assert!(outcome.error().contains("No such model."), "{}", outcome.error());
            assert_eq!(outcome.pauses().len(), 1, "who watches is told: {:?}", outcome.told);
            assert!(outcome.pauses()[0].contains(words), "{:?}", outcome.told);
            ask_over(&connection, &conversation()).await;

            let asked: Vec<Value> = server.asked().iter().map(crate::server::Asked::json).collect();
            assert_eq!(asked.iter().map(shown).collect::<Vec<_>>(), [5, 0, 0], "{wire:?}: {words}");
            let without = asked[1].to_string();
            assert_eq!(without.matches("[1 image is not shown: this model accepts none]").count(), 3, "{without}");
            assert_eq!(without.matches("[2 images are not shown: this model accepts none]").count(), 1, "{without}");
            assert_eq!(connection.why_no_images(), Some("this model accepts none"));
        }
    }
}

#[tokio::test]
async fn an_image_that_is_refused_goes_and_those_that_were_taken_before_stay() {
    let bad = || refusal("400 Bad Request", "messages.6.content.0.image.source.base64: Could not process image");
    let server = Server::start([bad(), bad(), refusal("404 Not Found", "No such model.")]).await;
    let connection = ModelConnection::new(endpoint(Wire::Anthropic, &server), HttpClient::new());
    ask_over(&connection, &conversation()).await;
    let asked: Vec<Value> = server.asked().iter().map(crate::server::Asked::json).collect();
    assert_eq!(asked.iter().map(shown).collect::<Vec<_>>(), [5, 4, 3]);
    assert!(asked[1].to_string().contains("[1 image is not shown: refused by the provider]"), "{}", asked[1]);
    assert_eq!(connection.why_no_images(), None, "others may be taken");

    let server = Server::start([bad()]).await;
    let outcome =
        ask_over(&ModelConnection::new(endpoint(Wire::Anthropic, &server), HttpClient::new()), &conversation()).await;
    assert!(outcome.error().contains("Could not process image"), "it comes to an end: {}", outcome.error());
    assert_eq!(server.asked().len(), 4);
}

#[tokio::test]
async fn a_refusal_that_is_about_something_else_takes_no_images_away() {
    for (messages, words) in [(conversation(), "No such tool."), (vec![said("Look.")], "image input is not supported")]
    {
        let server = Server::start([refusal("400 Bad Request", words)]).await;
        let connection = ModelConnection::new(endpoint(Wire::Chat, &server), HttpClient::new());
        let outcome = ask_over(&connection, &messages).await;
        assert!(outcome.error().contains(words), "{}", outcome.error());
        assert_eq!((server.asked().len(), connection.why_no_images()), (1, None));
    }
}

#[tokio::test]
async fn images_can_be_turned_off() {
    let server = Server::start([refusal("404 Not Found", "No such model.")]).await;
    let connection = ModelConnection::new(endpoint(Wire::Chat, &server), HttpClient::new()).without_images();
    ask_over(&connection, &conversation()).await;
    let asked = server.asked().remove(0).json();
    assert_eq!(shown(&asked), 0);
    assert!(asked.to_string().contains("[2 images are not shown: images are turned off]"), "{asked}");
    assert_eq!(connection.why_no_images(), Some("images are turned off"));
}
