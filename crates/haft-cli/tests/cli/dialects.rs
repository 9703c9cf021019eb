//! `--dialect`: the tools, calls and records of another system.

use serde_json::{Value, json};

use super::Place;

fn records(place: &Place, dialect: &str, calls: &[Value]) -> Vec<Value> {
    let input: String = calls.iter().map(|call| format!("{call}\n")).collect();
    let said = place.haft(&["--dialect", dialect, "call", "-"], &input);
    assert_eq!(said.code, 0, "{}", said.err);
    said.out.lines().map(|line| serde_json::from_str(line).expect("every line is a record")).collect()
}

#[test]
fn tools_are_listed_by_the_names_of_the_dialect_for_people_programs_and_providers() {
    let place = Place::new();
    let said = place.haft(&["tools", "--dialect", "nexau"], "");
    assert!(said.out.contains("run_shell_command") && !said.out.contains("edit_file"), "{}", said.out);
    let one = place.haft(&["tools", "--dialect", "tunacode", "update_file"], "");
    assert!(one.out.contains("filepath (string, required)") && !one.out.contains("target"), "{}", one.out);
    let shown = place.haft(&["tools", "--dialect", "ally", "--for", "openai"], "");
    let shown: Value = serde_json::from_str(&shown.out).expect("a list");
    assert_eq!(shown[0]["function"]["name"], "read");
    assert_eq!(shown[0]["function"]["parameters"]["required"], json!(["file_paths"]));
    let own = place.haft(&["tools", "--dialect", "haft"], "");
    assert_eq!(own.out, place.haft(&["tools"], "").out);
}

#[test]
fn an_unknown_dialect_is_refused_with_the_names_there_are() {
    let said = Place::new().haft(&["tools", "--dialect", "nope"], "");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("haft, tunacode, ally, wyrm, nexau"), "{}", said.err);
}

#[test]
fn the_record_keeps_the_outer_form_and_the_native_kind() {
    let place = Place::new();
    let calls = [
        json!({ "id": "c1", "name": "read_file", "arguments": { "file_path": "src/main.rs" } }),
        json!({ "name": "read_file", "arguments": { "file_path": "nope.rs" } }),
    ];
    let records = records(&place, "nexau", &calls);
    let told = (&records[0]["id"], &records[0]["tool"], &records[0]["content"]);
    assert_eq!(told, (&json!("c1"), &json!("read_file"), &json!("1| fn main() {}\n")));
    assert_eq!(records[0]["data"], json!({ "content": "1| fn main() {}\n", "is_error": false }));
    assert_eq!((&records[1]["status"], &records[1]["error"]["kind"]), (&json!("failed"), &json!("missing_file")));
    assert_eq!(records[1]["data"]["error"]["type"], "FILE_NOT_FOUND");
}

#[test]
fn one_call_by_hand_speaks_the_dialect_too() {
    let place = Place::new();
    let said = place.haft(&["--dialect", "tunacode", "call", "read_file", "filepath=src/main.rs"], "");
    assert_eq!((said.code, said.out.lines().nth(1)), (0, Some("00001| fn main() {}")), "{}{}", said.out, said.err);
    let unknown = place.haft(&["--dialect", "ally", "call", "read_file", "path=src/main.rs"], "");
    assert_eq!(unknown.code, 1);
    assert!(unknown.err.contains("Unknown tool: read_file"), "{}", unknown.err);
}

#[test]
fn the_profile_follows_the_dialect_unless_it_is_named() {
    let place = Place::new();
    std::fs::write(place.path("ws/large.txt"), "x\n".repeat(60_000)).expect("it can be written");
    let kind = |arguments: &[&str]| {
        let said = place.haft(&[arguments, &["--json", "call", "read_file", "filepath=large.txt"]].concat(), "");
        serde_json::from_str::<Value>(&said.out).expect("a record")["error"]["kind"].clone()
    };
    assert_eq!(kind(&["--dialect", "tunacode"]), json!("too_large"));
    assert_eq!(kind(&["--dialect", "tunacode", "--profile", "haft"]), Value::Null);
}

#[test]
fn doctor_and_tour_work_in_a_dialect() {
    let place = Place::new();
    let doctor = place.haft(&["--dialect", "nexau", "doctor", "read_file"], "");
    assert!(doctor.out.contains("listed") && !doctor.out.contains("unknown field"), "{}", doctor.out);
    assert!(place.haft(&["--dialect", "nexau", "doctor"], "").out.contains("nexau"));
}
