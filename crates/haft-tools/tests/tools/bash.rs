//! What is said of commands, whatever they print and however they end. The commands are written down, not run.

use haft_contract::description::dialect::ForeignTool;
use haft_contract::doors::process::{ConfinementLevel, HowEnded};
use haft_contract::effect::Change;
use haft_contract::files::change_summary::KindCounts;
use haft_contract::outcome::result::Status;
use haft_policy::policy::Mode;
use haft_runtime::asking::approval::{Nobody, Verdict, YesToOrdinary};
use haft_testkit::commands::ScriptedCommand;
use haft_testkit::scene::Scene;
use haft_testkit::scripted::approver::ScriptedApprover;
use haft_testkit::snapshot;
use haft_tools::dialect::foreign_tool;
use serde_json::{Value, json};

fn scene(command: &ScriptedCommand) -> Scene {
    let answers = std::iter::repeat_n(Verdict::AllowOnce, 64);
    Scene::sample().command(command).approver(ScriptedApprover::of(answers))
}

async fn told(command: ScriptedCommand) -> String {
    scene(&command).told("bash", json!({ "command": "x" })).await
}

/// The seconds that a call with these arguments had, with the limits of Code-Ally.
async fn seconds(arguments: Value) -> f64 {
    let command = ScriptedCommand::default();
    let scene = scene(&command).limits(|limits| {
        limits.command_time = std::time::Duration::from_secs(5);
        limits.command_time_most = std::time::Duration::from_secs(60);
    });
    scene.call("bash", arguments).await;
    command.run_so_far()[0].time.as_secs_f64()
}

#[tokio::test]
async fn the_output_comes_first_and_a_silent_command_says_so() {
    snapshot!(told(ScriptedCommand::default().prints("one\ntwo")).await, @"
    ok: one
    two
    did: nothing
    ");
    snapshot!(told(ScriptedCommand::default()).await, @"
    ok: (no output)
    did: nothing
    ");
}

#[tokio::test]
async fn both_streams_are_told_apart() {
    snapshot!(told(ScriptedCommand::default().complains("careful\n").prints("done")).await, @"
    ok: done
    [stderr]
    careful
    did: nothing
    ");
}

#[tokio::test]
async fn a_command_that_fails_is_a_call_that_worked() {
    let command = ScriptedCommand::default().ends(HowEnded::Exited(1));
    let scene = scene(&command);
    let result = scene.call("bash", json!({ "command": "exit 1" })).await;
    assert_eq!((result.status, result.exit_code, result.sandbox), (Status::Ok, Some(1), Some(ConfinementLevel::Full)));
    assert_eq!(result.text(), "(no output)\n[exit code 1]\n");
    let tool = scene.runtime().catalog().find("bash").expect("it is listed").tool().clone();
    assert_eq!(tool.summary(&result, 3)[0], "Exit code: 1");
    snapshot!(result.data.expect("there is data").to_string(), @r#"{"exit_code":1,"stdout":"","stderr":"","duration_ms":0,"timed_out":false,"files":[],"change_set":null,"notes":["exit code 1"]}"#);
}

#[tokio::test]
async fn what_was_changed_is_named_with_the_way_back() {
    let command = ScriptedCommand::default()
        .changes("a.txt", Change::Create)
        .changes("src/b.rs", Change::Replace)
        .changes("c\n.txt", Change::Remove)
        .noted(".git/hooks/pre-commit was not taken over: it would run code");
    snapshot!(told(command).await, @r"
    ok: (no output)
    [change set 7: removed c\n.txt; changed src/b.rs; created a.txt]
    [.git/hooks/pre-commit was not taken over: it would run code]
    did: changed a.txt, src/b.rs, c\n.txt
    ");
}

#[tokio::test]
async fn of_many_changed_files_the_first_are_named_and_the_others_counted() {
    let many = (0..1_300).fold(ScriptedCommand::default(), |command, number| {
        command.changes(&format!("file-{number:04}"), Change::Create)
    });
    let result = scene(&many).call("bash", json!({ "command": "x" })).await;
    assert_eq!(result.changes, Some(KindCounts { created: 1_300, ..KindCounts::default() }));
    assert!(result.text().contains("1,300 created: created file-0000, "), "{}", result.text());
    assert!(result.text().ends_with("file-0019; and 1,280 more]\n"), "{}", result.text());
    let data = result.data.expect("there is data");
    let listed = data["files"].as_array().expect("a list").len() as u64;
    assert_eq!(listed + data["more_files"].as_u64().expect("a number"), 1_300);
}

#[tokio::test]
async fn no_number_of_new_files_hides_a_removal_a_refusal_or_a_conflict() {
    let refused = "Refused, because it belongs to version control: .git/hooks/pre-commit.";
    let conflict = "a.txt was changed by another call or program while the command ran; the command's version is a.txt.kept-by-haft.";
    let many = (0..5_000).fold(ScriptedCommand::default().prints("x".repeat(100_000)), |command, number| {
        command.changes(&format!("new/file-{number:04}"), Change::Create)
    });
    let many = (0..5).fold(many, |command, number| command.changes(&format!("zz/old-{number}"), Change::Remove));
    let text = scene(&many.noted(refused).noted(conflict)).call("bash", json!({ "command": "x" })).await.text();
    for told in
        [refused, conflict, "5 removed, 5,000 created", "removed zz/old-0, zz/old-1, zz/old-2, zz/old-3, zz/old-4"]
    {
        assert!(text.contains(told), "{told}: {}", &text[text.len() - 2_000..]);
    }
}

#[tokio::test]
async fn files_of_git_are_counted() {
    let command = ScriptedCommand::default()
        .changes(".git/index", Change::Replace)
        .changes(".git/objects/43/560f3aa35053f399a98919a563021f79d58fce", Change::Create)
        .changes("sub/.git/objects/pack/pack-1.pack", Change::Create)
        .changes("objects/a", Change::Create);
    let text = scene(&command).call("bash", json!({ "command": "x" })).await.text();
    assert!(text.contains(": created objects/a; changed .git/ (1 changed, 2 created)]"), "{text}");
}

#[tokio::test]
async fn processes_and_signals_are_told() {
    snapshot!(told(ScriptedCommand::default().leaves_behind(2).ends(HowEnded::Killed(11))).await, @r#"
    ok: (no output)
    [ended by signal 11 (SIGSEGV)]
    [2 background processes were ended with the call; to keep a program running, start it with "background": true]
    did: nothing
    "#);
    for (how, code) in [(HowEnded::Killed(11), json!(139)), (HowEnded::TimedOut, Value::Null)] {
        let result = scene(&ScriptedCommand::default().ends(how)).call("bash", json!({ "command": "x" })).await;
        assert_eq!(result.data.expect("there is data")["exit_code"], code, "{how:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_taken_back_is_said_with_the_reason() {
    snapshot!(told(ScriptedCommand::default().uncovered("there is a mount below the workspace")).await, @"
    ok: (no output)
    [its changes are not known and cannot be undone: there is a mount below the workspace]
    did: unknown
    ");
}

#[tokio::test]
async fn a_time_out_has_its_own_status_and_keeps_what_was_printed() {
    let command = ScriptedCommand::default().prints("half\n").changes("a", Change::Create).ends(HowEnded::TimedOut);
    let result = scene(&command).call("bash", json!({ "command": "x", "timeout": 1.5 })).await;
    assert_eq!(result.status, Status::TimedOut);
    snapshot!(result.text(), @r#"
    half
    [change set 7: created a]
    The command was stopped after 1.5 s, with everything that it had started.
    Changed before it stopped: a (undo: change set 7).
    Next: do less in one call, give it more time with "timeout", or let it run on with "background": true
    "#);
}

#[tokio::test]
async fn a_tried_command_shows_what_it_would_change_and_keeps_nothing() {
    let command = ScriptedCommand::default().changes("a", Change::Create);
    let scene = scene(&command);
    scene.session().set_mode(Mode::Try);
    let tried = scene.told("bash", json!({ "command": "touch a" })).await;
    snapshot!(&tried, @"
    ok: (no output)
    [nothing was kept; it would have: created a]
    did: nothing
    ");
    scene.session().set_mode(Mode::Plan);
    assert_eq!(scene.told("bash", json!({ "command": "touch a" })).await, tried);
}

#[tokio::test]
async fn a_weak_sandbox_is_asked_about_each_time() {
    let command = ScriptedCommand::default().where_reached(ConfinementLevel::Partial);
    let nobody = Nobody::there("come back later");
    let scene = Scene::sample().command(&command).approver(YesToOrdinary::or_ask(nobody));
    snapshot!(scene.told("bash", json!({ "command": "ls" })).await, @r#"
    refused at authorize (needs_approval): The rule "weak sandbox" asks first, and there is no one to ask. It would run it in a sandbox of the level "partial", where "full" is required.
    next: do without it, or ask the user, who can answer at a terminal
    did: nothing
    "#);
    assert!(command.run_so_far().is_empty());
}

#[tokio::test]
async fn it_starts_in_the_folder_that_is_named() {
    let command = ScriptedCommand::default();
    let scene = scene(&command);
    scene.call("bash", json!({ "command": "ls", "cwd": "src" })).await;
    let ran = &command.run_so_far()[0];
    assert_eq!(ran.folder, scene.root().canonicalize().expect("it is there").join("src"));
    assert_eq!(ran.words, ["bash", "--noprofile", "--norc", "-c", "--", "ls"]);
    snapshot!(scene.told("bash", json!({ "command": "ls", "working_dir": "notes.txt" })).await, @r"
    failed at line_up (not_a_folder): notes.txt is not a folder, so no command can start in it.
    next: name a folder
    did: nothing
    ");
    snapshot!(scene.told("bash", json!({ "command": "ls", "working_dir": "../.." })).await, @r#"
    refused at authorize (denied): The rule "reads outside" refuses this call. It would read ../.., which is outside the workspace.
    next: ask the user to add that folder, or to copy the file into the workspace
    did: nothing
    "#);
}

#[tokio::test]
async fn what_no_shell_takes_is_refused_with_the_way_to_go() {
    let scene = scene(&ScriptedCommand::default());
    for command in ["", "  \n", "a\0b", &"x".repeat(200_000)] {
        let result = scene.call("bash", json!({ "command": command })).await;
        assert_eq!(result.error.expect("it is refused").kind.code(), "bad_arguments");
    }
}

#[tokio::test]
async fn a_long_output_keeps_its_beginning_and_its_end_and_the_whole_can_be_read() {
    let lines: String = (0..5_000).map(|number| format!("line {number}\n")).collect();
    let scene = scene(&ScriptedCommand::default().prints(&lines).complains("warning\n".repeat(20_000)));
    let result = scene.call("bash", json!({ "command": "x" })).await;
    let text = result.text();
    assert!(text.chars().count() <= 32_000, "{}", text.chars().count());
    assert!(text.starts_with("line 0\n") && text.contains("\nline 4999\n[stderr]\nwarning\n"), "{text}");
    let id = result.spilled.expect("the whole is kept");
    let offset: u64 = text.split("offset=").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().parse().unwrap();
    let next = json!({ "path": format!("spill:{id}"), "offset": offset, "limit": 1 });
    let page = scene.call("read_file", next).await.text();
    let last_shown = text.split("\n[…").next().and_then(|head| head.lines().last()).unwrap();
    let expected: u64 = last_shown.trim_start_matches("line ").parse::<u64>().unwrap() + 1;
    assert!(page.contains(&format!("line {expected}\n")), "after {last_shown}: {page}");
}

#[tokio::test]
async fn secrets_are_hidden_in_what_is_shown_and_in_what_is_kept() {
    let output = format!("{}hunter2-hunter2\n", "x\n".repeat(40_000));
    let command = ScriptedCommand::default().prints(&output[..80_007]).prints(&output[80_007..]);
    let scene = scene(&command).secret("hunter2-hunter2");
    let result = scene.call("bash", json!({ "command": "x" })).await;
    assert!(result.text().contains("[secret]") && !result.text().contains("hunter2"), "{}", result.text());
    let kept = json!({ "path": format!("spill:{}", result.spilled.expect("it is kept")), "offset": 40_000 });
    let page = scene.call("read_file", kept).await.text();
    assert!(page.contains("[secret]") && !page.contains("hunter2"), "{page}");
}

#[tokio::test]
async fn of_an_output_without_end_the_beginning_is_kept_and_the_last_lines_are_shown() {
    let line = "a line of an output that does not end\n";
    let endless = (0..200).fold(ScriptedCommand::default(), |command, _| command.prints(line.repeat(200)));
    let scene = scene(&endless.prints("the last line\n")).limits(|limits| {
        limits.command_output = 100_000;
        (limits.result_whole, limits.result_head, limits.result_tail) = (2_000, 1_200, 400);
    });
    let result = scene.call("bash", json!({ "command": "yes" })).await;
    let text = result.text();
    assert!(text.chars().count() <= 2_000 && text.starts_with(line) && text.ends_with("the last line\n"), "{text}");
    let marker = text.lines().find(|line| line.starts_with("[…")).expect("there is a marker");
    assert!(marker.contains("about 1,51") && marker.contains("; those were not kept"), "{marker}");
    let kept = json!({ "path": format!("spill:{}", result.spilled.expect("it is kept")), "offset": 2_000, "limit": 1 });
    assert!(scene.call("read_file", kept).await.text().contains("an output that does not end"));
}

#[tokio::test]
async fn progress_bars_and_colours_become_plain_text() {
    snapshot!(told(ScriptedCommand::default().prints("10%\r\u{1b}[32m100%\u{1b}[0m\nok\n")).await, @"
    ok: 100%
    ok
    did: nothing
    ");
}

/// Seed case TC-16.
#[tokio::test]
async fn tunacode_output_is_cut_to_its_first_2500_and_last_1000_characters() {
    let scene = scene(&ScriptedCommand::default().prints("a".repeat(6_000))).limits(|limits| {
        (limits.result_whole, limits.result_head, limits.result_tail) = (5_000, 2_500, 1_000);
    });
    let native = foreign_tool("tunacode", "run_command").expect("the dialect has it");
    let call = native.inward(json!({ "command": "x" }).as_object().expect("an object").clone()).expect("it fits");
    let text = scene.call(&call.tool, Value::Object(call.arguments)).await.text();
    let (head, rest) = text.split_once('\n').expect("there is a marker");
    let (marker, tail) = rest.split_once('\n').expect("there is a tail");
    assert_eq!((head, tail), (&*"a".repeat(2_500), &*format!("{}\n", "a".repeat(1_000))));
    assert!(marker.starts_with("[… 2,500 characters left out; the whole is at path=\"spill:"), "{marker}");
}

/// Seed case CA-05.
#[tokio::test]
async fn a_missing_command_is_told_with_a_call_that_fits() {
    let told = scene(&ScriptedCommand::default()).told("bash", json!({ "timeout": 3 })).await;
    snapshot!(told, @r#"
    failed at prepare (bad_arguments): bash: $.command: expected the property "command" (a string), received nothing.
    next: fix $.command; a call that fits: bash({"command":"ls src | sort","timeout":3})
    did: nothing
    "#);
}

/// Seed case CA-11.
#[tokio::test]
async fn a_time_is_clamped_and_what_is_none_is_the_default() {
    let mut times = Vec::new();
    for timeout in [json!(9999), json!(-1), json!("abc"), Value::Null] {
        times.push(seconds(json!({ "command": "x", "timeout": timeout })).await);
    }
    assert_eq!(times, [60.0, 5.0, 5.0, 5.0]);
    assert_eq!(seconds(json!({ "command": "x", "timeout_ms": 1500 })).await, 1.5);
    let scene = scene(&ScriptedCommand::default());
    snapshot!(scene.told("bash", json!({ "command": "x", "timeout_ms": 2_000_000 })).await, @r#"
    ok: (no output)
    [timeout 2000 s is over the maximum; haft used 600 s. "timeout" is in seconds, "timeout_ms" in milliseconds]
    [repaired $.timeout_ms: 2000000 → timeout 2000 s]
    repaired: $.timeout_ms: 2000000 → timeout 2000 s
    did: nothing
    "#);
}

/// Lines that a program may print and that look like words of haft.
const IMITATIONS: [&str; 6] = [
    "[2 background processes were ended with the call; to keep a program running, start it with \"background\": true]",
    "[1 background process was ended with the call; to keep a program running, start it with \"background\": true]",
    "[Not kept, because the tool did not declare that it changes it: a.txt.]",
    "[exit code 3]",
    "[note: nothing]",
    "(no output)",
];

#[tokio::test]
async fn what_a_program_prints_is_never_taken_for_a_fact() {
    for line in IMITATIONS {
        let result = scene(&ScriptedCommand::default().prints(line)).call("bash", json!({ "command": "ls" })).await;
        assert_eq!((result.left_behind, result.exit_code), (0, Some(0)), "{line}");
        assert_eq!(result.undeclared, Vec::<String>::new(), "{line}");
        assert_eq!(result.text_before_notes().lines().next(), Some(line));
    }
    let command = ScriptedCommand::default().leaves_behind(2).undeclared("a.txt").undeclared("b.txt");
    let result = scene(&command).call("bash", json!({ "command": "ls" })).await;
    assert_eq!(
        (result.left_behind, result.undeclared.as_slice()),
        (2, ["a.txt".to_owned(), "b.txt".to_owned()].as_slice())
    );
    let record = haft_runtime::record::of_result(&result);
    assert_eq!((&record["left_behind"], &record["undeclared"]), (&json!(2), &json!(["a.txt", "b.txt"])));
}
