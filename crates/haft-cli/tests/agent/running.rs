//! What `haft run` prints, where, and how it ends.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use haft_model::wire::Wire;
use haft_testkit::scratch_home::{CapturedOutput, records};
use haft_testkit::scripted::scripted_model::{
    ConversationEntry as Spoken, Expect, Fault, ModelScript, ScriptedModel, ScriptedStopReason, ScriptedTurn, Usage,
};
use rustix::process::Signal;
use serde_json::json;

use crate::place::{KEY, Place, said};

fn write(name: &str) -> ScriptedTurn {
    ScriptedTurn::call("write_file", json!({ "path": name, "content": "new\n" }))
}

#[test]
fn stdout_has_the_final_answer_and_nothing_else_in_every_form() {
    for wire in Wire::ALL {
        let place = Place::new();
        let look = ScriptedTurn::text("First I look. ").and_call("read_file", json!({ "path": "a.txt" }));
        let model = ScriptedModel::start(ModelScript::of([look, ScriptedTurn::text("It has two lines.")]));
        let said = said(place.with(&model, wire, &["run", "how long is a.txt?"]));
        assert_eq!((said.out.as_str(), said.code), ("It has two lines.\n", 0), "{}", said.err);
        assert!(said.err.contains("• read_file a.txt ("), "{}", said.err);
        assert!(said.err.contains("2 steps, ") && said.err.contains("read_file 1× "), "{}", said.err);
        model.assert_told();
    }
}

#[test]
fn the_task_may_come_from_stdin() {
    for arguments in [&["run", "-"][..], &["run"]] {
        let place = Place::new();
        let model =
            ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Yes.").expect(Expect::user_says("is it so?"))]));
        let mut child =
            place.with(&model, Wire::Chat, arguments).stdin(Stdio::piped()).spawn().expect("it can be started");
        child.stdin.take().expect("it is piped").write_all(b"is it so?\n").expect("it reads");
        let said = CapturedOutput::from(child.wait_with_output().expect("it ends"));
        assert_eq!((said.out.as_str(), said.code), ("Yes.\n", 0), "{}", said.err);
    }
    let place = Place::new();
    let empty = said(place.bare(&["run"]));
    assert_eq!(empty.code, 2);
    assert!(empty.err.contains("the task is empty"), "{}", empty.err);
}

#[test]
fn records_come_one_by_one_with_the_result_as_every_program_gets_it() {
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([write("b.txt"), ScriptedTurn::text("Done.")]));
    let said = place.haft(&model, &["run", "--yes", "--json", "write b.txt"]);
    let records = records(&said.out);
    let events: Vec<&str> =
        records.iter().map(|record| record["event"].as_str().expect("each says what it is")).collect();
    assert_eq!(events, ["session", "replied", "call", "result", "text", "replied", "ended"], "{}", said.out);
    let result = &records[3];
    assert_eq!(
        (&result["status"], &result["did"], &result["files"]),
        (&json!("ok"), &json!("changed"), &json!(["b.txt"]))
    );
    let end = &records[6];
    assert_eq!((&end["how"], &end["answer"], &end["exit_code"]), (&json!("finished"), &json!("Done."), &json!(0)));
    assert_eq!(end["session"], records[0]["id"]);
    assert!(place.has("b.txt"));
}

#[test]
fn where_nobody_is_an_ask_is_a_refusal_and_both_are_told_what_would_allow_it() {
    let place = Place::new();
    let told = ScriptedTurn::text("I may not.").expect(Expect::tool_result_contains("there is no one to ask"));
    let run = ScriptedTurn::call("bash", json!({ "command": "curl https://example.org" }));
    let model = ScriptedModel::start(ModelScript::of([write("b.txt"), run, told]));
    let said = place.haft(&model, &["run", "write"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("refused: needs_approval"), "{}", said.err);
    assert!(said.err.contains("run it with --yes"), "{}", said.err);
    let read = model.requests().last().expect("it was asked").text.clone();
    assert!(read.contains("ask the user to allow it") && !read.contains("--yes"), "{read}");
    assert!(said.err.contains("tool = \"write_file\"\neffect = \"change\""), "{}", said.err);
    assert!(!place.has("b.txt"));
    model.assert_told();

    // And that rule does allow it, and nothing else.
    let rule = said.err.split("[[rule]]").nth(1).and_then(|rest| rest.split("effect = \"change\"").next());
    let rule = format!("[[rule]]{}effect = \"change\"\n", rule.expect("it is shown"));
    std::fs::create_dir_all(place.path("home/.config/haft")).expect("it can be made");
    std::fs::write(place.path("home/.config/haft/rules.toml"), rule).expect("it can be written");
    let edit = ScriptedTurn::call("write_file", json!({ "path": ".git/hooks/post-commit", "content": "x" }));
    let model = ScriptedModel::start(ModelScript::of([write("b.txt"), edit, ScriptedTurn::text("Done.")]));
    let said = place.haft(&model, &["run", "write"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(place.has("b.txt") && !place.has(".git/hooks/post-commit"), "{}", said.err);
}

#[test]
fn plan_changes_nothing_and_the_model_knows() {
    let place = Place::new();
    let expect = Expect { instructions_contain: vec!["wants a plan".into()], ..Expect::default() };
    let model =
        ScriptedModel::start(ModelScript::of([write("b.txt").expect(expect), ScriptedTurn::text("This I would do.")]));
    let said = place.haft(&model, &["run", "--plan", "--yes", "write"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!place.has("b.txt"));
}

#[test]
fn tools_have_the_names_of_the_dialect() {
    let place = Place::new();
    let expect = Expect { tools_include: vec!["run_shell_command".into()], ..Expect::default() };
    let call = ScriptedTurn::call("run_shell_command", json!({ "command": "cat a.txt" })).expect(expect);
    let model = ScriptedModel::start(ModelScript::of([call, ScriptedTurn::text("Done.")]));
    let said = place.haft(&model, &["--dialect", "nexau", "run", "--yes", "look"]);
    assert_eq!((said.out.as_str(), said.code), ("Done.\n", 0), "{}", said.err);
}

#[test]
fn the_exit_code_says_how_it_ended() {
    let ends = |script: ModelScript, arguments: &[&str]| {
        let place = Place::new();
        let model = ScriptedModel::start(script);
        let said = place.haft(&model, arguments);
        assert_eq!(said.out, "", "there is no final answer");
        (said.code, said.err)
    };
    let (code, err) = ends(ModelScript::of([write("b.txt"), write("c.txt")]), &["run", "--max-steps", "1", "x"]);
    assert_eq!(code, 1);
    assert!(err.contains("Stopped after 1 step") && err.contains("To continue: haft resume "), "{err}");
    let (code, err) =
        ends(ModelScript::of([ScriptedTurn::text("No.").stop(ScriptedStopReason::Refused)]), &["run", "x"]);
    assert_eq!((code, err.contains("refused")), (3, true), "{err}");
    let denied = ModelScript::of([ScriptedTurn::text("").fault(Fault::status(401))]);
    let (code, err) = ends(denied, &["run", "x"]);
    assert_eq!(code, 1, "{err}");
    let (code, err) = ends(ModelScript::of([]), &["run", "--max-steps", "0", "x"]);
    assert_eq!(code, 2, "{err}");
}

#[test]
fn a_model_that_cannot_be_reached_exits_1_and_says_where() {
    let place = Place::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = listener.local_addr().expect("it listens");
    drop(listener);
    let mut command = place.bare(&["run", "--model", "m", "--base-url", &format!("http://{address}/v1"), "x"]);
    command.env("HAFT_API_KEY", KEY);
    let said = said(command);
    assert_eq!((said.out.as_str(), said.code), ("", 1), "{}", said.err);
    assert!(said.err.contains(&address.to_string()) && said.err.contains("cannot be reached"), "{}", said.err);
}

#[test]
fn the_key_is_in_no_output_no_session_and_no_child() {
    let place = Place::new();
    let look = ScriptedTurn::call("bash", json!({ "command": "env" }));
    let model = ScriptedModel::start(ModelScript::of([look, ScriptedTurn::text("Done.")]));
    let said = place.haft(&model, &["run", "--yes", "--json", "look"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!said.out.contains(KEY) && !said.err.contains(KEY), "{}", said.out);
    assert!(said.out.contains("PATH="), "the command ran: {}", said.out);
    assert_eq!(model.requests()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert!(!model.requests()[1].text.contains(KEY));
    let found =
        std::process::Command::new("grep").args(["-rl", KEY]).arg(place.path("home")).output().expect("grep runs");
    assert!(found.stdout.is_empty(), "{}", String::from_utf8_lossy(&found.stdout));
}

#[test]
fn a_secret_that_a_model_writes_into_a_call_is_shown_nowhere() {
    let place = Place::new();
    let tell = || ScriptedTurn::call("bash", json!({ "command": format!("echo {} {KEY}", "x".repeat(40)) }));
    for how in [&["run", "--yes", "--json", "x"][..], &["run", "--yes", "x"]] {
        let model = ScriptedModel::start(ModelScript::of([tell(), ScriptedTurn::text("Done.")]));
        let said = place.haft(&model, how);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.out.contains("[secret]") || said.err.contains("[secret]"), "{}{}", said.out, said.err);
        assert!(!said.out.contains("sk-canary") && !said.err.contains("sk-canary"), "{}{}", said.out, said.err);
    }
}

#[test]
fn what_a_model_says_when_it_refuses_is_read_by_whoever_asked() {
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([
        ScriptedTurn::text("That would hurt somebody.").stop(ScriptedStopReason::Refused)
    ]));
    let said = place.haft(&model, &["run", "x"]);
    assert_eq!((said.code, said.out.as_str()), (3, ""), "{}", said.err);
    assert!(said.err.contains("That would hurt somebody."), "{}", said.err);
}

#[test]
fn the_first_request_has_at_most_10_kb_in_each_form() {
    for wire in Wire::ALL {
        let place = Place::new();
        let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Done.")]));
        assert_eq!(said(place.with(&model, wire, &["run", "What is in this folder?"])).code, 0);
        let sent = model.requests()[0].text.len();
        assert!((5_000..=10_000).contains(&sent), "{}: {sent}", wire.name());
    }
}

#[test]
fn however_many_skills_there_are_they_add_at_most_2_kb_to_the_first_request() {
    for wire in Wire::ALL {
        let first = |place: &Place| {
            let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Done.")]));
            assert_eq!(said(place.with(&model, wire, &["run", "What is in this folder?"])).code, 0);
            model.requests()[0].text.clone()
        };
        let place = Place::new();
        let without = first(&place).len();
        for number in 0..60 {
            let text = format!("---\nname: skill-{number}\ndescription: {}\n---\nDo it.\n", "word ".repeat(150));
            place.put(&format!("home/.config/haft/skills/skill-{number}/SKILL.md"), &text);
        }
        let with = first(&place);
        assert!(with.contains("skill-0: word word") && with.contains(" more: call this tool"), "{with}");
        assert!(with.len() <= without + 2_000, "{}: {without} and {}", wire.name(), with.len());
    }
}

#[test]
fn words_for_agents_are_told_when_they_are_trusted_and_else_it_is_said() {
    let place = Place::new();
    place.put("ws/AGENTS.md", "Always whisper.\n");
    place.put("home/.config/haft/AGENTS.md", "Be brief.\n");
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("a"), ScriptedTurn::text("b")]));
    let first = place.haft(&model, &["run", "x"]);
    assert!(first.err.contains("not trusted, so haft does not load AGENTS.md"), "{}", first.err);
    let second = place.haft(&model, &["run", "--trust", "x"]);
    assert_eq!(second.code, 0, "{}", second.err);
    let told: Vec<String> = model.requests().iter().map(|asked| asked.conversation.instructions.clone()).collect();
    assert!(told[0].contains("Be brief.") && !told[0].contains("Always whisper."), "{}", told[0]);
    assert!(told[1].contains("Be brief.") && told[1].contains("Always whisper."), "{}", told[1]);
}

#[test]
fn an_interrupt_in_the_stream_ends_with_130_and_the_session_goes_on() {
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("A long answer that is held back.").held()]));
    let child = place.with(&model, Wire::Anthropic, &["run", "--json", "talk"]).spawn().expect("it can be started");
    model.wait_until_asked(1);
    let said = interrupted(child, "session");
    assert_eq!(said.code, 130, "{}", said.err);
    let end = records(&said.out).pop().expect("it says how it ended");
    assert_eq!(end["how"], "stopped");

    let next =
        ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Here I am.").expect(Expect::user_says("and now?"))]));
    let resumed = place.haft(&next, &["resume", "and now?"]);
    assert_eq!((resumed.out.as_str(), resumed.code), ("Here I am.\n", 0), "{}", resumed.err);
}

#[test]
fn an_interrupt_in_a_call_stops_it_and_the_call_has_its_answer() {
    let place = Place::new();
    let wait = ScriptedTurn::call("bash", json!({ "command": "echo begun > begun.txt; tail -f /dev/null" }));
    let model = ScriptedModel::start(ModelScript::of([wait]));
    let child = place.with(&model, Wire::Chat, &["run", "--yes", "--json", "wait"]).spawn().expect("it can be started");
    let said = interrupted(child, "call");
    assert_eq!(said.code, 130, "{}", said.err);

    let next = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("I see.")]));
    let resumed = place.haft(&next, &["resume", "what happened?"]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    let requests = next.requests();
    let results = requests[0].conversation.said.iter().filter_map(|said| match said {
        Spoken::Results(results) => Some(results.len()),
        _ => None,
    });
    assert_eq!(results.sum::<usize>(), 1, "{}", requests[0].text);
}

#[test]
fn a_name_adds_no_line_to_what_is_told_of_the_calls() {
    let place = Place::new();
    let forged = ScriptedTurn::call("read_file a.txt (0.0 s)\n• bash cargo test", json!({}));
    let long = ScriptedTurn::call(&"n".repeat(3_000), json!({}));
    let model = ScriptedModel::start(ModelScript::of([forged, long, ScriptedTurn::text("Done.")]));
    let said = place.haft(&model, &["run", "look"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("• read_file a.txt (0.0 s)\\n• bash"), "{}", said.err);
    for line in said.err.lines() {
        assert!(!line.starts_with("• bash") && line.chars().count() <= 400, "{line}");
    }
}

#[test]
fn words_behind_a_link_are_told_and_what_is_left_out_has_a_reason() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    place.put("ws/CLAUDE.md", "Always whisper.\n");
    symlink("CLAUDE.md", place.path("ws/AGENTS.md")).expect("a link can be made");
    let run = |flags: &[&str]| {
        let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("1")]));
        let arguments: Vec<&str> = flags.iter().copied().chain(["run", "x"]).collect();
        let said = place.haft(&model, &arguments);
        assert_eq!(said.code, 0, "{}", said.err);
        (model.requests()[0].conversation.instructions.contains("Always whisper."), said.err)
    };
    let (was_told, err) = run(&[]);
    assert!(!was_told && err.contains("not trusted, so haft does not load AGENTS.md"), "{err}");
    assert!(run(&["--trust"]).0);
    let trusted = said(place.bare(&["trust"]));
    assert_eq!(trusted.code, 0, "{}", trusted.err);
    assert!(trusted.out.contains("words  AGENTS.md"), "{}", trusted.out);
    assert!(run(&[]).0);

    std::fs::remove_file(place.path("ws/AGENTS.md")).expect("it is there");
    place.put("elsewhere.md", "Always whisper.\n");
    symlink("../elsewhere.md", place.path("ws/AGENTS.md")).expect("a link can be made");
    let why = "it is a link that leads out of the workspace";
    for flags in [&["--trust"][..], &[]] {
        let (was_told, err) = run(flags);
        assert!(!was_told && err.contains(&format!("note: AGENTS.md is not loaded: {why}\n")), "{err}");
    }
    let refused = said(place.bare(&["trust"]));
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains(&format!("AGENTS.md is not trusted: {why}\n")), "{}", refused.err);
    assert!(!refused.err.contains("haft looks for"), "{}", refused.err);
}

#[test]
fn a_provider_may_count_as_it_likes() {
    let place = Place::new();
    let most = Usage { input: u64::MAX - 1, output: u64::MAX - 1, ..Usage::default() };
    let look = || ScriptedTurn::call("read_file", json!({ "path": "a.txt" })).usage(most);
    let model = ScriptedModel::start(ModelScript::of([look(), ScriptedTurn::text("Much.").usage(most)]));
    let said = place.haft(&model, &["run", "--json", "look"]);
    let end = records(&said.out).pop().expect("it says how it ended");
    assert_eq!((&end["usage"]["input"], &end["usage"]["output"]), (&json!(u64::MAX), &json!(u64::MAX)), "{}", said.err);
    let sessions = place.sessions();
    assert_eq!(sessions[0]["input_tokens"], json!(u64::MAX));
    let listed = crate::place::said(place.bare(&["sessions"]));
    assert!(listed.out.contains("18,446,744,073,709,551,615 tokens"), "{}", listed.out);

    let model = ScriptedModel::start(ModelScript::of([look()]));
    let said = place.haft(&model, &["run", "--json", "--max-tokens", "1000", "look"]);
    assert_eq!(records(&said.out).pop().expect("it says how it ended")["how"], "out_of_budget");
}

#[test]
fn whoever_ends_services_and_a_closing_terminal_stop_it_in_good_order() {
    for signal in [Signal::TERM, Signal::HUP] {
        let place = Place::new();
        let wait = ScriptedTurn::call("bash", json!({ "command": "echo begun > begun.txt; tail -f /dev/null" }));
        let model = ScriptedModel::start(ModelScript::of([wait]));
        let mut command = place.with(&model, Wire::Chat, &["run", "--yes", "--json", "wait"]);
        hears_hang_up(&mut command);
        let said = signalled(command.spawn().expect("it can be started"), "call", signal);
        assert_eq!(said.code, 130, "{signal:?}: {}", said.err);
        let end = records(&said.out).pop().expect("it says how it ended");
        assert_eq!((&end["event"], &end["how"]), (&json!("ended"), &json!("stopped")), "{signal:?}");

        let next = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("I see.")]));
        let resumed = place.haft(&next, &["resume", "what happened?"]);
        assert_eq!(resumed.code, 0, "{signal:?}: {}", resumed.err);
        assert!(!resumed.err.contains("ended during"), "its call has an answer: {}", resumed.err);
    }
}

#[test]
fn the_script_of_the_guide_is_told_to_its_end_in_each_form() {
    let guide = include_str!("../../../../docs/guide/scripted-model.md");
    let script = guide.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("it has a script");
    for wire in Wire::ALL {
        let place = Place::new();
        place.put("ws/a.txt", "these are four words\n");
        let model = ScriptedModel::start(ModelScript::from_yaml(script).expect("it is a script"));
        let said = crate::place::said(place.with(&model, wire, &["run", "count the words in a.txt"]));
        assert_eq!((said.out.as_str(), said.code), ("There are four.\n", 0), "{wire:?}: {}", said.err);
        assert_eq!((model.take_misfits(), model.turns_left()), (Vec::new(), 0), "{wire:?}");
    }
}

#[test]
fn a_run_that_shall_outlive_its_terminal_does() {
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Still here.").held()]));
    let haft = place.with(&model, Wire::Chat, &["run", "--json", "talk"]);
    let mut command = std::process::Command::new("nohup");
    command.arg(haft.get_program()).args(haft.get_args()).current_dir(place.path("ws")).env_clear();
    command.envs(haft.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("nohup can be started");
    model.wait_until_asked(1);
    let id = child.id();
    signal(id, Signal::HUP);
    model.release_all();
    let said = CapturedOutput::from(child.wait_with_output().expect("it ends"));
    assert_eq!(said.code, 0, "{}", said.err);
}

#[test]
fn records_for_which_there_is_no_room_are_a_failure_that_is_told() {
    let place = Place::new();
    for arguments in [&["run", "--json", "talk"][..], &["run", "talk"]] {
        let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Something.")]));
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("it is always there");
        let mut command = place.with(&model, Wire::Chat, arguments);
        command.stdout(full);
        let said = said(command);
        assert_eq!(said.code, 1, "{arguments:?}: {}", said.err);
        assert!(said.err.contains("haft: stdout cannot be written: No space left on device"), "{}", said.err);
    }
}

/// Lets a command hear that its terminal closes, also where the tests themselves are run by `nohup`.
#[allow(unsafe_code, reason = "there is no safe way to change what a child ignores")]
fn hears_hang_up(command: &mut std::process::Command) {
    // SAFETY: the call is one that is allowed between fork and exec, and installs no handler.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGHUP, libc::SIG_DFL);
            Ok(())
        });
    }
}

/// Interrupts a command as soon as it has told this event, and waits for its end.
pub fn interrupted(child: std::process::Child, event: &str) -> CapturedOutput {
    signalled(child, event, Signal::INT)
}

fn signal(process: u32, signal: Signal) {
    let id = i32::try_from(process).expect("it is a process");
    rustix::process::kill_process(rustix::process::Pid::from_raw(id).expect("it runs"), signal).expect("it is ours");
}

/// Sends a signal to a command as soon as it has told this event, and waits for its end.
fn signalled(mut child: std::process::Child, event: &str, sent: Signal) -> CapturedOutput {
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
    let mut out = String::new();
    let wanted = format!("\"event\":\"{event}\"");
    for line in lines.by_ref() {
        out.push_str(&line);
        out.push('\n');
        if line.contains(&wanted) {
            break;
        }
    }
    signal(child.id(), sent);
    lines.for_each(|line| {
        out.push_str(&line);
        out.push('\n');
    });
    let mut said = CapturedOutput::from(child.wait_with_output().expect("it ends"));
    said.out = out;
    said
}

#[test]
fn a_provider_that_stays_silent_is_given_up_after_the_second_time_and_nothing_is_said_of_waiting() {
    let place = Place::new();
    place.put("home/.config/haft/config.toml", "[model]\nidle_seconds = 1\n");
    let silent = ScriptedTurn::text("Never.").fault(Fault::HangBeforeHeaders).fault(Fault::HangAfterEvents(0));
    let model = ScriptedModel::start(ModelScript::of([silent]));
    let said = place.haft(&model, &["run", "are you there?"]);
    assert_eq!((said.code, model.requests().len()), (4, 2), "{}", said.err);
    assert!(said.err.contains("The provider sent nothing for 1 s. haft tried 2 times."), "{}", said.err);
    assert!(!said.err.contains("waiting for the model"), "{}", said.err);
}

#[test]
fn the_file_says_how_long_is_waited_and_how_often_it_is_tried() {
    let place = Place::new();
    place.put("home/.config/haft/config.toml", "[model]\ntries = 2\n");
    let busy = (0..2).fold(ScriptedTurn::text("Never."), |turn, _| turn.fault(Fault::status(500)));
    let model = ScriptedModel::start(ModelScript::of([busy]));
    let said = place.haft(&model, &["run", "go"]);
    assert_eq!((said.code, model.requests().len()), (1, 2), "{}", said.err);

    place.put("home/.config/haft/config.toml", "[model]\ntotal_seconds = 1\n");
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Never.").fault(Fault::HangBeforeHeaders)]));
    let said = place.haft(&model, &["resume", "go on"]);
    assert_eq!(said.code, 4, "{}", said.err);
    assert!(said.err.contains("The reply was not complete after 1 s, all attempts included."), "{}", said.err);

    place.put("home/.config/haft/config.toml", "[model]\nname = \"m\"\nidle_seconds = 0\n");
    let said = place.haft(&model, &["run", "go"]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("config.toml:3: must be between 1 and 86400 (seconds)"), "{}", said.err);
}

#[test]
fn a_task_may_be_a_command_of_the_user() {
    let place = Place::new();
    place.put("home/.config/haft/commands/fix.md", "---\nmodel: another\n---\nFix issue $1.");
    let expected = Expect { body_contains: vec!["\"another\"".into()], ..Expect::user_says("Fix issue 47.") };
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Fixed.").expect(expected)]));
    let mut command = place.with(&model, Wire::Chat, &["run", "/fix 47"]);
    command.env_remove("HAFT_MODEL");
    let ran = said(command);
    assert_eq!((ran.out.as_str(), ran.code), ("Fixed.\n", 0), "{}", ran.err);
    let unknown = place.haft(&model, &["run", "/fxi 47"]);
    assert!(unknown.code == 2 && unknown.err.contains("did you mean /fix?"), "{}", unknown.err);
    place.put("ws/.haft/commands/ship.md", "Ship it.");
    let untrusted = place.haft(&model, &["run", "/ship"]);
    assert!(
        untrusted.code == 2 && untrusted.err.contains("haft does not load .haft/commands/ship.md"),
        "{}",
        untrusted.err
    );
}
