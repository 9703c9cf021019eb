//! Whose code a Python tool imports: the standard library first, and of the workspace only what the workspace may bring.

use serde_json::{Value, json};

use crate::workshop::Workshop;

/// Imports modules by their names, and says which of all loaded modules lie in the workspace.
const LOADED: &str = "import importlib, os, sys\n\
    def loaded(names):\n\
    \x20   for name in names:\n\
    \x20       try: importlib.import_module(name)\n\
    \x20       except ImportError: pass\n\
    \x20   here = os.getcwd() + os.sep\n\
    \x20   files = {name: getattr(module, '__file__', None) or '' for name, module in list(sys.modules.items())}\n\
    \x20   return sorted(name for name, file in files.items() if file.startswith(here))\n\
    def where(): return [sys.executable, [one for one in sys.path if one.startswith(os.getcwd())]]\n";

/// Modules that a workspace may plant: of the standard library, of the user, and those that Python loads at its start.
const PLANTED: &[&str] = &[
    "colorsys",
    "wave",
    "csv",
    "tomllib",
    "sqlite3",
    "xml",
    "unittest",
    "mypkg",
    "helper",
    "functions",
    "requests",
    "yaml",
    "sitecustomize",
    "usercustomize",
];

fn planted(of_package: fn(&str) -> String) -> Option<Workshop> {
    let workshop = Workshop::with_python(LOADED)?.function("loaded", "effects: []").function("where", "effects: []");
    let workshop = workshop.file("tools/mypkg/__init__.py", "OWNER = 'user'").file("tools/helper.py", "OWNER = 'user'");
    Some(PLANTED.iter().fold(workshop, |workshop, name| workshop.file(&of_package(name), "OWNER = 'workspace'")))
}

fn names(told: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(told).expect("it is a list");
    value.as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn a_tool_of_the_user_imports_nothing_of_the_workspace() {
    let shapes: [fn(&str) -> String; 2] = [|name| format!("ws/{name}.py"), |name| format!("ws/{name}/__init__.py")];
    for shape in shapes {
        let Some(workshop) = planted(shape) else { return };
        let told = workshop.works("loaded", json!({ "names": PLANTED })).await;
        assert_eq!(names(&told), [""; 0]);
    }
}

#[tokio::test]
async fn a_tool_of_the_workspace_imports_of_it_only_what_nothing_before_it_has() {
    let Some(workshop) = planted(|name| format!("ws/{name}.py")) else { return };
    let told = names(&workshop.of_workspace().works("loaded", json!({ "names": PLANTED })).await);
    for name in ["colorsys", "wave", "csv", "sqlite3", "xml", "unittest", "mypkg", "helper", "functions"] {
        assert!(!told.contains(&name.to_owned()), "{name}: {told:?}");
    }
}

#[tokio::test]
async fn a_module_of_the_users_folder_does_not_replace_one_of_the_standard_library() {
    let Some(workshop) = Workshop::with_python("import colorsys\ndef owner(): return hasattr(colorsys, 'rgb_to_hsv')")
    else {
        return;
    };
    let workshop = workshop.file("tools/colorsys.py", "").function("owner", "effects: []");
    assert_eq!(workshop.works("owner", json!({})).await, "true");
}

#[tokio::test]
async fn the_environment_of_the_workspace_runs_no_tool_of_the_user() {
    for place in ["ws/.venv/bin/python", "ws/venv/bin/python"] {
        let Some(workshop) = planted(|name| format!("ws/{name}.py")) else { return };
        let workshop = workshop.file(place, "#!/bin/sh\necho planted >&2\nexit 3\n");
        let told = workshop.works("where", json!({})).await;
        assert!(!told.contains("/ws"), "{told}");
    }
}
