//! Collectors that are not wanted, down, slow, silent or in the way: a run is as it ever was.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use haft_model::wire::Wire;
use haft_testkit::scratch_home::CapturedOutput;
use haft_testkit::scripted::collector::{Answers, Collector};
use haft_testkit::scripted::scripted_model::{ModelScript, ScriptedModel, ScriptedTurn};

use crate::place::{Place, said};

/// Runs haft with these variables, and a model that has only one thing to say.
fn run_with(variables: &[(&str, &str)]) -> CapturedOutput {
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Yes.")]));
    let mut command = place.with(&model, Wire::Chat, &["run", "is it so?"]);
    command.envs(variables.iter().copied());
    said(command)
}

fn notes(said: &CapturedOutput) -> Vec<&str> {
    said.err.lines().filter(|line| line.contains("spans")).collect()
}

fn is_as_ever(said: &CapturedOutput) {
    assert_eq!((said.out.as_str(), said.code), ("Yes.\n", 0), "{}", said.err);
}

#[test]
fn nothing_is_sent_unless_it_is_wanted() {
    let collector = Collector::start(Answers::Taken);
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    let endpoint = (endpoint.0, endpoint.1.as_str());
    for variables in
        [&[][..], &[endpoint, ("OTEL_SDK_DISABLED", "true")], &[endpoint, ("OTEL_TRACES_EXPORTER", "none")]]
    {
        let said = run_with(variables);
        is_as_ever(&said);
        assert!(notes(&said).is_empty(), "{}", said.err);
    }
    assert!(collector.requests().is_empty());
    is_as_ever(&run_with(&[endpoint]));
    assert_eq!(collector.requests().len(), 1);
}

#[test]
fn a_collector_that_is_down_is_told_once_and_changes_nothing() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let url = format!("http://user:the-password@{}", listener.local_addr().expect("it listens"));
    drop(listener);
    let said = run_with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &url)]);
    is_as_ever(&said);
    let [note] = notes(&said)[..] else { panic!("{}", said.err) };
    assert!(note.contains("note: not all spans reached http://127.0.0.1:"), "{note}");
    assert!(note.contains("refused") && !note.contains("the-password"), "{note}");
}

#[test]
fn a_collector_that_refuses_or_sends_elsewhere_is_told_and_nobody_else_is_asked() {
    let refusing = Collector::start(Answers::Status(401));
    let said = run_with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &refusing.url())]);
    is_as_ever(&said);
    assert!(notes(&said)[0].ends_with("it answers with status 401"), "{}", said.err);

    let plain = refusing.url().replace("http://", "https://");
    let said = run_with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &plain)]);
    is_as_ever(&said);
    assert_eq!(notes(&said).len(), 1, "it does not speak TLS: {}", said.err);

    let elsewhere = Collector::start(Answers::Taken);
    let sending = Collector::start(Answers::SentTo(format!("{}/v1/traces", elsewhere.url())));
    let said = run_with(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &sending.url())]);
    is_as_ever(&said);
    assert!(notes(&said)[0].ends_with("it answers with status 307"), "{}", said.err);
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn a_collector_that_is_silent_costs_two_seconds_at_the_end_and_no_more() {
    let collector = Collector::start(Answers::Never);
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Yes.")]));
    let mut command = place.with(&model, Wire::Chat, &["run", "is it so?"]);
    let mut child = command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url()).spawn().expect("it can be started");
    let mut answer = String::new();
    BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut answer).expect("it can be read");
    assert_eq!(answer, "Yes.\n", "the answer does not wait for it");
    let said = CapturedOutput::from(child.wait_with_output().expect("it ends"));
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(notes(&said)[0].ends_with("no answer within 2 s"), "{}", said.err);
}

#[test]
fn who_does_not_want_to_wait_for_a_silent_collector_presses_ctrl_c() {
    let collector = Collector::start(Answers::Never);
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Yes.")]));
    let mut command = place.with(&model, Wire::Chat, &["run", "--json", "is it so?"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it can be started");
    let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let last = lines.map_while(Result::ok).find(|line| line.contains("\"ended\""));
    assert!(last.is_some_and(|line| line.contains("\"exit_code\":0")));
    let pid = child.id().to_string();
    let interrupt = Command::new("kill").args(["-INT", &pid]).status().expect("kill runs");
    let said = CapturedOutput::from(child.wait_with_output().expect("it ends"));
    assert!(interrupt.success());
    assert_eq!(said.code, 0, "the run was over: {}", said.err);
    // A program that waits reports that there was no answer within 2 s.
    assert!(!said.err.contains("no answer within"), "{}", said.err);
}

#[test]
fn what_cannot_be_had_is_said_before_the_run() {
    for (variables, words) in [
        (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318")][..], "does not begin with http:// or https://"),
        (
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
            "haft speaks http/protobuf and not grpc",
        ),
        (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://")], "haft sends no spans"),
    ] {
        let said = run_with(variables);
        is_as_ever(&said);
        assert!(notes(&said)[0].contains(words), "{}", said.err);
    }
}

#[test]
fn a_run_that_is_stopped_sends_what_it_has() {
    let collector = Collector::start(Answers::Taken);
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("A long answer that is held back.").held()]));
    let mut command = place.with(&model, Wire::Chat, &["run", "--json", "talk"]);
    let child = command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url()).spawn().expect("it can be started");
    model.wait_until_asked(1);
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    let said = CapturedOutput::from(child.wait_with_output().expect("it ends"));
    assert!(interrupt.success());
    assert_eq!(said.code, 130, "{}", said.err);
    let spans = collector.spans();
    let of = |name: &str| spans.iter().find(|span| span.name == name).map(|span| span.attributes["error.type"].clone());
    assert_eq!(of("invoke_agent haft"), Some("stopped".into()), "{}", said.out);
    assert_eq!(of("chat scripted"), Some("stopped".into()));
}
