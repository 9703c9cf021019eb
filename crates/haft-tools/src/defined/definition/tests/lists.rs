//! Tests lists of tools: as the guide writes them, as a map, and the reports about wrong ones.

use std::path::PathBuf;

use super::super::{Binding, CheckedList, Definition, FunctionName, check_list, is_list};

fn list(text: &str) -> CheckedList {
    check_list(text, &|name| (name == "API_KEY").then(|| "s3cr3t".to_owned()))
}

fn told(text: &str) -> String {
    list(text).problems.iter().map(|problem| format!("{problem}\n")).collect()
}

/// As the guide writes it.
const GUIDE: &str = "# In YAML
tools:
  - name: my_api_tool
    yaml_path: ./tools/MyApiTool.yaml
    binding: mypkg.tools:my_api_tool
    extra_kwargs:
      base_url: https://api.example.com
      api_key: ${env.API_KEY}  # Loaded from environment
";

#[test]
fn the_list_of_the_guide_is_read_as_it_stands() {
    let CheckedList { listed, problems } = list(GUIDE);
    assert_eq!(problems, []);
    let [entry] = listed.as_slice() else { panic!("it has one entry") };
    assert_eq!(entry.name, "my_api_tool");
    assert_eq!(entry.yaml_path, Some(PathBuf::from("./tools/MyApiTool.yaml")));
    assert_eq!(
        entry.binding,
        Some(Binding::Python(FunctionName { module: "mypkg.tools".into(), function: "my_api_tool".into() }))
    );
    assert_eq!(entry.presets.fixed["api_key"], "s3cr3t");
    assert_eq!(entry.presets.secrets, ["s3cr3t"]);
}

#[test]
fn in_a_map_the_key_is_the_name_and_the_name_is_the_title() {
    let CheckedList { listed, problems } = list(
        "tools:\n  my_tool:  # ← This is the name\n    name: \"My Tool Display Name\"\n    yaml_path: a.yaml\n  other: {yaml_path: b.yaml}\n",
    );
    assert_eq!(problems, []);
    assert_eq!((listed[0].name.as_str(), listed[0].title.as_deref()), ("my_tool", Some("My Tool Display Name")));
    assert_eq!((listed[1].name.as_str(), listed[1].title.as_deref(), listed[1].line), ("other", None, Some(5)));
}

#[test]
fn name_and_binding_of_the_list_count_before_those_of_the_definition() {
    let definition = Definition::from_yaml("name: MyApiTool\ndescription: d\nbinding: old:one\ninput_schema:\n  properties:\n    base_url: {type: string, description: u}\n    api_key: {type: string, description: k}\n").expect("nothing is wrong with it");
    let (applied, _) = list(GUIDE).listed[0].apply(definition.clone()).expect("it fits");
    assert_eq!(applied.name, "my_api_tool");
    assert_eq!(
        applied.binding,
        Some(Binding::Python(FunctionName { module: "mypkg.tools".into(), function: "my_api_tool".into() }))
    );
    assert_eq!(applied.spec().name, "my_api_tool");

    let (kept, _) = list("tools:\n  t: {yaml_path: a.yaml, name: Title}").listed[0].apply(definition).expect("it fits");
    assert_eq!(kept.binding, Some(Binding::Python(FunctionName { module: "old".into(), function: "one".into() })));
    assert_eq!(kept.title.as_deref(), Some("Title"));
}

#[test]
fn a_tool_that_nothing_does_is_an_error() {
    let definition = Definition::from_yaml("name: t\ndescription: d").expect("nothing is wrong with it");
    let problems =
        list("tools: [{name: t, yaml_path: t.yaml}]").listed[0].apply(definition).expect_err("nothing does it");
    assert_eq!(problems[0].to_string(), "line 1: \"t\" has no binding; write a binding here or in the definition");
}

#[test]
fn a_list_that_is_wrong_is_told_with_line_and_fix() {
    const FORM: &str = "write a list of {name, yaml_path, binding, extra_kwargs}";
    for (text, words) in [
        ("", format!("line 1: it is empty; write tools: and below it {FORM}")),
        ("- name: a\n", format!("line 1: it is a list; write tools: and below it {FORM}")),
        ("tool: []\n", "line 1: there is no key \"tool\"; did you mean \"tools\"?".to_owned()),
        ("tools: all\n", format!("line 1: \"tools\" is neither a list nor a map; {FORM}")),
        ("tools:\n  - a\n", format!("line 2: an entry of \"tools\" is text, but it is a map; {FORM}")),
        ("tools:\n  - yaml_path: a\n", "line 2: the entry has no name; write name: NAME".to_owned()),
        (
            "tools:\n  - name: a b\n",
            "line 2: \"a b\" cannot be the name of a tool: 1 to 64 letters, digits, `_` or `-`; write a_b".to_owned(),
        ),
        (
            "tools:\n  - name: a\n    yaml_pth: b\n",
            "line 3: there is no key \"yaml_pth\"; did you mean \"yaml_path\"?".to_owned(),
        ),
        (
            "tools:\n  - name: a\n    lazy: true\n",
            "line 3: there is no key \"lazy\"; it belongs in the definition".to_owned(),
        ),
        (
            "tools:\n  - name: a\n    extra_kwargs: [b]\n",
            "line 3: \"extra_kwargs\" is a list, but it is a map; write NAME: VALUE, one argument per line".to_owned(),
        ),
        (
            "tools:\n  - name: a\n  - name: a\n",
            "line 3: two tools are called \"a\" (line 2); give one of them another name".to_owned(),
        ),
        ("tools:\n  a: {}\n  a: {}\n", "line 3: the key \"a\" occurs twice; remove one of them".to_owned()),
        (
            "tools:\n  - name: a\n    yaml_path: ${env.GONE}/a.yaml\n",
            "line 2: the environment variable GONE is not set; set GONE before haft starts, or remove ${env.GONE}"
                .to_owned(),
        ),
    ] {
        let told = told(text);
        assert_eq!(told.lines().next(), Some(&*words), "{told}");
    }
}

#[test]
fn an_entry_that_is_wrong_leaves_the_others_in_peace() {
    let CheckedList { listed, problems } = list("tools:\n  - name: a\n    colour: red\n  - name: b\n");
    assert_eq!(listed.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["b"]);
    assert_eq!(problems.len(), 1);
    assert_eq!(list("tools:\n"), CheckedList::default(), "no tools are no mistake");
}

#[test]
fn a_list_is_told_from_a_definition() {
    assert!(is_list(GUIDE) && is_list("tools: {}"));
    assert!(!is_list("name: tools") && !is_list("tools: [") && !is_list(""));
}
