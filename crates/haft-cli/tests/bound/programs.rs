use serde_json::json;

use crate::workshop::{Workshop, text};

fn program(name: &str, script: &str, more: &str) -> Workshop {
    let schema = "input_schema: {type: object, additionalProperties: true}";
    let definition =
        format!("name: {name}\ndescription: Is tried.\n{schema}\nbinding: {{command: [./{name}.sh]}}\n{more}\n");
    Workshop::new().file(&format!("tools/{name}.sh"), &format!("#!/bin/sh\n{script}\n")).tool(&definition)
}

#[tokio::test]
async fn a_program_reads_its_arguments_as_json_and_its_json_is_data() {
    let workshop = program("echo", "cat", "effects: []");
    let result = workshop.call("echo", json!({ "b": [1, 2.5], "a": "ä" })).await;
    assert_eq!(result.data, Some(json!({ "b": [1, 2.5], "a": "ä" })), "{}", text(&result));
    assert_eq!(text(&result), r#"{"b":[1,2.5],"a":"ä"}"#);
}

#[tokio::test]
async fn what_is_no_json_is_text_and_errors_are_the_log() {
    let workshop = program("greet", "echo 'hello there'; echo 'only a log' >&2", "effects: []");
    let result = workshop.call("greet", json!({})).await;
    assert_eq!((text(&result).as_str(), &result.data), ("hello there", &None));
}

#[tokio::test]
async fn a_program_that_prints_nothing_says_so() {
    let workshop = program("quiet", "true", "effects: []");
    assert_eq!(workshop.works("quiet", json!({})).await, "(no output)");
}

#[tokio::test]
async fn a_failure_tells_the_model_the_last_line_and_the_person_the_log() {
    let script = "echo 'first line' >&2; echo 'the disk is full' >&2; echo partial; exit 3";
    let (told, detail) = program("fill", script, "effects: []").fails("fill", json!({})).await;
    assert!(told.contains("\"fill\" failed with exit code 3: the disk is full."), "{told}");
    assert!(told.starts_with("partial") && !told.contains("first line"), "{told}");
    assert_eq!(detail, "first line\nthe disk is full");
}

#[tokio::test]
async fn an_error_that_a_program_answers_is_a_failure_in_its_words() {
    for (answer, words) in [
        (r#"{"error": "no such city"}"#, "\"weather\" failed: no such city."),
        (
            r#"{"error": {"message": "no such city", "type": "NOT_FOUND"}}"#,
            "\"weather\" failed: NOT_FOUND: no such city.",
        ),
    ] {
        let workshop = program("weather", &format!("echo '{answer}'"), "effects: []");
        let (told, _) = workshop.fails("weather", json!({})).await;
        assert!(told.starts_with(words), "{told}");
    }
    let fine = program("weather", r#"echo '{"error": null, "degrees": 3}'"#, "effects: []");
    assert_eq!(fine.call("weather", json!({})).await.data, Some(json!({ "error": null, "degrees": 3 })));
}

#[tokio::test]
async fn a_program_that_takes_too_long_is_ended() {
    let workshop = program("wait", "exec tail -f /dev/null", "effects: []\ntimeout: 0.3");
    let result = workshop.call("wait", json!({})).await;
    assert_eq!(result.status.code(), "timed_out", "{}", text(&result));
    assert!(text(&result).contains("\"wait\" was stopped after 0.3 s"), "{}", text(&result));
}

#[tokio::test]
async fn any_output_is_bounded() {
    let workshop = program("flood", "head -c 40000000 /dev/zero | tr '\\0' 'x'", "effects: []");
    let result = workshop.call("flood", json!({})).await;
    let told = text(&result);
    assert!(told.len() < 64_000 && told.contains("characters left out"), "{}", told.len());
    assert!(result.spilled.is_some());
}

#[tokio::test]
async fn what_a_program_changes_is_kept_where_it_said_so_and_nowhere_else() {
    let script = "echo new > out.txt; echo new > other.txt; echo done";
    let workshop = program("make", script, "effects: [{change: out.txt}]");
    let told = workshop.works("make", json!({})).await;
    assert!(told.starts_with("done\n") && told.contains("created out.txt") && told.contains("other.txt"), "{told}");
    assert_eq!(workshop.read("ws/out.txt").as_deref(), Some("new\n"));
    assert_eq!(workshop.read("ws/other.txt"), None);
}

#[tokio::test]
async fn words_that_name_files_beside_the_definition_are_given_by_their_paths() {
    let workshop = Workshop::new()
        .file("tools/data.txt", "beside")
        .tool("name: show\ndescription: Is tried.\ninput_schema: {}\nbinding: {command: [cat, data.txt]}\neffects: []");
    assert_eq!(workshop.works("show", json!({})).await, "beside");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_before_and_at_the_call() {
    let workshop = Workshop::new()
        .tool("name: lost\ndescription: x.\ninput_schema: {}\nbinding: {command: [./lost.sh]}")
        .tool("name: odd\ndescription: x.\ninput_schema: {}\nbinding: {command: [no-such-program-1]}")
        .file("tools/plain.txt", "x")
        .tool("name: plain\ndescription: x.\ninput_schema: {}\nbinding: {command: [./plain.txt]}");
    let (told, _) = workshop.fails("lost", json!({})).await;
    assert!(told.contains("\"./lost.sh\" of this tool is not in"), "{told}");
    assert!(workshop.problems("lost").await[0].contains("lost.sh"), "{:?}", workshop.problems("lost").await);
    assert!(workshop.problems("odd").await[0].contains("there is no program \"no-such-program-1\""));
    assert!(workshop.problems("plain").await[0].contains("chmod +x"));
}

#[tokio::test]
async fn an_answer_that_is_not_as_promised_is_a_failure_that_says_where() {
    let promise =
        "effects: []\noutput_schema: {type: object, properties: {degrees: {type: number}}, required: [degrees]}";
    let workshop = program("weather", r#"echo '{"degrees": "warm"}'"#, promise);
    let (told, _) = workshop.fails("weather", json!({})).await;
    assert!(told.contains("$.degrees") && told.contains("output_schema"), "{told}");
    let right = program("weather", r#"echo '{"degrees": 3}'"#, promise);
    assert_eq!(right.call("weather", json!({})).await.data, Some(json!({ "degrees": 3 })));
}
