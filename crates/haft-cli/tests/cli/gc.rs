//! `haft gc`: what is kept, and freeing it.

use haft_testkit::require::Need;
use serde_json::Value;

use super::{Place, is_empty};

impl Place {
    /// Makes another workspace with one change set; returns its path.
    fn other(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::create_dir(&path).expect("a folder can be made");
        let path = path.canonicalize().expect("it is there").display().to_string();
        let said = self.haft(&["-C", &path, "--yes", "call", "write_file", r#"{"path":"a","content":"1"}"#], "");
        assert_eq!(said.code, 0, "{}", said.err);
        path
    }

    fn kept(&self) -> Vec<Value> {
        self.record(&["gc", "--json"])["workspaces"].as_array().expect("it is a list").clone()
    }
}

#[test]
fn without_a_choice_it_shows_what_is_kept_and_frees_nothing() {
    let place = Place::new();
    let said = place.haft(&["gc"], "");
    assert_eq!((said.code, said.err.as_str()), (0, "haft keeps nothing yet.\n"));
    place.write("a", "1\n");
    place.write("a", "2\n");
    let other = place.other("other");
    let said = place.haft(&["gc"], "");
    assert_eq!(said.code, 0, "{}", said.err);
    let lines: Vec<&str> = said.out.lines().collect();
    assert!(lines[0].split_whitespace().eq(["journal", "other", "total", "undo", "reaches", "workspace"]));
    assert_eq!(lines.len(), 4, "{}", said.out);
    assert!(lines.iter().all(|line| line.chars().count() <= 100), "{}", said.out);
    let kept = place.kept();
    let total: u64 = kept.iter().filter_map(|kept| kept["total"].as_u64()).sum();
    assert_eq!(place.record(&["gc", "--json"])["total"]["total"], total);
    assert_eq!(kept[0]["undo"]["newest"], 2);
    assert!(kept.iter().any(|kept| kept["path"] == other.as_str() && kept["exists"] == true), "{kept:?}");
    let named = place.record(&["gc", "--workspace", "../other", "--json"]);
    assert_eq!(
        (named["workspaces"].as_array().map(Vec::len), &named["workspaces"][0]["path"]),
        (Some(1), &other.into())
    );
}

#[test]
fn without_a_terminal_and_without_yes_it_says_what_it_would_do() {
    let place = Place::new();
    place.write("a", "1\n");
    let said = place.haft(&["gc", "--journal"], "y\n");
    assert_eq!((said.code, said.out.as_str()), (3, ""));
    assert!(said.err.starts_with("This would free ") && said.err.contains("can no longer undo"), "{}", said.err);
    assert!(said.err.ends_with("Nothing was freed. To free it, run the same command with --yes.\n"), "{}", said.err);
    let said = place.haft(&["gc", "--journal", "--json"], "");
    let record: Value = serde_json::from_str(&said.out).expect("it is a record");
    assert_eq!((said.code, &record["planned"]), (3, &true.into()));
    assert_eq!(place.haft(&["--plan", "--yes", "gc", "--journal"], "").code, 0);
    assert_eq!(place.haft(&["undo"], "").code, 0);
}

#[test]
fn the_journal_of_the_current_workspace_is_freed_and_no_other() {
    let place = Place::new();
    place.write("a", "1\n");
    let other = place.other("other");
    let said = place.haft(&["gc", "--journal", "--yes"], "");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.starts_with("Freed "), "{}", said.out);
    assert_eq!(place.haft(&["undo"], "").code, 1);
    assert_eq!(place.haft(&["-C", &other, "undo"], "").code, 0);
    // The numbers go on.
    place.write("a", "2\n");
    assert_eq!(place.record(&["log", "--json"])["change_sets"][0]["number"], 2);
    assert_eq!(place.haft(&["undo"], "").code, 0);
    assert_eq!(std::fs::read_to_string(place.path("ws/a")).expect("it is there"), "1\n");
}

#[test]
fn what_is_young_stays_when_an_age_is_given() {
    let place = Place::new();
    place.write("a", "1\n");
    let said = place.haft(&["gc", "--older-than", "30d", "--yes"], "");
    assert_eq!((said.code, said.err.as_str()), (0, "There is nothing to free.\n"));
    assert_eq!(place.haft(&["gc", "--older-than", "soon"], "").code, 2);
    assert_eq!(place.haft(&["gc", "--older-than", "0m", "--yes"], "").code, 0);
    assert_eq!(place.haft(&["undo"], "").code, 1);
}

#[test]
fn workspaces_that_no_longer_exist_are_freed_completely() {
    let place = Place::new();
    let other = place.other("other");
    std::fs::remove_dir_all(&other).expect("it can be removed");
    place.write("a", "1\n");
    assert!(place.haft(&["gc"], "").out.contains("(no longer exists)"));
    assert_eq!(place.haft(&["gc", "--gone"], "").code, 3);
    let said = place.haft(&["gc", "--gone", "--yes", "--json"], "");
    let record: Value = serde_json::from_str(&said.out).expect("it is a record");
    assert_eq!((said.code, &record["workspaces"][0]["path"]), (0, &other.into()));
    assert_eq!(place.kept().len(), 1);
    assert_eq!(place.haft(&["undo"], "").code, 0);
}

#[test]
fn the_state_of_a_moved_workspace_is_listed_once_under_its_new_path() {
    let place = Place::new();
    if !Need::Births.met(place.root().metadata().is_ok_and(|facts| facts.created().is_ok())) {
        return;
    }
    let other = place.other("other");
    let moved = format!("{other}-moved");
    std::fs::rename(&other, &moved).expect("it can be renamed");
    assert_eq!(place.haft(&["-C", &moved, "log"], "").out.lines().count(), 1);
    let kept = place.kept();
    assert_eq!((kept.len(), &kept[0]["path"], &kept[0]["exists"]), (1, &moved.clone().into(), &true.into()));
    std::fs::remove_dir_all(&moved).expect("it can be removed");
    assert_eq!(place.haft(&["gc", "--gone", "--yes"], "").code, 0);
    assert!(is_empty(&place.path("home/.local/state/haft/workspaces")));
}

#[test]
fn the_doctor_says_how_much_is_kept_and_how_far_back_undo_reaches() {
    let place = Place::new();
    assert!(place.haft(&["doctor"], "").out.contains("there is nothing to undo"));
    place.write("a", "1\n");
    place.write("a", "2\n");
    let told = place.haft(&["doctor"], "").out;
    assert!(told.contains("reaches back to change set 1 of 2, just now"), "{told}");
    assert!(told.contains(" for this workspace, ") && told.contains(" for 1 workspace: haft gc"), "{told}");
}
