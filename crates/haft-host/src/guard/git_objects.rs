//! Finds words of git commands that name something other than a commit.
//!
//! git stores the content of any file, also of one that it ignores, and shows it by the name of the object. A commit has
//! only files that git tracks. So `git show 1a2b3c4` is an everyday command where that is a commit, and may show
//! `.env` where it is a file.
//!
//! Not here: words with a path behind a colon (`HEAD:.env`), which `haft-policy` reads.

use super::secret_looks::SecretLooks;
use haft_contract::effect::Step;

/// Subcommands that show only names and sizes of objects.
const NAMING: &[&str] = &["ls-tree", "rev-parse", "rev-list", "describe", "name-rev", "tag", "branch", "merge-base"];

/// Returns whether a git command may show such an object.
pub(super) fn shows_other_than_commits(looks: &SecretLooks<'_>, step: &Step) -> bool {
    let words = step.words.iter().skip(1);
    let has = |words: &[&str]| step.words.iter().any(|word| words.contains(&word.as_str()));
    let asks_for_kind = has(&["cat-file"]) && has(&["-t", "-s", "-e"]);
    if asks_for_kind || has(NAMING) {
        return false;
    }
    let mut names = words.flat_map(|word| word.split("..")).map(name_in).filter(|name| !name.is_empty());
    names.any(|name| looks.names_git_object(name))
}

/// Returns what names an object in a word: `v1^{tree}:docs` begins with `v1`.
fn name_in(word: &str) -> &str {
    let word = word.trim_start_matches(['^', '.']);
    word.split(['^', '~', ':', '@']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_where_a_path_or_a_step_begins() {
        for word in ["v1", "^v1", "v1~2", "v1^{tree}", "v1:a/b", "v1@{1}", ".v1"] {
            assert_eq!(name_in(word), "v1", "{word}");
        }
        assert_eq!(name_in("HEAD:.env"), "HEAD");
    }
}
