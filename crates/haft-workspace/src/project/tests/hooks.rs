//! What the commands of a project's hooks name by a pattern, and what they name that does not exist.

use super::*;

const CONFIG: &str = ".haft/config.toml";

/// Trusts a hook with this command, changes a file, and returns whether haft notices it.
fn is_noticed(command: &str, files: &[(&str, &str)], change: (&str, &str)) -> bool {
    let scene = ProjectFixture::new(files);
    scene.write(CONFIG, &format!("[[hooks.PreToolUse]]\nmatcher = \"*\"\ncommand = '''{command}'''\n"));
    let store = crate::state::trust::TrustStore::new(&scene.folder.path().join("state"));
    let trusted = std::sync::Arc::new(copied(&scene, &store));
    let held = TrustCheck::new(scene.look().into(), trusted.clone(), CONFIG);
    assert_eq!(held.still(), Ok(()), "{command}");
    scene.write(change.0, change.1);
    let is_protected = named_by_code(&scene.path(""), &trusted).contains(std::path::Path::new(change.0));
    let fresh = TrustCheck::new(scene.look().into(), trusted, CONFIG);
    let noticed = held.still().is_err();
    assert_eq!(noticed, fresh.still().is_err(), "{command}: what is compared again and what is compared first");
    noticed || is_protected && fresh.helpers_changed().is_some()
}

#[test]
fn a_pattern_of_a_hook_is_bound_to_what_matches_it_now_and_later() {
    for (command, file, new) in [
        ("sh h*.sh", "h1.sh", "h2.sh"),
        ("sh ./h?.sh", "h1.sh", "h2.sh"),
        ("sh \"$PWD\"/h[12].sh", "h1.sh", "h2.sh"),
        ("python3 h*.py", "h1.py", "h2.py"),
        ("node h*.js", "h1.js", "h2.js"),
        ("sh h*", "h1", "h2"),
        ("for f in hooks/*.sh; do sh $f || exit 2; done", "hooks/h.sh", "hooks/i.sh"),
        ("cat hooks/*.sh | sh", "hooks/h.sh", "hooks/i.sh"),
        ("ls hooks/*.sh | xargs -n1 sh", "hooks/h.sh", "hooks/i.sh"),
        ("for d in */run.sh; do . $d; done", "a/run.sh", "b/run.sh"),
        ("sh -c 'sh hooks/*.sh'", "hooks/h.sh", "hooks/i.sh"),
        ("[ -z \"$(ls deny.*)\" ] && exit 0", "deny.a", "deny.b"),
    ] {
        assert!(is_noticed(command, &[(file, "exit 2\n")], (file, "exit 0\n")), "{command}: {file} changes");
        assert!(is_noticed(command, &[(file, "exit 2\n")], (new, "exit 0\n")), "{command}: {new} appears");
        assert!(!is_noticed(command, &[(file, "exit 2\n")], ("notes.txt", "Words.\n")), "{command}: another file");
    }
}

#[test]
fn a_folder_that_an_option_names_is_copied() {
    for command in ["npm --prefix sub run hook", "yarn --cwd=sub hook", "make -C sub hook"] {
        let scene = ProjectFixture::new(&[("sub/package.json", "{}"), ("sub/Makefile", "hook:\n")]);
        scene.write(CONFIG, &format!("[[hooks.PreToolUse]]\ncommand = \"{command}\"\n"));
        let store = crate::state::trust::TrustStore::new(&scene.folder.path().join("state"));
        let copy = copied(&scene, &store).copy.expect("there is one");
        assert_eq!(copy.reaches[CONFIG].places, ["sub"], "{command}");
    }
}

#[test]
fn a_pattern_in_a_script_covers_files_that_match_it_later() {
    for (script, file, new) in [("sh part*.sh", "part1.sh", "part2.sh"), (". ./part?", "part1", "part2")] {
        let files = [("h.sh", script), (file, "exit 2\n")];
        assert!(is_noticed("sh h.sh", &files, (new, "exit 0\n")), "{script}");
    }
}

#[test]
fn a_name_that_a_hook_asks_for_is_bound_while_nothing_has_it() {
    for (command, name) in [
        ("[ -f allow ] && exit 0; exit 2", "allow"),
        ("test -e ./allow && exit 0; exit 2", "allow"),
        ("[[ -r allow ]] && exit 0", "allow"),
        ("[ -d allow ] && exit 0", "allow/x"),
        ("[ -f skip.flag ] && exit 0; exit 2", "skip.flag"),
        ("if test -f .skip; then exit 0; fi; exit 2", ".skip"),
        ("[ -f \"$PWD/allow\" ] && exit 0; exit 2", "allow"),
        ("[ -f \"$(pwd)/allow\" ] && exit 0; exit 2", "allow"),
        ("sh -c \"test -s allow\" && exit 0", "allow"),
        ("grep -q yes <allow && exit 0", "allow"),
        ("cat allow >/dev/null && exit 0", "allow"),
        ("ls allow && exit 0", "allow/x"),
        ("F=allow; test -f $F && exit 0", "allow"),
        ("make -s lint", "lint"),
        ("jq -e --from-file=allow", "allow"),
        ("[ -d sub/allow ] && exit 0", "sub/allow/x"),
    ] {
        assert!(is_noticed(command, &[("sub/a", "")], (name, "")), "{command}");
    }
}

#[test]
fn words_of_a_hook_that_are_no_files_may_become_names_of_files() {
    for (command, name) in [
        ("sh -c true", "sh"),
        ("echo no touching build >&2; exit 2", "build"),
        ("npm run build", "build/index.html"),
        ("cargo test > log.txt", "log.txt"),
        ("grep -q rm && exit 2", "notes"),
    ] {
        assert!(!is_noticed(command, &[("sub/a", "")], (name, "")), "{command}");
    }
}
