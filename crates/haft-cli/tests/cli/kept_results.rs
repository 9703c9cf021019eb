//! Results that are kept on disk and serve a later process.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Place, found_python};

const NOW: &str = "home/.config/haft/tools/now.yaml";
const SCRIPT: &str = "home/.config/haft/tools/now.sh";
const DEFINITION: &str = "name: now\ndescription: Says what time it is.\nbinding: {command: [sh, now.sh]}\neffects: []\n\
use_cache: true\ninput_schema: {type: object, properties: {zone: {type: string, description: Where.}}}\n";

/// A user with a tool of their own that answers differently each time it is run.
fn with_clock(definition: &str) -> Place {
    let place = Place::new();
    place.put(NOW, definition);
    place.put(SCRIPT, "date +%s.%N\n");
    place
}

impl Place {
    fn now(&self, more: &[&str]) -> String {
        let words: Vec<&str> = ["call", "now"].iter().chain(more).copied().collect();
        let said = self.haft(&words, "");
        assert_eq!(said.code, 0, "{}", said.err);
        said.out
    }
}

#[test]
fn a_second_process_gets_the_kept_result_and_says_so() {
    let place = with_clock(DEFINITION);
    let first = place.now(&[]);
    let again = place.haft(&["call", "now"], "");
    assert_eq!(again.out, first);
    assert!(again.err.starts_with("[from the cache, "), "{}", again.err);
    assert_ne!(place.now(&["zone=utc"]), first, "other arguments are another call");
    assert_eq!(place.now(&[]), first);
}

#[test]
fn whoever_does_not_want_a_kept_result_gets_a_fresh_one() {
    let place = with_clock(DEFINITION);
    let first = place.now(&[]);
    assert_ne!(place.now(&["--no-cache"]), first);
    assert_eq!(place.now(&[]), first, "what was kept stays");
}

#[test]
fn a_tool_that_does_not_say_so_has_nothing_kept() {
    let place = with_clock(&DEFINITION.replace("use_cache: true\n", ""));
    assert_ne!(place.now(&[]), place.now(&[]));
}

#[test]
fn a_result_that_is_too_old_does_not_serve() {
    // A process takes longer to start than this.
    let place = with_clock(&format!("{DEFINITION}cache_ttl: 0.001\n"));
    assert_ne!(place.now(&[]), place.now(&[]));
}

#[test]
fn another_definition_or_another_program_gives_a_fresh_result() {
    let place = with_clock(DEFINITION);
    let first = place.now(&[]);
    place.put(NOW, &DEFINITION.replace("Says what time", "Tells what time"));
    let second = place.now(&[]);
    assert_ne!(second, first);
    place.put(SCRIPT, "date +%s.%N # mended\n");
    let third = place.now(&[]);
    assert_ne!(third, second);
    assert_eq!(place.now(&[]), third);
}

#[test]
fn another_text_of_a_python_module_gives_a_fresh_result() {
    let place = with_clock(&DEFINITION.replace("{command: [sh, now.sh]}", "clock:now"));
    place.put("home/.config/haft/tools/clock.py", "import time\ndef now(zone=None): return time.time_ns()\n");
    let first = place.haft(&["call", "now"], "");
    if !found_python(&first) {
        return;
    }
    assert_eq!(first.code, 0, "{}", first.err);
    assert_eq!(place.now(&[]), first.out);
    place.put("home/.config/haft/tools/clock.py", "import time\ndef now(zone=None): return -time.time_ns()\n");
    assert!(place.now(&[]).starts_with('-'));
}

#[test]
fn another_module_of_the_workspace_that_defines_the_tool_gives_a_fresh_result() {
    let place = Place::new();
    place.put("ws/.haft/tools/now.yaml", &DEFINITION.replace("{command: [sh, now.sh]}", "clock:now"));
    place.put("ws/clock.py", "import time\ndef now(zone=None): return time.time_ns()\n");
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    let first = place.haft(&["call", "now"], "");
    if !found_python(&first) {
        return;
    }
    assert_eq!(place.now(&[]), first.out);
    place.put("ws/clock.py", "import time\ndef now(zone=None): return -time.time_ns()\n");
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    assert!(place.now(&[]).starts_with('-'));
}

#[test]
fn an_error_is_never_kept() {
    let place = with_clock(DEFINITION);
    place.put(SCRIPT, "date +%s.%N >&2; exit 1\n");
    let failed = || {
        let said = place.haft(&["call", "now"], "");
        assert_eq!(said.code, 1);
        said.err
    };
    assert_ne!(failed(), failed());
    let told = place.with_script("echo '{\"error\": \"'$(date +%s.%N)'\"}'\n");
    assert_ne!(told, place.haft(&["call", "now"], "").err);
}

impl Place {
    fn with_script(&self, script: &str) -> String {
        self.put(SCRIPT, script);
        self.haft(&["call", "now"], "").err
    }
}

#[test]
fn what_is_kept_is_for_the_user_alone() {
    let place = with_clock(DEFINITION);
    place.now(&[]);
    let kept = kept_files(&place.path("home"));
    assert_eq!(kept.len(), 2, "the result, and the key that seals it: {kept:?}");
    for path in kept {
        let mode = |path: &Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().expect("it lies in a folder"))), (0o600, 0o700), "{path:?}");
    }
}

#[test]
fn workspaces_do_not_share_what_they_keep() {
    let place = with_clock(DEFINITION);
    std::fs::create_dir(place.path("other")).expect("a folder can be made");
    let first = place.now(&[]);
    let other = place.now(&["-C", "../other"]);
    assert_ne!(other, first);
    assert_eq!((place.now(&[]), place.now(&["-C", "../other"])), (first, other));
}

/// The files of all folders called `cache`.
fn kept_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(kept_files(&path));
        } else if folder.ends_with("cache") {
            found.push(path);
        }
    }
    found
}
