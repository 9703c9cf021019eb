//! Sessions that several processes share: one holder for each, which never outlives its purpose.

use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use super::super::Place;
use super::{line, place, signal, started, until};

/// Ends the holders of a place when the test is over.
struct Ending<'a>(&'a Place);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        for pid in holders(self.0) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Returns the processes that hold sessions of a place.
fn holders(place: &Place) -> Vec<Pid> {
    let root = place.root().to_string_lossy().into_owned();
    let is_holder = |words: &str| words.starts_with("haft-holder\0") && words.contains(&*root);
    pids().into_iter().filter(|pid| is_holder(&words_of(*pid))).collect()
}

fn pids() -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").expect("there is /proc").flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)).collect()
}

fn words_of(pid: Pid) -> String {
    std::fs::read_to_string(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default()
}

/// Returns whether a process with this word in its command line runs.
fn runs(word: &str) -> bool {
    pids().into_iter().any(|pid| {
        let words = words_of(pid);
        words.contains(word) && !words.contains("exec\0")
    })
}

/// A number of seconds that no other test sleeps.
fn unique(number: u32) -> String {
    format!("{}.{number}", 5_000_000 + std::process::id())
}

fn in_session(place: &Place, arguments: &[&str]) -> (i32, String, String) {
    let said = place.haft(&[&["exec", "--session", "s1"], arguments].concat(), "");
    (said.code, said.out, said.err)
}

/// Returns the folders of sessions that are left in haft's state.
fn left_over(place: &Place) -> Vec<PathBuf> {
    let mut folders = vec![place.path("home/.local/state/haft/workspaces")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("haft-held-") || name.starts_with("haft-private-") {
                found.push(entry.path());
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    found
}

#[test]
fn commands_of_separate_processes_share_home_and_temporary_files_and_jobs() {
    let Some(place) = place() else { return };
    let _ending = Ending(&place);
    assert_eq!(in_session(&place, &["-c", "echo a > ~/a; echo b > /tmp/b; echo c > /dev/shm/c"]).0, 0);
    let (code, out, err) = in_session(&place, &["-c", "cat ~/a /tmp/b /dev/shm/c"]);
    assert_eq!((code, &*out), (0, "a\nb\nc\n"), "{err}");
    assert_eq!(holders(&place).len(), 1);
    let other = place.haft(&["exec", "--session", "s2", "-c", "cat ~/a"], "");
    assert_eq!((other.code, &*other.out), (1, ""), "{}", other.err);

    let server = "exec 3<>/dev/tcp/127.0.0.1/1 2>/dev/null; python3 -c \"
import socket
s = socket.create_server(('127.0.0.1', 8099)); print('up', flush=True)
while True:
    c, _ = s.accept(); c.sendall(b'hello'); c.close()\"";
    let (code, _, err) = in_session(&place, &["--yes", "--background", "--name", "web", "-c", server]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("web"), "{err}");
    assert_eq!(place.haft(&["jobs", "wait", "web", "--port", "8099"], "").code, 0);
    let (code, out, err) = in_session(&place, &["--yes", "-c", "cat < /dev/tcp/127.0.0.1/8099"]);
    assert_eq!((code, &*out), (0, "hello"), "{err}");
}

#[test]
fn changes_in_a_session_are_recorded_under_its_name_and_undone() {
    let Some(place) = place() else { return };
    let _ending = Ending(&place);
    for text in ["one", "two"] {
        assert_eq!(in_session(&place, &["--yes", "-c", &format!("echo {text} >> a.txt")]).0, 0);
    }
    assert!(place.haft(&["log", "--json"], "").out.contains("\"s1\""));
    assert_eq!(place.haft(&["undo", "--session"], "").code, 0);
    assert_eq!(place.get("ws/a.txt"), None);
}

#[test]
fn two_commands_run_at_the_same_time_and_the_end_of_a_client_is_not_the_end_of_the_session() {
    let Some(place) = place() else { return };
    let _ending = Ending(&place);
    let sleeps = unique(1);
    let script = format!("echo x > /tmp/x; echo ready; sleep {sleeps}");
    let mut first = started(&place, &["exec", "--session", "s1", "-c", &script]);
    assert_eq!(line(first.stdout.as_mut().expect("it is piped")), "ready");
    assert_eq!(in_session(&place, &["-c", "cat /tmp/x"]).1, "x\n");
    signal(&first, Signal::KILL);
    first.wait().expect("it ends");
    until("the command of a killed client ends", || !runs(&sleeps));
    assert_eq!(in_session(&place, &["-c", "cat /tmp/x"]).1, "x\n");
    assert_eq!(holders(&place).len(), 1);
}

#[test]
fn a_session_ends_with_its_owner() {
    let Some(place) = place() else { return };
    let _ending = Ending(&place);
    let sleeps = unique(2);
    let mut owner = std::process::Command::new("sleep").arg("1000").spawn().expect("it can be started");
    let pid = owner.id().to_string();
    let job = format!("sleep {sleeps}");
    let words = ["--yes", "--owner", &pid, "--background", "-c", &job];
    assert_eq!(in_session(&place, &words).0, 0);
    assert!(runs(&sleeps));
    owner.kill().expect("it is there");
    owner.wait().expect("it ends");
    until("the holder ends", || holders(&place).is_empty());
    until("the job ends", || !runs(&sleeps));
    until("nothing is left on disk", || left_over(&place).is_empty());
    assert_eq!(in_session(&place, &["--owner", &pid, "--", "true"]).0, 2);
}

#[test]
fn when_the_holder_is_killed_nothing_is_left_and_the_client_says_so() {
    let Some(place) = place() else { return };
    let _ending = Ending(&place);
    let sleeps = unique(3);
    let script = format!("echo x > lost.txt; echo ready; sleep {sleeps}");
    let mut client = started(&place, &["exec", "--yes", "--session", "s1", "-c", &script]);
    assert_eq!(line(client.stdout.as_mut().expect("it is piped")), "ready");
    for pid in holders(&place) {
        kill_process(pid, Signal::KILL).expect("it is there");
        until("the holder ends", || test_kill_process(pid).is_err());
    }
    let output = client.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("was killed"), "{err}");
    until("the command ends", || !runs(&sleeps));
    assert_eq!(place.get("ws/lost.txt"), None);
    assert_eq!(in_session(&place, &["-c", "echo again"]).1, "again\n");
}

#[test]
fn a_session_that_nobody_uses_ends() {
    let Some(place) = place() else { return };
    let _ending = Ending(&place);
    place.put("home/.config/haft/config.toml", "[commands]\nidle = 0.5\n");
    let sleeps = unique(4);
    assert_eq!(in_session(&place, &["--yes", "--background", "-c", &format!("sleep {sleeps}")]).0, 0);
    until("the holder ends", || holders(&place).is_empty());
    until("its job ends", || !runs(&sleeps));
    until("nothing is left on disk", || left_over(&place).is_empty());
}

#[test]
fn many_clients_that_come_at_the_same_time_start_one_holder() {
    let Some(place) = place() else { return };
    let _ending = Ending(&place);
    let clients: Vec<_> =
        (0..6).map(|_| started(&place, &["exec", "--session", "s1", "-c", "echo x >> ~/all"])).collect();
    for client in clients {
        let output = client.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(in_session(&place, &["-c", "wc -l < ~/all"]).1.trim(), "6");
    assert_eq!(holders(&place).len(), 1);
}

#[test]
fn a_mistake_in_the_settings_is_told_by_whoever_starts_the_session() {
    let Some(place) = place() else { return };
    place.put("home/.config/haft/config.toml", "[commands]\nidle = \"long\"\n");
    let (code, _, err) = in_session(&place, &["--", "true"]);
    assert!(code == 2 && err.contains("config.toml:2"), "{code}: {err}");
}
