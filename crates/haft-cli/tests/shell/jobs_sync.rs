//! Committing the changes of a running job: each commit is its own change set, and never contains others' work.

use serde_json::{Value, json};

use crate::ground::{Ground, assert_same, for_everybody};
use crate::jobs::start;
use crate::session::{Session, text};

/// Does each line that it is given.
const DOER: &str = "mkfifo /tmp/steps; while :; do read -r step < /tmp/steps; eval \"$step\"; echo \"did $step\"; done";

/// Lets the job do something.
fn work(session: &mut Session, step: &str) {
    let told = session.call("bash", &json!({ "command": format!("echo '{step}' > /tmp/steps") }));
    assert_eq!(told["status"], "ok", "{told:#}");
    let line = format!("did {step}");
    let done = session.call("jobs", &json!({ "action": "wait", "job": "doer", "line": line, "timeout": 20 }));
    assert!(text(&done).contains("a line contains"), "{done:#}");
}

fn sync(session: &mut Session) -> Value {
    let record = session.call("jobs", &json!({ "action": "sync", "job": "doer" }));
    assert_eq!(record["status"], "ok", "{record:#}");
    record
}

fn content(ground: &Ground, path: &str) -> Option<String> {
    std::fs::read_to_string(ground.place.path(path)).ok()
}

fn begun(ground: &Ground) -> Session {
    ground.lay_out(
        "echo one > a.txt; echo old > b.txt; mkdir d; echo in > d/in.txt; printf '1\\n2\\n3\\n4\\n' > lines.txt",
    );
    let mut session = Session::of(ground);
    start(&mut session, DOER, "doer");
    session
}

#[test]
fn a_running_job_commits_on_request_and_goes_on() {
    for_everybody(&|ground| {
        let ground = ground.another();
        let mut session = begun(&ground);
        let before = ground.tree();
        work(&mut session, "echo two >> a.txt; rm b.txt; mkdir new; echo x > new/x; echo t > new/temp; echo f > fresh");
        assert_eq!(content(&ground, "a.txt").as_deref(), Some("one\n"), "nothing comes by itself");

        let first = sync(&mut session);
        assert!(text(&first).contains("goes on running; change set 1: "), "{first:#}");
        assert_eq!(first["change_set"], 1, "{first:#}");
        assert_eq!(content(&ground, "a.txt").as_deref(), Some("one\ntwo\n"));
        assert_eq!((content(&ground, "b.txt"), content(&ground, "new/temp").as_deref()), (None, Some("t\n")));
        let nothing = sync(&mut session);
        assert!(text(&nothing).contains("has changed nothing new"), "{nothing:#}");
        assert_eq!(nothing["change_set"], Value::Null, "{nothing:#}");

        // Another call works in the folder that the job made; what the job removes there stays removed.
        let other = session.call("bash", &json!({ "command": "echo o > new/other; cat new/x" }));
        assert_eq!(text(&other).lines().next(), Some("x"), "{other:#}");
        work(&mut session, "echo three > a.txt; rm new/temp fresh; echo y > new/y; echo $(ls new)");
        let read = session.call("jobs", &json!({ "action": "output", "job": "doer" }));
        assert!(!text(&read).contains("temp\n"), "{read:#}");
        let second = sync(&mut session);
        assert!(second["change_set"].is_u64() && !text(&second).contains("conflict"), "{second:#}");
        assert_eq!(content(&ground, "a.txt").as_deref(), Some("three\n"));
        assert_eq!((content(&ground, "new/temp"), content(&ground, "fresh")), (None, None));
        assert_eq!(content(&ground, "new/other").as_deref(), Some("o\n"), "it is another's");
        assert_eq!(content(&ground, "new/y").as_deref(), Some("y\n"));

        let stopped = session.call("jobs", &json!({ "action": "stop", "job": "doer" }));
        assert!(!text(&stopped).contains("change set"), "all is committed: {stopped:#}");
        session.end();
        assert!(!ground.place.path("a.txt.kept-by-haft").exists());
        for number in ["3", "2", "1"] {
            let undone = ground.haft(&["undo", number]);
            assert!(undone.status.success(), "{undone:?}");
        }
        assert_same("all is undone", &before, &ground.tree());
        assert!(ground.leftovers().is_empty(), "{:?}", ground.leftovers());
    });
}

#[test]
fn what_others_change_between_two_commits_of_a_job_is_never_overwritten() {
    for_everybody(&|ground| {
        let ground = ground.another();
        let mut session = begun(&ground);
        work(&mut session, "sed -i s/1/one/ lines.txt; echo mine > a.txt; echo d > d/new.txt");
        std::fs::write(ground.place.path("d/new.txt"), "a person's\n").expect("it is new");
        let edited = session.call("bash", &json!({ "command": "sed -i s/4/four/ lines.txt" }));
        assert_eq!(edited["status"], "ok", "{edited:#}");
        let first = sync(&mut session);
        assert_eq!(content(&ground, "lines.txt").as_deref(), Some("one\n2\n3\nfour\n"), "{first:#}");
        assert_eq!(content(&ground, "d/new.txt").as_deref(), Some("a person's\n"), "{first:#}");
        assert_eq!(content(&ground, "d/new.txt.kept-by-haft").as_deref(), Some("d\n"), "{first:#}");

        // The job's own file has no line of the other one; theirs is not lost.
        work(&mut session, "sed -i s/2/two/ lines.txt; echo again > a.txt");
        std::fs::write(ground.place.path("a.txt"), "a person's\n").expect("it is ours");
        session.call("jobs", &json!({ "action": "stop", "job": "doer" }));
        session.end();
        let lines = content(&ground, "lines.txt").expect("it is there");
        assert!(lines.contains("four") && lines.contains("one"), "{lines}");
        assert_eq!(content(&ground, "a.txt").as_deref(), Some("a person's\n"));
        assert_eq!(content(&ground, "a.txt.kept-by-haft").as_deref(), Some("again\n"));
        assert_eq!(content(&ground, "d/new.txt").as_deref(), Some("a person's\n"));
    });
}

#[test]
fn another_process_commits_for_a_job_and_protected_names_stay() {
    for_everybody(&|ground| {
        let ground = ground.another();
        let mut session = begun(&ground);
        work(&mut session, "echo s > said.txt; mkdir -p .vscode; echo {} > .vscode/tasks.json");
        let said = ground.haft(&["jobs", "sync", "doer"]);
        let out = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(said.status.success() && out.contains("change set 1: "), "{said:?}");
        assert!(out.contains(".vscode"), "what did not come in is named: {out}");
        assert_eq!(content(&ground, "said.txt").as_deref(), Some("s\n"));
        assert_eq!(content(&ground, ".vscode/tasks.json"), None);
        session.call("jobs", &json!({ "action": "stop", "job": "doer" }));
        let late = session.call("jobs", &json!({ "action": "sync", "job": "doer" }));
        assert!(text(&late).contains("has ended") || late["error"].to_string().contains("has ended"), "{late:#}");
        session.end();
    });
}
