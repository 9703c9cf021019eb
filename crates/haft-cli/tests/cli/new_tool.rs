//! `haft new tool`: what it writes is in order and runs.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::Place;

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).expect("it is there")
}

/// Runs a program of the workspace on some input; nothing when there is no such program.
fn ran(place: &Place, words: &[&str], input: &str) -> Option<Value> {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(place.path("ws/.haft/tools")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().ok()?;
    child.stdin.take().expect("it has an input").write_all(input.as_bytes()).expect("it reads its input");
    let output = child.wait_with_output().expect("it ends");
    Some(serde_json::from_slice(&output.stdout).expect("it prints JSON"))
}

#[test]
fn a_new_tool_is_written_and_checked_and_says_what_to_do_next() {
    let place = Place::new();
    for (language, ending) in [("python", "py"), ("sh", "sh")] {
        let name = format!("count_{language}");
        let said = place.haft(&["new", "tool", &name, "--lang", language], "");
        assert_eq!(said.out, format!("Wrote .haft/tools/{name}.yaml\nWrote .haft/tools/{name}.{ending}\n"));
        let next = format!(
            "Next, and after each change:\n  haft check .haft/tools/{name}.yaml\n  haft trust\n  haft call {name} text='one two three'\nhaft uses the tools of a project once you trust them.\n"
        );
        assert_eq!((said.err, said.code), (next, 0));
        let checked = place.haft(&["check", &format!(".haft/tools/{name}.yaml")], "");
        assert_eq!((checked.out.as_str(), checked.code), ("", 0));
    }
    let trusted = place.haft(&["trust"], "");
    assert!(trusted.out.contains("and .haft/tools/count_python.py, which it names"), "{}", trusted.out);
    assert!(trusted.out.contains("and .haft/tools/count_sh.sh, which it names"), "{}", trusted.out);
}

#[test]
fn the_script_reads_its_arguments_without_any_other_program() {
    let place = Place::new();
    assert_eq!(place.haft(&["new", "tool", "count", "--lang", "sh"], "").code, 0);
    let cases = [
        (json!({ "text": "one two three" }), json!({ "unit": "words", "count": 3 })),
        (json!({ "unit": "lines", "text": "a\nb" }), json!({ "unit": "lines", "count": 2 })),
        (json!({ "text": "say \"text\": \\n \t x" }), json!({ "unit": "words", "count": 4 })),
        (json!({ "text": "" }), json!({ "unit": "words", "count": 0 })),
        (json!({ "unit": "lines", "text": "" }), json!({ "unit": "lines", "count": 0 })),
    ];
    for (arguments, expected) in cases {
        assert_eq!(ran(&place, &["sh", "count.sh"], &arguments.to_string()), Some(expected), "{arguments}");
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "a test that cannot look says so")]
fn the_function_does_what_its_example_says() {
    let place = Place::new();
    assert_eq!(place.haft(&["new", "tool", "json", "--lang", "python"], "").code, 0);
    let program = "import json, sys, json_tool; print(json.dumps(json_tool.json_tool(**json.load(sys.stdin))))";
    match ran(&place, &["python3", "-B", "-c", program], r#"{"text": "one two three"}"#) {
        Some(said) => assert_eq!(said, json!({ "unit": "words", "count": 3 })),
        None => println!("there is no python3, so the function was not called"),
    }
    assert!(text(&place.path("ws/.haft/tools/json.yaml")).contains("\nbinding: json_tool:json_tool\n"));
}

#[test]
fn nothing_that_is_there_is_overwritten() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("ws/.haft/tools")).expect("folders can be made");
    std::fs::write(place.path("ws/.haft/tools/count.py"), "mine").expect("a file can be written");
    let said = place.haft(&["new", "tool", "count", "--lang", "python"], "");
    assert_eq!(said.code, 2);
    let told =
        "haft: nothing was written: .haft/tools/count.py: it exists already; choose another name, or remove it\n";
    assert_eq!(said.err, told);
    assert_eq!(text(&place.path("ws/.haft/tools/count.py")), "mine");
    assert!(!place.path("ws/.haft/tools/count.yaml").exists());
}

#[test]
fn a_name_that_does_not_work_is_refused_with_one_that_does() {
    let place = Place::new();
    let refused = |name: &str| {
        let said = place.haft(&["new", "tool", "--lang", "sh", "--", name], "");
        assert_eq!((said.code, place.path("ws/.haft").exists()), (2, false), "{name}");
        said.err.lines().next().unwrap_or_default().rsplit("try: ").next().unwrap_or_default().to_owned()
    };
    assert_eq!(refused("my tool"), "haft new tool my_tool");
    assert_eq!(refused("1st"), "haft new tool _1st");
    assert_eq!(refused("../x"), "haft new tool ___x");
    assert_eq!(refused("bash"), "haft new tool my_bash");
    assert_eq!(refused("tools"), "haft new tool my_tools");
    assert_eq!(refused(""), "haft new tool my_tool");
    assert_eq!(refused(&"x".repeat(65)), format!("haft new tool {}", "x".repeat(64)));
}

#[test]
fn names_that_mean_something_in_yaml_or_python_work() {
    let place = Place::new();
    for name in ["true", "No", "null", "class", "re", "with-dash", "_"] {
        for language in ["python", "sh"] {
            let folder = format!("of_{language}");
            let said = place.haft(&["new", "tool", name, "--lang", language, "--dir", &folder], "");
            assert_eq!(said.code, 0, "{}", said.err);
            let checked = place.haft(&["check", &format!("{folder}/{name}.yaml")], "");
            assert_eq!((checked.out.as_str(), checked.code), ("", 0), "{name}");
        }
    }
}

#[test]
fn a_tool_can_be_for_all_projects_or_lie_anywhere() {
    let place = Place::new();
    let said = place.haft(&["new", "tool", "count", "--lang", "sh", "--user"], "");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!said.err.contains("haft trust"), "{}", said.err);
    assert!(place.path("home/.config/haft/tools/count.yaml").exists());

    let said = place.haft(&["new", "tool", "count", "--lang", "sh", "--dir", "my own"], "");
    assert!(said.err.contains("haft check 'my own/count.yaml'"), "{}", said.err);
    assert!(said.err.contains("yaml_path: 'my own/count.yaml'"), "{}", said.err);
    assert_eq!(place.haft(&["new", "tool", "x", "--lang", "sh", "--dir", "a", "--user"], "").code, 2);
    assert_eq!(place.haft(&["new", "tool", "x", "--lang", "perl"], "").code, 2);
}

#[test]
fn nothing_is_written_through_a_link_or_in_plan_mode() {
    let place = Place::new();
    let said = place.haft(&["--plan", "new", "tool", "count", "--lang", "sh"], "");
    assert_eq!((said.code, place.path("ws/.haft").exists()), (3, false), "{}", said.err);
    std::fs::create_dir_all(place.path("elsewhere")).expect("a folder can be made");
    std::os::unix::fs::symlink("../elsewhere", place.path("ws/.haft")).expect("a link can be made");
    let said = place.haft(&["new", "tool", "count", "--lang", "sh"], "");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("./.haft is a link, and haft loads nothing through links"), "{}", said.err);
    assert!(super::is_empty(&place.path("elsewhere")));
}

#[test]
fn the_workspace_may_be_named_and_programs_get_a_record() {
    let place = Place::new();
    let said = place.haft(&["-C", "src", "new", "tool", "count", "--lang", "sh"], "");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("\n  haft trust src\n"), "{}", said.err);
    assert!(
        said.err.ends_with(
            "\n  haft -C src call count text='one two three'\nhaft uses the tools of a project once you trust them.\n"
        ),
        "{}",
        said.err
    );
    assert!(place.path("ws/src/.haft/tools/count.sh").exists());

    let said = place.haft(&["-C", "gone", "new", "tool", "count", "--lang", "sh"], "");
    assert_eq!((said.code, place.path("ws/gone").exists()), (2, false), "{}", said.err);

    let said = place.haft(&["--json", "new", "tool", "count", "--lang", "sh"], "");
    let record: Value = serde_json::from_str(&said.out).expect("one record");
    assert_eq!(record, json!({ "v": 1, "files": [".haft/tools/count.yaml", ".haft/tools/count.sh"] }));
}
