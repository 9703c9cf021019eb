//! `--yes` and `--yes=all`: what each of them answers.

use haft_testkit::require::Need;

use super::Place;

const HINT: &str = "--yes covers only what \"haft undo\" can take back; --yes=all covers the rest.";

fn place() -> Place {
    let place = Place::repository();
    std::fs::write(place.path("ws/old.txt"), "old\n").expect("a file can be written");
    place
}

fn is_confined(place: &Place) -> bool {
    Need::Full.met(place.haft(&["call", "bash", "true"], "").err.contains("sandbox: full"))
}

#[test]
fn yes_answers_what_undo_takes_back() {
    let place = place();
    if !is_confined(&place) {
        return;
    }
    let before = std::fs::read_to_string(place.path("ws/old.txt")).expect("it is there");
    for arguments in [
        ["call", "write_file", r#"{"path":"old.txt","content":"new","write_mode":"overwrite"}"#],
        ["call", "bash", "rm old.txt"],
        ["call", "bash", "sh -c 'echo x > old.txt'"],
    ] {
        let said = place.haft(&[&["--yes"], &arguments[..]].concat(), "");
        assert_eq!(said.code, 0, "{arguments:?}: {}{}", said.out, said.err);
        assert_eq!(place.haft(&["undo"], "").code, 0, "{arguments:?}");
        assert_eq!(std::fs::read_to_string(place.path("ws/old.txt")).ok().as_ref(), Some(&before), "{arguments:?}");
    }
}

#[test]
fn yes_refuses_what_undo_cannot_take_back_and_yes_to_all_does_not() {
    let place = place();
    if !is_confined(&place) {
        return;
    }
    let lasting = [
        "git push origin main",
        "npm publish",
        "gh pr create --fill",
        "curl -s https://nowhere.invalid/",
        "curl -s -d x=1 https://nowhere.invalid/",
        "rm old.txt; git push origin main",
    ];
    for command in lasting {
        let said = place.haft(&["--yes", "call", "bash", command], "");
        assert_eq!(said.code, 3, "{command}: {}{}", said.out, said.err);
        assert!(said.err.contains(HINT), "{command}: {}", said.err);
    }
    assert!(place.path("ws/old.txt").exists());
    for flag in ["--yes=all", "--yolo"] {
        let said = place.haft(&[flag, "call", "bash", "git push nowhere main"], "");
        assert_ne!(said.code, 3, "{flag}: {}", said.err);
    }
    // Without any yes, the way that would allow it is named.
    let said = place.haft(&["call", "bash", "git push origin main"], "");
    assert!(said.code == 3 && said.err.contains("run it with --yes=all"), "{}", said.err);
    let said = place.haft(&["call", "bash", "rm old.txt"], "");
    assert!(said.code == 3 && said.err.contains("run it with --yes, or"), "{}", said.err);
}

#[test]
fn a_host_that_only_shows_when_it_is_reached_is_refused_with_yes() {
    let place = place();
    if !is_confined(&place) {
        return;
    }
    let script = "name = 'nowhere'\nimport socket\ns = socket.create_connection((f'{name}.invalid', 443))\ns.sendall(b'x')\ns.recv(1)\n";
    std::fs::write(place.path("ws/ask.py"), script).expect("a file can be written");
    let said = place.haft(&["--yes", "call", "bash", "python3 ask.py 2>&1"], "");
    assert!(said.out.contains("nowhere.invalid") && said.out.contains("--yes=all covers the rest"), "{}", said.out);
}

#[test]
fn a_server_on_this_machine_needs_no_more_than_yes() {
    let place = place();
    if !is_confined(&place) {
        return;
    }
    let asks = "curl -sf --retry 9 --retry-connrefused --retry-delay 1 -o /dev/null http://127.0.0.1:18123/";
    let command = format!("python3 -m http.server 18123 --bind 127.0.0.1 >/dev/null 2>&1 & {asks} && echo reached");
    let said = place.haft(&["--yes", "call", "bash", &command], "");
    assert!(said.code == 0 && said.out.contains("reached"), "{}{}", said.out, said.err);
}

#[test]
fn dangerous_questions_stay_asked_under_both() {
    let place = place();
    for flag in ["--yes", "--yes=all", "--yolo"] {
        let said = place.haft(&[flag, "call", "write_file", r#"{"path":".git/hooks/pre-push","content":"x"}"#], "");
        assert_eq!(said.code, 3, "{flag}: {}", said.err);
        assert!(!said.err.contains("--yes"), "{flag}: {}", said.err);
    }
}

#[test]
fn a_blank_before_all_is_a_mistake_with_a_hint() {
    let place = place();
    for words in [
        &["--yes", "all", "call", "bash", "ls"][..],
        &["call", "--yes", "all", "bash", "ls"],
        &["call", "bash", "ls", "--yes", "all"],
        &["--yes=some", "call", "bash", "ls"],
    ] {
        let said = place.haft(words, "");
        assert_eq!(said.code, 2, "{words:?}: {}", said.err);
        assert!(said.err.contains("--yes=all"), "{words:?}: {}", said.err);
    }
    assert_eq!(place.haft(&["--yes", "call", "list_dir"], "").code, 0);
}

#[test]
fn files_in_the_sessions_own_folders_need_no_yes() {
    let place = place();
    if !is_confined(&place) {
        return;
    }
    let commands = ["echo x > /tmp/a && cat /tmp/a", "echo x > ~/a && cat ~/a", "mkdir -p /dev/shm/d /var/tmp/d"];
    for command in commands {
        let said = place.haft(&["call", "bash", command], "");
        assert_eq!(said.code, 0, "{command}: {}{}", said.out, said.err);
    }
    assert!(!place.path("home/a").exists());
    for command in ["echo x > ~/.bashrc", "rm -rf ~", "echo x > /srv/x", "echo x >> ~/.ssh/authorized_keys"] {
        let said = place.haft(&["--yes=all", "call", "bash", command], "");
        assert_eq!(said.code, 3, "{command}: {}{}", said.out, said.err);
    }
}
