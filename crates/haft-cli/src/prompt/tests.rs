//! Tests how questions are shown, and which answers count.

use haft_contract::call::CallId;
use haft_contract::effect::{CommandLine, Host};
use haft_contract::plan::Preview;
use haft_policy::decision::{Class, Decision, Ruling};
use haft_policy::effect_kind::EffectReach;
use haft_policy::grant::GrantScope;
use haft_policy::hosts::setting_for;
use haft_runtime::asking::approval::{AskedCommand, AskedEffect, AskedPart};
use haft_testkit::snapshot;
use haft_workspace::state::read_config_file;
use serde_json::json;

use super::*;

fn ruling(rule: &str, reason: &str) -> Ruling {
    let (decision, class) = (Decision::Ask, Class::Ordinary);
    Ruling { decision, class, rule: rule.into(), reason: reason.into(), instead: String::new() }
}

fn offer(scope: GrantScope, earlier: &[&str]) -> Offer {
    let would_have_allowed = earlier.iter().map(|&words| words.to_owned()).collect();
    Offer { words: scope.to_string(), would_have_allowed, scope }
}

fn asked(words: &str, class: Class) -> AskedEffect {
    AskedEffect { words: words.into(), class }
}

pub(crate) fn request() -> ApprovalRequest {
    ApprovalRequest {
        call: CallId::new("1"),
        tool: "write_file".into(),
        title: "Write file".into(),
        arguments: json!({ "path": "a\u{1b}[2J" }),
        effects: vec![asked("create a\u{1b}[2J\nrm", Class::Ordinary)],
        besides: Vec::new(),
        command: None,
        preview: Preview::Text("x\u{202e}y".into()),
        ruling: ruling("changes", "It would create a."),
        offers: vec![offer(GrantScope::ChangesInside, &[])],
        is_running: false,
        rule_to_paste: None,
        setting_to_paste: None,
        reach: EffectReach::Workspace,
        can_be_undone: true,
    }
}

/// A question about a command of three parts, two of which need a yes.
pub(crate) fn command() -> ApprovalRequest {
    let text = "cargo test --workspace && rm -r build \"old notes\"; ls -la";
    let part = |part: &str, class| {
        let start = text.find(part).expect("it is a part");
        AskedPart { bytes: start..start + part.len(), class }
    };
    let parts =
        vec![part("cargo test --workspace", Class::Ordinary), part("rm -r build \"old notes\"", Class::Ordinary)];
    let around = "full sandbox, no network, can be undone".to_owned();
    ApprovalRequest {
        tool: "bash".into(),
        title: "Run a command".into(),
        arguments: json!({ "command": text }),
        effects: vec![
            asked("run the tests of the workspace", Class::Ordinary),
            asked("remove build (and everything in it), old notes (and everything in it)", Class::Ordinary),
        ],
        besides: vec!["create target".into()],
        command: Some(AskedCommand { text: text.into(), parts, around }),
        preview: Preview::Command(format!("# tests, then tidies up\n{text}")),
        ruling: ruling("code of the workspace", "It would run the tests of the workspace."),
        offers: vec![
            offer(GrantScope::Command { command: CommandLine(text.into()), folder: "".into() }, &[]),
            offer(GrantScope::Contained, &["cargo build", "rm -r target"]),
        ],
        is_running: false,
        rule_to_paste: Some("[[rule]]\nname = \"allow cargo test\"\n".into()),
        setting_to_paste: None,
        ..request()
    }
}

/// The same, where the second part needs a person's own word each time.
pub(crate) fn dangerous_command() -> ApprovalRequest {
    let mut request = command();
    request.ruling = Ruling { class: Class::Dangerous, ..ruling("careful", "It would remove build.") };
    request.effects[1].class = Class::Dangerous;
    if let Some(command) = &mut request.command {
        command.parts[1].class = Class::Dangerous;
    }
    ApprovalRequest { offers: Vec::new(), rule_to_paste: None, ..request }
}

fn answered_to(request: &ApprovalRequest, columns: usize, input: &str) -> (Verdict, String) {
    answered_with(&HostLists::of_file("/nowhere".as_ref()), request, (columns, input))
}

fn answered_with(lists: &HostLists, request: &ApprovalRequest, (columns, input): (usize, &str)) -> (Verdict, String) {
    let mut output = Vec::new();
    let paper = Paper { columns, marks: Marks::Signs };
    let verdict = paper.converse(request, &mut input.as_bytes(), &mut output, lists).expect("memory can be written");
    let shown = anstream::adapter::strip_str(&String::from_utf8_lossy(&output)).to_string();
    (verdict, shown)
}

fn answered(input: &str) -> (Verdict, String) {
    answered_to(&request(), 100, input)
}

#[test]
fn only_listed_answers_count_and_the_end_of_input_means_no() {
    assert_eq!(answered("y\n").0, Verdict::AllowOnce);
    assert_eq!(answered("1\n").0, Verdict::AllowFor(GrantScope::ChangesInside));
    assert_eq!(answered("n use b instead\n").0, Verdict::Refuse { note: Some("use b instead".into()) });
    assert_eq!(answered("s\n").0, Verdict::StopTurn);
    assert_eq!(answered("").0, Verdict::Refuse { note: None });
    assert_eq!(answered("\n\nsure\n2\n0\nyes please\ny\n").0, Verdict::AllowOnce);
}

#[test]
fn capitals_and_whole_words_are_answers_too() {
    assert_eq!((answered("Y\n").0, answered("YES\n").0), (Verdict::AllowOnce, Verdict::AllowOnce));
    assert_eq!(answered("N Not this\n").0, Verdict::Refuse { note: Some("Not this".into()) });
    assert_eq!((answered("S\n").0, answered("stop\n").0), (Verdict::StopTurn, Verdict::StopTurn));
}

#[test]
fn the_question_shows_everything_and_nothing_can_deceive() {
    let shown = answered("n\n").1;
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'));
    assert!(shown.contains("create a\\u{1b}[2J\\nrm"), "{shown}");
    let offered = "1  yes, and don't ask again for all changes to files of the workspace in this session";
    assert!(shown.contains(offered), "{shown}");
}

#[test]
fn a_question_about_a_command() {
    snapshot!(answered_to(&command(), 100, "n\n").1, @r#"
    Run a command (bash) would run:
      # tests, then tidies up
      | cargo test --workspace && rm -r build "old notes"; ls -la
        ^^^^^^^^^^^^^^^^^^^^^^    ^^^^^^^^^^^^^^^^^^^^^^^
    It would:
      run the tests of the workspace
      remove build (and everything in it), old notes (and everything in it)
      also create target
    Protection: full sandbox, no network, can be undone.
    Why you are asked: the rule "code of the workspace". It would run the tests of the workspace.
    y  yes, this once
    1  yes, and don't ask again for exactly this command in this session
    2  yes, and don't ask again for commands whose changes stay in this workspace and can be undone
       (build, test, format, create, move, delete; no network) in this session
       (would also have allowed: cargo build; rm -r target)
    n  no (you may add a message for the model: n use the other file)
    s  no, and stop
    >
    "#);
}

#[test]
fn a_question_about_a_command_in_forty_columns() {
    let shown = answered_to(&command(), 40, "n\n").1;
    assert!(shown.lines().all(|line| line.chars().count() <= 40), "{shown}");
    snapshot!(shown, @r#"
    Run a command (bash) would run:
      # tests, then tidies up
      | cargo test --workspace && rm -r buil
        ^^^^^^^^^^^^^^^^^^^^^^    ^^^^^^^^^^
      … d "old notes"; ls -la
        ^^^^^^^^^^^^^
    It would:
      run the tests of the workspace
      remove build (and everything in it),
        old notes (and everything in it)
      also create target
    Protection: full sandbox, no network,
      can be undone.
    Why you are asked: the rule "code of the
      workspace". It would run the tests of
      the workspace.
    y  yes, this once
    1  yes, and don't ask again for exactly
       this command in this session
    2  yes, and don't ask again for commands
       whose changes stay in this workspace
       and can be undone (build, test,
       format, create, move, delete; no
       network) in this session
       (would also have allowed: cargo
        build; rm -r target)
    n  no (you may add a message for the
       model: n use the other file)
    s  no, and stop
    >
    "#);
}

#[test]
fn a_dangerous_part_is_called_so_and_no_longer_yes_is_offered() {
    snapshot!(answered_to(&dangerous_command(), 100, "1\nn\n").1, @r#"
    Run a command (bash) would run:
      # tests, then tidies up
      | cargo test --workspace && rm -r build "old notes"; ls -la
        ^^^^^^^^^^^^^^^^^^^^^^    !!!!!!!!!!!!!!!!!!!!!!!
    It would:
      run the tests of the workspace
      dangerous: remove build (and everything in it), old notes (and everything in it)
      also create target
    Protection: full sandbox, no network, can be undone.
    Why you are asked: the rule "careful". It would remove build.
    y  yes, this once
    n  no (you may add a message for the model: n use the other file)
    s  no, and stop
    > Choose one of the answers above.
    >
    "#);
}

#[test]
fn the_rule_to_paste_is_shown_after_a_yes_and_only_then() {
    let after = |input: &str| answered_to(&command(), 100, input).1.contains("add this to rules.toml");
    assert_eq!(["y\n", "2\n", "n\n", "s\n", ""].map(after), [true, true, false, false, false]);
}

#[test]
fn colours_mark_the_parts_and_dangerous_ones_are_red() {
    let rows = Paper { columns: 100, marks: Marks::Colours }.question(&dangerous_command()).join("\n");
    assert!(rows.contains("\u{1b}[31m") && rows.contains("dangerous: remove build"), "{rows:?}");
    assert!(!rows.contains("^^^"), "{rows}");
}

#[test]
fn what_is_no_text_is_no_answer_and_is_asked_again() {
    let mut shown = Vec::new();
    let paper = Paper { columns: 80, marks: Marks::Signs };
    let typed = b"y\xff\n\xff\xfe\ny\n";
    let lists = HostLists::of_file("/nowhere".as_ref());
    let verdict = paper.converse(&request(), &mut &typed[..], &mut shown, &lists).expect("it can be written");
    assert_eq!(verdict, Verdict::AllowOnce);
    assert_eq!(String::from_utf8_lossy(&shown).matches("Choose one of the answers above.").count(), 2);
}

#[test]
fn always_is_an_answer_where_a_setting_would_allow_the_hosts_and_writes_it() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join("config.toml");
    let lists = HostLists::of_file(&file);
    let host = GrantScope::Host(Host("api.example".into()));
    let offers = vec![Offer { scope: host.clone(), words: "api.example".into(), would_have_allowed: Vec::new() }];
    let setting_to_paste = Some(setting_for(&["api.example"], None));
    let asked = ApprovalRequest { offers, setting_to_paste, ..request() };
    assert!(answered("a\ny\n").1.contains("Choose one of the answers above."));
    let (verdict, shown) = answered_with(&lists, &asked, (100, "a\n"));
    assert_eq!(verdict, Verdict::AllowFor(host));
    assert!(shown.contains("a  always: adds \"api.example\" to [network] allow of your config.toml"), "{shown}");
    assert!(shown.contains("now has [network] allow = [\"api.example\"]"), "{shown}");
    let written = read_config_file(&file).expect("it can be read");
    assert_eq!(written.as_deref(), Some("[network]\nallow = [\"api.example\"]\n"));
    let once = ApprovalRequest { offers: Vec::new(), ..asked };
    assert_eq!(answered_with(&lists, &once, (100, "always\n")).0, Verdict::AllowOnce);
}
