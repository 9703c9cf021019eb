//! Connections that commands make while they run: who is asked, what is offered, what is recorded.

use std::sync::Arc;

use haft_contract::effect::{Host, StepEffect};
use haft_contract::plan::Preview;
use haft_policy::decision::Decision;
use haft_policy::grant::GrantScope;
use haft_policy::hosts::{HostOpinion, HostSettings};
use haft_policy::policy::Policy;
use haft_runtime::asking::approval::Verdict;
use haft_runtime::record;
use haft_testkit::commands::ScriptedCommand;
use haft_testkit::corpora::parted::PartedTool;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use serde_json::{Value, json};

/// Allows `granted.example` and one port of `port.example`; `index.example` belongs to a group.
#[derive(Debug)]
struct Settings;

impl HostSettings for Settings {
    fn opinion(&self, host: &Host) -> Option<HostOpinion> {
        (host.0 == "granted.example").then(|| allowed("granted.example"))
    }

    fn at_some_port(&self, host: &Host) -> Option<HostOpinion> {
        (host.0 == "port.example").then(|| allowed("port.example:8443"))
    }

    fn group_of(&self, host: &str) -> Option<String> {
        (host == "index.example").then(|| "registries".to_owned())
    }
}

fn allowed(hosts: &str) -> HostOpinion {
    let setting = format!("[network] allow = [\"{hosts}\"]");
    HostOpinion { decision: Decision::Allow, setting, reason: "The settings list it.".to_owned() }
}

fn does(part: &str) -> StepEffect {
    match part.split_once(' ') {
        Some(("curl", host)) => StepEffect::Connect(Some(Host(host.into()))),
        _ => StepEffect::Connect(None),
    }
}

struct Commands {
    scene: Scene,
    script: ScriptedApprover,
}

impl Commands {
    fn connecting(hosts: &[(&str, u16)], answers: impl IntoIterator<Item = Verdict>) -> Self {
        let command = hosts.iter().fold(ScriptedCommand::default(), |all, (host, port)| all.connects_to(host, *port));
        let script = ScriptedApprover::of(answers);
        let policy = Policy::default().with_hosts(Arc::new(Settings));
        let scene = Scene::new().command(&command).approver(script.clone()).tool(PartedTool(does)).policy(policy);
        Self { scene, script }
    }

    async fn run(&self, command: &str) -> Value {
        record::of_result(&self.scene.call("parted", json!({ "command": command })).await)
    }
}

#[tokio::test]
async fn a_refusal_names_the_smallest_setting_and_the_group_of_the_host() {
    for (host, setting) in [
        ("api.example", "with \"haft network allow api.example\": [network] allow = [\"api.example\"]"),
        (
            "index.example",
            "with \"haft network allow registries\": [network] allow = [\"registries\"] (index.example belongs to registries)",
        ),
    ] {
        let record = Commands::connecting(&[(host, 443)], []).run("install").await;
        assert_eq!(record["network"][0]["outcome"], "refused");
        assert_eq!(record["network"][0]["decision"], "deny");
        let why = record["network"][0]["why"].as_str().expect("it says why");
        assert!(why.ends_with(setting), "{why}");
        assert_eq!(record["bits"], Value::Null);
    }
}

#[tokio::test]
async fn a_question_offers_the_host_for_the_session_and_the_line_for_ever() {
    let granted = GrantScope::Host(Host("index.example".into()));
    let commands = Commands::connecting(&[("index.example", 443)], [Verdict::AllowFor(granted.clone())]);
    let record = commands.run("install").await;
    let asked = commands.script.asked();
    assert!(asked[0].offers.iter().any(|offer| offer.scope == granted));
    let Preview::Text(text) = &asked[0].preview else { panic!("it is text") };
    assert_eq!(
        text,
        "The running command waits to connect to index.example (port 443). index.example belongs to registries."
    );
    let setting = asked[0].setting_to_paste.as_ref().expect("there is one");
    assert_eq!(setting.line, "[network] allow = [\"registries\"]");
    // It was not granted before; from now on it is.
    assert_eq!(record["bits"], json!(["untrusted", "send"]));
    assert_eq!(
        record["network"],
        json!([{ "host": "index.example", "port": 443, "connections": 1, "sent": 7, "received": 7, "decision": "allow", "outcome": "reached" }])
    );
    commands.run("install").await;
    assert_eq!(commands.script.asked().len(), 1);
}

#[tokio::test]
async fn what_the_settings_grant_is_neither_asked_about_nor_sent() {
    for command in ["install", "curl granted.example"] {
        let commands = Commands::connecting(&[("granted.example", 443)], []);
        let record = commands.run(command).await;
        assert_eq!((&record["status"], commands.script.asked().len()), (&json!("ok"), 0), "{record}");
        assert_eq!(record["bits"], json!(["untrusted"]), "{record}");
    }
}

#[tokio::test]
async fn a_yes_to_the_words_of_a_command_is_no_earlier_grant() {
    let commands = Commands::connecting(&[("api.example", 443)], [Verdict::AllowOnce]);
    let record = commands.run("curl api.example").await;
    assert_eq!(commands.script.asked().len(), 1, "once, before it runs");
    assert_eq!(record["bits"], json!(["untrusted", "send"]));
}

#[tokio::test]
async fn a_host_that_is_allowed_at_one_port_is_not_allowed_at_another_because_its_name_is_written() {
    let commands = Commands::connecting(&[("port.example", 22)], []);
    let record = commands.run("curl port.example").await;
    assert_eq!(record["network"][0]["outcome"], "refused", "{record}");
    assert_eq!(commands.script.asked().len(), 1, "only about the connection");
}
