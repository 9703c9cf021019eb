//! Values that are believed although something changed them, and names that are taken for less than they are.

use haft_policy::decision::Decision;
use haft_policy::examples::decision;

#[track_caller]
fn is_not_allowed(commands: &[&str]) {
    let allowed: Vec<&&str> = commands.iter().filter(|command| decision(command) == Decision::Allow).collect();
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[track_caller]
fn is_allowed(commands: &[&str]) {
    let others: Vec<&&str> = commands.iter().filter(|command| decision(command) != Decision::Allow).collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn a_variable_of_awk_that_something_else_may_set_has_no_known_value() {
    is_not_allowed(&[
        r#"awk 'BEGIN{c="id"; sub(/id/,"rm -rf ~",c); system(c)}'"#,
        r#"awk 'BEGIN{c="id"; gsub(/id/,"rm -rf ~",c); system(c)}'"#,
        r#"awk 'BEGIN{c="id"; getline c; system(c)}' a.txt"#,
        r#"awk 'BEGIN{c="id"; getline c < "a.txt"; system(c)}'"#,
        r#"awk 'BEGIN{c="id"; "cat a.txt" | getline c; system(c)}'"#,
        r#"awk 'BEGIN{c="id"} {system(c)}' c=./x a.txt"#,
        r#"awk -v c=./x 'BEGIN{if (0) c="id"; system(c)}'"#,
        r#"awk -vc=./x 'BEGIN{if (0) c="id"; system(c)}'"#,
        r#"gawk 'BEGIN{c="id"; SYMTAB["c"]="rm -rf ~"; system(c)}'"#,
        r#"awk 'function f() {c="rm -rf ~"} BEGIN{c="id"; f(); system(c)}'"#,
        r#"awk 'BEGIN{c="id"; f("rm -rf ~")} function f(c) {system(c)}'"#,
        r#"awk 'BEGIN{c="id"; a["rm -rf ~"]; for (c in a) system(c)}'"#,
        r#"awk 'BEGIN{c="id"; d=c; sub(/id/,"rm -rf ~",c); d=c; system(d)}'"#,
        r#"awk 'BEGIN{c="id"; awk::c="./x"; system(c)}'"#,
        r#"awk 'BEGIN{c="x"} c="ls" {system(c)} {c="id"}' a.txt"#,
        r#"awk 'BEGIN{ORS="\nrm -rf ~\n"; print "ls" | "sh"}'"#,
        r#"awk -v OFS='; rm -rf ~ #' 'BEGIN{print "ls","-l" | "sh"}'"#,
        r#"awk 'BEGIN{f=".enw"; gsub(/w/,"v",f); getline l < f; print l}'"#,
        r#"awk 'BEGIN{if (0) c="x"; getline l < (".e" c "nv"); print l}'"#,
        r#"awk 'BEGIN{printf "cat %s%s", ".e", "nv" | "sh"}'"#,
        r#"awk 'BEGIN{printf("cat %.4s", ".envelope") | "sh"}'"#,
        r#"gawk -e 'BEGIN{c="id"} {system(c)}' -e 'BEGIN{c="./x"}' a.txt"#,
    ]);
    is_allowed(&[
        r#"awk -v n=5 'NR==n {print}' a.txt"#,
        r#"awk 'BEGIN{c="ls"; system(c)}'"#,
        r#"awk 'BEGIN{OFS="\t"} {print $1,$2 | "sort"}' a.txt"#,
        r#"awk '{gsub(/a/,"b"); print}' a.txt"#,
        r#"awk -F: 'BEGIN{while ((getline l < "a.txt") > 0) n++; print n}'"#,
    ]);
}

#[test]
fn what_the_last_part_of_a_pipe_sets_may_hold_afterwards() {
    for set in ["echo ~/.ssh/id_rsa | read x", "echo ~/.ssh/id_rsa | mapfile -t x", "true | x=~/.ssh/id_rsa"] {
        is_not_allowed(&[
            &format!("shopt -s lastpipe; x=a.txt; {set}; cat $x"),
            &format!("bash -O lastpipe -c 'x=a.txt; {set}; cat $x'"),
            &format!("zsh -c 'x=a.txt; {set}; cat $x'"),
            &format!("ksh -c 'x=a.txt; {set}; cat $x'"),
            // Other agents run commands in the shell of the user, which may be zsh.
            &format!("x=a.txt; {set}; cat $x"),
        ]);
    }
    is_allowed(&["x=a.txt; echo notes.txt | read x; cat $x", "ls | while read -r f; do cat \"$f\"; done"]);
    is_not_allowed(&["shopt -s lastpipe; set -- a.txt; true | set -- ~/.ssh/id_rsa; cat $1"]);
}

#[test]
fn code_for_another_shell_is_not_read_as_code_for_bash() {
    is_not_allowed(&[
        r#"sh -c 'cat $(echo "\056env")'"#,
        r#"dash -c 'cat $(echo "\056env")'"#,
        r#"sh -c 'echo "ls\nrm -rf ~" | sh'"#,
        r#"zsh -c 'a=(.env a.txt); cat $a[1]'"#,
        r#"zsh -c 'cat *(D)'"#,
        r#"zsh -c 'NULLCMD=rm; < a.txt'"#,
        r#"ksh -c 'set -A a .env a.txt; cat ${a[0]}'"#,
        "zsh <<< 'cat *(D)'",
    ]);
    is_allowed(&["zsh -c 'ls -l src'", "sh -c 'ls | wc -l'", r"echo 'a\nb'", r"echo 'a\tb' | wc -c"]);
}

#[test]
fn names_of_files_that_become_code_are_asked_about() {
    is_not_allowed(&[
        "ls | xargs -I{} sh -c 'wc -l {}'",
        r#"for f in *; do sh -c "wc -l $f"; done"#,
        r#"for f in *; do eval "echo $f"; done"#,
        r#"for f in $(ls); do bash -c "cat $f"; done"#,
        r#"ls | while read f; do eval "echo $f"; done"#,
        "find . -name '*.txt' | xargs -I{} sh -c 'wc -l {}'",
    ]);
    is_allowed(&[
        "ls | xargs -I{} wc -l {}",
        r#"for f in *; do wc -l "$f"; done"#,
        "sh -c 'wc -l *.txt'",
        r#"bash -c "wc -l *.txt""#,
    ]);
}

#[test]
fn text_that_find_prints_beside_names_is_not_a_name() {
    is_not_allowed(&[
        r"find a.txt -printf '.env\n' | xargs cat",
        r"find a.txt -printf '/home/somebody/.ssh/id_rsa\n' | xargs cat",
    ]);
    is_allowed(&[
        r"find . -printf '%s %p\n' | sort -n | head",
        "find src -name '*.rs' | xargs wc -l",
        "find . -name '*.rs' -exec wc -l {} +",
        "find . -path './src/*.rs' -exec cat {} +",
        "find src -type f | xargs grep -n foo",
    ]);
}
