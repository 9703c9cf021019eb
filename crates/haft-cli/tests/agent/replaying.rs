//! `haft replay`: a recorded session once more, in a copy, without a model.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use haft_model::wire::Wire;
use haft_testkit::scratch_home::{CapturedOutput, records};
use haft_testkit::scripted::scripted_model::{ModelScript, ScriptedModel, ScriptedTurn};
use serde_json::{Value, json};

use crate::place::{Place, said};

/// Everything below a folder: names, modes, times and contents.
fn everything(folder: &Path) -> BTreeMap<String, String> {
    use std::os::unix::fs::MetadataExt;
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("it is there") {
            let path = entry.expect("it can be read").path();
            let facts = path.symlink_metadata().expect("it is there");
            let content = if facts.is_file() { std::fs::read(&path).expect("it can be read") } else { Vec::new() };
            let times = (facts.mtime(), facts.mtime_nsec(), facts.ctime(), facts.ctime_nsec());
            all.insert(path.display().to_string(), format!("{:o} {times:?} {content:?}", facts.mode()));
            if facts.is_dir() {
                folders.push(path);
            }
        }
    }
    all
}

/// Records a session in which these replies are given.
fn recorded(place: &Place, turns: impl IntoIterator<Item = ScriptedTurn>, arguments: &[&str]) -> String {
    let model = ScriptedModel::start(ModelScript::of(turns.into_iter().chain([ScriptedTurn::text("Done.")])));
    let said = place.haft(&model, &[arguments, &["run", "work"]].concat());
    assert_eq!((said.out.as_str(), said.code), ("Done.\n", 0), "{}", said.err);
    place.sessions()[0]["id"].as_str().expect("it has a name").to_owned()
}

/// Reads, edits, writes and runs commands that change files.
fn work() -> Vec<ScriptedTurn> {
    let edit = json!({ "path": "a.txt", "edits": [{ "old_text": "two", "new_text": "three" }] });
    vec![
        ScriptedTurn::call("read_file", json!({ "path": "a.txt" })),
        ScriptedTurn::call("edit_file", edit),
        ScriptedTurn::call("bash", json!({ "command": "cat a.txt > b.txt; rm c.txt; pwd; cat b.txt" })),
        ScriptedTurn::call("write_file", json!({ "path": "d/e.txt", "content": "new\n" }))
            .and_call("list_dir", json!({})),
    ]
}

/// Replays, and makes sure that nothing else was touched.
fn replayed(place: &Place, arguments: &[&str]) -> CapturedOutput {
    let before = everything(place.root());
    let said = said(place.bare(&[&["replay"], arguments].concat()));
    let after = everything(place.root());
    let changed: Vec<&String> =
        after.iter().filter(|(path, facts)| before.get(*path) != Some(facts)).map(|(path, _)| path).collect();
    assert_eq!((changed, after.len()), (Vec::new(), before.len()), "a replay leaves everything as it is: {}", said.err);
    said
}

fn outcomes(said: &CapturedOutput) -> Vec<(String, String)> {
    let compared = records(&said.out).into_iter().filter(|record| record["event"] == "compared");
    let text = |value: &Value| value.as_str().expect("it is a text").to_owned();
    compared.map(|record| (text(&record["tool"]), text(&record["outcome"]))).collect()
}

#[test]
fn a_session_that_is_done_again_from_its_beginning_comes_to_the_same() {
    for wire in Wire::ALL {
        let place = Place::new();
        place.put("ws/c.txt", "gone soon\n");
        let model = ScriptedModel::start(ModelScript::of(work().into_iter().chain([ScriptedTurn::text("Done.")])));
        let ran = said(place.with(&model, wire, &["--yes", "run", "work"]));
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(place.has("b.txt") && !place.has("c.txt"));
        drop(model);
        let again = replayed(&place, &[]);
        assert_eq!(again.code, 0, "{}{}", again.out, again.err);
        assert!(again.out.ends_with("5 calls: 5 the same\n"), "{}", again.out);
        assert!(again.out.contains("= bash cat a.txt > b.txt"), "{}", again.out);
        assert!(!again.err.contains("not as when") && !again.err.contains("not by haft"), "{}", again.err);
    }
}

#[test]
fn changes_of_others_since_are_taken_back_in_the_copy_and_told() {
    let place = Place::new();
    place.put("ws/c.txt", "gone soon\n");
    let id = recorded(&place, work(), &["--yes"]);
    let call = ["--yes", "call", "write_file", "path=a.txt", "content=other", "write_mode=overwrite"];
    assert_eq!(said(place.bare(&call)).code, 0);
    let again = replayed(&place, &[&id]);
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
    assert!(again.err.contains("although the session did not make them: change sets"), "{}", again.err);
}

#[test]
fn numbers_of_changes_are_no_difference_where_the_workspace_has_older_ones() {
    let place = Place::new();
    place.put("ws/c.txt", "gone soon\n");
    for name in ["path=x.txt", "path=y.txt"] {
        assert_eq!(said(place.bare(&["--yes", "call", "write_file", name, "content=older"])).code, 0);
    }
    let id = recorded(&place, work(), &["--yes"]);
    let again = replayed(&place, &[&id]);
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
}

#[test]
fn a_file_that_was_changed_by_hand_makes_a_difference_and_is_named() {
    let place = Place::new();
    let look = || ScriptedTurn::call("bash", json!({ "command": "cat a.txt; echo took 0.2 s" }));
    let id = recorded(&place, [look()], &["--yes"]);
    place.put("ws/a.txt", "one\n2\n");
    let again = replayed(&place, &[&id]);
    assert_eq!(again.code, 1, "{}{}", again.out, again.err);
    assert!(again.err.contains("but not by haft, so the copy has their current state: a.txt"), "{}", again.err);
    assert!(
        again.out.contains("≠ bash cat a.txt") && again.out.contains("- two") && again.out.contains("+ 2"),
        "{}",
        again.out
    );
    let records = records(&replayed(&place, &[&id, "--json"]).out);
    assert_eq!(records[0]["event"], "replay");
    assert_eq!(records[1]["outcome"], "differs");
    let differences = records[1]["differences"].as_array().expect("they are listed");
    assert!(
        differences.iter().any(|difference| difference["diff"].as_str().is_some_and(|diff| diff.contains("+ 2"))),
        "{differences:?}"
    );
    assert_eq!((&records[2]["differs"], &records[2]["exit_code"]), (&json!(1), &json!(1)));
    // A folder with the content of that time shows that nothing else differs.
    place.put("then/a.txt", "one\ntwo\n");
    let from = place.path("then").display().to_string();
    assert_eq!(replayed(&place, &[&id, "--from", &from]).code, 0);
}

#[test]
fn a_rule_that_came_since_makes_a_difference() {
    let place = Place::new();
    place.put("ws/c.txt", "gone soon\n");
    let id = recorded(&place, work(), &["--yes"]);
    let rule = "[[rule]]\nname = \"no removing\"\nprogram = \"rm\"\ndecision = \"deny\"\nreason = \"No.\"\nmatches = [\"rm a\"]\n";
    place.put("home/.config/haft/rules.toml", rule);
    let again = replayed(&place, &[&id]);
    assert_eq!(again.code, 1, "{}{}", again.out, again.err);
    assert!(again.out.contains("status: ok → refused") && again.out.contains("no removing"), "{}", again.out);
}

#[test]
fn what_a_project_brings_along_counts_in_the_copy_where_it_is_trusted() {
    let place = Place::new();
    let id = recorded(&place, [ScriptedTurn::call("bash", json!({ "command": "rm a.txt" }))], &["--yes"]);
    let rule = "[[rule]]\nname = \"no removing\"\nprogram = \"rm\"\ndecision = \"deny\"\nreason = \"No.\"\nmatches = [\"rm a\"]\n";
    place.put("ws/.haft/rules.toml", rule);
    let untrusted = replayed(&place, &[&id]);
    assert_eq!(untrusted.code, 0, "{}{}", untrusted.out, untrusted.err);
    assert!(untrusted.err.contains("not trusted, so haft does not load"), "{}", untrusted.err);
    assert_eq!(said(place.bare(&["trust", "."])).code, 0);
    let trusted = replayed(&place, &[&id]);
    assert_eq!(trusted.code, 1, "{}{}", trusted.out, trusted.err);
    assert!(trusted.out.contains("no removing"), "{}", trusted.out);
}

#[test]
fn other_content_in_a_file_is_a_difference_although_nothing_was_printed() {
    let place = Place::new();
    let id = recorded(
        &place,
        [ScriptedTurn::call("bash", json!({ "command": "cp a.txt b.txt; cp a.txt b.txt" }))],
        &["--yes"],
    );
    place.put("ws/a.txt", "one\n2\n");
    let again = replayed(&place, &[&id]);
    assert_eq!(again.code, 1, "{}{}", again.out, again.err);
    assert!(again.out.contains("b.txt now has different content") && again.out.contains("+ 2"), "{}", again.out);
}

#[test]
fn keys_of_the_file_are_hidden_also_where_nobody_knew_them_then() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.put("ws/a.txt", "first plain-key-of-nobody-0815\n");
    let look = || ScriptedTurn::call("bash", json!({ "command": "cat a.txt; cp a.txt b.txt" }));
    let id = recorded(&place, [look()], &["--yes"]);
    place.put("ws/a.txt", "second plain-key-of-somebody-4711\n");
    let keys = "OPENAI_API_KEY = \"plain-key-of-nobody-0815\"\nXAI_API_KEY = \"plain-key-of-somebody-4711\"\n";
    place.put("home/.config/haft/keys.toml", keys);
    let file = place.path("home/.config/haft/keys.toml");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("it is ours");
    for arguments in [&[id.as_str()][..], &[&id, "--json"]] {
        let again = replayed(&place, arguments);
        assert_eq!(again.code, 1, "{}{}", again.out, again.err);
        assert!(
            again.out.contains("first") && again.out.contains("second") && !again.out.contains("plain-key"),
            "{}",
            again.out
        );
    }
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("it is ours");
    let open = replayed(&place, &[&id]);
    assert_eq!(open.code, 2, "{}", open.out);
    assert!(open.err.contains("chmod 600"), "{}", open.err);
}

#[test]
fn what_is_out_of_reach_in_a_workspace_that_holds_the_home_is_so_in_the_copy() {
    let place = Place::new();
    // The home is reached through a link, and the workspace is what the link leads to.
    std::os::unix::fs::symlink(place.path("ws"), place.path("home")).expect("it is new");
    place.put("ws/.config/haft/rules.toml", "");
    let id = recorded(&place, [ScriptedTurn::call("read_file", json!({ "path": ".config/haft/rules.toml" }))], &[]);
    let again = replayed(&place, &[&id, "--json", "--yes"]);
    let same = vec![("read_file".into(), "same".into())];
    assert_eq!((outcomes(&again), again.code), (same, 0), "{}{}", again.out, again.err);
    let notes = records(&again.out)[0]["notes"].to_string();
    assert!(notes.contains(".config/haft (it belongs to haft)"), "{notes}");
    assert!(notes.contains(".local/state/haft (it belongs to haft)"), "{notes}");
    let from = place.path("home/.config/haft").display().to_string();
    let own = replayed(&place, &[&id, "--from", &from]);
    assert!(own.code == 2 && own.err.contains("belongs to haft itself"), "{}{}", own.out, own.err);
}

#[test]
fn what_commands_do_not_see_in_the_workspace_they_do_not_see_in_the_copy() {
    let place = Place::new();
    std::fs::create_dir(place.path("home")).expect("it is new");
    std::os::unix::fs::symlink(place.path("ws"), place.path("home/.cargo")).expect("it is new");
    place.put("ws/credentials.toml", "token of the registry\n");
    let look = ScriptedTurn::call("bash", json!({ "command": "cat credentials.toml a.txt" }));
    let id = recorded(&place, [look], &["--yes"]);
    let again = replayed(&place, &[&id, "--json"]);
    assert_eq!(outcomes(&again), [("bash".into(), "same".into())], "{}{}", again.out, again.err);
    // It is the same because neither saw it, and not because both did.
    let seen = said(place.bare(&["--yes", "call", "bash", "command=cat credentials.toml a.txt"])).out;
    assert!(seen.contains("two") && !seen.contains("token of the registry"), "{seen}");
}

#[test]
fn absolute_paths_of_the_workspace_mean_the_copy() {
    let place = Place::new();
    let root = place.path("ws").canonicalize().expect("it is there");
    let path = |name: &str| root.join(name).display().to_string();
    let write = format!("cp {} {}; cat {}", path("a.txt"), path("b.txt"), path("b.txt"));
    let turns = [
        ScriptedTurn::call("read_file", json!({ "path": path("a.txt") })),
        ScriptedTurn::call("bash", json!({ "command": write })),
    ];
    recorded(&place, turns, &["--yes"]);
    std::fs::remove_file(place.path("ws/b.txt")).expect("it was made");
    let again = replayed(&place, &[]);
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
    assert!(!place.has("b.txt"), "it was made in the copy");
}

#[test]
fn what_nobody_allowed_then_is_refused_again_and_yes_changes_that() {
    let place = Place::new();
    recorded(&place, [ScriptedTurn::call("write_file", json!({ "path": "b.txt", "content": "b" }))], &[]);
    let again = replayed(&place, &["--json"]);
    assert_eq!((outcomes(&again), again.code), (vec![("write_file".into(), "same".into())], 0), "{}", again.out);
    let allowed = replayed(&place, &["--json", "--yes"]);
    assert_eq!((outcomes(&allowed), allowed.code), (vec![("write_file".into(), "differs".into())], 1));
}

#[test]
fn what_reaches_beyond_the_copy_is_not_done_although_it_was_then() {
    let place = Place::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let port = listener.local_addr().expect("it listens").port();
    let ask = format!("curl -s -m 1 -d secret http://127.0.0.1:{port}/");
    recorded(&place, [ScriptedTurn::call("bash", json!({ "command": ask }))], &["--yes"]);
    listener.set_nonblocking(true).expect("it is ours");
    while listener.accept().is_ok() {}
    // Also where a rule allows it: data that has left the machine cannot be discarded.
    for rules in [
        "",
        "[[rule]]\nname = \"curl\"\nprogram = \"curl\"\ndecision = \"allow\"\nreason = \"Ok.\"\nmatches = [\"curl a\"]\n",
    ] {
        place.put("home/.config/haft/rules.toml", rules);
        let again = replayed(&place, &["--yes"]);
        assert_eq!(again.code, 0, "{}{}", again.out, again.err);
        assert!(
            again.out.contains("it reaches beyond the copy") && again.out.contains("1 not comparable"),
            "{}",
            again.out
        );
        assert!(listener.accept().is_err(), "nobody called");
    }
}

#[test]
fn hooks_do_not_reach_the_network_from_the_copy() {
    let place = Place::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let port = listener.local_addr().expect("it listens").port();
    listener.set_nonblocking(true).expect("it is ours");
    let tell = format!("curl -s -m 1 http://127.0.0.1:{port}/ || true");
    let hook =
        |event: &str| format!("[[hooks.{event}]]\nname = \"tell {event}\"\ncommand = \"{tell}\"\nnetwork = true\n");
    place.put("home/.config/haft/config.toml", &format!("{}{}", hook("PreToolUse"), hook("PostToolUse")));
    let read = || ScriptedTurn::call("read_file", json!({ "path": "a.txt" }));
    let id = recorded(&place, [read()], &[]);
    assert!(listener.accept().is_ok(), "in the workspace they do");
    while listener.accept().is_ok() {}
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("So it is.")]));
    assert_eq!(place.haft(&model, &["resume", &id, "and now?"]).code, 0);
    let again = replayed(&place, &[&id]);
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
    assert!(listener.accept().is_err(), "nobody called");
    let note = "note: hooks do not reach the network from a copy: tell PreToolUse, tell PostToolUse\n";
    assert_eq!(again.err.matches(note).count(), 1, "{}", again.err);
}

#[test]
fn the_flags_of_then_count_where_none_are_said() {
    let place = Place::new();
    let call = ScriptedTurn::call("run_shell_command", json!({ "command": "cat a.txt" }));
    recorded(&place, [call], &["--dialect", "nexau", "--plan"]);
    let again = replayed(&place, &[]);
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
    assert!(again.out.contains("1 call: 1 the same"), "{}", again.out);
}

#[test]
fn a_session_in_a_small_window_is_done_again_in_one_of_that_size() {
    let place = Place::new();
    place.put("home/.config/haft/config.toml", "[model]\nwindow = 6000\n");
    place.put("ws/long.txt", &"a line that is read again and again\n".repeat(400));
    let read =
        |offset: u64| ScriptedTurn::call("read_file", json!({ "path": "long.txt", "offset": offset, "limit": 150 }));
    // haft repeats a read whose content was left out to make room, but not one that is still visible.
    let id = recorded(&place, [read(1), read(151), read(1)], &[]);
    std::fs::remove_file(place.path("home/.config/haft/config.toml")).expect("it is there");
    let again = replayed(&place, &[&id]);
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
}

#[test]
fn several_runs_of_a_session_are_done_again_one_after_the_other() {
    let place = Place::new();
    let id = recorded(&place, [ScriptedTurn::call("read_file", json!({ "path": "a.txt" }))], &[]);
    let write = ScriptedTurn::call("write_file", json!({ "path": "a.txt", "content": "over\n" }));
    let model = ScriptedModel::start(ModelScript::of([write, ScriptedTurn::text("So it is.")]));
    let resumed = place.haft(&model, &["--yes", "resume", &id, "write it"]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    // The second run had not read the file, so its write was refused; that it is again shows that it has a memory of its own.
    let again = replayed(&place, &[&id]);
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
    assert!(again.out.contains("2 calls: 2 the same"), "{}", again.out);
}

#[test]
fn a_call_that_was_stopped_is_not_run_again() {
    let place = Place::new();
    let wait = ScriptedTurn::call("bash", json!({ "command": "echo begun; tail -f /dev/null" }));
    let model = ScriptedModel::start(ModelScript::of([wait]));
    let child = place.with(&model, Wire::Chat, &["run", "--yes", "--json", "wait"]).spawn().expect("it can be started");
    crate::running::interrupted(child, "call");
    let again = replayed(&place, &[]);
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
    assert!(again.out.contains("1 not comparable"), "{}", again.out);
}

#[test]
fn a_long_output_is_found_again_under_its_new_name() {
    let place = Place::new();
    let count = ScriptedTurn::call("bash", json!({ "command": "seq 1 200000" }));
    let model = ScriptedModel::start(ModelScript::of([count, ScriptedTurn::text("Done.")]));
    assert_eq!(place.haft(&model, &["--yes", "run", "count"]).code, 0);
    let again = replayed(&place, &["--json"]);
    assert_eq!((outcomes(&again), again.code), (vec![("bash".into(), "same".into())], 0), "{}", again.out);
}

#[test]
fn an_interrupt_ends_a_replay_with_130_and_leaves_no_copy() {
    let place = Place::new();
    let turns =
        [ScriptedTurn::call("bash", json!({ "command": "test -e stay && echo now && tail -f /dev/null; echo then" }))];
    recorded(
        &place,
        [ScriptedTurn::call("read_file", json!({ "path": "a.txt" }))].into_iter().chain(turns),
        &["--yes"],
    );
    place.put("ws/stay", "");
    let before = everything(place.root());
    let child = place.bare(&["replay", "--json"]).spawn().expect("it can be started");
    let said = crate::running::interrupted(child, "compared");
    assert_eq!(said.code, 130, "{}{}", said.out, said.err);
    assert_eq!(everything(place.root()), before);
}

#[test]
fn what_a_killed_replay_left_behind_is_removed_by_the_next() {
    let place = Place::new();
    let turns =
        [ScriptedTurn::call("bash", json!({ "command": "test -e stay && echo now && tail -f /dev/null; echo then" }))];
    recorded(
        &place,
        [ScriptedTurn::call("read_file", json!({ "path": "a.txt" }))].into_iter().chain(turns),
        &["--yes"],
    );
    let before = everything(place.root());
    place.put("ws/stay", "");
    let mut child = place.bare(&["replay", "--json"]).spawn().expect("it can be started");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("\"compared\"")));
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
    std::fs::remove_file(place.path("ws/stay")).expect("it is there");
    assert!(everything(place.root()).len() > before.len(), "a copy is left behind");
    let again = said(place.bare(&["replay"]));
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
    assert!(again.err.contains("note: removed what 1 earlier replay left behind"), "{}", again.err);
    assert_eq!(everything(place.root()).len(), before.len());
}

#[test]
fn a_damaged_session_is_done_again_as_far_as_it_can_be_read() {
    let place = Place::new();
    place.put("ws/c.txt", "gone soon\n");
    let id = recorded(&place, work(), &["--yes"]);
    let file = place.session_file();
    let mut bytes = std::fs::read(&file).expect("it is there");
    let at = bytes.windows(8).position(|piece| piece == b"answered").expect("a call was answered");
    bytes[at] ^= 1;
    bytes.truncate(bytes.len() - 5);
    std::fs::write(&file, &bytes).expect("it is ours");
    let again = replayed(&place, &[&id]);
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
    assert!(again.err.contains("2 places of the session cannot be read"), "{}", again.err);
}

#[test]
fn a_session_that_cannot_be_done_again_is_a_clear_error() {
    let place = Place::new();
    let check = |arguments: &[&str], expected: &str| {
        let said = replayed(&place, arguments);
        assert_eq!((said.out.as_str(), said.code), ("", 2), "{}", said.err);
        assert!(said.err.contains(expected), "{}", said.err);
    };
    check(&[], "there is no session in this workspace yet");
    check(&["0000-0000"], "there is no session 0000-0000 in this workspace; \"haft sessions\" lists them");
    check(&["what"], "is neither the ID nor the name of a session");
    let model = ScriptedModel::start(ModelScript::of([
        ScriptedTurn::text("").fault(haft_testkit::scripted::scripted_model::Fault::status(401))
    ]));
    assert_eq!(place.haft(&model, &["run", "work"]).code, 1);
    check(&[], "has no reply of a model");
    check(&["--add-dir", "."], "--add-dir names a folder that is not in it");
    let id = recorded(&place, [ScriptedTurn::call("read_file", json!({ "path": "a.txt" }))], &[]);
    place.put("home/.config/haft/rules.toml", "[[rule]]\nname = 3\n");
    check(&[&id], "rules.toml:");
    place.put("home/.config/haft/rules.toml", "");
    check(&[&id, "--from", "nowhere"], "nowhere cannot be opened; name a folder with --from");
}

#[test]
fn a_session_at_work_is_not_done_again_meanwhile() {
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("A long answer that is held back.").held()]));
    let mut child = place.with(&model, Wire::Chat, &["run", "--json", "talk"]).spawn().expect("it can be started");
    let first = BufReader::new(child.stdout.take().expect("it is piped")).lines().next();
    assert!(first.is_some_and(|line| line.is_ok_and(|line| line.contains("\"session\""))));
    model.wait_until_asked(1);
    let busy = said(place.bare(&["replay"]));
    assert_eq!(busy.code, 2, "{}", busy.err);
    assert!(busy.err.contains("is in use by another haft"), "{}", busy.err);
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
}
