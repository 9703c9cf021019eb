//! Tests what is committed if a tool declared what it would change.

use std::sync::Arc;

use haft_contract::doors::process::{CommitReport, Disposition, Staging, StagingMode};
use haft_contract::files::path::{Extent, FileLocation, Target};

use super::{LayerFixture, Upper, changed, upper_of};

const NOT_SAID: &str = "Not kept, because the tool did not declare that it changes it: ";

fn entry(path: &str) -> Target {
    Target::Inside(FileLocation::new(path, Extent::Entry))
}

fn tree(path: &str) -> Target {
    Target::Inside(FileLocation::new(path, Extent::Tree))
}

fn run(scene: &LayerFixture, said: &[Target], command: impl FnOnce(&Upper)) -> CommitReport {
    let mut ground = scene.layers.prepare(StagingMode::Layered, None).expect("it can be prepared");
    ground.keep_only(Arc::from(said));
    command(&Upper(upper_of(&ground)));
    scene.settling(&ground, Disposition::Commit).expect("it comes in")
}

fn not_said(names: &str) -> Vec<String> {
    vec![format!("{NOT_SAID}{names}.")]
}

#[test]
fn what_was_said_comes_in_and_the_rest_is_named() {
    let scene = LayerFixture::new(&[("a", "old"), ("b", "old"), ("src/deep/c", "old"), ("src2/d", "old")]);
    let settled = run(&scene, &[entry("a"), tree("src")], |upper| {
        for path in ["a", "b", "src/deep/c", "src/new", "src2/d", "other/e"] {
            upper.write(path, "new");
        }
    });
    assert_eq!(changed(&settled), ["create src/new", "replace a", "replace src/deep/c"]);
    assert_eq!(settled.notes, not_said("b, other/e, src2/d"));
    assert_eq!((scene.content("b"), scene.has("other")), ("old".into(), false));
}

#[test]
fn a_tool_that_said_that_it_changes_nothing_changes_nothing() {
    let scene = LayerFixture::new(&[("a", "old"), ("gone/b", "old")]);
    let before = scene.tree();
    let settled = run(&scene, &[], |upper| {
        upper.write("a", "new");
        upper.write("made/c", "new");
        upper.write(".git/hooks/post-commit", "run");
        upper.gone("gone");
    });
    assert_eq!(changed(&settled), Vec::<String>::new());
    assert_eq!(settled.notes, not_said(".git/hooks/post-commit, a, gone/b, made/c"));
    assert_eq!(scene.tree(), before);
}

#[test]
fn folders_above_what_was_said_are_made_and_those_beside_it_are_not() {
    let scene = LayerFixture::new(&[]);
    let settled = run(&scene, &[entry("out/deep/report")], |upper| {
        upper.write("out/deep/report", "new");
        upper.write("out/deep/more", "new");
        upper.folder("out/empty");
    });
    assert_eq!(changed(&settled), ["create out/deep/report"]);
    assert_eq!(settled.notes, not_said("out/deep/more, out/empty"));
    assert_eq!(scene.tree().keys().collect::<Vec<_>>(), ["out", "out/deep", "out/deep/report"]);
}

#[test]
fn a_folder_with_something_in_it_that_was_not_said_stays() {
    let scene = LayerFixture::new(&[("gone/a", "old"), ("gone/b", "old")]);
    let settled = run(&scene, &[entry("gone/a")], |upper| upper.gone("gone"));
    assert_eq!(changed(&settled), ["remove gone/a"]);
    assert_eq!(settled.notes, not_said("gone/b"));
    assert_eq!(scene.content("gone/b"), "old");
}

#[test]
fn protected_names_are_refused_also_where_they_were_said() {
    let scene = LayerFixture::new(&[("a", "old")]);
    let settled = run(&scene, &[tree("")], |upper| {
        upper.write("a", "new");
        upper.write(".git/hooks/post-commit", "run");
    });
    assert_eq!(changed(&settled), ["replace a"]);
    assert!(settled.notes[0].starts_with("Refused, because "), "{:?}", settled.notes);
}

#[test]
fn a_new_ignored_folder_comes_in_as_far_as_it_was_said() {
    let files = [(".gitignore", "node_modules/\n"), (".git/HEAD", "ref: refs/heads/main\n")];
    for (said, comes, note) in [
        (tree("node_modules"), vec!["node_modules/p/a", "node_modules/p/b"], None),
        (entry("node_modules/p/a"), vec!["node_modules/p/a"], Some("changes it: node_modules/p/b.")),
        (entry("elsewhere"), vec![], Some("changes it: node_modules.")),
    ] {
        let scene = LayerFixture::new(&files);
        let settled = run(&scene, &[said], |upper| {
            upper.write("node_modules/p/a", "new");
            upper.write("node_modules/p/b", "new");
        });
        let there: Vec<String> = scene.tree().into_keys().filter(|path| path.starts_with("node_modules/p/")).collect();
        assert_eq!(there, comes, "{settled:?}");
        let is_told = |note: &str| settled.notes.iter().any(|one| one.ends_with(note));
        assert!(note.map_or(settled.notes.is_empty(), is_told), "{settled:?}");
    }
}
