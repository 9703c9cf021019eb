//! Finds options and settings of git that make a command show patches where it would show only names.

use super::git_objects::subcommand_of;
use super::{has_letter, has_option};

/// Options of `git stash show` that print names, sizes or numbers of lines, and nothing of what is in the files.
const NAMING: &[&str] = &[
    "--stat",
    "--numstat",
    "--shortstat",
    "--dirstat",
    "--summary",
    "--compact-summary",
    "--name-only",
    "--name-status",
    "--raw",
    "--no-patch",
    "-s",
];
/// Options that choose how git compares, and take no other word as their value. Alone they make it print the patch.
const COMPARING: &[&str] = &[
    "--color",
    "--no-color",
    "--find-renames",
    "--find-copies",
    "--no-renames",
    "--full-index",
    "--abbrev",
    "--no-abbrev",
    "--minimal",
    "--patience",
    "--histogram",
    "--ignore-all-space",
    "--ignore-space-change",
    "--ignore-space-at-eol",
    "--ignore-blank-lines",
    "--relative",
    "--no-ext-diff",
    "--no-textconv",
    "--exit-code",
    "-w",
    "-b",
    "-z",
    "-M",
    "-C",
    "-R",
];
/// Options that choose only which files are shown.
const CHOOSING: &[&str] = &["-u", "--include-untracked", "--only-untracked", "--no-include-untracked"];

/// Returns whether a `git stash` may print a patch because of its options or of a setting.
pub(super) fn stash_may_print_patch(words: &[String]) -> bool {
    setting_switches_patches_on(words) || stash_show_may_print_patch(words)
}

/// Returns whether a `git stash show` may print the patch. Without any option it prints numbers of lines; with options of
/// which none chooses a format it prints the patch.
fn stash_show_may_print_patch(words: &[String]) -> bool {
    let behind = |word: &'static str| move |said: &&String| *said != word;
    let mut rest = words.iter().skip_while(behind("stash")).skip_while(behind("show")).skip(1).peekable();
    if subcommand_of(words).is_none_or(|subcommand| subcommand != "stash") || rest.peek().is_none() {
        return false;
    }
    let mut options = rest
        .filter(|word| word.starts_with(['-', '…']))
        .map(|word| word.split('=').next().unwrap_or(word))
        .filter(|option| !CHOOSING.contains(option))
        .peekable();
    if options.peek().is_none() {
        return false;
    }
    let mut names_only = false;
    for option in options {
        names_only |= NAMING.contains(&option);
        if !NAMING.contains(&option) && !COMPARING.contains(&option) {
            return true;
        }
    }
    !names_only
}

/// Returns whether a setting for this one command switches patches on: `git -c stash.showPatch=true`.
pub(super) fn setting_switches_patches_on(words: &[String]) -> bool {
    let apart = words.windows(2).filter(|pair| pair[0] == "-c" || pair[0] == "--config-env").map(|pair| &*pair[1]);
    let attached = words.iter().filter_map(|word| word.strip_prefix("--config-env="));
    let switches = |setting: &str| {
        let key = setting.split('=').next().unwrap_or_default().to_lowercase();
        key.contains("patch") || key.contains("verbose") || key.contains('…')
    };
    apart.chain(attached).any(switches)
}

/// Returns whether settings in files decide if a git command prints patches: `stash.showPatch` for `git stash show`, and
/// `commit.verbose` for a commit that is only tried, or whose message is written in an editor.
pub(super) fn obeys_settings_in_files(words: &[String]) -> bool {
    let says = |options: &[&str]| words.iter().any(|word| options.iter().any(|option| word.starts_with(option)));
    match subcommand_of(words).as_deref() {
        Some("stash") => words.iter().any(|word| word == "show"),
        Some("commit") => {
            // Before the subcommand `-C` names a folder.
            let begin = words.iter().position(|word| word == "commit").unwrap_or_default();
            let has_message =
                has_letter(&words[begin..], "mFC") || says(&["--message", "--file", "--reuse-message", "--no-edit"]);
            !has_message || has_option(words, "--dry-run") || says(&["--porcelain", "--short", "--long"])
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_stash_is_shown_as_a_patch_unless_an_option_says_otherwise() {
        for option in ["-w", "-M", "--no-color", "-R -M", "--minimal", "-p", "-U3", "--stat -p", "-I --stat", "-X", "…"]
        {
            assert!(
                stash_show_may_print_patch(&words(&format!("git -C stash stash show {option} stash@{{0}}"))),
                "{option}"
            );
        }
        for option in ["", "-u", "stash@{0}", "--stat", "--stat=80 -w", "--no-color --name-only -M", "-u --raw"] {
            assert!(!stash_show_may_print_patch(&words(&format!("git stash show {option}"))), "{option}");
        }
        for line in ["git stash push -m x", "git log -w", "git stash list -w", "git show -w"] {
            assert!(!stash_show_may_print_patch(&words(line)), "{line}");
        }
    }

    #[test]
    fn settings_in_files_count_where_the_words_leave_it_to_them() {
        for line in [
            "git stash show",
            "git stash show stash@{1}",
            "git -C . stash show -u",
            "git commit --dry-run",
            "git commit -a --dry-run -m x",
            "git commit --dry",
            "git commit --porcelain -m x",
            "git commit",
            "git commit --amend",
            "git -C . commit",
        ] {
            assert!(obeys_settings_in_files(&words(line)), "{line}");
        }
        for line in
            ["git stash", "git stash list", "git commit -m x", "git commit -am x", "git commit --amend --no-edit"]
        {
            assert!(!obeys_settings_in_files(&words(line)), "{line}");
        }
    }

    #[test]
    fn settings_for_one_command_may_switch_patches_on() {
        for line in [
            "git -c stash.showPatch=true stash show",
            "git -c STASH.SHOWPATCH stash show",
            "git --config-env=stash.showPatch=X stash show",
            "git --config-env stash.showpatch=X stash show",
            "git -c commit.verbose=2 commit --dry-run",
            "git -c … stash show",
        ] {
            assert!(setting_switches_patches_on(&words(line)), "{line}");
        }
        assert!(!setting_switches_patches_on(&words("git -c color.ui=always -c user.name=patch stash show")));
    }
}
