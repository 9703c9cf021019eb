//! Tests what programs do in their own folder, and words that only print a usage text.

use crate::programs::tests::{by, shipped};

#[test]
fn a_program_works_on_the_folder_it_is_in_where_no_operand_says_where() {
    let rows = "rg\n  operands text read\n  value -f read\n  here read\n";

    assert_eq!(by(rows, "rg a"), "Read .");
    assert_eq!(by(rows, "rg a src"), "Read src");
    assert_eq!(by(rows, "rg a -"), "", "the input says where");
    assert_eq!(by(rows, "rg -f patterns a"), "Read patterns; Read .");
}

#[test]
fn what_is_done_in_the_folder_may_depend_on_a_flag_and_may_be_nothing() {
    let rows = "rg\n  operands text read\n  here read\n  with --files here list\n  with -V here none\n";

    assert_eq!(by(rows, "rg --files"), "List .");
    assert_eq!(by(rows, "rg -V"), "");
}

#[test]
fn something_new_in_the_folder_has_a_name() {
    assert_eq!(by("init\n  operands create\n  here create a-crate\n", "init"), "Create a-crate");
    assert!(by("init\n  here create\n", "init").contains("Unknown"), "the line is a fault");
    assert!(by("init\n  here text\n", "init").contains("Unknown"), "the line is a fault");
}

#[test]
fn a_folder_that_is_named_by_a_flag_is_the_one_it_works_on() {
    let rows = "make\n  value -C folder\n  here read\n";

    assert_eq!(by(rows, "make -C lib"), "Read lib");
}

#[test]
fn a_revision_does_not_say_where_but_a_path_in_it_does() {
    let rows = "show\n  operands revision\n  here read\n";

    assert_eq!(by(rows, "show HEAD~1"), "Read .");
    assert_eq!(by(rows, "show HEAD:a.txt"), "Read a.txt");
}

#[test]
fn files_are_written_by_a_prefix() {
    assert_eq!(by("split\n  operands read prefix\n", "split a x"), "Read a; Create x*");
}

#[test]
fn a_word_that_asks_for_usage_does_nothing_when_it_stands_alone() {
    let rows = "tf\n  subcommands\n  usage -h version\ntf+apply\n  does publish x\ntf+state\n  subcommands\n\
                tf+state+rm\n  does publish x\n";

    for usage in ["tf -h", "tf version", "tf apply -h", "tf state rm -h", "tf apply --help"] {
        assert_eq!(by(rows, usage), "", "{usage}");
    }
    assert_ne!(by(rows, "tf apply version"), "", "behind a subcommand it may be an operand");
    assert_ne!(by(rows, "tf apply -h x"), "");
}

#[test]
fn usage_of_git_is_printed_but_what_its_settings_run_is_told() {
    assert_eq!(shipped("git push -h"), "");
    assert_eq!(shipped("git config -h"), "");
    assert!(shipped("git -c core.pager=ls_-l push -h").contains("sh [ls -l] ()"));
}

#[test]
fn sg_with_flags_of_a_search_is_not_known() {
    assert!(shipped("sg -p x src").starts_with("Unknown"));
    assert!(shipped("sg root -c id").contains("Danger Rights"));
    assert!(shipped("sg root id -p x").contains("Danger Rights"));
}

#[test]
fn a_global_flag_counts_behind_each_subcommand_that_does_not_name_it_itself() {
    let rows = "hg\n  subcommands\n  global -R --cwd folder\n  value -x text\n  flags -q\nhg+st\n  flags more\n  \
                operands read\n  does list .\nhg+log\n  flags -R\n  does list .\nhg+a\n  subcommands\nhg+a+b\n  does list .\n";

    assert_eq!(by(rows, "hg -R sub st"), by(rows, "hg st -R sub"));
    assert_eq!(by(rows, "hg st -R sub"), "Read sub; List sub");
    for command in ["hg st -Rsub", "hg st --cwd sub", "hg st --cwd=sub", "hg st -qR sub", "hg a b -R sub"] {
        assert_eq!(by(rows, command), "Read sub; List sub", "{command}");
    }
    assert_eq!(by(rows, "hg st -R sub a"), "Read sub; List sub; Read sub/a");
    assert_eq!(by(rows, "hg st -- -R sub"), "List .; Read -R; Read sub");
    assert_eq!(by(rows, "hg log -R sub"), "List .");
    assert!(by(rows, "hg st -x sub").contains("Unknown"), "a short flag that is not global may mean something else");
}
