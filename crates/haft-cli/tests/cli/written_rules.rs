//! Rules of a user, from the file to the decision.

use std::os::unix::fs::symlink;

use serde_json::Value;

use super::driver::Driver;
use super::{CapturedOutput, Place};

pub(super) const NO_LISTS: &str = "[[rule]]\nname = \"no lists\"\ndecision = \"deny\"\nreason = \"Nobody lists here.\"\ninstead = \"use glob\"\ntool = \"list_dir\"\n";
const TESTS: &str =
    "[[rule]]\nname = \"tests\"\ndecision = \"allow\"\nprogram = \"cargo test\"\nmatches = [\"cargo test -q\"]\n";

impl Place {
    fn with_rules(text: &str) -> Self {
        let place = Self::new();
        place.put("home/.config/haft/rules.toml", text);
        place
    }

    fn decision(&self, command: &str) -> String {
        let said = self.haft(&["rules", "explain", "--json", command], "");
        let record: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}", said.err));
        format!("{} {}", record["decision"].as_str().unwrap_or_default(), record["rule"].as_str().unwrap_or_default())
    }
}

fn shown(said: &CapturedOutput) -> (i32, &str) {
    (said.code, &said.err)
}

#[test]
fn a_denial_of_the_user_refuses_the_call_with_its_reason() {
    let said = Place::with_rules(NO_LISTS).haft(&["--yes", "call", "list_dir"], "");
    let text = "The rule \"no lists\" refuses this call. Nobody lists here.\nNext: use glob\n";
    assert_eq!(shown(&said), (3, text));
}

#[test]
fn a_rule_about_an_argument_refuses_calls_of_any_tool_also_of_one_that_there_is_not() {
    let rule = "[[rule]]\nname = \"not in production\"\ndecision = \"deny\"\nreason = \"Others depend on it.\"\n\
                tool = [\"query_database\", \"bash\"]\narguments = { \"*\" = [\"prod\", \"*--env=prod*\"] }\n";
    let place = Place::with_rules(rule);
    let refused = "The rule \"not in production\" refuses this call. Others depend on it.\n";
    for call in [r#"query_database {"steps":[{"database":"Prod"}]}"#, r#"bash {"command":"echo --env=prod"}"#] {
        let (tool, arguments) = call.split_once(' ').expect("it has arguments");
        let said = place.haft(&["--yes", "call", tool, arguments], "");
        assert!(said.code == 3 && said.err.starts_with(refused), "{call}: {}", said.err);
    }
    let said = place.haft(&["call", "query_database", r#"{"database":"test"}"#], "");
    assert!(said.code == 1 && said.err.contains("There is no tool \"query_database\"."), "{}", said.err);
    assert_eq!(place.decision("echo --env=prod"), "deny not in production");
    assert!(place.decision("echo --env=test").starts_with("allow "), "{}", place.decision("echo --env=test"));
}

#[test]
fn what_the_user_allows_for_ever_is_asked_about_no_more_and_nothing_else() {
    let place = Place::with_rules(TESTS);
    assert_eq!(place.decision("cargo test --lib"), "allow tests");
    assert_eq!(place.decision("cargo test | tail -3"), "allow tests");
    for more in ["cargo test && cargo run", "cargo test $X", "cargo test; git push", "cargo build"] {
        assert!(place.decision(more).starts_with("ask "), "{more}: {}", place.decision(more));
    }
    for denied in ["cargo test; rm -rf ~", "cargo test > ~/.bashrc", "sudo cargo test"] {
        assert!(place.decision(denied).starts_with("deny "), "{denied}: {}", place.decision(denied));
    }
}

#[test]
fn a_denied_flag_is_denied_however_it_is_written() {
    let rule = "[[rule]]\nname = \"no force\"\ndecision = \"deny\"\nreason = \"No.\"\nprogram = \"git commit\"\n\
                flags = [\"--amend\"]\nmatches = [\"git commit --amend\"]\nnot_matches = [\"git commit -m amend\"]\n";
    let place = Place::with_rules(rule);
    for hidden in
        ["git commit --amend", "git -C . commit --ame\"nd\"", "A=--amend; git commit $A", "sh -c 'git commit --amend'"]
    {
        assert_eq!(place.decision(hidden), "deny no force", "{hidden}");
    }
    assert_eq!(place.decision("git commit $X"), "ask no force");
}

#[test]
fn a_mistake_stops_every_start_with_its_line_and_check_finds_all_of_them() {
    let place = Place::with_rules("[[rule]]\nname = \"x\"\ndecision = \"denny\"\nreason = \"r\"\ntol = \"bash\"\n");
    let file = place.path("home/.config/haft/rules.toml").display().to_string();
    let said = place.haft(&["call", "list_dir"], "");
    let first = format!(
        "haft: {file}:1: the rule is about nothing; add one of tool, effect, program, path, host, pattern, arguments\n"
    );
    assert_eq!((said.code, said.err.starts_with(&first)), (2, true), "{}", said.err);
    for arguments in [&["call", "-"][..], &["rules", "list"], &["rules", "explain", "ls"]] {
        assert_eq!(place.haft(arguments, "").code, 2, "{arguments:?}");
    }
    let checked = place.haft(&["check", &file], "");
    let lines: Vec<String> = checked.out.lines().map(|line| line.replace(&file, "F")).collect();
    assert_eq!(
        (checked.code, lines),
        (
            1,
            vec![
                "F:1: the rule is about nothing; add one of tool, effect, program, path, host, pattern, arguments"
                    .to_owned(),
                "F:3: \"denny\" is not a decision; use \"allow\", \"ask\" or \"deny\"".to_owned(),
                "F:5: a rule has no key \"tol\"; did you mean \"tool\"?".to_owned(),
            ]
        )
    );
}

#[test]
fn a_file_of_rules_that_cannot_be_read_stops_the_start() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("home/.config/haft/rules.toml")).expect("folders can be made");
    let said = place.haft(&["call", "list_dir"], "");
    assert_eq!((said.code, said.err.contains("rules.toml:1: cannot be read")), (2, true), "{}", said.err);
}

#[test]
fn a_link_to_nothing_in_the_place_of_settings_or_rules_stops_the_start() {
    for name in ["haft/rules.toml", "haft/config.toml", "haft"] {
        let place = Place::new();
        let link = place.path("home/.config").join(name);
        std::fs::create_dir_all(link.parent().expect("it lies in a folder")).expect("folders can be made");
        symlink("gone", &link).expect("a link can be made");
        let told = format!("{} is a link to nothing", link.display());
        let said = place.haft(&["call", "list_dir"], "");
        assert!(said.code == 2 && said.err.contains(&told), "{name}: {} {}", said.code, said.err);
        let file = if name == "haft" { link.join("rules.toml") } else { link };
        let checked = place.haft(&["check", &file.display().to_string()], "");
        assert!(checked.code == 1 && checked.out.contains(&told), "{name}: {}", checked.out);
    }
}

#[test]
fn a_rule_about_commands_of_a_tool_that_runs_none_stops_the_start() {
    let rule = "[[rule]]\nname = \"a\"\ndecision = \"ask\"\nreason = \"b\"\ntool = \"read_file\"\nprogram = \"git\"\n\
                matches = [\"git status\"]\n";
    let place = Place::with_rules(rule);
    let told = "rules.toml:5: the tool \"read_file\" runs no commands, so the rule can never match; \
                remove it, or the program\n";
    let said = place.haft(&["call", "list_dir"], "");
    assert!(said.code == 2 && said.err.ends_with(told), "{} {}", said.code, said.err);
    let checked = place.haft(&["check", "../home/.config/haft/rules.toml"], "");
    assert!(checked.code == 1 && checked.out.ends_with(told), "{}", checked.out);
}

#[test]
fn the_list_begins_with_what_is_strictest_and_says_where_rules_stand() {
    let place = Place::with_rules(&format!("{TESTS}\n{NO_LISTS}"));
    let said = place.haft(&["rules", "list", "--json"], "");
    let rules: Vec<Value> = serde_json::from_str(&said.out).expect("one list");
    let first = &rules[0];
    assert_eq!(
        (first["name"].as_str(), first["decision"].as_str(), first["line"].as_u64(), first["about"].as_str()),
        (Some("no lists"), Some("deny"), Some(7), Some("tool list_dir"))
    );
    let order: Vec<&str> = rules.iter().filter_map(|rule| rule["decision"].as_str()).collect();
    let mut sorted = order.clone();
    sorted.sort_by_key(|decision| ["deny", "ask", "allow"].iter().position(|known| known == decision));
    assert_eq!(order, sorted);
    let text = place.haft(&["rules", "list"], "").out;
    assert!(text.starts_with("deny   no lists ") && text.contains("program cargo test"), "{text}");
}

#[test]
fn the_test_of_rules_tells_which_example_fails() {
    let place = Place::with_rules(&TESTS.replace("cargo test -q", "cargo build"));
    let said = place.haft(&["rules", "test"], "");
    assert_eq!(said.code, 1);
    assert!(said.out.contains("rules.toml:5: the rule does not match its example \"cargo build\""), "{}", said.out);
}

#[test]
fn the_examples_of_what_haft_brings_hold() {
    let said = Place::with_rules(TESTS).haft(&["rules", "test"], "");
    assert_eq!((said.code, said.out.as_str()), (0, ""));
    assert!(said.err.starts_with("All examples hold: 1 of written rules"), "{}", said.err);
}

#[test]
fn rules_that_change_during_a_session_mean_nothing_to_it() {
    let place = Place::new();
    let mut driver = Driver::start(&place);
    let mut call = |text: &str| driver.call(text)["status"].as_str().unwrap_or_default().to_owned();
    let list = r#"{"name":"list_dir","arguments":{}}"#;
    let run = r#"{"name":"bash","arguments":{"command":"cargo test"}}"#;
    assert_eq!((call(list), call(run)), ("ok".to_owned(), "refused".to_owned()));
    place.put("home/.config/haft/rules.toml", &format!("{NO_LISTS}\n{TESTS}"));
    assert_eq!(
        (call(r#"{"name":"list_dir","arguments":{"path":"src"}}"#), call(run)),
        ("ok".to_owned(), "refused".to_owned())
    );
    driver.ends();
    assert_eq!(place.haft(&["call", "list_dir"], "").code, 3);
}

#[test]
fn no_call_changes_rules_or_trust() {
    let place = Place::new();
    for path in [".haft/rules.toml", "../home/.config/haft/rules.toml", "../home/.local/state/haft/trust.json"] {
        let said = place.haft(&["--yes", "call", "write_file", &format!("path={path}"), "content=x"], "");
        assert_eq!(said.code, 3, "{path}: {}", said.err);
        assert!(!place.path("ws").join(path).exists());
    }
    for command in
        ["haft trust .", "echo x >> ~/.config/haft/rules.toml", "rm -r ~/.local/state/haft", "haft --trust call x"]
    {
        assert!(place.decision(command).starts_with("deny "), "{command}: {}", place.decision(command));
    }
}

#[test]
fn what_belongs_to_haft_is_refused_as_that_also_where_the_workspace_holds_it() {
    let place = Place::with_rules(NO_LISTS);
    for path in [".config/haft/rules.toml", ".local/state/haft/x"] {
        let said =
            place.haft(&["-C", "../home", "--yes", "call", "write_file", &format!("path={path}"), "content=x"], "");
        let home = place.path("home").canonicalize().expect("it is there");
        let text = format!(
            "Workspace: {}\nThe rule \"changes outside\" refuses this call. It would create {path}, which belongs to haft itself.\n\
             Nothing was changed.\nNext: do without it, or do it by hand\n",
            home.display()
        );
        assert_eq!((said.code, said.err), (3, text));
    }
}

#[test]
fn a_folder_is_removed_with_what_a_rule_protects_in_it() {
    let rule = "[[rule]]\nname = \"kept\"\ndecision = \"deny\"\nreason = \"Keep them.\"\npath = \"src/kept/**\"\n";
    let place = Place::with_rules(rule);
    place.put("ws/src/kept/a", "x");
    for command in ["rm -r src", "rm -rf src/kept", "mv src elsewhere"] {
        assert_eq!(place.decision(command), "ask kept", "{command}");
    }
    assert_eq!(place.decision("rm src/main.rs"), "ask commands that remove");
}
