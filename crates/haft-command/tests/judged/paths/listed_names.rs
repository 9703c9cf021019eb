//! Names that programs print without a folder: to the next program, one that begins with a dash is a flag.

use haft_policy::decision::Decision::Allow;
use haft_policy::examples::{decision, decision_beside};

/// Programs that print names of the folder that they are in.
const LISTERS: &[&str] = &[
    "ls",
    "ls -1",
    "ls -A",
    "git ls-files",
    "git ls-files .",
    "git ls-files -z",
    "git ls-files -c",
    "git ls-files '*'",
    "git ls-files ':/'",
    "git ls-files --others",
    "git ls-files src .",
    "rg --files",
    "rg --files -0",
    "rg --files --hidden",
    "rg --files .",
    "rg -l foo",
    "rg --files-without-match foo",
    "fd",
    "fd -0",
    "fd .",
    "fd -t f",
    "fd -e txt",
    "fd '' .",
    "fdfind",
    "grep -rl foo",
    "grep -rL foo",
    "grep -lr foo .",
    "git grep -l foo",
    "git grep -l foo -- '*'",
    "git diff --name-only",
    "git ls-tree --name-only HEAD",
    "find *",
    "find * -type f",
    "find . -printf '%P\\n'",
    "find . -printf '%f\\n'",
    "tree -i",
    "ag -l foo",
    "ls | sort",
    "git ls-files | sort -u",
    "rg --files | grep v",
    "fd | head -5",
];

/// How names reach the next program; `LIST` prints them.
const WAYS: &[&str] = &[
    "LIST | xargs sort",
    "LIST | xargs -0 sort",
    "LIST | xargs -n1 sort",
    "LIST | xargs -I{} sort {}",
    "LIST | xargs -r sort -u",
    "sort $(LIST)",
    "sort `LIST`",
    "for f in $(LIST); do sort $f; done",
    "LIST | while read -r f; do sort \"$f\"; done",
    "mapfile -t names < <(LIST); sort \"${names[@]}\"",
];

/// Everyday work with such lists.
const EVERYDAY: &[&str] = &[
    "git ls-files | xargs wc -l",
    "git ls-files | xargs grep foo",
    "git ls-files '*.rs' | xargs wc -l",
    "git ls-files | xargs cat",
    "git ls-files | xargs sort",
    "git ls-files | head",
    "git ls-files src | xargs wc -l",
    "rg --files | xargs wc -l",
    "rg -l foo | xargs sed -n 1,5p",
    "rg -l foo src | xargs head -5",
    "fd -e rs | xargs wc -l",
    "fd -e rs -x wc -l {}",
    "fd -e rs -x echo {/}",
    "grep -rl foo | xargs grep bar",
    "grep -rl foo src | xargs sort",
    "find . -name '*.rs' | xargs wc -l",
];

#[test]
fn a_name_that_begins_with_a_dash_is_a_flag_whatever_program_has_listed_it() {
    let mut allowed = Vec::new();
    for (lister, way) in LISTERS.iter().flat_map(|lister| WAYS.iter().map(move |way| (lister, way))) {
        for planted in ["--output=notes.txt", "-onotes.txt", "--compress-program=x", "-o"] {
            let command = way.replace("LIST", lister);
            if decision_beside(&[planted], &command) == Allow {
                allowed.push(format!("{command} beside {planted}"));
            }
        }
    }
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[test]
fn a_name_without_its_folder_is_asked_about_where_it_may_be_a_flag() {
    for command in ["fd -x sort {/}", "fd -X sort {/.}", "fd . src -x sort {/}"] {
        assert_ne!(decision(command), Allow, "{command}");
    }
}

#[test]
fn lists_of_plain_names_are_used_without_a_question() {
    EVERYDAY.iter().for_each(|command| assert_eq!(decision(command), Allow, "{command}"));
}
