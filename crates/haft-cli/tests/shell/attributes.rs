//! Attributes that mean something to a layer: a command cannot leave them on files of the workspace.

use haft_testkit::require::Need;

use crate::ground::Ground;

/// What a layer reads.
const KINDS: &str = "opaque whiteout whiteouts xwhiteouts redirect origin impure nlink metacopy upper protattr own";

/// Makes files and folders in all ways that come in by a way of their own, and marks each.
const MARKING: &str = r#"
import os, sys
os.makedirs("new/deep", exist_ok=True); os.makedirs("target/x", exist_ok=True)
for path in ["a.txt", "new/file", "target/file", "target/x/file", "old/b.txt"]:
    open(path, "a").write("more")
os.rename("moved", "went")
for kind in sys.argv[1:]:
    for prefix in ["user.overlay.", "user.overlay.overlay.", "trusted.overlay."]:
        for path in [".", "a.txt", "new", "new/deep", "new/file", "target", "target/file", "target/x", "target/x/file", "old", "old/b.txt", "went", "went/c.txt"]:
            try: os.setxattr(path, prefix + kind, b"y")
            except OSError: pass
"#;

/// Lists such attributes of real files.
const LISTING: &str = r#"
import os
for folder, folders, files in os.walk("."):
    for name in folders + files:
        path = os.path.join(folder, name)
        found = [x for x in os.listxattr(path) if "overlay" in x]
        if found: raise SystemExit(f"{path}: {found}")
"#;

#[test]
fn no_attribute_that_means_something_to_a_layer_comes_in() {
    let ground = Ground::own();
    if !Need::Python.met(std::process::Command::new("python3").arg("--version").output().is_ok()) {
        return;
    }
    ground.lay_out("git init -q .; echo target > .gitignore; mkdir old moved target; echo a > a.txt; echo b > old/b.txt; echo c > moved/c.txt");
    ground.place.put("mark.py", MARKING);
    let record = ground.bash_unread(&format!("python3 mark.py {KINDS}"), 60.0);
    assert_eq!(record["exit_code"], 0, "{record:#}");
    ground.lay_out(&format!("python3 - <<'E'\n{LISTING}\nE"));
    let read = "cat a.txt new/file target/file target/x/file old/b.txt went/c.txt && ls new target old went";
    let record = ground.bash_unread(read, 60.0);
    assert_eq!(record["exit_code"], 0, "{record:#}");
    for way in ["undo", "redo"] {
        assert!(ground.haft(&[way]).status.success(), "{way}");
        ground.lay_out(&format!("python3 - <<'E'\n{LISTING}\nE"));
    }
}
