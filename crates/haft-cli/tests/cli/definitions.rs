//! `haft check` on definitions and lists of tools.

use serde_json::Value;

use super::{Place, check, put};

const GOOD: &str = "name: greet\ndescription: Greets.\nbinding: hello:greet\ninput_schema:\n  properties:\n    who: {type: string, description: Who is greeted.}\n    key: {type: string, description: A key.}\n";

#[test]
fn a_definition_in_order_is_passed_without_a_word() {
    let place = Place::new();
    put(&place, "greet.yaml", GOOD);
    assert_eq!(check(&place, "greet.yaml"), (String::new(), 0));
}

#[test]
fn every_problem_of_a_definition_has_file_line_and_fix() {
    let place = Place::new();
    put(
        &place,
        "t.yaml",
        "name: my tool\ncolour: red\ninput_schema:\n  type: object\n  properties:\n    n: {type: integer}\n",
    );
    let (out, code) = check(&place, "t.yaml");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(code, 1);
    assert!(lines[0].starts_with("t.yaml:1: \"my tool\" cannot be the name of a tool: "), "{out}");
    assert!(lines[1].starts_with("t.yaml:1: warning: nothing tells the model what the tool does; "), "{out}");
    assert!(lines[2].starts_with("t.yaml:2: there is no key \"colour\"; the keys are "), "{out}");
    let words = "t.yaml:6: warning: \"n\": every property has a description; say what \"n\" is, with its unit";
    assert_eq!(lines[3..], [words]);
}

#[test]
fn warnings_alone_are_no_failure() {
    let place = Place::new();
    put(&place, "t.yaml", "name: t\ndescription: d\ncache_ttl: 5\n");
    let words = "t.yaml:3: warning: \"cache_ttl\" is ignored without \"use_cache\"; write use_cache: true\n";
    assert_eq!(check(&place, "t.yaml"), (words.to_owned(), 0));
}

#[test]
fn advice_about_a_list_of_tools_is_no_failure_either() {
    let place = Place::new();
    let tool = r#"{"name": "t", "description": "d", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}"#;
    put(&place, "t.json", &format!("[\n{tool}\n]\n"));
    let advice =
        "t.json:2: warning: t: #/properties/n: every property has a description; say what \"n\" is, with its unit\n";
    assert_eq!(check(&place, "t.json"), (advice.to_owned(), 0));
    put(&place, "t.json", &format!("[\n{tool},\n{tool}\n]\n"));
    let (out, code) = check(&place, "t.json");
    assert!(code == 1 && out.contains("t.json:2: two tools are called \"t\"; rename one of them\n"), "{out}");
}

#[test]
fn a_built_in_tool_that_is_not_there_is_told() {
    let place = Place::new();
    put(&place, "t.yaml", "name: t\ndescription: d\nbinding: {builtin: read_fil}\n");
    let words = "t.yaml:1: there is no built-in tool \"read_fil\"; did you mean \"read_file\"?\n";
    assert_eq!(check(&place, "t.yaml"), (words.to_owned(), 1));
}

#[test]
fn a_schema_that_multiplies_is_told() {
    let place = Place::new();
    let mut text = "name: t\ndescription: d\ninput_schema:\n  properties:\n    a: {description: a, $ref: '#/$defs/d0'}\n  $defs:\n    d20: {type: string}\n".to_owned();
    for i in 0..20 {
        let next = i + 1;
        text += &format!("    d{i}: {{allOf: [{{$ref: '#/$defs/d{next}'}}, {{$ref: '#/$defs/d{next}'}}]}}\n");
    }
    put(&place, "t.yaml", &text);
    let (out, code) = check(&place, "t.yaml");
    assert!(code == 1 && out.contains("multiplies to more than 10000 cases"), "{out}");
}

#[test]
fn a_list_is_checked_with_the_files_it_names() {
    let place = Place::new();
    put(&place, "conf/defs/greet.yaml", GOOD);
    put(&place, "conf/defs/bad.yaml", "name: bad\ndescription: d\nlazy: 1\n");
    put(
        &place,
        "conf/tools.yaml",
        "tools:\n  - name: greet\n    yaml_path: ./defs/greet.yaml\n    extra_kwargs:\n      whom: you\n      key: ${env.DEPLOY_TOKEN}\n  - name: bad\n    yaml_path: defs/bad.yaml\n  - name: gone\n    yaml_path: gone.yaml\n  - name: loose\n    binding: a:b\n  - name: unset\n    yaml_path: ./defs/greet.yaml\n    extra_kwargs: {who: '${env.HAFT_T_MISSING}'}\n",
    );
    let (out, code) = check(&place, "conf/tools.yaml");
    assert_eq!(code, 1);
    let expected = [
        "conf/tools.yaml:15: the environment variable HAFT_T_MISSING is not set; set HAFT_T_MISSING before haft starts, or remove ${env.HAFT_T_MISSING}",
        "conf/tools.yaml:5: the preset \"whom\" is not an argument of \"greet\"; did you mean \"who\"?",
        "conf/defs/bad.yaml:3: \"lazy\" is a number, but it must be true or false; write true or false",
        "conf/tools.yaml:9: there is no file gone.yaml; yaml_path is relative to the folder of this list",
        "conf/tools.yaml:11: nothing describes \"loose\"; write yaml_path: the definition of the tool",
    ];
    assert_eq!(out.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_folder_is_checked_by_what_haft_would_load_from_it() {
    let place = Place::new();
    put(&place, "compose.yaml", "services: {}\n");
    put(&place, ".haft/tools/a.yaml", "name: a\n\tb: 1\n");
    put(&place, ".haft/tools/greet.yaml", GOOD);
    put(&place, ".haft/tools/notes.md", "no words of a tool");
    put(
        &place,
        ".haft/tools.yaml",
        "tools:\n  - name: greet\n    yaml_path: tools/greet.yaml\n    extra_kwargs: {who: [you]}\n",
    );
    put(&place, ".haft/config.toml", "colour = 1\n");
    let (out, code) = check(&place, ".");
    assert_eq!(code, 1);
    let heads: Vec<&str> = out.lines().filter_map(|line| line.split(": ").next()).collect();
    assert_eq!(heads, ["./.haft/config.toml:1", "./.haft/tools.yaml:4", "./.haft/tools/a.yaml:1"], "{out}");
    assert!(out.contains("does not fit \"greet\": [\"you\"] is not of type \"string\""), "{out}");

    let (out, code) = check(&place, ".haft/tools");
    assert!(
        code == 1 && out.starts_with(".haft/tools/a.yaml:1: a tab indents the next line; indent with spaces\n"),
        "{out}"
    );
    std::fs::create_dir(place.path("ws/empty")).expect("a folder can be made");
    let (out, code) = check(&place, "empty");
    assert!(code == 1 && out.starts_with("empty:1: there is nothing in it that haft checks; "), "{out}");
}

#[test]
fn a_file_that_is_too_large_is_told_with_the_limit() {
    let place = Place::new();
    put(&place, "big.yaml", &format!("name: {}\n", "x".repeat(2 << 20)));
    let (out, code) = check(&place, "big.yaml");
    assert_eq!(
        (out.as_str(), code),
        ("big.yaml:1: cannot be read: it is larger than 1 MiB; name a readable text file\n", 1)
    );
}

const COUNT: &str = "name: count\ndescription: Counts letters.\nbinding: {command: [sh, count.sh]}\neffects: []\n\
input_schema: {type: object, properties: {text: {type: string, description: The text.}}, required: [text]}\n\
examples: [{arguments: {text: abc}, contains: \"CONTAINS\"}]\n";

/// A workspace with a tool in shell that answers 42 to everything.
fn with_count(contains: &str) -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.path("ws/.haft/tools")).expect("a folder can be made");
    put(&place, ".haft/tools/count.yaml", &COUNT.replace("CONTAINS", contains));
    put(&place, ".haft/tools/count.sh", "cat > /dev/null; echo 42\n");
    place
}

#[test]
fn what_is_trusted_is_tried_with_its_examples_and_called() {
    let place = with_count("42");
    assert!(place.haft(&["check", ".haft"], "").err.contains("because it is not trusted"));
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    let said = place.haft(&["check", ".haft"], "");
    assert_eq!((said.out.as_str(), said.err.as_str(), said.code), ("", "", 0));
    let said = place.haft(&["call", "count", "text=abc"], "");
    assert_eq!((said.out.trim(), said.code), ("42", 0), "{}", said.err);

    let wrong = with_count("43");
    let said = wrong.haft(&["--trust", "check", ".haft"], "");
    assert!(said.out.contains("the result of the example {\"text\":\"abc\"} does not contain \"43\""), "{}", said.out);
    assert_eq!(said.code, 1);
}

#[test]
fn a_tool_whose_file_changed_is_not_called_before_somebody_trusts_it_again() {
    let place = with_count("42");
    assert_eq!(place.haft(&["call", "count", "text=abc"], "").code, 1, "nobody trusts it yet");
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    put(&place, ".haft/tools/count.sh", "echo 43\n");
    let said = place.haft(&["call", "count", "text=abc"], "");
    assert_eq!(said.code, 1);
    assert!(said.err.contains("count.yaml changed since it was trusted (in .haft/tools/count.sh)"), "{}", said.err);
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    assert_eq!(place.haft(&["call", "count", "text=abc"], "").out.trim(), "43");
}

#[test]
fn a_list_names_a_tool_and_gives_it_a_binding_and_arguments_beforehand() {
    let place = with_count("42");
    put(
        &place,
        ".haft/api.yaml",
        "name: api\ndescription: Calls.\neffects: []\ninput_schema: {type: object, properties: {q: {type: integer, description: A number.}, base: {type: string, description: Where.}}}\n",
    );
    let list = "tools:\n  - name: ask_api\n    yaml_path: ./api.yaml\n    binding: {command: [cat]}\n    extra_kwargs:\n      base: https://a.example\n";
    put(&place, ".haft/tools.yaml", list);
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    let said = |words: &[&str]| place.haft(words, "").out.trim().to_owned();
    assert_eq!(said(&["call", "ask_api", "q=1"]), r#"{"q":1,"base":"https://a.example"}"#);
    assert_eq!(said(&["call", "ask_api", "q=1", "base=b"]), r#"{"q":1,"base":"b"}"#);
    assert!(said(&["tools"]).contains("ask_api") && !said(&["tools"]).contains("\napi"));
}

#[test]
fn a_skill_is_shown_in_its_shorter_words_and_its_own_stay_at_hand() {
    let place = with_count("42");
    put(&place, ".haft/tools/count.yaml", &COUNT.replace("effects:", "skill_description: Letters.\neffects:"));
    put(&place, ".haft/tools.yaml", "tools:\n  - {name: counting, yaml_path: tools/count.yaml, as_skill: true}\n");
    let shown = |tool: &str| {
        assert_eq!(place.haft(&["trust", "."], "").code, 0);
        let listed: Value = serde_json::from_str(&place.haft(&["tools", tool, "--json"], "").out).expect("a list");
        let description = listed[0]["description"].as_str().expect("it has one").to_owned();
        (description, place.haft(&["tools", tool], "").out)
    };
    let (description, person) = shown("counting");
    assert_eq!(description, "Letters.");
    assert!(person.contains("\nLetters.\n\nIn full\nCounts letters."), "{person}");
    assert_eq!(
        place.haft(&["call", "counting", "text=abc"], "").out.trim(),
        "42",
        "it is bound as the definition says"
    );

    std::fs::remove_file(place.path("ws/.haft/tools.yaml")).expect("it was there");
    let (description, person) = shown("count");
    assert!(description.starts_with("Counts letters."), "{description}");
    assert!(person.contains("As a skill\nLetters.\n"), "{person}");
}

#[test]
fn a_skill_without_shorter_words_is_a_warning() {
    let place = with_count("42");
    put(&place, ".haft/tools.yaml", "tools:\n  - {name: counting, yaml_path: tools/count.yaml, as_skill: true}\n");
    let (out, code) = check(&place, ".haft/tools.yaml");
    let words = ".haft/tools.yaml:2: warning: \"counting\" is a skill, and its definition has no \"skill_description\"; \
                 write one there; until then its description is shown\n";
    assert_eq!((out.as_str(), code), (words, 0));
}

#[test]
fn what_a_listed_definition_names_is_trusted_with_the_list_and_lies_beside_the_definition() {
    let place = with_count("42");
    put(&place, "defs/count.yaml", &COUNT.replace("CONTAINS", "41"));
    put(&place, "defs/count.sh", "cat > /dev/null; echo 41\n");
    put(&place, ".haft/tools.yaml", "tools:\n  - {name: other, yaml_path: ../defs/count.yaml}\n");
    assert!(place.haft(&["trust", "."], "").out.contains("defs/count.sh"));
    assert_eq!(place.haft(&["call", "other", "text=abc"], "").out.trim(), "41");
    assert_eq!(place.haft(&["check", ".haft/tools.yaml"], "").out, "");
    put(&place, "defs/count.sh", "echo evil\n");
    let said = place.haft(&["call", "other", "text=abc"], "");
    let words = "tools.yaml changed since it was trusted (in defs/count.sh)";
    assert!(said.code == 1 && said.err.contains(words), "{}{}", said.out, said.err);
}

#[test]
fn a_definition_that_trust_in_the_list_does_not_cover_is_left_out() {
    let place = with_count("42");
    place.put("elsewhere/count.yaml", &COUNT.replace("CONTAINS", "42"));
    put(&place, "defs/count.txt", &COUNT.replace("CONTAINS", "42"));
    for path in ["../../elsewhere/count.yaml", "../defs/count.txt", "${env.HOME}/../elsewhere/count.yaml"] {
        put(&place, ".haft/tools.yaml", &format!("tools:\n  - {{name: other, yaml_path: '{path}'}}\n"));
        place.haft(&["trust", "."], "");
        let said = place.haft(&["call", "other", "text=abc"], "");
        assert!(said.code == 1 && said.err.contains("There is no tool \"other\""), "{path}: {}{}", said.out, said.err);
    }
}

#[test]
fn a_prompt_file_gives_a_tool_its_words() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("ws/.haft/prompts")).expect("a folder can be made");
    let words = "<tool_prompt><description>Looks for words.</description></tool_prompt>";
    put(&place, ".haft/prompts/grep_prompt.xml", words);
    put(&place, ".haft/prompts/glob_prompt.xml", "<tool_prompt><nonsense");
    let shown = |tool: &str| place.haft(&["tools", tool], "").out;
    assert!(!shown("grep").contains("Looks for words."), "nobody trusts it yet");
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    assert!(shown("grep").contains("Looks for words."));
    let said = place.haft(&["tools", "glob"], "");
    assert!(
        said.out.contains("Finds files") && said.err.contains("the tool keeps its own description"),
        "{}",
        said.err
    );
}

#[test]
fn a_list_binds_to_a_module_beside_the_definition() {
    let place = Place::new();
    put(&place, ".haft/tools/greet.yaml", "name: greet\ndescription: Greets.\neffects: []\ninput_schema: {}\n");
    put(&place, ".haft/tools/greeting.py", "def greet():\n    return 'beside the definition'\n");
    put(
        &place,
        ".haft/tools.yaml",
        "tools:\n  - {name: greet, yaml_path: tools/greet.yaml, binding: 'greeting:greet'}\n",
    );
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    let called = place.haft(&["call", "greet"], "");
    if !super::found_python(&called) {
        return;
    }
    assert!(called.code == 0 && called.out.contains("beside the definition"), "{}{}", called.out, called.err);
    // It is trusted by its content, as a module that the definition names.
    put(&place, ".haft/tools/greeting.py", "def greet():\n    return 'changed'\n");
    let called = place.haft(&["call", "greet"], "");
    assert!(!called.out.contains("changed"), "{}{}", called.out, called.err);
    place.put(
        "home/.config/haft/tools/hello.yaml",
        "name: hello\ndescription: Greets.\neffects: []\ninput_schema: {}\n",
    );
    place.put("home/.config/haft/tools/greeting.py", "def greet():\n    return 'of the user'\n");
    let list = "tools:\n  - {name: hello, yaml_path: tools/hello.yaml, binding: 'greeting:greet'}\n";
    place.put("home/.config/haft/tools.yaml", list);
    let called = place.haft(&["call", "hello"], "");
    assert!(called.code == 0 && called.out.contains("of the user"), "{}{}", called.out, called.err);
}

#[test]
fn a_property_without_words_is_refused_where_the_profile_requires_them() {
    let place = Place::new();
    let definition = "name: count\ndescription: Counts.\nbinding: {command: [echo, x]}\neffects: []\n\
        input_schema: {properties: {n: {type: integer}}}\n";
    place.put("home/.config/haft/tools/count.yaml", definition);
    assert!(place.haft(&["tools"], "").out.contains("count"));
    let said = place.haft(&["--profile", "wyrm", "tools"], "");
    assert!(!said.out.contains("count"), "{}", said.out);
    let why = "#/properties/n: every property has a description, and the profile requires it; say what \"n\" is";
    assert!(said.err.contains(why), "{}", said.err);
}
