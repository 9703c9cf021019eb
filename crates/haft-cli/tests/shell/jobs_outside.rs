//! `haft jobs`: the jobs of a session, seen and controlled by another process of the same user.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use haft_testkit::require::Need;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::ground::{Ground, for_everybody};
use crate::jobs::{has_python, start};
use crate::session::{Session, text};

/// A job that prints, and goes on until it is stopped.
const TALKER: &str =
    "trap 'echo got it' USR1; echo first; echo made > made.txt; while :; do tail -f /dev/null & wait; done";

/// Runs `haft jobs` and returns its exit code, its answer and its words.
fn jobs(ground: &Ground, words: &[&str]) -> (i32, String, String) {
    let said = ground.haft(&[&["jobs"], words].concat());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (said.status.code().unwrap_or(-1), text(&said.stdout), text(&said.stderr))
}

fn jobs_json(ground: &Ground, words: &[&str]) -> Value {
    let (code, out, err) = jobs(ground, &[words, &["--json"]].concat());
    serde_json::from_str(&out).unwrap_or_else(|_| panic!("{code}: {out}{err}"))
}

/// Returns the sockets of all sessions in haft's state.
fn sockets(ground: &Ground) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![ground.place.root().join("state/haft/workspaces")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type().expect("it is there") {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_socket() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found
}

fn started(ground: &Ground, command: &str, name: &str) -> Session {
    let mut session = Session::of(ground);
    start(&mut session, command, name);
    session
}

#[test]
fn another_process_lists_reads_signals_and_stops_a_job_and_the_model_loses_nothing() {
    for_everybody(&|ground| {
        let ground = ground.another();
        let mut session = Session::of(&ground);
        let none = jobs(&ground, &[]);
        assert!(none.0 == 0 && none.2.contains("No running session has a background job here"), "{none:?}");
        assert!(sockets(&ground).is_empty(), "a session without jobs has no socket");
        start(&mut session, TALKER, "talker");
        let waited = jobs(&ground, &["wait", "talker", "--line", "first"]);
        assert_eq!(waited.0, 0, "{waited:?}");

        let listed = jobs_json(&ground, &[]);
        let job = &listed["jobs"][0];
        assert_eq!(
            (&job["name"], &job["number"], &job["running"]),
            (&json!("talker"), &json!(1), &json!(true)),
            "{listed:#}"
        );
        let id = job["session"].as_str().expect("it has a name").to_owned();
        assert!(id.starts_with("call-"), "{id}");
        let (code, out, _) = jobs(&ground, &["output", &format!("{id}:1")]);
        assert_eq!((code, &*out), (0, "first\n"));
        let sent = jobs(&ground, &["signal", "talker", "USR1"]);
        assert!(sent.0 == 0 && sent.1.contains("sent signal 10 (SIGUSR1)"), "{sent:?}");
        assert_eq!(jobs(&ground, &["wait", "1", "--line", "got it", "--timeout", "20"]).0, 0);
        let late = jobs(&ground, &["wait", "1", "--line", "never", "--timeout", "0.1"]);
        assert!(late.0 == 4 && late.2.contains("Not within 0.1 s."), "{late:?}");
        let unknown = jobs(&ground, &["stop", "none"]);
        assert!(unknown.0 == 2 && unknown.2.contains("there is no job \"none\""), "{unknown:?}");

        let read = session.call("jobs", &json!({ "action": "output" }));
        assert!(text(&read).starts_with("first\ngot it\n"), "what others read is new to the model: {read:#}");
        let stopped = jobs(&ground, &["stop", "talker"]);
        assert!(stopped.0 == 0 && stopped.1.contains("was stopped after"), "{stopped:?}");
        assert!(stopped.1.contains("change set 1: created made.txt"), "{stopped:?}");
        assert!(ground.place.path("made.txt").exists());
        let told = session.call("list_dir", &json!({ "path": "." }));
        assert!(text(&told).contains("Job 1 \"talker\" was stopped after"), "the model is told: {told:#}");
        session.end();
        assert!(sockets(&ground).is_empty(), "{:?}", sockets(&ground));
    });
}

#[test]
fn a_job_of_several_sessions_is_named_with_its_session_and_found_from_a_folder_below() {
    let ground = Ground::own();
    ground.lay_out("mkdir below");
    let (one, two) = (started(&ground, TALKER, "web"), started(&ground, TALKER, "web"));
    let ambiguous = jobs(&ground, &["output", "web"]);
    assert!(
        ambiguous.0 == 2 && ambiguous.2.contains("several sessions have a job \"web\"; name one of them: call-"),
        "{ambiguous:?}"
    );
    let below = ground.place.path("below");
    let (_, out, err) = jobs(&ground, &["-C", &below.to_string_lossy()]);
    let names: Vec<&str> = out.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() == 2 && names[0] != names[1], "{out}{err}");
    for name in names {
        let session = name.strip_suffix(":1").expect("it has one job");
        let stopped = jobs(&ground, &["stop", &format!("{session}:web")]);
        assert_eq!(stopped.0, 0, "{stopped:?}");
    }
    one.end();
    two.end();
}

#[test]
fn following_shows_what_is_printed_until_the_job_ends() {
    let ground = Ground::own();
    let mut session = Session::of(&ground);
    start(&mut session, "echo one; until [ -e /tmp/go ]; do :; done; echo two; exit 3", "prints");
    let mut command = ground.place.haft(&ground.around, &["jobs", "output", "prints", "--follow"]);
    let mut following =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let mut lines = BufReader::new(following.stdout.take().expect("it is piped")).lines();
    assert_eq!(lines.next().expect("there is one").expect("it is text"), "one");
    session.call("bash", &json!({ "command": "touch /tmp/go" }));
    assert_eq!(lines.next().expect("there is one").expect("it is text"), "two");
    let said = following.wait_with_output().expect("it ends");
    let words = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success() && words.contains("[job 1 \"prints\" ended with exit code 3 after"), "{words}");
    session.end();
}

/// `haft jobs open`, which runs until it is told to end.
struct Opened {
    haft: Child,
    address: String,
}

impl Opened {
    fn of(ground: &Ground, words: &[&str]) -> Self {
        let mut command = ground.place.haft(&ground.around, &[&["jobs", "open", "--json"], words].concat());
        let mut haft =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        let mut line = String::new();
        BufReader::new(haft.stdout.as_mut().expect("it is piped")).read_line(&mut line).expect("it is text");
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|_| {
            let mut words = String::new();
            let _ = haft.stderr.take().expect("it is piped").read_to_string(&mut words);
            panic!("{line}{words}")
        });
        Self { haft, address: said["address"].as_str().expect("it is text").to_owned() }
    }

    fn get(&self) -> String {
        let mut browser = TcpStream::connect(&self.address).expect("it listens");
        write!(browser, "GET / HTTP/1.0\r\n\r\n").expect("it reads");
        let mut page = String::new();
        let _ = browser.read_to_string(&mut page);
        page
    }
}

#[test]
fn a_port_of_a_job_is_opened_for_a_browser_until_ctrl_c_or_the_end_of_the_session() {
    if !has_python() {
        return;
    }
    for_everybody(&|ground| {
        let ground = ground.another();
        ground.lay_out("mkdir site; echo from-inside > site/index.html");
        let nobody = jobs(&ground, &["open", "8124"]);
        assert!(nobody.0 == 2 && nobody.2.contains("No running session has a background job here"), "{nobody:?}");
        let mut session = Session::of(&ground);
        start(&mut session, "exec python3 -m http.server 8124 --bind 127.0.0.1 -d site", "web");
        let ready = jobs(&ground, &["wait", "web", "--port", "8124", "--timeout", "30"]);
        assert_eq!(ready.0, 0, "{ready:?}");
        let closed = jobs(&ground, &["open", "8125"]);
        assert!(closed.0 == 2 && closed.2.contains("no program of a session listens on port 8125"), "{closed:?}");

        let mut opened = Opened::of(&ground, &["8124"]);
        assert!(opened.address.starts_with("127.0.0.1:"), "{}", opened.address);
        for _ in 0..20 {
            let page = opened.get();
            assert!(page.starts_with("HTTP/1.0 200") && page.ends_with("from-inside\n"), "{page}");
        }
        kill_process(Pid::from_child(&opened.haft), Signal::INT).expect("it runs");
        assert!(opened.haft.wait().expect("it ends").success());
        assert!(TcpStream::connect(&opened.address).is_err(), "it listens no more");

        let opened = Opened::of(&ground, &["8124"]);
        assert!(opened.get().ends_with("from-inside\n"));
        jobs(&ground, &["stop", "web"]);
        assert_eq!(opened.get(), "", "nothing listens inside");
        session.end();
        let said = opened.haft.wait_with_output().expect("it ends with the session");
        let words = String::from_utf8_lossy(&said.stderr);
        assert!(
            said.status.success() && words.contains("it has ended") && words.contains("No connection to port 8124"),
            "{words}"
        );
    });
}

#[test]
fn a_holder_that_was_killed_is_forgotten_and_one_that_hangs_is_named() {
    let ground = Ground::own();
    let (killed, hangs) = (started(&ground, TALKER, "killed"), started(&ground, TALKER, "hangs"));
    killed.kill();
    let listed = jobs_json(&ground, &[]);
    assert_eq!(listed["jobs"].as_array().map(Vec::len), Some(1), "{listed:#}");
    assert_eq!((&listed["jobs"][0]["name"], &listed["silent"]), (&json!("hangs"), &json!([])), "{listed:#}");
    assert_eq!(sockets(&ground).len(), 1, "what the killed one left is removed");

    let pid = Pid::from_child(&hangs.haft);
    kill_process(pid, Signal::STOP).expect("it runs");
    let since = Instant::now();
    let listed = jobs_json(&ground, &[]);
    kill_process(pid, Signal::CONT).expect("it runs");
    assert!(since.elapsed() < Duration::from_secs(15), "{:?}", since.elapsed());
    assert_eq!(listed["silent"][0]["why"], "its process does not answer", "{listed:#}");
    let mut command = ground.place.haft(&ground.around, &["jobs", "wait", "hangs", "--timeout", "60"]);
    let waiting = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    assert_eq!(jobs(&ground, &["signal", "hangs", "USR1"]).0, 0, "it goes on");
    hangs.kill();
    let said = waiting.wait_with_output().expect("it ends");
    let words = String::from_utf8_lossy(&said.stderr);
    let is_told = words.contains("has ended, and its jobs with it") || words.contains("No running session");
    assert!(!said.status.success() && is_told, "whoever waits learns it: {words}");
}

#[test]
fn garbage_and_many_clients_on_the_socket_disturb_nobody() {
    let ground = Ground::own();
    let mut session = started(&ground, TALKER, "talker");
    let socket = sockets(&ground).pop().expect("it listens");
    let folder = std::fs::File::open(socket.parent().expect("it has one")).expect("it is ours");
    // Sockets have no long paths.
    let name = socket.file_name().expect("it has one").to_string_lossy().into_owned();
    let socket = format!("/proc/self/fd/{}/{name}", folder.as_raw_fd());
    let say = |bytes: &[u8]| {
        let mut client = UnixStream::connect(&socket).expect("it listens");
        let _ = client.write_all(bytes);
        let mut said = String::new();
        let _ = client.read_to_string(&mut said);
        said
    };
    assert!(say(b"\0\xff garbage\n").contains("it is not a message of haft"));
    assert!(say(b"{\"v\":9,\"say\":{\"list\":{}}}\n").contains("it speaks version 9 of the protocol"));
    assert!(say(b"{\"v\":1,\"say\":{\"explode\":{}}}\n").contains("refused"));
    assert_eq!(say(&[b'x'; 1_000_000]), "", "too long to be read");
    assert_eq!(say(b"{\"v\":1,\"say\":{\"list\":{}}}\n{\"v\":1"), "", "more than one question");
    assert!(say(b"{\"v\":1,\"say\":{\"list\":{}}}\n").contains("talker"));
    // Those that say nothing, and those that never take their answer.
    let silent: Vec<UnixStream> = (0..40).map(|_| UnixStream::connect(&socket).expect("it listens")).collect();
    for mut client in &silent[..20] {
        client.write_all(b"{\"v\":1,\"say\":{\"stay\":{}}}\n").expect("it reads");
    }
    let record = session.call("bash", &json!({ "command": "echo call" }));
    assert_eq!(text(&record), "call\n");
    assert_eq!(jobs(&ground, &["output", "talker"]).1, "first\n");
    drop(silent);
    session.end();
}

#[test]
fn another_user_reaches_no_job() {
    let ground = Ground::own();
    let session = started(&ground, TALKER, "talker");
    let socket = sockets(&ground).pop().expect("it listens");
    let mut folder = socket.parent().expect("it has one");
    // Also where every folder on the way is open to everybody.
    let open = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
    };
    open(&socket, 0o777).expect("it is ours");
    while folder != ground.place.root() {
        open(folder, 0o755).expect("it is ours");
        folder = folder.parent().expect("it has one");
    }
    let script = "import socket, sys\ns = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); print('connected', flush=True)\n\
                  s.sendall(b'{\"v\":1,\"say\":{\"list\":{}}}\\n')\nprint('heard', s.recv(1000))";
    let mut other = std::process::Command::new("setpriv");
    other.args(["--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", script]);
    other.arg(socket.file_name().expect("it has one")).current_dir(socket.parent().expect("it has one"));
    let said =
        other.output().map(|said| [said.stdout, said.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()));
    let said = said.unwrap_or_default();
    if Need::Users.met(rustix::process::geteuid().is_root() && said[0].starts_with("connected\n")) {
        let is_cut_off = ["ConnectionResetError", "BrokenPipeError"].iter().any(|error| said[1].contains(error));
        assert!(said[0].ends_with("heard b''\n") || is_cut_off, "{said:?}");
    }
    session.end();
}
