//! A disk that is full, read-only or limited, and files that are not ours: the old content stays, nothing is left
//! over, and the error says why.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

use haft_testkit::require::Need;
use serde_json::Value;

use crate::place::{Place, edit, lines, read, write};

/// Runs what follows with files limited to `$0` bytes, with the signal that ends programs which write more.
const LIMITED: &str = "exec prlimit --fsize=\"$0\" \"$@\"";

/// Tells what is in a folder before the calls, makes them, and tells again.
const IN_NAMESPACE: &str = r#"
tell() { find "$ROOT/ws" -printf '%p %m %l\n' | sort; find "$ROOT/ws" -type f -exec cksum {} + | sort; }
eval "$SETUP" || exit 77
cd "$ROOT/ws"
before=$(tell)
"$@" < "$ROOT/calls"
[ "$before" = "$(tell)" ] && echo '"same"' || { echo '"another"'; tell >&2; }
"#;

fn big(letter: &str, kilobytes: usize) -> String {
    format!("{}\n", letter.repeat(63)).repeat(kilobytes * 16)
}

fn limited(bytes: u64) -> [String; 4] {
    ["sh".into(), "-c".into(), LIMITED.into(), bytes.to_string()]
}

#[test]
fn wherever_a_limit_of_file_size_strikes_a_change_is_done_or_nothing_is() {
    let place = Place::new();
    place.put("big.txt", &big("o", 100));
    place.put("small.txt", "small\n");
    let beginning = place.tree();
    let (mut done, mut failed) = (0, 0);
    let mut call = |bytes: u64, call: Value| {
        let before = place.tree();
        let around = limited(bytes);
        let around: Vec<&str> = around.iter().map(String::as_str).collect();
        let record = &place.call(&around, &[call])[0];
        assert!(place.leftovers().is_empty(), "{bytes} bytes: {:?}", place.leftovers());
        if record["status"] == "ok" {
            done += 1;
            return;
        }
        failed += 1;
        assert_eq!((&record["error"]["kind"], &record["did"]), (&"io".into(), &"nothing".into()), "{record}");
        assert!(place.tree() == before, "{bytes} bytes: something changed: {record}");
    };
    // The records of one small change are torn at many places.
    for step in 0..24 {
        let journal = journal_size(&place);
        call(journal + step * 53, write(&format!("new{step}/small.txt"), "x\n"));
    }
    for step in 0..14 {
        call(step * 11_001, write("big.txt", &big(&(step % 10).to_string(), 120)));
    }
    assert!(done > 5 && failed > 10, "{done} done, {failed} failed");
    while place.run(&["undo"]).status.success() {}
    assert!(place.tree() == beginning, "not everything was taken back");
}

fn journal_size(place: &Place) -> u64 {
    let mut states = std::fs::read_dir(place.root().join("state/haft/workspaces")).into_iter().flatten().flatten();
    let journal = states.next().map(|state| state.path().join("journal/journal"));
    journal.and_then(|journal| std::fs::metadata(journal).ok()).map_or(0, |facts| facts.len())
}

/// Makes calls in a mount namespace of their own after a setup; returns the records, and whether the tree is the same.
fn in_namespace(place: &Place, setup: &str, calls: &[Value]) -> Option<(Vec<Value>, bool)> {
    std::fs::write(place.root().join("calls"), lines(calls)).expect("it can be written");
    let unshare = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", IN_NAMESPACE, "sh"];
    let mut command: Command = place.haft(&unshare, &["--yes", "call", "-"]);
    let output = command.env("ROOT", place.root()).env("SETUP", setup).output().expect("it can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut told: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    // Not every machine lets an ordinary user mount something; then the limit of file size must do.
    let is_same = Need::Mounts.found(told.pop().as_ref().and_then(Value::as_str).map(|word| word == "same"))?;
    assert_eq!(told.len(), calls.len(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    Some((told, is_same))
}

/// Makes sure that every call failed in this way and changed nothing.
fn assert_refused(setup: &str, kind: &str, words: &str) {
    let place = Place::new();
    place.put("big.txt", &big("o", 100));
    place.put("small.txt", "small\n");
    let calls = [write("big.txt", &big("n", 400)), write("new/deep/f.txt", &big("n", 400))];
    let Some((records, is_same)) = in_namespace(&place, setup, &calls) else { return };
    for record in &records {
        assert_eq!(
            (&record["status"], &record["error"]["kind"]),
            (&"failed".into(), &kind.into()),
            "{setup}: {record}"
        );
        let what = record["error"]["what"].as_str().unwrap_or_default();
        assert!(what.contains(words), "{setup}: {what}");
        assert_eq!(record["did"], "nothing");
    }
    assert!(is_same, "{setup}: something was changed or left over");
}

const COPIED: &str = r#"cp -a "$ROOT/ws/." "$ROOT/home" && mount -t tmpfs -o OPTIONS none "$ROOT/ws" && cp -a "$ROOT/home/." "$ROOT/ws""#;

#[test]
fn a_full_disk_of_the_workspace_keeps_the_old_content() {
    assert_refused(&COPIED.replace("OPTIONS", "size=256k"), "io", "disk is full");
}

#[test]
fn a_disk_without_room_for_another_name_keeps_the_old_content() {
    assert_refused(&COPIED.replace("OPTIONS", "nr_inodes=3"), "io", "disk is full");
}

#[test]
fn a_full_disk_of_the_state_lets_nothing_be_changed() {
    let fill =
        r#"mount -t tmpfs -o size=64k none "$ROOT/state" && { head -c 99999 /dev/zero > "$ROOT/state/full"; true; }"#;
    assert_refused(fill, "io", "could not be kept for undo");
}

#[test]
fn a_disk_of_the_state_too_small_for_the_old_content_lets_nothing_be_changed() {
    let place = Place::new();
    place.put("big.txt", &big("o", 100));
    let setup = r#"mount -t tmpfs -o size=80k none "$ROOT/state""#;
    let calls = [write("small.txt", "fits\n"), write("big.txt", "no room for the old one\n")];
    let Some((records, _)) = in_namespace(&place, setup, &calls) else { return };
    assert_eq!((&records[0]["status"], &records[1]["error"]["kind"]), (&"ok".into(), &"io".into()), "{records:?}");
    assert_eq!(std::fs::read_to_string(place.path("big.txt")).expect("it is there"), big("o", 100));
    assert!(place.leftovers().is_empty());
}

fn bash(command: &str) -> Value {
    serde_json::json!({ "name": "bash", "arguments": { "command": command } })
}

#[test]
fn what_a_command_wrote_into_a_full_disk_of_the_state_is_not_committed() {
    let place = Place::new();
    place.put("small.txt", "small\n");
    place.put("other.txt", "other\n");
    // The journal has room for a small record in its last page, and the layer has none.
    let fill = r#"mount -t tmpfs -o size=2m none "$ROOT/state"
        echo '{"name":"bash","arguments":{"command":"echo y > other.txt"}}' | (cd "$ROOT/ws" && "$@") > /dev/null
        head -c 9999999 /dev/zero > "$ROOT/state/full"; true"#;
    let Some((records, is_same)) = in_namespace(&place, fill, &[bash("echo new > small.txt; true")]) else { return };
    assert_full(&records[0]);
    assert!(is_same, "{records:?}");
}

#[test]
fn a_command_that_fills_the_disk_of_the_state_changes_nothing_and_leaves_nothing_there() {
    let place = Place::new();
    place.put("small.txt", "small\n");
    let setup = r#"mount -t tmpfs -o size=3m none "$ROOT/state""#;
    let fills = "head -c 9999999 /dev/zero > big.bin; echo new > small.txt; true";
    let calls = [bash(fills), bash("cat small.txt; ls"), bash("rm small.txt; echo small > small.txt")];
    let Some((records, is_same)) = in_namespace(&place, setup, &calls) else { return };
    assert!(is_same, "{records:?}");
    assert_full(&records[0]);
    for record in &records[1..] {
        assert_eq!(record["status"], "ok", "when the layer is gone, there is space again: {record}");
    }
}

fn assert_full(record: &Value) {
    assert_eq!((&record["status"], &record["error"]["kind"]), (&"failed".into(), &"io".into()), "{record}");
    assert_eq!(record["did"], "nothing", "{record}");
    let what = record["error"]["what"].as_str().unwrap_or_default();
    assert!(what.starts_with("The disk of haft's state is full") && what.contains("/state/haft/"), "{what}");
    assert!(record["error"]["next"].to_string().contains("free some space"), "{record}");
}

#[test]
fn a_read_only_disk_is_told_as_such() {
    let read_only = |folder: &str| {
        format!(r#"mount --bind "$ROOT/{folder}" "$ROOT/{folder}" && mount -o remount,ro,bind "$ROOT/{folder}""#)
    };
    assert_refused(&read_only("ws"), "permission", "read-only disk");
    assert_refused(&read_only("state"), "io", "could not be kept for undo");
}

#[test]
fn an_undo_of_more_files_than_may_be_open_at_once_is_done() {
    let place = Place::new();
    for number in 0..150 {
        place.put(&format!("{number}.txt"), "old\n");
    }
    let beginning = place.tree();
    let calls: Vec<Value> = (0..150).map(|number| write(&format!("{number}.txt"), "new\n")).collect();
    place.call(&[], &calls);
    let output = place.run_around(&["prlimit", "--nofile=100"], &["--json", "undo", "--session"], "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(place.tree() == beginning, "not everything was taken back");
}

/// Returns the words that run a command as an ordinary user, and gives that user the place.
fn as_ordinary_user(place: &Place) -> Option<Vec<&'static str>> {
    let is_root = std::fs::metadata("/proc/self").expect("it is there").uid() == 0;
    if !is_root {
        return Some(Vec::new());
    }
    let chown = Command::new("chown").args(["-R", "65534:65534"]).arg(place.root()).status();
    let words = vec!["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let tried = place.run_around(&words, &["--version"], "");
    (chown.is_ok_and(|status| status.success()) && tried.status.success()).then_some(words)
}

#[test]
fn what_an_ordinary_user_may_not_write_or_read_stays_and_is_told() {
    let place = Place::new();
    place.put("closed/a.txt", "a\n");
    place.put("shut.txt", "s\n");
    let Some(around) = Need::Users.found(as_ordinary_user(&place)) else { return };
    let modes = [("closed", 0o555), ("shut.txt", 0o000)];
    for (name, mode) in modes {
        std::fs::set_permissions(place.path(name), PermissionsExt::from_mode(mode)).expect("it is ours");
    }
    let calls = [
        write("closed/a.txt", "b\n"),
        write("closed/new.txt", "n\n"),
        write("closed/deep/new.txt", "n\n"),
        read("shut.txt"),
        edit("shut.txt", "s", "t"),
        write("shut.txt", "t\n"),
    ];
    let records = place.call(&around, &calls);
    for (record, call) in records.iter().zip(&calls) {
        assert_eq!(
            (&record["error"]["kind"], &record["did"]),
            (&"permission".into(), &"nothing".into()),
            "{call}: {record}"
        );
    }
    for (name, _) in modes {
        std::fs::set_permissions(place.path(name), PermissionsExt::from_mode(0o755)).expect("it is ours");
    }
    let texts =
        ["closed/a.txt", "shut.txt"].map(|name| std::fs::read_to_string(place.path(name)).expect("it is there"));
    assert_eq!((texts, place.tree().len()), (["a\n".to_owned(), "s\n".to_owned()], 3));
}
