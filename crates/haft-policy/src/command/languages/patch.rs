//! Which files a patch changes: the headings of `apply_patch`, and those of a diff.
//!
//! GNU patch chooses among the names that a heading gives, so each of them counts.

use super::super::act::{Act, Deed, Reading};
use super::super::value::Value;

/// What a heading begins with, and what is done with the file that it names.
const HEADINGS: &[(&str, Deed)] = &[
    ("*** Add File:", Deed::Replace),
    ("*** Update File:", Deed::Replace),
    ("*** Move to:", Deed::Replace),
    ("*** Delete File:", Deed::Remove),
    ("--- ", Deed::Replace),
    ("+++ ", Deed::Replace),
    ("Index:", Deed::Replace),
    ("rename from ", Deed::Remove),
    ("rename to ", Deed::Replace),
    ("copy to ", Deed::Replace),
];
/// What stands for a file that is not there, before or after.
const NO_FILE: &str = "/dev/null";

/// Reads the headings of a patch.
pub(super) fn read(text: &Value) -> Reading {
    let shown = text.shown();
    let mut acts: Vec<Act> = Vec::new();
    for (deed, path) in shown.lines().filter_map(heading) {
        let act = Act::Path(deed, Value::text(path));
        if !acts.contains(&act) {
            acts.push(act);
        }
    }
    Reading { acts, ..Reading::default() }
}

fn heading(line: &str) -> Option<(Deed, &str)> {
    let line = line.trim();
    let (deed, rest) = HEADINGS.iter().find_map(|(words, deed)| Some((*deed, line.strip_prefix(words)?)))?;
    // Behind a tab stands the time of the file.
    let path = rest.split('\t').next().unwrap_or_default().trim().trim_matches('"');
    let is_diff = !line.starts_with("***");
    let path = ["a/", "b/"].iter().find_map(|before| path.strip_prefix(before).filter(|_| is_diff)).unwrap_or(path);
    (!path.is_empty() && path != NO_FILE).then_some((deed, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(patch: &str) -> Vec<(Deed, String)> {
        let path = |act: Act| match act {
            Act::Path(deed, path) => (deed, path.shown()),
            other => panic!("{other:?}"),
        };
        read(&Value::text(patch)).acts.into_iter().map(path).collect()
    }

    #[test]
    fn every_file_that_a_patch_names_is_found() {
        for (patch, wanted) in [
            ("*** Begin Patch\n*** Add File: a b\n+x\n*** End Patch", vec![(Deed::Replace, "a b")]),
            ("*** Update File: c\n*** Move to: /d\n", vec![(Deed::Replace, "c"), (Deed::Replace, "/d")]),
            ("  *** Delete File: e  \n", vec![(Deed::Remove, "e")]),
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n", vec![(Deed::Replace, "x")]),
            ("--- x\t2026-01-01\n+++ y\t2026-01-01\n", vec![(Deed::Replace, "x"), (Deed::Replace, "y")]),
            ("--- /dev/null\n+++ b/new\n", vec![(Deed::Replace, "new")]),
            ("rename from x\nrename to y\n", vec![(Deed::Remove, "x"), (Deed::Replace, "y")]),
            ("no heading\n", Vec::new()),
        ] {
            let wanted: Vec<(Deed, String)> = wanted.into_iter().map(|(deed, path)| (deed, path.to_owned())).collect();
            assert_eq!(named(patch), wanted, "{patch}");
        }
    }
}
