//! Jobs: a session keeps what was started in the background, later calls reach it, and it ends with the session.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use haft_testkit::require::Need;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::{Value, json};

use crate::ground::{Ground, for_everybody};
use crate::session::{Session, text};

/// Serves on a port and on a socket in /tmp, and answers with a word.
const SERVER: &str = r#"
import os, socket, socketserver, sys, threading
class Answer(socketserver.StreamRequestHandler):
    def handle(self): self.wfile.write(b"answered\n")
class OnPort(socketserver.ThreadingTCPServer): allow_reuse_address = True
on_port = OnPort(("127.0.0.1", 8123), Answer)
at_path = socketserver.ThreadingUnixStreamServer("/tmp/answers", Answer)
threading.Thread(target=at_path.serve_forever, daemon=True).start()
print("ready", sys.argv[1], flush=True)
on_port.serve_forever()
"#;

/// Asks both.
const CLIENT: &str = r#"
import socket
def ask(s): print(s.makefile().readline().strip())
ask(socket.create_connection(("127.0.0.1", 8123)))
s = socket.socket(socket.AF_UNIX); s.connect("/tmp/answers"); ask(s)
"#;

pub(crate) fn has_python() -> bool {
    let python = std::process::Command::new("python3").arg("--version").output();
    Need::Python.met(python.is_ok_and(|said| said.status.success()))
}

/// A word that only the processes of this test have among their own.
fn marker(ground: &Ground) -> String {
    format!("marker-{}", ground.place.root().file_name().expect("it has one").to_string_lossy())
}

/// Returns the processes with a word, as the system sees them.
fn processes(marker: &str) -> Vec<(Pid, OwnedFd)> {
    let all = std::fs::read_dir("/proc").expect("there is one").flatten();
    let with_marker = all.filter(|process| {
        let words = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|word| word == marker.as_bytes())
    });
    let pids = with_marker.filter_map(|process| Pid::from_raw(process.file_name().to_str()?.parse().ok()?));
    pids.filter_map(|pid| Some((pid, pidfd_open(pid, PidfdFlags::empty()).ok()?))).collect()
}

#[track_caller]
fn assert_gone_within(processes: &[(Pid, OwnedFd)], time: Duration) {
    let until = Instant::now() + time;
    for (pid, process) in processes {
        let mut polled = [PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN)];
        let left = Timespec::try_from(until.saturating_duration_since(Instant::now())).expect("it is short");
        assert_eq!(poll(&mut polled, Some(&left)), Ok(1), "process {pid:?} is alive after {time:?}");
    }
}

pub(crate) fn start(session: &mut Session, command: &str, name: &str) -> Value {
    let record = session.call("bash", &json!({ "command": command, "background": true, "name": name }));
    assert_eq!(record["status"], "ok", "{record:#}");
    assert_eq!(record["sandbox"], "full", "{record:#}");
    record
}

#[test]
fn file_watchers_poll_in_jobs_alone_and_a_command_may_say_otherwise() {
    for_everybody(&|ground| {
        let ground = ground.another();
        let mut session = Session::of(&ground);
        let shown = "echo \"poll=$CHOKIDAR_USEPOLLING.\"";
        for (line, poll) in [
            (shown.to_owned(), "poll=1."),
            (format!("export CHOKIDAR_USEPOLLING=0; {shown}"), "poll=0."),
            ("CHOKIDAR_USEPOLLING= sh -c 'echo \"poll=$CHOKIDAR_USEPOLLING.\"'".to_owned(), "poll=."),
        ] {
            let started = start(&mut session, &line, "watcher");
            let ended = session.call("jobs", &json!({ "action": "wait", "job": "watcher", "timeout": 20 }));
            // Its first lines are in the result of the call that starts it, if they come soon enough.
            assert!([&started, &ended].map(text).concat().contains(poll), "{line}: {started:#} {ended:#}");
        }
        let waited_for = session.call("bash", &json!({ "command": shown }));
        assert_eq!(text(&waited_for), "poll=.\n", "{waited_for:#}");
    });
}

#[test]
fn a_server_is_reached_by_later_calls_and_its_end_is_told() {
    if !has_python() {
        return;
    }
    for_everybody(&|ground| {
        let ground = ground.another();
        ground.lay_out(&format!("cat > server.py <<'EOF'\n{SERVER}\nEOF\ncat > client.py <<'EOF'\n{CLIENT}\nEOF"));
        let (mut session, marker) = (Session::of(&ground), marker(&ground));
        let started = start(&mut session, &format!("exec python3 server.py {marker}"), "server");
        assert!(text(&started).contains("job 1 \"server\" runs in the background"), "{started:#}");
        let ready = session.call("jobs", &json!({ "action": "wait", "port": 8123, "timeout": 20 }));
        assert!(text(&ready).contains("[a program listens on port 8123 at "), "{ready:#}");
        let ready = session.call("jobs", &json!({ "action": "wait", "job": "server", "line": "ready", "timeout": 20 }));
        assert!(text(&ready).contains(&format!("ready {marker}")) || text(&ready).contains("contains"), "{ready:#}");
        for _ in 2..20 {
            let answered = session.call("bash", &json!({ "command": "python3 client.py" }));
            assert_eq!(text(&answered), "answered\nanswered\n", "{answered:#}");
        }
        let creating = session.call("bash", &json!({ "command": "echo > new.txt; grep -c 127.0.0.1 client.py" }));
        assert!(!text(&creating).contains("sees these changes only now"), "{creating:#}");
        let changing = session.call("bash", &json!({ "command": "echo >> server.py; grep -c 127.0.0.1 client.py" }));
        let late = "[job 1 \"server\" sees these changes only now; a program that watches or has loaded these files must \
                    be restarted: jobs(action=\"restart\", job=\"server\")]";
        assert!(text(&changing).contains(late), "{changing:#}");

        let running = processes(&marker);
        assert_eq!(running.len(), 1, "the server runs");
        kill_process(running[0].0, Signal::KILL).expect("it is there");
        assert_gone_within(&running, Duration::from_secs(5));
        // The kernel takes its time to tell haft, which a busy machine makes longer.
        let until = Instant::now() + Duration::from_secs(20);
        let told = loop {
            let record = session.call("list_dir", &json!({ "path": "." }));
            if text(&record).contains("Job 1") {
                break record;
            }
            assert!(Instant::now() < until, "no later result tells it: {record:#}");
        };
        let line = "Job 1 \"server\" was ended by signal 9 (SIGKILL) after";
        assert!(text(&told).contains(line) && text(&told).contains(&format!("ready {marker}")), "{told:#}");
        let again = session.call("list_dir", &json!({ "path": "." }));
        assert!(!text(&again).contains("Job 1"), "it is told once: {again:#}");
        session.end();
    });
}

#[test]
fn a_job_ends_with_its_session_and_its_changes_are_a_change_set_of_their_own() {
    for_everybody(&|ground| {
        let ground = ground.another();
        let (mut session, marker) = (Session::of(&ground), marker(&ground));
        // Who ignores the question to end is ended all the same.
        let command = format!("trap '' TERM INT HUP; echo new > made.txt; echo done; tail -f /dev/null {marker}");
        start(&mut session, &command, "writer");
        session.call("jobs", &json!({ "action": "wait", "line": "done" }));
        assert!(!ground.place.path("made.txt").exists(), "its changes come at its end");
        let other = session.call("bash", &json!({ "command": "echo other > other.txt; ls" }));
        assert!(!text(&other).contains("made.txt"), "{other:#}");
        assert_eq!(other["change_set"], 1, "{other:#}");
        let running = processes(&marker);
        assert_eq!(running.len(), 1, "the job runs");
        session.end();
        assert_gone_within(&running, Duration::from_secs(1));
        assert_eq!(std::fs::read_to_string(ground.place.path("made.txt")).ok().as_deref(), Some("new\n"));
        assert!(ground.haft(&["undo"]).status.success());
        assert!(!ground.place.path("made.txt").exists() && ground.place.path("other.txt").exists());
        assert!(ground.leftovers().is_empty(), "{:?}", ground.leftovers());
    });
}

#[test]
fn when_haft_is_killed_nothing_of_its_jobs_is_left() {
    for_everybody(&|ground| {
        let ground = ground.another();
        let (mut session, marker) = (Session::of(&ground), marker(&ground));
        let stubborn = format!(
            "trap '' TERM INT HUP; echo x > made.txt; for i in 1 2 3; do setsid tail -f /dev/null {marker} & done; \
             until [ $(pgrep -c tail) = 3 ]; do :; done; echo started; wait"
        );
        start(&mut session, &stubborn, "first");
        start(&mut session, &stubborn, "second");
        for job in ["first", "second"] {
            let started = session.call("jobs", &json!({ "action": "wait", "job": job, "line": "started" }));
            assert!(text(&started).contains("contains \"started\""), "{started:#}");
        }
        let running = processes(&marker);
        assert_eq!(running.len(), 6);
        session.kill();
        assert_gone_within(&running, Duration::from_millis(1500));
        assert!(ground.haft(&["log"]).status.success());
        assert!(!ground.place.path("made.txt").exists(), "what it had written is thrown away");
    });
}

#[test]
fn jobs_are_listed_read_signalled_and_stopped() {
    let ground = Ground::own();
    ground.lay_out("echo 'TOKEN=correct-horse-battery' > .env");
    let mut session = Session::of(&ground);
    let none = session.call("jobs", &json!({}));
    assert!(text(&none).contains("has no jobs"), "{none:#}");
    ground.lay_out("echo 'cat .env' > show.sh");
    start(
        &mut session,
        "trap 'echo got it' USR1; sh show.sh; echo first; while :; do tail -f /dev/null & wait; done",
        "quiet",
    );
    let waited = session.call("jobs", &json!({ "action": "wait", "line": "first" }));
    assert!(text(&waited).contains("first\n") && !text(&waited).contains("battery"), "{waited:#}");
    let nothing = session.call("jobs", &json!({ "action": "output", "job": 1 }));
    assert!(text(&nothing).contains("(nothing new)"), "{nothing:#}");
    let sent = session.call("jobs", &json!({ "action": "signal", "job": "quiet", "signal": "SIGUSR1" }));
    assert!(text(&sent).contains("signal 10 (SIGUSR1) was sent"), "{sent:#}");
    let got = session.call("jobs", &json!({ "action": "wait", "line": "got it" }));
    assert!(text(&got).contains("got it\n"), "{got:#}");
    let late = session.call("jobs", &json!({ "action": "wait", "line": "never", "timeout": 0.1 }));
    assert!(text(&late).contains("not within 0.1 s: no new line contains \"never\""), "{late:#}");
    let late = session.call("jobs", &json!({ "action": "wait", "line": "never|nowhere", "timeout": 0.1 }));
    assert!(text(&late).contains("no new line matches \"never|nowhere\""), "{late:#}");
    let twice = session.call("bash", &json!({ "command": "true", "background": true, "name": "quiet" }));
    assert_eq!(twice["status"], "failed", "{twice:#}");
    let listed = session.call("jobs", &json!({ "action": "list" }));
    assert!(text(&listed).contains("job 1 \"quiet\" is running ("), "{listed:#}");
    assert!(text(&listed).contains(" s); command: trap 'echo got it' USR1; sh show.sh;"), "{listed:#}");
    let stopped = session.call("jobs", &json!({ "action": "stop", "job": "quiet" }));
    assert!(text(&stopped).starts_with("[job 1 \"quiet\" was stopped after"), "{stopped:#}");
    let unknown = session.call("jobs", &json!({ "action": "stop", "job": "none" }));
    assert!(text(&unknown).contains("There is no job \"none\""), "{unknown:#}");
    session.end();
}

#[test]
fn a_job_that_fails_at_once_says_so_and_a_process_left_behind_is_told_how_to_stay() {
    let ground = Ground::own();
    let mut session = Session::of(&ground);
    let failed = start(&mut session, "echo no such port >&2; echo x > made.txt; exit 3", "short");
    assert!(text(&failed).starts_with("no such port\n[job 1 \"short\" ended with exit code 3 after"), "{failed:#}");
    assert!(text(&failed).contains("; change set 1: created made.txt]"), "{failed:#}");
    let next = session.call("bash", &json!({ "command": "tail -f /dev/null & echo started" }));
    assert!(!text(&next).contains("Job 1"), "it was told: {next:#}");
    assert!(
        text(&next).contains("1 background process was ended with the call; to keep a program running"),
        "{next:#}"
    );
    assert!(text(&next).contains("\"background\": true"), "{next:#}");
    session.end();
}

#[test]
fn the_call_that_tells_how_a_job_ended_reports_what_it_changed() {
    let ground = Ground::own();
    let mut session = Session::of(&ground);
    ground.lay_out("mkdir -p .git dist; echo ref: refs/heads/main > .git/HEAD; echo dist > .gitignore; touch dist/a");
    let command =
        "for name in a b c; do echo x > dist/$name; done; echo x > made.txt; until [ -e /tmp/end ]; do :; done";
    let started = start(&mut session, command, "writer");
    let own = text(&started).lines().filter(|line| line.starts_with("[job")).map(str::to_owned).collect::<Vec<_>>();
    assert!(own.len() == 1 && own[0].len() < 260, "one short line tells of it: {own:?}");
    session.call("bash", &json!({ "command": "touch /tmp/end" }));
    let waited = session.call("jobs", &json!({ "action": "wait", "job": "writer" }));
    let said = text(&waited);
    assert!(
        said.contains("[job 1 \"writer\" ended with exit code 0 after") && !said.contains("it has ended"),
        "{said}"
    );
    assert_eq!((&waited["did"], &waited["change_set"]), (&json!("changed"), &json!(1)), "{waited:#}");
    assert!(said.contains("created made.txt; changed dist/ (1 changed, 2 created)"), "{said}");
    let changes = json!({ "removed": 0, "replaced": 0, "changed": 1, "created": 3 });
    assert_eq!((&waited["files"], &waited["changes"]), (&json!(["made.txt", "dist"]), &changes), "{waited:#}");
    let again = session.call("jobs", &json!({ "action": "output", "job": "writer" }));
    assert_eq!(again["did"], "nothing", "it is reported once: {again:#}");
    session.end();
}

#[test]
fn a_call_that_is_a_session_of_its_own_starts_no_job() {
    let ground = Ground::own();
    let said = ground.haft(&["--yes", "call", "bash", r#"{"command": "touch made.txt", "background": true}"#]);
    let told = String::from_utf8_lossy(&said.stdout).into_owned() + &String::from_utf8_lossy(&said.stderr);
    assert!(!said.status.success() && told.contains("this call is a session of its own"), "{told}");
    assert!(!ground.place.path("made.txt").exists());
}

#[test]
fn a_job_sees_what_later_calls_and_people_change() {
    for_everybody(&|ground| {
        let ground = ground.another();
        ground.lay_out("mkdir sub; for f in by_tool by_command by_person sub/deep; do echo old > $f.txt; done");
        let mut session = Session::of(&ground);
        // The kernel would remember each name that the command looks up, even one that it does not find.
        let command = "look() { cat by_tool.txt by_command.txt by_person.txt sub/deep.txt new.txt sub/new.txt 2>&1; }; \
                       look > /dev/null; echo ready; \
                       until look | grep -c '^changed' | grep -q 6; do :; done; echo all seen";
        start(&mut session, command, "looks");
        session.call("jobs", &json!({ "action": "wait", "line": "ready" }));
        session.call("bash", &json!({ "command": "echo changed > by_command.txt; echo changed > sub/new.txt" }));
        session.call("read_file", &json!({ "path": "by_tool.txt" }));
        session.call("write_file", &json!({ "path": "by_tool.txt", "content": "changed\n" }));
        session.call("write_file", &json!({ "path": "new.txt", "content": "changed\n" }));
        ground.lay_out("for f in by_person sub/deep; do echo changed > $f.new; mv $f.new $f.txt; done");
        session.call("list_dir", &json!({ "path": "." }));
        let seen = session.call("jobs", &json!({ "action": "wait", "line": "all seen", "timeout": 20 }));
        assert!(text(&seen).contains("a line contains \"all seen\""), "{seen:#}");
        session.end();
    });
}

#[test]
fn a_command_that_fills_the_disk_is_ended_and_told_by_which_setting() {
    for_everybody(&|ground| {
        let ground = ground.another();
        std::fs::create_dir_all(ground.place.root().join("config/haft")).expect("it is ours");
        let settings = ground.place.root().join("config/haft/config.toml");
        std::fs::write(&settings, "[sandbox]\ndisk = 0.05\n").expect("it is ours");
        for place in ["big", "/tmp/big"] {
            let command = format!("head -c 80000000 /dev/zero > {place}; tail -f /dev/null");
            let ended = ground.bash(&command, 30.0);
            let said = text(&ended);
            assert!(said.contains("[ended by signal 9 (SIGKILL)]"), "{place}: {ended:#}");
            assert!(said.contains("and the setting [sandbox] disk allows 52 MiB"), "{place}: {ended:#}");
        }
        let ended = ground.bash("head -c 8000000 /dev/zero > small; echo whole", 30.0);
        assert!(text(&ended).starts_with("whole\n"), "{ended:#}");
    });
}

#[test]
fn a_job_without_a_name_has_that_of_its_program_and_the_record_says_so() {
    for_everybody(&|ground| {
        let mut session = Session::of(ground);
        for name in ["sleep", "sleep-2"] {
            let record = session.call("bash", &json!({ "command": "cd . && sleep 100", "background": true }));
            assert_eq!((&record["status"], &record["job"]), (&json!("ok"), &json!(name)), "{record:#}");
            assert_eq!(record["data"]["job"]["name"], name, "{record:#}");
        }
        assert_eq!(session.call("bash", &json!({ "command": "true" }))["job"], Value::Null);
        let stopped = session.call("jobs", &json!({ "action": "stop", "job": "sleep-2" }));
        assert_eq!(stopped["status"], "ok", "{stopped:#}");
        session.end();
    });
}
