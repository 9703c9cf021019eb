//! The trusted copy in haft's state is checked before code runs from it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Place, put};

/// Returns the first file or folder of this name below a folder.
fn found(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let is_it = |path: &&PathBuf| path.file_name().is_some_and(|file| file == name);
    let here = files.iter().chain(&folders).find(is_it).cloned();
    here.or_else(|| folders.iter().find_map(|folder| found(folder, name)))
}

/// Lets others write to a path.
fn open_to_others(path: &Path) {
    let mode = path.metadata().expect("it is there").permissions().mode();
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode | 0o022)).expect("it is ours");
}

#[test]
fn code_does_not_run_from_a_trusted_copy_that_was_changed() {
    /// Gets the helper in the copy.
    type Change = fn(&Path);
    let changes: [(&str, Change); 7] = [
        ("a file has other content", |lib| std::fs::write(lib, "echo evil\n").expect("it is ours")),
        ("a file is gone", |lib| std::fs::remove_file(lib).expect("it is ours")),
        ("a file was added", |lib| std::fs::write(lib.with_file_name("new.sh"), "echo evil\n").expect("it is ours")),
        ("a file is a link", |lib| {
            std::fs::remove_file(lib).expect("it is ours");
            std::os::unix::fs::symlink("check.sh", lib).expect("it is free");
        }),
        ("others can write a file", open_to_others),
        ("others can write a folder", |lib| open_to_others(lib.parent().expect("it is in a folder"))),
        ("others can write the folder of all copies", |lib| {
            open_to_others(lib.ancestors().find(|above| above.ends_with("trusted-code")).expect("it is in a copy"));
        }),
    ];
    for (name, change) in changes {
        let place = Place::new();
        put(&place, "scripts/check.sh", ". scripts/lib.sh\n");
        put(&place, "scripts/lib.sh", "echo good\n");
        let config = "[[hooks.PreToolUse]]\nmatcher = \"list_dir\"\ncommand = \"(sh scripts/check.sh) >&2; exit 2\"\n";
        put(&place, ".haft/config.toml", config);
        let says = || {
            let said = place.haft(&["call", "list_dir", r#"{"path":"."}"#], "");
            format!("{}{}", said.out, said.err)
        };
        assert_eq!(place.haft(&["trust", "."], "").code, 0, "{name}");
        assert!(says().contains("good"), "{name}: {}", says());
        let copies = found(&place.path("home"), "trusted-code").expect("there is a copy");
        change(&found(&copies, "lib.sh").expect("it is in the copy"));
        let said = says();
        assert!(!said.contains("good") && !said.contains("evil"), "{name}: {said}");
        assert!(said.contains("trusted copy") && said.contains("haft trust"), "{name}: {said}");
        // Trust itself asks for this where others can write.
        std::fs::set_permissions(&copies, PermissionsExt::from_mode(0o700)).expect("it is ours");
        let trusted = place.haft(&["trust", "."], "");
        assert_eq!(trusted.code, 0, "{name}: {}", trusted.err);
        let said = says();
        assert!(said.contains("good") && !said.contains("evil"), "{name}, trusted again: {said}");
    }
}
