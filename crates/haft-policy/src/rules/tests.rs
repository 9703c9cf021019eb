//! Tests written rules as the judge uses them.

mod lattice;

use std::sync::Arc;

use haft_contract::effect::{Change, CommandLine, CommandStep, Effect, Host, StepEffect};
use haft_contract::files::path::{Extent, FileLocation, Target};
use serde_json::json;

use super::draft::{Patterns, RuleCheckContext, RuleDraft};
use super::examples::ExampleReader;
use super::paths::Roots;
use crate::decision::{Class, Decision};
use crate::examples::steps_in_scene;
use crate::policy::{Policy, Situation};
use crate::rule::Rule;

fn draft(decision: &str) -> RuleDraft {
    let text = |text: &str| Some(text.to_owned());
    RuleDraft { name: text("a rule"), decision: text(decision), reason: text("We said so."), ..RuleDraft::default() }
}

fn known() -> [String; 2] {
    ["bash".to_owned(), "write_file".to_owned()]
}

fn checked(draft: &RuleDraft) -> Result<Rule, Vec<String>> {
    let tools = known();
    let read = |command: &str| vec![step(command, StepEffect::Nothing)];
    let roots = Roots { home: "/home/me".into(), workspace: Some("/home/me/work".into()) };
    let known = RuleCheckContext { tools: &tools, roots: &roots, reader: ExampleReader { roots: &roots, read: &read } };
    let told = |problem: &super::draft::RuleProblem| {
        format!("{}: {}; {}", problem.key.unwrap_or("rule"), problem.problem, problem.fix)
    };
    draft.check(known).map(|written| written.rule).map_err(|problems| problems.iter().map(told).collect())
}

fn rule(draft: &RuleDraft) -> Rule {
    checked(draft).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn step(words: &str, does: StepEffect) -> Effect {
    let words: Arc<[String]> = words.split(' ').map(str::to_owned).collect();
    Effect::Step(CommandStep { command: "the whole".into(), folder: "".into(), part: (0, 9), words, does })
}

fn inside(path: &str, extent: Extent) -> Target {
    Target::Inside(FileLocation::new(path, extent))
}

fn judge(rules: &[Rule], effects: &[Effect]) -> (Decision, Class, String) {
    let policy = Policy::default().with_rules(rules.iter().cloned());
    let ruling = policy.judge("bash", effects, Situation::default());
    (ruling.decision, ruling.class, ruling.rule)
}

fn program(decision: &str, program: &str, flags: &[&str]) -> Rule {
    let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let example = format!("{program} {}", flags.first().cloned().unwrap_or_default());
    rule(&RuleDraft {
        program: Some(program.into()),
        flags: Some(flags).filter(|flags| !flags.is_empty()),
        matches: Some(vec![example]),
        ..draft(decision)
    })
}

fn code(words: &str) -> Effect {
    step(words, StepEffect::Code("run tests".into()))
}

#[test]
fn a_denied_flag_is_denied_in_every_spelling_and_asked_about_when_it_may_be_hidden() {
    let rules = [program("deny", "git push", &["--force", "-f"])];
    let publish = |words: &str| step(words, StepEffect::Publish("push".into()));
    for denied in ["git push --force", "git push -f o m", "git -C x push -uf", "git push --forc"] {
        assert_eq!(judge(&rules, &[publish(denied)]).0, Decision::Deny, "{denied}");
    }
    for other in ["git push origin main", "git pull --force", "git push --force-with-lease"] {
        assert_eq!(judge(&rules, &[publish(other)]), (Decision::Ask, Class::Ordinary, "publishing".into()), "{other}");
    }
    assert_eq!(judge(&rules, &[publish("git push …")]), (Decision::Ask, Class::Dangerous, "a rule".into()));
}

#[test]
fn another_name_that_a_setting_gives_may_be_what_is_denied_with_its_flags() {
    let rules = [program("deny", "git tag", &["--force"])];
    let of = |command: &str| judge(&rules, &steps_in_scene(command));
    assert_eq!(of("git -c alias.ci='tag --force v1' ci"), (Decision::Ask, Class::Dangerous, "a rule".into()));
    assert_eq!(of("git tag v1").1, Class::Ordinary);
}

#[test]
fn an_allow_rule_answers_the_ordinary_question_of_a_default_rule() {
    let rules = [program("allow", "cargo test", &[])];
    assert_eq!(judge(&rules, &[code("cargo test -q")]), (Decision::Allow, Class::Ordinary, "a rule".into()));
    assert_eq!(judge(&rules, &[code("cargo build")]).0, Decision::Ask);
    assert_eq!(judge(&rules, &[code("cargo …")]).0, Decision::Ask);
}

#[test]
fn what_is_allowed_may_be_a_tool_or_a_path() {
    let tool = rule(&RuleDraft { tool: Some("write_file".into()), ..draft("allow") });
    let path = rule(&RuleDraft { path: Some("docs/**".into()), ..draft("allow") });
    let change = |path: &str| [Effect::Change(inside(path, Extent::Entry), Change::Replace)];
    let of = |rule: &Rule, tool: &str, path: &str| {
        let policy = Policy::default().with_rules([rule.clone()]);
        policy.judge(tool, &change(path), Situation::default()).decision
    };
    assert_eq!(of(&tool, "write_file", "src/a"), Decision::Allow);
    assert_eq!(of(&tool, "edit_file", "src/a"), Decision::Ask);
    assert_eq!(of(&path, "edit_file", "docs/a"), Decision::Allow);
    assert_eq!(of(&path, "edit_file", "src/a"), Decision::Ask);
}

#[test]
fn every_part_of_a_command_needs_its_own_permission() {
    let rules = [program("allow", "cargo test", &[])];
    assert_eq!(judge(&rules, &[code("cargo test"), code("make")]).0, Decision::Ask);
    let both = [rules[0].clone(), program("allow", "make", &[])];
    assert_eq!(judge(&both, &[code("cargo test"), code("make")]).0, Decision::Allow);
}

#[test]
fn an_allow_rule_never_answers_what_is_denied_dangerous_or_not_understood() {
    let rules = [program("allow", "x", &[])];
    let denied = step("x", StepEffect::Danger(haft_contract::effect::Danger::Rights, "gain rights".into()));
    assert_eq!(judge(&rules, &[denied]).0, Decision::Deny);
    for unclear in
        [StepEffect::Unknown("why".into()), StepEffect::ReadUnknown, StepEffect::ChangeUnknown(Change::Remove)]
    {
        assert_eq!(judge(&rules, &[step("x", unclear.clone())]).0, Decision::Ask, "{unclear}");
    }
    let tool = rule(&RuleDraft { tool: Some("bash".into()), ..draft("allow") });
    let secret = Effect::Read(inside(".env", Extent::Entry));
    assert_eq!(judge(&[tool], &[secret]).1, Class::Dangerous);
}

#[test]
fn an_ask_or_deny_rule_of_anybody_goes_before_an_allow_rule() {
    let allow = program("allow", "cargo", &[]);
    let ask = program("ask", "cargo test", &[]);
    assert_eq!(judge(&[allow.clone(), ask], &[code("cargo test")]).0, Decision::Ask);
    let deny = program("deny", "cargo test", &[]);
    assert_eq!(judge(&[allow, deny], &[code("cargo test")]).0, Decision::Deny);
}

#[test]
fn a_dangerous_question_is_one_that_no_grant_answers() {
    let careful = rule(&RuleDraft { dangerous: Some(true), effect: Some("publish".into()), ..draft("ask") });
    let ruling = judge(&[careful], &[step("git push", StepEffect::Publish("push".into()))]);
    assert_eq!(ruling, (Decision::Ask, Class::Dangerous, "a rule".into()));
}

#[test]
fn a_path_is_found_in_tools_and_in_commands_and_a_tree_that_holds_it_is_asked_about() {
    let rules = [rule(&RuleDraft { path: Some("secrets/**".into()), ..draft("deny") })];
    let of = |effect| judge(&rules, &[effect]).0;
    assert_eq!(of(Effect::Read(inside("secrets/a", Extent::Entry))), Decision::Deny);
    assert_eq!(of(step("cat secrets/a", StepEffect::Read(inside("secrets/a", Extent::Entry)))), Decision::Deny);
    assert_eq!(of(Effect::Read(inside("src/a", Extent::Entry))), Decision::Allow);
    assert_eq!(of(Effect::Read(inside("", Extent::Tree))), Decision::Ask);
    assert_eq!(of(Effect::Read(inside("src", Extent::Tree))), Decision::Allow);
    assert_eq!(of(step("cat …", StepEffect::ReadUnknown)), Decision::Ask);
}

#[test]
fn a_path_is_found_by_patterns_and_folders_of_commands_and_a_list_of_names_is_none() {
    let rule = |path: &str| rule(&RuleDraft { path: Some(path.into()), ..draft("deny") });
    let rules = [rule("notes.txt"), rule("data/customers/**")];
    let of = |command: &str| judge(&rules, &steps_in_scene(command));
    for perhaps in [
        "cat n*",
        "cat note?.txt",
        "cat data/*/a.csv",
        "grep -r c data",
        "grep -rn c",
        "git grep c",
        "find . -name '*.csv' -exec cat {} +",
        "tar cf - data | cat",
        "mv data x",
    ] {
        assert_eq!(of(perhaps), (Decision::Ask, Class::Dangerous, "a rule".into()), "{perhaps}");
    }
    for denied in ["jq -n --rawfile a notes.txt '$a'", "git show HEAD:notes.txt", "git cat-file -p :data/customers/a"] {
        assert_eq!(of(denied).0, Decision::Deny, "{denied}");
    }
    for other in ["ls", "ls n*", "grep -r x src", "cat src/*.rs", "cat data/README.md", "git show HEAD:a.txt"] {
        assert_eq!(of(other).0, Decision::Allow, "{other}");
    }
}

#[test]
fn an_allow_rule_about_a_path_covers_no_folders_that_patterns_find_and_no_secrets() {
    let rules = [rule(&RuleDraft { path: Some("build/**".into()), ..draft("allow") })];
    let of = |command: &str| judge(&rules, &steps_in_scene(command)).0;
    for allowed in ["rm build/a.o", "rm build/*.o"] {
        assert_eq!(of(allowed), Decision::Allow, "{allowed}");
    }
    for asked in ["rm build/s*/main.rs", "rm build/$X", "echo x > build/.env"] {
        assert_eq!(of(asked), Decision::Ask, "{asked}");
    }
}

#[test]
fn a_host_is_found_without_its_port_and_an_unknown_one_is_asked_about() {
    let rules = [rule(&RuleDraft { host: Some("*.Example.com".into()), ..draft("deny") })];
    let of = |host: Option<&str>| judge(&rules, &[step("curl", StepEffect::Connect(host.map(|h| Host(h.into()))))]);
    assert_eq!(of(Some("me@API.example.com.:8080")).0, Decision::Deny);
    assert_eq!(of(Some("example.org")).1, Class::Ordinary);
    assert_eq!(of(None).1, Class::Dangerous);
}

#[test]
fn an_allow_rule_about_a_host_covers_no_way_round_and_a_deny_rule_asks_about_it() {
    let rule = |decision| rule(&RuleDraft { host: Some("example.org".into()), ..draft(decision) });
    let with = |decision, command: &str| judge(&[rule(decision)], &steps_in_scene(command));
    assert_eq!(with("allow", "curl -s https://example.org/a").0, Decision::Allow);
    assert_eq!(with("allow", "ssh example.org").0, Decision::Allow);
    for (command, host) in [
        ("curl --connect-to ::X:80 https://HOST/", "example.org"),
        ("curl --resolve HOST:443:10.0.0.1 https://HOST/", "example.org"),
        ("curl -x p.example:80 https://HOST/", "example.org"),
        ("curl --interface eth1 https://HOST/", "example.org"),
        ("curl https://HOST/ https://$OTHER/", "example.org"),
        ("curl 'https://{example,evil}.org/'", ""),
        ("curl 'https://[e]xample.org/'", ""),
        ("curl http:evil.com", ""),
        ("curl 'https://HOST\\@evil.com/'", "example.org"),
        ("ssh -J a HOST", "example.org"),
        ("ssh -o HostName=x HOST", "example.org"),
        ("ssh -oProxyJump=x HOST", "example.org"),
        ("ssh -F cfg HOST", "example.org"),
        ("nc -x p:80 HOST 80", "example.org"),
        ("wget -r -H https://HOST/", "example.org"),
        ("wget -i urls https://HOST/", "example.org"),
        ("git clone --recurse-submodules https://HOST/x new", "example.org"),
        ("http_proxy=http://evil.com curl https://HOST/", "example.org"),
    ] {
        let command = command.replace("HOST", host);
        assert_eq!(with("allow", &command).0, Decision::Ask, "{command}");
        if !command.starts_with("http_proxy") {
            let denied = with("deny", &command.replace("example.org", "other.org"));
            assert_eq!((denied.0, denied.1), (Decision::Ask, Class::Dangerous), "{command}");
        }
    }
}

#[test]
fn an_address_is_compared_in_one_form_however_it_is_written() {
    let rules = [rule(&RuleDraft { host: Some("10.0.0.1".into()), ..draft("deny") })];
    for address in ["10.0.0.1", "10.1", "167772161", "0x0a000001", "10.0.0.01", "[::ffff:10.0.0.1]"] {
        let command = format!("curl 'http://{address}:80/'");
        assert_eq!(judge(&rules, &steps_in_scene(&command)).0, Decision::Deny, "{command}");
    }
    assert_eq!(judge(&rules, &steps_in_scene("curl http://10.0.0.10/")).1, Class::Ordinary);
}

#[test]
fn text_is_found_in_words_and_paths_and_nowhere_else() {
    let rules = [rule(&RuleDraft { pattern: Some("drop table".into()), ..draft("deny") })];
    assert_eq!(judge(&rules, &[step("psql -c DROP TABLE x", StepEffect::Nothing)]).0, Decision::Deny);
    assert_eq!(judge(&rules, &[step("psql -l", StepEffect::Nothing)]).0, Decision::Allow);
    let path = Effect::Change(inside("sql/Drop table.sql", Extent::Entry), Change::Create);
    assert_eq!(judge(&rules, &[path]).0, Decision::Deny);
    // The text of a whole command is not matched: quotes and comments in it mean nothing.
    assert_eq!(judge(&rules, &[Effect::Run(CommandLine("# drop table".into()))]).0, Decision::Ask);
}

#[test]
fn text_that_a_gap_may_hide_is_asked_about_and_never_allowed() {
    let denies = [rule(&RuleDraft { pattern: Some("--allow-all".into()), ..draft("deny") })];
    let judged = judge(&denies, &[step("deploy a…", StepEffect::Nothing)]);
    assert_eq!((judged.0, judged.1), (Decision::Ask, Class::Dangerous));
    let some = |text: &str| Some(Patterns::from(text));
    let allows = RuleDraft { pattern: some("staging"), tool: some("bash"), ..draft("allow") };
    let of = |words: &str| judge(&[rule(&allows)], &[step(words, StepEffect::Code("run deploy".into()))]).0;
    assert_eq!((of("deploy staging"), of("deploy …")), (Decision::Allow, Decision::Ask));
}

#[test]
fn a_program_that_can_only_be_refused_is_not_allowed_by_a_rule() {
    let read = |command: &str| crate::examples::steps_in_scene(command);
    let roots = Roots { home: "/home/me".into(), workspace: Some("/home/me/work".into()) };
    let known = RuleCheckContext { tools: &[], roots: &roots, reader: ExampleReader { roots: &roots, read: &read } };
    let check = |program: &str, example: &str| {
        let (program, matches) = (Some(program.into()), Some(vec![example.to_owned()]));
        RuleDraft { program, matches, ..draft("allow") }.check(known).map_err(|problems| problems[0].problem.clone())
    };
    let told = check("sudo", "sudo ls").expect_err("it can never help");
    assert_eq!(told, "no rule can allow what the example \"sudo ls\" does");
    assert!(check("cargo test", "cargo test").is_ok() && check("ls", "ls src").is_ok());
}

#[test]
fn a_rule_about_a_tool_meets_every_call_of_it_also_of_one_that_there_is_not() {
    let rules = [rule(&RuleDraft { tool: Some("delete_*".into()), ..draft("deny") })];
    let policy = Policy::default().with_rules(rules);
    assert_eq!(policy.judge_tool("delete_all", None).map(|ruling| ruling.decision), Some(Decision::Deny));
    assert_eq!(policy.judge_tool("bash", None), None);
    let both = rule(&RuleDraft { tool: Some("write_file".into()), path: Some("docs/**".into()), ..draft("deny") });
    let policy = Policy::default().with_rules([both]);
    let change = [Effect::Change(inside("docs/a", Extent::Entry), Change::Create)];
    assert_eq!(policy.judge("write_file", &change, Situation::default()).decision, Decision::Deny);
    assert_eq!(policy.judge("edit_file", &change, Situation::default()).decision, Decision::Ask);
}

#[test]
fn a_rule_that_can_never_hold_is_told_with_the_fix() {
    let some = |text: &str| Some(Patterns::from(text));
    let told = |draft: RuleDraft| checked(&draft).expect_err("it is wrong").join("\n");
    let cases = [
        (RuleDraft::default(), "decision: the rule has no decision"),
        (draft("forbid"), "decision: \"forbid\" is not a decision; use \"allow\", \"ask\" or \"deny\""),
        (draft("deny"), "rule: the rule is about nothing"),
        (RuleDraft { tool: some("writefile"), ..draft("deny") }, "did you mean \"write_file\"?"),
        (
            RuleDraft { effect: some("netwrk"), ..draft("deny") },
            "did you mean \"network\"? There are read, read-secret",
        ),
        (RuleDraft { program: some("  "), ..draft("deny") }, "program: the program is blank"),
        (RuleDraft { program: some("git"), ..draft("deny") }, "matches: a rule about commands needs an example"),
        (
            RuleDraft { flags: Some(vec!["-f".into()]), ..draft("deny") },
            "flags: flags without a program say too little",
        ),
        (
            RuleDraft { path: some("a"), host: some("b"), ..draft("deny") },
            "host: nothing touches both a path and a host",
        ),
        (RuleDraft { path: some("a"), effect: some("network"), ..draft("deny") }, "\"network\" touches no path"),
        (RuleDraft { host: some("https://a.b/c"), ..draft("deny") }, "leave out scheme, user, port and path"),
        (RuleDraft { effect: some("gain-rights"), ..draft("allow") }, "no rule can allow the effect \"gain-rights\""),
        (RuleDraft { effect: some("not-understood"), ..draft("allow") }, "no rule can allow the effect"),
        (RuleDraft { pattern: some("x"), ..draft("allow") }, "text alone says too little"),
        (
            RuleDraft { dangerous: Some(true), tool: some("bash"), ..draft("deny") },
            "dangerous: \"dangerous\" is about questions",
        ),
        (RuleDraft { name: Some("network".into()), tool: some("bash"), ..draft("deny") }, "name of a built-in rule"),
        (RuleDraft { reason: None, tool: some("bash"), ..draft("ask") }, "reason: the rule has no reason"),
    ];
    for (draft, problem) in cases {
        let told = told(draft.clone());
        assert!(told.contains(problem), "{problem:?} is not in {told:?}");
    }
}

#[test]
fn a_rule_about_what_a_tool_never_does_is_told_with_the_fix() {
    let of = |tool: &str| RuleDraft { tool: Some(tool.into()), ..draft("deny") };
    let told = |draft: RuleDraft| checked(&draft).expect_err("it is wrong");
    let example = Some(vec!["git status".to_owned()]);
    let program = |tool: &str| RuleDraft { program: Some("git".into()), matches: example.clone(), ..of(tool) };
    let effect = |tool: &str, name: &str| RuleDraft { effect: Some(name.into()), ..of(tool) };
    assert_eq!(
        told(program("write_file")),
        ["tool: the tool \"write_file\" runs no commands, so the rule can never match; remove it, or the program"]
    );
    for only_of_commands in ["network", "run", "weak-sandbox"] {
        let problem = format!("only commands have the effect \"{only_of_commands}\", and \"write_file\" runs none");
        let expected = [format!("effect: {problem}; remove one of the two")];
        assert_eq!(told(effect("write_file", only_of_commands)), expected);
    }
    assert_eq!(
        told(effect("bash", "read-secret")),
        ["effect: the tool \"bash\" has no effect \"read-secret\"; remove one of the two"]
    );
    assert_eq!(
        told(RuleDraft { path: Some("a".into()), matches: example.clone(), ..of("write_file") }),
        ["matches: examples are commands, and \"write_file\" runs none; remove them, or the tool"]
    );
    assert_eq!(
        told(program("write_*")),
        ["matches: the rule does not match its example \"git status\"; fix the rule or the example"]
    );
    let can_match = [program("bash"), program("b*"), effect("write_file", "read"), effect("bash", "read-outside")];
    can_match.iter().for_each(|draft| _ = rule(draft));
}

#[test]
fn a_rule_denies_commands_a_file_that_every_user_may_read() {
    let rules = [rule(&RuleDraft { path: Some("/etc/passwd".into()), ..draft("deny") })];
    let of = |command: &str| judge(&rules, &steps_in_scene(command)).0;
    assert_eq!(of("cat /etc/passwd"), Decision::Deny);
    assert_eq!(of("grep root /etc/../etc/passwd"), Decision::Deny);
    assert_eq!(of("cat /etc/hostname"), Decision::Allow);
}

#[test]
fn a_rule_with_lists_fits_where_one_of_each_list_does() {
    let list = |texts: &[&str]| Some(Patterns(texts.iter().map(|text| (*text).to_owned()).collect()));
    let tools = rule(&RuleDraft { tool: list(&["write_file", "delete_*"]), ..draft("deny") });
    let policy = Policy::default().with_rules([tools]);
    let denied = |tool: &str| policy.judge_tool(tool, None).is_some();
    assert!(denied("write_file") && denied("delete_all") && !denied("bash"));
    let paths = rule(&RuleDraft { path: list(&["*.pem", "secrets/**"]), ..draft("deny") });
    let of = |path: &str| judge(std::slice::from_ref(&paths), &[Effect::Read(inside(path, Extent::Entry))]).0;
    assert_eq!([of("a.pem"), of("secrets/x"), of("a.txt")], [Decision::Deny, Decision::Deny, Decision::Allow]);
    let hosts = rule(&RuleDraft { host: list(&["a.example", "*.b.example"]), ..draft("allow") });
    let of = |host: &str| judge(std::slice::from_ref(&hosts), &[Effect::Connect(Host(host.into()))]).0;
    assert_eq!(
        [of("a.example"), of("x.b.example"), of("c.example")],
        [Decision::Allow, Decision::Allow, Decision::Ask]
    );
    let empty = RuleDraft { path: list(&[]), ..draft("deny") };
    assert_eq!(
        checked(&empty).expect_err("it is empty")[0],
        "path: the list of \"path\" is empty; name one, or remove the line"
    );
}

#[test]
fn a_rule_about_arguments_meets_every_tool_with_them_also_one_that_haft_does_not_know() {
    let arguments = |name: &str, text: &str| Some(vec![(name.to_owned(), Patterns::from(text))]);
    let any = rule(&RuleDraft { arguments: arguments("database", "prod*"), ..draft("deny") });
    let one =
        rule(&RuleDraft { tool: Some("query".into()), arguments: arguments("*", "*drop table*"), ..draft("ask") });
    let policy = Policy::default().with_rules([any, one]);
    let of = |tool: &str, arguments: serde_json::Value| {
        policy.judge_tool(tool, Some(&arguments)).map(|ruling| ruling.decision)
    };
    assert_eq!(of("whatever", json!({ "database": "Prod-eu" })), Some(Decision::Deny));
    assert_eq!(of("whatever", json!({ "database": "test" })), None);
    assert_eq!(of("query", json!({ "steps": [{ "sql": "DROP TABLE users" }] })), Some(Decision::Ask));
    assert_eq!(of("other", json!({ "sql": "drop table users" })), None);
    assert_eq!(policy.judge_tool("query", None), None);
    // A call that touches nothing is refused too, and one whose effects are allowed.
    let call = json!({ "database": "prod" });
    let situation = Situation { arguments: Some(&call), ..Situation::default() };
    assert_eq!(policy.judge("whatever", &[], situation).decision, Decision::Deny);
    assert_eq!(
        policy.judge("whatever", &[Effect::Read(inside("a", Extent::Entry))], situation).decision,
        Decision::Deny
    );
}

#[test]
fn a_permission_about_arguments_answers_ordinary_questions_of_calls_with_them_and_no_others() {
    let arguments = Some(vec![("command".to_owned(), Patterns::from("make *"))]);
    let draft = RuleDraft { tool: Some("bash".into()), arguments, ..draft("allow") };
    let policy = Policy::default().with_rules([rule(&draft)]);
    let of = |command: &str| {
        let call = json!({ "command": command });
        let situation = Situation { arguments: Some(&call), ..Situation::default() };
        policy.judge("bash", &[code(command)], situation).decision
    };
    assert_eq!((of("make test"), of("MAKE test")), (Decision::Allow, Decision::Ask));
    let everywhere = RuleDraft { tool: None, ..draft };
    let told = checked(&everywhere).expect_err("it says too little");
    assert_eq!(
        told,
        ["arguments: arguments without a tool say too little to allow something; say which tool is allowed"]
    );
}

#[test]
fn a_tool_that_haft_does_not_know_may_have_a_rule_and_a_slip_may_not() {
    assert!(checked(&RuleDraft { tool: Some("query_database".into()), ..draft("deny") }).is_ok());
    let told = checked(&RuleDraft { tool: Some("write_fil".into()), ..draft("deny") }).expect_err("it is a slip");
    let fix = "did you mean \"write_file\"? If the name is right, write \"write_fil*\"";
    assert_eq!(told, [format!("tool: haft has no tool \"write_fil\"; {fix}")]);
}

#[test]
fn examples_that_fail_are_told() {
    let wrong = RuleDraft {
        program: Some("git push".into()),
        matches: Some(vec!["git push origin".into(), "git pull".into()]),
        not_matches: Some(vec!["git -C x push".into(), "ls".into()]),
        ..draft("deny")
    };
    let told = checked(&wrong).expect_err("examples fail");
    assert_eq!(
        told,
        [
            "matches: the rule does not match its example \"git pull\"; fix the rule or the example",
            "not_matches: the rule matches \"git -C x push\", which it must not; fix the rule or the example",
        ]
    );
}

#[test]
fn two_permissions_together_do_not_give_code_the_network() {
    let allows = |program: &str| {
        let (text, matches) = (Some(program.into()), Some(vec![program.to_owned()]));
        rule(&RuleDraft { program: text, matches, ..draft("allow") })
    };
    let host = RuleDraft { host: Some("api.example.com".into()), effect: Some("network".into()), ..draft("allow") };
    let rules = [allows("make test"), rule(&host), allows("npm install")];
    let of = |command: &str| judge(&rules, &steps_in_scene(command)).0;
    assert_eq!(of("make test; make test"), Decision::Allow);
    assert_eq!(of("curl -s http://api.example.com/v"), Decision::Allow);
    assert_eq!(of("make test && curl -s http://api.example.com/v"), Decision::Ask);
    assert_eq!(of("npm install"), Decision::Allow);
}
