//! Commands in parts: what is asked, what is offered, what a grant then covers, and what the session remembers of it.

use haft_contract::doors::process::ConfinementLevel;
use haft_contract::effect::{Change, Host, StepEffect};
use haft_contract::files::path::{Extent, FileLocation, Target};
use haft_policy::decision::{Class, Decision};
use haft_policy::effect_kind::EffectKind;
use haft_policy::grant::GrantScope;
use haft_policy::policy::Policy;
use haft_policy::rule::{Pattern, Rule};
use haft_runtime::asking::approval::{Verdict, YesToOrdinary};
use haft_runtime::events::{CallEventContent, EventKind};
use haft_runtime::record;
use haft_runtime::state::taint::Taint;
use haft_testkit::commands::ScriptedCommand;
use haft_testkit::corpora::parted::PartedTool;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use haft_testkit::snapshot;
use serde_json::json;

/// What the parts of these tests do, by their first word.
fn does(part: &str) -> StepEffect {
    let (program, rest) = part.split_once(' ').unwrap_or((part, ""));
    let inside = |path: &str| Target::Inside(FileLocation::new(path, Extent::Entry));
    match program {
        "ls" => StepEffect::List(inside("src")),
        "touch" => StepEffect::Change(inside(rest), Change::Create),
        "rm" => StepEffect::Change(inside(rest), Change::Remove),
        "cat" => StepEffect::Read(Target::Outside(FileLocation::new(rest, Extent::Entry))),
        "curl" => StepEffect::Connect(Some(Host(rest.into()))),
        "commit" => StepEffect::History("commit what is staged".into()),
        "push" => StepEffect::Publish("publish the branch".into()),
        "sudo" => StepEffect::Danger(haft_contract::effect::Danger::Rights, "gain rights".into()),
        _ => StepEffect::Code(format!("run code of the workspace: {part}")),
    }
}

struct Commands {
    scene: Scene,
    script: ScriptedApprover,
    command: ScriptedCommand,
}

impl Commands {
    fn new(answers: impl IntoIterator<Item = Verdict>) -> Self {
        Self::on(ScriptedCommand::default(), answers)
    }

    fn on(command: ScriptedCommand, answers: impl IntoIterator<Item = Verdict>) -> Self {
        let script = ScriptedApprover::of(answers);
        let scene = Scene::new().command(&command).approver(script.clone()).tool(PartedTool(does));
        Self { scene, script, command }
    }

    async fn run(&self, command: &str) -> String {
        self.scene.told("parted", json!({ "command": command })).await
    }

    fn ran(&self) -> Vec<String> {
        self.command.run_so_far().into_iter().map(|command| command.line).collect()
    }

    /// The offers of a question, by its number.
    fn offers(&self, question: usize) -> Vec<GrantScope> {
        self.script.asked()[question].offers.iter().map(|offer| offer.scope.clone()).collect()
    }
}

fn exactly(command: &str) -> GrantScope {
    GrantScope::Command { command: haft_contract::effect::CommandLine(command.into()), folder: "".into() }
}

#[tokio::test]
async fn what_only_reads_or_creates_is_never_asked_about() {
    let commands = Commands::new([]);
    for command in ["ls src", "touch new", "ls; touch new"] {
        assert!(commands.run(command).await.starts_with("ok"), "{command}");
    }
    assert!(commands.script.asked().is_empty());
}

#[tokio::test]
async fn one_yes_for_contained_commands_answers_builds_and_removals_but_no_connection() {
    let commands = Commands::new([Verdict::AllowFor(GrantScope::Contained)]);
    for command in ["cargo test", "rm build", "touch a; make; rm a"] {
        assert!(commands.run(command).await.starts_with("ok"), "{command}");
    }
    assert_eq!(commands.script.asked().len(), 1);
    for command in ["curl a.example", "make; curl a.example", "push", "commit"] {
        assert!(commands.run(command).await.starts_with("refused at authorize (needs_approval)"), "{command}");
    }
    assert!(commands.run("sudo make").await.starts_with("refused at authorize (denied)"));
    assert_eq!(commands.ran(), ["cargo test", "rm build", "touch a; make; rm a"]);
}

#[tokio::test]
async fn a_compound_command_is_one_question_with_its_parts_and_one_answer() {
    let both = GrantScope::Several(vec![GrantScope::Contained, GrantScope::History]);
    let commands = Commands::new([Verdict::AllowFor(both.clone())]);
    assert!(commands.run("make; ls; commit").await.starts_with("ok"));
    assert!(commands.run("commit").await.starts_with("ok"));
    assert!(commands.run("rm a").await.starts_with("ok"));
    let asked = commands.script.asked();
    assert_eq!(asked.len(), 1);
    let command = asked[0].command.as_ref().expect("it is about a command");
    let parts: Vec<&str> = command.parts.iter().map(|part| &command.text[part.bytes.clone()]).collect();
    assert_eq!(parts, ["make", "commit"]);
    assert_eq!(command.around, "full sandbox, no network, can be undone");
    let effects: Vec<&str> = asked[0].effects.iter().map(|effect| effect.words.as_str()).collect();
    assert_eq!(effects, ["run code of the workspace: make", "commit what is staged"]);
    assert_eq!(commands.offers(0), [exactly("make; ls; commit"), both]);
    assert_eq!(commands.scene.session().grants(), [GrantScope::Contained, GrantScope::History]);
}

#[tokio::test]
async fn an_offer_names_earlier_questions_that_it_would_have_answered() {
    let commands = Commands::new(std::iter::repeat_n(Verdict::AllowOnce, 8));
    for command in ["cargo test", "curl a.example", "rm build", "cargo test", "make"] {
        assert!(commands.run(command).await.starts_with("ok"), "{command}");
    }
    let asked = commands.script.asked();
    let named = |question: usize| -> Vec<Vec<String>> {
        asked[question].offers.iter().map(|offer| offer.would_have_allowed.clone()).collect()
    };
    assert_eq!(named(0), [vec![""; 0], vec![]]);
    assert_eq!(named(1), [vec![""; 0], vec![]], "a connection would have answered no build");
    assert_eq!(named(2), [vec![], vec!["cargo test"]]);
    assert_eq!(named(4), [vec![], vec!["cargo test", "rm build"]]);
}

#[tokio::test]
async fn where_commands_are_not_contained_even_creating_is_asked_and_no_wide_grant_is_offered() {
    let places = [
        (
            ScriptedCommand::default().with_network(),
            "full sandbox, with the network, to any host, changes to files can be undone, sent data cannot",
        ),
        (ScriptedCommand::default().uncovered("a mount"), "full sandbox, no network, cannot be undone: a mount"),
        (
            ScriptedCommand::default().where_reached(ConfinementLevel::Partial),
            "partial sandbox, no network, cannot be undone",
        ),
    ];
    for (command, around) in places {
        let commands = Commands::on(command, [Verdict::AllowOnce, Verdict::AllowOnce]);
        // The grant was given elsewhere, say.
        commands.scene.session().grant(GrantScope::Contained);
        assert!(commands.run("touch new").await.starts_with("ok"), "{around}");
        assert!(commands.run("make").await.starts_with("ok"), "{around}");
        assert!(commands.run("ls").await.starts_with("ok"), "{around}");
        let asked = commands.script.asked();
        assert_eq!(asked.len(), 2, "{around}");
        assert_eq!(asked[0].ruling.rule, "not contained");
        assert_eq!(asked[1].command.as_ref().map(|command| command.around.as_str()), Some(around));
        assert_eq!((commands.offers(0), commands.offers(1)), (vec![exactly("touch new")], vec![exactly("make")]));
    }
}

#[tokio::test]
async fn a_command_that_nobody_was_asked_about_is_not_run_without_a_layer() {
    let command = ScriptedCommand::default().found_uncovered("the kernel refuses layers here");
    let commands = Commands::on(command, [Verdict::AllowOnce]);
    commands.scene.session().grant(GrantScope::Contained);
    snapshot!(commands.run("make").await, @"
    refused at execute (needs_approval): The changes of this command could not be undone: the kernel refuses layers here. The command was not run.
    next: call it again: haft now knows this and asks the user
    did: nothing
    ");
    assert!(commands.run("touch new").await.starts_with("refused at execute (needs_approval)"));
    assert!(commands.ran().is_empty());
    assert!(commands.run("ls").await.starts_with("ok"), "what only reads needs no undo");
}

#[tokio::test]
async fn a_yes_to_what_can_be_undone_is_none_to_running_without_a_layer() {
    let command = ScriptedCommand::default().found_uncovered("the kernel refuses layers here");
    for verdict in [Verdict::AllowOnce, Verdict::AllowFor(GrantScope::Contained)] {
        let commands = Commands::on(command.clone(), [verdict]);
        let told = commands.run("make").await;
        assert!(
            told.starts_with("refused at execute (needs_approval): The changes of this command could not"),
            "{told}"
        );
        assert!(commands.ran().is_empty());
    }
    let known = ScriptedCommand::default().uncovered("the kernel refuses layers here");
    let commands = Commands::on(known, [Verdict::AllowOnce]);
    assert!(commands.run("make").await.starts_with("ok"), "who was told that it cannot be undone said yes to that");
}

#[tokio::test]
async fn the_refusal_has_the_rule_that_would_allow_it_for_ever() {
    let commands = Commands::new([]);
    let result = commands.scene.call("parted", json!({ "command": "cargo test --all" })).await;
    let record = record::of_result(&result);
    let rule = record["error"]["recovery"][0].as_str().expect("there is one").to_owned();
    assert!(rule.contains("program = \"cargo test\"") && rule.contains("decision = \"allow\""), "{rule}");
    let detail = result.error.and_then(|error| error.detail.clone()).unwrap_or_default();
    assert!(detail.contains(rule.trim_end()), "{detail}");
    assert_eq!(commands.script.asked()[0].rule_to_paste.as_deref(), Some(rule.as_str()));
}

#[tokio::test]
async fn a_secret_in_a_command_is_neither_shown_nor_made_a_rule() {
    let script = ScriptedApprover::of([]);
    let command = ScriptedCommand::default();
    let scene = Scene::new().command(&command).approver(script.clone()).secret("hunter2hunter2").tool(PartedTool(does));
    scene.call("parted", json!({ "command": "deploy hunter2hunter2; make" })).await;
    let asked = script.asked();
    let offers: Vec<&String> = asked[0].offers.iter().map(|offer| &offer.words).collect();
    let shown = format!("{:?} {:?} {offers:?} {:?}", asked[0].effects, asked[0].command, asked[0].preview);
    assert!(shown.contains("[secret]") && !shown.contains("hunter2"), "{shown}");
    assert_eq!(asked[0].rule_to_paste, None);
    assert_eq!(asked[0].command.as_ref().map(|command| command.text.as_str()), Some("deploy [secret]; make"));
}

#[tokio::test]
async fn the_dangerous_class_offers_nothing_and_has_no_rule() {
    let careful = Rule {
        name: "careful".into(),
        matches: Pattern::Effect(EffectKind::CommandRunsCode),
        decision: Decision::Ask,
        class: Class::Dangerous,
        reason: "It would {}.".into(),
        instead: "ask the user".into(),
    };
    let (command, script) =
        (ScriptedCommand::default(), ScriptedApprover::of([Verdict::AllowOnce, Verdict::AllowOnce]));
    let scene = Scene::new().command(&command).approver(script.clone()).tool(PartedTool(does));
    let scene = scene.policy(Policy::default().with_rules([careful]));
    scene.session().grant(GrantScope::Contained);
    scene.session().grant(exactly("make; rm a"));
    scene.call("parted", json!({ "command": "make; rm a" })).await;
    let asked = script.asked();
    assert_eq!((asked[0].offers.len(), asked[0].rule_to_paste.as_deref()), (0, None));
    let classes: Vec<Class> = asked[0].effects.iter().map(|effect| effect.class).collect();
    assert_eq!(classes, [Class::Dangerous], "what was granted is not asked about");
}

#[tokio::test]
async fn sticky_bits_come_from_calls_that_ran_and_stay_until_the_session_forgets() {
    let commands = Commands::new(std::iter::repeat_n(Verdict::AllowOnce, 2));
    let scene = &commands.scene;
    let mut told = scene.runtime().events().subscribe_only(EventKind::BitSet);
    let result = scene.call("parted", json!({ "command": "ls src" })).await;
    assert_eq!(record::of_result(&result).get("bits"), None);
    let result = scene.call("parted", json!({ "command": "cat /srv/notes" })).await;
    assert_eq!(record::of_result(&result)["bits"], json!(["private"]));
    scene.session().grant(GrantScope::Host(Host("granted.example".into())));
    commands.run("curl granted.example").await;
    assert_eq!(scene.session().bits(), [Taint::Private, Taint::Untrusted]);
    let result = scene.call("parted", json!({ "command": "push" })).await;
    assert_eq!(record::of_result(&result)["bits"], json!(["private", "untrusted", "send"]));
    commands.run("curl other.example").await;
    let events: Vec<_> = std::iter::from_fn(|| told.try_next()).collect();
    let bit = |event: &haft_runtime::events::CallEvent| match event.what {
        CallEventContent::BitSet(bit) => Some(bit),
        _ => None,
    };
    let bits: Vec<Taint> = events.iter().filter_map(bit).collect();
    assert_eq!(bits, [Taint::Private, Taint::Untrusted, Taint::Send], "each is told once");
    assert_eq!(record::of_event(&events[0])["bit"], "private");
    scene.session().forget();
    assert_eq!(scene.session().bits(), []);
}

#[tokio::test]
async fn a_call_that_did_not_run_sets_no_bit() {
    let commands = Commands::new([]);
    for command in ["cat /srv/notes", "curl other.example"] {
        assert!(commands.run(command).await.starts_with("refused"), "{command}");
    }
    assert_eq!(commands.scene.session().bits(), []);
}

#[tokio::test]
async fn a_yes_to_what_undo_can_take_back_covers_a_command_only_with_a_layer_and_nothing_that_leaves_the_machine() {
    let full = ScriptedCommand::default;
    let undoable = ["make", "rm build", "commit", "make; rm a", "touch new"];
    let lasting = ["curl a.example", "push", "make; push", "touch new; curl a.example"];
    for (around, has_layer) in
        [(full(), true), (full().uncovered("a mount"), false), (full().where_reached(ConfinementLevel::Partial), false)]
    {
        let answers = |given: YesToOrdinary<ScriptedApprover>| {
            let scene = Scene::new().command(&around).approver(given).tool(PartedTool(does));
            async move {
                let mut allowed = Vec::new();
                for command in undoable.into_iter().chain(lasting) {
                    let told = scene.told("parted", json!({ "command": command })).await;
                    if told.starts_with("ok") {
                        allowed.push(command);
                    } else {
                        assert!(told.starts_with("refused at authorize (needs_approval)"), "{told}");
                        let hint = "--yes covers only what \"haft undo\" can take back; --yes=all covers the rest.";
                        assert!(told.contains(hint), "{told}");
                    }
                }
                allowed
            }
        };
        let wanted: &[&str] = if has_layer { &undoable } else { &[] };
        assert_eq!(answers(YesToOrdinary::if_undoable(ScriptedApprover::of([]))).await, wanted);
        let all: Vec<&str> = undoable.into_iter().chain(lasting).collect();
        assert_eq!(answers(YesToOrdinary::or_ask(ScriptedApprover::of([]))).await, all);
    }
}
