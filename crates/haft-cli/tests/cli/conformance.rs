//! `haft check --run`: good tools keep everything, and each bad one fails exactly what it breaks.

use haft_testkit::require::Need;
use serde_json::Value;

use super::{Place, put};

const HEAD: &str = "name: t\ndescription: Is tried.\ninput_schema:\n  type: object\n  properties:\n    text: {type: string, description: The text.}\n  required: [text]\n";

/// Runs every check; returns those with this verdict, and what is said of them.
fn with_verdict(place: &Place, path: &str, verdict: &str) -> Vec<(String, String)> {
    let said = place.haft(&["--trust", "--json", "check", "--run", path], "");
    let records = said.out.lines().map(|line| serde_json::from_str::<Value>(line).expect("every line is a record"));
    let records: Vec<Value> = records.collect();
    assert!(records.iter().any(|record| record.get("check").is_some()), "{}{}", said.out, said.err);
    let has_failed = records.iter().any(|record| record["verdict"] == "fail");
    assert_eq!(said.code, i32::from(has_failed), "{}{}", said.out, said.err);
    let text = |record: &Value, key: &str| record[key].as_str().unwrap_or_default().to_owned();
    let found = records.iter().filter(|record| record["verdict"] == verdict);
    found.map(|record| (text(record, "check"), format!("{}; {}", text(record, "what"), text(record, "fix")))).collect()
}

#[track_caller]
fn has_python(place: &Place) -> bool {
    let tried = std::process::Command::new("python3").arg("-c").arg("").current_dir(place.path("ws")).status();
    Need::Python.met(tried.is_ok())
}

/// A tool in shell with more lines for its definition fails exactly this check, with these words.
#[track_caller]
fn shell_fails(check: &str, (more, script): (&str, &str), words: &str) {
    let place = Place::new();
    put(&place, "t.yaml", &format!("{HEAD}binding: {{command: [sh, t.sh]}}\n{more}\n"));
    put(&place, "t.sh", script);
    fails(&place, check, words);
}

/// A tool in Python fails exactly this check, with these words.
#[track_caller]
fn function_fails(check: &str, (more, module): (&str, &str), words: &str) {
    let place = Place::new();
    if !has_python(&place) {
        return;
    }
    put(&place, "t.yaml", &format!("{HEAD}binding: functions:t\n{more}\n"));
    put(&place, "functions.py", module);
    fails(&place, check, words);
}

#[track_caller]
fn fails(place: &Place, check: &str, words: &str) {
    let is_as_said = |failed: &[(String, String)]| match failed {
        [(failed, why)] => failed == check && why.contains(words),
        _ => false,
    };
    let failed = failed(place, "t.yaml", is_as_said);
    assert!(is_as_said(&failed), "not only {check} with {words:?} failed: {failed:?}");
}

/// The checks that failed in the first of three runs that is as expected, or in the last: what a tool does wrong it does
/// each time, and a machine that stands still for a second makes a check of times fail. Other runs are printed.
#[expect(clippy::print_stderr, reason = "a person reads why it took several runs")]
fn failed(place: &Place, path: &str, is_as_said: impl Fn(&[(String, String)]) -> bool) -> Vec<(String, String)> {
    for _ in 0..2 {
        let failed = with_verdict(place, path, "fail");
        if is_as_said(&failed) {
            return failed;
        }
        eprintln!("NOTE once more, because this failed: {failed:?}");
    }
    with_verdict(place, path, "fail")
}

const EXAMPLE: &str = "examples: [{arguments: {text: abc}}]";

#[test]
fn new_tools_keep_everything() {
    let place = Place::new();
    for language in ["sh", "python"] {
        if language == "python" && !has_python(&place) {
            continue;
        }
        let name = format!("of_{language}");
        assert_eq!(place.haft(&["new", "tool", &name, "--lang", language], "").code, 0);
        let file = format!(".haft/tools/{name}.yaml");
        assert_eq!(failed(&place, &file, <[_]>::is_empty), []);
        let passed = with_verdict(&place, &file, "pass").len();
        assert_eq!(passed, 11, "{:?}", with_verdict(&place, &file, "skipped"));
    }
}

#[test]
fn a_tool_that_promises_much_and_keeps_it_passes_every_check() {
    let place = Place::new();
    let more = "effects: [{change: out.txt}]\nuse_cache: true\noutput_schema: {type: integer}\nexamples: [{arguments: {text: abc}, contains: \"3\"}]";
    put(&place, "t.yaml", &format!("{HEAD}binding: {{command: [sh, t.sh]}}\n{more}\n"));
    put(&place, "t.sh", "cat > /dev/null; echo changed > out.txt; echo 3\n");
    put(&place, "mine.txt", "mine");
    assert_eq!(failed(&place, "t.yaml", <[_]>::is_empty), []);
    assert_eq!(with_verdict(&place, "t.yaml", "skipped"), []);
    assert!(!place.path("ws/out.txt").exists(), "what it changes is thrown away");
}

#[test]
fn an_example_that_does_not_hold_is_found() {
    let more = "effects: []\nexamples: [{arguments: {text: abc}, contains: four}]";
    shell_fails("examples", (more, "cat > /dev/null; echo three\n"), "does not contain \"four\"; fix the tool");
}

#[test]
fn an_argument_that_may_be_anything_is_found() {
    let place = Place::new();
    let head = HEAD.replace("type: string, ", "").replace("  required: [text]\n", "");
    put(&place, "t.yaml", &format!("{head}binding: {{command: [sh, t.sh]}}\neffects: []\n{EXAMPLE}\n"));
    put(&place, "t.sh", "cat > /dev/null; echo 3\n");
    fails(&place, "wrong_arguments", "write the type of \"text\" into \"input_schema\"");
}

#[test]
fn a_value_that_breaks_the_tool_is_found() {
    let more = &format!("effects: []\n{EXAMPLE}");
    let silent = "grep -q '\"text\":\"\"' && exit 3\necho fine\n";
    shell_fails("odd_values", (more, silent), "{\"text\":\"\"} breaks it: \"t\" failed with exit code 3.; refuse such");
    let slip = "def t(text): return {'first': text[0]}\n";
    function_fails("odd_values", (more, slip), "{\"text\":\"\"} breaks it: \"t\" failed: IndexError: string index");
    let endless = "def t(text):\n    while text == '': pass\n    return 3\n";
    let more = &format!("timeout: 1\n{more}");
    function_fails("odd_values", (more, endless), "{\"text\":\"\"} does not end within 1 s");
}

#[test]
fn calls_that_share_something_are_found() {
    let shares = "import time\ndef t(text, global_storage):\n    if global_storage.get('busy'): raise RuntimeError('busy')\n    global_storage['busy'] = True\n    time.sleep(0.2)\n    global_storage['busy'] = False\n    return len(text)\n";
    let more = format!("effects: []\n{EXAMPLE}");
    function_fails("parallel", (&more, shares), "RuntimeError: busy.; share no state between calls, or write disable_");
    let place = Place::new();
    if has_python(&place) {
        put(&place, "t.yaml", &format!("{HEAD}binding: functions:t\n{more}\ndisable_parallel: true\n"));
        put(&place, "functions.py", shares);
        assert_eq!(failed(&place, "t.yaml", <[_]>::is_empty), []);
    }
}

#[test]
fn a_tool_that_does_not_recover_is_found() {
    let spoilt = "spoilt = False\ndef t(text):\n    global spoilt\n    if spoilt: raise RuntimeError('spoilt')\n    if not text:\n        spoilt = True\n        raise ValueError('there is no text')\n    return len(text)\n";
    let more = format!("effects: []\n{EXAMPLE}");
    function_fails("next_call", (&more, spoilt), "the call after one that failed: \"t\" failed: RuntimeError: spoilt.");
}

#[test]
fn an_answer_that_nobody_can_read_is_found() {
    let script = "cat > /dev/null; head -c 400000 /dev/zero | tr '\\0' x | fold\n";
    let words = "longer than the 32,000 characters that a model reads; return less";
    shell_fails("long_answer", (&format!("effects: []\n{EXAMPLE}"), script), words);
}

#[test]
fn a_change_that_was_not_declared_is_found() {
    let script = "cat > /dev/null; echo x > stray.txt; echo 3\n";
    let words = "{\"text\":\"abc\"} changes stray.txt, which \"effects\" does not declare; haft discarded it";
    shell_fails("effects", (&format!("effects: []\n{EXAMPLE}"), script), words);
}

#[test]
fn what_keeps_running_is_found() {
    let script = "cat > /dev/null; sleep 60 > /dev/null 2>&1 &\necho 3\n";
    shell_fails("left_running", (&format!("effects: []\n{EXAMPLE}"), script), "leaves 1 process running");
}

#[test]
fn an_answer_that_is_not_as_promised_is_found() {
    let more = format!("effects: []\noutput_schema: {{type: object, properties: {{n: {{type: integer}}}}}}\n{EXAMPLE}");
    shell_fails(
        "output_schema",
        (&more, "cat > /dev/null; echo '{\"n\": \"three\"}'\n"),
        "does not match the schema ($.n: ",
    );
}

#[test]
fn a_secret_in_an_answer_is_found() {
    let place = Place::new();
    let head = HEAD.replace("  required", "    key: {type: string, description: The key.}\n  required");
    put(&place, "d.yaml", &format!("{head}binding: {{command: [cat]}}\neffects: []\n{EXAMPLE}\n"));
    put(
        &place,
        "tools.yaml",
        "tools:\n  - name: t\n    yaml_path: d.yaml\n    extra_kwargs: {key: '${env.DEPLOY_TOKEN}'}\n",
    );
    let failed = failed(&place, "tools.yaml", |failed| failed.len() == 1);
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(failed[0].0, "secrets");
    assert!(!failed[0].1.contains("correct-horse"), "{failed:?}");
}

#[test]
fn a_kept_answer_that_is_another_one_each_time_is_found() {
    let more = format!("effects: []\nuse_cache: true\n{EXAMPLE}");
    let script = "cat > /dev/null; cat /proc/sys/kernel/random/uuid\n";
    shell_fails("use_cache", (&more, script), "returned another result the second time; write use_cache: false");
}

#[test]
fn a_tool_that_connects_is_called_no_more_often_than_its_examples_say() {
    let place = Place::new();
    put(
        &place,
        "t.yaml",
        &format!("{HEAD}binding: {{command: [sh, t.sh]}}\neffects: [{{connect: a.example}}]\n{EXAMPLE}\n"),
    );
    put(&place, "t.sh", "cat > /dev/null; echo 3\n");
    let skipped = with_verdict(&place, "t.yaml", "skipped");
    let behaviour = ["odd_values", "time_limit", "cancel", "parallel", "next_call"];
    assert_eq!(skipped.iter().map(|(check, _)| check.as_str()).take(5).collect::<Vec<_>>(), behaviour);
    assert!(skipped[0].1.starts_with("the tool connects to a.example, so haft runs only its examples"), "{skipped:?}");
}

#[test]
fn tools_of_haft_write_nothing_while_they_are_tried() {
    let place = Place::new();
    let text = "name: note\ndescription: Writes a note.\nbinding: {builtin: write_file}\ninput_schema: {type: object, properties: {path: {type: string, description: Where.}, content: {type: string, description: What.}}, required: [path, content]}\nexamples: [{arguments: {path: note.txt, content: x}}]\n";
    put(&place, "note.yaml", text);
    for arguments in [&["check", "note.yaml"][..], &["check", "--run", "note.yaml"]] {
        place.haft(arguments, "");
        assert!(!place.path("ws/note.txt").exists(), "{arguments:?}");
    }
}

#[test]
fn what_nobody_trusts_is_not_run_and_that_is_no_success() {
    let place = Place::new();
    put(&place, ".haft/tools/t.yaml", &format!("{HEAD}binding: {{command: [sh, t.sh]}}\neffects: []\n{EXAMPLE}\n"));
    put(&place, ".haft/tools/t.sh", "echo 3\n");
    let said = place.haft(&["check", "--run", ".haft"], "");
    assert_eq!((said.out.as_str(), said.code), ("", 3));
    assert!(said.err.contains("because it is not trusted: haft trust, or --trust"), "{}", said.err);
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    let said = place.haft(&["check", "--run", ".haft"], "");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(
        said.out.starts_with(".haft/tools/t.yaml: t\n  pass     examples         the example works\n"),
        "{}",
        said.out
    );
}
