//! Dialects of one's own: a file in the user's folder, or in that of a project that is trusted.

use serde_json::{Value, json};

use super::{Place, check, put};

pub(super) const OURS: &str = r#"
[page]
numbers = "aligned"
rest = "view(file=\"spill:{id}\", from={line})"

[voice]
call = "{tool} {arguments}"
error = "FAILED ({kind}): {what}\n{happened}\nTry: {next}"
command = "{out}{err}-> {code}\n{said}"

[voice.kinds]
missing_file = "NO_SUCH_FILE"

[voice.worked]
ok = true
text = "{content}"
exit = "{code}"

[voice.failed]
ok = false
error = { type = "{kind}", message = "{what} So {next}" }

[kinds.missing_file]
what = "no file {path}.{more}"

[[tools]]
name = "view"
tool = "read_file"
words = "Shows a file."
required = ["file"]
example = { file = "README.md" }
arguments = [
    { name = "file", to = "path", says = "The file." },
    { name = "from", to = "offset from-zero", says = "First line, from 0." },
]

[[tools]]
name = "run"
tool = "bash"
words = "Runs a command."
required = ["cmd"]
example = { cmd = "ls" }
arguments = [{ name = "cmd", to = "command", says = "The command." }]
"#;

/// A place where the user has this dialect.
fn with_own(name: &str, text: &str) -> Place {
    let place = Place::new();
    put(&place, &format!("../home/.config/haft/dialects/{name}.toml"), text);
    put(&place, "two.txt", "one\ntwo\n");
    place
}

fn record(place: &Place, arguments: &[&str]) -> Value {
    let said = place.haft(&[&["--dialect", "ours", "--json"], arguments].concat(), "");
    serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}{}", said.out, said.err))
}

#[test]
fn tools_calls_and_results_are_those_of_the_file() {
    let place = with_own("ours", OURS);
    let said = |arguments: &[&str]| place.haft(&[&["--dialect", "ours"], arguments].concat(), "");
    assert_eq!(said(&["tools"]).out, "view  Shows a file\nrun   Runs a command\n");
    assert!(said(&["call", "view", "file=two.txt", "from=1"]).out.starts_with("2| two\n"));
    let failed = said(&["call", "view", "file=tow.txt"]);
    assert!(failed.err.starts_with("FAILED (NO_SUCH_FILE): no file tow.txt. Near: two.txt.\nTry: "), "{}", failed.err);
    let wrong = said(&["call", "view", "fil=two.txt"]);
    assert!(wrong.err.contains("a call that fits: view {\"file\":\"two.txt\"}"), "{}", wrong.err);

    let failed = record(&place, &["call", "view", "file=gone"]);
    assert_eq!((&failed["tool"], &failed["error"]["kind"]), (&json!("view"), &json!("missing_file")));
    assert_eq!((&failed["data"]["ok"], &failed["data"]["error"]["type"]), (&json!(false), &json!("NO_SUCH_FILE")));
    let ran = record(&place, &["--yes", "call", "run", "cmd=echo hi; exit 3"]);
    assert_eq!((&ran["content"], &ran["data"]["exit"]), (&json!("hi\n-> 3\n"), &json!(3)), "{ran}");
}

#[test]
fn rules_know_the_native_tool_also_in_a_dialect_of_ones_own() {
    let place = with_own("ours", OURS);
    let refused = record(&place, &["call", "run", "cmd=rm -rf src"]);
    assert_eq!((&refused["status"], &refused["error"]["kind"]), (&json!("refused"), &json!("needs_approval")));
    assert!(place.path("ws/src/main.rs").exists());
}

#[test]
fn a_projects_dialect_counts_once_it_is_trusted_and_until_it_changes() {
    let place = Place::new();
    put(&place, ".haft/dialects/ours.toml", OURS);
    let tools = || place.haft(&["--dialect", "ours", "tools"], "");
    assert_eq!((tools().code, tools().err.contains("there is no such dialect")), (2, true), "{}", tools().err);
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    assert!(tools().out.starts_with("view "), "{}", tools().err);
    put(&place, "README.md", "what an example names is no part of it");
    assert!(tools().out.starts_with("view "), "{}", tools().err);
    put(&place, ".haft/dialects/ours.toml", &OURS.replace("Shows a file.", "Shows all."));
    assert_eq!(tools().code, 2);
}

#[test]
fn an_unknown_name_is_told_with_those_there_are_and_where_one_would_lie() {
    let place = with_own("ours", OURS);
    let said = place.haft(&["--dialect", "our", "tools"], "");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("nexau, ours; did you mean \"ours\"?; or write your own in "), "{}", said.err);
    assert_eq!(place.haft(&["--dialect", "../x", "tools"], "").code, 2);
}

#[test]
fn a_file_with_a_mistake_is_not_spoken_and_every_mistake_has_its_line() {
    let mistakes = OURS
        .replace("tool = \"bash\"", "tool = \"bahs\"")
        .replace("to = \"path\"", "to = \"paht\"")
        .replace("missing_file = ", "mising_file = ")
        .replace("Try: {next}", "Try: {nxt}")
        .replace("required = [\"file\"]", "required = [\"flie\"]");
    let place = with_own("ours", &mistakes);
    let said = place.haft(&["--dialect", "ours", "tools"], "");
    assert_eq!((said.code, said.err.matches("ours.toml:").count()), (2, 7), "{}", said.err);
    put(&place, "dialects/ours.toml", &mistakes);
    let expected = [
        "dialects/ours.toml:8: \"error\" of [voice] cannot say {nxt}; did you mean \"next\"?",
        "dialects/ours.toml:8: \"error\" of [voice] has no {next}, so it would leave information out; put {next} into \
         it",
        "dialects/ours.toml:12: there is no kind of error \"mising_file\"; did you mean \"missing_file\"?",
    ];
    let (out, code) = check(&place, "dialects/ours.toml");
    assert_eq!((out.lines().take(3).collect::<Vec<_>>(), code), (expected.to_vec(), 1), "{out}");
    assert!(out.contains(":33: haft's \"read_file\" has no argument \"paht\"; did you mean \"path\"?"), "{out}");
    assert!(out.contains(":30: \"view\" has no argument \"flie\"; did you mean \"file\"?"), "{out}");
    assert!(out.contains(":39: haft has no tool \"bahs\"; did you mean \"bash\"?"), "{out}");
}

#[test]
fn what_a_voice_may_not_leave_out_and_names_that_are_taken_are_told() {
    let place = Place::new();
    let told = |name: &str, text: &str| {
        put(&place, &format!("dialects/{name}.toml"), text);
        check(&place, &format!("dialects/{name}.toml")).0
    };
    assert_eq!(told("ours", OURS), "");
    assert!(told("nexau", OURS).contains("nexau.toml:1: haft already has a dialect \"nexau\"; give the file another"));
    assert!(
        told("ours", &OURS.replace("message = \"{what} So {next}\"", "message = \"no\""))
            .contains("so the reason is lost")
    );
    assert!(told("ours", &OURS.replace("text = \"{content}\"\nexit", "exit")).contains("so the result is lost"));
    assert!(told("ours", &OURS.replace("{err}", "")).contains("\"command\" of [voice] has no {err}"));
    assert!(
        told("ours", &OURS.replace("says = \"The file.\"", "say = 1")).contains("ours.toml:33: unknown field `say`")
    );
    assert!(told("ours", &OURS.replace("{out}", "{")).contains("a brace in"));
    assert!(
        told("ours", &OURS.replace("file = \"README.md\"", "file = 5"))
            .contains("the example of \"view\" does not fit")
    );
    let (_, rest) = OURS.split_once("[voice]").expect("it has one");
    assert!(
        told("ours", &format!("[voice]{rest}"))
            .contains("warning: pages of files say how to go on in haft's own names")
    );
    put(&place, ".haft/dialects/bad.toml", "[[tools]]\n");
    assert!(check(&place, ".").0.starts_with("./.haft/dialects/bad.toml:1: missing field `name`; "));
}
