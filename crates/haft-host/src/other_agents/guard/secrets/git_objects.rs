//! Finds words of git commands that name something other than a commit.
//!
//! git stores the content of any file, also of one that it ignores, and shows it by the name of the object. A commit has
//! only files that git tracks. So `git show 1a2b3c4` is an everyday command where that is a commit, and may show
//! `.env` where it is a file.
//!
//! Not here: words with a path behind a colon (`HEAD:.env`), which `haft-policy` reads.

use std::path::PathBuf;

use haft_command::programs::operands::operands_of;
use haft_contract::effect::CommandStep;
use haft_workspace::files::StashedSecret;

use super::secret_looks::SecretLooks;
use super::{has_letter, has_option};

/// Subcommands that show only names and sizes of objects.
const NAMING: &[&str] = &["ls-tree", "rev-parse", "rev-list", "describe", "name-rev", "tag", "branch", "merge-base"];

/// Returns whether a git command may show such an object.
pub(in crate::other_agents::guard) fn shows_other_than_commits(looks: &SecretLooks<'_>, step: &CommandStep) -> bool {
    let words = step.words.iter().skip(1);
    let subcommand = subcommand_of(&step.words).unwrap_or_default();
    let asks_for_kind =
        subcommand == "cat-file" && step.words.iter().any(|word| matches!(word.as_str(), "-t" | "-s" | "-e"));
    // In a format `%(raw)` is the content of whatever a reference names.
    let lists_refs = matches!(subcommand.as_str(), "for-each-ref" | "tag" | "branch");
    if lists_refs && step.words.iter().any(|word| word.contains("%(raw") || word.contains('…')) {
        return true;
    }
    if asks_for_kind || NAMING.contains(&subcommand.as_str()) {
        return false;
    }
    let mut names = words.flat_map(|word| word.split("..")).map(name_in).filter(|name| !name.is_empty());
    names.any(|name| looks.names_git_object(name))
}

/// Options that take in the commits of stashes, or commits that the words do not say.
const TAKING_IN_STASHES: &[&str] = &["--all", "--reflog", "--walk-reflogs", "--glob", "--stdin", "--alternate-refs"];

/// Returns a secret that a git command, which shows contents, may show out of a stash.
pub(in crate::other_agents::guard) fn stashed(looks: &SecretLooks<'_>, step: &CommandStep) -> Option<PathBuf> {
    let words = || step.words.iter().skip(1);
    let has = |option: &str| has_option(&step.words, option);
    let is_of_stash = subcommand_of(&step.words).is_some_and(|subcommand| subcommand == "stash");
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

/// Returns the subcommand of a git command. A word before it may be the value of an option: `git -C docs show`.
pub(in crate::other_agents::guard) fn subcommand_of(words: &[String]) -> Option<String> {
    operands_of("git", words.get(1..)?)?.operands.into_iter().next()
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
    fn the_value_of_an_option_is_not_the_subcommand() {
        let options = ["", "-C .", "--git-dir .git", "--git-dir=.git", "--work-tree .", "--namespace x", "-c a.b=c"];
        let more = ["--no-pager", "-P", "--attr-source HEAD", "--config-env=a=b", "--config-env a=b", "--exec-path=x"];
        for options in options.into_iter().chain(more) {
            for (before, behind) in [("", ""), ("--no-pager ", ""), ("", " -C docs")] {
                let words = format!("git {before}{options}{behind} show HEAD");
                let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
                assert_eq!(subcommand_of(&words).as_deref(), Some("show"), "{words:?}");
            }
        }
    }

    #[test]
    fn a_name_ends_where_a_path_or_a_step_begins() {
        for word in ["v1", "^v1", "v1~2", "v1^{tree}", "v1:a/b", "v1@{1}", ".v1"] {
            assert_eq!(name_in(word), "v1", "{word}");
        }
        assert_eq!(name_in("HEAD:.env"), "HEAD");
    }
}
