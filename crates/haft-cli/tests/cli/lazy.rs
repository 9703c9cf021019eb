//! Tools that haft neither starts nor imports before their first call.

use super::{Place, found_python, put};

/// What every way to look at tools is, with the words that show the tool.
const LOOKS: [&[&str]; 5] =
    [&["tools"], &["tools", "greet"], &["tools", "--json"], &["tools", "--for", "anthropic"], &["doctor", "greet"]];

/// A trusted project with a Python function that nothing describes but its own docstring.
fn with_function(lazy: &str, module: &str) -> Place {
    let place = Place::new();
    let definition = format!("name: greet\nbinding: greeting:greet\neffects: []\nlazy: {lazy}\ninput_schema: {{}}\n");
    put(&place, ".haft/tools/greet.yaml", &definition);
    put(&place, ".haft/tools/greeting.py", module);
    place
}

/// Puts a program in the place of the interpreter, which says that it was started and ends.
fn with_an_interpreter_that_tells(place: &Place) {
    use std::os::unix::fs::PermissionsExt;
    put(place, ".venv/bin/python", "#!/bin/sh\necho 'the interpreter was started' >&2\nexit 7\n");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.path("ws/.venv/bin/python"), mode).expect("it is ours");
}

#[test]
fn no_interpreter_is_started_before_the_first_call_of_a_lazy_tool() {
    let lazy = with_function("true", "def greet():\n    'Greets.'\n");
    with_an_interpreter_that_tells(&lazy);
    assert_eq!(lazy.haft(&["trust", "."], "").code, 0);
    for look in LOOKS {
        let said = lazy.haft(look, "");
        assert_eq!(said.code, 0, "{look:?}: {}", said.err);
        assert!(said.out.contains("greet") && !said.err.contains("note:"), "{look:?}: {}{}", said.out, said.err);
    }
    let called = lazy.haft(&["call", "greet"], "");
    assert!(called.code == 1 && called.err.contains("the interpreter was started"), "{}", called.err);

    // The same tool when it is not lazy, so that what was seen above can be seen.
    let eager = with_function("false", "def greet():\n    'Greets.'\n");
    with_an_interpreter_that_tells(&eager);
    assert_eq!(eager.haft(&["trust", "."], "").code, 0);
    let said = eager.haft(&["tools"], "");
    assert!(said.err.contains("greet.yaml: haft cannot read the docstring of its function: "), "{}", said.err);
}

#[test]
fn a_module_that_cannot_be_imported_is_told_by_the_first_call_and_by_nothing_before() {
    let lazy = with_function("true", "raise RuntimeError('imported')\n");
    assert_eq!(lazy.haft(&["trust", "."], "").code, 0);
    for look in LOOKS {
        let said = lazy.haft(look, "");
        assert!(said.code == 0 && said.out.contains("greet"), "{look:?}: {}", said.err);
        assert!(!said.out.contains("imported") && !said.err.contains("note:"), "{look:?}: {}{}", said.out, said.err);
    }
    let called = lazy.haft(&["call", "greet"], "");
    assert_eq!(called.code, 1);
    if !found_python(&called) {
        return;
    }
    assert!(called.err.contains("cannot be imported: RuntimeError: imported"), "{}", called.err);
}

#[test]
fn a_tool_that_has_its_words_is_not_imported_for_them_though_it_is_not_lazy() {
    let place = with_function("false\ndescription: Greets.", "raise RuntimeError('imported')\n");
    with_an_interpreter_that_tells(&place);
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    for look in LOOKS {
        let said = place.haft(look, "");
        assert!(said.code == 0 && said.out.contains("greet") && !said.err.contains("note:"), "{}", said.err);
    }
}

#[test]
fn how_a_tool_is_loaded_and_run_is_shown() {
    let place = Place::new();
    let definition = "name: greet\ndescription: Greets.\nbinding: {command: [echo, x]}\neffects: []\nlazy: true\n\
        disable_parallel: true\ninput_schema: {}\n";
    put(&place, ".haft/tools/greet.yaml", definition);
    assert_eq!(place.haft(&["trust", "."], "").code, 0);
    let said = place.haft(&["tools", "greet", "--json"], "");
    let record: serde_json::Value = serde_json::from_str(&said.out).expect("a list");
    assert_eq!((&record[0]["lazy"], &record[0]["exclusive"]), (&true.into(), &true.into()));
    for look in [&["tools", "greet"][..], &["doctor", "greet"]] {
        let said = place.haft(look, "").out;
        assert!(said.contains("at its first call, and nothing of it before (lazy)"), "{look:?}: {said}");
        assert!(said.contains("one call at a time (disable_parallel)"), "{look:?}: {said}");
    }
    let for_provider = place.haft(&["tools", "greet", "--for", "anthropic"], "").out;
    assert!(!for_provider.contains("exclusive"), "{for_provider}");
    let others = place.haft(&["tools", "--json"], "").out;
    assert_eq!((others.matches("\"lazy\"").count(), others.matches("\"exclusive\"").count()), (1, 1));
}
