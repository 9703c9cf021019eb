//! Tests how the words of a file replace a tool's own.

use super::*;

fn applied(file: &str, spec: &Spec) -> Spec {
    PromptFile::from_xml(file).expect("it can be read").apply(spec).expect("it fits")
}

#[test]
fn the_documents_example_gives_a_tool_its_words_and_fewer_values() {
    let worded = applied(DOCUMENT, &find());
    assert_eq!(worded.manual.title, "Find");
    assert!(worded.manual.words.starts_with("Full documentation the AI sees"));
    assert_eq!(
        *worded.input_schema,
        json!({
            "type": "object",
            "properties": {
                "pattern": { "type": "string", "description": "The search pattern", "minLength": 1 },
                "mode": { "type": "string", "enum": ["content", "files_only"], "description": "Output mode" },
                "limit": { "type": "integer", "description": "own", "minimum": 1 },
            },
            "required": ["pattern"],
        })
    );
    assert_eq!(worded.version, find().version);
}

#[test]
fn what_a_file_does_not_speak_of_stays() {
    assert_eq!(applied("<tool_prompt/>", &find()), find());
    assert_eq!(applied("<tool_prompt><description> \n </description></tool_prompt>", &find()), find());
    assert_eq!(
        applied("<tool_prompt><parameters><parameter name='limit'/></parameters></tool_prompt>", &find()),
        find()
    );
}

#[test]
fn what_contradicts_the_schema_is_an_error() {
    let cases = [
        ("<parameter name='patern'/>", r#"line 1: "patern" is not an argument of the tool; did you mean "pattern"?"#),
        (
            "<parameter name='zzz'/>",
            r#"line 1: "zzz" is not an argument of the tool; the arguments are pattern, mode, limit"#,
        ),
        ("<parameter name='limit' required='true'/>", r#"line 1: "limit" may be left out; write required="false""#),
        ("<parameter name='pattern' required='false'/>", r#"line 1: "pattern" must be given; write required="true""#),
        (
            "<parameter name='limit'><type>str</type></parameter>",
            r#"line 1: "limit" is of type integer, not string; write <type>integer</type>"#,
        ),
        (
            "<parameter name='mode'><enum>content</enum><enum>cuont</enum></parameter>",
            r#"line 1: "mode" has no value "cuont"; did you mean "count"?"#,
        ),
        (
            "<parameter name='limit'><enum>1</enum></parameter>",
            r#"line 1: "limit" is not plain text, so values cannot be listed for it; leave its <enum> out, and say it in the description"#,
        ),
        (
            "<parameter name='limit' required='true'><type>string</type></parameter>\n<parameter name='x'/>",
            "line 1: \"limit\" may be left out; write required=\"false\"\nline 1: \"limit\" is of type integer, not \
             string; write <type>integer</type>\nline 2: \"x\" is not an argument of the tool; the arguments are \
             pattern, mode, limit",
        ),
    ];
    for (inside, told) in cases {
        assert_eq!(contradicted(inside), told);
    }
    let none = Spec::new("now", Manual::plain("now", "Tells the time."), json!({ "type": "object" }));
    let problems = PromptFile::from_xml(&parameter("<parameter name='a'/>")).expect("it is read").apply(&none);
    assert_eq!(
        lines(&problems.expect_err("it has no arguments")),
        "line 1: \"a\" is not an argument of the tool; remove it; the tool has no arguments"
    );
}

/// What the values `a` and `b` make of the schema of an argument.
fn narrowed(property: &Value) -> Result<Value, String> {
    let spec = spec(json!({ "x": property }), json!([]));
    let text = parameter("<parameter name='x'><enum>a</enum><enum>b</enum></parameter>");
    let worded = PromptFile::from_xml(&text).expect("it can be read").apply(&spec);
    worded.map(|spec| spec.input_schema["properties"]["x"].clone()).map_err(|problems| problems[0].what.clone())
}

#[test]
fn values_only_ever_become_fewer() {
    assert_eq!(narrowed(&json!({ "type": "string" })), Ok(json!({ "type": "string", "enum": ["a", "b"] })));
    assert_eq!(narrowed(&json!({ "enum": ["c", "b", "a"] })), Ok(json!({ "enum": ["a", "b"] })));
    let all = json!({ "enum": ["b", "a", null] });
    assert_eq!(narrowed(&all), Ok(all));
    assert_eq!(
        narrowed(&json!({ "type": ["string", "null"] })),
        Ok(json!({ "type": ["string", "null"], "enum": ["a", "b", null] }))
    );
    let defaulted = narrowed(&json!({ "enum": ["a", "b", "c"], "default": "c" }));
    assert_eq!(defaulted, Err("\"x\" has the default \"c\", which the file does not offer".into()));
    for open in [json!({}), json!(true), json!({ "type": "array" }), json!({ "type": ["string", "integer"] })] {
        let told = "\"x\" is not plain text, so values cannot be listed for it";
        assert_eq!(narrowed(&open), Err(told.into()));
    }
}

#[test]
fn values_that_are_no_texts_are_written_as_in_json() {
    let spec = spec(json!({ "x": { "enum": [1, 2, 3, true, "2"] } }), json!([]));
    let text = parameter("<parameter name='x'><enum>1</enum><enum>2</enum><enum>true</enum></parameter>");
    assert_eq!(applied(&text, &spec).input_schema["properties"]["x"]["enum"], json!([1, "2", true]));
}

#[test]
fn references_are_followed_and_do_not_go_round_for_ever() {
    let schema = json!({
        "type": "object",
        "properties": { "x": { "$ref": "#/$defs/side" }, "loop": { "$ref": "#/$defs/loop" } },
        "$defs": { "side": { "type": "string", "enum": ["a", "b"] }, "loop": { "$ref": "#/$defs/loop" } },
    });
    let spec = Spec::new("t", Manual::plain("t", "t"), schema);
    let text = parameter(
        "<parameter name='x'><description>w</description><type>string</type><enum>b</enum><enum>a</enum></parameter><parameter name='loop'><type>object</type></parameter>",
    );
    assert_eq!(
        applied(&text, &spec).input_schema["properties"]["x"],
        json!({ "$ref": "#/$defs/side", "description": "w" })
    );
    let fewer = PromptFile::from_xml(&parameter("<parameter name='x'><enum>a</enum></parameter>")).expect("it is read");
    assert!(lines(&fewer.apply(&spec).expect_err("it is elsewhere")).contains("from another part of the schema"));
}

#[test]
fn examples_come_from_the_words_or_stay_as_far_as_they_fit() {
    let mut spec = find();
    spec.manual = Manual::read("Own.\n```json\n{\"mode\": \"count\"}\n```\n```json\n{\"mode\": \"content\"}\n```");
    let kept: Vec<Value> =
        applied(DOCUMENT, &spec).manual.examples.into_iter().map(|example| example.arguments).collect();
    assert_eq!(kept, [json!({ "mode": "content" })]);
    let own =
        "<tool_prompt><description>\n  New.\n  ```json\n  {\"pattern\": \"a\"}\n  ```\n  </description></tool_prompt>";
    let written: Vec<Value> =
        applied(own, &spec).manual.examples.into_iter().map(|example| example.arguments).collect();
    assert_eq!(written, [json!({ "pattern": "a" })]);
}

#[test]
fn a_broken_file_leaves_the_tools_own_words_and_is_told() {
    let (kept, problems) = worded(&find(), "<tool_prompt>");
    assert_eq!((kept, problems.len()), (find(), 1));
    let (kept, problems) = worded(&find(), &parameter("<parameter name='x'/>"));
    assert_eq!((kept, problems.len()), (find(), 1));
    let (new, problems) = worded(&find(), &file("<extra/>"));
    assert_eq!((new.manual.words.as_str(), problems[0].is_warning), ("d", true));
}

#[test]
fn a_file_is_named_after_its_tool() {
    assert_eq!(tool_of("read_file_prompt.xml"), Some("read_file"));
    assert_eq!((tool_of("_prompt.xml"), tool_of("read_file.xml")), (None, None));
}

/// Writes a tool, reads that and applies it.
fn there_and_back(spec: &Spec) -> Spec {
    let xml = PromptFile::of(spec).to_xml();
    let checked = check(&xml);
    assert_eq!(checked.problems, [], "{xml}");
    checked.prompt.expect("it can be used").apply(spec).unwrap_or_else(|problems| panic!("{problems:?}\n{xml}"))
}

#[test]
fn every_built_in_tool_is_the_same_when_it_was_written_and_read_back() {
    for tool in crate::all() {
        let spec = tool.spec();
        let written = PromptFile::of(spec);
        assert_eq!(written.description.as_deref(), Some(spec.manual.words.as_str()), "{}", spec.name);
        assert_eq!(there_and_back(spec), *spec);
    }
}

#[test]
fn what_the_format_cannot_say_stays_as_it_is() {
    let odd = spec(
        json!({
            "any": true,
            "none": false,
            "blank": { "type": "string", "description": "  a\n    b  " },
            "control": { "type": "string", "description": "a\u{1b}b" },
            "<&\"'>": { "type": "string", "description": "a\r\nb <c> ]]> &amp; \t." },
            "both": { "enum": [1, "1"], "description": "d" },
            "blanks": { "enum": [" a", "b"], "description": "d" },
            "default": { "enum": ["a"], "default": "elsewhere" },
            "either": { "anyOf": [{ "type": "string", "enum": ["a"] }, { "type": "integer" }] },
            "inner": { "type": "object", "properties": { "a": { "type": "string" } } },
            "": { "type": "string" },
        }),
        json!(["any", "<&\"'>"]),
    );
    assert_eq!(there_and_back(&odd), odd);
    let mut indented = find();
    indented.manual = Manual::read("# T\n\nfirst\n    code\n\n  \n\tlast");
    assert_eq!(there_and_back(&indented), indented);
}

#[test]
fn the_examples_of_the_guide_are_in_order() {
    let guide = include_str!("../../../../../../docs/guide/first-tool.md");
    let blocks = |language: &str| -> Vec<&str> {
        let rests = guide.split(language).skip(1);
        rests.filter_map(|rest| rest.split("```").next()).collect()
    };
    let definitions = blocks("```yaml\n");
    assert_eq!(definitions.len(), 3);
    for text in definitions {
        assert_eq!(crate::defined::definition::check(text).problems, [], "{text}");
    }
    let grep = crate::all().into_iter().find(|tool| tool.spec().name == "grep").expect("it is built in");
    for text in blocks("```xml\n") {
        let (worded, problems) = worded(grep.spec(), text);
        assert_eq!(problems, []);
        assert_eq!(worded.manual.words, "Searches our sources. Ask for one word first.");
        assert_eq!(worded.input_schema["properties"]["mode"]["enum"], json!(["content", "files"]));
    }
}
