//! Virtual environments whose interpreter lies where commands see nothing.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::workshop::Workshop;

const WHO: &str = "import os, sys\ndef who(): return [sys.prefix, sys.base_prefix]\n\
                   def lists(path): return sorted(os.listdir(path)) if os.path.exists(path) else None\n";

fn workshop() -> Option<Workshop> {
    Some(Workshop::with_python(WHO)?.of_workspace().function("who", "effects: []").function("lists", "effects: []"))
}

fn said(program: &Path, words: &[&str]) -> String {
    let output = Command::new(program).args(words).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Installs an interpreter in a folder, as pyenv and uv do in a home: the program, and the library that it knows.
fn installed(workshop: &Workshop, folder: &str) -> PathBuf {
    let system = workshop.doors().processes.find_program(&["python3"]).expect("it was looked for");
    let asked = "import os, sys; print(os.path.dirname(os.__file__)); print('python%d.%d' % sys.version_info[:2])";
    let told = said(&system, &["-I", "-c", asked]);
    let (library, name) = told.split_once('\n').expect("it says both");
    let folder = workshop.path(folder);
    for part in ["bin", "lib"] {
        std::fs::create_dir_all(folder.join(part)).expect("it can be made");
    }
    let program = folder.join("bin").join(name);
    std::fs::copy(system.canonicalize().expect("it is there"), &program).expect("it can be copied");
    symlink(library, folder.join("lib").join(name)).expect("a link can be made");
    program
}

/// Makes a virtual environment as a user does.
fn environment(workshop: &Workshop, interpreter: &Path) {
    let place = workshop.path("ws/.venv");
    said(interpreter, &["-m", "venv", "--without-pip", &place.to_string_lossy()]);
}

#[tokio::test]
async fn an_environment_of_the_system_is_used() {
    let Some(workshop) = workshop() else { return };
    let system = workshop.doors().processes.find_program(&["python3"]).expect("it was looked for");
    environment(&workshop, &system);
    assert!(workshop.works("who", json!({})).await.contains("/ws/.venv\","));
}

#[tokio::test]
async fn an_environment_whose_interpreter_lies_in_a_home_is_used() {
    let Some(workshop) = workshop() else { return };
    let workshop = workshop.file("home/notes.txt", "private");
    let interpreter = installed(&workshop, "home/.pyenv/versions/3");
    environment(&workshop, &interpreter);
    let told = workshop.works("who", json!({})).await;
    assert!(told.contains("/ws/.venv\",") && told.contains("/home/.pyenv/versions/3\"]"), "{told}");
    let seen = |name: &str| json!({ "path": workshop.path(name).to_string_lossy() });
    assert_eq!(workshop.works("lists", seen("home")).await, "[\".pyenv\"]", "nothing beside it is to be seen");
    assert_eq!(workshop.works("lists", seen("home/.pyenv/versions/3")).await, "[\"bin\",\"lib\"]");
}

#[tokio::test]
async fn folders_on_the_way_may_be_links() {
    let Some(workshop) = workshop() else { return };
    let interpreter = installed(&workshop, "home/uv/cpython-3.0.1");
    symlink("cpython-3.0.1", workshop.path("home/uv/cpython-3.0")).expect("a link can be made");
    let name = interpreter.file_name().expect("it has a name");
    environment(&workshop, &workshop.path("home/uv/cpython-3.0/bin").join(name));
    assert!(workshop.works("who", json!({})).await.contains("/ws/.venv\","));
}

#[tokio::test]
async fn a_link_to_what_is_no_interpreter_shows_nothing_of_it() {
    let Some(workshop) = workshop() else { return };
    let workshop = workshop.file("home/project/bin/run", "#!/bin/sh\ncat \"$(dirname \"$0\")/../secret\"\n");
    let workshop = workshop.file("home/project/secret", "hunter2").file("ws/.venv/bin/x", "");
    symlink(workshop.path("home/project/bin/run"), workshop.path("ws/.venv/bin/python")).expect("a link can be made");
    let result = workshop.call("who", json!({})).await;
    let told = format!("{result:?}");
    assert!(result.error.is_some() && !told.contains("hunter2"), "{told}");
    let words = "/home/project/bin/run, which has no Python library beside it; ask the user to recreate";
    assert!(told.contains(words), "{told}");
}
