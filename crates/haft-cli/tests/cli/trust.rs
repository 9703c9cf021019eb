//! The settings, rules and tools of a project, before and after the user trusts it.

use std::os::unix::fs::symlink;

use serde_json::Value;

use super::Place;
use super::written_rules::NO_LISTS;

const RULES: &str = "ws/.haft/rules.toml";

fn project() -> Place {
    let place = Place::new();
    place.put(RULES, NO_LISTS);
    place
}

impl Place {
    /// Makes a call that the project's rule would refuse: its exit code, and what was said beside.
    fn list(&self, flags: &[&str]) -> (i32, String) {
        let arguments: Vec<&str> = flags.iter().copied().chain(["call", "list_dir"]).collect();
        let said = self.haft(&arguments, "");
        (said.code, said.err)
    }
}

#[test]
fn before_trust_a_project_is_not_loaded_and_said_once() {
    let place = project();
    let note = "note: this project is not trusted, so haft does not load .haft/rules.toml. Read them; to trust them: haft trust .\n";
    assert_eq!(place.list(&[]), (0, note.to_owned()));
    assert_eq!(place.list(&["--yes"]), (0, note.to_owned()));
    let said = place.haft(&["call", "-"], "{\"name\":\"list_dir\"}\n\n{\"name\":\"list_dir\"}\n");
    assert_eq!((said.code, said.err.as_str()), (0, note));
}

#[test]
fn a_broken_file_of_a_project_stops_nobody_before_it_is_trusted() {
    let place = Place::new();
    place.put(RULES, "[[rule");
    assert_eq!(place.list(&[]).0, 0);
    assert_eq!(place.haft(&["trust"], "").code, 0);
    assert_eq!(place.list(&[]).0, 2);
}

#[test]
fn after_trust_its_rules_tighten_until_a_file_changes_or_trust_is_taken_back() {
    let place = project();
    let said = place.haft(&["trust", "."], "");
    assert_eq!(said.code, 0);
    assert!(said.out.contains("\n  code   .haft/rules.toml\n") && said.out.contains("stricter.\n"));
    assert_eq!(place.list(&[]).0, 3);
    place.put(RULES, &format!("{NO_LISTS}# more\n"));
    let note = "warning: .haft/rules.toml changed since it was trusted, so none of its rules apply: \
                calls that they denied or asked about may run. Read it; to trust it: haft trust .\n";
    assert_eq!(place.list(&[]), (0, note.to_owned()));
    assert_eq!(place.haft(&["trust"], "").code, 0);
    assert_eq!(place.list(&[]).0, 3);
    assert_eq!(place.haft(&["trust", "--revoke"], "").code, 0);
    assert_eq!(place.list(&[]).0, 0);
    assert_eq!(place.haft(&["trust", "--revoke"], "").code, 1);
}

#[test]
fn the_rules_of_a_project_hold_whatever_happens_to_a_file_that_they_name() {
    let place = Place::new();
    let ask = "[[rule]]\nname = \"main\"\ndecision = \"ask\"\nreason = \"Mine.\"\npath = \"src/main.rs\"\n";
    place.put(RULES, &format!("{NO_LISTS}\n{ask}"));
    let said = place.haft(&["trust", "."], "");
    assert!(said.code == 0 && !said.out.contains("which it names"), "{}", said.out);
    place.put("ws/src/main.rs", "fn main() { changed() }\n");
    assert_eq!(place.list(&[]).0, 3);
}

#[test]
fn rules_that_were_trusted_and_are_gone_are_a_warning_at_every_start_until_somebody_goes_on_without() {
    let place = project();
    assert_eq!(place.haft(&["trust"], "").code, 0);
    std::fs::remove_dir_all(place.path("ws/.haft")).expect("it was there");
    let warning = "warning: .haft/rules.toml is gone, so none of its rules apply: \
                   calls that they denied or asked about may run. To continue without it: haft trust .\n";
    for _ in 0..2 {
        assert_eq!(place.list(&[]), (0, warning.to_owned()));
    }
    symlink(place.path("ws/src"), place.path("ws/.haft")).expect("a link can be made");
    assert!(place.list(&[]).1.starts_with(warning));
    std::fs::remove_file(place.path("ws/.haft")).expect("it was there");
    let said = place.haft(&["trust", "."], "");
    assert!(said.code == 0 && said.out.contains("haft trusts nothing there any more"), "{}{}", said.out, said.err);
    assert_eq!(place.list(&[]), (0, String::new()));
}

#[test]
fn in_plan_mode_what_is_trusted_stays_as_it_is() {
    let place = project();
    assert_eq!(place.haft(&["--plan", "trust", "."], "").code, 3);
    assert_eq!(place.list(&[]).0, 0);
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    let said = place.haft(&["--plan", "trust", "--revoke"], "");
    assert_eq!((said.code, said.err.contains("leave out --plan")), (3, true), "{}", said.err);
    assert_eq!(place.list(&[]).0, 3);
    assert_eq!(place.haft(&["--plan", "trust", "--list"], "").code, 0);
}

#[test]
fn names_of_files_cannot_command_a_terminal_behind_a_pipe() {
    let place = Place::new();
    place.put("ws/.haft/tools/a\u{1b}[2J.yaml", "a: b\n");
    for arguments in [&["trust", "."][..], &["trust", "--list"]] {
        let said = place.haft(arguments, "");
        assert!(said.out.contains("a\\u{1b}[2J.yaml") && !said.out.contains('\u{1b}'), "{:?}", said.out);
    }
}

#[test]
fn trust_for_one_run_is_not_remembered() {
    let place = project();
    assert_eq!(place.list(&["--trust"]).0, 3);
    assert_eq!(place.list(&[]).0, 0);
    assert_eq!(place.haft(&["trust", "--list"], "").out, "");
}

#[test]
fn what_a_project_allows_is_left_out_with_a_word_and_check_finds_it() {
    let place = Place::new();
    place.put(RULES, "[[rule]]\nname = \"all\"\ndecision = \"allow\"\ntool = \"bash\"\n");
    let said = place.haft(&["--trust", "rules", "explain", "--json", "make"], "");
    let record: Value = serde_json::from_str(&said.out).expect("one record");
    assert_eq!(record["decision"], "ask");
    assert!(said.err.contains("rules.toml:1: \"all\" allows something"), "{}", said.err);
    let checked = place.haft(&["check", ".haft/rules.toml"], "");
    let line = ".haft/rules.toml:1: \"all\" allows something, and a project's rules only make things stricter; \
                move it to your own rules.toml\n";
    assert_eq!((checked.code, checked.out.as_str()), (1, line));
}

#[test]
fn a_project_that_is_trusted_sets_limits_and_never_the_sandbox() {
    let place = Place::new();
    place.put("ws/src/long.txt", "1\n2\n3\n4\n");
    place.put("ws/.haft/config.toml", "[limits]\nread_lines = 2\n");
    let read = |flags: &[&str]| {
        let arguments: Vec<&str> = flags.iter().copied().chain(["call", "read_file", "path=src/long.txt"]).collect();
        place.haft(&arguments, "")
    };
    assert!(read(&[]).out.contains('4') && !read(&["--trust"]).out.contains("4\n"));
    place.put("ws/.haft/config.toml", "[sandbox]\nnetwork = true\n");
    assert_eq!(read(&["--trust"]).code, 2);
    assert_eq!(place.haft(&["check", ".haft/config.toml"], "").code, 1);
}

#[test]
fn what_is_trusted_is_listed_with_the_files_that_code_names() {
    let place = Place::new();
    place.put("ws/.haft/tools/a.yaml", "binding: {command: [\"scripts/run.sh\"]}\n");
    place.put("ws/scripts/run.sh", "echo\n");
    place.put("ws/AGENTS.md", "Be kind.\n");
    let said = place.haft(&["trust"], "");
    let lines = "  code   .haft/tools/a.yaml\n         and scripts/run.sh, which it names\n  words  AGENTS.md\n";
    assert!(said.out.contains(lines), "{}", said.out);
    let listed: Value = serde_json::from_str(&place.haft(&["trust", "--list", "--json"], "").out).expect("one list");
    assert_eq!(listed[0]["words"][0], "AGENTS.md");
    assert!(listed[0]["code"][".haft/tools/a.yaml"]["scripts/run.sh"].is_string());
}

#[test]
fn links_and_what_is_too_large_are_never_trusted() {
    let place = Place::new();
    place.put("other/rules.toml", NO_LISTS);
    symlink(place.path("other"), place.path("ws/.haft")).expect("a link can be made");
    let said = place.haft(&["trust"], "");
    assert_eq!((said.code, said.err.contains(".haft is not trusted: it is a link")), (1, true), "{}", said.err);
    let (code, note) = place.list(&["--trust"]);
    assert_eq!((code, note.as_str()), (0, "note: .haft is not loaded: it is a link, which is not followed\n"));
    std::fs::remove_file(place.path("ws/.haft")).expect("it was there");
    place.put(RULES, &"#".repeat((1 << 20) + 1));
    let said = place.haft(&["trust"], "");
    assert!(said.code == 1 && said.err.contains("rules.toml is not trusted: it is larger than 1 MiB"), "{}", said.err);
}

#[test]
fn a_workspace_without_anything_has_nothing_to_trust() {
    let said = Place::new().haft(&["trust"], "");
    assert!(said.code == 1 && said.err.starts_with("There is nothing to trust in "), "{}", said.err);
}
