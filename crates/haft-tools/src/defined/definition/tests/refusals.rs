//! Tests the reports about wrong definitions: the line, the error, and the fix.

use super::{told, told_with};
use crate::defined::definition::check;

#[test]
fn an_unknown_key_is_refused_with_the_one_that_was_meant() {
    assert_eq!(told_with("use_cahce: true"), "line 3: there is no key \"use_cahce\"; did you mean \"use_cache\"?\n");
    assert_eq!(told_with("builtin: x"), "line 3: there is no key \"builtin\"; write binding: {builtin: NAME}\n");
    let colour = told_with("type: tool\ninput_schema: {type: object}\ncolour: red");
    assert!(colour.starts_with("line 5: there is no key \"colour\"; the keys are type, name, "), "{colour}");
}

#[test]
fn a_wrong_value_is_told_with_what_belongs_there() {
    for (lines, words) in [
        ("type: agent", "line 3: \"type\" is \"agent\", but this is a tool; write type: tool"),
        ("title: [a]", "line 3: \"title\" is a list, but it must be text; write text"),
        ("use_cache: 1", "line 3: \"use_cache\" is a number, but it must be true or false; write true or false"),
        (
            "timeout: soon",
            "line 3: \"timeout\" is text, but it must be a number of seconds above 0, at most 86400; write a number of seconds above 0, at most 86400",
        ),
        (
            "timeout: 0",
            "line 3: \"timeout\" is 0, but it must be a number of seconds above 0, at most 86400; write a number of seconds above 0, at most 86400",
        ),
        (
            "timeout: -1e9",
            "line 3: \"timeout\" is -1000000000.0, but it must be a number of seconds above 0, at most 86400; write a number of seconds above 0, at most 86400",
        ),
        (
            "use_cache: true\ncache_ttl: 1e300",
            "line 4: \"cache_ttl\" is 1e+300, but it must be a number of seconds above 0, at most 31536000; write a number of seconds above 0, at most 31536000",
        ),
        ("cache_ttl: 5", "line 3: warning: \"cache_ttl\" is ignored without \"use_cache\"; write use_cache: true"),
        (
            "overridable: host",
            "line 3: \"overridable\" is text, but it must be a list of names of arguments; write a list of names of arguments",
        ),
        (
            "overridable: [host]",
            "line 3: \"host\" in \"overridable\" is not an argument; name a property of \"input_schema\", or remove it",
        ),
    ] {
        assert_eq!(told_with(lines).trim_end(), words);
    }
}

#[test]
fn a_name_that_no_provider_takes_is_refused_with_the_nearest_that_fits() {
    let name = |name: &str| {
        told(&format!("name: {name}\ndescription: d")).split("; ").nth(1).unwrap_or_default().trim_end().to_owned()
    };
    assert_eq!(name("My Tool"), "write name: My_Tool, and title: \"My Tool\" for people");
    assert_eq!(name("2fast"), "write name: _2fast, and title: \"2fast\" for people");
    assert!(name(&"x".repeat(65)).starts_with(&format!("write name: {}, ", "x".repeat(64))));
    assert_eq!(told("description: d"), "line 1: the tool has no name; write name: NAME\n");
    assert_eq!(told("name: [a]\ndescription: d"), "line 1: \"name\" is a list, but it must be text; write text\n");
    assert_eq!(check("name: a.b\ndescription: d").definition, None);
}

#[test]
fn a_broken_binding_is_told_with_the_forms_there_are() {
    const FORMS: &str =
        "write \"package.module:function\", {command: [PROGRAM, ARGUMENT]}, {http: {method, url}} or {builtin: NAME}";
    for (binding, words) in [
        ("pkg.mod.func", "\"pkg.mod.func\" names no Python function; did you mean \"pkg.mod:func\"?".to_owned()),
        ("read_file", "\"read_file\" names no Python function; write {builtin: read_file}, or \"package.module:function\" for Python".to_owned()),
        ("./x.sh", format!("\"./x.sh\" names no Python function; {FORMS}")),
        ("{command: ls -l}", "\"command\" is text, but it is a list: no shell splits it; write command: [\"ls\", \"-l\"]".to_owned()),
        ("{command: []}", "\"command\" names no program; write command: [PROGRAM, ARGUMENT]".to_owned()),
        ("{command: [head, -n, 5]}", "\"command\" holds a number, but it is a list of texts; put it in quotes".to_owned()),
        ("{comand: [ls]}", format!("there is no binding \"comand\"; {FORMS}")),
        ("{builtin: [a]}", "\"builtin\" is not a name; write builtin: NAME; `haft tools` lists the names".to_owned()),
        ("{http: x}", "\"http\" is text, but it is a map; write http: {method: GET, url: \"https://api.example.com/items/{id}\"}".to_owned()),
        ("{mcp: x}", "a tool cannot be bound to mcp yet; bind it to a command or a Python function that does it".to_owned()),
        ("{command: [a], builtin: b}", format!("\"binding\" has 2 keys, but it has one; {FORMS}")),
        ("[a]", format!("\"binding\" is a list; {FORMS}")),
    ] {
        assert_eq!(told_with(&format!("binding: {binding}")), format!("line 3: {words}\n"));
    }
}

#[test]
fn a_broken_schema_is_told_with_its_place() {
    for (schema, words) in [
        (
            "[]",
            "line 3: \"input_schema\" is a list, but it is a JSON Schema; write type: object and the properties below it",
        ),
        ("{type: array}", "line 3: the arguments are an object, but \"type\" is \"array\"; write type: object"),
        (
            "{$schema: x}",
            "line 3: \"$schema\" is \"x\", which haft does not know; write http://json-schema.org/draft-07/schema# or https://json-schema.org/draft/2020-12/schema, or leave it out",
        ),
        (
            "\n  properties:\n    agent_state: {type: string, description: d}",
            "line 5: haft fills in \"agent_state\"; it is not an argument; remove it from the schema; the function \
             gets it when it asks for it",
        ),
        (
            "\n  properties:\n    a: {type: string, description: d}\n  required: [b]",
            "line 3: a required name is a property; add \"b\" to \"properties\" or remove it from \"required\"",
        ),
        (
            "\n  properties:\n    a:\n      description: d\n      type: string\n      pattern: \"(\"",
            "line 8: \"input_schema\" is not a valid schema at /properties/a/pattern: \"(\" is not a \"regex\"; fix \
             the schema; JSON Schema says what each keyword takes",
        ),
        (
            "\n  properties:\n    a: {description: d, $ref: \"#/$defs/x\"}",
            "line 3: \"input_schema\" is not a valid schema: Pointer '/$defs/x' does not exist; fix the schema; JSON \
             Schema says what each keyword takes",
        ),
    ] {
        let told = told_with(&format!("input_schema: {schema}"));
        assert!(told.lines().any(|line| line == words), "{told}");
    }
}

#[test]
fn common_slips_in_a_schema_are_told_once_each_with_what_was_meant() {
    let property = |lines: &str| {
        told_with(&format!("input_schema:\n  properties:\n    a:\n      description: d\n      {lines}\n"))
    };
    assert_eq!(
        property("type: str"),
        "line 5: \"a\": a type is one of JSON Schema's; \"str\" is not one of them; use one of string, number, integer, boolean, array, object, null\n"
    );
    assert_eq!(property("{}").lines().count(), 1, "what is no YAML is told alone");
    assert_eq!(
        property("type: string\n      required: true"),
        "line 8: \"input_schema\" is not a valid schema at /properties/a/required: true is not of type \"array\"; \
         list the names that are required beside \"properties\": required: [NAME]\n"
    );
    assert_eq!(
        property("type: string\n      maxLenght: 3"),
        "line 8: warning: \"maxLenght\" is not a keyword of JSON Schema and is ignored; did you mean \"maxLength\"?\n"
    );
    assert_eq!(property("type: string\n      x-order: 3"), "", "what is near nothing is an extension");
}

#[test]
fn both_drafts_are_read_by_their_own_rules() {
    let draft = |draft: &str, items: &str| {
        told_with(&format!(
            "input_schema:\n  $schema: {draft}\n  properties:\n    a: {{description: d, type: array, items: {items}}}"
        ))
    };
    assert_eq!(draft("http://json-schema.org/draft-07/schema#", "[{type: string}]"), "");
    assert_eq!(draft("https://json-schema.org/draft/2020-12/schema", "{type: string}"), "");
    let list = draft("https://json-schema.org/draft/2020-12/schema", "[{type: string}]");
    assert!(list.starts_with("line 6: \"input_schema\" is not a valid schema at /properties/a/items: "), "{list}");
}

#[test]
fn an_effect_names_paths_and_hosts_that_there_can_be() {
    const FORM: &str =
        "write a list such as [{read: \"{path}\"}, {connect: api.example.com}], or [] when it only computes";
    for (effects, words) in [
        ("{read: x}", format!("\"effects\" is a map, but it is a list; {FORM}")),
        ("[read]", format!("an effect is a map with one key; {FORM}")),
        ("[{raed: x}]", "there is no effect \"raed\"; did you mean \"read\"?".to_owned()),
        ("[{read: {path}}]", "\"read\" is a map, but it is text; put it in quotes: read: \"{path}\"".to_owned()),
        ("[{read: \"{pth}\"}]", "{pth} is not an argument of the tool; did you mean {path}?".to_owned()),
        ("[{read: \"{path\"}]", "a brace in \"{path\" stands alone; write {{ or }} for a brace itself".to_owned()),
        ("[{change: \"a}\"}]", "a brace in \"a}\" stands alone; write {{ or }} for a brace itself".to_owned()),
        ("[{change: \"{deep}\"}]", "{deep} is part of a path, but its type is boolean; name an argument that is text or a list of texts".to_owned()),
        ("[{read: \"\"}]", "\"\" is not a path; write a path from the workspace, such as \"{path}\"".to_owned()),
        ("[{connect: \"https://a.example:8080/x\"}]", "\"https://a.example:8080/x\" is not a host; write connect: a.example".to_owned()),
        ("[{connect: \"*\"}]", "\"*\" is not a host; name one host, such as api.example.com; leave \"effects\" out when it is not known before".to_owned()),
    ] {
        let schema = "input_schema: {properties: {path: {type: string, description: p}, deep: {type: boolean, description: d}}}";
        assert_eq!(told_with(&format!("{schema}\neffects: {effects}")), format!("line 4: {words}\n"));
    }
}

#[test]
fn an_example_must_fit_the_schema() {
    let schema = "input_schema: {properties: {n: {type: integer, description: n}}, additionalProperties: false}";
    let told = |example: &str| told_with(&format!("{schema}\nexamples:\n  - {example}"));
    assert_eq!(told("{arguments: {n: 1}}"), "");
    assert_eq!(
        told("{arguments: {n: x}}"),
        "line 5: the example does not fit \"input_schema\": /n: \"x\" is not of type \"integer\"; fix the example, or \
         the schema\n"
    );
    assert_eq!(told("{n: 1}").lines().next(), Some("line 5: there is no key \"n\"; the keys are arguments, contains"));
    assert_eq!(
        told("5"),
        "line 5: the example has no map of arguments; write {arguments: {NAME: VALUE}, contains: TEXT}\n"
    );
}

#[test]
fn a_program_brings_no_words_along() {
    let told = told("name: t\nbinding: {command: [ls]}");
    assert_eq!(
        told,
        "line 1: nothing tells the model what the tool does; write description: what it does, and when to use it\n"
    );
    assert_eq!(super::told("name: t\nbinding: a:b"), "");
}

#[test]
fn everything_that_is_wrong_is_told_at_once_in_the_order_of_the_text() {
    let told = told("name: a b\nlazy: 1\ncolour: red\nbinding: x\n");
    let lines: Vec<&str> = told.lines().map(|line| line.split(':').next().unwrap_or_default()).collect();
    assert_eq!(lines, ["line 1", "line 1", "line 2", "line 3", "line 4"]);
}

#[test]
fn a_problem_fits_a_line_whatever_it_quotes() {
    let told = told_with(&format!("binding: \"{}\\nx\"\n\"a\\nb\": 1\n", "x.".repeat(10_000)));
    assert_eq!(told.lines().count(), 2, "{told}");
    assert!(told.lines().all(|line| line.chars().count() < 900), "{told}");
}
