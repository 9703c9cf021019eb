//! Finds the files that a patch changes: the headings of `apply_patch`, and those of a diff.
//!
//! GNU patch chooses among the names that a heading gives, so each of them counts.

use crate::act::{PathEffect, ProgramReading, RawEffect};
use crate::value::ShellValue;

/// What a heading begins with, and what is done with the file that it names.
const HEADINGS: &[(&str, PathEffect)] = &[
    ("*** Add File:", PathEffect::Replace),
    ("*** Update File:", PathEffect::Replace),
    ("*** Move to:", PathEffect::Replace),
    ("*** Delete File:", PathEffect::Remove),
    ("--- ", PathEffect::Replace),
    ("+++ ", PathEffect::Replace),
    ("Index:", PathEffect::Replace),
    ("rename from ", PathEffect::Remove),
    ("rename to ", PathEffect::Replace),
    ("copy to ", PathEffect::Replace),
];
/// What stands for a file that is not there, before or after.
const NO_FILE: &str = "/dev/null";

/// Reads the headings of a patch.
pub(crate) fn read(text: &ShellValue) -> ProgramReading {
    let shown = text.shown();
    let mut acts: Vec<RawEffect> = Vec::new();
    for (deed, path) in shown.lines().filter_map(heading) {
        let act = RawEffect::Path(deed, ShellValue::text(path));
        if !acts.contains(&act) {
            acts.push(act);
        }
    }
    ProgramReading { acts, ..ProgramReading::default() }
}

fn heading(line: &str) -> Option<(PathEffect, &str)> {
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

    fn named(patch: &str) -> Vec<(PathEffect, String)> {
        let path = |act: RawEffect| match act {
            RawEffect::Path(deed, path) => (deed, path.shown()),
            other => panic!("{other:?}"),
        };
        read(&ShellValue::text(patch)).acts.into_iter().map(path).collect()
    }

    #[test]
    fn every_file_that_a_patch_names_is_found() {
        for (patch, wanted) in [
            ("*** Begin Patch\n*** Add File: a b\n+x\n*** End Patch", vec![(PathEffect::Replace, "a b")]),
            ("*** Update File: c\n*** Move to: /d\n", vec![(PathEffect::Replace, "c"), (PathEffect::Replace, "/d")]),
            ("  *** Delete File: e  \n", vec![(PathEffect::Remove, "e")]),
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n", vec![(PathEffect::Replace, "x")]),
            ("--- x\t2026-01-01\n+++ y\t2026-01-01\n", vec![(PathEffect::Replace, "x"), (PathEffect::Replace, "y")]),
            ("--- /dev/null\n+++ b/new\n", vec![(PathEffect::Replace, "new")]),
            ("rename from x\nrename to y\n", vec![(PathEffect::Remove, "x"), (PathEffect::Replace, "y")]),
            ("no heading\n", Vec::new()),
        ] {
            let wanted: Vec<(PathEffect, String)> =
                wanted.into_iter().map(|(deed, path)| (deed, path.to_owned())).collect();
            assert_eq!(named(patch), wanted, "{patch}");
        }
    }
}
