//! `haft exec`: a command with its own streams, its exit code and its signals, in the sandbox and with undo.

#[path = "exec/sessions.rs"]
mod sessions;
#[path = "exec/terminals.rs"]
mod terminals;

use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use haft_testkit::require::Need;
use haft_testkit::scratch_home::output_of;
use rustix::process::{Pid, Signal, kill_process};

use super::Place;

/// A program that does not act within this time hangs.
const HANGS: Duration = Duration::from_secs(30);

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < HANGS, "it does not happen: {what}");
        std::thread::yield_now();
    }
}

/// Returns a place where commands can be confined, if there is one.
fn place() -> Option<Place> {
    let place = Place::new();
    Need::Full.met(place.haft(&["call", "bash", "true"], "").err.contains("sandbox: full")).then_some(place)
}

/// Starts the command with pipes.
fn started(place: &Place, arguments: &[&str]) -> Child {
    place.command(arguments).spawn().expect("it can be started")
}

fn signal(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("it has a number");
    kill_process(pid, signal).expect("it is there");
}

/// Reads a line that a command prints.
fn line(stream: &mut impl Read) -> String {
    let mut line = Vec::new();
    let mut byte = [0];
    while stream.read(&mut byte).expect("it can be read") == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    String::from_utf8(line).expect("it is text")
}

#[test]
fn every_byte_passes_through_both_streams_and_the_input() {
    let Some(place) = place() else { return };
    let all: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    let output = output_of(place.command(&["exec", "-c", "tee /dev/stderr"]), &all);
    assert!(output.stdout == all, "stdout differs");
    assert!(output.stderr == all, "stderr differs, or haft said something: {}", output.stderr.len());
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn words_arrive_as_they_are() {
    let Some(place) = place() else { return };
    let words = ["a b", "", "it's", "$HOME", "*", "-n", "x\ny", "\\", "é\u{1b}", "A=1", "if"];
    let said = place.haft(&[&["exec", "--", "printf", "<%s>"][..], &words].concat(), "");
    let expected: String = words.iter().map(|word| format!("<{word}>")).collect();
    assert_eq!((said.out, said.code), (expected, 0), "{}", said.err);
}

#[test]
fn the_exit_code_is_that_of_the_command_or_128_and_the_signal() {
    let Some(place) = place() else { return };
    let code = |arguments: &[&str]| place.haft(&[&["exec", "--yes=all"], arguments].concat(), "").code;
    assert_eq!(code(&["--", "true"]), 0);
    assert_eq!(code(&["-c", "exit 7"]), 7);
    assert_eq!(code(&["-c", "exit 255"]), 255);
    assert_eq!(code(&["--", "sh", "-c", "kill -9 $$"]), 137);
    assert_eq!(code(&["--", "sh", "-c", "kill -TERM $$"]), 143);
    assert_eq!(code(&["--", "no-such-program"]), 127);
    assert_eq!(code(&["--timeout", "0.3", "--", "sleep", "1000"]), 4);
    assert_eq!(code(&[]), 2);
    assert_eq!(code(&["--session", "a/b", "--", "true"]), 2);
}

#[test]
fn a_pipe_that_nobody_reads_ends_the_command() {
    let Some(place) = place() else { return };
    let mut child = started(&place, &["exec", "--quiet", "--", "yes"]);
    let mut out = child.stdout.take().expect("it is piped");
    assert_eq!(line(&mut out), "y");
    drop(out);
    assert_eq!(child.wait().expect("it ends").code(), Some(141));
}

#[test]
fn a_command_takes_no_more_of_its_input_than_it_reads() {
    let Some(place) = place() else { return };
    place.put("in.txt", "one\ntwo\n");
    let file = std::fs::File::open(place.path("in.txt")).expect("it is there");
    let mut command = place.command(&["exec", "--", "bash", "-c", "read x; echo $x"]);
    command.stdin(Stdio::from(file.try_clone().expect("it is open")));
    let output = command.output().expect("it runs");
    let mut rest = String::new();
    { &file }.read_to_string(&mut rest).expect("it can be read");
    assert_eq!((String::from_utf8_lossy(&output.stdout).as_ref(), &*rest), ("one\n", "two\n"));
}

#[test]
fn a_signal_goes_to_the_command_and_what_it_had_changed_can_be_undone() {
    let Some(place) = place() else { return };
    let script = "trap 'echo got it; exit 5' INT; echo x > made.txt; echo ready; while :; do sleep 0.05; done";
    let mut child = started(&place, &["exec", "--yes", "-c", script]);
    let mut out = child.stdout.take().expect("it is piped");
    assert_eq!(line(&mut out), "ready");
    signal(&child, Signal::INT);
    assert_eq!(line(&mut out), "got it");
    let output = child.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(5), "{err}");
    assert!(err.lines().last().is_some_and(|last| last.contains("made.txt") && last.contains("undo")), "{err}");
    assert_eq!(place.get("ws/made.txt").as_deref(), Some("x\n"));
    assert_eq!(place.haft(&["undo"], "").code, 0);
    assert_eq!(place.get("ws/made.txt"), None);
}

#[test]
fn changes_are_one_line_at_the_end_which_quiet_drops_and_a_trial_discards_them() {
    let Some(place) = place() else { return };
    let said = place.haft(&["exec", "--yes", "-c", "echo a > a.txt; echo b > b.txt"], "");
    assert_eq!((said.code, &*said.out, said.err.lines().count()), (0, "", 1), "{}", said.err);
    assert!(said.err.starts_with("haft: change set 1: ") && said.err.contains("haft undo 1"), "{}", said.err);
    let quiet = place.haft(&["exec", "--yes", "--quiet", "-c", "rm b.txt"], "");
    assert_eq!((quiet.code, &*quiet.err), (0, ""));
    let tried = place.haft(&["exec", "--try", "--yes", "-c", "echo new > a.txt; echo shown"], "");
    assert_eq!((tried.code, &*tried.out), (0, "shown\n"), "{}", tried.err);
    assert!(tried.err.contains("+ new") && tried.err.contains("nothing was kept"), "{}", tried.err);
    assert_eq!(place.get("ws/a.txt").as_deref(), Some("a\n"));
    assert_eq!(place.haft(&["undo", "--session"], "").code, 0);
    assert_eq!(place.get("ws/b.txt").as_deref(), Some("b\n"));
}

#[test]
fn without_anyone_to_ask_a_question_is_refused_with_its_reason() {
    let Some(place) = place() else { return };
    place.put("ws/data/a.txt", "a\n");
    let said = place.haft(&["exec", "-c", "rm -rf data"], "");
    assert_eq!((said.code, &*said.out), (3, ""), "{}", said.err);
    assert!(said.err.contains("--yes"), "{}", said.err);
    assert!(place.get("ws/data/a.txt").is_some());
    let denied = place.haft(&["exec", "--yes=all", "-c", "haft undo"], "");
    assert_eq!(denied.code, 3, "{}", denied.err);
}

#[test]
fn the_environment_is_that_of_every_command_and_the_folder_is_the_callers() {
    let Some(mut place) = place() else { return };
    place.put("home/.config/haft/config.toml", "[sandbox]\nvariables = [\"MY_*\"]\n");
    place.variables.push(("MY_FLAG", "one two"));
    place.variables.push(("BASH_FUNC_ls%%", "() { echo no; }"));
    let said = place.haft(&["exec", "-c", "echo \"$MY_FLAG|$(ls src)|$TERM\""], "");
    assert_eq!((&*said.out, said.code), ("one two|main.rs|dumb\n", 0), "{}", said.err);
    let mut command = place.command(&["-C", "..", "exec", "--", "pwd"]);
    command.current_dir(place.path("ws/src"));
    let output = output_of(command, "");
    let real = place.path("ws/src").canonicalize().expect("it is there");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), real.to_string_lossy());
}

#[test]
fn input_can_be_written_while_output_is_read() {
    let Some(place) = place() else { return };
    let mut child = started(&place, &["exec", "--", "cat"]);
    let (mut input, mut out) = (child.stdin.take().expect("it is piped"), child.stdout.take().expect("it is piped"));
    for text in ["one", "two"] {
        writeln!(input, "{text}").expect("it reads");
        assert_eq!(line(&mut out), text);
    }
    drop(input);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
