//! `haft run --output-schema`: what is asked of the model, what is printed, and how it ends.

use std::io::Write;
use std::process::Stdio;

use haft_model::wire::Wire;
use haft_testkit::scratch_home::{CapturedOutput, records};
use haft_testkit::scripted::scripted_model::{Expect, ModelScript, ScriptedModel, ScriptedTurn};
use haft_testkit::snapshot;
use serde_json::{Value, json};

use crate::place::{Place, said};

const SCHEMA: &str = r#"{
  "type": "object",
  "properties": { "lines": { "type": "integer", "minimum": 0 } },
  "required": ["lines"],
  "additionalProperties": false
}"#;

fn place() -> Place {
    let place = Place::new();
    place.put("ws/lines.json", SCHEMA);
    place
}

fn look() -> ScriptedTurn {
    ScriptedTurn::text("First I look. ").and_call("read_file", json!({ "path": "a.txt" }))
}

/// Asks for the lines of a file.
fn ask(place: &Place, wire: Wire, turns: impl IntoIterator<Item = ScriptedTurn>, flags: &[&str]) -> CapturedOutput {
    let model = ScriptedModel::start(ModelScript::of(turns));
    let words = [&["run", "--output-schema", "lines.json"], flags, &["how long is a.txt?"]].concat();
    let said = said(place.with(&model, wire, &words));
    model.assert_told();
    said
}

#[test]
fn stdout_is_the_checked_answer_and_nothing_else_in_every_form() {
    for wire in Wire::ALL {
        for answer in [r#"{"lines": 2}"#, "```json\n{\n  \"lines\": 2\n}\n```", "Here it is: {\"lines\": 2}"] {
            let said = ask(&place(), wire, [look(), ScriptedTurn::text(answer)], &[]);
            assert_eq!((said.out.as_str(), said.code), ("{\"lines\":2}\n", 0), "{wire:?}: {}", said.err);
        }
    }
}

#[test]
fn a_wrong_answer_is_told_with_its_place_and_may_be_mended_in_every_form() {
    for wire in Wire::ALL {
        let told = |words: &str| Expect::user_says(format!("does not fit the schema:\n{words}"));
        let turns = [
            look(),
            ScriptedTurn::text("It has two lines."),
            ScriptedTurn::text(r#"{"lines": "two"}"#)
                .expect(told(r#"$: expected one JSON object, received "It has two lines.""#)),
            ScriptedTurn::text(r#"{"lines": 2}"#).expect(told(r#"$.lines: expected a whole number"#)),
        ];
        let said = ask(&place(), wire, turns, &[]);
        assert_eq!((said.out.as_str(), said.code), ("{\"lines\":2}\n", 0), "{wire:?}: {}", said.err);
        assert!(said.err.contains("note: The answer does not fit the schema"), "{}", said.err);
    }
}

#[test]
fn a_model_that_does_not_manage_exits_1_with_its_last_words_on_stderr() {
    let long = format!("Two! {}", "z".repeat(5_000));
    for wire in [Wire::Chat, Wire::Anthropic] {
        let place = place();
        let turns = ["One.", "Two.", long.as_str()].map(ScriptedTurn::text);
        let said = ask(&place, wire, turns, &[]);
        assert_eq!((said.out.as_str(), said.code), ("", 1), "{}", said.err);
        for words in [
            "The last reply of the model:\nTwo! zzz",
            "[… the rest is in the session …]",
            "haft: The answer does not fit the schema",
            "received \"Two! zzz",
            "To continue: haft resume ",
        ] {
            assert!(said.err.contains(words), "{words}: {}", said.err);
        }
        assert!(said.err.len() < 6_000, "{}", said.err);

        let next =
            ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Hm."), ScriptedTurn::text(r#"{"lines": 2}"#)]));
        let schema = place.path("ws/lines.json").display().to_string();
        let resumed = place.haft(&next, &["resume", "--output-schema", &schema, "once more"]);
        assert_eq!((resumed.out.as_str(), resumed.code), ("{\"lines\":2}\n", 0), "{}", resumed.err);
        // It belonged to that run.
        let free = ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Hm.")]));
        let resumed = place.haft(&free, &["resume", "and in words?"]);
        assert_eq!((resumed.out.as_str(), resumed.code), ("Hm.\n", 0), "{}", resumed.err);
        assert!(!free.requests()[0].conversation.instructions.contains("JSON Schema"));
    }
}

#[test]
fn records_have_the_answer_as_a_value_beside_its_text() {
    let turns = [ScriptedTurn::text("Two."), ScriptedTurn::text("```json\n{\"lines\": 2,}\n```")];
    let said = ask(&place(), Wire::Anthropic, turns, &["--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let all = records(&said.out);
    let unfit: Vec<&Value> = all.iter().filter(|record| record["event"] == "unfit").collect();
    assert_eq!(unfit.len(), 1, "{}", said.out);
    assert_eq!(unfit[0]["why"], r#"$: expected one JSON object, received "Two.""#);
    let end = all.last().expect("it says how it ended");
    assert_eq!((&end["how"], &end["output"]), (&json!("finished"), &json!({ "lines": 2 })));
    assert_eq!(end["answer"], "```json\n{\"lines\": 2,}\n```");
    assert_eq!(end["repairs"], json!(["json: took the text out of a code fence", "json: removed a trailing comma"]));

    let said = ask(&place(), Wire::Chat, ["One.", "Two.", "Three."].map(ScriptedTurn::text), &["--json"]);
    let end = records(&said.out).pop().expect("it says how it ended");
    assert_eq!((&end["how"], &end["exit_code"], &end["answer"]), (&json!("unfit"), &json!(1), &json!("Three.")));
    assert!(end.get("output").is_none() && end["error"].as_str().is_some_and(|error| error.contains("$: expected")));
}

#[test]
fn other_ends_are_as_ever() {
    let said = ask(&place(), Wire::Chat, [look()], &["--max-steps", "1"]);
    assert_eq!((said.out.as_str(), said.code), ("", 1), "{}", said.err);
    assert!(said.err.contains("Stopped after 1 step"), "{}", said.err);
}

#[test]
fn what_is_no_schema_is_said_before_anything_is_begun() {
    let place = place();
    for (name, text, why) in [
        ("yaml.json", "type: object", "The schema is not JSON: expected ident at line 1 column 2"),
        ("list.json", r#"{"type": "array"}"#, "write \"type\": \"object\" at its root"),
        ("wrong.json", r#"{"type": "objekt"}"#, "is not valid at /type"),
        ("far.json", r#"{"type": "object", "$ref": "https://example.org/x.json"}"#, "cannot be used"),
        ("long.json", &json!({ "type": "object", "title": "x".repeat(70_000) }).to_string(), "may have 65,536"),
        ("huge.json", &" ".repeat(2_000_000), "larger than 1 MiB"),
    ] {
        place.put(&format!("ws/{name}"), text);
        for command in ["run", "resume"] {
            let said = said(place.bare(&[command, "--output-schema", name, "x"]));
            assert_eq!((said.out.as_str(), said.code), ("", 2), "{name}: {}", said.err);
            assert!(said.err.contains(why) && said.err.contains(name), "{name}: {}", said.err);
        }
    }
    for (name, why) in [
        ("gone.json", "gone.json cannot be read: No such file"),
        (".", ". cannot be read: Is a directory"),
        (SCHEMA, "takes the name of a file"),
    ] {
        let said = said(place.bare(&["run", "--output-schema", name, "x"]));
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains(why), "{}", said.err);
    }
    assert_eq!(place.sessions().len(), 0);
}

#[test]
fn a_schema_may_come_through_a_pipe() {
    let place = Place::new();
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text(r#"{"lines": 2}"#)]));
    let mut command = place.with(&model, Wire::Chat, &["run", "--output-schema", "/dev/stdin", "how long?"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it can be started");
    child.stdin.take().expect("it is piped").write_all(SCHEMA.as_bytes()).expect("it reads");
    let said = CapturedOutput::from(child.wait_with_output().expect("it ends"));
    assert_eq!((said.out.as_str(), said.code), ("{\"lines\":2}\n", 0), "{}", said.err);
}

#[test]
fn what_a_model_is_told_of_a_schema_is_the_same_in_every_form() {
    let place = place();
    let told = Wire::ALL.map(|wire| {
        let model =
            ScriptedModel::start(ModelScript::of([ScriptedTurn::text("Two."), ScriptedTurn::text(r#"{"lines": 2}"#)]));
        said(place.with(&model, wire, &["run", "--output-schema", "lines.json", "how long is a.txt?"]));
        let requests = model.requests();
        let (first, second) = (&requests[0].conversation, &requests[1].conversation);
        // What is said first stays the same, for the sake of the provider's cache.
        assert_eq!((&first.instructions, first.last_of_user()), (&second.instructions, "how long is a.txt?"));
        assert!(!requests[0].text.contains("response_format") && !requests[0].text.contains("responseSchema"));
        let words = first.instructions.find("# Your last reply").expect("it is told");
        format!("{}\n\n{}", &first.instructions[words..], second.last_of_user())
    });
    assert!(told.iter().all(|each| *each == told[0]), "{told:#?}");
    snapshot!(&told[0], @r#"
    # Your last reply

    A program reads it. When you have no more calls to make, write no summary: reply with one JSON object that is valid under the JSON Schema below, and with nothing else, neither words around it nor a code fence. Until then, work as usual. If you could not do the task, say so inside the object as far as the schema allows.

    {"type":"object","properties":{"lines":{"type":"integer","minimum":0}},"required":["lines"],"additionalProperties":false}

    [haft: your last reply does not fit the schema:
    $: expected one JSON object, received "Two."
    Reply with the whole JSON object again, and with nothing else.]
    "#);
}

#[test]
fn a_schema_that_takes_for_ever_ends_the_run_with_a_word() {
    let place = Place::new();
    let level = |at: u32| {
        let next = json!({ "$ref": format!("#/$defs/a{}", at + 1) });
        (format!("a{at}"), json!({ "type": "object", "properties": { "x": { "anyOf": [next, next] } } }))
    };
    let mut levels: serde_json::Map<String, Value> = (0..40).map(level).collect();
    levels.insert("a40".to_owned(), json!({ "type": "string" }));
    let schema = json!({ "type": "object", "$defs": levels, "properties": { "x": { "$ref": "#/$defs/a0" } } });
    place.put("schema.json", &schema.to_string());
    let answer = format!("{}1{}", "{\"x\":".repeat(41), "}".repeat(41));
    let model = ScriptedModel::start(ModelScript::of([ScriptedTurn::text(answer)]));
    let file = place.path("schema.json").display().to_string();
    let said = place.haft(&model, &["run", "--output-schema", &file, "x"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{}", said.err);
    assert!(said.err.contains("checking whether it fits takes too long"), "{}", said.err);
}
