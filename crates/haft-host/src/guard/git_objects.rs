//! Finds words of git commands that name something other than a commit.
//!
//! git stores the content of any file, also of one that it ignores, and shows it by the name of the object. A commit has
//! only files that git tracks. So `git show 1a2b3c4` is an everyday command where that is a commit, and may show
//! `.env` where it is a file.
//!
//! Not here: words with a path behind a colon (`HEAD:.env`), which `haft-policy` reads.

use std::path::PathBuf;

use haft_contract::effect::Step;
use haft_workspace::files::StashedSecret;

use super::secret_looks::SecretLooks;
use super::secrets::{has_letter, has_option};

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

/// Options that take in the commits of stashes, or commits that the words do not say.
const TAKING_IN_STASHES: &[&str] = &["--all", "--reflog", "--walk-reflogs", "--glob", "--stdin", "--alternate-refs"];

/// Returns a secret that a git command, which shows contents, may show out of a stash.
pub(super) fn stashed(looks: &SecretLooks<'_>, step: &Step) -> Option<PathBuf> {
    let words = || step.words.iter().skip(1);
    let has = |option: &str| has_option(&step.words, option);
    let is_of_stash = words().find(|word| !word.starts_with('-')).is_some_and(|sub| sub == "stash");
    let takes_untracked = has("--include-untracked") || has("--only-untracked") || has_letter(&step.words, "um");
    // A search in messages finds commits of stashes too.
    let searches = words().take_while(|word| *word != "--").any(|word| word.contains(":/") || word.contains("^{/"));
    let takes_all = searches || TAKING_IN_STASHES.iter().any(|option| has(option)) || has_letter(&step.words, "g");
    // Without those options "git stash show" and "git stash list" leave untracked files out.
    let may_show = |secret: &&StashedSecret| match is_of_stash {
        true => takes_untracked,
        false => {
            takes_all || words().flat_map(|word| word.split("..")).map(name_in).any(|name| secret.is_named_by(name))
        }
    };
    let secret = looks.stashed().iter().find(may_show)?;
    Some(secret.path.clone().unwrap_or_else(|| PathBuf::from("the untracked files of a stash")))
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
