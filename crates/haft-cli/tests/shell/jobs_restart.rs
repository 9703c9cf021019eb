//! Jobs are restarted, and calls about jobs keep their place among the other calls of a turn.

use serde_json::{Value, json};

use crate::ground::{Ground, for_everybody};
use crate::jobs::{has_python, start};
use crate::session::{Session, text};

#[test]
fn calls_of_one_turn_that_start_use_and_stop_a_job_keep_their_order() {
    if !has_python() {
        return;
    }
    for_everybody(&|ground| {
        let ground = ground.another();
        ground.lay_out("mkdir site; echo from-inside > site/index.html");
        let ask = "from urllib.request import urlopen; print(urlopen(\"http://127.0.0.1:8127/\").read().decode())";
        ground.lay_out(&format!("cat > ask.py <<'EOF'\n{ask}\nEOF"));
        let serve = "exec python3 -m http.server 8127 --bind 127.0.0.1 -d site";
        let mut session = Session::of(&ground);
        let told = session.turn(&[
            ("bash", json!({ "command": serve, "background": true, "name": "web" })),
            ("jobs", json!({ "action": "list" })),
            ("jobs", json!({ "action": "wait", "port": 8127, "timeout": 30 })),
            ("bash", json!({ "command": "python3 ask.py" })),
            ("jobs", json!({ "action": "stop", "job": "web" })),
        ]);
        assert!(text(&told[1]).starts_with("job 1 \"web\" is running ("), "{told:#?}");
        assert!(text(&told[3]).starts_with("from-inside\n"), "{told:#?}");
        assert!(text(&told[4]).contains("[job 1 \"web\" was stopped after"), "{told:#?}");
        session.end();
    });
}

/// Shows a version, changes a file, and goes on.
const SERVER: &str =
    "cat version.txt; pwd; echo \"word=$WORD.\"; cp version.txt made.txt; echo ready; exec tail -f /dev/null";

/// Returns what the job says up to the line that it is ready.
fn ready(session: &mut Session, started: &Value) -> String {
    let ready = session.call("jobs", &json!({ "action": "wait", "job": "web", "line": "ready", "timeout": 20 }));
    text(started).to_owned() + text(&ready)
}

#[test]
fn a_job_is_restarted_with_its_command_name_and_folder_and_its_changes_are_committed_first() {
    for_everybody(&|ground| {
        let ground = ground.another();
        ground.lay_out(&format!("mkdir sub; echo one > sub/version.txt; cat > sub/serve.sh <<'EOF'\n{SERVER}\nEOF"));
        let mut session = Session::of(&ground);
        let command = json!({
            "command": "WORD=kept sh serve.sh", "background": true, "name": "web", "working_dir": "sub"
        });
        let started = session.call("bash", &command);
        assert!(
            text(&started).contains("file watchers may miss changes: action \"restart\" restarts it]"),
            "{started:#}"
        );
        assert!(ready(&mut session, &started).contains("one\n"), "{started:#}");
        session
            .call("write_file", &json!({ "path": "sub/version.txt", "content": "two\n", "write_mode": "overwrite" }));

        let restarted = session.call("jobs", &json!({ "action": "restart", "job": "web" }));
        let said = text(&restarted);
        assert!(said.contains("[job 1 \"web\" was stopped after"), "{restarted:#}");
        assert!(said.contains("created sub/made.txt"), "{restarted:#}");
        assert!(said.ends_with("[job 2 \"web\" runs in the background]\n"), "the long line came before: {restarted:#}");
        assert_eq!((&restarted["job"], &restarted["sandbox"]), (&json!("web"), &json!("full")), "{restarted:#}");
        assert_eq!(std::fs::read_to_string(ground.place.path("sub/made.txt")).ok().as_deref(), Some("one\n"));
        let said = ready(&mut session, &restarted);
        assert!(said.contains("two\n") && said.contains("/sub\n") && said.contains("word=kept."), "{said}");
        session.end();
    });
}

#[test]
fn the_command_of_a_job_is_judged_anew_before_it_is_restarted() {
    let ground = Ground::own();
    let mut session = Session::of(&ground);
    let started = start(&mut session, "echo x > log.txt; echo ready; exec tail -f /dev/null", "web");
    ready(&mut session, &started);
    ground.lay_out("ln -s ../outside.txt log.txt");
    let refused = session.call("jobs", &json!({ "action": "restart", "job": "web" }));
    assert_eq!(refused["status"], "refused", "{refused:#}");
    let listed = session.call("jobs", &json!({}));
    assert!(text(&listed).contains("job 1 \"web\" is running ("), "{listed:#}");
    let unknown = session.call("jobs", &json!({ "action": "restart", "job": "none" }));
    assert!(text(&unknown).contains("There is no job \"none\""), "{unknown:#}");
    session.end();
}

#[test]
fn a_person_restarts_a_job_from_another_terminal_and_the_model_is_told() {
    for_everybody(&|ground| {
        let ground = ground.another();
        ground.lay_out("echo one > version.txt");
        let mut session = Session::of(&ground);
        let started = start(&mut session, SERVER, "web");
        ready(&mut session, &started);
        let said = ground.haft(&["jobs", "restart", "web"]);
        let (out, err) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
        assert!(said.status.success(), "{out}{err}");
        assert!(out.starts_with("job 1 \"web\" was stopped after"), "{out}{err}");
        assert!(out.contains("created made.txt; it was restarted as job 2\njob 2 \"web\" is running ("), "{out}{err}");
        let told = session.call("list_dir", &json!({ "path": "." }));
        assert!(text(&told).contains("Job 1 \"web\" was stopped after"), "{told:#}");
        assert!(text(&told).contains("it was restarted as job 2"), "{told:#}");
        assert!(ready(&mut session, &Value::Null).contains("one\n"));
        let said = ground.haft(&["jobs", "restart", "web", "--json"]);
        let record: Value = serde_json::from_slice(&said.stdout).expect("a record");
        assert_eq!((&record["ended"]["number"], &record["job"]["number"]), (&json!(2), &json!(3)), "{record:#}");
        session.end();
    });
}
