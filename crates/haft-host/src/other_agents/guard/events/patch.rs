//! Finds the files that a patch of `apply_patch` touches, by its headings.

use super::wanted::AgentFileOperation;

/// Returns what a patch would do to which files; nothing where it names none.
pub(in crate::other_agents::guard) fn touched(patch: &str) -> Option<Vec<(AgentFileOperation, String)>> {
    let headings = [
        ("*** Add File:", AgentFileOperation::Write),
        ("*** Update File:", AgentFileOperation::Edit),
        ("*** Delete File:", AgentFileOperation::Remove),
        ("*** Move to:", AgentFileOperation::Write),
    ];
    let mut touched: Vec<(AgentFileOperation, String)> = Vec::new();
    for line in patch.lines().map(str::trim) {
        let heading = headings.iter().find_map(|(words, deed)| Some((*deed, line.strip_prefix(words)?.trim())));
        let Some((deed, path)) = heading.filter(|(_, path)| !path.is_empty()) else { continue };
        // A moved file no longer has its old path.
        if line.starts_with("*** Move to:")
            && let Some((before, _)) = touched.last_mut()
        {
            *before = AgentFileOperation::Remove;
        }
        touched.push((deed, path.to_owned()));
    }
    (!touched.is_empty()).then_some(touched)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_a_patch_names_is_found() {
        let patch = "*** Begin Patch\n*** Add File: a b.txt\n+*** kept\n*** Update File: c\n*** Move to: d\n@@\n-x\n+y\n*** Delete File: /e\n*** End Patch";
        let wanted = [
            (AgentFileOperation::Write, "a b.txt"),
            (AgentFileOperation::Remove, "c"),
            (AgentFileOperation::Write, "d"),
            (AgentFileOperation::Remove, "/e"),
        ];
        let touched = touched(patch).expect("it names files");
        assert_eq!(touched, wanted.map(|(deed, path)| (deed, path.to_owned())));
        assert_eq!(super::touched("*** Begin Patch\n*** End Patch"), None);
    }
}
