//! Which workspace a command uses: from a subfolder, with -C, after the folder was renamed, copied or recreated.

use std::path::Path;

use haft_testkit::require::Need;

use super::{CapturedOutput, Place, said};

impl Place {
    /// Runs the command in another folder than the workspace.
    fn haft_in(&self, folder: &str, arguments: &[&str]) -> CapturedOutput {
        let mut command = self.command(arguments);
        command.current_dir(self.path(folder));
        said(command, "")
    }

    fn real(&self, name: &str) -> String {
        self.path(name).canonicalize().expect("it is there").display().to_string()
    }

    fn rename(&self, from: &str, to: &str) {
        std::fs::rename(self.path(from), self.path(to)).expect("it can be renamed");
    }

    /// Returns whether folders can be recognised here after they were moved.
    #[track_caller]
    fn records_births(&self) -> bool {
        Need::Births.met(self.root().metadata().is_ok_and(|facts| facts.created().is_ok()))
    }
}

const NOTHING: &str = "Nothing was changed here through haft.\n";

#[test]
fn from_a_subfolder_the_nearest_parent_with_history_is_used_and_named() {
    let place = Place::new();
    place.write("src/a.rs", "1\n");
    let told = format!("Workspace: {} (parent of the current folder)\n", place.real("ws"));
    for command in [&["log"][..], &["diff"], &["undo"], &["redo"], &["log", "--json"], &["gc"]] {
        let said = place.haft_in("ws/src", command);
        assert_eq!((said.code, said.err.as_str()), (0, told.as_str()), "{command:?}");
    }
    assert!(place.haft_in("ws/src", &["sessions"]).err.starts_with(&told));
    // A file is named from where the person is.
    let said = place.haft_in("ws/src", &["undo", "--file", "a.rs"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!place.path("ws/src/a.rs").exists());
}

#[test]
fn a_folder_with_history_of_its_own_is_used_before_its_parents() {
    let place = Place::new();
    place.write("a", "1\n");
    let call = r#"{"path":"b","content":"2\n"}"#;
    assert_eq!(place.haft_in("ws/src", &["--yes", "call", "write_file", call]).code, 0);
    let said = place.haft_in("ws/src", &["undo"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert!(!place.path("ws/src/b").exists() && place.path("ws/a").exists());
    let said = place.haft(&["log"], "");
    assert_eq!((said.out.lines().count(), said.err.as_str()), (1, ""));
}

#[test]
fn a_named_folder_is_searched_from_in_the_same_way() {
    let place = Place::new();
    place.write("a", "1\n");
    let said = place.haft_in(".", &["-C", "ws", "log"]);
    assert_eq!((said.code, said.err.as_str(), said.out.is_empty()), (0, "", false));
    let said = place.haft_in(".", &["-C", "ws/src", "log"]);
    assert_eq!(said.err, format!("Workspace: {} (parent of ws/src)\n", place.real("ws")));
    let said = place.haft_in(".", &["log"]);
    assert_eq!((said.code, said.err.as_str()), (0, NOTHING));
}

#[test]
fn other_commands_name_the_workspace_that_is_not_the_current_folder() {
    let place = Place::new();
    let said = place.haft_in(".", &["-C", "ws", "call", "list_dir"]);
    assert_eq!((said.code, said.err.as_str()), (0, format!("Workspace: {}\n", place.real("ws")).as_str()));
    assert_eq!(place.haft_in("ws", &["-C", ".", "call", "list_dir"]).err, "");
}

#[test]
fn a_moved_workspace_keeps_its_history() {
    let place = Place::new();
    if !place.records_births() {
        return;
    }
    place.write("a", "1\n");
    std::fs::create_dir(place.path("deep")).expect("a folder can be made");
    place.rename("ws", "deep/other");
    let said = place.haft_in("deep/other/src", &["undo"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!place.path("deep/other/a").exists());
    assert_eq!(place.haft_in("deep/other", &["redo"]).code, 0);
    place.rename("deep/other", "ws");
    assert_eq!(place.haft_in("ws", &["log"]).out.lines().count(), 3);
}

#[test]
fn a_copy_has_no_history_and_a_new_folder_at_the_old_path_has_none() {
    let place = Place::new();
    if !place.records_births() {
        return;
    }
    place.write("a", "1\n");
    copy(&place.path("ws"), &place.path("copy"));
    assert_eq!(place.haft_in("copy", &["log"]).err, NOTHING);
    place.rename("ws", "moved");
    std::fs::create_dir(place.path("ws")).expect("a folder can be made");
    assert_eq!(place.haft_in("ws", &["log"]).err, NOTHING);
    place.write("b", "2\n");
    assert_eq!(place.haft_in("ws", &["undo"]).code, 0);
    assert_eq!(place.haft_in("moved", &["undo"]).code, 0);
    assert!(!place.path("moved/a").exists());
}

#[test]
fn a_new_folder_in_the_place_of_a_deleted_one_has_no_history() {
    let place = Place::new();
    if !place.records_births() {
        return;
    }
    place.write("a", "1\n");
    std::fs::remove_dir_all(place.path("ws")).expect("it can be removed");
    std::fs::create_dir(place.path("ws")).expect("a folder can be made");
    assert_eq!(place.haft(&["log"], "").err, NOTHING);
    assert_eq!(place.haft(&["undo"], "").code, 1);
    assert!(!place.path("ws/a").exists());
    let kept = place.record(&["gc", "--json"]);
    let gone = kept["workspaces"].as_array().expect("it is a list").iter().find(|kept| kept["exists"] == false);
    let gone = gone.expect("the deleted one is listed");
    assert_eq!((&gone["path"], &gone["undo"]["newest"]), (&place.real("ws").into(), &1.into()));
}

#[test]
fn the_doctor_says_what_it_means_that_the_home_is_in_the_workspace() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("home")).expect("a folder can be made");
    assert!(place.haft_in(".", &["doctor"]).out.contains("contains your home folder"));
    assert!(place.haft_in("home", &["doctor"]).out.contains("contains your home folder"));
    assert!(!place.haft_in("ws", &["doctor"]).out.contains("contains your home folder"));
}

fn copy(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").arg("-a").arg(from).arg(to).status().expect("cp runs");
    assert!(copied.success());
}

#[test]
fn a_folder_whose_name_protects_its_files_is_no_workspace() {
    let place = Place::repository();
    for folder in ["ws/.git/hooks", "ws/.vscode", "home/.kube"] {
        std::fs::create_dir_all(place.path(folder)).expect("a folder can be made");
        let path = place.path(folder).display().to_string();
        let said = place.haft(&["--yes", "-C", &path, "call", "write_file", "path=config", "content=x"], "");
        assert_eq!(said.code, 2, "{folder}: {}{}", said.out, said.err);
        assert!(said.err.contains("name a folder above it"), "{folder}: {}", said.err);
        assert!(!place.path(folder).join("config").exists(), "{folder}");
    }
    let event = serde_json::json!({
        "hook_event_name": "PreToolUse", "cwd": place.path("ws/.git/hooks"), "tool_name": "Write",
        "tool_input": { "file_path": place.path("ws/.git/hooks/pre-commit"), "content": "x" }
    });
    let said = place.haft(&["guard"], &event.to_string());
    assert!(!said.out.contains("\"allow\"") && said.out.contains("protected names"), "{}{}", said.out, said.err);
}
