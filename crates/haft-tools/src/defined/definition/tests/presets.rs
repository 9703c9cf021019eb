//! Tests which arguments a tool presets, and who may override them.

use serde_json::{Value, json};

use super::super::{Definition, Presets, ToolListEntry, check_list};

const API: &str = "
name: api
description: d
binding: a:b
input_schema:
  type: object
  properties:
    base_url: {type: string, description: u}
    api_key: {type: string, description: k}
    retries: {type: integer, description: r}
    headers: {$ref: '#/$defs/headers', description: h}
  required: [base_url, api_key]
  $defs:
    headers: {type: object, additionalProperties: {type: string}}
";

fn environment(name: &str) -> Option<String> {
    match name {
        "API_KEY" => Some("s3cr3t: [x]".to_owned()),
        "COUNT" => Some("3".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    }
}

fn listed(kwargs: &str) -> Result<ToolListEntry, String> {
    let text = format!("tools:\n  - name: api\n    yaml_path: api.yaml\n    extra_kwargs:\n{kwargs}");
    let mut list = check_list(&text, &environment);
    list.listed.pop().ok_or_else(|| list.problems.iter().map(|problem| format!("{problem}\n")).collect())
}

fn applied(kwargs: &str, definition: &str) -> Result<Presets, String> {
    let definition = Definition::from_yaml(definition).expect("nothing is wrong with it");
    let presets = listed(kwargs)?.apply(definition).map(|(_, presets)| presets);
    presets.map_err(|problems| problems.iter().map(|problem| format!("{problem}\n")).collect())
}

fn given(kwargs: &str) -> (Value, Value, Vec<String>) {
    let Presets { default, fixed, secrets } = applied(kwargs, API).expect("nothing is wrong with them");
    (Value::Object(default), Value::Object(fixed), secrets)
}

#[test]
fn a_plain_value_is_a_default_and_a_fixed_one_says_so() {
    let (default, fixed, secrets) = given("      base_url: https://a.example\n      retries: {fixed: 3}\n");
    assert_eq!(default, json!({ "base_url": "https://a.example" }));
    assert_eq!(fixed, json!({ "retries": 3 }));
    assert_eq!(secrets, [""; 0]);
}

#[test]
fn as_soon_as_one_comes_from_the_environment_all_are_fixed() {
    let (default, fixed, secrets) = given("      base_url: https://a.example\n      api_key: ${env.API_KEY}\n");
    assert_eq!(default, json!({}));
    assert_eq!(
        fixed,
        json!({ "base_url": "https://a.example", "api_key": "s3cr3t: [x]" }),
        "nothing is read as YAML again"
    );
    assert_eq!(secrets, ["s3cr3t: [x]"]);
}

#[test]
fn the_definition_may_except_some_but_never_what_is_written_as_fixed() {
    let excepting = format!("{API}overridable: [base_url, retries]\n");
    let kwargs = "      base_url: https://a.example\n      retries: {fixed: 3}\n      api_key: ${env.API_KEY}\n";
    let presets = applied(kwargs, &excepting).expect("nothing is wrong with them");
    assert_eq!(Value::Object(presets.default), json!({ "base_url": "https://a.example" }));
    assert_eq!(Value::Object(presets.fixed), json!({ "retries": 3, "api_key": "s3cr3t: [x]" }));
    let unknown = listed(kwargs).expect("nothing is wrong with it").presets;
    assert_eq!(unknown.default.len(), 0, "without a definition nothing is excepted");
}

#[test]
fn a_secret_that_would_be_shown_is_warned_about() {
    let excepting = Definition::from_yaml(&format!("{API}overridable: [api_key]\n")).expect("nothing is wrong with it");
    let problems = listed("      api_key: ${env.API_KEY}\n").expect("it is listed").problems_with(&excepting);
    assert_eq!(
        problems[0].to_string(),
        "line 5: warning: the preset \"api_key\" comes from the environment and is shown to the model; remove it from \
         \"overridable\" when it is a secret"
    );
}

#[test]
fn placeholders_are_filled_at_any_depth_in_texts_but_not_in_keys() {
    let kwargs = "      headers:\n        auth: Bearer ${env.API_KEY}!\n        twice: ${env.COUNT}${env.COUNT}\n        ${env.COUNT}: key\n";
    let (_, fixed, secrets) = given(kwargs);
    assert_eq!(fixed["headers"], json!({ "auth": "Bearer s3cr3t: [x]!", "twice": "33", "${env.COUNT}": "key" }));
    assert_eq!(secrets, ["3", "s3cr3t: [x]"]);
}

#[test]
fn a_text_of_the_environment_is_read_as_the_number_that_the_tool_wants() {
    let (_, fixed, _) = given("      retries: ${env.COUNT}\n      api_key: ${env.COUNT}\n");
    assert_eq!(fixed, json!({ "retries": 3, "api_key": "3" }));
}

#[test]
fn an_unset_variable_is_an_error_that_names_it_and_its_line() {
    let told = listed("      base_url: x\n      api_key: ${env.HAFT_T_MISSING}\n").expect_err("it is not set");
    assert_eq!(
        told,
        "line 6: the environment variable HAFT_T_MISSING is not set; set HAFT_T_MISSING before haft starts, or remove ${env.HAFT_T_MISSING}\n"
    );
    let (_, fixed, secrets) = given("      api_key: ${env.EMPTY}\n");
    assert_eq!((fixed, secrets.len()), (json!({ "api_key": "" }), 0), "what is set to nothing is set");
}

#[test]
fn a_broken_placeholder_is_told() {
    for broken in ["${env.API_KEY", "${env.}", "${env.A-B}", "${env.1}"] {
        let told = listed(&format!("      api_key: \"{broken}\"\n")).expect_err("it is broken");
        assert_eq!(told, format!("line 5: {broken:?} has a broken placeholder; write ${{env.NAME}}\n"));
    }
}

#[test]
fn reserved_names_are_refused_all_at_once() {
    let told =
        listed("      agent_state: a\n      base_url: x\n      global_storage: b\n").expect_err("they are reserved");
    assert_eq!(
        told,
        "line 5: \"extra_kwargs\" has reserved names: \"agent_state\", \"global_storage\"; remove them; haft fills \
         them in where a function asks for them\n"
    );
}

#[test]
fn a_preset_must_be_an_argument_and_fit_it() {
    let told = |kwargs: &str| applied(kwargs, API).expect_err("it does not fit");
    assert_eq!(
        told("      baseurl: x\n"),
        "line 5: the preset \"baseurl\" is not an argument of \"api\"; did you mean \"base_url\"?\n"
    );
    assert_eq!(
        told("      retries: many\n"),
        "line 5: the preset \"retries\" does not fit \"api\": \"many\" is not of type \"integer\"; give a value that fits its schema\n"
    );
    assert_eq!(
        told("      headers: {a: 5}\n"),
        "line 5: the preset \"headers\" does not fit \"api\": 5 is not of type \"string\"; give a value that fits its schema\n"
    );
    let secret = told("      retries: ${env.API_KEY}\n");
    assert_eq!(
        secret,
        "line 5: the preset \"retries\" does not fit \"api\": what is in the environment is not of type \"integer\"; give a value that fits its schema\n"
    );
}
