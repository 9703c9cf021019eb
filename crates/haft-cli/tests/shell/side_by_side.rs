//! Commands that run at the same time: each over its own layer, committed one after the other, and nothing is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::ground::{Ground, for_everybody};
use crate::session::{Session, text};

/// Sends commands as one turn; returns their records.
fn turn(ground: &Ground, commands: &[&str]) -> Vec<Value> {
    let mut haft = ground.calling().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("haft is there");
    let mut input = haft.stdin.take().expect("it is piped");
    for command in commands {
        writeln!(input, "{}", json!({ "name": "bash", "arguments": { "command": command } })).expect("haft listens");
    }
    drop(input);
    let output = haft.wait_with_output().expect("it ends");
    String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

/// Runs a script that no rule reads, so that nothing is known of what it touches.
fn unread(ground: &Ground, name: &str, script: &str) -> String {
    ground.lay_out(&format!("cat > {name} <<'EOF'\n{script}\nEOF"));
    format!("sh {name}")
}

fn content(ground: &Ground, path: &str) -> String {
    std::fs::read_to_string(ground.place.path(path)).unwrap_or_default()
}

/// Each of two scripts goes on when the other has come as far: one after the other they would wait for ever.
const FIRST: &str = "touch /tmp/first; until [ -e /tmp/second ]; do sleep 0.01; done";
const SECOND: &str = "touch /tmp/second; until [ -e /tmp/first ]; do sleep 0.01; done";

#[test]
fn commands_of_one_turn_run_at_the_same_time_unless_the_user_does_not_want_it() {
    for_everybody(&|ground| {
        let scripts = [unread(ground, "one.sh", FIRST), unread(ground, "two.sh", SECOND)];
        for record in turn(ground, &[&scripts[0], &scripts[1]]) {
            assert_eq!(record["exit_code"], 0, "{record:#}");
        }
        let folder = ground.place.root().join("config/haft");
        std::fs::create_dir_all(&folder).expect("there is room");
        std::fs::write(folder.join("config.toml"), "[commands]\noverlap = false\n").expect("there is room");
        let looks = "ls /tmp/first > /dev/null 2>&1 && echo there; touch /tmp/first; sleep 0.1; rm /tmp/first";
        let script = unread(ground, "three.sh", looks);
        for record in turn(ground, &[&script, &script, &script]) {
            assert_eq!(text(&record), "(no output)\n", "{record:#}");
        }
    });
}

#[test]
fn changes_of_one_text_in_different_lines_are_merged_and_in_the_same_line_are_a_conflict() {
    for_everybody(&|ground| {
        ground.lay_out("seq 1 9 > a; seq 1 9 > b; printf '\\0\\1' > c");
        let first = unread(ground, "one.sh", &format!("sed -i 's/^1$/one/' a b; printf x >> c; {FIRST}"));
        let second = unread(
            ground,
            "two.sh",
            &format!("sed -i 's/^9$/nine/' a; sed -i 's/^1$/eins/' b; printf y >> c; {SECOND}"),
        );
        let records = turn(ground, &[&first, &second]);
        assert_eq!(content(ground, "a"), "one\n2\n3\n4\n5\n6\n7\n8\nnine\n", "{records:#?}");
        assert_eq!(content(ground, "b"), "one\n2\n3\n4\n5\n6\n7\n8\n9\n", "{records:#?}");
        assert_eq!(content(ground, "b.kept-by-haft"), "eins\n2\n3\n4\n5\n6\n7\n8\n9\n", "{records:#?}");
        let second = &records[1];
        let conflicts = json!([
            { "path": "b", "kept": "b.kept-by-haft", "theirs": "change set 1" },
            { "path": "c", "kept": "c.kept-by-haft", "theirs": "change set 1" },
        ]);
        assert_eq!(second["conflicts"], conflicts, "{second:#}");
        assert_eq!(second["status"], "ok", "{second:#}");
        assert!(second["next"].is_string() && text(second).contains("2 conflicts; next: "), "{second:#}");
        assert!(text(second).contains("Merged with what was changed while the command ran: a."), "{second:#}");
        for _ in 0..2 {
            assert!(ground.haft(&["undo"]).status.success());
        }
        ground.lay_out("seq 1 9 | cmp - a && seq 1 9 | cmp - b && test ! -e b.kept-by-haft");
    });
}

#[test]
fn a_command_of_which_nothing_could_be_committed_fails() {
    for_everybody(&|ground| {
        ground.lay_out("printf '\\0\\1' > c");
        let first = unread(ground, "one.sh", &format!("printf x >> c; {FIRST}"));
        let second = unread(ground, "two.sh", &format!("printf y >> c; {SECOND}"));
        let records = turn(ground, &[&first, &second]);
        assert_eq!(records[1]["status"], "failed", "{records:#?}");
        assert_eq!(records[1]["error"]["kind"], "conflict", "{records:#?}");
        assert_eq!(std::fs::read(ground.place.path("c")).expect("it is there"), b"\0\x01x");
    });
}

#[test]
fn lines_that_many_processes_add_to_one_file_are_all_there_once() {
    for_everybody(&|ground| {
        for file in ["there", "new"] {
            ground.lay_out("echo begin > there");
            let processes: Vec<_> = (0..24)
                .map(|number| {
                    let mut haft = ground.calling();
                    let mut haft = haft.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("haft is there");
                    let command = format!("echo line {number} >> {file}");
                    let call = json!({ "name": "bash", "arguments": { "command": command } });
                    writeln!(haft.stdin.take().expect("it is piped"), "{call}").expect("haft listens");
                    haft
                })
                .collect();
            for process in processes {
                let output = process.wait_with_output().expect("it ends");
                let record: Value = serde_json::from_slice(&output.stdout).expect("a record");
                assert_eq!((&record["status"], &record["conflicts"]), (&json!("ok"), &Value::Null), "{record:#}");
            }
            let content = content(ground, file);
            let mut lines: Vec<&str> = content.lines().filter(|line| *line != "begin").collect();
            lines.sort_unstable();
            let mut wanted: Vec<String> = (0..24).map(|number| format!("line {number}")).collect();
            wanted.sort_unstable();
            assert_eq!(lines, wanted, "{file}");
        }
    });
}

#[test]
fn a_source_that_is_committed_after_a_build_is_newer_than_what_was_built() {
    for_everybody(&|ground| {
        ground.lay_out("echo old > source; printf 'built: source\\n\\tcp source built\\n' > Makefile");
        let build = "until [ -e /tmp/edited ]; do sleep 0.01; done; make -s; touch /tmp/built";
        let edit = "echo new > source; touch /tmp/edited; until [ -e /tmp/built ]; do sleep 0.01; done";
        let records = turn(ground, &[&unread(ground, "one.sh", build), &unread(ground, "two.sh", edit)]);
        assert!(records.iter().all(|record| record["exit_code"] == 0), "{records:#?}");
        ground.lay_out("grep -q old built && grep -q new source && make -s && cmp source built");
    });
}

#[test]
fn a_command_that_failed_while_others_committed_says_so() {
    for_everybody(&|ground| {
        let first = unread(ground, "one.sh", &format!("{FIRST}; echo x > x"));
        let second = unread(ground, "two.sh", &format!("{SECOND}; echo y > y; exit 3"));
        let records = turn(ground, &[&first, &second]);
        let said = "[while it ran, others committed change set 1; run it again if it needs those changes]";
        assert!(text(&records[1]).contains(said), "{:#}", records[1]);
        assert!(!text(&records[0]).contains("others committed"), "{:#}", records[0]);
    });
}

/// How many scripts each of the sessions runs.
fn rounds() -> usize {
    std::env::var("HAFT_TEST_SEQUENCES").ok().and_then(|count| count.parse().ok()).unwrap_or(48) / 8
}

#[test]
fn random_scripts_of_eight_sessions_lose_nothing_and_are_undone_together() {
    let ground = Ground::own();
    ground.lay_out("for n in $(seq 0 9); do seq 1 20 > f$n; done");
    let before = ground.tree();
    let written: Vec<BTreeSet<String>> = std::thread::scope(|scope| {
        let sessions: Vec<_> = (0..8)
            .map(|number| {
                scope.spawn({
                    let ground = &ground;
                    move || worked(ground, number)
                })
            })
            .collect();
        sessions.into_iter().map(|session| session.join().expect("it ends")).collect()
    });
    let everything: String = ground
        .tree()
        .keys()
        .map(|path| std::fs::read_to_string(ground.place.path(&path.to_string_lossy())).unwrap_or_default())
        .collect();
    let lost: Vec<&String> = written.iter().flatten().filter(|token| !everything.contains(token.as_str())).collect();
    assert!(lost.is_empty(), "{lost:?}");
    while ground.haft(&["undo"]).status.success() {}
    crate::ground::assert_same("undone", &before, &ground.tree());
}

/// Runs scripts in one session; returns what they wrote and no conflict names.
fn worked(ground: &Ground, number: usize) -> BTreeSet<String> {
    let mut written = BTreeSet::new();
    let mut seed = number as u64 * 7_919 + 1;
    let mut next = move |most: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    };
    let mut session = Session::of(ground);
    for round in 0..rounds() {
        let token = format!("t{number}-{round}.");
        let (file, line) = (next(10), next(20) + 1);
        let script = match next(4) {
            0 => format!("echo {token} >> f{file}"),
            1 => format!("sed -i '{line}s/$/ {token}/' f{file}"),
            2 => format!("echo {token} > new-{number}-{round}"),
            _ => format!(
                "mkdir -p d{file}; echo {token} > d{file}/{number}-{round}; sed -i '{line}s/^/{token} /' f{file}"
            ),
        };
        let command = format!(
            "python3 -c 'import subprocess; subprocess.run([\"sh\", \"-c\", \"\"\"{script}\"\"\"], check=True)'"
        );
        let record = session.call("bash", &json!({ "command": command }));
        assert_ne!(record["status"], "refused", "{record:#}");
        if record["exit_code"] == 0 {
            written.insert(token);
        }
    }
    session.end();
    written
}

#[test]
fn what_a_person_writes_while_commands_commit_is_never_lost() {
    let ground = Ground::own();
    ground.lay_out("for n in $(seq 0 9); do seq 1 20 > f$n; done");
    let is_over = AtomicBool::new(false);
    let (written, versions) = std::thread::scope(|scope| {
        let person = scope.spawn(|| replaced_by_a_person(&ground, &is_over));
        let sessions: Vec<_> = (0..4)
            .map(|number| {
                scope.spawn({
                    let ground = &ground;
                    move || worked(ground, number)
                })
            })
            .collect();
        let written: Vec<BTreeSet<String>> =
            sessions.into_iter().map(|session| session.join().expect("it ends")).collect();
        is_over.store(true, Ordering::Relaxed);
        (written, person.join().expect("it ends"))
    });
    let of_person = |ground: &Ground| {
        for (file, version) in &versions {
            // Commands may have added to the last version.
            assert!(content(ground, file).contains(version.as_str()), "{file}: {version}\n{}", content(ground, file));
        }
    };
    of_person(&ground);
    // What a person replaced as a whole, the person replaced; everything else that was written is there.
    let everything: String = (0..4)
        .flat_map(|number| (0..rounds()).map(move |round| format!("new-{number}-{round}")))
        .map(|path| std::fs::read_to_string(ground.place.path(&path)).unwrap_or_default())
        .collect();
    let is_file_of_its_own =
        |token: &&String| ground.place.path(&format!("new-{}", token[1..].trim_end_matches('.'))).exists();
    let lost: Vec<&String> = written
        .iter()
        .flatten()
        .filter(is_file_of_its_own)
        .filter(|token| !everything.contains(token.as_str()))
        .collect();
    assert!(lost.is_empty(), "{lost:?}");
    while ground.haft(&["undo"]).status.success() {}
    of_person(&ground);
}

/// Replaces files as an editor does, until told to stop; returns the last version of each.
fn replaced_by_a_person(ground: &Ground, is_over: &AtomicBool) -> BTreeMap<String, String> {
    let mut versions = BTreeMap::new();
    for number in 0_usize.. {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let (file, version) = (format!("f{}", number % 10), format!("version {number} of a person."));
        let beside = ground.place.path("person.tmp");
        std::fs::write(&beside, format!("{version}\n")).expect("there is room");
        std::fs::rename(&beside, ground.place.path(&file)).expect("it is there");
        versions.insert(file, version);
        std::thread::yield_now();
    }
    versions
}
