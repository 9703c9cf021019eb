//! Names the calls that a patch of several kinds of sections stands for: no one call adds, changes and removes files.

use haft_contract::shape::SeveralCalls;
use serde_json::{Value, json};

/// Most sections that are named.
const MOST_NAMED: usize = 20;

/// Returns the calls, where a patch adds files and does something else too, or adds or removes several.
pub(crate) fn calls(patch: &Value) -> Option<SeveralCalls> {
    let text = patch.as_str()?.trim_start();
    if !text.starts_with("*** Begin Patch") {
        return None;
    }
    let named =
        |kind: &str| -> Vec<&str> { text.lines().filter_map(|line| line.strip_prefix(kind)).map(str::trim).collect() };
    let (added, changed, removed) = (named("*** Add File: "), named("*** Update File: "), named("*** Delete File: "));
    let what = match (added.len(), changed.len() + removed.len()) {
        (1.., 1..) => "One call cannot both add files and change or remove others.",
        (2.., 0) => "One call adds one file.",
        _ => return None,
    };
    let write = |path: &&str| format!("write_file({{\"path\": {}, \"content\": …}})", json!(path));
    let mut calls: Vec<String> = added.iter().take(MOST_NAMED).map(write).collect();
    if !changed.is_empty() {
        let names: Vec<&str> = changed.iter().copied().take(MOST_NAMED).collect();
        calls.push(format!("apply_patch with only the \"*** Update File\" sections ({})", names.join(", ")));
    }
    if !removed.is_empty() {
        let names: Vec<&str> = removed.iter().copied().take(MOST_NAMED).collect();
        calls.push(format!("bash to remove {}", names.join(", ")));
    }
    let next = format!("make these calls: {}", calls.join("; "));
    Some(SeveralCalls { what: format!("{what} Nothing was changed."), next })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_that_adds_and_changes_files_is_told_as_its_calls() {
        let patch = |sections: &str| json!(format!("*** Begin Patch\n{sections}\n*** End Patch"));
        let next = |sections: &str| calls(&patch(sections)).map(|calls| calls.next);
        let added = "*** Add File: a.ts\n+x";
        let (changed, removed) = ("*** Update File: b.ts\n-x\n+y", "*** Delete File: c.ts");
        assert_eq!(
            next(&format!("{added}\n{changed}\n{removed}")).as_deref(),
            Some(
                "make these calls: write_file({\"path\": \"a.ts\", \"content\": …}); apply_patch with only the \
                 \"*** Update File\" sections (b.ts); bash to remove c.ts"
            )
        );
        for one in [added, changed, removed] {
            assert_eq!(next(one), None, "{one}");
        }
    }
}
