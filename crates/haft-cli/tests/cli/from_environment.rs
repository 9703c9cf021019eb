//! Arguments that come from the environment: haft gives them only to the tool.

use serde_json::Value;

use super::terminal::Terminal;
use super::{Place, holds, put};

const TOKEN: &str = "swordfish-0815-swordfish";

/// What the tool does: says whether it got the token, and then whatever is added.
fn with_api(definition: &str, then: &str) -> Place {
    let mut place = Place::new();
    place.variables.push(("HAFT_T_TOKEN", TOKEN));
    let schema = "input_schema: {type: object, properties: {q: {type: string, description: What.}, \
                  token: {type: string, description: A key.}, host: {type: string, description: Where.}}}";
    put(&place, ".haft/api.yaml", &format!("name: api\ndescription: Calls.\n{schema}\n{definition}\n"));
    let list = "tools:\n  - name: api\n    yaml_path: api.yaml\n    binding: {command: [sh, api.sh]}\n    \
                extra_kwargs:\n      host: https://a.example\n      token: ${env.HAFT_T_TOKEN}\n";
    put(&place, ".haft/tools.yaml", list);
    // Trust takes a copy of the script, so the value must not stand in it.
    let (half, rest) = TOKEN.split_at(TOKEN.len() / 2);
    let script = format!("sent=$(cat)\ncase $sent in *{half}''{rest}*) echo 'it has the token';; esac\n{then}\n");
    put(&place, ".haft/api.sh", &script);
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    place
}

#[test]
fn a_value_of_the_environment_is_given_to_the_tool_and_hidden_from_the_model() {
    let place = with_api("effects: []", "");
    let said = place.haft(&["call", "api", "q=1"], "");
    assert_eq!((said.code, said.out.trim()), (0, "it has the token"), "{}", said.err);
    let listed: Value = serde_json::from_str(&place.haft(&["tools", "api", "--json"], "").out).expect("it is a list");
    let shown = listed[0]["inputSchema"]["properties"].as_object().expect("it has properties");
    // If one comes from the environment, all are fixed: a model that chose the host could send the key there.
    assert_eq!(shown.keys().collect::<Vec<_>>(), ["q"]);
}

#[test]
fn a_model_cannot_say_otherwise() {
    let place = with_api("effects: []", "printf %s \"$sent\"");
    for (name, value) in [("token", "mine"), ("host", "https://evil.example")] {
        let said = place.haft(&["call", "api", "q=1", &format!("{name}={value}")], "");
        assert_eq!(said.code, 1, "{}", said.err);
        let words = format!("api: $.{name}: expected only the properties \"q\", ");
        assert!(said.err.starts_with(&words), "{}", said.err);
    }
}

#[test]
fn a_variable_that_is_not_set_is_told_with_its_name_and_the_file() {
    let mut place = with_api("effects: []", "");
    place.variables.clear();
    let said = place.haft(&["call", "api", "q=1"], "");
    let words =
        ".haft/tools.yaml:7: the environment variable HAFT_T_TOKEN is not set; set HAFT_T_TOKEN before haft starts";
    assert!(said.code == 1 && said.err.contains(words), "{}", said.err);
    let checked = place.haft(&["check", ".haft"], "");
    assert!(checked.code == 1 && checked.out.contains(words), "{}", checked.out);
}

#[test]
fn its_value_is_hidden_in_results_records_logs_and_files() {
    let place = with_api("effects: []", "printf %s \"$sent\"; printf %s \"$sent\" >&2");
    let said = place.haft(&["call", "api", "q=1"], "");
    assert!(said.out.contains("[secret]") && !said.out.contains(TOKEN) && !said.err.contains(TOKEN), "{}", said.out);
    let record = place.haft(&["call", "--json", "api", "q=1"], "").out;
    assert!(record.contains("[secret]") && !record.contains(TOKEN), "{record}");
    let line = "{\"name\":\"api\",\"arguments\":{\"q\":\"1\"}}\n";
    assert!(!place.haft(&["call", "-"], line).out.contains(TOKEN));

    let fails = with_api("effects: []", "printf '%s\\n' \"$sent\" >&2; printf '%s\\n' \"$sent\" >&2; exit 3");
    let said = fails.haft(&["call", "api", "q=1"], "");
    assert!(said.code == 1 && said.err.contains("[secret]") && !said.err.contains(TOKEN), "{}", said.err);
    assert!(!fails.haft(&["doctor", "api"], "").out.contains(TOKEN));
    for place in [place, fails] {
        assert!(!holds(&place.path("home"), TOKEN), "a secret is in haft's own files");
    }
}

#[test]
fn its_value_is_hidden_in_what_is_too_long_to_show_and_in_kept_results() {
    let place = with_api("effects: []", "for i in $(seq 3000); do printf '%s %s\\n' $i \"$sent\"; done");
    let record: Value = serde_json::from_str(&place.haft(&["call", "--json", "api", "q=1"], "").out).expect("a record");
    let spill = format!("path=spill:{}", record["spill"].as_str().expect("it is too long to show"));
    let page = place.haft(&["call", "read_file", &spill, "offset=1500", "limit=3"], "").out;
    assert!(page.contains("1501 {") && page.contains("[secret]") && !page.contains(TOKEN), "{page}");
    assert!(!holds(&place.path("home"), TOKEN), "a secret is in haft's own files");

    let keeps = with_api("effects: []\nuse_cache: true", "printf %s \"$sent\"");
    assert_eq!(keeps.haft(&["call", "api", "q=1"], "").code, 0);
    let again = keeps.haft(&["call", "api", "q=1"], "");
    assert!(again.err.contains("from the cache") && again.out.contains("[secret]"), "{}{}", again.out, again.err);
    assert!(!holds(&keeps.path("home"), TOKEN), "a secret is in haft's own files");
}

#[test]
fn its_value_is_hidden_in_the_question() {
    let place = with_api("", "printf %s \"$sent\"");
    let mut terminal = Terminal::start(&place, &["call", "api", &format!("q={TOKEN}")]);
    terminal.shows("\n>").types("n\n");
    assert_eq!(terminal.ends(), 3, "{}", terminal.screen());
    assert!(terminal.screen().contains("[secret]") && !terminal.screen().contains(TOKEN), "{}", terminal.screen());
}

#[test]
fn another_value_in_the_environment_is_another_call_to_the_kept_results() {
    let mut place = with_api("effects: []\nuse_cache: true", "date +%N");
    let first = place.haft(&["call", "api", "q=1"], "").out;
    assert_eq!(place.haft(&["call", "api", "q=1"], "").out, first);
    place.variables = vec![("HAFT_T_TOKEN", "another-0815-swordfish")];
    assert_ne!(place.haft(&["call", "api", "q=1"], "").out, first);
}
