//! Names of files are not only letters: they hold blanks, patterns and signs of other languages, and patterns find more
//! than they seem to.

use haft_policy::decision::Decision;
use haft_policy::examples::decision_beside;

/// A secret, and files whose names hold its name or a pattern that finds it.
const ODD: &[&str] = &[".env", "a .env b.txt", "sub/x .env y.txt"];

#[track_caller]
fn allowed_beside(planted: &[&str], commands: &[&str]) -> Vec<String> {
    let is_allowed = |command: &&&str| decision_beside(planted, command) == Decision::Allow;
    commands.iter().filter(is_allowed).map(|command| (*command).to_owned()).collect()
}

#[test]
fn a_name_with_blanks_is_split_where_it_is_not_quoted() {
    let commands = [
        "for f in *.txt; do cat $f; done",
        "for f in *; do cat $f; done",
        "for f in *; do head -1 $f; done",
        "for f in ./*.txt; do cat $f; done",
        "for f in *.txt; do g=$f; cat $g; done",
        "for f in *.txt; do cat ${f}; done",
        "for f in *.txt; do cat $f.bak; done",
        "for f in *.txt; do x=\"$f\"; cat x$x; done",
        "f() { cat $1; }; for f in *.txt; do f \"$f\"; done",
        "a=(*.txt); cat ${a[0]}",
        "a=(*.txt); cat ${a[@]}",
        "a=(*.txt); cat $a",
        "a=(sub/*.txt); cat ${a}",
        "a=(*.txt); cat sub/$a",
        "a=(*.txt); for f in ${a[@]}; do cat \"$f\"; done",
        "set -- *.txt; cat $1",
        "set -- *.txt; cat $@",
        "set -- *.txt; cat $*",
        "cat $(ls *.txt)",
        "cat $(ls)",
        "cat $(echo *.txt)",
        "cat `ls *.txt`",
        "for f in $(ls); do cat \"$f\"; done",
        "for f in $(ls *.txt); do cat $f; done",
        "ls *.txt | xargs cat",
        "ls | xargs cat",
        "ls | xargs -n1 cat",
        "echo *.txt | xargs cat",
        "find . -name '*.txt' | xargs cat",
        "find sub -name '*.txt' | xargs cat",
        "find . -type f | xargs head",
        "ls *.txt | while read f; do cat $f; done",
        "ls *.txt | while read a b c; do cat $b; done",
        "ls | while read -r a b; do cat \"$b\"; done",
        "cd sub; for f in *; do cat ../$f; done",
    ];
    let allowed = allowed_beside(ODD, &commands);
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[test]
fn a_name_that_this_command_makes_is_split_as_well() {
    let allowed = allowed_beside(&[".env"], &["touch 'a .env b.txt'; for f in *.txt; do cat $f; done"]);
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[test]
fn a_name_with_a_pattern_is_a_pattern_where_it_is_not_quoted() {
    let commands = ["for f in *.txt; do cat $f; done", "cat $(ls *.txt)", "a=(*.txt); cat ${a[@]}"];
    for name in ["x .e* y.txt", "x .[e]nv.txt", "x .en? y.txt"] {
        let planted = [".env", name, ".env.txt"];
        let allowed = allowed_beside(&planted, &commands);
        assert!(allowed.is_empty(), "{name}: {allowed:#?}");
    }
}

#[test]
fn a_separator_that_is_no_blank_splits_every_name() {
    let commands = ["IFS=_; for f in *.txt; do cat $f; done", "IFS=x; for f in *; do cat $f; done"];
    let allowed = allowed_beside(&[".env", "a_.env_b.txt"], &commands);
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[test]
fn names_are_no_text_of_a_program() {
    let commands = [
        "for f in *.txt; do awk \"{print \\\"$f\\\"}\" a.txt; done",
        "for f in *; do awk \"$f\" a.txt; done",
        "for f in *.txt; do sed \"s|x|$f|\" a.txt; done",
        "for f in *; do sed \"s/x/y/$f\" a.txt; done",
        "for f in *; do sed -n \"1$f\" a.txt; done",
        "sed -e \"$(ls)\" a.txt",
        "sed \"$(cat a.txt)\" a.txt",
        "awk \"$(cat a.txt)\" a.txt",
    ];
    let allowed = allowed_beside(&["e", "x|e;.txt"], &commands);
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[test]
fn plain_names_and_quoted_ones_are_read() {
    let everyday = [
        "for f in *.txt; do cat $f; done",
        "for f in src/*.rs; do wc -l $f; done",
        "for f in *; do [ -f $f ] && echo $f; done",
        "cat $(ls *.txt)",
        "ls *.txt | xargs cat",
        "find . -name '*.txt' | xargs wc -l",
        "sed s/a*/b/ a.txt",
        "awk '{print $1*2}' a.txt",
        "IFS=,; for f in a b; do cat $f.txt; done",
    ];
    for command in everyday {
        assert_eq!(decision_beside(&[".env"], command), Decision::Allow, "{command}");
    }
    let quoted = [
        "for f in *.txt; do cat \"$f\"; done",
        "a=(*.txt); cat \"${a[@]}\"",
        "set -- *.txt; cat \"$@\"",
        "cat *.txt",
        "ls *.txt | while read -r f; do echo \"$f\"; done",
    ];
    for command in quoted {
        assert_eq!(decision_beside(ODD, command), Decision::Allow, "{command}");
    }
}

#[test]
fn a_pattern_finds_what_it_finds_in_every_spelling() {
    let commands = [
        "cat .[e\"x\"]nv",
        "cat .[\\e]nv",
        "cat .e['n']v",
        "cat .e[$'n']v",
        "cat .[\"e\"]\"n\"v",
        "cat .[e'x'z]nv",
        "x=n; cat .e[$x]v",
        "x=n; cat .e[\"$x\"]v",
        "x='[e]'; cat .${x}nv",
        "cat .en[^a]",
        "cat .en[!a]",
        "cat .en[[:alpha:]]",
        "cat .en[\"v\"-\"w\"]",
        "shopt -s extglob; cat .@(env)",
        "shopt -s extglob; cat .@(env|x)",
        "shopt -s extglob; cat .+(e)nv",
        "shopt -s extglob; cat .?(e)nv",
        "shopt -s extglob; cat .!(x)",
        "shopt -s extglob; cat .*(e)nv",
        "shopt -s extglob; cat .@(e\"nv\")",
        "shopt -s extglob; cat .@('env')",
        "shopt -s extglob; cat @(.env|x)",
        "bash -O extglob -c 'cat .@(env)'",
        "shopt -s nocaseglob; cat .E*",
        "shopt -s nocaseglob; cat .EN*",
        "bash -O nocaseglob -c 'cat .E*'",
        "bash -O dotglob -c 'cat *'",
        "shopt -s dotglob; cat *",
        "GLOBIGNORE=x; cat *",
        "shopt -s globstar; cat **",
        "shopt -s globstar; cat **/*",
        "shopt -s globstar; cat keys/**",
        "shopt -s globstar; cat **/*.key",
        "bash -O globstar -c 'cat **'",
        "true && shopt -s globstar; cat **",
    ];
    let allowed = allowed_beside(&[".env", "keys/deep/own/server.key"], &commands);
    assert!(allowed.is_empty(), "{allowed:#?}");
}
