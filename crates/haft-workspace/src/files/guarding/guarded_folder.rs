//! Refuses folders as a workspace if their own name protects the files in them or makes them secret.
//!
//! haft knows such files by their path from the root: `.git/hooks/pre-commit`, `.kube/config`. If the root is `.git/hooks`
//! itself, the file is only `pre-commit`, which is an ordinary name. So the workspace must be a folder above it.

use std::path::Path;

use haft_contract::files::guarded::gives_meaning_to_names;

/// Returns whether a folder gives the files in it a meaning that their paths below it do not show.
///
/// A repository counts as a beginning: where it lies means nothing for its own files, as in `.claude/worktrees/NAME`.
pub fn is_guarded_folder(folder: &Path) -> bool {
    let is_repository = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
    let from_repository = folder.ancestors().find(is_repository).and_then(|above| folder.strip_prefix(above).ok());
    gives_meaning_to_names(from_repository.unwrap_or(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_whose_name_gives_their_files_a_meaning_are_found_by_their_place_in_the_repository() {
        let home = tempfile::tempdir().unwrap();
        for folder in ["repo/.git/hooks", "repo/.claude/worktrees/copy/.git", "repo/.claude/worktrees/copy/src"] {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        let guarded = ["repo/.git", "repo/.git/hooks", "repo/.vscode", "repo/a/.husky", "repo/.claude"];
        let outside = [".kube", ".docker", ".ssh", ".config", ".aws"];
        for folder in guarded.iter().chain(&outside) {
            assert!(is_guarded_folder(&home.path().join(folder)), "{folder}");
        }
        let ordinary =
            ["", "repo", "repo/src", "repo/bin", "repo/config", "repo/.claude/worktrees/copy", "repo/.hidden"];
        for folder in ordinary.iter().chain(&["repo/.claude/worktrees/copy/src", ".config/project"]) {
            assert!(!is_guarded_folder(&home.path().join(folder)), "{folder}");
        }
    }
}
